/* SPDX-License-Identifier: GPL-2.0 */
/* Nobody else waits for the processor.  A test says when the task is killed: see lib/task.c. */
#ifndef _UNWIND_TEST_SCHED_H
#define _UNWIND_TEST_SCHED_H

#include <stdbool.h>
#include <stddef.h>

#define cond_resched()	((void)0)
#define current		NULL

/* How often it was asked, and the question from which on the answer is yes; 0: never */
extern unsigned long task_asked, task_killed_at;

bool fatal_signal_pending(const void *task);

#endif /* _UNWIND_TEST_SCHED_H */
