/* SPDX-License-Identifier: GPL-2.0 */
# Return addresses that are signed, with either key.
#
#: at_1_entry: cfa=sp+0 ra=same fp=same
#: at_2_signed: cfa=sp+0 ra=same fp=same mangled
#: at_3_saved: cfa=sp+16 ra=[cfa-8] fp=[cfa-16] mangled
#: at_4_early: cfa=sp+0 ra=same fp=same
#: at_5_go_on: cfa=sp+16 ra=[cfa-8] fp=[cfa-16] mangled
#: at_6_plain: cfa=sp+0 ra=same fp=same
#: at_7_key_b: cfa=sp+0 ra=same fp=same mangled key-b
	.text
	.cfi_startproc
at_1_entry:
	hint 25				// paciasp
	.cfi_negate_ra_state
at_2_signed:
	stp x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
at_3_saved:
	cbz x0, 1f
	.cfi_remember_state
	ldp x29, x30, [sp], 16
	hint 29				// autiasp
	.cfi_restore 30
	.cfi_restore 29
	.cfi_def_cfa_offset 0
	.cfi_negate_ra_state
at_4_early:
	ret
1:
	.cfi_restore_state
at_5_go_on:
	ldp x29, x30, [sp], 16
	hint 29
	.cfi_restore 30
	.cfi_restore 29
	.cfi_def_cfa_offset 0
	.cfi_negate_ra_state
at_6_plain:
	ret
	.cfi_endproc
	.cfi_startproc
	.cfi_b_key_frame
	hint 27				// pacibsp
	.cfi_negate_ra_state
at_7_key_b:
	hint 31				// autibsp
	.cfi_negate_ra_state
	ret
	.cfi_endproc
