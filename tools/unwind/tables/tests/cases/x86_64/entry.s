/* SPDX-License-Identifier: GPL-2.0 */
# A start without CFI, as ld.so's: there is no caller either.  It ends where the next
# function begins.
#
#: at_1_start: outermost
#: at_2_last: outermost
#: at_3_next: cfa=sp+8 ra=[cfa-8] fp=same
	.text
	.globl _start
_start:
at_1_start:
	mov %rsp, %rdi
	call f
at_2_last:
	hlt
f:
	.cfi_startproc
at_3_next:
	ret
	.cfi_endproc
