/* SPDX-License-Identifier: GPL-2.0 */
/* Nobody else waits for the processor, and nobody kills the test. */
#ifndef _UNWIND_TEST_SCHED_H
#define _UNWIND_TEST_SCHED_H

#include <stdbool.h>
#include <stddef.h>

#define cond_resched()			((void)0)

static inline bool fatal_signal_pending(const void *task)
{
	return false;
}

#define current				NULL

#endif /* _UNWIND_TEST_SCHED_H */
