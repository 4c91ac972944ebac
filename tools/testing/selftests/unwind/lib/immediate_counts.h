/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Immediate stacks: the sysctl, and the kernel's counts of their results.
 */
#ifndef SELFTEST_UNWIND_IMMEDIATE_COUNTS_H
#define SELFTEST_UNWIND_IMMEDIATE_COUNTS_H

#include <stdbool.h>

#define IMMEDIATE_SYSCTL	"/proc/sys/kernel/unwind_immediate"

enum count {
	TAKEN,
	NO_TABLE,
	MISSING,
	CHANGING,
	UPROBE,
	SIGRETURN,
	ASKED,
	NR_COUNTS
};

/* The kernel's count of each result so far; -1 where there are no counts */
void read_counts(long counts[NR_COUNTS]);

/* Does the kernel unwind by tables, but lack all of this? */
bool immediate_missing(void);

/* -1 on failure */
long read_number(const char *path);
int write_text(const char *path, const char *text);

#endif /* SELFTEST_UNWIND_IMMEDIATE_COUNTS_H */
