/* SPDX-License-Identifier: GPL-2.0 */
# The PLT as ld describes it: an expression of the program counter, for code that repeats
# itself every 16 bytes; here also for one that begins in the middle of a block.
#
#: at_1_header: cfa=sp+16 ra=[cfa-8] fp=same
#: at_2_header: cfa=sp+24 ra=[cfa-8] fp=same
#: at_3_jump: cfa=sp+8 ra=[cfa-8] fp=same
#: at_4_push: cfa=sp+8 ra=[cfa-8] fp=same
#: at_5_pushed: cfa=sp+16 ra=[cfa-8] fp=same
#: at_6_last: cfa=sp+16 ra=[cfa-8] fp=same
#: at_7_aligned: cfa=sp+16 ra=[cfa-8] fp=same
#: at_8_block: cfa=sp+8 ra=[cfa-8] fp=same
#: at_9_block: cfa=sp+16 ra=[cfa-8] fp=same
	.macro plt_expression
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	.endm
	.text
	.p2align 4
	.cfi_startproc
	.cfi_def_cfa_offset 16
at_1_header:
	push 8(%rip)
	.cfi_def_cfa_offset 24
at_2_header:
	jmp *8(%rip)
	.p2align 4
	plt_expression
at_3_jump:
	jmp *8(%rip)
at_4_push:
	push $0x12345
at_5_pushed:
	jmp at_1_header
	.p2align 4
	.rept 3
	jmp *8(%rip)
	push $0x12345
	jmp at_1_header
	.p2align 4
	.endr
	.byte 0xff, 0x25, 0, 0, 0, 0, 0x68, 1, 0, 0, 0, 0xe9, 0, 0, 0
at_6_last:
	.byte 0
	.cfi_endproc
	.skip 13
	.cfi_startproc
	plt_expression
at_7_aligned:
	.skip 3
at_8_block:
	.skip 11
at_9_block:
	.skip 5
	.cfi_endproc
