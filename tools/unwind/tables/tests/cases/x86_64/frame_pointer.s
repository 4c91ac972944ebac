/* SPDX-License-Identifier: GPL-2.0 */
# A function as compilers write it: the CFA by the stack pointer, then by the frame
# pointer, then back; two ways out.
#
#: at_1_entry: cfa=sp+8 ra=[cfa-8] fp=same
#: at_2_pushed: cfa=sp+16 ra=[cfa-8] fp=[cfa-16]
#: at_3_framed: cfa=fp+16 ra=[cfa-8] fp=[cfa-16]
#: at_4_left: cfa=sp+8 ra=[cfa-8] fp=[cfa-16]
#: at_5_other: cfa=fp+16 ra=[cfa-8] fp=[cfa-16]
#: at_6_restored: cfa=sp+8 ra=[cfa-8] fp=same
#: at_7_gap: none
#: note: +0, 1 bytes: no entry describes this code
	.text
	.globl f
	.type f, @function
f:
	.cfi_startproc
at_1_entry:
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
at_2_pushed:
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
at_3_framed:
	test %edi, %edi
	je 1f
	.cfi_remember_state
	pop %rbp
	.cfi_def_cfa %rsp, 8
at_4_left:
	ret
	.cfi_restore_state
1:
at_5_other:
	pop %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
at_6_restored:
	ret
	.cfi_endproc
	.size f, . - f
at_7_gap:
	nop
