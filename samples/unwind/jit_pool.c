// SPDX-License-Identifier: GPL-2.0
/*
 * Windows that are used in turn, see jit_pool.h.
 *
 * There is one race: a runner has read the epoch, but not stored it yet, when the
 * compiling thread checks which runners are inside.  So the runner reads the epoch again
 * after it has stored it, and starts over if it has changed.  Both sides store first and
 * load then, in one order for all (the default of C's atomics): either the runner sees
 * the new epoch, or the compiling thread sees the runner.
 */
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>

#include "jit_pool.h"

static void *map(size_t size, int prot)
{
	return mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int jit_pool_init(struct jit_pool *pool, unsigned int runners,
		  size_t code_size, size_t table_size, bool sorted)
{
	unsigned int i;

	if (runners > JIT_RUNNERS_MAX) {
		errno = EINVAL;
		return -1;
	}
	*pool = (struct jit_pool){ .runners = runners };
	for (i = 0; i < JIT_WINDOWS; i++) {
		void *code = map(code_size, PROT_READ | PROT_WRITE | PROT_EXEC);
		void *table = map(table_size, PROT_READ | PROT_WRITE);

		if (code == MAP_FAILED || table == MAP_FAILED ||
		    jit_window_init(&pool->win[i], code, code_size, table,
				    table_size, sorted))
			return -1;
	}
	return 0;
}

/* Registered ranges go with the memory */
void jit_pool_free(struct jit_pool *pool)
{
	unsigned int i;

	for (i = 0; i < JIT_WINDOWS; i++) {
		if (!pool->win[i].table)
			continue;
		munmap(pool->win[i].code, pool->win[i].code_size);
		munmap(pool->win[i].table, pool->win[i].table_size);
	}
}

/* Is a runner in the epoch, or an older one? */
static bool in_use(struct jit_pool *pool, unsigned long epoch)
{
	unsigned long inside;
	unsigned int i;

	for (i = 0; i < pool->runners; i++) {
		inside = atomic_load(&pool->inside[i]);
		if (inside && inside <= epoch)
			return true;
	}
	return false;
}

struct jit_window *jit_pool_begin(struct jit_pool *pool)
{
	unsigned long next = atomic_load(&pool->epoch) + 1;
	struct jit_window *win = &pool->win[next % JIT_WINDOWS];

	while (next > JIT_WINDOWS && in_use(pool, next - JIT_WINDOWS))
		sched_yield();
	if (jit_window_retire(win) || jit_window_register(win))
		return NULL;
	return win;
}

void jit_pool_publish(struct jit_pool *pool)
{
	atomic_fetch_add(&pool->epoch, 1);
}

unsigned int jit_pool_enter(struct jit_pool *pool, unsigned int i)
{
	unsigned long epoch;

	do {
		epoch = atomic_load(&pool->epoch);
		atomic_store(&pool->inside[i], epoch);
	} while (atomic_load(&pool->epoch) != epoch);
	return epoch % JIT_WINDOWS;
}

void jit_pool_leave(struct jit_pool *pool, unsigned int i)
{
	atomic_store(&pool->inside[i], 0);
}
