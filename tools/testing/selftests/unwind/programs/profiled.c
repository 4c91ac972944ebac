// SPDX-License-Identifier: GPL-2.0
/*
 * The program that the profiler profiles: it sleeps, spins, and ends, without a
 * C library, so that its stacks are its own.  With an argument, it does not end.
 */
#include <asm/unistd.h>

#include "profiled.h"

#if defined(__x86_64__)
#define CALL_OUTER	"	.cfi_undefined rip\n"	\
			"	mov	%rsp, %rdi\n"	\
			"	call	outer\n"
#elif defined(__aarch64__)
#define CALL_OUTER	"	.cfi_undefined x30\n"	\
			"	mov	x0, sp\n"	\
			"	bl	outer\n"
#endif

asm(".pushsection .text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	.cfi_startproc\n"
	CALL_OUTER
	"	.cfi_endproc\n"
	".size _start, . - _start\n"
	".popsection\n");

#if defined(__x86_64__)
static long call(long nr, const void *arg)
{
	long ret;

	asm volatile("syscall"
		     : "=a"(ret)
		     : "0"(nr), "D"(arg), "S"(0L)
		     : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static long call(long nr, const void *arg)
{
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = (long)arg;
	register long x1 asm("x1") = 0;

	asm volatile("svc #0"
		     : "+r"(x0)
		     : "r"(x8), "r"(x1)
		     : "memory");
	return x0;
}
#endif

void naps(void)
{
	const long time[2] = { 0, NAP_US * 1000L };

	call(__NR_nanosleep, time);
	asm volatile("" : : : "memory");
}

void spins(void)
{
	long i;

	for (i = 0; i < SPINS; i++)
		asm volatile("" : : : "memory");
}

/* @argc: where the kernel has put it */
void outer(const long *argc)
{
	int i;

	for (i = 0; *argc > 1 || i < ROUNDS; i++) {
		naps();
		spins();
	}
	/* A timer that is late, in a guest, misses what is short: so spin for long, too */
	for (i = 0; i < LAST_SPINS; i++)
		spins();
	call(__NR_exit_group, 0);
}
