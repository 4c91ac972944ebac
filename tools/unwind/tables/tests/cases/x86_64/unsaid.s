/* SPDX-License-Identifier: GPL-2.0 */
# What SFrame cannot say has no row, and a note; the rest of the function has rows.  If that is
# the caller's frame pointer, the row says that it is lost.
#
#: at_01_before: cfa=sp+8 ra=[cfa-8] fp=same
#: at_02_sum: none
#: at_03_after: cfa=sp+8 ra=[cfa-8] fp=same
#: at_04_fp_value: cfa=sp+8 ra=[cfa-8] fp=lost
#: at_05_fp_undefined: cfa=sp+8 ra=[cfa-8] fp=lost
#: at_06_ra_value: none
#: at_07_ra_same: none
#: at_08_sp: none
#: at_09_cfa_of_flags: none
#: at_10_cfa_twice: none
#: at_11_large: none
#: note: sum+1, 2 bytes: SFrame has no rule for the CFA
#: note: values+0, 2 bytes: the caller's frame pointer is lost
#: note: values+2, 2 bytes: SFrame has no rule for the return address
#: note: stack+0, 1 bytes: the stack pointer is not the CFA
#: note: expressions+0, 2 bytes: SFrame has no rule for the CFA
#: note: expressions+2, 1 bytes: an offset is too large
	.text
	.macro function name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc
	.size \name, . - \name
	.endm

	function sum
at_01_before:
	nop
	.cfi_remember_state
	.cfi_escape 0x0f, 7, 0x77, 0xb0, 1, 6, 0x70, 0, 0x22	# CFA: *(rsp + 176) + rax
at_02_sum:
	nop
	nop
	.cfi_restore_state
at_03_after:
	nop
	end sum

	function values
	.cfi_val_offset %rbp, -16
at_04_fp_value:
	nop
	.cfi_undefined %rbp
at_05_fp_undefined:
	nop
	.cfi_same_value %rbp
	.cfi_val_offset %rip, -8
at_06_ra_value:
	nop
	.cfi_same_value %rip
at_07_ra_same:
	nop
	end values

	function stack
	.cfi_val_offset %rsp, 16
at_08_sp:
	nop
	end stack

	function expressions
	.cfi_def_cfa 17, 8
at_09_cfa_of_flags:
	nop
	.cfi_escape 0x0f, 5, 0x77, 8, 6, 6, 0x96	# CFA: **(rsp + 8)
at_10_cfa_twice:
	nop
	.cfi_def_cfa %rsp, 0x100000000
at_11_large:
	nop
	end expressions
