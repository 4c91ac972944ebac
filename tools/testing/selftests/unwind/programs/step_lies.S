/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A function whose CFI is wrong on purpose: after the push it says that nothing was
 * pushed, so the pushed word is taken for the return address. And a function whose CFI
 * omits a push that is undone before the next call.
 */
	.text

#if defined(__x86_64__)

	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	endbr64
	xorl	%ebp, %ebp
	call	lies
	movl	$231, %eax
	xorl	%edi, %edi
	syscall
	hlt
	.cfi_endproc
	.size	_start, . - _start

	.globl	lies
	.type	lies, @function
lies:
	.cfi_startproc
	leaq	callee(%rip), %rax
	pushq	%rax
	/* ".cfi_adjust_cfa_offset 8" is missing here */
	call	callee
	nop
	popq	%rax
	ret
	.cfi_endproc
	.size	lies, . - lies

	.globl	callee
	.type	callee, @function
callee:
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.size	callee, . - callee

#elif defined(__aarch64__)

	.globl	_start
	.type	_start, %function
_start:
	.cfi_startproc
	.cfi_undefined x30
	mov	x29, #0
	bl	lies
	mov	x8, #94
	mov	x0, #0
	svc	#0
	brk	#1
	.cfi_endproc
	.size	_start, . - _start

	.globl	lies
	.type	lies, %function
lies:
	.cfi_startproc
	adr	x9, callee
	stp	x9, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	/* "-8" would be right here */
	.cfi_offset x30, -16
	bl	callee
	nop
	ldp	x9, x30, [sp], #16
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	lies, . - lies

	.globl	callee
	.type	callee, %function
callee:
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.size	callee, . - callee

#endif

	.section .note.GNU-stack, "", %progbits
