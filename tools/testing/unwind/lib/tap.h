/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Results in the Test Anything Protocol.
 *
 * A case begins with tap_begin(), ends where the next one begins, and becomes one line "ok" or
 * "not ok"; a failed check inside it prints its reason on a line before.
 */
#ifndef _UNWIND_TEST_TAP_H
#define _UNWIND_TEST_TAP_H

#include <linux/compiler.h>
#include <stdbool.h>

void __printf(1, 2) tap_begin(const char *fmt, ...);
void __printf(1, 2) tap_skip(const char *fmt, ...);
void __printf(1, 2) tap_fail(const char *fmt, ...);

/* End the program with the first case that fails */
void tap_stop_at_failure(void);

/* Print the plan; return the exit status of the program */
int tap_finish(void);

void tap_check_eq(long long got, long long want, const char *what,
		  const char *file, int line);

#define CHECK_EQ(got, want) \
	tap_check_eq((long long)(got), (long long)(want), #got, __FILE__, __LINE__)

#endif /* _UNWIND_TEST_TAP_H */
