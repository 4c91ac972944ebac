/* SPDX-License-Identifier: GPL-2.0 */
/* Nobody else waits for the processor. */
#ifndef _UNWIND_TEST_SCHED_H
#define _UNWIND_TEST_SCHED_H

#define cond_resched()	((void)0)

#endif /* _UNWIND_TEST_SCHED_H */
