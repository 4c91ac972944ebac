/* SPDX-License-Identifier: GPL-2.0 */
# A signal's trampoline, as the C library describes it: all registers are in the signal
# frame, and the caller was interrupted.
#
#: at_1_restorer: cfa=[sp+160] ra=[sp+168] fp=[sp+120] signal
	.text
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6	# CFA: *(rsp + 160)
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0	# rbp: at rsp + 120
	.cfi_escape 0x10, 7, 3, 0x77, 0xa0, 1	# rsp: at rsp + 160
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1	# return address: at rsp + 168
	nop
at_1_restorer:
	mov $15, %rax
	syscall
	.cfi_endproc
