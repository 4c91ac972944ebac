/* SPDX-License-Identifier: GPL-2.0 */
# Several executable segments, far from each other and from the table, at other addresses
# than offsets in the file; a function that goes on after its segment.
#! ld -no-pie --section-start=.text=0x400123 --section-start=.far=0x123456789a000 --section-start=.last=0x123456799a000
#
#: at_1_near: cfa=sp+8 ra=[cfa-8] fp=same
#: at_2_far: cfa=sp+16 ra=[cfa-8] fp=same
#: at_3_last: cfa=sp+16 ra=[cfa-8] fp=same
#: note: last+1, 999 bytes: the address is not executable
	.text
	.globl _start
_start:
at_1_near:
	nop
	.section .far, "ax", @progbits
far:
at_2_far:
	nop
	.section .last, "ax", @progbits
	.globl last
	.type last, @function
last:
at_3_last:
	nop
	.section .eh_frame, "a", @progbits
cie:
	.long cie_end - cie - 4, 0
	.byte 1
	.asciz ""
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.byte 0x0c, 7, 8
	.byte 0x90, 1
	.p2align 3
cie_end:
	.macro fde start size offset
	.long 1f - 0f
0:	.long 0b - cie
	.quad \start
	.quad \size
	.byte 0x0e, \offset
	.p2align 3
1:
	.endm
	fde last 1000 16
	fde _start 1 8
	fde far 1 16
	.long 0
