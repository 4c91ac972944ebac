// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost for a process that is never unwound: idle DIRECTORY [OPERATION...]
 *
 * The program counts the instructions, of kernel and program together, of operations
 * whose paths in the kernel the feature touches. The same binary runs on a kernel with
 * the feature and on one without. It prints one line for each batch,
 *
 *	OPERATION TIMES INSTRUCTIONS
 *
 * when everything is done, because printing wakes other tasks. A batch is one operation,
 * or several short ones. It is short compared with the time between two ticks, so most
 * batches contain no tick, and the median does not depend on ticks.
 *
 * Files are created in DIRECTORY. It should be a tmpfs: its pages are present, and
 * nothing waits for a disk.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "insns.h"

#define BATCHES		800
#define WARM_UP		50
#define PAGE		4096

/* The program that is mapped, and executed by op_exec() */
static char self[PATH_MAX];
static int self_fd;

static bool op_null(void)
{
	return syscall(SYS_getppid) > 0;
}

/*
 * A page of a file that is in the page cache, but not in the page tables: the fault is
 * short. The test writes to it, because a read fault also maps the pages around.
 */
static char *fault_page;

static bool op_fault(void)
{
	*fault_page = 1;
	return madvise(fault_page, PAGE, MADV_DONTNEED) == 0;
}

static bool map_and_touch(int prot, int flags, int fd)
{
	char *page = mmap(NULL, PAGE, prot, flags | MAP_PRIVATE, fd, 0);

	if (page == MAP_FAILED)
		return false;
	if (prot & PROT_WRITE)
		*page = 1;
	/* Read the page; it was written before */
	asm volatile("" : : "r"(*page) : "memory");
	return munmap(page, PAGE) == 0;
}

static bool op_mmap(void)
{
	return map_and_touch(PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
}

static bool op_mmap_exec(void)
{
	return map_and_touch(PROT_READ | PROT_EXEC, 0, self_fd);
}

static bool ended_well(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool op_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return ended_well(pid);
}

static bool op_exec(void)
{
	char *const argv[] = { self, NULL }, *const envp[] = { NULL };
	pid_t pid = vfork();

	if (!pid) {
		execve(self, argv, envp);
		_exit(1);
	}
	return ended_well(pid);
}

/* @times: operations in one batch */
static const struct op {
	const char	*name;
	bool		(*run)(void);
	unsigned int	times;
} ops[] = {
	{ "null",	op_null,	1000 },
	{ "fault",	op_fault,	10 },
	{ "mmap",	op_mmap,	1 },
	{ "mmap_exec",	op_mmap_exec,	1 },
	{ "fork",	op_fork,	1 },
	{ "exec",	op_exec,	1 },
};

#define NR_OPS	(sizeof(ops) / sizeof(*ops))

static uint64_t counted[NR_OPS][BATCHES];

static void batch(const struct op *op, uint64_t *count)
{
	uint64_t start = insns();
	unsigned int i;

	for (i = 0; i < op->times; i++) {
		if (op->run())
			continue;
		perror(op->name);
		exit(1);
	}
	*count = insns() - start;
}

static void measure(const struct op *op, uint64_t *counts)
{
	uint64_t ignored;
	int i;

	for (i = 0; i < WARM_UP; i++)
		batch(op, &ignored);
	for (i = 0; i < BATCHES; i++)
		batch(op, &counts[i]);
}

/* Map a page in @directory to fault on */
static bool make_fault_page(const char *directory)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/page", directory);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, PAGE))
		return false;
	fault_page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return fault_page != MAP_FAILED;
}

/* Is it among @names, if there are any? */
static bool chosen(const struct op *op, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(op->name, *names))
			return true;
	return false;
}

/* Copy this program to @directory */
static bool copy_self(const char *directory)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	static char buf[1 << 16];
	ssize_t len;

	snprintf(self, sizeof(self), "%s/idle", directory);
	to = open(self, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	if (from < 0 || to < 0)
		return false;
	while ((len = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, len) != len)
			return false;
	close(from);
	close(to);
	self_fd = open(self, O_RDONLY | O_CLOEXEC);
	return len == 0 && self_fd >= 0;
}

/* Addresses that change from run to run change the page tables, too */
static void fix_addresses(char **argv)
{
	int old = personality(0xffffffff);

	if (old & ADDR_NO_RANDOMIZE)
		return;
	personality(old | ADDR_NO_RANDOMIZE);
	execv("/proc/self/exe", argv);
	perror("exec");
	exit(1);
}

int main(int argc, char **argv)
{
	size_t op, i;

	/* The command line that op_exec() executes */
	if (argc < 2)
		return 0;

	fix_addresses(argv);
	if (!insns_are_counted()) {
		fprintf(stderr, "idle: not under qemu -icount shift=0\n");
		return 1;
	}
	if (!copy_self(argv[1]) || !make_fault_page(argv[1])) {
		perror("idle: no copy of itself, or no page");
		return 1;
	}
	for (op = 0; op < NR_OPS; op++)
		if (chosen(&ops[op], argv + 2))
			measure(&ops[op], counted[op]);

	for (op = 0; op < NR_OPS; op++)
		for (i = 0; i < BATCHES && chosen(&ops[op], argv + 2); i++)
			printf("%s %u %lu\n", ops[op].name, ops[op].times,
			       counted[op][i]);
	return 0;
}
