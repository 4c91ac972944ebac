/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows of a JIT that are used in turn, by epochs.
 *
 * One thread compiles, others run the compiled code.  In each epoch one window is
 * current.  A runner stores the epoch in which it begins, and clears it at the end.  When
 * no runner is left in the epoch of the oldest window, its code is on no stack: the
 * window can be retired and used again, for other functions.
 */
#ifndef SAMPLES_UNWIND_JIT_POOL_H
#define SAMPLES_UNWIND_JIT_POOL_H

#include <stdatomic.h>

#include "jit.h"

#define JIT_WINDOWS	3
#define JIT_RUNNERS_MAX	16

/**
 * struct jit_pool - windows and the runners in them
 * @epoch: the current one, from 1 on; its window is @win[@epoch % JIT_WINDOWS]
 * @inside: for each runner, the epoch that it is in, or 0
 * @runners: number of runners
 * @win: the windows
 */
struct jit_pool {
	atomic_ulong		epoch;
	atomic_ulong		inside[JIT_RUNNERS_MAX];
	unsigned int		runners;
	struct jit_window	win[JIT_WINDOWS];
};

/*
 * Make the windows; 0 or -1 and errno.  Before runners may enter, the caller begins and
 * publishes the first one.
 */
int jit_pool_init(struct jit_pool *pool, unsigned int runners,
		  size_t code_size, size_t table_size, bool sorted);
void jit_pool_free(struct jit_pool *pool);

/*
 * Begin the next epoch's window, once no runner is in it any more: it is empty and
 * registered.  NULL and errno on failure.
 */
struct jit_window *jit_pool_begin(struct jit_pool *pool);
/* Publish that window: from now on, runners enter it */
void jit_pool_publish(struct jit_pool *pool);

/*
 * Runner @i (below the number of runners) enters the current window; returns its index.
 * Until the runner leaves, the window does not change, except that it may grow.
 */
unsigned int jit_pool_enter(struct jit_pool *pool, unsigned int i);
void jit_pool_leave(struct jit_pool *pool, unsigned int i);

#endif /* SAMPLES_UNWIND_JIT_POOL_H */
