/* SPDX-License-Identifier: GPL-2.0 */
# .debug_frame counts where .eh_frame says nothing.
#
#: at_1_both: cfa=sp+8 ra=[cfa-8] fp=same
#: at_2_debug: cfa=sp+16 ra=[cfa-8] fp=same
	.cfi_sections .debug_frame
	.text
f:
	.cfi_startproc
	.cfi_def_cfa_offset 24
at_1_both:
	nop
	.cfi_endproc
g:
	.cfi_startproc
	.cfi_def_cfa_offset 16
at_2_debug:
	nop
	.cfi_endproc
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
	.long 1
	.uleb128 0
	.p2align 3
1:
	.long 0
