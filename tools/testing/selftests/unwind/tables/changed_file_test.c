// SPDX-License-Identifier: GPL-2.0
/*
 * Files that change when the kernel knows their table: a stack never uses the old one.
 *
 * A file is mapped, a stack passes its code by its table, and then the file gets other
 * code and another table, or loses its table.  The mapping has the new contents at once.
 * From then on, a stack that passes the code is right, or it ends there.
 *
 * Other tests have another file under the same name, or with the same inode number, or one
 * whose inode has left memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/compiler.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_env.h"
#include "image.h"
#include "../../kselftest_harness.h"

FIXTURE(changed)
{
	struct file_env env;
	struct code_file new;
	char dir[32];
	char path[64];
	char other[64];
	/* Opened for writing, and to be read when it has changed */
	int writer;
	/* The new contents */
	char *bytes;
	size_t size;
};

FIXTURE_VARIANT(changed)
{
	const char *fs;
};

FOR_EACH_COUNTING_FS(changed);

/* A file in a new directory, whose table is known; NULL, or why not */
static const char *begin(struct _test_data_changed *self, const char *fs)
{
	const char *why = env_setup(&self->env);

	self->writer = -1;
	if (why)
		return why;
	if (!is_mounted(fs))
		return "no such file system, or not root";
	self->new = with_frame(&code_file_usual, CODE_FRAME_OTHER);
	self->bytes = file_bytes(&self->new, &self->size);
	snprintf(self->dir, sizeof(self->dir), "%s/XXXXXX", fs);
	if (!self->bytes || !mkdtemp(self->dir))
		return "no file";
	snprintf(self->path, sizeof(self->path), "%s/code.so", self->dir);
	snprintf(self->other, sizeof(self->other), "%s/other.so", self->dir);
	return NULL;
}

/* A worker reads what is not in the page cache, such as a hole */
#define ASSERT_LOADED(self)						\
	do {								\
		struct _test_data_changed *_self = (self);		\
		struct file_env *_env = &_self->env;			\
									\
		ASSERT_EQ(0, trace_all(&_env->trace));			\
		ASSERT_EQ(0, map_file(_env, &code_file_usual, _self->path)); \
		ASSERT_EQ(THROUGH, through(_env, &_env->image));	\
		EXPECT_ONE_LOAD(_env, _env->fd);			\
	} while (0)

static void finish(struct _test_data_changed *self)
{
	env_teardown(&self->env);
	if (self->writer >= 0)
		close(self->writer);
	free(self->bytes);
	unlink(self->path);
	unlink(self->other);
	rmdir(self->dir);
}

FIXTURE_SETUP(changed)
{
	const char *why = begin(self, variant->fs);

	if (why)
		SKIP(return, "%s: %s", fs_name(variant->fs), why);
	ASSERT_LOADED(self);
}

FIXTURE_TEARDOWN(changed)
{
	finish(self);
}

static bool open_writer(struct _test_data_changed *self, int flags)
{
	self->writer = open(self->path, flags | O_CLOEXEC);
	return self->writer >= 0;
}

static void close_writer(struct _test_data_changed *self)
{
	close(self->writer);
	self->writer = -1;
}

/* The processor executes what was written */
static void flush_code(struct _test_data_changed *self)
{
	char *text = self->env.image.base + code_file_usual.text[0].vaddr;

	__builtin___clear_cache(text, text + sysconf(_SC_PAGESIZE));
}

/* The file has a new table, which the kernel loads once, and nobody uses the old one */
#define EXPECT_NEW_TABLE(self)						\
	do {								\
		struct _test_data_changed *_self = (self);		\
		struct file_env *_env = &_self->env;			\
									\
		flush_code(_self);					\
		ASSERT_EQ(0, file_settle(_env->fd));			\
		ASSERT_EQ(0, trace_clear(&_env->trace));		\
		EXPECT_EQ(THROUGH, await_through(_env, &_env->image));	\
		EXPECT_EQ(THROUGH, through(_env, &_env->image));	\
		EXPECT_ONE_LOAD(_env, _env->fd);			\
	} while (0)

/* The file has no table any more; the kernel looks at it once */
#define EXPECT_BAD_TABLE(self)						\
	do {								\
		struct _test_data_changed *_self = (self);		\
		struct file_env *_env = &_self->env;			\
									\
		flush_code(_self);					\
		ASSERT_EQ(0, file_settle(_env->fd));			\
		ASSERT_EQ(0, trace_clear(&_env->trace));		\
		EXPECT_EQ(THROUGH_NOT,					\
			  await_fault(_env, &_env->image, _env->fd));	\
		EXPECT_TRUE(never_through(_env, &_env->image));		\
		EXPECT_EQ(1, faults(_env, _env->fd));			\
		EXPECT_EQ(0, loads(_env, _env->fd));			\
	} while (0)

/* Until it is closed, it has no table */
TEST_F(changed, written_file_uses_its_new_table)
{
	ASSERT_TRUE(open_writer(self, O_WRONLY));
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
	ASSERT_EQ(self->size, pwrite(self->writer, self->bytes, self->size, 0));
	flush_code(self);
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
	close_writer(self);
	EXPECT_NEW_TABLE(self);
}

/* Without a stack between open and close: only the stamp shows the change */
TEST_F(changed, written_file_uses_its_new_table_at_the_next_stack)
{
	ASSERT_TRUE(open_writer(self, O_WRONLY));
	ASSERT_EQ(self->size, pwrite(self->writer, self->bytes, self->size, 0));
	close_writer(self);
	flush_code(self);
	ASSERT_EQ(0, file_settle(self->env.fd));
	ASSERT_EQ(0, trace_clear(&self->env.trace));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_ONE_LOAD(&self->env, self->env.fd);
}

/* At any time after the change, a stack is right or ends there */
TEST_F(changed, file_written_again_and_again_never_uses_an_old_table)
{
	struct file_env *env = &self->env;
	unsigned int i, throughs = 0;
	enum through ret;

	for (i = 0; i < 50; i++) {
		self->new = with_frame(&code_file_usual, CODE_FRAME + i % 4 * 16);
		ASSERT_TRUE(open_writer(self, O_WRONLY));
		ASSERT_EQ(0, code_file_write(&self->new, self->writer));
		close_writer(self);
		flush_code(self);
		ret = through(env, &env->image);
		ASSERT_NE(THROUGH_ERROR, ret);
		throughs += ret == THROUGH;
		/* Vary the time, so that the next stack may meet a table of any age, or none */
		usleep(1000 * i);
		ASSERT_NE(THROUGH_ERROR, through(env, &env->image));
	}
	TH_LOG("%u of %u with the new table at once", throughs, i);
	EXPECT_EQ(THROUGH, await_through(env, &env->image));
}

/* @read: read memory before the store, which then need not fault */
static bool store(struct _test_data_changed *self, bool read)
{
	char *shared;
	size_t i;

	shared = mmap(NULL, self->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      self->writer, 0);
	if (shared == MAP_FAILED)
		return false;
	for (i = 0; read && i < self->size; i++)
		(void)READ_ONCE(shared[i]);
	memcpy(shared, self->bytes, self->size);
	return !munmap(shared, self->size);
}

TEST_F(changed, file_changed_by_shared_stores_uses_its_new_table)
{
	ASSERT_TRUE(open_writer(self, O_RDWR));
	ASSERT_TRUE(store(self, false));
	close_writer(self);
	EXPECT_NEW_TABLE(self);
}

TEST_F(changed, file_changed_by_shared_stores_after_reads_uses_its_new_table)
{
	ASSERT_TRUE(open_writer(self, O_RDWR));
	ASSERT_TRUE(store(self, true));
	close_writer(self);
	EXPECT_NEW_TABLE(self);
}

/* A mapping alone keeps the file open for writing */
TEST_F(changed, file_with_a_shared_mapping_has_no_table)
{
	char *shared;

	ASSERT_TRUE(open_writer(self, O_RDWR));
	shared = mmap(NULL, self->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      self->writer, 0);
	ASSERT_NE(MAP_FAILED, shared);
	close_writer(self);
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
	memcpy(shared, self->bytes, self->size);
	flush_code(self);
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
	ASSERT_EQ(0, munmap(shared, self->size));
	EXPECT_NEW_TABLE(self);
}

/* By name: the file is open for writing only during the call */
TEST_F(changed, file_without_its_end_has_no_table)
{
	ASSERT_EQ(0, truncate(self->path, code_file_usual.table.offset));
	EXPECT_BAD_TABLE(self);
}

/* Its size is as before */
TEST_F(changed, file_truncated_and_extended_has_no_table)
{
	ASSERT_TRUE(open_writer(self, O_WRONLY));
	ASSERT_EQ(0, ftruncate(self->writer, code_file_usual.table.offset));
	ASSERT_EQ(0, ftruncate(self->writer, self->size));
	close_writer(self);
	EXPECT_BAD_TABLE(self);
}

TEST_F(changed, file_that_has_grown_has_its_table)
{
	ASSERT_EQ(0, truncate(self->path, self->size + 1));
	EXPECT_NEW_TABLE(self);
}

TEST_F(changed, file_with_a_hole_for_a_table_has_none)
{
	ASSERT_TRUE(open_writer(self, O_WRONLY));
	if (fallocate(self->writer, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      code_file_usual.table.offset, sysconf(_SC_PAGESIZE))) {
		ASSERT_EQ(EOPNOTSUPP, errno);
		SKIP(return, "no holes");
	}
	close_writer(self);
	EXPECT_BAD_TABLE(self);
}

/* Not before its end, so that its size is as before */
TEST_F(changed, file_with_another_program_header_has_no_table)
{
	const struct elf64_phdr *phdr = NULL;
	const uint32_t null = PT_NULL;
	struct file_env *env = &self->env;
	size_t at;

	/* The last one locates the section */
	at = sizeof(struct elf64_hdr) + 2 * sizeof(*phdr) + offsetof(struct elf64_phdr, p_type);
	ASSERT_TRUE(open_writer(self, O_WRONLY));
	ASSERT_EQ(sizeof(null), pwrite(self->writer, &null, sizeof(null), at));
	close_writer(self);
	ASSERT_EQ(0, file_settle(env->fd));
	ASSERT_EQ(0, trace_clear(&env->trace));
	EXPECT_TRUE(never_through(env, &env->image));
	EXPECT_EQ(0, loads(env, env->fd));
	EXPECT_EQ(0, faults(env, env->fd));

	/* And it gets one when it has a header for it */
	ASSERT_TRUE(open_writer(self, O_WRONLY));
	ASSERT_EQ(self->size, pwrite(self->writer, self->bytes, self->size, 0));
	close_writer(self);
	EXPECT_NEW_TABLE(self);
}

/* As cp does: another file's bytes, into the same inode */
TEST_F(changed, file_copied_over_uses_its_new_table)
{
	int from = make_file(&self->new, self->other);

	ASSERT_LE(0, from);
	ASSERT_TRUE(open_writer(self, O_WRONLY | O_TRUNC));
	ASSERT_EQ(self->size, copy_file_range(from, NULL, self->writer, NULL,
					      self->size, 0));
	close_writer(self);
	close(from);
	EXPECT_NEW_TABLE(self);
}

/* The other file's blocks: nothing is written */
TEST_F(changed, file_cloned_over_uses_its_new_table)
{
	int from = make_file(&self->new, self->other);

	ASSERT_LE(0, from);
	ASSERT_TRUE(open_writer(self, O_WRONLY));
	if (ioctl(self->writer, FICLONE, from)) {
		close(from);
		SKIP(return, "no cloned files");
	}
	close_writer(self);
	close(from);
	EXPECT_NEW_TABLE(self);
}

TEST_F(changed, file_opened_for_writing_but_unchanged_keeps_its_table)
{
	struct file_env *env = &self->env;

	ASSERT_TRUE(open_writer(self, O_RDWR));
	close_writer(self);
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
}

/* Another inode under the name: each mapping has the table of its own file */
TEST_F(changed, file_renamed_over_has_its_own_table)
{
	struct file_env *env = &self->env;
	struct code_image image;
	int fd = make_file(&self->new, self->other);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rename(self->other, self->path));
	ASSERT_EQ(0, code_image_map(&image, &self->new, fd, NULL));
	EXPECT_EQ(THROUGH, await_through(env, &image));
	EXPECT_EQ(THROUGH, await_through(env, &env->image));
	EXPECT_EQ(THROUGH, through(env, &image));
}

/* A new file may have the inode number of a deleted one */
TEST_F(changed, file_deleted_and_made_anew_has_its_own_table)
{
	struct file_env *env = &self->env;
	struct stat st;
	ino_t ino;
	int i, same = 0;

	for (i = 1; i < 5; i++) {
		ASSERT_EQ(0, fstat(env->fd, &st));
		ino = st.st_ino;
		code_image_unmap(&env->image);
		close(env->fd);
		ASSERT_EQ(0, unlink(self->path));
		self->new = with_frame(&code_file_usual, CODE_FRAME + 16 * i);
		ASSERT_EQ(0, map_file(env, &self->new, self->path));
		EXPECT_EQ(THROUGH, through(env, &env->image));
		ASSERT_EQ(0, fstat(env->fd, &st));
		same += st.st_ino == ino;
	}
	TH_LOG("%d of 4 with the inode number of the one before", same);
}

/* Where a file's changes are not counted, their time shows them */
TEST(file_whose_changes_are_not_counted_never_uses_an_old_table)
{
	struct _test_data_changed data = {}, *self = &data;
	const char *why = begin(self, RAMFS);

	if (why)
		SKIP(return, "%s: %s", fs_name(RAMFS), why);
	ASSERT_LOADED(self);
	ASSERT_TRUE(open_writer(self, O_RDWR));
	ASSERT_TRUE(store(self, true));
	close_writer(self);
	EXPECT_NEW_TABLE(self);

	ASSERT_TRUE(open_writer(self, O_WRONLY));
	ASSERT_EQ(0, ftruncate(self->writer, code_file_usual.table.offset));
	ASSERT_EQ(0, ftruncate(self->writer, self->size));
	close_writer(self);
	EXPECT_BAD_TABLE(self);

	ASSERT_TRUE(open_writer(self, O_WRONLY));
	ASSERT_EQ(self->size, pwrite(self->writer, self->bytes, self->size, 0));
	close_writer(self);
	EXPECT_NEW_TABLE(self);
	finish(self);
}

/*
 * Other file systems, with the same inode numbers
 */

/* A snapshot has files of its own; what changes one leaves the other as it is */
TEST(file_in_a_snapshot_has_its_own_table)
{
	const struct code_file other = with_frame(&code_file_usual, CODE_FRAME_OTHER);
	struct btrfs_ioctl_vol_args volume = { .name = "volume" };
	struct btrfs_ioctl_vol_args_v2 snapshot = { .name = "snapshot" };
	const char *path = BTRFS "/snapshot/code.so";
	struct code_image image;
	struct file_env env = {};
	const char *why = env_setup(&env);
	int dir, fd;

	if (why)
		SKIP(return, "%s", why);
	if (!is_mounted(BTRFS))
		SKIP(return, "no btrfs, or not root");
	ASSERT_EQ(0, trace_all(&env.trace));
	dir = open(BTRFS, O_RDONLY | O_CLOEXEC);
	ASSERT_EQ(0, ioctl(dir, BTRFS_IOC_SUBVOL_CREATE, &volume));
	ASSERT_EQ(0, map_file(&env, &code_file_usual, BTRFS "/volume/code.so"));
	EXPECT_EQ(THROUGH, through(&env, &env.image));
	snapshot.fd = open(BTRFS "/volume", O_RDONLY | O_CLOEXEC);
	ASSERT_EQ(0, ioctl(dir, BTRFS_IOC_SNAP_CREATE_V2, &snapshot));

	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&image, &code_file_usual, fd, NULL));
	/* It is not in the page cache */
	EXPECT_EQ(THROUGH, await_through(&env, &image));
	code_image_unmap(&image);
	close(fd);
	/* Two inodes of one number */
	EXPECT_EQ(2, loads(&env, env.fd));

	fd = open(path, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_file_write(&other, fd));
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_EQ(0, code_image_map(&image, &other, fd, NULL));
	EXPECT_EQ(THROUGH, through(&env, &image));
	EXPECT_EQ(THROUGH, through(&env, &env.image));
	EXPECT_EQ(3, loads(&env, env.fd));
	code_image_unmap(&image);
	close(fd);
	close(dir);
	env_teardown(&env);
}

FIXTURE(mounted)
{
	struct file_env env;
};

FIXTURE_VARIANT(mounted)
{
	const char *fs;
	const char *size;
};

FIXTURE_VARIANT_ADD(mounted, tmpfs) {
	.fs = "tmpfs",
};

FIXTURE_VARIANT_ADD(mounted, ext4) {
	.fs = EXT4_OF_PAGES, .size = "4M",
};

FIXTURE_SETUP(mounted)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	if (!is_mounted(TMPFS))
		SKIP(return, "not root");
}

FIXTURE_TEARDOWN(mounted)
{
	env_teardown(&self->env);
}

#define PLACE	"/tmp/place"

/* One after the other at one place */
TEST_F(mounted, file_has_its_own_table)
{
	struct code_file file;
	struct stat st;
	ino_t ino = 0;
	int i;

	for (i = 0; i < 3; i++) {
		file = with_frame(&code_file_usual, CODE_FRAME + 16 * i);
		if (!make_fs(variant->fs, variant->size, PLACE))
			SKIP(return, "no %s", variant->fs);
		ASSERT_EQ(0, map_file(&self->env, &file, PLACE "/code.so"));
		EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
		ASSERT_EQ(0, fstat(self->env.fd, &st));
		if (i)
			EXPECT_EQ(ino, st.st_ino);
		ino = st.st_ino;
		code_image_unmap(&self->env.image);
		close(self->env.fd);
		/* The kernel holds no file because of its table */
		ASSERT_EQ(0, umount(PLACE));
	}
	self->env.fd = -1;
}

/*
 * Inodes that have left memory: when a file has the number of another one, or is read again,
 * its inode is a new one
 */

FIXTURE(evicted)
{
	struct file_env env;
};

FIXTURE_VARIANT(evicted)
{
	/* Have unused inodes leave memory */
	bool (*evict)(void);
};

/* A worker may still be about to let go of a file that it has read */
static bool unmount_place(void)
{
	const int64_t end = now_ms() + 20000;
	int ret;

	while ((ret = umount(PLACE)) && errno == EBUSY && now_ms() < end)
		usleep(1000);
	return !ret;
}

/* Tables stay */
static bool mount_again(void)
{
	return unmount_place() &&
	       !system("mount -o loop " PLACE ".image " PLACE " >/dev/null 2>&1");
}

/* Some tables go, too */
static bool shrink_caches(void)
{
	const char *path = "/proc/sys/vm/drop_caches";
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done;

	sync();
	done = write(fd, "3", 1) == 1;
	close(fd);
	return done;
}

FIXTURE_VARIANT_ADD(evicted, by_umount) {
	.evict = mount_again,
};

FIXTURE_VARIANT_ADD(evicted, by_shrinkers) {
	.evict = shrink_caches,
};

FIXTURE_SETUP(evicted)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	/* Large enough for a journal: without one, ext4 uses no number anew for some seconds */
	if (!is_mounted(TMPFS) || !make_fs(EXT4_OF_PAGES, "16M", PLACE))
		SKIP(return, "no ext4, or not root");
	ASSERT_EQ(0, trace_all(&self->env.trace));
}

FIXTURE_TEARDOWN(evicted)
{
	env_teardown(&self->env);
	unmount_place();
}

static void forget(struct file_env *env)
{
	code_image_unmap(&env->image);
	close(env->fd);
	env->fd = -1;
}

/* Of the same path, number and size as the file before; its frames are larger */
TEST_F_TIMEOUT(evicted, number_used_by_another_file_has_its_own_table, 60)
{
	struct file_env *env = &self->env;
	struct code_file file;
	struct stat st;
	ino_t ino = 0;
	int i;

	for (i = 0; i < 4; i++) {
		file = with_frame(&code_file_usual, CODE_FRAME + 16 * i);
		ASSERT_EQ(0, map_file(env, &file, PLACE "/code.so"));
		EXPECT_EQ(THROUGH, through(env, &env->image));
		EXPECT_EQ(THROUGH, through(env, &env->image));
		ASSERT_EQ(0, fstat(env->fd, &st));
		if (i)
			EXPECT_EQ(ino, st.st_ino);
		ino = st.st_ino;
		forget(env);
		ASSERT_TRUE(variant->evict());
		ASSERT_EQ(0, unlink(PLACE "/code.so"));
	}
}

/* The same file, first as it was, then with other contents */
TEST_F_TIMEOUT(evicted, file_that_is_read_again_has_its_table, 60)
{
	const struct code_file other = with_frame(&code_file_usual, CODE_FRAME_OTHER);
	const struct code_file *file = &code_file_usual;
	struct file_env *env = &self->env;
	int i;

	ASSERT_EQ(0, map_file(env, file, PLACE "/code.so"));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	for (i = 0; i < 3; i++) {
		forget(env);
		ASSERT_TRUE(variant->evict());
		if (i == 1) {
			file = &other;
			env->fd = open(PLACE "/code.so", O_WRONLY | O_CLOEXEC);
			ASSERT_LE(0, env->fd);
			ASSERT_EQ(0, code_file_write(file, env->fd));
			close(env->fd);
		}
		env->fd = open(PLACE "/code.so", O_RDONLY | O_CLOEXEC);
		ASSERT_LE(0, env->fd);
		ASSERT_EQ(0, code_image_map(&env->image, file, env->fd, NULL));
		/* A worker may have to read it */
		EXPECT_EQ(THROUGH, await_through(env, &env->image));
	}
}

TEST_HARNESS_MAIN
