/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stacks at one instruction, by hardware breakpoints.
 */
#ifndef SELFTEST_UNWIND_BREAKPOINT_H
#define SELFTEST_UNWIND_BREAKPOINT_H

#include <stdbool.h>

#include "sampled.h"

bool breakpoints_work(void);

/*
 * Sample the first hit of a breakpoint while @fn runs; 0, or -1 with errno. Without a hit
 * the stack is empty.
 */
int sample_at(unsigned long ip, void (*fn)(void), struct stack *stack);

#endif /* SELFTEST_UNWIND_BREAKPOINT_H */
