/* SPDX-License-Identifier: GPL-2.0 */
/* Frame records, for the unwinder that follows nothing else: kernel/unwind/user.c. */
#ifndef _ASM_UNWIND_USER_H
#define _ASM_UNWIND_USER_H

#include <asm/ptrace.h>

/* Arm and Thumb code have no frame record that both agree on */
static inline int unwind_user_word_size(struct pt_regs *regs)
{
	return compat_user_mode(regs) ? 0 : 8;
}

/* The frame pointer points at a record: the caller's frame pointer and the return address */
#define ARCH_INIT_USER_FP_FRAME(ws)			\
	.cfa_off	=  2 * (ws),			\
	.ra_off		= -1 * (ws),			\
	.fp_off		= -2 * (ws),			\
	.use_fp		= true,

#endif /* _ASM_UNWIND_USER_H */
