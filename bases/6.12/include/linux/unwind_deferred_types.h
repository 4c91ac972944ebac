/* SPDX-License-Identifier: GPL-2.0 */
/* What a client and a task know of deferred user stacks: kernel/unwind/deferred.c. */
#ifndef _LINUX_UNWIND_DEFERRED_TYPES_H
#define _LINUX_UNWIND_DEFERRED_TYPES_H

#include <linux/atomic.h>
#include <linux/types.h>

struct unwind_cache;
struct unwind_stacktrace;
struct unwind_work;

/**
 * struct unwind_task_info - what a task remembers about deferred unwinds
 * @requests: one bit per client that asked during this entry into the kernel,
 *	and the state bits of kernel/unwind/deferred.c.  Changed from any
 *	context of the task itself, and by a client's cancellation
 * @done: clients that were taken to be called in this entry; cleared by their
 *	cancellation, which so forbids the call
 * @cookie: the name of this entry; valid while @requests says so
 * @cache: buffer for the stack, allocated at the task's first unwind
 * @work: brings the task to the unwind on its way back to user space
 */
struct unwind_task_info {
	atomic_long_t		requests;
	atomic_long_t		done;
	atomic64_t		cookie;
	struct unwind_cache	*cache;
	struct callback_head	work;
};

/**
 * typedef unwind_callback_t - a client's function for a finished unwind
 * @work: the client
 * @trace: the user stack; empty when it could not be unwound
 * @cookie: what unwind_deferred_request() handed out for this stack
 *
 * Called once for each (client, cookie) that was asked for.
 *
 * Context: the task that was asked about, about to return to user space, to
 * exit or to exec; may sleep and may fault.  It must not cancel any client.
 */
typedef void (*unwind_callback_t)(struct unwind_work *work,
				  struct unwind_stacktrace *trace, u64 cookie);

/**
 * struct unwind_work - a client of deferred unwinding
 * @func: called with each stack that this client asked for
 * @bit: the client's bit in &struct unwind_task_info, -1 when not registered
 */
struct unwind_work {
	unwind_callback_t	func;
	int			bit;
};

#endif /* _LINUX_UNWIND_DEFERRED_TYPES_H */
