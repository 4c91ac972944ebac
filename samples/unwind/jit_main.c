// SPDX-License-Identifier: GPL-2.0
/*
 * A JIT whose stacks the kernel can unwind: the steps that a runtime has to take.
 *
 *	perf record -g ... jit [seconds]
 *
 * The main thread compiles chains of functions, one function after another,
 * into windows that it uses in turn.  Other threads run the newest function of
 * the current window, which calls the one before it, and so on.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jit_pool.h"

#define RUNNERS		2
#define FUNCS		12
#define ROUNDS		200
#define CODE_SIZE	(64 * 1024)
#define TABLE_SIZE	(64 * 1024)

typedef void (*jit_fn)(void *arg);

static struct jit_pool pool;
/* The newest function of each window */
static _Atomic(jit_fn) newest[JIT_WINDOWS];
static atomic_ulong calls;
static atomic_bool stop;

/* The innermost function calls this */
static void work(void *arg)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		syscall(SYS_getppid);
}

static void *runner(void *arg)
{
	unsigned int i = (uintptr_t)arg, win;

	while (!atomic_load(&stop)) {
		win = jit_pool_enter(&pool, i);
		atomic_load(&newest[win])(NULL);
		jit_pool_leave(&pool, i);
		atomic_fetch_add(&calls, 1);
	}
	return NULL;
}

/* Compile one more function, in the window that runners are in or will be in next */
static int compile(struct jit_window *win, const void *callee)
{
	struct jit_func func = {
		.callee = callee,
		.locals = 16 + 16 * (rand() % 64),
		.work = rand() % 256,
	};
	struct jit_entry entry;

	if (jit_add(win, &func, &entry) < 0)
		return -1;
	atomic_store(&newest[win - pool.win], (jit_fn)(uintptr_t)entry.code);
	return 0;
}

static int compile_window(void)
{
	struct jit_window *win = jit_pool_begin(&pool);
	unsigned int i;

	if (!win || compile(win, work))
		return -1;
	jit_pool_publish(&pool);
	for (i = 1; i < FUNCS; i++)
		if (compile(win, atomic_load(&newest[win - pool.win])))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
	unsigned long i, windows = 0;
	pthread_t thread[RUNNERS];

	if (jit_pool_init(&pool, RUNNERS, CODE_SIZE, TABLE_SIZE, true) ||
	    compile_window()) {
		perror("jit");
		return 1;
	}
	for (i = 0; i < RUNNERS; i++)
		if (pthread_create(&thread[i], NULL, runner, (void *)i))
			return 1;
	for (; time(NULL) < end; windows++) {
		if (compile_window()) {
			perror("jit");
			return 1;
		}
	}
	atomic_store(&stop, true);
	for (i = 0; i < RUNNERS; i++)
		pthread_join(thread[i], NULL);
	jit_pool_free(&pool);
	printf("%lu windows, %lu calls of %u functions each\n", windows,
	       atomic_load(&calls), FUNCS);
	return 0;
}
