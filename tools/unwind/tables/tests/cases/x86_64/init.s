/* SPDX-License-Identifier: GPL-2.0 */
# .init and .fini have no CFI, and are known by their shape, up to an unknown instruction or
# a stack pointer that is somewhere else.
#
#! ld --eh-frame-hdr
#: at_01_called: cfa=sp+8 ra=[cfa-8] fp=same
#: at_02_moved: cfa=sp+16 ra=[cfa-8] fp=same
#: at_03_call: cfa=sp+16 ra=[cfa-8] fp=same
#: at_04_back: cfa=sp+8 ra=[cfa-8] fp=same
#: at_05_unknown: none
#: at_06_after: none
#: at_07_fini: cfa=sp+8 ra=[cfa-8] fp=same
#: at_08_moved: cfa=sp+16 ra=[cfa-8] fp=same
#: at_09_twice: none
#: note: +0, 2 bytes: no entry describes this code
#: note: +0, 1 bytes: no entry describes this code
	.text
	.globl f
f:
	ret
	.section .init, "ax", @progbits
at_01_called:
	endbr64
	sub $8, %rsp
at_02_moved:
	mov 0(%rip), %rax
	test %rax, %rax
	je 1f
	call *%rax
1:	call f
at_03_call:
	add $8, %rsp
at_04_back:
	ret
at_05_unknown:
	push %rbx
at_06_after:
	ret
	.section .fini, "ax", @progbits
at_07_fini:
	sub $8, %rsp
at_08_moved:
	call f
	sub $8, %rsp
at_09_twice:
	ret
