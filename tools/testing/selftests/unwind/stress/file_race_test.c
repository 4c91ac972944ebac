// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are written while their tables are used, or are being loaded.
 *
 * Code and table of a file are replaced by others with frames of another size, in each way
 * in which a program can do that. A stack through the new code is right, or stops there
 * until the new table is loaded. It never goes on by the old one.
 *
 * And files that are mapped anew while stacks go through them.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "code_file.h"
#include "image.h"
#include "../../kselftest_harness.h"

#define ROUNDS		4
#define PATIENCE	20	/* seconds, for a table to be loaded */

static const struct code_file *const usual = &code_file_usual;

/* The whole file as it is to be, and its size */
#define FILE_SIZE	PG(3)

static int make_contents(char *to, unsigned int frame)
{
	struct code_file file = code_file_usual;
	int fd = memfd_create("contents", MFD_CLOEXEC), ret;

	file.frame = frame;
	file.frame_table = frame;
	ret = fd < 0 || code_file_write(&file, fd) ||
	      pread(fd, to, FILE_SIZE, 0) != FILE_SIZE ? -1 : 0;
	close(fd);
	return ret;
}

static int write_contents(int fd, const char *contents)
{
	return pwrite(fd, contents, FILE_SIZE, 0) == FILE_SIZE ? 0 : -1;
}

/* For caches of instructions that do not follow the memory */
static void clear_cache(const struct code_image *image)
{
	char *text = (char *)code_image_fn(image, 0, 0);

	__builtin___clear_cache(text, text + page_size());
}

static void wait_ms(unsigned int ms)
{
	const struct timespec ts = { .tv_nsec = ms * 1000000UL };

	nanosleep(&ts, NULL);
}

/* Is each stack right or incomplete, and right in the end? */
static bool becomes_right(struct sampler *sampler, const struct code_image *image)
{
	time_t end = time(NULL) + PATIENCE;
	enum through ret;

	for (;;) {
		ret = code_through(sampler, code_image_fn(image, 0, 1));
		if (ret != THROUGH_NOT || time(NULL) >= end)
			return ret == THROUGH;
		/* A file system without versions takes seconds, which others can use */
		wait_ms(1);
	}
}

/*
 * Ways to replace the contents of a file. @path is the file's, and @fd is open for reading
 * and writing, and closed afterwards.
 */

static int by_write(const char *path, int fd, const char *contents)
{
	return write_contents(fd, contents);
}

static int by_truncate_and_write(const char *path, int fd, const char *contents)
{
	return ftruncate(fd, 0) || write_contents(fd, contents) ? -1 : 0;
}

static int store(int fd, const char *contents, bool read_before)
{
	unsigned int i;
	char *to;

	to = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (to == MAP_FAILED)
		return -1;
	for (i = 0; read_before && i < FILE_SIZE; i += page_size())
		asm volatile("" : : "r"(to[i]));
	memcpy(to, contents, FILE_SIZE);
	return munmap(to, FILE_SIZE);
}

static int by_store(const char *path, int fd, const char *contents)
{
	return store(fd, contents, false);
}

/* No store faults any more */
static int by_store_after_read(const char *path, int fd, const char *contents)
{
	return store(fd, contents, true);
}

/* Another file of the same name */
static int by_rename(const char *path, int fd, const char *contents)
{
	char other[128];
	int new, ret;

	snprintf(other, sizeof(other), "%s.new", path);
	new = open(other, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (new < 0)
		return -1;
	ret = write_contents(new, contents);
	close(new);
	return ret || rename(other, path) ? -1 : 0;
}

FIXTURE(written)
{
	struct sampler sampler;
	char dir[64];
	char path[96];
	char contents[2][FILE_SIZE];
};

/* @renames: the path leads to another file afterwards; the old one stays mapped */
FIXTURE_VARIANT(written)
{
	int (*replace)(const char *path, int fd, const char *contents);
	bool renames;
};

FIXTURE_VARIANT_ADD(written, by_write) {
	.replace = by_write,
};

FIXTURE_VARIANT_ADD(written, by_truncate_and_write) {
	.replace = by_truncate_and_write,
};

FIXTURE_VARIANT_ADD(written, by_store) {
	.replace = by_store,
};

FIXTURE_VARIANT_ADD(written, by_store_after_read) {
	.replace = by_store_after_read,
};

FIXTURE_VARIANT_ADD(written, by_rename) {
	.replace = by_rename,
	.renames = true,
};

FIXTURE_SETUP(written)
{
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	ASSERT_EQ(0, make_contents(self->contents[0], CODE_FRAME));
	ASSERT_EQ(0, make_contents(self->contents[1], CODE_FRAME_OTHER));
	/* The file systems that the tests mount are nobody else's */
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	snprintf(self->dir, sizeof(self->dir), "/tmp/unwind.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/file", self->dir);
}

FIXTURE_TEARDOWN(written)
{
	sampler_close(&self->sampler);
	umount2(self->dir, MNT_DETACH);
	rmdir(self->dir);
}

static int map_file(struct code_image *image, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	ret = fd < 0 ? -1 : code_image_map(image, usual, fd, NULL);
	close(fd);
	return ret;
}

static void rewrite(struct __test_metadata *_metadata, struct _test_data_written *self,
		    const struct _fixture_variant_written *variant, int rounds)
{
	struct code_image image;
	int fd, i;

	fd = open(self->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, write_contents(fd, self->contents[0]));
	close(fd);
	ASSERT_EQ(0, map_file(&image, self->path));
	ASSERT_TRUE(becomes_right(&self->sampler, &image));
	for (i = 1; i <= rounds; i++) {
		fd = open(self->path, O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, fd);
		/* It could change at any time. The kernel need not see that, either. */
		if (i % 2)
			EXPECT_EQ(THROUGH_NOT, code_through(&self->sampler,
							    code_image_fn(&image, 0, 1)));
		ASSERT_EQ(0, variant->replace(self->path, fd, self->contents[i % 2]));
		close(fd);
		if (variant->renames) {
			/* The old file is still mapped, and still has its table */
			EXPECT_TRUE(becomes_right(&self->sampler, &image));
			code_image_unmap(&image);
			ASSERT_EQ(0, map_file(&image, self->path));
		}
		clear_cache(&image);
		EXPECT_TRUE(becomes_right(&self->sampler, &image));
	}
	code_image_unmap(&image);
}

TEST_F_TIMEOUT(written, file_on_tmpfs_never_uses_its_old_table, 120)
{
	ASSERT_EQ(0, mount("none", self->dir, "tmpfs", 0, NULL));
	rewrite(_metadata, self, variant, ROUNDS);
}

/* It has no versions of files, only times: a table is loaded when a change is long ago */
TEST_F_TIMEOUT(written, file_on_ramfs_never_uses_its_old_table, 120)
{
	if (mount("none", self->dir, "ramfs", 0, NULL))
		SKIP(return, "no ramfs");
	rewrite(_metadata, self, variant, ROUNDS / 2);
}

/*
 * A table so large that a worker loads it. Meanwhile somebody who already has the file
 * mapped for writing stores other contents, and unmaps it.
 */
#define LARGE		(16UL << 20)
#define DELAYS		10

static int make_large(int fd)
{
	struct elf64_phdr phdr;
	struct elf64_hdr ehdr;
	unsigned int i;
	off_t at;

	if (ftruncate(fd, usual->table.offset + LARGE) ||
	    pread(fd, &ehdr, sizeof(ehdr), 0) != sizeof(ehdr))
		return -1;
	for (i = 0; i < ehdr.e_phnum; i++) {
		at = ehdr.e_phoff + i * sizeof(phdr);
		if (pread(fd, &phdr, sizeof(phdr), at) != sizeof(phdr))
			return -1;
		if (phdr.p_type != PT_GNU_SFRAME)
			continue;
		phdr.p_filesz = LARGE;
		phdr.p_memsz = LARGE;
		if (pwrite(fd, &phdr, sizeof(phdr), at) != sizeof(phdr))
			return -1;
	}
	return 0;
}

FIXTURE(loaded)
{
	struct sampler sampler;
	char contents[2][FILE_SIZE];
};

FIXTURE_SETUP(loaded)
{
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	ASSERT_EQ(0, make_contents(self->contents[0], CODE_FRAME));
	ASSERT_EQ(0, make_contents(self->contents[1], CODE_FRAME_OTHER));
}

FIXTURE_TEARDOWN(loaded)
{
	sampler_close(&self->sampler);
}

TEST_F_TIMEOUT(loaded, file_stored_to_meanwhile_never_uses_its_old_table, 300)
{
	const size_t page = page_size();
	struct code_image image;
	char path[32], *to;
	int fd, i;

	for (i = 0; i < DELAYS; i++) {
		snprintf(path, sizeof(path), "/tmp/unwind.XXXXXX");
		fd = mkstemp(path);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, write_contents(fd, self->contents[0]));
		ASSERT_EQ(0, make_large(fd));
		to = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		ASSERT_NE(MAP_FAILED, to);
		/* Code and table, but not the headers */
		memcpy(to + page, self->contents[0] + page, 2 * page);
		close(fd);
		ASSERT_EQ(0, map_file(&image, path));
		ASSERT_EQ(0, unlink(path));

		code_through(&self->sampler, code_image_fn(&image, 0, 1));
		wait_ms(i);
		memcpy(to + page, self->contents[1] + page, 2 * page);
		ASSERT_EQ(0, munmap(to, FILE_SIZE));
		clear_cache(&image);
		EXPECT_TRUE(becomes_right(&self->sampler, &image))
			TH_LOG("stored after %d ms", i);
		code_image_unmap(&image);
	}
}

/*
 * An overlay's file that is mapped anew all the time. Each mapping has a file of the kernel's
 * own, to which nobody else has a reference: it is freed with the mapping, while the kernel
 * may be reading it for a stack.
 */
#define REMAPS		2500
#define READERS		3

FIXTURE(remapped)
{
	char dir[64];
	char path[96];
	struct code_image image;
	atomic_bool done;
	atomic_uint wrong, right;
};

FIXTURE_SETUP(remapped)
{
	char path[96], options[256];
	int fd;

	snprintf(self->dir, sizeof(self->dir), "/tmp/unwind.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", self->dir, "tmpfs", 0, NULL))
		SKIP(return, "no mount namespaces, or not root");
	snprintf(options, sizeof(options), "lowerdir=%s/a,upperdir=%s/b,workdir=%s/c",
		 self->dir, self->dir, self->dir);
	for (fd = 'a'; fd <= 'd'; fd++) {
		snprintf(path, sizeof(path), "%s/%c", self->dir, fd);
		ASSERT_EQ(0, mkdir(path, 0700));
	}
	if (mount("overlay", path, "overlay", 0, options))
		SKIP(return, "no overlay file systems on tmpfs");
	snprintf(path, sizeof(path), "%s/a/file", self->dir);
	snprintf(self->path, sizeof(self->path), "%s/d/file", self->dir);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_file_write(usual, fd));
	close(fd);
	ASSERT_EQ(0, map_file(&self->image, self->path));
}

FIXTURE_TEARDOWN(remapped)
{
	code_image_unmap(&self->image);
	umount2(self->dir, MNT_DETACH);
	rmdir(self->dir);
}

static void *read_stacks(void *data)
{
	struct _test_data_remapped *self = data;
	struct sampler sampler;

	if (sampler_open(&sampler, 0))
		return data;
	while (!self->done) {
		if (code_through(&sampler, code_image_fn(&self->image, 0, 1)) == THROUGH)
			self->right++;
		else
			self->wrong++;
	}
	sampler_close(&sampler);
	return NULL;
}

/* In one step, so that the program can go on running there */
static bool remap(struct _test_data_remapped *self, void *text)
{
	int fd = open(self->path, O_RDONLY | O_CLOEXEC);
	void *to = mmap(text, page_size(), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			usual->text[0].offset);

	close(fd);
	return to == text;
}

TEST_F_TIMEOUT(remapped, file_of_overlay_is_read_until_it_is_freed, 300)
{
	void *text = code_image_fn(&self->image, 0, 0), *failed;
	pthread_t reader[READERS];
	struct sampler sampler;
	bool mapped = true;
	unsigned int i;

	if (sampler_open(&sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	EXPECT_TRUE(becomes_right(&sampler, &self->image));
	sampler_close(&sampler);
	for (i = 0; i < READERS; i++)
		ASSERT_EQ(0, pthread_create(&reader[i], NULL, read_stacks, self));
	/* To begin to trace may take long */
	while (self->right + self->wrong < READERS)
		wait_ms(1);
	/* Until there have been readers meanwhile, which may not get a CPU for a while */
	for (i = 0; mapped && (i < REMAPS || (self->right <= REMAPS / 10 && !self->wrong)); i++)
		mapped = remap(self, text);
	self->done = true;
	for (i = 0; i < READERS; i++) {
		ASSERT_EQ(0, pthread_join(reader[i], &failed));
		EXPECT_EQ(NULL, failed);
	}
	EXPECT_TRUE(mapped);
	EXPECT_EQ(0, self->wrong);
	EXPECT_LT(REMAPS / 10, self->right);
}

TEST_HARNESS_MAIN
