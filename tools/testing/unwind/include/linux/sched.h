/* SPDX-License-Identifier: GPL-2.0 */
/* Nobody else waits for the processor, and nobody kills the test. */
#ifndef _UNWIND_TEST_SCHED_H
#define _UNWIND_TEST_SCHED_H

#define cond_resched()			((void)0)
#define fatal_signal_pending(task)	false

#endif /* _UNWIND_TEST_SCHED_H */
