// SPDX-License-Identifier: GPL-2.0
/*
 * Files that processes have mapped: a hostile process costs no others theirs.
 *
 *	mapped_test DIR		DIR is made
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../mapped.h"

#define SUBJECT	"mapped"
#include "result.h"

/* Milliseconds: the kernel asks for a mount at once */
#define PATIENCE	5000

static struct stat own;

static void look_for_own(int fd, void *found)
{
	struct stat st;

	if (!fstat(fd, &st) && st.st_dev == own.st_dev && st.st_ino == own.st_ino)
		*(bool *)found = true;
}

static void test_own(void)
{
	bool found = false;

	mapped_files(look_for_own, &found);
	result(found, "a mapped file is visited");
}

static bool map_text(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	void *text = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, 4096))
		text = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return text != MAP_FAILED;
}

/* Below DIR: longer than any path that can be opened */
static void test_long_path(void)
{
	char name[NAME_MAX + 1];
	struct mapped_list list = {};
	bool ok = true, found = false;
	int home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	unsigned int depth;
	size_t i;

	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	for (depth = 0; depth <= PATH_MAX / NAME_MAX; depth++)
		ok &= !mkdir(name, 0700) && !chdir(name);
	ok &= map_text("text") && !fchdir(home) && !mapped_read(&list);
	for (i = 0; i < list.nr; i++)
		found |= strlen(list.files[i].path) >= PATH_MAX;
	result(ok && list.nr && !found, "a path that cannot be opened is left out");
	mapped_free(&list);
	close(home);
	if (system("rm -rf nnn*"))
		exit(1);
}

/* A process whose file has a path that leads to an automatic mount here */
static pid_t start_process(const char *dir)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		exit(1);
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount("tmpfs", dir, "tmpfs", 0, NULL) ||
		    chdir(dir) || mkdir("host", 0700) || !map_text("host/text") ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
	close(ready[0]);
	return pid;
}

static void visit(int fd, void *arg)
{
	(void)fd;
	(void)arg;
}

/* Does a search for mapped files have something mounted?  -1: there are no automatic mounts */
static int mounts(const char *dir)
{
	struct pollfd requests = { .events = POLLIN };
	char options[128];
	int pipes[2], ret;
	pid_t pid;

	if (pipe(pipes))
		exit(1);
	snprintf(options, sizeof(options), "fd=%d,pgrp=%d,minproto=5,maxproto=5,indirect",
		 pipes[1], getpgrp());
	if (mount("test", dir, "autofs", 0, options))
		return -1;
	close(pipes[1]);
	pid = fork();
	if (!pid) {
		/* Processes of this group would see the directory as it is */
		setpgid(0, 0);
		mapped_files(visit, NULL);
		_exit(0);
	}
	requests.fd = pipes[0];
	ret = poll(&requests, 1, PATIENCE) == 1 && requests.revents & POLLIN;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(pipes[0]);
	umount2(dir, MNT_DETACH);
	return ret;
}

static void test_automount(const char *dir)
{
	pid_t pid;
	int ret;

	if (geteuid() || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		result(true, "automatic mounts # SKIP not root");
		return;
	}
	pid = start_process(dir);
	ret = mounts(dir);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	result(ret <= 0, ret < 0 ? "automatic mounts # SKIP there are none" :
				   "a path that a process has chosen mounts nothing");
}

int main(int argc, char **argv)
{
	char dir[PATH_MAX];

	if (argc != 2 || (mkdir(argv[1], 0700) && errno != EEXIST) || chdir(argv[1]) ||
	    !getcwd(dir, sizeof(dir)) || stat("/proc/self/exe", &own))
		return 2;
	test_own();
	test_long_path();
	test_automount(dir);
	return end_results();
}
