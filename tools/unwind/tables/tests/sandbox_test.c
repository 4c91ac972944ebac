// SPDX-License-Identifier: GPL-2.0
/*
 * The operations that a process in the sandbox can do, and those which it cannot. Each
 * case is a process of its own, and its exit status is the result.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../convert.h"
#include "../sandbox.h"

#define SUBJECT	"sandbox"
#include "result.h"

static char page[4096];
/* A process that waits for a file system cannot be killed */
static pid_t hangs;

int kill(pid_t pid, int sig)
{
	return pid == hangs ? 0 : syscall(SYS_kill, pid, sig);
}

static int measure_file(void)
{
	return lseek(SANDBOX_IN, 0, SEEK_END) <= 0;
}

static int map_file(void)
{
	return mmap(NULL, sizeof(page), PROT_READ, MAP_PRIVATE, SANDBOX_IN, 0) ==
	       MAP_FAILED;
}

static int write_result(void)
{
	return write(SANDBOX_OUT, page, sizeof(page)) != sizeof(page);
}

static int use_memory(void)
{
	char *mem = malloc(100 << 20);

	if (!mem)
		return 1;
	memset(mem, 1, 100 << 20);
	free(mem);
	return 0;
}

static int open_file(void)
{
	return open("/proc/self/status", O_RDONLY) >= 0;
}

static int open_by_call(void)
{
	return syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY) >= 0;
}

static int look_at_path(void)
{
	struct stat st;

	return !access("/", F_OK) || !stat("/", &st) ||
	       !syscall(SYS_newfstatat, SANDBOX_IN, "/", &st, 0) ||
	       !syscall(SYS_newfstatat, SANDBOX_IN, "/", &st, AT_EMPTY_PATH);
}

/* It shares the open file with its parent */
static int change_file(void)
{
	return !fcntl(SANDBOX_IN, F_SETFL, O_NONBLOCK) ||
	       !fcntl(SANDBOX_IN, F_SETOWN, getppid());
}

static int make_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static int make_process(void)
{
	return fork() >= 0;
}

static int run_program(void)
{
	/* If it runs, its status is 1 */
	execl("/bin/false", "false", NULL);
	return 0;
}

static int signal_parent(void)
{
	return !kill(getppid(), 0);
}

static int write_other(void)
{
	return write(1, page, 1) >= 0 || write(SANDBOX_IN, page, 1) >= 0;
}

static int read_other(void)
{
	return read(0, page, 1) >= 0 || pread(SANDBOX_OUT, page, 1, 0) >= 0;
}

static int make_executable(void)
{
	return mmap(NULL, sizeof(page), PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
	       !mprotect((void *)((unsigned long)page & -4096UL), sizeof(page),
			 PROT_READ | PROT_EXEC);
}

static int use_much_memory(void)
{
	return mmap(NULL, 0x48000000, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static int raise_limit(void)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	return !setrlimit(RLIMIT_DATA, &limit);
}

static int become_root(void)
{
	return !setuid(0) && !setresuid(0, 0, 0);
}

static const struct {
	const char	*name;
	int		(*run)(void);
} cases[] = {
	{ "it measures its file", measure_file },
	{ "it maps its file", map_file },
	{ "it writes its result", write_result },
	{ "it has memory", use_memory },
	{ "it opens no file", open_file },
	{ "it opens no directory", open_by_call },
	{ "it looks at no path", look_at_path },
	{ "it changes nothing of its file", change_file },
	{ "it makes no socket", make_socket },
	{ "it makes no process", make_process },
	{ "it runs no program", run_program },
	{ "it sends no signal", signal_parent },
	{ "it writes to nothing else", write_other },
	{ "it reads nothing else", read_other },
	{ "nothing becomes executable", make_executable },
	{ "memory is limited", use_much_memory },
	{ "limits cannot be raised", raise_limit },
	{ "no privileges come back", become_root },
};

static bool run_case(unsigned int i)
{
	int in = open("/proc/self/exe", O_RDONLY);
	int out = memfd_create("out", 0);
	pid_t parent = getpid(), pid = fork();
	int status;

	if (!pid)
		_exit(sandbox_enter(in, out, parent) ? 100 : cases[i].run());
	close(in);
	close(out);
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		printf("# status 0x%x\n", status);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* The same file, with and without a sandbox */
static bool is_same(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct unwind_table a, b;
	bool same;

	if (unwind_convert(fd, 16, &a) || unwind_convert_sandboxed(fd, 16, &b))
		return false;
	same = a.size == b.size && a.nr_notes == b.nr_notes &&
	       a.machine == b.machine && a.addr == b.addr &&
	       !memcmp(a.sframe, b.sframe, a.size) &&
	       !memcmp(&a.stats, &b.stats, sizeof(a.stats));
	unwind_table_free(&a);
	unwind_table_free(&b);
	return same && a.stats.rows == 0;
}

/* As the kernel does when memory is short; and as a machine that does other things */
static bool is_no_fault(void)
{
	pid_t pid = fork();
	bool ok;

	if (!pid)
		pause();
	kill(pid, SIGKILL);
	ok = sandbox_judge(pid, 10000) == -EAGAIN;
	pid = fork();
	if (!pid)
		pause();
	ok &= sandbox_judge(pid, 100) == -EBUSY;
	return ok;
}

static bool is_given_up(void)
{
	int fd = open("/proc/self/exe", O_RDONLY), other = memfd_create("other", 0);
	bool ok = sandbox_may_read(fd);
	siginfo_t info;
	pid_t pid;

	hangs = fork();
	if (!hangs)
		pause();
	ok &= sandbox_wait(hangs, 100) == -ETIMEDOUT && !sandbox_may_read(fd) &&
	      sandbox_may_read(other) && !sandbox_may_read(fd);
	pid = hangs;
	hangs = 0;
	kill(pid, SIGKILL);
	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	ok &= sandbox_may_read(fd) && waitpid(pid, NULL, 0) < 0;
	close(fd);
	close(other);
	return ok;
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		result(run_case(i), cases[i].name);
	result(is_same(), "the result is the same as without");
	result(is_no_fault(), "one that others kill, or keep from running, blames no file");
	result(is_given_up(), "one that hangs in a file system keeps others from there, and ends");
	return end_results();
}
