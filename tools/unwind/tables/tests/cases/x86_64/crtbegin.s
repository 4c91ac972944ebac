/* SPDX-License-Identifier: GPL-2.0 */
# GCC's crtbegin.o has no entry, and is not noted; code after it is, and so is code that only
# begins like it.
#
#: at_1_before: cfa=sp+8 ra=[cfa-8] fp=same
#: at_2_middle: cfa=sp+8 ra=[cfa-8] fp=same
#: at_3_last: cfa=sp+8 ra=[cfa-8] fp=same
#: note: assembly+0, 1 bytes: no entry describes this code
#: note: +0, 96 bytes: no entry describes this code
	.text
	.macro entry name
\name:
	.cfi_startproc
	ret
	.cfi_endproc
	.endm
	.macro begin
	lea at_1_before(%rip), %rdi
	lea at_1_before(%rip), %rax
	cmp %rdi, %rax
	.endm

	entry at_1_before
	.balign 16
	.type deregister_tm_clones, @function
deregister_tm_clones:
	begin
	.org deregister_tm_clones + 0x30, 0xc3
	.type register_tm_clones, @function
register_tm_clones:
	.fill 160, 1, 0xc3
	jmp register_tm_clones
	.balign 16
	.type assembly, @function
assembly:
	ret
	.size assembly, . - assembly

	entry at_2_middle
	.balign 16
0:	begin
	.fill 79, 1, 0xc3

	entry at_3_last
	.balign 16
1:	mov $0x1234, %eax
	cmp $0x1234, %rax
	.org 1b + 0x30, 0xc3
2:	.fill 80, 1, 0xc3
	jmp 2b
