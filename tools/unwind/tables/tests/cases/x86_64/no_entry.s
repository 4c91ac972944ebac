/* SPDX-License-Identifier: GPL-2.0 */
# Code without an entry is noted: where a function's symbol lies in it, of whatever size; and
# where it is too long to be padding.  Padding, and data symbols, are not noted.
#
#: at_1_entry: cfa=sp+8 ra=[cfa-8] fp=same
#: at_2_none: none
#: at_3_entry: cfa=sp+8 ra=[cfa-8] fp=same
#: at_4_entry: cfa=sp+8 ra=[cfa-8] fp=same
#: at_5_entry: cfa=sp+8 ra=[cfa-8] fp=same
#: at_6_entry: cfa=sp+8 ra=[cfa-8] fp=same
#: note: assembly+0, 19 bytes: no entry describes this code
#: note: +0, 64 bytes: no entry describes this code
#: note: +0, 7 bytes: no entry describes this code
#: note: last+0, 2 bytes: no entry describes this code
	.text
	.macro entry name
\name:
	.cfi_startproc
	ret
	.cfi_endproc
	.endm

	entry at_1_entry
	.byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0	# padding
	.type assembly, @function
assembly:
	push %rbx
at_2_none:
	call at_1_entry
	pop %rbx
	ret
	.size assembly, . - assembly
	.byte 0x0f, 0x1f, 0x40, 0				# the rest of the stretch
	.type local, @function
local:
	call at_1_entry
	nop
	ret
	.size local, . - local

	entry at_3_entry
	.fill 200, 1, 0xcc
	.fill 200, 1, 0x90
	.byte 0x66, 0x90, 0x0f, 0x1f, 0, 0x0f, 0x1f, 0x44, 0, 0, 0x0f, 0x1f, 0x80, 0, 0, 0, 0
	.fill 200
	entry at_4_entry
	.byte 0xcc, 0xcc
	.fill 64, 1, 0xf4
	entry at_5_entry
	.fill 63, 1, 0xf4
	entry at_6_entry
	nop
untyped:
	push %rbx
	pop %rbx
	ret
	.fill 3, 1, 0x90
	.type object, @object
object:
	.byte 1

	.section .other, "ax", @progbits
	.globl last
	.type last, @function
last:
	nop
	ret
