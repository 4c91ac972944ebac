/* SPDX-License-Identifier: GPL-2.0 */
# Where there is no caller: the program's start, and a new thread in clone().
#
#: at_1_start: outermost
#: at_2_clone: cfa=sp+0 ra=same fp=same
#: at_3_thread: outermost
	.text
_start:
	.cfi_startproc
	.cfi_undefined 30
at_1_start:
	mov x29, #0
	mov x30, #0
	bl clone
	.cfi_endproc
clone:
	.cfi_startproc
at_2_clone:
	svc #0
	cbz x0, 1f
	ret
1:
	.cfi_undefined 30
at_3_thread:
	mov x29, #0
	.cfi_endproc
