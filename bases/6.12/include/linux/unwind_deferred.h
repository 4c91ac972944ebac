/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred user stacks, for clients: unwind_deferred_init() registers a client,
 * unwind_deferred_request() asks for a stack in any context and returns a cookie at
 * once, and the client's callback gets the stack and the same cookie before the task
 * returns to user space.  Fork, exec, exit and the exit path call the other functions.
 * The implementation is kernel/unwind/deferred.c.
 */
#ifndef _LINUX_UNWIND_DEFERRED_H
#define _LINUX_UNWIND_DEFERRED_H

#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/unwind_deferred_types.h>
#include <linux/unwind_user.h>

struct task_struct;

#ifdef CONFIG_UNWIND_USER

/*
 * The thread flag is set while a task has state that ends with its entry into the
 * kernel.  The exit path tests it together with flags that it has loaded anyway, so a
 * task without such state pays nothing.
 */
#define UNWIND_EXIT_WORK	_TIF_UNWIND

void unwind_task_init(struct task_struct *task);
void unwind_task_free(struct task_struct *task);

int unwind_deferred_init(struct unwind_work *work, unwind_callback_t func);
int unwind_deferred_request(struct unwind_work *work, u64 *cookie);
void unwind_deferred_cancel(struct unwind_work *work);
struct unwind_chain_stack *unwind_deferred_chains(void);

void unwind_deferred_task_exit(struct task_struct *task);
void unwind_deferred_exec(void);
void unwind_reset_info(void);

/**
 * unwind_task_work - the current task's work is about to run, or has run
 * @leaves: whether it runs on the way back to user space, with nothing left to do there
 *
 * Context: task.
 */
static inline void unwind_task_work(bool leaves)
{
	current->unwind_info.leaves = leaves;
}

#else

#define UNWIND_EXIT_WORK	0

static inline void unwind_task_init(struct task_struct *task) { }
static inline void unwind_task_free(struct task_struct *task) { }

static inline int unwind_deferred_init(struct unwind_work *work,
				       unwind_callback_t func)
{
	return -EOPNOTSUPP;
}

static inline int unwind_deferred_request(struct unwind_work *work, u64 *cookie)
{
	return -EOPNOTSUPP;
}

static inline void unwind_deferred_cancel(struct unwind_work *work) { }

static inline struct unwind_chain_stack *unwind_deferred_chains(void)
{
	return NULL;
}

static inline void unwind_deferred_task_exit(struct task_struct *task) { }
static inline void unwind_deferred_exec(void) { }
static inline void unwind_reset_info(void) { }
static inline void unwind_task_work(bool leaves) { }

#endif /* CONFIG_UNWIND_USER */

#endif /* _LINUX_UNWIND_DEFERRED_H */
