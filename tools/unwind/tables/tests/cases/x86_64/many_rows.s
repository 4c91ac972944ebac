/* SPDX-License-Identifier: GPL-2.0 */
# More rows than the kernel looks at in a function where it must not fault.
#
#: at_1_first: cfa=sp+8 ra=[cfa-8] fp=same
#: at_2_middle: cfa=sp+24 ra=[cfa-8] fp=same
#: at_3_last: cfa=sp+16 ra=[cfa-8] fp=same
	.text
	.cfi_startproc
at_1_first:
	.rept 1000
	nop
	.cfi_def_cfa_offset 16
	nop
	.cfi_def_cfa_offset 24
	.endr
at_2_middle:
	.rept 1000
	nop
	.cfi_def_cfa_offset 16
	nop
	.cfi_def_cfa_offset 24
	.endr
	nop
	.cfi_def_cfa_offset 16
at_3_last:
	nop
	.cfi_endproc
