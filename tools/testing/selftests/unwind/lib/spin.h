/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that spends its time at the end of a chain (see chain.h), computing and
 * in system calls, between two known addresses: wherever it is hit, all of its
 * stack but the first address is known.
 */
#ifndef SELFTEST_UNWIND_SPIN_H
#define SELFTEST_UNWIND_SPIN_H

#include <stdbool.h>

#include "chain.h"

/*
 * Spin, until killed.  @notes lies in memory that is shared with who wants to know
 * the stack: it is complete when its nr_next is not 0.  Returns only if it fails.
 */
void spin_in_chain(struct notes *notes);

/* Is this where it spins? */
bool spin_has(unsigned long ip);

#endif /* SELFTEST_UNWIND_SPIN_H */
