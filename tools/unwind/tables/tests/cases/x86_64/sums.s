/* SPDX-License-Identifier: GPL-2.0 */
# The CFA was saved in the frame, or an address near it: OpenSSL's assembly, and others'.
#
#: at_01_saved: cfa=[sp+176]+8 ra=[cfa-8] fp=[cfa-24]
#: at_02_red_zone: cfa=[sp-8]+8 ra=[cfa-8] fp=[cfa-24]
#: at_03_by_fp: cfa=[fp+88]+64 ra=[cfa-8] fp=[cfa-24]
#: at_04_by_r11: cfa=[r11+0]-4096 ra=[cfa-8] fp=[cfa-24]
#: at_05_no_addend: cfa=[sp+16] ra=[cfa-8] fp=[cfa-24]
#: at_06_array: cfa=[sp+8][r9*8]+8 ra=[cfa-8] fp=[cfa-24]
#: at_07_array_shl: cfa=[sp+16][r10*4]+8 ra=[cfa-8] fp=[cfa-24]
#: at_08_array_first: cfa=[fp+24][r9*2] ra=[cfa-8] fp=[cfa-24]
#: at_09_large: cfa=[sp+100000]+2147483647 ra=[cfa-8] fp=[cfa-24]
#: at_10_largest: none
#: at_11_factor: none
#: at_12_two_arrays: none
#: at_13_no_base: none
#: at_14_array_not_read: none
#: at_15_array_of_cfa: cfa=sp+8 ra=[cfa-8] fp=lost
#: at_16_saved_fp_sum: cfa=sp+8 ra=[cfa-8] fp=lost
#: at_17_product: none
#: at_18_shift: none
#: at_19_plain: cfa=sp+8 ra=[cfa-8] fp=same
#: note: +0, 1 bytes: an offset is too large
#: note: +0, 4 bytes: SFrame has no rule for the CFA
#: note: +0, 2 bytes: the caller's frame pointer is lost
#: note: +0, 2 bytes: SFrame has no rule for the CFA
	.text
	.cfi_startproc
	.cfi_remember_state
	nop
	.cfi_offset %rbp, -24
	.cfi_escape 0x0f, 6, 0x77, 0xb0, 1, 6, 0x23, 8
at_01_saved:
	nop
	.cfi_escape 0x0f, 5, 0x77, 0x78, 6, 0x23, 8
at_02_red_zone:
	nop
	.cfi_escape 0x0f, 7, 0x76, 0xd8, 0, 6, 0x08, 64, 0x22
at_03_by_fp:
	nop
	.cfi_escape 0x0f, 7, 0x7b, 0, 6, 0x0a, 0, 0x10, 0x1c
at_04_by_r11:
	nop
	.cfi_escape 0x0f, 5, 0x77, 16, 6, 0x23, 0
at_05_no_addend:
	nop
	.cfi_escape 0x0f, 10, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 6, 0x23, 8
at_06_array:
	nop
	.cfi_escape 0x0f, 10, 0x77, 8, 0x7a, 2, 0x32, 0x24, 0x22, 6, 0x23, 8
at_07_array_shl:
	nop
	.cfi_escape 0x0f, 8, 0x32, 0x79, 4, 0x1e, 0x76, 16, 0x22, 6
at_08_array_first:
	nop
	.cfi_escape 0x0f, 11, 0x77, 0xa0, 0x8d, 6, 6, 0x23, 0xff, 0xff, 0xff, 0xff, 7
at_09_large:
	nop
	.cfi_escape 0x0f, 9, 0x77, 0, 6, 0x23, 0x80, 0x80, 0x80, 0x80, 8
at_10_largest:
	nop
	.cfi_escape 0x0f, 10, 0x77, 8, 0x79, 0, 0x33, 0x1e, 0x22, 6, 0x23, 8
at_11_factor:
	nop
	.cfi_escape 0x0f, 12, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x7a, 0, 0x22, 6, 0x96
at_12_two_arrays:
	nop
	.cfi_escape 0x0f, 5, 0x79, 0, 0x38, 0x1e, 6
at_13_no_base:
	nop
	.cfi_escape 0x0f, 7, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22
at_14_array_not_read:
	nop
	.cfi_def_cfa %rsp, 8
	.cfi_escape 0x10, 6, 5, 0x79, 0, 0x38, 0x1e, 0x22
at_15_array_of_cfa:
	nop
	.cfi_escape 0x16, 6, 5, 0x77, 0, 6, 0x23, 8
at_16_saved_fp_sum:
	nop
	.cfi_offset %rbp, -24
	.cfi_escape 0x0f, 9, 0x77, 8, 0x79, 0, 0x7a, 0, 0x1e, 0x22, 6
at_17_product:
	nop
	.cfi_escape 0x0f, 9, 0x77, 8, 0x79, 0, 0x34, 0x24, 0x22, 6, 0x96
at_18_shift:
	nop
	.cfi_restore_state
at_19_plain:
	nop
	.cfi_endproc
