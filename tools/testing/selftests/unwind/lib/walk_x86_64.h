/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A signal at every instruction: the test steps through code, and checks its stacks.
 *
 * With the trap flag the kernel sends SIGTRAP after each instruction. The handler knows
 * the interrupted stack, because it has seen each call and return: a call leaves the
 * address of the next instruction at the new top of the stack; a return address is gone
 * once the stack pointer lies above it.
 */
#ifndef SELFTEST_UNWIND_WALK_H
#define SELFTEST_UNWIND_WALK_H

#include "sampled.h"

/*
 * Called from the handler. @stack: the whole interrupted stack; @handler: the return
 * address of the handler, which calls the visitor.
 */
typedef void (*walk_visit)(const struct stack *stack, unsigned long handler);

/*
 * Call @fn as whole_call() does, and @visit at each instruction of @fn and of its
 * callees. @restorer: the return address of the handler, or NULL for libc's. Return 0, or
 * -1 with errno.
 */
int walk(void (*fn)(void *arg), void *arg, void (*restorer)(void),
	 walk_visit visit);

/* Install a handler that returns to @restorer, or, if NULL, to libc; 0 or -1 */
int walk_handler(int sig, void *handler, unsigned long flags,
		 void (*restorer)(void));
/* Where the handler of a signal returns to */
unsigned long walk_restorer(int sig);

#endif /* SELFTEST_UNWIND_WALK_H */
