/* SPDX-License-Identifier: GPL-2.0 */
# Entries that are wrong cost themselves, from where they are; the others are used.
#
#: at_01_before: cfa=sp+8 ra=[cfa-8] fp=same
#: at_02_bad_instruction: none
#: at_03_no_saved_state: none
#: at_04_backwards: none
#: at_05_in_time: cfa=sp+8 ra=[cfa-8] fp=same
#: at_06_last: cfa=sp+48 ra=[cfa-8] fp=same
#: at_07_after: none
#: at_08_outer: cfa=sp+8 ra=[cfa-8] fp=same
#: at_09_inner: cfa=sp+56 ra=[cfa-8] fp=same
#: at_10_outer_again: none
#: at_11_once: cfa=sp+8 ra=[cfa-8] fp=same
#: at_12_twice: cfa=sp+8 ra=[cfa-8] fp=same
#: at_13_unknown_cie: none
#: at_14_unknown_augmentation: none
#: at_15_cut_off: none
#: at_16_good: cfa=sp+8 ra=[cfa-8] fp=same
#: at_17_expression: cfa=[sp+8] ra=[cfa-8] fp=same
#: at_18_half_of_it: none
#: at_19_whole: cfa=sp+16 ra=[cfa-8] fp=same
	.text
	.macro function name size
	.globl \name
	.type \name, @function
	.size \name, \size
\name:
	.endm

	function bad 2
at_01_before:
	nop
at_02_bad_instruction:
	nop
	function no_state 1
at_03_no_saved_state:
	nop
	function backwards 1
at_04_backwards:
	nop
	function beyond 2
at_05_in_time:
	nop
at_06_last:
	nop
at_07_after:
	nop
	function outer 3
at_08_outer:
	nop
	function inner 1
at_09_inner:
	nop
at_10_outer_again:
	nop
	function twice 2
at_11_once:
	nop
at_12_twice:
	nop
	function no_cie 1
at_13_unknown_cie:
	nop
	function unknown 1
at_14_unknown_augmentation:
	nop
	function cut_off 1
at_15_cut_off:
	nop
	function good 1
at_16_good:
	nop
	function half 3
at_17_expression:
	nop
at_18_half_of_it:
	nop
at_19_whole:
	nop
#: note: bad+1, 1 bytes: the CFI makes no sense
#: note: no_state+0, 1 bytes: the CFI makes no sense
#: note: backwards+0, 1 bytes: the CFI makes no sense
#: note: beyond+0, 2 bytes: the CFI goes on after the function's end
#: note: +0, 1 bytes: no entry describes this code
#: note: inner+0, 1 bytes: two entries describe this
#: note: +0, 1 bytes: another entry lies within this function
#: note: twice+0, 1 bytes: two entries describe this
#: note: no_cie+0, 3 bytes: no entry describes this code
#: note: half+1, 1 bytes: the CFI makes no sense
#: note: +0, 0 bytes: the entry makes no sense
#: note: +0, 0 bytes: the entry makes no sense
#: note: +0, 0 bytes: the entry makes no sense
#: note: +0, 16 bytes: the address is not executable

	.macro cie name augmentation
\name:
	.long 1f - \name - 4, 0
	.byte 1
	.asciz "\augmentation"
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.uleb128 1
	.byte 0x1b
	.byte 0x0c, 7, 8
	.byte 0x90, 1
	.p2align 3
1:
	.endm
	.macro fde cie start size program:vararg
	.long 1f - 0f
0:	.long 0b - \cie
	.long \start - .
	.long \size
	.uleb128 0
	.byte \program
	.p2align 3
1:
	.endm

	.section .eh_frame, "a", @progbits
	cie good_cie zR
	cie unknown_cie zRx
	fde good_cie bad 2 0x41, 0x3e
	fde good_cie no_state 1 0x0b
# DW_CFA_set_loc to an address before the function
	.long 1f - 0f
0:	.long 0b - good_cie
	.long backwards - .
	.long 1
	.uleb128 0
	.byte 0x01
	.long bad - .
	.p2align 3
1:
	fde good_cie beyond 2 0x41, 0x0e, 48, 0x42, 0x0e, 8
	fde good_cie outer 3 0
	fde good_cie inner 1 0x0e, 56
	fde good_cie twice 2 0
	fde good_cie twice 1 0x0e, 64
	fde cut_off_fde no_cie 1 0
	fde unknown_cie unknown 1 0
	fde good_cie data 16 0
# Augmentation data that would go beyond the entry
cut_off_fde:
	.long 1f - 0f
0:	.long 0b - good_cie
	.long cut_off - .
	.long 1
	.uleb128 1000
	.p2align 3
1:
	fde good_cie good 1 0
	fde good_cie half 3 0x0f, 3, 0x77, 8, 6, 0x41, 0x0e, 8, 0x41, 0x0c, 7, 16
	.long 0
	.data
data:
	.skip 16
