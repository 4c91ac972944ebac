/* SPDX-License-Identifier: GPL-2.0 */
# A stack that is aligned: the CFA is in %r10 first, and then what is saved of it.
#
#: at_1_r10: cfa=r10+0 ra=[cfa-8] fp=same
#: at_2_saved: cfa=r10+0 ra=[cfa-8] fp=[fp+0]
#: at_3_deref: cfa=[fp-8] ra=[cfa-8] fp=[fp+0]
#: at_4_r10: cfa=r10+0 ra=[cfa-8] fp=[fp+0]
#: at_5_exit: cfa=sp+8 ra=[cfa-8] fp=[fp+0]
#: note: +0, 1 bytes: no entry describes this code
	.text
	.globl f
	.type f, @function
f:
	.cfi_startproc
	lea 8(%rsp), %r10
	.cfi_def_cfa %r10, 0
at_1_r10:
	and $-32, %rsp
	push -8(%r10)
	push %rbp
	mov %rsp, %rbp
	.cfi_escape 0x10, 6, 2, 0x76, 0		# rbp: at rbp + 0
at_2_saved:
	push %r10
	.cfi_escape 0x0f, 3, 0x76, 0x78, 6	# CFA: *(rbp - 8)
at_3_deref:
	call g
	pop %r10
	.cfi_def_cfa %r10, 0
at_4_r10:
	pop %rbp
	lea -8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
at_5_exit:
	ret
	.cfi_endproc
	.size f, . - f
g:
	ret
