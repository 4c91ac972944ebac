/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state and the parts of the frame loop: user.c has the loop, walk.c a fast path for
 * ordinary frames.  in_place.c uses both where faults are not allowed.
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
 * struct unwind_user_state - the current frame of an unwind
 * @regs: registers with which the program entered the kernel
 * @saved_regs: address of the registers that a signal saved, if the signal interrupted
 *	the current frame; else 0
 * @ip: the current frame's instruction pointer, or its return address
 * @sp: its stack pointer
 * @fp: its frame pointer
 * @table: the table of the last address; the next address is mostly in it, too
 * @rows: the cached rules of the address space; NULL while it has no tables
 * @access: how user memory may be read; becomes UNWIND_USER_NOFAULT in a killed task
 *	(see unwind_user_resched()), though page faults stay enabled
 * @method: how the current frame was found
 * @stop: why there is no next frame
 * @word_size: 8 or 4 bytes; 0: frames of this program cannot be found
 * @looked: the work so far: FDEs, FREs and instructions that were visited; other reads
 *	of a lookup count as UNWIND_LOOKUP_LOOKED of them
 * @looked_max: once @looked exceeds this, walk.c uses cached rules only; 0: no limit
 * @task: the unwind runs in task context, even if it may not fault
 * @unsure: something was unknown or unreadable that may not be so with faults, which
 *	could then give another stack
 * @known_only: use known tables only, whatever @access allows
 * @no_rows: the cache of rules could not be allocated
 * @probed: uprobes may have changed the stack
 * @topmost: @ip, @sp and @fp are from @regs
 * @exact_ip: @ip is an interrupted instruction, not the one after a call
 * @sp_is_bound: the stack pointer is not known; it is @sp or further out
 * @by_table: a table has described at least one frame
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
 * unwind_user_has_stack - does the task have a user stack to return to?
 * @task: the task
 *
 * Context: any.
 * Return: whether it has; an exiting task has one until its mm is gone.
 */
static inline bool unwind_user_has_stack(const struct task_struct *task)
{
	/* The task may be changing its other flags at this moment */
	const unsigned int flags = data_race(task->flags);

	return task->mm && !(flags & (PF_KTHREAD | PF_USER_WORKER));
}

/* Reads of a lookup other than FDEs and FREs (see sframe.c), counted as this many of them */
#define UNWIND_LOOKUP_LOOKED	29

/* Work that a killed task may spend on tables: about as much as for one bad frame */
#define UNWIND_KILLED_LOOKED	65536

/**
 * unwind_user_resched - reschedule before work that may be long
 * @state: the current frame
 *
 * A killed task still gets its last stack.  It does not wait for pages (page faults of
 * killed tasks fail), and cannot read a file to find its table, so it uses known tables
 * only.  Its work is limited: beyond UNWIND_KILLED_LOOKED, it gets the bounds of a
 * context that cannot sleep.
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
 * unwind_user_table_access - may the kernel look for unknown tables?
 * @state: the current frame
 *
 * Return: the access mode to pass to unwind_table_lookup().
 */
static inline enum unwind_user_access
unwind_user_table_access(const struct unwind_user_state *state)
{
	return state->known_only ? UNWIND_USER_NOFAULT : state->access;
}

/**
 * unwind_user_lookup_ip - the address whose rule describes the current frame
 * @state: the current frame
 *
 * Return: an address within the instruction: within the call, unless the frame was
 * interrupted.
 */
static inline unsigned long
unwind_user_lookup_ip(const struct unwind_user_state *state)
{
	return state->exact_ip ? state->ip : state->ip - 1;
}

/**
 * unwind_user_find_row - find the rule of an address in the unwind's current table
 * @state: the current frame; its table is of format SFrame, and covers @ip
 * @ip: the address
 * @row: filled in as by sframe_find_row()
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
