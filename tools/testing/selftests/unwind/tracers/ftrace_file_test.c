// SPDX-License-Identifier: GPL-2.0
/*
 * Files of deferred user stacks in the trace: one that the program sees has a name and a
 * number of its own, whatever it shares with others.
 *
 * A stack passes a function of a mapped file (code_file.h).  Its frame must have the path
 * and the offset that the program finds in its maps.
 */
#include <fcntl.h>
#include <linux/btrfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_env.h"
#include "ftrace.h"
#include "../../kselftest_harness.h"

#define DIR		TMPFS "/ftrace-file"
#define LOWER		DIR "/lower/code.so"
#define MERGED		DIR "/one/code.so"
#define MERGED_TWO	DIR "/two/code.so"
#define VOLUME		BTRFS "/ftrace-volume"
#define SNAPSHOT	BTRFS "/ftrace-snapshot"

FIXTURE(file)
{
	struct ftrace ft;
	struct ftrace_log log;
};

FIXTURE_SETUP(file)
{
	if (ftrace_open(&self->ft, "f"))
		SKIP(return, "no deferred user stacks in traces");
	if (!is_mounted(TMPFS))
		SKIP(return, "no mount namespaces, or not root");
	/* The file systems are one for all tests */
	ASSERT_EQ(0, mkdir(DIR, 0700));
	ASSERT_EQ(0, mount("tmpfs", DIR, "tmpfs", 0, NULL));
	ASSERT_EQ(0, mkdir(DIR "/lower", 0700));
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_event(&self->ft, FTRACE_ENTER, getpid()));
}

FIXTURE_TEARDOWN(file)
{
	ftrace_free(&self->log);
	umount2(DIR, MNT_DETACH);
	rmdir(DIR);
	EXPECT_EQ(0, ftrace_close(&self->ft));
}

static int make(const char *path)
{
	int fd = make_file(&code_file_usual, path);

	return fd < 0 ? -1 : close(fd);
}

/* Mount an overlay over the lower directory */
static bool mount_overlay(const char *name)
{
	char all[64], upper[64], work[64], options[256];

	snprintf(all, sizeof(all), DIR "/%s", name);
	snprintf(upper, sizeof(upper), DIR "/upper-%s", name);
	snprintf(work, sizeof(work), DIR "/work-%s", name);
	snprintf(options, sizeof(options), "lowerdir=" DIR "/lower,upperdir=%s,workdir=%s",
		 upper, work);
	return !mkdir(all, 0700) && !mkdir(upper, 0700) && !mkdir(work, 0700) &&
	       !mount("overlay", all, "overlay", 0, options);
}

static int map(struct code_image *image, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -1;
	ret = code_image_map(image, &code_file_usual, fd, NULL);
	close(fd);
	return ret;
}

/* Call the file's function, and be traced there */
static unsigned long sample(const struct code_image *image)
{
	struct notes notes = {};

	notes.next[0] = code_image_fn(image, 0, 0);
	notes.next[1] = sampled_call;
	notes.next[notes.nr_next++](&notes);
	return notes.ra[notes.nr - 2];
}

/* Does a stack have a frame at this address, with the path and the offset of the maps? */
static bool is_named(const struct ftrace_log *log, unsigned long ip, const char *path)
{
	struct ftrace_frame want;
	size_t i;

	if (!ftrace_place(ip, &want) || strcmp(want.path, path))
		return false;
	for (i = 0; i < log->nr; i++) {
		const struct ftrace_record *rec = &log->rec[i];

		if (rec->type != FTRACE_STACK || rec->nr < 2 || rec->frame[1].ip != ip)
			continue;
		if (!strcmp(rec->frame[1].path, path) && rec->frame[1].offset == want.offset)
			return true;
		printf("# %s+%#lx, not %s+%#lx\n", rec->frame[1].path, rec->frame[1].offset,
		       path, want.offset);
	}
	return false;
}

/* Count the numbers that are announced with a path */
static unsigned int count_numbers(const struct ftrace_log *log, const char *path)
{
	unsigned int nr = 0;
	size_t i, k;

	for (i = 0; i < log->nr; i++) {
		const struct ftrace_record *rec = &log->rec[i];

		if (rec->type != FTRACE_FILE || strcmp(rec->path, path))
			continue;
		/* It is counted where it comes first */
		for (k = 0; k < i; k++)
			if (log->rec[k].type == FTRACE_FILE &&
			    log->rec[k].cookie == rec->cookie)
				break;
		nr += k == i;
	}
	return nr;
}

/* Any user can have files with such names, and root prints the trace */
TEST_F(file, whose_name_has_control_characters_is_harmless)
{
	struct code_image image;
	char *text;

	ASSERT_EQ(0, make(DIR "/red\033[31m\a"));
	ASSERT_EQ(0, map(&image, DIR "/red\033[31m\a"));
	sample(&image);
	text = ftrace_get(&self->ft, "trace");
	ASSERT_NE(NULL, text);
	EXPECT_NE(NULL, strstr(text, "/red\\033[31m\\007"));
	EXPECT_EQ(NULL, strchr(text, '\033'));
	free(text);
}

/* As containers of one image */
TEST_F(file, of_each_overlay_has_its_own_path)
{
	struct code_image one, two;
	unsigned long ip[2];

	ASSERT_EQ(0, make(LOWER));
	if (!mount_overlay("one") || !mount_overlay("two"))
		SKIP(return, "no overlay file systems on tmpfs");
	ASSERT_EQ(0, map(&one, MERGED));
	ASSERT_EQ(0, map(&two, MERGED_TWO));
	ip[0] = sample(&one);
	ip[1] = sample(&two);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_TRUE(is_named(&self->log, ip[0], MERGED));
	EXPECT_TRUE(is_named(&self->log, ip[1], MERGED_TWO));
	EXPECT_EQ(1, count_numbers(&self->log, MERGED));
	EXPECT_EQ(1, count_numbers(&self->log, MERGED_TWO));
}

/* The first mapping still has the lower file */
TEST_F(file, of_an_overlay_has_another_number_when_copied_up_and_changed)
{
	struct code_image before, after;
	unsigned long ip[2];
	int fd;

	ASSERT_EQ(0, make(LOWER));
	if (!mount_overlay("one"))
		SKIP(return, "no overlay file systems on tmpfs");
	ASSERT_EQ(0, map(&before, MERGED));
	ip[0] = sample(&before);
	fd = open(MERGED, O_WRONLY | O_CLOEXEC);
	ASSERT_EQ(0, code_file_write(&code_file_usual, fd));
	close(fd);
	ASSERT_EQ(0, map(&after, MERGED));
	ip[1] = sample(&after);
	sample(&before);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_TRUE(is_named(&self->log, ip[0], MERGED));
	EXPECT_TRUE(is_named(&self->log, ip[1], MERGED));
	EXPECT_EQ(2, count_numbers(&self->log, MERGED));
}

/* A snapshot's files have the inode numbers and the device of the others */
TEST_F(file, of_a_snapshot_has_its_own_path)
{
	struct btrfs_ioctl_vol_args volume = { .name = "ftrace-volume" };
	struct btrfs_ioctl_vol_args_v2 snapshot = { .name = "ftrace-snapshot" };
	struct code_image one, two;
	unsigned long ip[2];
	int dir;

	if (!is_mounted(BTRFS))
		SKIP(return, "no btrfs, or not root");
	dir = open(BTRFS, O_RDONLY | O_CLOEXEC);
	ASSERT_EQ(0, ioctl(dir, BTRFS_IOC_SUBVOL_CREATE, &volume));
	ASSERT_EQ(0, make(VOLUME "/code.so"));
	snapshot.fd = open(VOLUME, O_RDONLY | O_CLOEXEC);
	ASSERT_EQ(0, ioctl(dir, BTRFS_IOC_SNAP_CREATE_V2, &snapshot));
	ASSERT_EQ(0, map(&one, VOLUME "/code.so"));
	ASSERT_EQ(0, map(&two, SNAPSHOT "/code.so"));
	ip[0] = sample(&one);
	ip[1] = sample(&two);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_TRUE(is_named(&self->log, ip[0], VOLUME "/code.so"));
	EXPECT_TRUE(is_named(&self->log, ip[1], SNAPSHOT "/code.so"));
}

/* The number stands for a path and a build-id, which may be others now.  A change takes no tick. */
TEST_F(file, has_another_number_when_it_has_changed)
{
	const unsigned int changes = 8;
	struct code_image image;
	unsigned int i;
	int fd;

	ASSERT_EQ(0, make(LOWER));
	for (i = 0; i <= changes; i++) {
		ASSERT_EQ(0, map(&image, LOWER));
		sample(&image);
		sample(&image);
		code_image_unmap(&image);
		fd = open(LOWER, O_WRONLY | O_CLOEXEC);
		ASSERT_EQ(0, code_file_write(&code_file_usual, fd));
		close(fd);
	}
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(changes + 1, count_numbers(&self->log, LOWER));
}

TEST_HARNESS_MAIN
