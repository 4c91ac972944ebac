// SPDX-License-Identifier: GPL-2.0
/*
 * Registered sections that are parts of files: all processes share their tables.
 *
 * As long as a process has not written to the memory of a section, the kernel makes the
 * table of the file, once: the file's own if text and section are of one file that names
 * the section, else one for the part and for text at this distance.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "code_register.h"
#include "file_env.h"
#include "image.h"
#include "requests.h"
#include "turns.h"
#include "../../kselftest_harness.h"

#define KEY	0x5ec

FIXTURE(section)
{
	struct file_env env;
	struct code_file file;
	char path[64];
};

FIXTURE_VARIANT(section)
{
	const char *fs;
};

FOR_EACH_COUNTING_FS(section);

FIXTURE_SETUP(section)
{
	const char *why = env_setup(&self->env);

	if (!why && !is_mounted(variant->fs))
		why = "no such file system";
	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, trace_all(&self->env.trace));
	snprintf(self->path, sizeof(self->path), "%s/section-%d", variant->fs, getpid());
	self->file = code_file_usual;
}

FIXTURE_TEARDOWN(section)
{
	unwind_table_del(KEY);
	env_teardown(&self->env);
	unlink(self->path);
}

/* In a process that maps the file itself, and registers it or not */
static void through_elsewhere(struct __test_metadata *_metadata,
			      const struct code_file *file, int fd, bool registers)
{
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		struct code_image image;
		struct sampler sampler;

		unwind_table_del(KEY);
		EXPECT_EQ(0, code_image_map(&image, file, fd, NULL));
		EXPECT_EQ(0, sampler_open(&sampler, 0));
		if (registers)
			EXPECT_EQ(0, code_image_register(&image, KEY));
		EXPECT_EQ(THROUGH, code_through(&sampler, code_image_fn(&image, 0, 0)));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
}

/* A process that registers the section, as a C library does, shares the file's own table */
TEST_F(section, named_by_its_file_is_the_files_table)
{
	struct file_env *env = &self->env;

	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	ASSERT_EQ(0, code_image_register(&env->image, KEY));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
	through_elsewhere(_metadata, &self->file, env->fd, true);
	through_elsewhere(_metadata, &self->file, env->fd, false);
	EXPECT_ONE_LOAD(env, env->fd);
}

TEST_F(section, known_before_it_is_registered_is_loaded_once)
{
	struct file_env *env = &self->env;

	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	ASSERT_EQ(0, code_image_register(&env->image, KEY));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
}

/* A range may begin anywhere: with the second function, and end before the last one */
TEST_F(section, registered_for_some_functions_is_the_files_table)
{
	struct file_env *env = &self->env;
	const uint64_t start = self->file.text[0].vaddr;
	int i;

	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	ASSERT_EQ(0, code_image_register_range(&env->image, start + CODE_STRIDE,
					       start + 3 * CODE_STRIDE, KEY));
	for (i = 0; i < CODE_FILE_FUNCTIONS; i++)
		EXPECT_EQ(THROUGH, code_through(&env->sampler, code_image_fn(&env->image, 0, i)));
	EXPECT_ONE_LOAD(env, env->fd);
}

/*
 * One range over all segments, which lie in memory otherwise than in the file: the distance of
 * the first says nothing about the others
 */
TEST_F(section, registered_for_several_segments_has_the_rules_of_each)
{
	struct file_env *env = &self->env;
	int text, i;

	self->file.nr_texts = 2;
	self->file.text[0] = (struct code_segment){ PG(1), PG(1) };
	self->file.text[1] = (struct code_segment){ PG(2), PG(3) };
	self->file.table = (struct code_segment){ PG(3), PG(5) };
	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	ASSERT_EQ(0, code_image_register_range(&env->image, PG(1), PG(4), KEY));
	for (text = 0; text < 2; text++)
		for (i = 0; i < CODE_FILE_FUNCTIONS; i++)
			EXPECT_EQ(THROUGH, code_through(&env->sampler,
							code_image_fn(&env->image, text, i)));
}

/* The program headers do not lead to it: without registration, there is no table */
TEST_F(section, not_named_by_its_file_is_loaded_once)
{
	struct file_env *env = &self->env;

	self->file.hidden = true;
	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
	ASSERT_EQ(0, code_image_register(&env->image, KEY));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
	through_elsewhere(_metadata, &self->file, env->fd, true);
	EXPECT_ONE_LOAD(env, env->fd);

	ASSERT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
}

/* Nor does the service have to make one, until the file is met as others are */
TEST_F(section, not_named_by_its_file_is_not_asked_for)
{
	struct unwind_request request = { .fd = -1 };
	struct file_env *env = &self->env;
	int device = open("/dev/unwind", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (device < 0 && errno == ENOENT)
		SKIP(return, "no /dev/unwind");
	ASSERT_LE(0, device);
	self->file.hidden = true;
	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	ASSERT_EQ(0, code_image_register(&env->image, KEY));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
	EXPECT_TRUE(no_request_for(device, env->fd));

	ASSERT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
	EXPECT_EQ(0, await_request_for(device, env->fd, &request));
	close(request.fd);
	close(device);
}

TEST_F(section, inherited_by_fork_is_loaded_once)
{
	struct file_env *env = &self->env;
	pid_t pid;

	self->file.hidden = true;
	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	ASSERT_EQ(0, code_image_register(&env->image, KEY));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct sampler sampler;

		EXPECT_EQ(0, sampler_open(&sampler, 0));
		EXPECT_EQ(THROUGH, code_through(&sampler, code_image_fn(&env->image, 0, 0)));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
}

/* The name of a file of sections, for code elsewhere */
static void cache_path(char *path, size_t size, const char *fs)
{
	snprintf(path, size, "%s/cache-%d", fs, getpid());
}

/* A file whose section describes functions that lie @distance bytes after the section */
static int make_cache(size_t distance, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	uint64_t fn[CODE_FILE_FUNCTIONS];
	char page[CODE_PAGE] = {};
	unsigned int i;
	bool failed;

	if (fd < 0)
		return -1;
	for (i = 0; i < CODE_FILE_FUNCTIONS; i++)
		fn[i] = distance + i * CODE_STRIDE;
	code_table_write(page, 0, fn, CODE_FILE_FUNCTIONS, CODE_FRAME);
	failed = pwrite(fd, page, sizeof(page), CODE_PAGE) != sizeof(page) || file_settle(fd);
	close(fd);
	return failed ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

/* Map the section @distance bytes below the code, and register it */
static int register_cached(const struct code *code, size_t distance, int fd)
{
	struct unwind_table_attr attr;
	void *section = mmap(code->text - distance, CODE_PAGE, PROT_READ,
			     MAP_SHARED | MAP_FIXED_NOREPLACE, fd, CODE_PAGE);

	if (section != code->text - distance)
		return -errno;
	code_attr(&attr, code, KEY);
	attr.table_start = (uintptr_t)section;
	attr.table_size = code_table_size(CODE_FILE_FUNCTIONS);
	return unwind_table_add(&attr);
}

/* As "unwind-tables run" registers it, for text at one distance in all processes */
#define DISTANCE	0x10000000UL

/* Where nothing else is mapped */
static const struct code code_at[] = {
	{ .text = (char *)0x30000000000, .table = (char *)0x31000000000 },
	{ .text = (char *)0x32000000000, .table = (char *)0x33000000000 },
	{ .text = (char *)0x34000000000, .table = (char *)0x35000000000 },
};

TEST_F(section, of_a_cache_is_loaded_once_for_all_processes)
{
	struct file_env *env = &self->env;
	unsigned int i;
	char path[64];
	pid_t pid;

	cache_path(path, sizeof(path), variant->fs);
	env->fd = make_cache(DISTANCE, path);
	ASSERT_LE(0, env->fd);
	for (i = 0; i < ARRAY_SIZE(code_at); i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			struct sampler sampler;
			struct code code;

			EXPECT_EQ(0, code_map_at(&code, CODE_FILE_FUNCTIONS, CODE_FRAME,
						 CODE_FRAME_OTHER, &code_at[i]));
			EXPECT_EQ(0, register_cached(&code, DISTANCE, env->fd));
			EXPECT_EQ(0, sampler_open(&sampler, 0));
			EXPECT_EQ(THROUGH, code_through(&sampler, code_fn(&code, 0)));
			EXPECT_EQ(THROUGH, code_through(&sampler, code_fn(&code, 3)));
			CHILD_EXIT();
		}
		EXPECT_EQ(0, wait_for(pid));
	}
	EXPECT_ONE_LOAD(env, env->fd);
	unlink(path);
}

/* A table for one distance says nothing about text at another one */
TEST_F(section, at_another_distance_is_another_table)
{
	struct file_env *env = &self->env;
	struct code code;
	char path[64];

	cache_path(path, sizeof(path), variant->fs);
	env->fd = make_cache(DISTANCE, path);
	ASSERT_LE(0, env->fd);
	ASSERT_EQ(0, code_map_at(&code, CODE_FILE_FUNCTIONS, CODE_FRAME, CODE_FRAME, &code_at[0]));
	ASSERT_EQ(0, register_cached(&code, DISTANCE, env->fd));
	EXPECT_EQ(THROUGH, code_through(&env->sampler, code_fn(&code, 0)));
	ASSERT_EQ(0, unwind_table_del(KEY));

	/* The functions that it describes now lie elsewhere */
	ASSERT_EQ(0, register_cached(&code, 2 * DISTANCE, env->fd));
	EXPECT_EQ(THROUGH_NOT, code_through(&env->sampler, code_fn(&code, 0)));
	ASSERT_EQ(0, unwind_table_del(KEY));
	ASSERT_EQ(0, munmap(code.text - 2 * DISTANCE, CODE_PAGE));
	ASSERT_EQ(0, munmap(code.text - DISTANCE, CODE_PAGE));

	ASSERT_EQ(0, register_cached(&code, DISTANCE, env->fd));
	EXPECT_EQ(THROUGH, code_through(&env->sampler, code_fn(&code, 0)));
	EXPECT_ONE_LOAD(env, env->fd);
	unlink(path);
}

/* Overwrite the section in memory by one for the frames that the functions have */
static int write_right_table(const struct code_image *image)
{
	char *memory = image->base + image->file->table.vaddr;
	uint64_t fn[CODE_FILE_FUNCTIONS];
	int i;

	for (i = 0; i < CODE_FILE_FUNCTIONS; i++)
		fn[i] = (uintptr_t)code_image_fn(image, 0, i);
	if (mprotect(memory, CODE_PAGE, PROT_READ | PROT_WRITE))
		return -errno;
	code_table_write(memory, (uintptr_t)memory, fn, CODE_FILE_FUNCTIONS, CODE_FRAME);
	return mprotect(memory, CODE_PAGE, PROT_READ) ? -errno : 0;
}

/* The file's section is wrong, and the memory that the process wrote is right */
TEST_F(section, written_by_its_process_is_its_own)
{
	struct file_env *env = &self->env;

	self->file.frame_table = CODE_FRAME_OTHER;
	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	ASSERT_EQ(0, write_right_table(&env->image));
	ASSERT_EQ(0, code_image_register(&env->image, KEY));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_EQ(0, loads(env, env->fd));
}

/* Others go on with the file's */
TEST_F(section, written_after_a_stack_is_its_own)
{
	struct file_env *env = &self->env;

	self->file.frame_table = CODE_FRAME_OTHER;
	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	ASSERT_EQ(0, code_image_register(&env->image, KEY));
	EXPECT_NE(THROUGH, through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
	ASSERT_EQ(0, write_right_table(&env->image));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_EQ(1, loads(env, env->fd));
}

/* Nobody is given the table of what the file was */
TEST_F(section, of_a_file_that_changed_is_loaded_anew)
{
	struct code_file right = self->file;
	struct file_env *env = &self->env;
	int fd;

	self->file.hidden = true;
	self->file.frame_table = CODE_FRAME_OTHER;
	right.hidden = true;
	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	ASSERT_EQ(0, code_image_register(&env->image, KEY));
	EXPECT_NE(THROUGH, through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);

	fd = open(self->path, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_file_write(&right, fd));
	ASSERT_EQ(0, file_settle(fd));
	close(fd);
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_EQ(2, loads(env, env->fd));
}

/* A file that is open for writing has no table: the memory is copied */
TEST_F(section, of_a_file_open_for_writing_is_copied)
{
	struct file_env *env = &self->env;
	int fd;

	self->file.hidden = true;
	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	fd = open(self->path, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_register(&env->image, KEY));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_EQ(0, loads(env, env->fd));
	close(fd);
}

/* One that makes no table is refused as any other */
TEST_F(section, of_other_text_is_enoent)
{
	struct file_env *env = &self->env;
	struct unwind_table_attr attr;
	char message[256];
	struct code code;

	ASSERT_EQ(0, map_file(env, &self->file, self->path));
	ASSERT_EQ(0, code_map(&code, CODE_FILE_FUNCTIONS));
	code_attr(&attr, &code, KEY);
	attr.table_start = (uintptr_t)env->image.base + self->file.table.vaddr;
	attr.table_size = code_file_table_size(&self->file);
	ASSERT_EQ(0, unwind_table_add(&attr));
	EXPECT_EQ(THROUGH_NOT, code_through(&env->sampler, code_fn(&code, 0)));
	ASSERT_EQ(0, trace_read(&env->trace));
	EXPECT_EQ(1, trace_count(&env->trace, "table_invalid", NULL, message, sizeof(message)));
	EXPECT_EQ(-ENOENT, trace_field(message, "error"));
}

TEST_HARNESS_MAIN
