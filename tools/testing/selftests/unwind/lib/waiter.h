/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A child that waits in a system call, with a completely known stack.
 *
 * It sleeps three times, twice for its parent, then as the test wants. By the third sleep
 * its stack has been requested and its tables are known. That matters for a task that is
 * killed: its last stack is taken with the known tables only.
 *
 * Both are bound to one CPU: a child that the parent sees asleep has been switched away
 * from.
 */
#ifndef SELFTEST_UNWIND_WAITER_H
#define SELFTEST_UNWIND_WAITER_H

#include <stdint.h>
#include <sys/types.h>

#include "whole.h"

struct waiter_shared;

/* The system call in which the child finally waits */
struct waiter_call {
	long	nr;
	long	arg[4];
};

struct waiter {
	pid_t			pid;
	int			start[2];
	struct waiter_shared	*shared;
};

/* Called before the call is set up; 0 or -1 */
int waiter_init(struct waiter *waiter);
/* Wait for a futex; and wake the task that waits for it */
void waiter_futex_call(struct waiter *waiter, struct waiter_call *call);
void waiter_futex_wake(struct waiter *waiter);

/* Start the child, and keep it in its first sleep; 0 or -1 */
int waiter_start(struct waiter *waiter, const struct waiter_call *call);
/* Wait until it sleeps for the third time, with @state in /proc ('S' or 'D'); 0 or -1 */
int waiter_sleep(struct waiter *waiter, char state);
/* The stack of the third sleep */
void waiter_stack(const struct waiter *waiter, struct stack *expected);

/* The same, when a signal ends the sleep */
void waiter_taken_back(struct waiter *waiter);

/* Wait for its end; return waitpid()'s status, or -1 */
int waiter_end(struct waiter *waiter);
/* Kill the child if it is there, and free everything */
void waiter_free(struct waiter *waiter);

#endif /* SELFTEST_UNWIND_WAITER_H */
