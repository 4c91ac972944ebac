/* SPDX-License-Identifier: GPL-2.0 */
/* The amount of work that profiled.c does and profile_test.c expects */
#ifndef SELFTEST_UNWIND_PROFILED_H
#define SELFTEST_UNWIND_PROFILED_H

#define ROUNDS	40
#define NAP_US	10000
/* A few samples on a fast machine; on a slow one, what the profiler has room for */
#define SPINS	5000000
/* Without a nap in between */
#define LAST_SPINS	(3 * ROUNDS)

#endif /* SELFTEST_UNWIND_PROFILED_H */
