/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations and copies that fail: the kernel's fault injection.
 *
 * A fault is confined twice: to the calls below one kernel function, by the filter for
 * stack traces, and to one thread, by its count (fail-nth).  The nth allocation there fails,
 * and nothing else in the system does.  So a test can let each fail in turn until none is
 * left.  A kernel worker has no such count.  For workers, all allocations below the function
 * fail, up to a number of times: faults_all().  With both, the nth fails and all after it,
 * because a single failure often only leads to another attempt.
 *
 * Faults belong to the system, and processes that use them take turns.
 */
#ifndef SELFTEST_UNWIND_FAULTS_H
#define SELFTEST_UNWIND_FAULTS_H

#include <stdbool.h>

enum faults {
	FAULTS_MEMORY,	/* failslab and fail_page_alloc */
	FAULTS_COPIES,	/* fail_usercopy */
	FAULTS
};

/* Return NULL, or the reason why there are no faults */
const char *faults_init(void);
/* As before, for others */
void faults_end(void);

/*
 * Confine faults to the calls below a function; 0, or -1 if there is no such function.  If the
 * compiler may inline the function, its callers' names follow: the first one that exists is
 * used.
 */
int faults_below(enum faults what, const char *functions);

/* Let the calling thread's nth allocation or copy there fail; 0 or -1 */
int faults_arm(unsigned int nth);
/* Let no more fail; 1 if one has failed, 0 if there were fewer than n, or -1 */
int faults_disarm(void);

/* Let all allocations there fail, of the calling thread or of any, for a number of times */
int faults_all(bool any, unsigned int times);
/* How many have failed since; -1 if that is not known */
int faults_so_far(void);
/* Let no more fail */
int faults_none(void);

#endif /* SELFTEST_UNWIND_FAULTS_H */
