/* SPDX-License-Identifier: GPL-2.0 */
# Functions of Go: the distance to the return address is in .gopclntab.  Nothing is said of
# a function that sets the stack pointer, unless the frame pointer has its frame's place, of
# distances that make no sense, and of padding.
#
#! ld --eh-frame-hdr
#: at_01_called: cfa=sp+8 ra=[cfa-8] fp=same
#: at_02_pushed: cfa=sp+16 ra=[cfa-8] fp=[cfa-16]
#: at_03_frame: cfa=sp+160 ra=[cfa-8] fp=[cfa-16]
#: at_04_return: cfa=sp+8 ra=[cfa-8] fp=same
#: at_05_frame_again: cfa=sp+160 ra=[cfa-8] fp=[cfa-16]
#: at_06_padding: none
#: at_07_top: outermost
#: at_08_writes_sp: none
#: at_09_called: cfa=sp+8 ra=[cfa-8] fp=same
#: at_10_other_push: cfa=sp+16 ra=[cfa-8] fp=lost
#: at_11_odd: none
#: at_12_own_cfi: cfa=sp+48 ra=[cfa-8] fp=same
#: at_13_start: outermost
#: at_14_handler: cfa=sp+8 ra=[cfa-8] fp=same
#: at_15_handler_pushed: cfa=sp+16 ra=[cfa-8] fp=same
#: at_16_called: cfa=sp+8 ra=[cfa-8] fp=same
#: at_17_pushed: cfa=sp+16 ra=[cfa-8] fp=[cfa-16]
#: at_18_changes: cfa=fp+16 ra=[cfa-8] fp=[cfa-16]
#: at_19_returned: cfa=fp+16 ra=[cfa-8] fp=[cfa-16]
#: at_20_return: cfa=sp+8 ra=[cfa-8] fp=same
#: at_21_frame_again: cfa=fp+16 ra=[cfa-8] fp=[cfa-16]
#: at_22_jump: cfa=sp+8 ra=[cfa-8] fp=same
#: at_23_clears: none
#: at_24_entry: outermost
#: note: +0, 1 bytes: no entry describes this code
#: note: +0, 1 bytes: no entry describes this code
#: note: +0, 1 bytes: the caller's frame pointer is lost
#: note: +0, 1 bytes: no entry describes this code
#: note: +0, 9 bytes: no entry describes this code
	.text
	.global _start
go_text:
framed:
at_01_called:
	push %rbp
at_02_pushed:
	mov %rsp, %rbp
	sub $144, %rsp
at_03_frame:
	add $144, %rsp
	pop %rbp
at_04_return:
	ret
at_05_frame_again:
	nop
framed_end:
at_06_padding:
	int3
top:
at_07_top:
	nop
writes:
at_08_writes_sp:
	nop
other:
at_09_called:
	push %rbx
at_10_other_push:
	pop %rbx
odd:
at_11_odd:
	nop
own:
	.cfi_startproc
	.cfi_def_cfa_offset 48
at_12_own_cfi:
	nop
	.cfi_endproc
handler:
at_14_handler:
	pushf
at_15_handler_pushed:
	popf
changes:
at_16_called:
	push %rbp
at_17_pushed:
	mov %rsp, %rbp
at_18_changes:
	mov 56(%rax), %rsp
	call *%rdi
at_19_returned:
	mov 56(%rdx), %rsp
	pop %rbp
at_20_return:
	ret
at_21_frame_again:
	pop %rbp
at_22_jump:
	jmp *%rdi
clears:
at_23_clears:
	push %rbp
	mov %rsp, %rbp
	mov $0, %ebp
entry:
at_24_entry:
	nop
_start:
at_13_start:
	nop
end:
	.section .gopclntab, "a", @progbits
table:
	.long 0xfffffff1
	.byte 0, 0, 1, 8
	.quad 11, 0, 0, 0, 0, 0, distances - table, functions - table
distances:
	.byte 0
# The difference times two, or its complement; then bytes of code
.macro distance difference, from, to
	.if \difference < 0
	.uleb128 -2 * \difference - 1
	.else
	.uleb128 2 * \difference
	.endif
	.uleb128 \to - \from
.endm
framed_distances:
	distance 1, at_01_called, at_02_pushed
	distance 8, at_02_pushed, at_03_frame
	distance 144, at_03_frame, at_04_return
	distance -152, at_04_return, at_05_frame_again
	distance 152, at_05_frame_again, framed_end
	.byte 0
other_distances:
	distance 1, at_09_called, at_10_other_push
	distance 8, at_10_other_push, odd
	.byte 0
odd_distances:
	distance 4, odd, own
	.byte 0
flat_distances:
	distance 1, own, handler
	.byte 0
handler_distances:
	distance 1, at_14_handler, at_15_handler_pushed
	distance 8, at_15_handler_pushed, changes
	.byte 0
functions:
.macro function name
	.long \name - go_text, \name\()_about - functions
.endm
	function framed
	function top
	function writes
	function other
	function odd
	function own
	function handler
	function changes
	function clears
	function entry
	function _start
	.long end - go_text
.macro about name, distances, flags, id=0
\name\()_about:
	.long \name - go_text, 0, 0, 0, \distances - distances, 0, 0, 0, 0, 0
	.byte \id, \flags, 0, 0
.endm
	about framed, framed_distances, 0
	about top, flat_distances, 1, 8
	about writes, flat_distances, 2
	about other, other_distances, 0
	about odd, odd_distances, 0
	about own, flat_distances, 0
	about handler, handler_distances, 1
	about changes, flat_distances, 6
	about clears, flat_distances, 6
	about entry, flat_distances, 7, 142
	about _start, flat_distances, 0
	.section .go.module, "aw", @progbits
	.quad table
	.fill 21, 8, 0
	.quad go_text
