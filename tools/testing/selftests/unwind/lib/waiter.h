/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A child that waits in a system call, from a stack that is known as a whole.
 *
 * It sleeps three times, twice for its parent, and then as the test wants. When it
 * returns from the second sleep, somebody has asked about it, and its tables are known
 * in the third: a task that is killed takes its last stack with what there is.
 *
 * Both are bound to one CPU: a child that the parent sees asleep has been switched
 * away from.
 */
#ifndef SELFTEST_UNWIND_WAITER_H
#define SELFTEST_UNWIND_WAITER_H

#include <stdint.h>
#include <sys/types.h>

#include "whole.h"

struct waiter_shared;

/* The system call in which it waits at last */
struct waiter_call {
	long	nr;
	long	arg[4];
};

struct waiter {
	pid_t			pid;
	int			start[2];
	struct waiter_shared	*shared;
};

/* Before the call is made up; 0 or -1 */
int waiter_init(struct waiter *waiter);
/* To wait for a futex; and to wake who waits for it */
void waiter_futex_call(struct waiter *waiter, struct waiter_call *call);
void waiter_futex_wake(struct waiter *waiter);

/* Start it, and see to it that it does not yet return from its first sleep; 0 or -1 */
int waiter_start(struct waiter *waiter, const struct waiter_call *call);
/* Until it sleeps for the third time, as @state in /proc says ('S' or 'D'); 0 or -1 */
int waiter_sleep(struct waiter *waiter, char state);
/* The stack with which it does */
void waiter_stack(const struct waiter *waiter, struct stack *expected);

/* The same, when a signal ends the sleep */
void waiter_taken_back(struct waiter *waiter);

/* Wait for its end; what waitpid() says of it, or -1 */
int waiter_end(struct waiter *waiter);
/* Whatever there is of it, and wherever it is */
void waiter_free(struct waiter *waiter);

#endif /* SELFTEST_UNWIND_WAITER_H */
