// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of files: which files have one.
 *
 * The kernel loads the table of a file once, for all processes that map the file.  It
 * finds the table however the segments of the file lie, wherever they are mapped, and
 * after the file has lost its name.  changed_file_test.c has files that change,
 * stacks_test.c whole programs, bad_file_test.c bad files.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_env.h"
#include "image.h"
#include "turns.h"
#include "../../kselftest_harness.h"

/*
 * Layouts
 */

FIXTURE(layout)
{
	struct file_env env;
};

FIXTURE_VARIANT(layout)
{
	struct code_file file;
};

#define GIB	0x40000000ULL

/* Text and table fit, and the table is right */
#define FRAMES	.frame = CODE_FRAME, .frame_table = CODE_FRAME

FIXTURE_VARIANT_ADD(layout, table_after) {
	.file = {
		.nr_texts = 1,
		.text = { { PG(1), PG(1) } },
		.table = { PG(2), PG(2) },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, table_before) {
	.file = {
		.nr_texts = 1,
		.text = { { PG(2), PG(2) } },
		.table = { PG(1), PG(1) },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, table_far_after) {
	.file = {
		.nr_texts = 1,
		.text = { { PG(1), PG(1) } },
		.table = { PG(2), 6 * GIB },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, table_far_before) {
	.file = {
		.nr_texts = 1,
		.text = { { PG(2), 6 * GIB } },
		.table = { PG(1), PG(1) },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, several_texts) {
	.file = {
		.nr_texts = 3,
		.text = { { PG(1), PG(1) }, { PG(3), PG(3) },
			  { PG(5), PG(5) } },
		.table = { PG(7), PG(7) },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, several_texts_table_before) {
	.file = {
		.nr_texts = 3,
		.text = { { PG(3), PG(3) }, { PG(5), PG(5) },
			  { PG(7), PG(7) } },
		.table = { PG(1), PG(1) },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, several_texts_table_between) {
	.file = {
		.nr_texts = 2,
		.text = { { PG(1), PG(1) }, { PG(3), PG(3) } },
		.table = { PG(2), PG(2) },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, several_texts_crossed) {
	.file = {
		.nr_texts = 3,
		.text = { { PG(5), PG(1) }, { PG(1), PG(3) },
			  { PG(3), PG(5) } },
		.table = { PG(7), PG(7) },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, offsets_unlike_addresses) {
	.file = {
		.nr_texts = 1,
		.text = { { PG(9), PG(1) } },
		.table = { PG(1), PG(0x20) },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, addresses_from_high) {
	.file = {
		.nr_texts = 1,
		.text = { { PG(1), PG(0x401) } },
		.table = { PG(2), PG(0x402) },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, text_beyond_4_gib) {
	.file = {
		.nr_texts = 1,
		.text = { { 4 * GIB + PG(3), PG(3) } },
		.table = { PG(1), PG(1) },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, table_beyond_4_gib) {
	.file = {
		.nr_texts = 1,
		.text = { { PG(1), PG(1) } },
		.table = { 5 * GIB, PG(3) },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, all_beyond_4_gib) {
	.file = {
		.nr_texts = 2,
		.text = { { 4 * GIB, PG(1) }, { 4 * GIB + PG(3), PG(3) } },
		.table = { 7 * GIB, PG(5) },
		FRAMES,
	},
};

/* A table has an index of all text from the first function to the last */
FIXTURE_VARIANT_ADD(layout, texts_half_a_mib_apart) {
	.file = {
		.nr_texts = 2,
		.text = { { PG(1), PG(1) }, { 0x80000, 0x80000 } },
		.table = { PG(2), PG(2) },
		FRAMES,
	},
};

FIXTURE_SETUP(layout)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	self->env.fd = code_file_memfd(&variant->file);
	ASSERT_LE(0, self->env.fd);
	ASSERT_EQ(0, code_image_map(&self->env.image, &variant->file,
				    self->env.fd, NULL));
}

FIXTURE_TEARDOWN(layout)
{
	env_teardown(&self->env);
}

static void expect_all_through(struct __test_metadata *_metadata,
			       struct file_env *env, const struct code_image *image)
{
	unsigned int text, i;

	for (text = 0; text < image->file->nr_texts; text++)
		for (i = 0; i < CODE_FILE_FUNCTIONS; i++)
			ASSERT_EQ(THROUGH,
				  code_through(&env->sampler,
					       code_image_fn(image, text, i)))
				TH_LOG("segment %u, function %u", text, i);
}

TEST_F(layout, has_its_table)
{
	expect_all_through(_metadata, &self->env, &self->env.image);
	EXPECT_ONE_LOAD(&self->env, self->env.fd);
}

TEST_F(layout, mapped_twice_has_its_table)
{
	struct code_image other;

	ASSERT_EQ(0, code_image_map(&other, &variant->file, self->env.fd, NULL));
	expect_all_through(_metadata, &self->env, &other);
	expect_all_through(_metadata, &self->env, &self->env.image);
	EXPECT_ONE_LOAD(&self->env, self->env.fd);
}

/* Two files in turns at one address */
TEST_F(layout, mapped_over_has_its_own_table)
{
	const struct code_file other = with_frame(&variant->file, CODE_FRAME_OTHER);
	struct file_env *env = &self->env;
	struct code_image image;
	int fd, i;

	fd = code_file_memfd(&other);
	ASSERT_LE(0, fd);
	for (i = 0; i < 2; i++) {
		expect_all_through(_metadata, env, &env->image);
		ASSERT_EQ(0, code_image_map(&image, &other, fd, env->image.base));
		expect_all_through(_metadata, env, &image);
		ASSERT_EQ(0, code_image_map(&env->image, &variant->file, env->fd,
					    image.base));
	}
	EXPECT_ONE_LOAD(env, env->fd);
	EXPECT_ONE_LOAD(env, fd);
}

/* The kernel reads the file, not the process's mapping of it */
TEST_F(layout, with_unmapped_section_has_its_table)
{
	struct code_image *image = &self->env.image;

	ASSERT_EQ(0, munmap(image->base + variant->file.table.vaddr,
			    sysconf(_SC_PAGESIZE)));
	expect_all_through(_metadata, &self->env, image);
	EXPECT_ONE_LOAD(&self->env, self->env.fd);
}

TEST_F(layout, in_a_child_has_its_table)
{
	pid_t pid;

	expect_all_through(_metadata, &self->env, &self->env.image);
	ASSERT_EQ(0, trace_all(&self->env.trace));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct sampler sampler;
		unsigned int text;

		EXPECT_EQ(0, sampler_open(&sampler, 0));
		for (text = 0; text < variant->file.nr_texts; text++)
			EXPECT_EQ(THROUGH,
				  code_through(&sampler,
					       code_image_fn(&self->env.image,
							     text, 0)));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_ONE_LOAD(&self->env, self->env.fd);
}

/* Its index would be too large.  The lower 32 bits of the offsets are the same. */
TEST(file_with_texts_far_apart_has_no_table)
{
	const struct code_file file = {
		.nr_texts = 3,
		.text = { { PG(1), PG(1) }, { 4 * GIB + PG(1), PG(3) },
			  { 8 * GIB + PG(1), PG(5) } },
		.table = { PG(2), PG(7) },
		FRAMES,
	};
	struct file_env env = {};
	const char *why = env_setup(&env);
	char message[128] = "";
	unsigned int i;

	if (why)
		SKIP(return, "%s", why);
	env.fd = code_file_memfd(&file);
	ASSERT_LE(0, env.fd);
	ASSERT_EQ(0, code_image_map(&env.image, &file, env.fd, NULL));
	for (i = 0; i < file.nr_texts; i++)
		EXPECT_EQ(THROUGH_NOT, code_through(&env.sampler,
						    code_image_fn(&env.image, i, 0)));
	ASSERT_EQ(0, trace_read(&env.trace));
	EXPECT_EQ(1, trace_count_file(&env.trace, "file_invalid", env.fd, message,
				      sizeof(message)));
	EXPECT_EQ(-E2BIG, trace_field(message, "error"));
	env_teardown(&env);
}

/*
 * Files
 */

FIXTURE(file)
{
	struct file_env env;
	char dir[32];
	char path[64];
	char other[64];
};

FIXTURE_VARIANT(file)
{
	const char *fs;
};

FOR_EACH_COUNTING_FS(file);

FIXTURE_SETUP(file)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	if (!is_mounted(variant->fs))
		SKIP(return, "no %s, or not root", fs_name(variant->fs));
	snprintf(self->dir, sizeof(self->dir), "%s/XXXXXX", variant->fs);
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/code.so", self->dir);
	snprintf(self->other, sizeof(self->other), "%s/other.so", self->dir);
}

FIXTURE_TEARDOWN(file)
{
	env_teardown(&self->env);
	unlink(self->path);
	unlink(self->other);
	rmdir(self->dir);
}

TEST_F(file, open_file_has_its_table)
{
	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_ONE_LOAD(&self->env, self->env.fd);
}

/* Like loaders do */
TEST_F(file, closed_file_has_its_table)
{
	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	ASSERT_EQ(0, close(self->env.fd));
	self->env.fd = -1;
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

/* Deleted before the table is loaded, and after: that also is a change of the file */
TEST_F(file, deleted_file_has_its_table)
{
	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	ASSERT_EQ(0, link(self->path, self->other));
	ASSERT_EQ(0, unlink(self->path));
	ASSERT_EQ(0, file_settle(self->env.fd));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	ASSERT_EQ(0, unlink(self->other));
	EXPECT_EQ(THROUGH, await_through(&self->env, &self->env.image));
}

TEST_F(file, file_without_a_name_has_its_table)
{
	char path[64];
	int fd;

	fd = open(self->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
	if (fd < 0 && errno == EOPNOTSUPP)
		SKIP(return, "no O_TMPFILE");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_file_write(&code_file_usual, fd));
	ASSERT_EQ(0, file_settle(fd));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	self->env.fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->env.fd);
	close(fd);
	ASSERT_EQ(0, code_image_map(&self->env.image, &code_file_usual,
				    self->env.fd, NULL));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

/* One file, whatever its names are */
TEST_F(file, file_with_two_names_has_one_table)
{
	struct code_image image;
	int fd;

	self->env.fd = make_file(&code_file_usual, self->path);
	ASSERT_LE(0, self->env.fd);
	ASSERT_EQ(0, link(self->path, self->other));
	ASSERT_EQ(0, file_settle(self->env.fd));
	fd = open(self->other, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&self->env.image, &code_file_usual,
				    self->env.fd, NULL));
	ASSERT_EQ(0, code_image_map(&image, &code_file_usual, fd, NULL));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_EQ(THROUGH, through(&self->env, &image));
	EXPECT_ONE_LOAD(&self->env, fd);
}

/* No task may open it any more */
TEST_F(file, file_without_permissions_has_its_table)
{
	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	ASSERT_EQ(0, fchmod(self->env.fd, 0));
	ASSERT_EQ(0, file_settle(self->env.fd));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

TEST_F(file, shared_mapping_has_its_table)
{
	const struct code_segment *segment = &code_file_usual.text[0];
	const size_t page = sysconf(_SC_PAGESIZE);
	char *text;

	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	text = self->env.image.base + segment->vaddr;
	ASSERT_EQ(text, mmap(text, page, PROT_READ | PROT_EXEC,
			     MAP_SHARED | MAP_FIXED, self->env.fd,
			     segment->offset));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

/* Map nothing but the text, where no program header would place it */
TEST_F(file, text_mapped_alone_has_its_table)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	void *text[2];
	int i;

	self->env.fd = make_file(&code_file_usual, self->path);
	ASSERT_LE(0, self->env.fd);
	for (i = 0; i < 2; i++) {
		text[i] = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			       self->env.fd, code_file_usual.text[0].offset);
		ASSERT_NE(MAP_FAILED, text[i]);
		EXPECT_EQ(THROUGH, code_through(&self->env.sampler,
						(chain_fn)text[i]));
	}
	EXPECT_ONE_LOAD(&self->env, self->env.fd);
}

/* A debugger's breakpoints, for example */
TEST_F(file, text_changed_by_its_process_has_its_table)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	char *text;

	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	text = self->env.image.base + code_file_usual.text[0].vaddr;
	ASSERT_EQ(0, mprotect(text, page, PROT_READ | PROT_WRITE));
	memset(text + page / 2, 1, page / 2);
	ASSERT_EQ(0, mprotect(text, page, PROT_READ | PROT_EXEC));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_ONE_LOAD(&self->env, self->env.fd);
}

/* A new file, when it was closed but has not settled: by the first stack, and later */
static void new_file(struct file_env *env, const char *path, enum through *first,
		     enum through *later)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	*first = THROUGH_ERROR;
	*later = THROUGH_ERROR;
	env->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || env->fd < 0 || code_file_write(&code_file_usual, fd) || close(fd) ||
	    code_image_map(&env->image, &code_file_usual, env->fd, NULL))
		return;
	*first = through(env, &env->image);
	*later = await_through(env, &env->image);
}

TEST_F(file, new_file_has_its_table_at_once)
{
	enum through first, later;

	new_file(&self->env, self->path, &first, &later);
	EXPECT_EQ(THROUGH, first);
	EXPECT_EQ(THROUGH, later);
}

/* As long as a file may change without another time of change, it has no table */
TEST(new_file_whose_changes_are_not_counted_has_its_table_when_settled)
{
	const char *path = RAMFS "/new.so";
	enum through first, later;
	struct file_env env = {};
	const char *why = env_setup(&env);

	if (why)
		SKIP(return, "%s", why);
	if (!is_mounted(RAMFS))
		SKIP(return, "no ramfs, or not root");
	new_file(&env, path, &first, &later);
	/* Not in time for this */
	EXPECT_NE(THROUGH_ERROR, first);
	EXPECT_EQ(THROUGH, later);
	unlink(path);
	env_teardown(&env);
}

TEST_F(file, file_open_for_writing_has_its_table_soon_after_close)
{
	int64_t closed;
	int fd;

	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	fd = open(self->path, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
	ASSERT_EQ(0, close(fd));
	closed = now_ms();
	EXPECT_EQ(THROUGH, await_through(&self->env, &self->env.image));
	TH_LOG("%d ms after close", (int)(now_ms() - closed));
}

/*
 * Files in memory: nobody else can say that they do not change
 */

FIXTURE(memfd)
{
	struct file_env env;
};

FIXTURE_SETUP(memfd)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	self->env.fd = code_file_unsealed(&code_file_usual);
	ASSERT_LE(0, self->env.fd);
	ASSERT_EQ(0, code_image_map(&self->env.image, &code_file_usual,
				    self->env.fd, NULL));
}

FIXTURE_TEARDOWN(memfd)
{
	env_teardown(&self->env);
}

TEST_F(memfd, sealed_has_its_table)
{
	ASSERT_EQ(0, file_seal(self->env.fd));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_ONE_LOAD(&self->env, self->env.fd);
}

TEST_F(memfd, unsealed_has_no_table)
{
	const struct code_file other = with_frame(&code_file_usual, CODE_FRAME_OTHER);
	struct file_env *env = &self->env;
	char *text = env->image.base + code_file_usual.text[0].vaddr;

	EXPECT_TRUE(never_through(env, &env->image));
	ASSERT_EQ(0, code_file_write(&other, env->fd));
	__builtin___clear_cache(text, text + sysconf(_SC_PAGESIZE));
	EXPECT_TRUE(never_through(env, &env->image));
	/* It is no fault either */
	EXPECT_EQ(0, loads(env, env->fd));
	EXPECT_EQ(0, faults(env, env->fd));
}

/* Each of the seals is needed */
TEST_F(memfd, with_too_few_seals_has_no_table)
{
	static const int seals[] = {
		F_SEAL_GROW | F_SEAL_SHRINK,
		F_SEAL_WRITE | F_SEAL_SHRINK,
		F_SEAL_WRITE | F_SEAL_GROW,
		F_SEAL_FUTURE_WRITE | F_SEAL_GROW | F_SEAL_SHRINK,
	};
	struct file_env *env = &self->env;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(seals); i++) {
		code_image_unmap(&env->image);
		close(env->fd);
		env->fd = code_file_unsealed(&code_file_usual);
		ASSERT_LE(0, env->fd);
		ASSERT_EQ(0, fcntl(env->fd, F_ADD_SEALS, seals[i]));
		ASSERT_EQ(0, code_image_map(&env->image, &code_file_usual, env->fd,
					    NULL));
		EXPECT_TRUE(never_through(env, &env->image))
			TH_LOG("seals %#x", seals[i]);
	}
}

/* The kernel has noted that it has no table, and sealing is no change of a file */
TEST_F(memfd, sealed_after_a_stack_has_no_table)
{
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
	ASSERT_EQ(0, file_seal(self->env.fd));
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
}

/*
 * Sharing: each file is loaded once, whatever number of tasks use it, and stays known
 */

FIXTURE(shared)
{
	struct file_env env;
};

FIXTURE_SETUP(shared)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, trace_all(&self->env.trace));
	self->env.fd = code_file_memfd(&code_file_usual);
	ASSERT_LE(0, self->env.fd);
	ASSERT_EQ(0, code_image_map(&self->env.image, &code_file_usual,
				    self->env.fd, NULL));
}

FIXTURE_TEARDOWN(shared)
{
	env_teardown(&self->env);
}

/* In a process that maps the file itself */
static enum through through_elsewhere(int fd)
{
	struct code_image image;
	struct sampler sampler;
	enum through ret;

	if (code_image_map(&image, &code_file_usual, fd, NULL) ||
	    sampler_open(&sampler, 0))
		return THROUGH_ERROR;
	ret = code_through(&sampler, code_image_fn(&image, 0, 0));
	sampler_close(&sampler);
	code_image_unmap(&image);
	return ret;
}

/* One after the other; the first has exited when the second begins */
TEST_F(shared, by_two_processes_is_loaded_once)
{
	pid_t pid;
	int i;

	for (i = 0; i < 2; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(through_elsewhere(self->env.fd) != THROUGH);
		EXPECT_EQ(0, wait_for(pid));
	}
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_ONE_LOAD(&self->env, self->env.fd);
}

/* No more than one of them loads it; the others go on without, or come later */
#define PROCESSES	16

TEST_F(shared, by_processes_at_once_is_loaded_once)
{
	pid_t pid[PROCESSES];
	struct turns turns;
	int i;

	ASSERT_EQ(0, turns_init(&turns));
	for (i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (!pid[i])
			_exit(!turn_await(&turns, TURN_CHILD) ||
			      through_elsewhere(self->env.fd) == THROUGH_ERROR);
	}
	for (i = 0; i < PROCESSES; i++)
		ASSERT_TRUE(turn_over(&turns, TURN_CHILD));
	for (i = 0; i < PROCESSES; i++)
		EXPECT_EQ(0, wait_for(pid[i]));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_ONE_LOAD(&self->env, self->env.fd);
}

#define THREADS		64

struct together {
	struct code_image	*image;
	pthread_barrier_t	barrier;
};

static void *through_together(void *arg)
{
	struct together *together = arg;
	struct sampler sampler;
	enum through ret;

	if (sampler_open(&sampler, 0))
		return (void *)THROUGH_ERROR;
	pthread_barrier_wait(&together->barrier);
	ret = code_through(&sampler, code_image_fn(together->image, 0, 0));
	sampler_close(&sampler);
	return (void *)ret;
}

static void expect_together(struct __test_metadata *_metadata, struct file_env *env)
{
	struct together together = { .image = &env->image };
	pthread_t thread[THREADS];
	int i, throughs = 0;
	void *ret;

	ASSERT_EQ(0, pthread_barrier_init(&together.barrier, NULL, THREADS));
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, through_together,
					    &together));
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(thread[i], &ret));
		EXPECT_NE((void *)THROUGH_ERROR, ret);
		throughs += ret == (void *)THROUGH;
	}
	TH_LOG("%d of %d had the table", throughs, THREADS);
	EXPECT_EQ(THROUGH, await_through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
}

TEST_F(shared, by_threads_at_once_is_loaded_once)
{
	expect_together(_metadata, &self->env);
}

TEST_F(shared, and_mapped_again_is_known)
{
	struct file_env *env = &self->env;
	int i;

	for (i = 0; i < 10; i++) {
		EXPECT_EQ(THROUGH, through(env, &env->image));
		code_image_unmap(&env->image);
		ASSERT_EQ(0, code_image_map(&env->image, &code_file_usual, env->fd,
					    NULL));
	}
	EXPECT_ONE_LOAD(env, env->fd);
}

/* Text and section move away from each other */
TEST_F(shared, and_moved_is_known)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct file_env *env = &self->env;
	char *text = env->image.base + code_file_usual.text[0].vaddr, *there;

	EXPECT_EQ(THROUGH, through(env, &env->image));
	there = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, there);
	ASSERT_EQ(there, mremap(text, page, page, MREMAP_MAYMOVE | MREMAP_FIXED,
				there));
	EXPECT_EQ(THROUGH, code_through(&env->sampler, (chain_fn)there));
	ASSERT_EQ(text, mremap(there, page, page, MREMAP_MAYMOVE | MREMAP_FIXED,
			       text));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
}

/* As programs do that want their text in huge pages */
static int copy_text(char *text)
{
	if (mmap(text, CODE_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != text)
		return -1;
	code_write(text, CODE_FRAME);
	return mprotect(text, CODE_PAGE, PROT_READ | PROT_EXEC);
}

/* The file's headers, where they are if its text is not its first part */
static int map_headers(const struct file_env *env)
{
	return mmap(env->image.base, sysconf(_SC_PAGESIZE), PROT_READ, MAP_PRIVATE | MAP_FIXED,
		    env->fd, 0) == env->image.base ? 0 : -1;
}

/* Between other mappings of the file, the copy counts as the file's text */
TEST_F(shared, and_copied_to_anonymous_memory_is_known)
{
	struct file_env *env = &self->env;
	char *text = env->image.base + code_file_usual.text[0].vaddr;

	ASSERT_EQ(0, map_headers(env));
	ASSERT_EQ(0, copy_text(text));
	EXPECT_EQ(THROUGH, await_through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
}

/* In pieces with other rights; what comes after the file's last page is not there to be read */
TEST_F(shared, and_copied_to_anonymous_memory_in_pieces_is_known)
{
	const size_t page = sysconf(_SC_PAGESIZE), size = code_file_usual.table.offset + page;
	struct file_env *env = &self->env;
	struct code_image image;
	char *area, *table;

	area = mmap(NULL, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, area);
	ASSERT_EQ(0, code_image_map(&image, &code_file_usual, env->fd, area));
	ASSERT_EQ(area, mmap(area, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, env->fd, 0));
	ASSERT_EQ(area + size, mmap(area + size, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, env->fd,
				    size));
	ASSERT_EQ(0, copy_text(area + code_file_usual.text[0].vaddr));
	table = area + code_file_usual.table.vaddr;
	ASSERT_EQ(table, mmap(table, page, PROT_READ,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_EQ(THROUGH, await_through(env, &image));
}

/* The copy has another file on one side, or is not where the file's text was */
TEST_F(shared, and_copied_without_its_neighbours_is_not_known)
{
	struct file_env *env = &self->env;
	char *text = env->image.base + code_file_usual.text[0].vaddr, *above = text + CODE_PAGE;

	ASSERT_EQ(0, map_headers(env));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	ASSERT_EQ(0, copy_text(text));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	/* Another mapping of the same file, but not at the distance that it has in the file */
	ASSERT_EQ(above, mmap(above, CODE_PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, env->fd, 0));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
	ASSERT_EQ(above, mmap(above, CODE_PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, env->fd,
			      code_file_usual.table.offset));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	ASSERT_EQ(0, munmap(above, CODE_PAGE));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
}

/* Code without a file, and then a file in its place */
TEST_F(shared, in_place_of_anonymous_memory_has_its_table)
{
	struct file_env *env = &self->env;
	char *text = env->image.base + code_file_usual.text[0].vaddr;

	ASSERT_EQ(0, copy_text(text));
	EXPECT_TRUE(never_through(env, &env->image));
	EXPECT_EQ(0, loads(env, env->fd));
	ASSERT_EQ(0, code_image_map(&env->image, &code_file_usual, env->fd,
				    env->image.base));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
}

/* The kernel reads a bad file once for all processes, and other files are not affected */
TEST_F(shared, bad_file_is_looked_at_once)
{
	struct code_file bad = code_file_usual;
	struct file_env *env = &self->env;
	struct code_image image;
	uint16_t magic = 0;
	pid_t pid;
	int fd, i;

	fd = code_file_unsealed(&bad);
	ASSERT_LE(0, fd);
	ASSERT_EQ(sizeof(magic), pwrite(fd, &magic, sizeof(magic), bad.table.offset));
	ASSERT_EQ(0, file_seal(fd));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, code_image_map(&image, &bad, fd, NULL));
		EXPECT_EQ(THROUGH_NOT, through(env, &image));
		EXPECT_EQ(THROUGH, through(env, &env->image));
		code_image_unmap(&image);
	}
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(through_elsewhere(fd) != THROUGH_NOT);
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(1, faults(env, fd));
	EXPECT_EQ(0, loads(env, fd));
	EXPECT_ONE_LOAD(env, env->fd);
}

/* Many mappings of one file */

#define MAPPINGS	2000

static struct code_image images[MAPPINGS];

TEST_F_TIMEOUT(shared, by_many_mappings_is_loaded_once, 180)
{
	struct file_env *env = &self->env;
	unsigned int i;

	for (i = 0; i < MAPPINGS; i++)
		ASSERT_EQ(0, code_image_map(&images[i], &code_file_usual, env->fd,
					    NULL));
	for (i = 0; i < MAPPINGS; i++)
		ASSERT_EQ(THROUGH, through(env, &images[i]))
			TH_LOG("mapping %u", i);
	for (i = 0; i < MAPPINGS; i += 2)
		code_image_unmap(&images[i]);
	for (i = 1; i < MAPPINGS; i += 14)
		ASSERT_EQ(THROUGH, through(env, &images[i]))
			TH_LOG("mapping %u", i);
	EXPECT_ONE_LOAD(env, env->fd);
}

/* Many files, each with its own table */

#define FILES		500
#define FRAME_SIZES	50

TEST_F_TIMEOUT(shared, many_files_have_their_own_tables, 180)
{
	struct file_env *env = &self->env;
	struct code_file file[FRAME_SIZES];
	unsigned int i, round;
	int fd;

	for (i = 0; i < FRAME_SIZES; i++)
		file[i] = with_frame(&code_file_usual, CODE_FRAME + 16 * i);
	for (i = 0; i < FILES; i++) {
		fd = code_file_memfd(&file[i % FRAME_SIZES]);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, code_image_map(&images[i], &file[i % FRAME_SIZES], fd,
					    NULL));
		close(fd);
	}
	ASSERT_EQ(0, trace_of(&env->trace, getpid()));
	for (round = 0; round < 2; round++)
		for (i = 0; i < FILES; i++)
			ASSERT_EQ(THROUGH, through(env, &images[i]))
				TH_LOG("file %u", i);
	ASSERT_EQ(0, trace_read(&env->trace));
	EXPECT_LE(FILES, trace_count(&env->trace, "table_found", NULL, NULL, 0));
	/* This program and its libraries may have tables, too */
	EXPECT_GE(FILES + 10, trace_count(&env->trace, "table_found", NULL, NULL, 0));
}

/*
 * Workers: a task does not wait for its table, but goes on without.  A worker may still be
 * ready before the task looks again; that nobody waits is seen where files do not answer
 * (slow_file_test.c, device_test.c).
 */

FIXTURE(worker)
{
	struct file_env env;
};

FIXTURE_SETUP(worker)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, trace_all(&self->env.trace));
}

FIXTURE_TEARDOWN(worker)
{
	env_teardown(&self->env);
}

static int map_large_file(struct file_env *env)
{
	env->fd = large_memfd();
	return env->fd < 0 ? -1 : code_image_map(&env->image, &code_file_usual,
						 env->fd, NULL);
}

TEST_F(worker, loads_a_large_section)
{
	struct file_env *env = &self->env;

	ASSERT_EQ(0, map_large_file(env));
	ASSERT_EQ(0, trace_of_others(&env->trace));
	EXPECT_EQ(THROUGH, await_through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
}

TEST_F(worker, loads_a_large_section_once_for_many_threads)
{
	ASSERT_EQ(0, map_large_file(&self->env));
	expect_together(_metadata, &self->env);
}

/* The task has exited when the worker is ready: the table is there for the next */
TEST_F(worker, loads_a_large_section_for_a_task_that_has_exited)
{
	struct file_env *env = &self->env;
	pid_t pid;

	ASSERT_EQ(0, map_large_file(env));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(through_elsewhere(env->fd) == THROUGH_ERROR);
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, await_through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
}

/* The section's page is not in the page cache; the text's page is */
TEST_F(worker, loads_a_section_that_is_not_resident)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const struct code_file far = {
		.nr_texts = 1,
		.text = { { PG(1), PG(1) } },
		.table = { 0x800000, 0x800000 },
		FRAMES,
	};
	struct file_env *env = &self->env;
	unsigned char resident;
	char *section;

	if (!is_mounted(EXT4))
		SKIP(return, "no ext4, or not root");
	ASSERT_EQ(0, map_file(env, &far, EXT4 "/far.so"));
	ASSERT_EQ(0, fsync(env->fd));
	ASSERT_EQ(0, posix_fadvise(env->fd, 0, 0, POSIX_FADV_DONTNEED));
	section = env->image.base + far.table.vaddr;
	ASSERT_EQ(0, mincore(section, page, &resident));
	if (resident & 1)
		SKIP(return, "the page cache cannot be dropped");
	ASSERT_EQ(0, trace_of_others(&env->trace));
	EXPECT_EQ(THROUGH, await_through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
	unlink(EXT4 "/far.so");
}

/*
 * Overlay file systems: the process sees one file, and has another one mapped
 */

FIXTURE(overlay)
{
	struct file_env env;
};

#define OVERLAY	"/tmp/unwind-overlay"
#define LOWER	OVERLAY "/lower/code.so"
#define UPPER	OVERLAY "/upper/code.so"
#define MERGED	OVERLAY "/all/code.so"

static bool mount_overlay(const char *name)
{
	char all[64], upper[64], work[64], options[256];

	snprintf(all, sizeof(all), OVERLAY "/%sall", name);
	snprintf(upper, sizeof(upper), OVERLAY "/%supper", name);
	snprintf(work, sizeof(work), OVERLAY "/%swork", name);
	snprintf(options, sizeof(options),
		 "lowerdir=" OVERLAY "/lower,upperdir=%s,workdir=%s", upper, work);
	return !mkdir(all, 0700) && !mkdir(upper, 0700) && !mkdir(work, 0700) &&
	       !mount("overlay", all, "overlay", 0, options);
}

FIXTURE_SETUP(overlay)
{
	const char *why = env_setup(&self->env);
	int fd;

	if (why)
		SKIP(return, "%s", why);
	/* Each test has its own */
	if (!is_mounted(TMPFS) || unshare(CLONE_NEWNS) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL))
		SKIP(return, "no mount namespaces, or not root");
	ASSERT_EQ(0, mkdir(OVERLAY, 0700));
	ASSERT_EQ(0, mkdir(OVERLAY "/lower", 0700));
	fd = make_file(&code_file_usual, LOWER);
	ASSERT_LE(0, fd);
	close(fd);
	if (!mount_overlay(""))
		SKIP(return, "no overlay file systems on tmpfs");
}

FIXTURE_TEARDOWN(overlay)
{
	env_teardown(&self->env);
}

static int map_overlay(struct file_env *env, const char *path)
{
	env->fd = open(path, O_RDONLY | O_CLOEXEC);
	return env->fd < 0 ? -1 : code_image_map(&env->image, &code_file_usual,
						 env->fd, NULL);
}

static int copy_up(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : close(fd);
}

/* Number of loads of the table of a file that is opened for this only */
static size_t loads_of(struct file_env *env, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t nr = loads(env, fd);

	close(fd);
	return nr;
}

TEST_F(overlay, lower_file_has_its_table)
{
	ASSERT_EQ(0, map_overlay(&self->env, MERGED));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_EQ(1, loads_of(&self->env, LOWER));
}

TEST_F(overlay, upper_file_has_its_table)
{
	ASSERT_EQ(0, copy_up(MERGED));
	ASSERT_EQ(0, access(UPPER, F_OK));
	ASSERT_EQ(0, map_overlay(&self->env, MERGED));
	EXPECT_EQ(THROUGH, await_through(&self->env, &self->env.image));
	EXPECT_EQ(0, loads_of(&self->env, LOWER));
	EXPECT_LE(1, loads_of(&self->env, UPPER));
}

/* As containers of one image */
TEST_F(overlay, file_in_two_overlays_is_loaded_once)
{
	struct code_image image;
	int fd;

	ASSERT_TRUE(mount_overlay("second-"));
	fd = open(OVERLAY "/second-all/code.so", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&image, &code_file_usual, fd, NULL));
	ASSERT_EQ(0, map_overlay(&self->env, MERGED));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_EQ(THROUGH, through(&self->env, &image));
	EXPECT_EQ(1, loads_of(&self->env, LOWER));
}

/* Changes between the mapping and the first stack */
TEST_F(overlay, file_copied_up_meanwhile_keeps_its_table)
{
	ASSERT_EQ(0, map_overlay(&self->env, MERGED));
	ASSERT_EQ(0, copy_up(MERGED));
	ASSERT_EQ(0, access(UPPER, F_OK));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

/* The mapping has the lower file; only a new one has what was written */
TEST_F(overlay, file_copied_up_and_written_has_its_own_table)
{
	const struct code_file other = with_frame(&code_file_usual, CODE_FRAME_OTHER);
	struct code_image image;
	int fd;

	ASSERT_EQ(0, map_overlay(&self->env, MERGED));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	fd = open(MERGED, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_file_write(&other, fd));
	close(fd);
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));

	fd = open(MERGED, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&image, &other, fd, NULL));
	EXPECT_EQ(THROUGH, await_through(&self->env, &image));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_EQ(1, loads_of(&self->env, LOWER));
}

TEST_F(overlay, file_deleted_meanwhile_keeps_its_table)
{
	ASSERT_EQ(0, map_overlay(&self->env, MERGED));
	ASSERT_EQ(0, unlink(MERGED));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

/* New in the overlay itself */
TEST_F(overlay, new_file_has_its_table)
{
	int fd = make_file(&code_file_usual, OVERLAY "/all/new.so");

	ASSERT_LE(0, fd);
	close(fd);
	ASSERT_EQ(0, map_overlay(&self->env, OVERLAY "/all/new.so"));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

TEST_HARNESS_MAIN
