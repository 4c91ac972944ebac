/* SPDX-License-Identifier: GPL-2.0 */
# PHP whose execute_ex() the compiler has split.  Tail calls lead to the beginning of other(),
# and one jump into its midst.
#
#! ld --eh-frame-hdr -shared
#: chain: text of 28 bytes; and of 12 bytes, 16 bytes before it
#: at_execute: cfa=sp+0 ra=same fp=same
#: at_moved: cfa=sp+32 ra=same fp=same

	.section .rodata, "a"
	.asciz	"API420240924,NTS"

	.bss
	.globl	executor_globals
	.type	executor_globals, %object
executor_globals:
	.skip	1000
	.size	executor_globals, 1000

	.text
	.p2align 4
moved:
	.cfi_startproc
	.cfi_def_cfa_offset 32
at_moved:
	nop
moved_1:
	nop
moved_2:
	nop
	.cfi_endproc

	.p2align 4
	.globl	execute_ex
	.type	execute_ex, %function
execute_ex:
	.cfi_startproc
at_execute:
	b	other
	b.eq	moved_1
	cbz	x0, moved_2
	tbnz	w1, #3, moved_1
	b.ne	other_1
	b	other
	b	at_execute
	.cfi_endproc
	.size	execute_ex, . - execute_ex

other:
	.cfi_startproc
	nop
other_1:
	ret
	.cfi_endproc
