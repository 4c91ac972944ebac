/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls at known addresses.
 *
 * A test compares a stack with the program's own record: each function notes its return
 * address, and the innermost one the address to which it will return from the kernel. So
 * nothing depends on how the compiler laid out the code.
 */
#ifndef SELFTEST_UNWIND_CALL_H
#define SELFTEST_UNWIND_CALL_H

#include <linux/compiler.h>

/*
 * syscall0_at(): a system call without arguments; *@ip is its return address.
 * syscall3_at() ... syscall5_at(): with 3 to 5 arguments; *@ip is written before the call.
 */

#if defined(__x86_64__)

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

static __always_inline long
syscall5_at(long nr, long a, long b, long c, long d, long e, unsigned long *ip)
{
	register long r10 asm("r10") = d;
	register long r8 asm("r8") = e;
	unsigned long at;
	long ret;

	asm volatile("leaq 1f(%%rip), %[at]\n\t"
		     "movq %[at], %[ip]\n\t"
		     "syscall\n"
		     "1:"
		     : "=a"(ret), [at] "=&r"(at), [ip] "=m"(*ip)
		     : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
		     : "rcx", "r11", "memory");
	return ret;
}

#elif defined(__aarch64__)

static __always_inline long
syscall0_at(long nr, unsigned long *ip)
{
	register long x8 asm("x8") = nr;
	register long x0 asm("x0");
	unsigned long at;

	asm volatile("adr %[at], 1f\n\t"
		     "svc #0\n"
		     "1:"
		     : "=r"(x0), [at] "=&r"(at)
		     : "r"(x8)
		     : "memory");
	*ip = at;
	return x0;
}

static __always_inline long
syscall5_at(long nr, long a, long b, long c, long d, long e, unsigned long *ip)
{
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = a;
	register long x1 asm("x1") = b;
	register long x2 asm("x2") = c;
	register long x3 asm("x3") = d;
	register long x4 asm("x4") = e;
	unsigned long at;

	asm volatile("adr %[at], 1f\n\t"
		     "str %[at], %[ip]\n\t"
		     "svc #0\n"
		     "1:"
		     : "+r"(x0), [at] "=&r"(at), [ip] "=m"(*ip)
		     : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8)
		     : "memory");
	return x0;
}

#else
#error "not an architecture that is unwound"
#endif

static __always_inline long
syscall4_at(long nr, long a, long b, long c, long d, unsigned long *ip)
{
	return syscall5_at(nr, a, b, c, d, 0, ip);
}

static __always_inline long
syscall3_at(long nr, long a, long b, long c, unsigned long *ip)
{
	return syscall4_at(nr, a, b, c, 0, ip);
}

#endif /* SELFTEST_UNWIND_CALL_H */
