/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random stacks: chains with tables, with frame pointers, and with both, in any order,
 * over a program that keeps frame pointers.
 */
#ifndef SELFTEST_UNWIND_RANDOM_CHAINS_H
#define SELFTEST_UNWIND_RANDOM_CHAINS_H

#include <stdbool.h>

#include "chain.h"

/* Map them; 0 or -1 */
int random_chains_load(void);

/* Call up to four of them, then @last. Does the stack pass one of them only by its table? */
bool random_chains_call(chain_fn last);

#endif /* SELFTEST_UNWIND_RANDOM_CHAINS_H */
