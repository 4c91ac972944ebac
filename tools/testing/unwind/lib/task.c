// SPDX-License-Identifier: GPL-2.0
/* A task that can be killed: see linux/sched.h in ../include. */
#include <linux/sched.h>

unsigned long task_asked;
unsigned long task_killed_at;

bool fatal_signal_pending(const void *task)
{
	(void)task;
	task_asked++;
	return task_killed_at && task_asked >= task_killed_at;
}
