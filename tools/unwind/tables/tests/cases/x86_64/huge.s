/* SPDX-License-Identifier: GPL-2.0 */
# A function with three million rows.
#
#: at_1_first: cfa=sp+8 ra=[cfa-8] fp=same
#: at_2_second: cfa=sp+16 ra=[cfa-8] fp=same
#: at_3_middle: cfa=sp+24 ra=[cfa-8] fp=same
#: at_4_last: cfa=sp+24 ra=[cfa-8] fp=same
#: at_5_after: none
#: note: +0, 1 bytes: no entry describes this code
	.text
f:
at_1_first:
	.skip 1
at_2_second:
	.skip 1499999
at_3_middle:
	.skip 1500000
at_4_last:
	.skip 1
at_5_after:
	.skip 1
	.section .eh_frame, "a", @progbits
cie:
	.long cie_end - cie - 4, 0
	.byte 1
	.asciz "zR"
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.uleb128 1
	.byte 0x1b
	.byte 0x0c, 7, 8
	.byte 0x90, 1
	.p2align 3
cie_end:
	.long 1f - 0f
0:	.long 0b - cie
	.long f - .
	.long 3000001
	.uleb128 0
	.rept 1500000
	.byte 0x41, 0x0e, 16, 0x41, 0x0e, 24
	.endr
	.p2align 3
1:
	.long 0
