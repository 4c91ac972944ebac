// SPDX-License-Identifier: GPL-2.0
/*
 * A JIT whose stacks the kernel can unwind: the steps that a runtime has to take.
 *
 *	perf record --call-graph sframe jit [SECONDS]
 *
 * The main thread compiles chains of functions, one function after another, into windows
 * that it uses in turn.  Other threads run the newest function of the current window.
 * Each function calls the one before it:
 *
 *	work() < jit_0 < jit_1 < ... < jit_11 < runner()
 *
 * perf takes the names of generated functions from /tmp/perf-PID.map.  A line of that file
 * is true from the process's start to its end.  So a function has the same place in each
 * chain: only its frame changes when its window is used again.  A JIT whose functions move
 * would write the times of its changes, too, as perf's jitdump format has them.
 *
 * A table describes the generated code and nothing else.  For a complete stack the program
 * and its C library need theirs: from a compiler with "-Wa,--gsframe", or from
 * "unwind-tables serve".
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jit_pool.h"

#define RUNNERS		2
#define FUNCS		12
#define ROUNDS		50000
#define SECONDS		10
#define CODE_SIZE	(64 * 1024)
#define TABLE_SIZE	(64 * 1024)

typedef void (*jit_fn)(void *arg);

static struct jit_pool pool;
/* The newest function of each window */
static _Atomic(jit_fn) newest[JIT_WINDOWS];
/* The map of names, and how many functions of each window it has */
static FILE *map;
static unsigned int named[JIT_WINDOWS];
static atomic_ulong calls;
static atomic_bool stop;

/* The innermost function calls this; it calls nothing */
static void work(void *arg)
{
	unsigned int i;

	/* The compiler takes the loop for real work */
	for (i = 0; i < ROUNDS; i++)
		asm volatile("" : "+r" (i));
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

/* A file of that name is another process's, which has ended */
static FILE *open_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	return fopen(path, "wx");
}

/* The name of a function that was not in this place before */
static int write_name(const struct jit_entry *entry, unsigned int i)
{
	fprintf(map, "%lx %x jit_%u\n", (unsigned long)(uintptr_t)entry->code,
		entry->size, i);
	return fflush(map);
}

/*
 * Compile function @i of a chain, in the window that runners are in or will be in next.
 * Its size depends on @i alone, which gives it the same place each time.
 */
static int compile(struct jit_window *win, unsigned int i, const void *callee)
{
	struct jit_func func = {
		.callee = callee,
		.locals = 16 + 16 * (rand() % 64),
		.work = 16 * (i % 8),
	};
	unsigned int w = win - pool.win;
	struct jit_entry entry;

	if (jit_add(win, &func, &entry) < 0)
		return -1;
	if (named[w] == i) {
		if (write_name(&entry, i))
			return -1;
		named[w]++;
	}
	atomic_store(&newest[w], (jit_fn)(uintptr_t)entry.code);
	return 0;
}

static int compile_window(void)
{
	struct jit_window *win = jit_pool_begin(&pool);
	unsigned int i;

	if (!win || compile(win, 0, work))
		return -1;
	jit_pool_publish(&pool);
	for (i = 1; i < FUNCS; i++)
		if (compile(win, i, atomic_load(&newest[win - pool.win])))
			return -1;
	return 0;
}

static int usage(FILE *to)
{
	fprintf(to, "Usage: jit [SECONDS]\n\n"
		"Generates code and runs it, for %u seconds unless SECONDS says how long.\n"
		"The names of the functions are in /tmp/perf-PID.map, where perf looks for them.\n",
		SECONDS);
	return to == stdout ? 0 : 2;
}

/* A number of seconds, or 0 */
static unsigned int parse_seconds(const char *arg)
{
	unsigned long seconds;
	char *end;

	errno = 0;
	seconds = strtoul(arg, &end, 10);
	return errno || *end || *arg < '0' || *arg > '9' || seconds > INT32_MAX ? 0 : seconds;
}

static int run(unsigned int seconds)
{
	const time_t end = time(NULL) + seconds;
	unsigned long i, windows = 0;
	pthread_t thread[RUNNERS];

	map = open_map();
	if (!map || jit_pool_init(&pool, RUNNERS, CODE_SIZE, TABLE_SIZE, true) ||
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
	fclose(map);
	printf("%lu windows, %lu calls of %u functions each\n", windows,
	       atomic_load(&calls), FUNCS);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int seconds = SECONDS;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return usage(stdout);
	if (argc == 2)
		seconds = parse_seconds(argv[1]);
	if (argc > 2 || !seconds)
		return usage(stderr);
	return run(seconds);
}
