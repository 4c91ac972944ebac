// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of the deferred core: deferred MODULE own | deferred MODULE other
 *
 * The program loads the module that measures (kernel/unwind/tests/deferred_bench.c) and
 * has it make each measurement many times. At the end it prints lines of
 *
 *	CONTEXT WHAT NAME INSTRUCTIONS
 *
 * "own" measures in this task's own entries into the kernel, and needs one CPU. "other"
 * measures in NMIs that hit another task in user space, and needs two.
 *
 * The user stack that is unwound has one frame.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "insns.h"

#define BENCH		"/sys/kernel/debug/unwind_bench"
#define TIMES		200
#define WARM_UP		10
#define LINES_MAX	100000
#define LINE_MAX	64

static char (*lines)[LINE_MAX];
static unsigned int nr_lines;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/*
 * Programs whose stack ends right there: a system call, and a loop. An emulator that runs
 * CPUs in turns interrupts the loop to run the next CPU.
 */
#ifdef __aarch64__
static long outermost_syscall(long nr, long a, const void *b, long c)
{
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = a;
	register const void *x1 asm("x1") = b;
	register long x2 asm("x2") = c;

	asm volatile("stp	x29, x30, [sp, #-16]!\n\t"
		     "mov	x29, xzr\n\t"
		     "svc	#0\n\t"
		     "ldp	x29, x30, [sp], #16"
		     : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}

static void outermost_loop(void)
{
	asm volatile("mov	x29, xzr\n"
		     "1:	yield\n"
		     "	b	1b");
}
#else
static long outermost_syscall(long nr, long a, const void *b, long c)
{
	long ret;

	asm volatile("pushq	%%rbp\n\t"
		     "xorl	%%ebp, %%ebp\n\t"
		     "syscall\n\t"
		     "popq	%%rbp"
		     : "=a"(ret)
		     : "0"(nr), "D"(a), "S"(b), "d"(c)
		     : "rcx", "r11", "memory");
	return ret;
}

static void outermost_loop(void)
{
	asm volatile("xorl	%ebp, %ebp\n"
		     "1:	pause\n"
		     "	jmp	1b");
}
#endif

/* Read the measurement; keep its lines unless @warm_up. Return false if it is empty. */
static bool take(int fd, const char *what, bool warm_up)
{
	char text[1024], *line, *state;
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	if (len < 0)
		fail("deferred: a request went wrong");
	text[len] = 0;
	if (warm_up)
		return len;
	for (line = strtok_r(text, "\n", &state); line;
	     line = strtok_r(NULL, "\n", &state)) {
		if (nr_lines == LINES_MAX)
			exit(1);
		snprintf(lines[nr_lines++], LINE_MAX, "%s %s", what, line);
	}
	return len;
}

/* An NMI of another task may miss user space. Then try again. */
static void measure(int fd, const char *what)
{
	long len = strlen(what);
	int i, missed = 0;

	for (i = -WARM_UP; i < TIMES; ) {
		if (outermost_syscall(SYS_write, fd, what, len) != len)
			fail(what);
		if (take(fd, what, i < 0)) {
			i++;
		} else if (missed++ > TIMES) {
			fprintf(stderr, "deferred: %s: user space is missed\n",
				what);
			exit(1);
		}
	}
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("deferred: CPUs");
}

/*
 * Start a child in user space, with a single frame, on its own CPU. It is there when this
 * returns.
 */
static pid_t spin_on(int cpu)
{
	int ready[2];
	pid_t pid;
	char byte;

	if (pipe(ready))
		fail("deferred: pipe");
	pid = fork();
	if (pid < 0)
		fail("deferred: fork");
	if (pid) {
		close(ready[1]);
		if (read(ready[0], &byte, 1) != 1)
			fail("deferred: child");
		close(ready[0]);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(cpu);
	if (write(ready[1], "", 1) != 1)
		_exit(1);
	outermost_loop();
	_exit(1);
}

static int load(const char *module)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	return fd < 0 || syscall(SYS_finit_module, fd, "", 0) ? -1 : close(fd);
}

static void measure_own(int fd)
{
	static const char * const what[] = {
		"nmi requests", "irq requests", "irqs_off requests", "task requests",
		"nmi latency", "irq latency", "task latency",
		"task deliver1", "task deliver4",
	};
	size_t i;

	for (i = 0; i < sizeof(what) / sizeof(*what); i++)
		measure(fd, what[i]);
}

static void measure_other(int fd)
{
	pid_t pid;

	run_on(1);
	pid = spin_on(0);
	measure(fd, "user requests");
	measure(fd, "user latency");
	kill(pid, SIGKILL);
}

int main(int argc, char **argv)
{
	unsigned int i;
	int fd;

	if (argc != 3)
		return 1;
	if (!insns_are_counted()) {
		fprintf(stderr, "deferred: not under qemu -icount shift=0\n");
		return 1;
	}
	lines = mmap(NULL, sizeof(*lines) * LINES_MAX, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (lines == MAP_FAILED)
		fail("deferred: memory");
	if (load(argv[1]))
		fail(argv[1]);
	fd = open(BENCH, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fail(BENCH);
	if (strcmp(argv[2], "own"))
		measure_other(fd);
	else
		measure_own(fd);
	for (i = 0; i < nr_lines; i++)
		puts(lines[i]);
	return 0;
}
