/* SPDX-License-Identifier: GPL-2.0 */
/* The state of clients and tasks for deferred user stacks: kernel/unwind/deferred.c. */
#ifndef _LINUX_UNWIND_DEFERRED_TYPES_H
#define _LINUX_UNWIND_DEFERRED_TYPES_H

#include <linux/atomic.h>
#include <linux/types.h>

struct unwind_cache;
struct unwind_self;
struct unwind_stacktrace;
struct unwind_work;

/**
 * struct unwind_task_info - a task's state for deferred unwinds
 * @requests: one bit per client that asked for the stack that @cookie names,
 *	and the state bits of kernel/unwind/deferred.c.  Changed from any
 *	context of the task itself, and by a client's cancellation
 * @done: one bit per client that the task work has taken, to call it with @cookie.
 *	Cancelling the client clears its bit and thereby forbids the call
 * @cookie: names the stack; valid while @requests has UNWIND_NAMED
 * @expires: a request after this time, in jiffies, gets a new cookie, unless the
 *	task work is queued
 * @cache: this entry's stack, while there is one
 * @self: for a thread that finds its own frames; NULL for all others
 * @work: unwinds on the task's way back to user space
 * @leaves: task work runs, with nothing to do after it but to return to user space
 */
struct unwind_task_info {
	atomic_long_t		requests;
	atomic_long_t		done;
	atomic64_t		cookie;
	unsigned long		expires;
	struct unwind_cache	*cache;
	struct unwind_self	*self;
	struct callback_head	work;
	bool			leaves;
};

/**
 * typedef unwind_callback_t - a client's function for a finished unwind
 * @work: the client
 * @trace: the user stack; empty if it could not be unwound
 * @cookie: the cookie that unwind_deferred_request() returned for this stack
 *
 * Called once for each cookie and each client that requested its stack.
 *
 * Context: the task with this stack, about to return to user space, to
 * exit or to exec; or later, if the task finds its own frames, in the system call with which
 * it reports them (kernel/unwind/self.c).  May sleep and may fault.  It must not cancel any
 * client.
 */
typedef void (*unwind_callback_t)(struct unwind_work *work,
				  struct unwind_stacktrace *trace, u64 cookie);

/**
 * struct unwind_work - a client of deferred unwinding
 * @func: called with each stack that this client asked for
 * @wants_chains: called before that, in the same context: whether the client wants the frames
 *	of languages, unwind_deferred_chains(); NULL if it never does
 * @bit: the client's bit in &struct unwind_task_info, -1 when not registered
 */
struct unwind_work {
	unwind_callback_t	func;
	bool			(*wants_chains)(struct unwind_work *work);
	int			bit;
};

#endif /* _LINUX_UNWIND_DEFERRED_TYPES_H */
