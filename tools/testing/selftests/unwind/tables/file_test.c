// SPDX-License-Identifier: GPL-2.0
/*
 * File tables: the kernel finds them in the files that are mapped, without help from libc.
 *
 * It finds them however a file's segments lie, wherever the file is, and after the file
 * has lost its name. stacks_test.c has whole programs, bad_file_test.c bad files.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code.h"
#include "code_file.h"
#include "image.h"
#include "trace.h"
#include "turns.h"
#include "../../kselftest_harness.h"

struct env {
	struct sampler sampler;
	struct trace trace;
	struct code_image image;
	int fd;
};

/* Return NULL, or the reason why the tests cannot run */
static const char *env_setup(struct env *env)
{
	env->fd = -1;
	if (sampler_open(&env->sampler, 0))
		return "no perf events for raw_syscalls, or not root";
	if (trace_start(&env->trace))
		return "no tracepoints unwind:*";
	return NULL;
}

static void env_teardown(struct env *env)
{
	code_image_unmap(&env->image);
	if (env->fd >= 0)
		close(env->fd);
	sampler_close(&env->sampler);
	trace_stop(&env->trace);
}

static enum through through(struct env *env, const struct code_image *image)
{
	return code_through(&env->sampler, code_image_fn(image, 0, 0));
}

/* Number of events of a kind about an executable segment, since the trace was cleared */
static size_t events(struct env *env, const struct code_image *image,
		     unsigned int text, const char *name)
{
	char what[64];

	code_image_text(image, text, what, sizeof(what));
	/* The field may be the last one of an event, so it is compared without its separator */
	what[strlen(what) - 1] = 0;
	if (trace_read(&env->trace))
		return -1;
	return trace_count(&env->trace, name, what, NULL, 0);
}

/*
 * Layouts
 */

FIXTURE(layout)
{
	struct env env;
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
		.text = { { 0x1000, 0x1000 } },
		.table = { 0x2000, 0x2000 },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, table_before) {
	.file = {
		.nr_texts = 1,
		.text = { { 0x2000, 0x2000 } },
		.table = { 0x1000, 0x1000 },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, table_far_after) {
	.file = {
		.nr_texts = 1,
		.text = { { 0x1000, 0x1000 } },
		.table = { 0x2000, 6 * GIB },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, table_far_before) {
	.file = {
		.nr_texts = 1,
		.text = { { 0x2000, 6 * GIB } },
		.table = { 0x1000, 0x1000 },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, several_texts) {
	.file = {
		.nr_texts = 3,
		.text = { { 0x1000, 0x1000 }, { 0x3000, 0x3000 },
			  { 0x5000, 0x5000 } },
		.table = { 0x7000, 0x7000 },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, several_texts_table_before) {
	.file = {
		.nr_texts = 3,
		.text = { { 0x3000, 0x3000 }, { 0x5000, 0x5000 },
			  { 0x7000, 0x7000 } },
		.table = { 0x1000, 0x1000 },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, several_texts_table_between) {
	.file = {
		.nr_texts = 2,
		.text = { { 0x1000, 0x1000 }, { 0x3000, 0x3000 } },
		.table = { 0x2000, 0x2000 },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, several_texts_crossed) {
	.file = {
		.nr_texts = 3,
		.text = { { 0x5000, 0x1000 }, { 0x1000, 0x3000 },
			  { 0x3000, 0x5000 } },
		.table = { 0x7000, 0x7000 },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, offsets_unlike_addresses) {
	.file = {
		.nr_texts = 1,
		.text = { { 0x9000, 0x1000 } },
		.table = { 0x1000, 0x20000 },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, addresses_from_high) {
	.file = {
		.nr_texts = 1,
		.text = { { 0x1000, 0x401000 } },
		.table = { 0x2000, 0x402000 },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, text_beyond_4_gib) {
	.file = {
		.nr_texts = 1,
		.text = { { 4 * GIB + 0x3000, 0x3000 } },
		.table = { 0x1000, 0x1000 },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, table_beyond_4_gib) {
	.file = {
		.nr_texts = 1,
		.text = { { 0x1000, 0x1000 } },
		.table = { 5 * GIB, 0x3000 },
		FRAMES,
	},
};

FIXTURE_VARIANT_ADD(layout, all_beyond_4_gib) {
	.file = {
		.nr_texts = 2,
		.text = { { 4 * GIB, 0x1000 }, { 9 * GIB, 0x3000 } },
		.table = { 7 * GIB, 0x5000 },
		FRAMES,
	},
};

/* The lower 32 bits of their offsets are the same */
FIXTURE_VARIANT_ADD(layout, texts_4_gib_apart) {
	.file = {
		.nr_texts = 3,
		.text = { { 0x1000, 0x1000 }, { 4 * GIB + 0x1000, 0x3000 },
			  { 8 * GIB + 0x1000, 0x5000 } },
		.table = { 0x2000, 0x7000 },
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

static void expect_all_found(struct __test_metadata *_metadata,
			     struct env *env, const struct code_image *image)
{
	unsigned int text, i;

	for (text = 0; text < image->file->nr_texts; text++)
		for (i = 0; i < CODE_FILE_FUNCTIONS; i++)
			EXPECT_EQ(THROUGH,
				  code_through(&env->sampler,
					       code_image_fn(image, text, i)))
				TH_LOG("segment %u, function %u", text, i);
	for (text = 0; text < image->file->nr_texts; text++) {
		EXPECT_EQ(1, events(env, image, text, "table_found"));
		EXPECT_EQ(0, events(env, image, text, "table_invalid"));
	}
}

TEST_F(layout, has_its_table)
{
	expect_all_found(_metadata, &self->env, &self->env.image);
}

/* Two mappings of one file are two libraries */
TEST_F(layout, mapped_twice_has_its_table)
{
	struct code_image other;

	ASSERT_EQ(0, code_image_map(&other, &variant->file, self->env.fd, NULL));
	expect_all_found(_metadata, &self->env, &other);
	expect_all_found(_metadata, &self->env, &self->env.image);
	code_image_unmap(&other);
}

TEST_F(layout, unmapped_drops_its_table)
{
	struct code_image image = self->env.image;
	struct code_file wrong = variant->file;
	unsigned int text;
	int fd;

	expect_all_found(_metadata, &self->env, &image);
	ASSERT_EQ(0, trace_clear(&self->env.trace));
	code_image_unmap(&self->env.image);
	for (text = 0; text < variant->file.nr_texts; text++)
		EXPECT_EQ(1, events(&self->env, &image, text, "table_dropped"));

	/* Another file there has its own table, here a wrong one */
	wrong.frame_table = CODE_FRAME_OTHER;
	fd = code_file_memfd(&wrong);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&self->env.image, &wrong, fd, image.base));
	for (text = 0; text < variant->file.nr_texts; text++)
		EXPECT_NE(THROUGH,
			  code_through(&self->env.sampler,
				       code_image_fn(&image, text, 0)));
	close(fd);
}

/* Each segment's result goes with its own mapping, and all with the table's */
TEST_F(layout, unmapped_table_drops_it)
{
	struct code_image *image = &self->env.image;
	unsigned int text;

	expect_all_found(_metadata, &self->env, image);
	ASSERT_EQ(0, trace_clear(&self->env.trace));
	ASSERT_EQ(0, munmap(image->base + variant->file.table.vaddr,
			    sysconf(_SC_PAGESIZE)));
	for (text = 0; text < variant->file.nr_texts; text++) {
		EXPECT_EQ(1, events(&self->env, image, text, "table_dropped"));
		EXPECT_EQ(THROUGH_NOT,
			  code_through(&self->env.sampler,
				       code_image_fn(image, text, 0)));
	}
}

TEST_F(layout, has_its_table_in_a_child)
{
	pid_t pid;

	expect_all_found(_metadata, &self->env, &self->env.image);
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
}

/*
 * Files
 */

FIXTURE(file)
{
	struct env env;
	char dir[32];
	char path[64];
	char other[64];
};

FIXTURE_SETUP(file)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	snprintf(self->dir, sizeof(self->dir), "/tmp/unwind.XXXXXX");
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

/* A new file, opened for reading; or -1 */
static int make_file(const struct code_file *file, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	if (fd >= 0 && code_file_write(file, fd)) {
		close(fd);
		return -1;
	}
	if (fd >= 0)
		close(fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int map_file(struct env *env, const struct code_file *file,
		    const char *path)
{
	env->fd = make_file(file, path);
	return env->fd < 0 ? -1 : code_image_map(&env->image, file, env->fd, NULL);
}

TEST_F(file, open_file_has_its_table)
{
	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

/* Like loaders do */
TEST_F(file, closed_file_has_its_table)
{
	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	ASSERT_EQ(0, close(self->env.fd));
	self->env.fd = -1;
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

TEST_F(file, deleted_file_has_its_table)
{
	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	ASSERT_EQ(0, close(self->env.fd));
	self->env.fd = -1;
	ASSERT_EQ(0, unlink(self->path));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

TEST_F(file, file_without_a_name_has_its_table)
{
	self->env.fd = open(self->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
	if (self->env.fd < 0 && errno == EOPNOTSUPP)
		SKIP(return, "no O_TMPFILE in /tmp");
	ASSERT_LE(0, self->env.fd);
	ASSERT_EQ(0, code_file_write(&code_file_usual, self->env.fd));
	ASSERT_EQ(0, code_image_map(&self->env.image, &code_file_usual,
				    self->env.fd, NULL));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

/* Replaced by another file, as package managers do: each mapping has its own file's table */
TEST_F(file, replaced_file_has_its_own_table)
{
	struct code_file other = code_file_usual;
	struct code_image image;
	int fd;

	other.frame = CODE_FRAME_OTHER;
	other.frame_table = CODE_FRAME_OTHER;
	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	fd = make_file(&other, self->other);
	ASSERT_LE(0, fd);
	close(fd);
	ASSERT_EQ(0, rename(self->other, self->path));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));

	fd = open(self->path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&image, &other, fd, NULL));
	EXPECT_EQ(THROUGH, through(&self->env, &image));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	code_image_unmap(&image);
	close(fd);
}

/* Text and table through different names, and different open files */
TEST_F(file, file_with_two_names_has_its_table)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	char *table;
	int fd;

	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	ASSERT_EQ(0, link(self->path, self->other));
	fd = open(self->other, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	table = self->env.image.base + code_file_usual.table.vaddr;
	ASSERT_EQ(table, mmap(table, page, PROT_READ, MAP_PRIVATE | MAP_FIXED,
			      fd, code_file_usual.table.offset));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	close(fd);
}

/* No task may open it any more */
TEST_F(file, file_without_permissions_has_its_table)
{
	ASSERT_EQ(0, map_file(&self->env, &code_file_usual, self->path));
	ASSERT_EQ(0, fchmod(self->env.fd, 0));
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

TEST(sealed_memfd_has_its_table)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct env env = {};
	const char *why = env_setup(&env);

	if (why)
		SKIP(return, "%s", why);
	env.fd = memfd_create("code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ASSERT_LE(0, env.fd);
	ASSERT_EQ(0, code_file_write(&code_file_usual, env.fd));
	ASSERT_EQ(0, fcntl(env.fd, F_ADD_SEALS, seals));
	ASSERT_EQ(0, code_image_map(&env.image, &code_file_usual, env.fd, NULL));
	EXPECT_EQ(THROUGH, through(&env, &env.image));
	env_teardown(&env);
}

/* Many mappings, each with its own result */

#define MANY	2000

FIXTURE(many_files)
{
	struct env env;
	struct code_image image[MANY];
};

FIXTURE_SETUP(many_files)
{
	const char *why = env_setup(&self->env);
	unsigned int i;

	if (why)
		SKIP(return, "%s", why);
	self->env.fd = code_file_memfd(&code_file_usual);
	ASSERT_LE(0, self->env.fd);
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, code_image_map(&self->image[i], &code_file_usual,
					    self->env.fd, NULL));
}

/* They go with the process, all at once */
FIXTURE_TEARDOWN(many_files)
{
	env_teardown(&self->env);
}

TEST_F_TIMEOUT(many_files, have_their_tables, 180)
{
	struct env *env = &self->env;
	unsigned int i;

	for (i = 0; i < MANY; i++)
		ASSERT_EQ(THROUGH, through(env, &self->image[i]))
			TH_LOG("mapping %u", i);
	ASSERT_EQ(0, trace_clear(&env->trace));
	for (i = 0; i < MANY; i += 2)
		code_image_unmap(&self->image[i]);
	for (i = 1; i < MANY; i += 14)
		ASSERT_EQ(THROUGH, through(env, &self->image[i]))
			TH_LOG("mapping %u", i);
	/* The kernel did not have to search again for the mappings that stayed */
	ASSERT_EQ(0, trace_read(&env->trace));
	EXPECT_EQ(MANY / 2, trace_count(&env->trace, "table_dropped", NULL,
					NULL, 0));
	EXPECT_EQ(0, trace_count(&env->trace, "table_found", NULL, NULL, 0));
}

/* Overlay file systems: the process sees one file, and has another one mapped */

FIXTURE(overlay)
{
	struct env env;
};

#define OVERLAY	"/tmp/unwind-overlay"
#define MERGED	OVERLAY "/all/code.so"

FIXTURE_SETUP(overlay)
{
	const char *why = env_setup(&self->env);
	int fd;

	if (why)
		SKIP(return, "%s", why);
	/* All of it belongs to this process, and is gone when it exits */
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL))
		SKIP(return, "no mount namespaces, or not root");
	ASSERT_EQ(0, mkdir(OVERLAY, 0700));
	ASSERT_EQ(0, mkdir(OVERLAY "/lower", 0700));
	ASSERT_EQ(0, mkdir(OVERLAY "/upper", 0700));
	ASSERT_EQ(0, mkdir(OVERLAY "/work", 0700));
	ASSERT_EQ(0, mkdir(OVERLAY "/all", 0700));
	fd = make_file(&code_file_usual, OVERLAY "/lower/code.so");
	ASSERT_LE(0, fd);
	close(fd);
	if (mount("overlay", OVERLAY "/all", "overlay", 0, "lowerdir=" OVERLAY
		  "/lower,upperdir=" OVERLAY "/upper,workdir=" OVERLAY "/work"))
		SKIP(return, "no overlay file systems on tmpfs");
}

FIXTURE_TEARDOWN(overlay)
{
	env_teardown(&self->env);
}

static int map_overlay(struct env *env, const char *path)
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

TEST_F(overlay, lower_file_has_its_table)
{
	ASSERT_EQ(0, map_overlay(&self->env, MERGED));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_EQ(1, events(&self->env, &self->env.image, 0, "table_found"));
}

TEST_F(overlay, upper_file_has_its_table)
{
	ASSERT_EQ(0, copy_up(MERGED));
	ASSERT_EQ(0, access(OVERLAY "/upper/code.so", F_OK));
	ASSERT_EQ(0, map_overlay(&self->env, MERGED));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_EQ(1, events(&self->env, &self->env.image, 0, "table_found"));
}

/* Changes between the mapping and the first search */
TEST_F(overlay, file_copied_up_meanwhile_keeps_its_table)
{
	ASSERT_EQ(0, map_overlay(&self->env, MERGED));
	ASSERT_EQ(0, copy_up(MERGED));
	ASSERT_EQ(0, access(OVERLAY "/upper/code.so", F_OK));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
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

/* Remembered results, and the number of searches of a file */

FIXTURE(cached_answer)
{
	struct env env;
};

FIXTURE_SETUP(cached_answer)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	self->env.fd = code_file_memfd(&code_file_usual);
	ASSERT_LE(0, self->env.fd);
	ASSERT_EQ(0, code_image_map(&self->env.image, &code_file_usual,
				    self->env.fd, NULL));
}

FIXTURE_TEARDOWN(cached_answer)
{
	env_teardown(&self->env);
}

/* The program header of the table is the third and last */
static int write_phdr(int fd, size_t member, uint64_t value, size_t size)
{
	const size_t at = sizeof(struct elf64_hdr) +
			  2 * sizeof(struct elf64_phdr) + member;

	return pwrite(fd, &value, size, at) == (ssize_t)size ? 0 : -1;
}

static int write_type(int fd, uint32_t type)
{
	return write_phdr(fd, offsetof(struct elf64_phdr, p_type), type,
			  sizeof(type));
}

static int write_address(int fd, uint64_t vaddr)
{
	return write_phdr(fd, offsetof(struct elf64_phdr, p_vaddr), vaddr,
			  sizeof(vaddr));
}

static int map_again(struct env *env)
{
	return code_image_map(&env->image, &code_file_usual, env->fd,
			      env->image.base);
}

/* No table at first; then the file gets one, which is found after the next mapping */
TEST_F(cached_answer, no_table_is_kept_until_mapped_anew)
{
	struct env *env = &self->env;

	ASSERT_EQ(0, write_type(env->fd, PT_NULL));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
	ASSERT_EQ(0, write_type(env->fd, PT_GNU_SFRAME));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
	EXPECT_EQ(0, events(env, &env->image, 0, "table_found"));
	ASSERT_EQ(0, map_again(env));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_EQ(0, events(env, &env->image, 0, "table_invalid"));
}

TEST_F(cached_answer, no_table_is_dropped_by_munmap)
{
	struct env *env = &self->env;
	struct code_image image = env->image;

	ASSERT_EQ(0, write_type(env->fd, PT_NULL));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
	ASSERT_EQ(0, write_type(env->fd, PT_GNU_SFRAME));
	code_image_unmap(&env->image);
	ASSERT_EQ(0, code_image_map(&env->image, &code_file_usual, env->fd,
				    image.base));
	ASSERT_EQ(image.base, env->image.base);
	EXPECT_EQ(THROUGH, through(env, &env->image));
}

/* It costs one search, and costs other processes nothing */
TEST_F(cached_answer, bad_table_is_looked_at_once)
{
	struct env *env = &self->env;
	struct code_image good;
	int fd, i;

	fd = code_file_memfd(&code_file_usual);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&good, &code_file_usual, fd, NULL));
	ASSERT_EQ(0, write_address(env->fd, GIB));
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
		EXPECT_EQ(THROUGH, through(env, &good));
	}
	EXPECT_EQ(1, events(env, &env->image, 0, "table_invalid"));
	EXPECT_EQ(0, events(env, &good, 0, "table_invalid"));
	EXPECT_EQ(1, events(env, &good, 0, "table_found"));
	/* The table comes too late for this mapping */
	ASSERT_EQ(0, write_address(env->fd, code_file_usual.table.vaddr));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
	EXPECT_EQ(1, events(env, &env->image, 0, "table_invalid"));
	ASSERT_EQ(0, map_again(env));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	code_image_unmap(&good);
	close(fd);
}

/* Each process searches by itself, once */
TEST_F(cached_answer, bad_table_is_not_inherited)
{
	struct env *env = &self->env;
	struct turns turns;
	pid_t pid;

	ASSERT_EQ(0, write_address(env->fd, GIB));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
	ASSERT_EQ(0, turns_init(&turns));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct sampler sampler;
		int i;

		EXPECT_TRUE(turn_await(&turns, TURN_CHILD));
		EXPECT_EQ(0, sampler_open(&sampler, 0));
		for (i = 0; i < 3; i++)
			EXPECT_EQ(THROUGH_NOT,
				  code_through(&sampler,
					       code_image_fn(&env->image, 0, 0)));
		CHILD_EXIT();
	}
	ASSERT_EQ(0, trace_of(&env->trace, pid));
	ASSERT_EQ(0, trace_clear(&env->trace));
	ASSERT_TRUE(turn_over(&turns, TURN_CHILD));
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(1, events(env, &env->image, 0, "table_invalid"));
}

/* Code without a file, and then a file in its place */
TEST_F(cached_answer, anonymous_memory_is_replaced_by_a_file)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct env *env = &self->env;
	char *text = env->image.base + code_file_usual.text[0].vaddr;

	ASSERT_EQ(text, mmap(text, page, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			     MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	code_write(text, CODE_FRAME);
	ASSERT_EQ(0, mprotect(text, page, PROT_READ | PROT_EXEC));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
	EXPECT_EQ(THROUGH_NOT, through(env, &env->image));
	EXPECT_EQ(0, events(env, &env->image, 0, "table_found"));
	EXPECT_EQ(0, events(env, &env->image, 0, "table_invalid"));
	ASSERT_EQ(0, map_again(env));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_EQ(1, events(env, &env->image, 0, "table_found"));
}

/* The kernel searches the table once, however often it is used */
TEST_F(cached_answer, good_table_is_looked_for_once)
{
	struct env *env = &self->env;
	int i;

	for (i = 0; i < 10; i++)
		EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_EQ(1, events(env, &env->image, 0, "table_found"));
	/* So later changes of the file's headers do not matter either */
	ASSERT_EQ(0, write_type(env->fd, PT_NULL));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_EQ(0, events(env, &env->image, 0, "table_dropped"));
}

/* The text moves away from its table, and the table from its text */
TEST_F(cached_answer, moved_text_drops_its_table)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct env *env = &self->env;
	char *text = env->image.base + code_file_usual.text[0].vaddr, *there;

	EXPECT_EQ(THROUGH, through(env, &env->image));
	there = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, there);
	ASSERT_EQ(there, mremap(text, page, page, MREMAP_MAYMOVE | MREMAP_FIXED,
				there));
	EXPECT_EQ(1, events(env, &env->image, 0, "table_dropped"));
	/* Its program headers now locate the table at the wrong address */
	EXPECT_EQ(THROUGH_NOT, code_through(&env->sampler, (chain_fn)there));
	ASSERT_EQ(text, mremap(there, page, page, MREMAP_MAYMOVE | MREMAP_FIXED,
			       text));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	munmap(there, page);
}

TEST_HARNESS_MAIN
