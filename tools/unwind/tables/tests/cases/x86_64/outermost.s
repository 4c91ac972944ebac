/* SPDX-License-Identifier: GPL-2.0 */
# Where there is no caller: the program's start, and a new thread in clone().
#
#: at_1_start: outermost
#: at_2_clone: cfa=sp+8 ra=[cfa-8] fp=same
#: at_3_thread: outermost
	.text
_start:
	.cfi_startproc
	.cfi_undefined rip
at_1_start:
	xor %ebp, %ebp
	call clone
	hlt
	.cfi_endproc
clone:
	.cfi_startproc
at_2_clone:
	syscall
	test %rax, %rax
	je 1f
	ret
1:
	.cfi_undefined rip
at_3_thread:
	xor %ebp, %ebp
	hlt
	.cfi_endproc
