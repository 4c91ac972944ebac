/* SPDX-License-Identifier: GPL-2.0 */
# A function as compilers write it, with a frame record; functions that save only one of
# the two registers.
#
#: at_1_entry: cfa=sp+0 ra=same fp=same
#: at_2_saved: cfa=sp+32 ra=[cfa-24] fp=[cfa-32]
#: at_3_framed: cfa=fp+32 ra=[cfa-24] fp=[cfa-32]
#: at_4_left: cfa=sp+0 ra=same fp=same
#: at_5_only_ra: cfa=sp+16 ra=[cfa-16] fp=same
#: at_6_only_fp: cfa=sp+16 ra=same fp=[cfa-16]
#: at_7_in_register: cfa=sp+0 ra=r9+0 fp=same
#: at_8_other_cfa: cfa=r10+16 ra=[cfa-8] fp=[cfa-16]
	.text
f:
	.cfi_startproc
at_1_entry:
	stp x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
at_2_saved:
	mov x29, sp
	.cfi_def_cfa 29, 32
at_3_framed:
	bl f
	ldp x29, x30, [sp], 32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa 31, 0
at_4_left:
	ret
	.cfi_endproc
	.cfi_startproc
	str x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 30, -16
at_5_only_ra:
	nop
	.cfi_restore 30
	.cfi_offset 29, -16
at_6_only_fp:
	nop
	.cfi_endproc
	.cfi_startproc
	mov x9, x30
	.cfi_register 30, 9
at_7_in_register:
	nop
	.cfi_def_cfa 10, 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
at_8_other_cfa:
	nop
	.cfi_endproc
