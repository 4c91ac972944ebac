/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls at known addresses.
 *
 * A stack is compared with what the program itself knows of it: each function
 * notes its return address, and the innermost one the address at which it will
 * come back from the kernel.  So nothing depends on how the compiler laid out
 * the code.
 */
#ifndef SELFTEST_UNWIND_CALL_H
#define SELFTEST_UNWIND_CALL_H

#include <linux/compiler.h>

#if !defined(__x86_64__)
#error "only x86-64 is supported so far"
#endif

/* A system call without arguments; *@ip is where it returns to */
static __always_inline long
syscall0_at(long nr, unsigned long *ip)
{
	unsigned long at;
	long ret;

	asm volatile("leaq 1f(%%rip), %[at]\n\t"
		     "syscall\n"
		     "1:"
		     : "=a"(ret), [at] "=&r"(at)
		     : "0"(nr)
		     : "rcx", "r11", "memory");
	*ip = at;
	return ret;
}

/* The same with three arguments; *@ip is written before the call */
static __always_inline long
syscall3_at(long nr, long a, long b, long c, unsigned long *ip)
{
	unsigned long at;
	long ret;

	asm volatile("leaq 1f(%%rip), %[at]\n\t"
		     "movq %[at], %[ip]\n\t"
		     "syscall\n"
		     "1:"
		     : "=a"(ret), [at] "=&r"(at), [ip] "=m"(*ip)
		     : "0"(nr), "D"(a), "S"(b), "d"(c)
		     : "rcx", "r11", "memory");
	return ret;
}

#endif /* SELFTEST_UNWIND_CALL_H */
