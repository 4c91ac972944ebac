/* SPDX-License-Identifier: GPL-2.0 */
# Expressions in all words that become a rule, and rare instructions.
#
#: at_01_bregx: cfa=r10+16 ra=[cfa-8] fp=same
#: at_02_plus: cfa=[sp+96] ra=[cfa-8] fp=same
#: at_03_minus: cfa=sp+24 ra=[cfa-8] fp=same
#: at_04_const: cfa=[fp-72] ra=[cfa-8] fp=same
#: at_05_fp_value: cfa=sp+8 ra=[cfa-8] fp=[r3+8]
#: at_06_fp_of_cfa: cfa=sp+8 ra=[cfa-8] fp=[cfa-24]
#: at_07_fp_at_cfa: cfa=sp+8 ra=[cfa-8] fp=[cfa-32]
#: at_08_ra_at: cfa=sp+8 ra=[r12+16] fp=same
#: at_09_shifted: cfa=sp+32 ra=[cfa-8] fp=same
#: at_10_offset_sf: cfa=sp+64 ra=[cfa-8] fp=[cfa-16]
#: at_11_sparc: cfa=sp+64 ra=[cfa-8] fp=[cfa-16]
#: at_12_whole_pc: none
#: at_13_two_registers: none
#: at_14_no_value: none
#: at_15_no_register: none
#: at_16_deep: none
#: at_17_constant: none
#: note: +0, 6 bytes: SFrame has no rule for the CFA
	.text
	.cfi_startproc
	.cfi_remember_state
	.cfi_escape 0x0f, 3, 0x92, 10, 16
at_01_bregx:
	nop
	.cfi_escape 0x0f, 6, 0x08, 80, 0x77, 16, 0x22, 6
at_02_plus:
	nop
	.cfi_escape 0x0f, 5, 0x77, 32, 0x11, 8, 0x1c
at_03_minus:
	nop
	.cfi_escape 0x0f, 9, 0x76, 0, 0x0d, 0xb8, 0xff, 0xff, 0xff, 0x22, 6
at_04_const:
	nop
	.cfi_restore_state
	.cfi_escape 0x16, 6, 3, 0x73, 8, 6
at_05_fp_value:
	nop
	.cfi_escape 0x16, 6, 4, 0x09, 0xe8, 0x22, 6
at_06_fp_of_cfa:
	nop
	.cfi_escape 0x10, 6, 3, 0x48, 0x1c, 0x96
	.cfi_escape 0x10, 6, 4, 0x10, 0x20, 0x1c, 0x96
at_07_fp_at_cfa:
	nop
	.cfi_restore %rbp
	.cfi_escape 0x10, 16, 2, 0x7c, 16
at_08_ra_at:
	nop
	.cfi_restore %rip
	.cfi_escape 0x0f, 9, 0x77, 0, 0x34, 0x33, 0x24, 0x22, 0x96, 0x96, 0x96
at_09_shifted:
	nop
	.cfi_def_cfa %rsp, 8
	.cfi_escape 0x13, 0x78		# DW_CFA_def_cfa_offset_sf: 64
	.cfi_escape 0x05, 6, 2		# DW_CFA_offset_extended
at_10_offset_sf:
	nop
	.cfi_escape 0x2d		# DW_CFA_GNU_window_save: nothing here
at_11_sparc:
	nop
	.cfi_escape 0x0f, 5, 0x80, 0, 0x77, 0, 0x22
at_12_whole_pc:
	nop
	.cfi_escape 0x0f, 5, 0x77, 0, 0x76, 0, 0x22
at_13_two_registers:
	nop
	.cfi_escape 0x0f, 1, 0x96
at_14_no_value:
	nop
	.cfi_escape 0x0f, 3, 0x92, 40, 0
at_15_no_register:
	nop
	.cfi_escape 0x0f, 11, 0x77, 0, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30
at_16_deep:
	nop
	.cfi_escape 0x0f, 2, 0x08, 8
at_17_constant:
	nop
	.cfi_endproc
