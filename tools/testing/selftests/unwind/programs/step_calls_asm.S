/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of "calls" that are written by hand, with CFI and without. Each calls leaf(n,
 * 5) and returns its result.
 */
	.text

/* Pushes and pops, with the frame pointer used for something else */
	.globl	asm_pushes
	.type	asm_pushes, @function
asm_pushes:
	.cfi_startproc
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	movq	$0x1234, %rbp
	movl	$5, %esi
	call	leaf
	popq	%r12
	.cfi_adjust_cfa_offset -8
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	asm_pushes, . - asm_pushes

/* A frame that "enter" makes */
	.globl	asm_frame
	.type	asm_frame, @function
asm_frame:
	.cfi_startproc
	enter	$32, $0
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
	movl	$5, %esi
	call	leaf
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	asm_frame, . - asm_frame

/* The CFA in neither SP nor FP, while nothing is called */
	.globl	asm_elsewhere
	.type	asm_elsewhere, @function
asm_elsewhere:
	.cfi_startproc
	leaq	8(%rsp), %r10
	.cfi_def_cfa r10, 0
	andq	$-64, %rsp
	pushq	$1
	addq	$8, %rsp
	leaq	-8(%r10), %rsp
	.cfi_def_cfa rsp, 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movl	$5, %esi
	call	leaf
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	asm_elsewhere, . - asm_elsewhere

/* Code follows the first exit, and still has the frame */
	.globl	asm_two_ends
	.type	asm_two_ends, @function
asm_two_ends:
	.cfi_startproc
	subq	$24, %rsp
	.cfi_adjust_cfa_offset 24
	testq	$1, %rdi
	jnz	1f
	movl	$5, %esi
	.cfi_remember_state
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	/* A tail call */
	jmp	leaf
	.cfi_restore_state
1:	movl	$5, %esi
	call	leaf
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
	.size	asm_two_ends, . - asm_two_ends

/* Without CFI and frame */
	.globl	asm_without
	.type	asm_without, @function
asm_without:
	subq	$8, %rsp
	movl	$5, %esi
	call	leaf
	addq	$8, %rsp
	ret
	.size	asm_without, . - asm_without

/* Without CFI, but with a frame */
	.globl	asm_without_but_fp
	.type	asm_without_but_fp, @function
asm_without_but_fp:
	pushq	%rbp
	movq	%rsp, %rbp
	movl	$5, %esi
	call	leaf
	popq	%rbp
	ret
	.size	asm_without_but_fp, . - asm_without_but_fp

	.section .note.GNU-stack, "", @progbits
