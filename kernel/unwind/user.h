/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The iterator's state, and its parts: user.c goes from frame to frame, walk.c is its
 * short cut, in_place.c uses both where nothing may fault.
 */
#ifndef _KERNEL_UNWIND_USER_H
#define _KERNEL_UNWIND_USER_H

#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/unwind_user_types.h>
#include <asm/unwind_user.h>

#include "rows.h"
#include "tables.h"

/**
 * struct unwind_user_state - where an unwind is
 * @regs: registers with which the program entered the kernel
 * @saved_regs: address of the registers that a signal saved, where the current
 *	frame is what it interrupted; else 0
 * @ip: the current frame's instruction pointer, or its return address
 * @sp: its stack pointer
 * @fp: its frame pointer
 * @table: what described the last address, which most often is described by the
 *	same table as the next
 * @rows: the rows that are kept for the address space; NULL while it has no tables
 * @access: how user memory may be read; becomes UNWIND_USER_NOFAULT in a task that is
 *	killed (see unwind_user_resched()), with faults as they were
 * @method: how the current frame was found
 * @stop: why there is no next frame
 * @word_size: 8 or 4 bytes; 0: frames of this program cannot be found
 * @looked: entries and rows of tables that were looked at so far, and what else a
 *	lookup reads, in such
 * @looked_max: after so many, rows that are not kept are not looked up in walk.c;
 *	0: no limit
 * @task: the unwind runs in task context, even where it may not fault
 * @unsure: something was not known or not readable that could be where faulting
 *	is allowed, so that the stack might then be another
 * @known_only: tables that are not known are not looked for, whatever @access says
 * @no_rows: room for rows to keep was asked for, and could not be had
 * @probed: uprobes may have changed the stack
 * @topmost: @ip, @sp and @fp are from @regs
 * @exact_ip: @ip is an instruction that was interrupted, not one after a call
 * @sp_is_bound: the stack pointer is not known, only that it is @sp or further out
 * @by_table: a table has led on from a frame
 */
struct unwind_user_state {
	struct pt_regs			*regs;
	unsigned long			saved_regs;
	unsigned long			ip;
	unsigned long			sp;
	unsigned long			fp;
	struct unwind_table		table;
	struct unwind_rows		*rows;
	enum unwind_user_access		access;
	enum unwind_user_method		method;
	enum unwind_user_stop		stop;
	unsigned int			word_size;
	u32				looked;
	u32				looked_max;
	bool				task;
	bool				unsure;
	bool				known_only;
	bool				no_rows;
	bool				probed;
	bool				topmost;
	bool				exact_ip;
	bool				sp_is_bound;
	bool				by_table;
};

int unwind_user_start(struct unwind_user_state *state, struct pt_regs *regs,
		      enum unwind_user_access access);
void unwind_user_correct_cfa(struct unwind_row *row);
int unwind_user_next(struct unwind_user_state *state);
unsigned int unwind_user_next_frames(struct unwind_user_state *state,
				     unsigned long *ips, unsigned int room);
void unwind_user_frames(struct unwind_user_state *state,
			struct unwind_stacktrace *trace, unsigned int max);

unsigned int unwind_user_walk(struct unwind_user_state *state,
			      struct unwind_kept_row *row, unsigned long *ips,
			      unsigned int room);

/**
 * unwind_user_has_stack - is there a user stack that a task will return to?
 * @task: the task
 *
 * Context: any.
 * Return: whether there is; a task that exits still has it until its mm is gone.
 */
static inline bool unwind_user_has_stack(const struct task_struct *task)
{
	/* The task itself may be changing others of its flags */
	const unsigned int flags = data_race(task->flags);

	return task->mm && !(flags & (PF_KTHREAD | PF_USER_WORKER));
}

/* What a lookup reads beside entries and rows (see sframe.c), as so many of these */
#define UNWIND_LOOKUP_LOOKED	29

/* What a killed task may look at in tables: about as much as for one bad frame */
#define UNWIND_KILLED_LOOKED	65536

/**
 * unwind_user_resched - before work that may be long
 * @state: where the unwind is
 *
 * A killed task still gets its last stack.  It does not wait for pages to be read
 * (page faults of killed tasks fail then), nor can it read the file in which a table
 * is to be found, so that those must be known; and it looks at so much only.  Beyond
 * that, the bounds are those of a context that cannot wait.
 */
static inline void unwind_user_resched(struct unwind_user_state *state)
{
	if (state->access != UNWIND_USER_FAULTABLE)
		return;
	cond_resched();
	if (fatal_signal_pending(current) && state->looked > UNWIND_KILLED_LOOKED)
		state->access = UNWIND_USER_NOFAULT;
}

/**
 * unwind_user_table_access - may a table that is not known be looked for?
 * @state: where the unwind is
 *
 * Return: as what unwind_table_lookup() is to take it.
 */
static inline enum unwind_user_access
unwind_user_table_access(const struct unwind_user_state *state)
{
	return state->known_only ? UNWIND_USER_NOFAULT : state->access;
}

/**
 * unwind_user_lookup_ip - the address whose row describes the current frame
 * @state: where the unwind is
 *
 * Return: that of an instruction: of the call, where a call led on from the frame.
 */
static inline unsigned long
unwind_user_lookup_ip(const struct unwind_user_state *state)
{
	return state->exact_ip ? state->ip : state->ip - 1;
}

/**
 * unwind_user_find_row - look an address up in the table that the unwind has
 * @state: where the unwind is; its table is one of SFrame, and covers @ip
 * @ip: the address
 * @row: filled in; of @row->looked and the rest as sframe_find_row() does
 *
 * Context: as unwind_user_start().
 * Return: as sframe_find_row().
 */
static inline int unwind_user_find_row(struct unwind_user_state *state,
				       unsigned long ip, struct unwind_row *row)
{
	int ret;

	if (!IS_ENABLED(CONFIG_UNWIND_USER_SFRAME))
		return -ENOENT;

	ret = sframe_find_row(&state->table.sframe, ip, state->access, row);
	state->looked += row->looked + UNWIND_LOOKUP_LOOKED;
	if (!ret && UNWIND_USER_LINK_REG >= 0)
		unwind_user_correct_cfa(row);
	return ret;
}

#endif /* _KERNEL_UNWIND_USER_H */
