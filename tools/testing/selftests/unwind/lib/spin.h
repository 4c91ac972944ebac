/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that spends its time at the end of a chain (see chain.h): it computes and
 * makes system calls, between two known addresses. Wherever a sample hits it, all
 * addresses of its stack but the first are known.
 */
#ifndef SELFTEST_UNWIND_SPIN_H
#define SELFTEST_UNWIND_SPIN_H

#include <stdbool.h>

#include "chain.h"

/*
 * Spin until killed. @notes lies in memory that is shared with the reader of the stack:
 * it is complete when its nr_next is not 0. Returns only on failure.
 */
void spin_in_chain(struct notes *notes);

/* Is this address in the loop? */
bool spin_has(unsigned long ip);

#endif /* SELFTEST_UNWIND_SPIN_H */
