/* SPDX-License-Identifier: GPL-2.0 */
# Offsets of all sizes, in rows of both kinds, and starts of rows of all sizes.
#
#: at_1_byte: cfa=sp+120 ra=[cfa-8] fp=[cfa-128]
#: at_2_word: cfa=sp+136 ra=[cfa-8] fp=[cfa-136]
#: at_3_long: cfa=sp+1000000 ra=[cfa-8] fp=[cfa-1000000]
#: at_4_far: cfa=sp+300 ra=[cfa-8] fp=[cfa-1000000]
#: at_5_farther: cfa=sp+70000 ra=[cfa-8] fp=[cfa-1000000]
#: at_6_flex: cfa=r10+120 ra=[cfa-8] fp=same
#: at_7_flex: cfa=r15-32776 ra=[cfa-8] fp=same
#: at_8_flex: cfa=r0+200 ra=[cfa+16] fp=same
	.text
	.cfi_startproc
	.cfi_def_cfa_offset 120
	.cfi_offset %rbp, -128
at_1_byte:
	nop
	.cfi_def_cfa_offset 136
	.cfi_offset %rbp, -136
at_2_word:
	nop
	.cfi_def_cfa_offset 1000000
	.cfi_offset %rbp, -1000000
at_3_long:
	.skip 1000
	.cfi_def_cfa_offset 300
at_4_far:
	.skip 70000
	.cfi_def_cfa_offset 70000
at_5_farther:
	nop
	.cfi_endproc
	.cfi_startproc
	.cfi_def_cfa %r10, 120
at_6_flex:
	nop
	.cfi_def_cfa %r15, -32776
at_7_flex:
	nop
	.cfi_def_cfa %rax, 200
	.cfi_offset %rip, 16
at_8_flex:
	nop
	.cfi_endproc
