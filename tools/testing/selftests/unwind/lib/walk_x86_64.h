/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A signal at every instruction: code that is stepped through, and its stacks.
 *
 * The trap flag has the kernel send SIGTRAP after each instruction. The handler
 * knows the stack of what was interrupted, as it has seen each call and return:
 * a call leaves an address right behind itself at the new top of the stack; a
 * return address is gone once the stack pointer lies above it.
 */
#ifndef SELFTEST_UNWIND_WALK_H
#define SELFTEST_UNWIND_WALK_H

#include "sampled.h"

/*
 * Called from the handler. @stack: what was interrupted, whole; @handler: where
 * the visitor's caller, the handler, returns to.
 */
typedef void (*walk_visit)(const struct stack *stack, unsigned long handler);

/*
 * Call @fn as whole_call() does, and @visit at each of its instructions, and
 * those of what it calls. @restorer: where the handler returns to, or NULL: to
 * libc. Return 0, or -1 with errno.
 */
int walk(void (*fn)(void *arg), void *arg, void (*restorer)(void),
	 walk_visit visit);

/* Install a handler that returns to @restorer, or, if NULL, to libc; 0 or -1 */
int walk_handler(int sig, void *handler, unsigned long flags,
		 void (*restorer)(void));
/* Where the handler of a signal returns to */
unsigned long walk_restorer(int sig);

#endif /* SELFTEST_UNWIND_WALK_H */
