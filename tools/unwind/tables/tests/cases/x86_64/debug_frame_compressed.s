/* SPDX-License-Identifier: GPL-2.0 */
# .debug_frame alone, compressed; a function that the linker has left out is no fault.
#! ld --gc-sections --compress-debug-sections=zlib
#
#: at_1_kept: cfa=sp+16 ra=[cfa-8] fp=same
#: at_2_last: cfa=sp+24 ra=[cfa-8] fp=same
	.cfi_sections .debug_frame
	.text
	.globl _start
_start:
	.cfi_startproc
	push %rax
	.cfi_def_cfa_offset 16
at_1_kept:
	.rept 200
	.cfi_def_cfa_offset 16
	nop
	.cfi_def_cfa_offset 24
	nop
	.endr
at_2_last:
	nop
	.cfi_endproc
	.section .text.unused, "ax", @progbits
unused:
	.cfi_startproc
	nop
	.cfi_endproc
