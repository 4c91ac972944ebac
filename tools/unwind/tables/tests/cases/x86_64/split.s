/* SPDX-License-Identifier: GPL-2.0 */
# PHP whose execute_ex() the compiler has split.  Tail calls lead to the beginning of other(),
# and one jump into its midst.
#
#! ld --eh-frame-hdr -shared
#: chain: text of 38 bytes; and of 12 bytes, 16 bytes before it
#: at_execute: cfa=sp+8 ra=[cfa-8] fp=same
#: at_moved: cfa=sp+32 ra=[cfa-8] fp=same

	.section .rodata, "a"
	.asciz	"API420240924,NTS"

	.bss
	.globl	executor_globals
	.type	executor_globals, @object
executor_globals:
	.skip	1000
	.size	executor_globals, 1000

	# Jumps in their long form, which the assembler would not take
	.text
	.p2align 4
moved:
	.cfi_startproc
	.cfi_def_cfa_offset 32
at_moved:
	.skip	4, 0x90
moved_1:
	.skip	4, 0x90
moved_2:
	.skip	4, 0x90
	.cfi_endproc

	.p2align 4
	.globl	execute_ex
	.type	execute_ex, @function
execute_ex:
	.cfi_startproc
at_execute:
	.byte	0xe9			/* jmp */
	.long	other - . - 4
	.byte	0x0f, 0x84		/* je */
	.long	moved_1 - . - 4
	.byte	0x0f, 0x8f		/* jg */
	.long	moved_2 - . - 4
	.byte	0xe9
	.long	moved_1 - . - 4
	.byte	0x0f, 0x85		/* jne */
	.long	other_1 - . - 4
	.byte	0xe9
	.long	other - . - 4
	.byte	0xe9
	.long	at_execute - . - 4
	.cfi_endproc
	.size	execute_ex, . - execute_ex

other:
	.cfi_startproc
	nop
other_1:
	ret
	.cfi_endproc
