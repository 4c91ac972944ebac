/* SPDX-License-Identifier: GPL-2.0 */
# Entries as no compiler writes them: lengths of 64 bits, addresses in other encodings,
# rare instructions.
#
#: at_1_long_entry: cfa=sp+8 ra=[cfa-8] fp=same
#: at_2_absolute: cfa=sp+16 ra=[cfa-8] fp=same
#: at_3_set_loc: cfa=sp+32 ra=[cfa-8] fp=same
#: at_4_signed: cfa=sp+24 ra=[cfa-8] fp=[cfa-24]
#: at_5_negative: cfa=sp+24 ra=[cfa-8] fp=[cfa+16]
#: at_6_restored: cfa=sp+24 ra=[cfa-8] fp=same
	.text
f:
at_1_long_entry:
	nop
g:
at_2_absolute:
	nop
at_3_set_loc:
	nop
h:
at_4_signed:
	.skip 300
at_5_negative:
	nop
at_6_restored:
	nop
end:
	.section .eh_frame, "a", @progbits
# A CIE whose addresses are relative, with 32 bits
cie:
	.long cie_end - cie - 4, 0
	.byte 1
	.asciz "zR"
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.uleb128 1
	.byte 0x1b
	.byte 0x0c, 7, 8		# DW_CFA_def_cfa
	.byte 0x90, 1			# DW_CFA_offset
	.p2align 3
cie_end:
# The length has 64 bits
	.long 0xffffffff
	.quad 1f - 0f
0:	.quad 0b - cie
	.long f - .
	.long 1
	.uleb128 0
	.p2align 3
1:
# A CIE whose addresses are absolute, without augmentation
cie2:
	.long cie2_end - cie2 - 4, 0
	.byte 1
	.asciz ""
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.byte 0x0c, 7, 16
	.byte 0x90, 1
	.p2align 3
cie2_end:
	.long 1f - 0f
0:	.long 0b - cie2
	.quad g
	.quad 2
	.byte 0x01			# DW_CFA_set_loc
	.quad at_3_set_loc
	.byte 0x0e, 32			# DW_CFA_def_cfa_offset
	.byte 0x2e, 16			# DW_CFA_GNU_args_size
	.p2align 3
1:
	.long 1f - 0f
0:	.long 0b - cie
	.long h - .
	.long end - h
	.uleb128 0
	.byte 0x12, 7, 0x7d		# DW_CFA_def_cfa_sf: 7, 24
	.byte 0x11, 6, 3		# DW_CFA_offset_extended_sf: 6, -24
	.byte 0x03			# DW_CFA_advance_loc2
	.short 300
	.byte 0x2f, 6, 2		# DW_CFA_GNU_negative_offset_extended
	.byte 0x1d			# DW_CFA_MIPS_advance_loc8
	.quad 1
	.byte 0x06, 6			# DW_CFA_restore_extended
	.p2align 3
1:
	.long 0
