// SPDX-License-Identifier: GPL-2.0
/*
 * A program without libc: a chain, getppid() at its end, then exit(0).
 *
 * With an argument it writes the expected stack at that system call to its standard
 * output: addresses as 64-bit numbers, innermost first. Its first frame is marked as the
 * last of the stack in both ways: the frame pointer is zero, and a table says that there
 * is no return address.
 */
#include <linux/compiler.h>

#include "chain.h"

#ifdef __x86_64__
#define NR_write	1
#define NR_getppid	110
#define NR_exit		60

asm(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	xorl	%ebp, %ebp\n"
	"	movq	(%rsp), %rdi\n"
	"	andq	$-16, %rsp\n"
	"	call	prog\n"
	"	.cfi_endproc\n"
	"	.size _start, . - _start\n");

static __always_inline long
sys3(long nr, long a, long b, long c, unsigned long *ip)
{
	unsigned long at;
	long ret;

	asm volatile("leaq 1f(%%rip), %[at]\n\t"
		     "syscall\n"
		     "1:"
		     : "=a"(ret), [at] "=&r"(at)
		     : "0"(nr), "D"(a), "S"(b), "d"(c)
		     : "rcx", "r11", "memory");
	*ip = at;
	return ret;
}

#elif defined(__aarch64__)
#define NR_write	64
#define NR_getppid	173
#define NR_exit		93

asm(".globl _start\n"
	".type _start, %function\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined x30\n"
	"	mov	x29, #0\n"
	"	ldr	x0, [sp]\n"
	"	bl	prog\n"
	"	.cfi_endproc\n"
	"	.size _start, . - _start\n");

static __always_inline long
sys3(long nr, long a, long b, long c, unsigned long *ip)
{
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = a;
	register long x1 asm("x1") = b;
	register long x2 asm("x2") = c;
	unsigned long at;

	asm volatile("adr %[at], 1f\n\t"
		     "svc #0\n"
		     "1:"
		     : "+r"(x0), [at] "=&r"(at)
		     : "r"(x1), "r"(x2), "r"(x8)
		     : "memory");
	*ip = at;
	return x0;
}

#elif defined(__i386__)
#define NR_write	4
#define NR_getppid	64
#define NR_exit		1

asm(".globl _start\n"
	"_start:\n"
	"	xorl	%ebp, %ebp\n"
	"	movl	(%esp), %eax\n"
	"	andl	$-16, %esp\n"
	"	subl	$12, %esp\n"
	"	pushl	%eax\n"
	"	call	prog\n");

static __always_inline long
sys3(long nr, long a, long b, long c, unsigned long *ip)
{
	long ret;

	/* The kernel returns to the next instruction, because there is no vDSO here */
	asm volatile("movl $1f, %[ip]\n\t"
		     "int $0x80\n"
		     "1:"
		     : "=a"(ret), [ip] "=m"(*ip)
		     : "0"(nr), "b"(a), "c"(b), "d"(c)
		     : "memory");
	return ret;
}
#endif

static void end(struct notes *notes)
{
	unsigned long ip;

	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	sys3(NR_getppid, 0, 0, 0, &ip);
	notes->ra[notes->nr++] = ip;
}

/* Not static, because the assembly above calls it */
void __noreturn prog(unsigned long argc)
{
	unsigned long long out[NOTES_MAX];
	struct notes notes;
	unsigned long i, ip;

	notes.nr = 1;
	notes.ra[0] = (unsigned long)__builtin_return_address(0);
	notes.nr_next = 0;
	notes.next[0] = chain;
	notes.next[1] = end;
	notes.next[notes.nr_next++](&notes);

	for (i = 0; i < notes.nr; i++)
		out[i] = notes.ra[notes.nr - 1 - i];
	if (argc > 1)
		sys3(NR_write, 1, (long)out, notes.nr * sizeof(*out), &ip);
	sys3(NR_exit, 0, 0, 0, &ip);
	__builtin_unreachable();
}
