/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Assembly functions that enter the kernel (see entries.c): each has changed its stack
 * before it does. And properties of the machine's instructions that tests need.
 */
#ifndef SELFTEST_UNWIND_ENTRIES_CODE_H
#define SELFTEST_UNWIND_ENTRIES_CODE_H

#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/ucontext.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "whole.h"

ASM_LABEL(system_call_at);
ASM_LABEL(page_fault_at);
ASM_LABEL(breakpoint_at);
ASM_LABEL(invalid_at);
ASM_LABEL(spin_at);
ASM_LABEL(spin_end);
ASM_LABEL(other_at);

/* IN_FRAME(): a function that has changed its stack since its first instruction */
#if defined(__x86_64__)

#define IN_FRAME(name, insns)						\
ASM_FUNCTION(name,							\
	     "	pushq	%rbx\n"						\
	     "	.cfi_adjust_cfa_offset 8\n"				\
	     "	subq	$48, %rsp\n"					\
	     "	.cfi_adjust_cfa_offset 48\n"				\
	     insns							\
	     "	addq	$48, %rsp\n"					\
	     "	.cfi_adjust_cfa_offset -48\n"				\
	     "	popq	%rbx\n"						\
	     "	.cfi_adjust_cfa_offset -8\n")

ASM_LABEL(int80_at);
ASM_LABEL(vsyscall_at);
ASM_LABEL(divide_at);
ASM_LABEL(step_at);

/* A system call, by number and with an argument; execution continues after it */
IN_FRAME(system_call,
	 "	movq	(%rdi), %rax\n"
	 "	movq	8(%rdi), %rsi\n"
	 "	movq	16(%rdi), %rdx\n"
	 "	movq	24(%rdi), %r10\n"
	 "	movq	32(%rdi), %rdi\n"
	 "	syscall\n"
	 "system_call_at:\n");
IN_FRAME(int80,
	 "	movl	$64, %eax\n"
	 "	int	$0x80\n"
	 "int80_at:\n");
IN_FRAME(vsyscall,
	 "	movq	$0xffffffffff600400, %rax\n"
	 "	xorl	%edi, %edi\n"
	 "	call	*%rax\n"
	 "vsyscall_at:\n");
/* The instruction that faults, and is then executed again */
IN_FRAME(page_fault,
	 "page_fault_at:\n"
	 "	movb	$1, (%rdi)\n");
IN_FRAME(divide,
	 "	movl	$1, %eax\n"
	 "	xorl	%edx, %edx\n"
	 "	xorl	%ebx, %ebx\n"
	 "divide_at:\n"
	 "	divl	%ebx\n");
IN_FRAME(breakpoint,
	 "	int3\n"
	 "breakpoint_at:\n");
IN_FRAME(invalid,
	 "invalid_at:\n"
	 "	ud2\n");
/* Spin until the clock has ticked, or for long enough */
IN_FRAME(spin,
	 "	movq	$50000000, %rbx\n"
	 "spin_at:\n"
	 "	decq	%rbx\n"
	 "	jnz	spin_at\n"
	 "spin_end:\n");
/* Step one instruction, with a number of bytes on the stack */
IN_FRAME(step,
	 "	pushfq\n"
	 "	.cfi_adjust_cfa_offset 8\n"
	 "	orl	$0x100, (%rsp)\n"
	 "	popfq\n"
	 "	.cfi_adjust_cfa_offset -8\n"
	 "	nop\n"
	 "step_at:\n"
	 "	pushfq\n"
	 "	.cfi_adjust_cfa_offset 8\n"
	 "	andl	$~0x100, (%rsp)\n"
	 "	popfq\n"
	 "	.cfi_adjust_cfa_offset -8\n");

/* Bytes of the instruction, and the bytes to skip to continue after it */
#define SYSTEM_CALL_BYTES	2
#define SKIP_BREAKPOINT		0
#define SKIP_INVALID		2

static inline void skip_bytes(ucontext_t *context, unsigned int bytes)
{
	context->uc_mcontext.gregs[REG_RIP] += bytes;
}

/* Where a stopped task continues, and the number of its current system call */
static inline int tracee_ip(pid_t pid, unsigned long *ip, unsigned long *nr)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
		return -1;
	*ip = regs.rip;
	*nr = regs.orig_rax;
	return 0;
}

static inline int tracee_set_ip(pid_t pid, const char *ip)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
		return -1;
	regs.rip = (unsigned long)ip;
	return ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

#elif defined(__aarch64__)

#define IN_FRAME(name, insns)						\
ASM_FUNCTION(name,							\
	     "	stp	x29, x30, [sp, #-64]!\n"			\
	     "	.cfi_def_cfa_offset 64\n"				\
	     "	.cfi_offset 29, -64\n"					\
	     "	.cfi_offset 30, -56\n"					\
	     "	mov	x29, xzr\n"					\
	     "	mov	x30, xzr\n"					\
	     insns							\
	     "	ldp	x29, x30, [sp], #64\n"				\
	     "	.cfi_restore 29\n"					\
	     "	.cfi_restore 30\n"					\
	     "	.cfi_def_cfa_offset 0\n")

IN_FRAME(system_call,
	 "	ldr	x8, [x0]\n"
	 "	ldp	x1, x2, [x0, #8]\n"
	 "	ldr	x3, [x0, #24]\n"
	 "	ldr	x0, [x0, #32]\n"
	 "	svc	#0\n"
	 "system_call_at:\n");
IN_FRAME(page_fault,
	 "page_fault_at:\n"
	 "	strb	wzr, [x0]\n");
/* The reported address is the instruction's own */
IN_FRAME(breakpoint,
	 "breakpoint_at:\n"
	 "	brk	#0\n");
IN_FRAME(invalid,
	 "invalid_at:\n"
	 "	.inst	0\n");
IN_FRAME(spin,
	 "	mov	x9, #0xf080\n"
	 "	movk	x9, #0x2fa, lsl #16\n"
	 "spin_at:\n"
	 "	subs	x9, x9, #1\n"
	 "	b.ne	spin_at\n"
	 "spin_end:\n");

#define SYSTEM_CALL_BYTES	4
#define SKIP_BREAKPOINT		4
#define SKIP_INVALID		4

static inline void skip_bytes(ucontext_t *context, unsigned int bytes)
{
	context->uc_mcontext.pc += bytes;
}

static inline int tracee_regs(int request, pid_t pid, struct user_regs_struct *regs)
{
	struct iovec iov = { .iov_base = regs, .iov_len = sizeof(*regs) };

	/* The general registers, by the number of their note in a core file */
	return ptrace(request, pid, (void *)1, &iov);
}

static inline int tracee_ip(pid_t pid, unsigned long *ip, unsigned long *nr)
{
	struct user_regs_struct regs;

	if (tracee_regs(PTRACE_GETREGSET, pid, &regs))
		return -1;
	*ip = regs.pc;
	*nr = regs.regs[8];
	return 0;
}

static inline int tracee_set_ip(pid_t pid, const char *ip)
{
	struct user_regs_struct regs;

	if (tracee_regs(PTRACE_GETREGSET, pid, &regs))
		return -1;
	regs.pc = (unsigned long)ip;
	return tracee_regs(PTRACE_SETREGSET, pid, &regs);
}

#endif

/* Another function with the same frame */
IN_FRAME(other,
	 "	nop\n"
	 "other_at:\n");

#endif /* SELFTEST_UNWIND_ENTRIES_CODE_H */
