// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on file systems: files of code on a file server (FUSE) and on an overlay, which
 * are unmounted while the files are mapped.
 *
 * Each drawer has directories of its own, where it mounts both when it needs them.  A mount is
 * there for the process that comes after this one, too, as all are in one namespace.  A
 * server runs until nothing of its file system is left: the main process waits for that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "code_file.h"
#include "file_server.h"
#include "surface.h"
#include "../../kselftest.h"

#define DIR		"/tmp/surface-files-%u"
#define PATH_SIZE	64

static void path_of(char *path, unsigned int of_drawer, const char *name)
{
	snprintf(path, PATH_SIZE, DIR "%s", of_drawer, name);
}

static int make_dir(const char *name)
{
	char path[PATH_SIZE];

	path_of(path, drawer, name);
	return mkdir(path, 0700) && errno != EEXIST ? -1 : 0;
}

/*
 * The server is another program, which has neither this one's mappings nor its descriptors:
 * with these, it would be a user of other drawers' file systems.
 */
static int start_server(int fd)
{
	char number[16];
	int status = -1;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", fd);
	pid = vfork();
	if (!pid) {
		/* Not a child of this process, which waits for others */
		pid = vfork();
		if (!pid && !fcntl(fd, F_SETFD, 0))
			execl("/proc/self/exe", "surface_test", "serve", number, NULL);
		_exit(pid <= 0);
	}
	close(fd);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? -1 : 0;
}

static int mount_server(const char *dir)
{
	int fd = file_server_mount(dir);

	return fd < 0 ? -1 : start_server(fd);
}

int files_serve(int fd)
{
	static struct file_server_control control;
	int ret;

	atomic_fetch_add(&surface->servers, 1);
	ret = file_server_run(fd, &control);
	close(fd);
	atomic_fetch_sub(&surface->servers, 1);
	return ret;
}

/* It is whole, or not there: this process may be killed at any time */
static int make_lowest(void)
{
	char path[PATH_SIZE], whole[PATH_SIZE];
	int fd, ret;

	path_of(whole, drawer, "/lowest/code.so");
	if (!access(whole, F_OK))
		return 0;
	snprintf(path, sizeof(path), DIR "/lowest/%d", drawer, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	if (fd < 0)
		return -1;
	ret = code_file_write(&code_file_usual, fd);
	close(fd);
	return ret || rename(path, whole) ? -1 : 0;
}

/* Nobody can write to it, as the next mount will have the same layers */
static int mount_overlay(const char *dir)
{
	char options[3 * PATH_SIZE];

	if (make_dir("/lower") || make_dir("/lowest") || make_dir("/overlay") || make_lowest())
		return -1;
	snprintf(options, sizeof(options), "lowerdir=" DIR "/lower:" DIR "/lowest", drawer,
		 drawer);
	return mount("overlay", dir, "overlay", 0, options);
}

static int open_or_mount(const char *name, int (*mount_at)(const char *dir))
{
	char dir[PATH_SIZE], path[PATH_SIZE + 16];
	int fd;

	if (make_dir(""))
		return -1;
	path_of(dir, drawer, name);
	snprintf(path, sizeof(path), "%s/code.so", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	/* Its server may have failed to start */
	umount2(dir, MNT_DETACH);
	return mount_at(dir) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

/* The kernel loads a table of a server's file only if the page cache has it */
int files_open_served(bool whole)
{
	int fd = open_or_mount("/server", mount_server);
	char bytes[4096];

	while (fd >= 0 && whole && read(fd, bytes, sizeof(bytes)) > 0)
		;
	return fd;
}

int files_open_overlaid(void)
{
	return open_or_mount("/overlay", mount_overlay);
}

static int unmount(void)
{
	char dir[PATH_SIZE];

	path_of(dir, drawer, one_in(2) ? "/server" : "/overlay");
	return umount2(dir, MNT_DETACH) ? -errno : 0;
}

static void unmount_all(const char *name)
{
	char dir[PATH_SIZE];
	unsigned int i;

	for (i = 0; i < SURFACE_DRAWERS; i++) {
		path_of(dir, i, name);
		while (!umount2(dir, MNT_DETACH))
			;
	}
}

/* A child of a process that was killed may mount one meanwhile */
int files_unmount(void)
{
	unmount_all("/server");
	unmount_all("/overlay");
	return atomic_load(&surface->servers);
}

const struct surface_operation surface_files[] = {
	{ "unmount", 3, unmount },
	{}
};
