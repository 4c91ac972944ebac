/* SPDX-License-Identifier: GPL-2.0 */
# Addresses in every encoding, and CIEs with all that augmentations have.
#
#: at_1_udata2: cfa=sp+8 ra=[cfa-8] fp=same
#: at_2_sdata2: cfa=sp+8 ra=[cfa-8] fp=same
#: at_3_udata4: cfa=sp+8 ra=[cfa-8] fp=same
#: at_4_uleb: cfa=sp+8 ra=[cfa-8] fp=same
#: at_5_sleb: cfa=sp+8 ra=[cfa-8] fp=same
#: at_6_sdata8: cfa=sp+8 ra=[cfa-8] fp=same
#: at_7_indirect: none
#: at_8_unknown: none
#: at_9_all: cfa=sp+8 ra=[cfa-8] fp=same signal
#: note: +0, 2 bytes: no entry describes this code
#: note: +0, 0 bytes: the entry makes no sense
#: note: +0, 0 bytes: the entry makes no sense
#! ld -no-pie --section-start=.text=0x1000 -e 0
	.text
at_1_udata2: nop
at_2_sdata2: nop
at_3_udata4: nop
at_4_uleb: nop
at_5_sleb: nop
at_6_sdata8: nop
at_7_indirect: nop
at_8_unknown: nop
at_9_all: nop
personality:
	.section .eh_frame, "a", @progbits
	.macro cie name encoding
\name:
	.long 1f - \name - 4, 0
	.byte 1
	.asciz "zR"
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.uleb128 1
	.byte \encoding
	.byte 0x0c, 7, 8
	.byte 0x90, 1
	.p2align 3
1:
	.endm
	.macro fde cie
	.long 1f - 0f
0:	.long 0b - \cie
	.endm
	.macro end
	.uleb128 0
	.p2align 3
1:
	.endm
	cie udata2 0x02
	cie sdata2 0x0a
	cie udata4 0x03
	cie uleb 0x01
	cie sleb 0x09
	cie sdata8 0x1c
	cie indirect 0x80
	cie unknown 0x0d
	fde udata2
	.short at_1_udata2, 1
	end
	fde sdata2
	.short at_2_sdata2, 1
	end
	fde udata4
	.long at_3_udata4, 1
	end
	fde uleb
	.byte 0x83, 0x20, 1		# 0x1003, and the size
	end
	fde sleb
	.byte 0x84, 0x20, 1
	end
	fde sdata8
	.quad at_6_sdata8 - .
	.quad 1
	end
	fde indirect
	.quad at_7_indirect, 1
	end
	fde unknown
	.quad at_8_unknown, 1
	end
all:
	.long 1f - all - 4, 0
	.byte 1
	.asciz "zPLRSG"
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.uleb128 7
	.byte 0x9b
	.long personality - .
	.byte 0x1b, 0x1b
	.byte 0x0c, 7, 8
	.byte 0x90, 1
	.p2align 3
1:
	fde all
	.long at_9_all - .
	.long 1
	.uleb128 4
	.long 0
	.p2align 3
1:
	.long 0
