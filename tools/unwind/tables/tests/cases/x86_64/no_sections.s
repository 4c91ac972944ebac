/* SPDX-License-Identifier: GPL-2.0 */
# A file without section headers: .eh_frame_hdr leads to .eh_frame.
#! no-sections
#
#: at_1_pushed: cfa=sp+16 ra=[cfa-8] fp=same
	.text
	.globl _start
_start:
	.cfi_startproc
	push %rax
	.cfi_def_cfa_offset 16
at_1_pushed:
	nop
	.cfi_endproc
