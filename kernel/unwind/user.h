/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_UNWIND_USER_H
#define _KERNEL_UNWIND_USER_H

#include <linux/ptrace.h>
#include <linux/unwind_user_types.h>

#include "tables.h"

/**
 * struct unwind_user_state - where an unwind is
 * @regs: registers with which the program entered the kernel
 * @ip: the current frame's instruction pointer, or its return address
 * @sp: its stack pointer
 * @fp: its frame pointer
 * @table: what described the last address, which most often is described by the
 *	same table as the next
 * @access: how user memory may be read
 * @method: how the current frame was found
 * @stop: why there is no next frame
 * @word_size: 8 or 4 bytes
 * @topmost: @ip, @sp and @fp are from @regs
 * @exact_ip: @ip is an instruction that was interrupted, not one after a call
 */
struct unwind_user_state {
	struct pt_regs			*regs;
	unsigned long			ip;
	unsigned long			sp;
	unsigned long			fp;
	struct unwind_table		table;
	enum unwind_user_access		access;
	enum unwind_user_method		method;
	enum unwind_user_stop		stop;
	unsigned int			word_size;
	bool				topmost;
	bool				exact_ip;
};

int unwind_user_start(struct unwind_user_state *state, struct pt_regs *regs,
		      enum unwind_user_access access);
int unwind_user_next(struct unwind_user_state *state);
void unwind_user_frames(struct unwind_user_state *state,
			struct unwind_stacktrace *trace, unsigned int max);

#endif /* _KERNEL_UNWIND_USER_H */
