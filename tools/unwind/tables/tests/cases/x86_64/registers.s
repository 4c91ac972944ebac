/* SPDX-License-Identifier: GPL-2.0 */
# A caller's registers that are in others: vfork() keeps its return address in one, and
# longjmp() has found all that it goes back to.
#
#: at_1_ra: cfa=sp+0 ra=r2+0 fp=same
#: at_2_pushed: cfa=sp+8 ra=[cfa-8] fp=same
#: at_3_longjmp: cfa=r8+0 ra=r1+0 fp=r9+0
#: at_4_setcontext: cfa=[r1+160] ra=[r1+168] fp=[r1+120]
#: at_5_same: cfa=sp+8 ra=[cfa-8] fp=same
	.text
vfork:
	.cfi_startproc
	pop %rcx
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rcx
at_1_ra:
	syscall
	push %rcx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rip, 0
at_2_pushed:
	ret
	.cfi_endproc
longjmp:
	.cfi_startproc
	.cfi_def_cfa %rdi, 0
	.cfi_register %rsp, %r8
	.cfi_register %rbp, %r9
	.cfi_register %rip, %rdx
at_3_longjmp:
	mov %r8, %rsp
	jmp *%rdx
	.cfi_endproc
setcontext:
	.cfi_startproc
	.cfi_def_cfa %rdx, 0
	.cfi_offset %rsp, 160
	.cfi_offset %rbp, 120
	.cfi_offset %rip, 168
at_4_setcontext:
	mov 160(%rdx), %rsp
	ret
	.cfi_endproc
same:
	.cfi_startproc
	.cfi_register %rbp, %rbp
	.cfi_val_offset %rsp, 0
at_5_same:
	ret
	.cfi_endproc
