/* SPDX-License-Identifier: GPL-2.0 */
# The PLT, which has no CFI: with and without BTI and signed pointers, and the entry for
# TLS descriptors.  Code of another shape has no row, nor has the code after it.
#
#: at_01_header: cfa=sp+0 ra=same fp=same
#: at_02_pushed: cfa=sp+16 ra=same fp=same
#: at_03_branch: cfa=sp+16 ra=same fp=same
#: at_04_nops: cfa=sp+0 ra=same fp=same
#: at_05_entry: cfa=sp+0 ra=same fp=same
#: at_06_entry_branch: cfa=sp+0 ra=same fp=same
#: at_07_bti: cfa=sp+0 ra=same fp=same
#: at_08_signed: cfa=sp+0 ra=same fp=same
#: at_09_tls: cfa=sp+0 ra=same fp=same
#: at_10_tls_pushed: cfa=sp+16 ra=same fp=same
#: at_11_tls_branch: cfa=sp+16 ra=same fp=same
#: at_12_other: none
#: at_13_entry_after: none
#: note: +0, 20 bytes: no entry describes this code
	.macro entry
	adrp x16, got
	ldr x17, [x16, 0x18]
	add x16, x16, 0x18
	.endm
	.section .plt, "ax", @progbits
	hint 34				// bti c
at_01_header:
	stp x16, x30, [sp, -16]!
at_02_pushed:
	entry
at_03_branch:
	br x17
at_04_nops:
	nop
	nop
at_05_entry:
	entry
at_06_entry_branch:
	br x17
at_07_bti:
	hint 34
	entry
at_08_signed:
	hint 12				// autia1716
	br x17
at_09_tls:
	stp x2, x3, [sp, -16]!
at_10_tls_pushed:
	adrp x2, got
	adrp x3, got
	ldr x2, [x2, 0x10]
	add x3, x3, 0x10
at_11_tls_branch:
	br x2
	nop
	nop
at_12_other:
	mov x0, x1
at_13_entry_after:
	entry
	br x17
	.data
got:
	.skip 64
