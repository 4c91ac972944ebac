// SPDX-License-Identifier: GPL-2.0
/*
 * A program with coroutines of its own, whose waiting callers are on no stack.
 *
 * A task here is a function that is called again and again, and says whether it is done.
 * Between two calls its state is in memory. The native stack shows main(), run() and the task
 * that runs. Only this program knows which tasks await it.
 *
 *	serve ─ awaits ─> handle ─ awaits ─> parse ─ runs: main, run, parse
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unwind_self.h"

struct task {
	const char	*name;
	unsigned int	line;
	/* Returns true when it is done */
	bool		(*step)(struct task *task);
	struct task	*awaited_by;
	struct task	*child;
	unsigned long	count;
};

static struct task *running;
static unsigned long rounds;

static void walk(struct unwind_self_stack *stack, const ucontext_t *at, void *data)
{
	const void *within = data;
	const struct task *task;

	(void)at;
	for (task = running; task; task = task->awaited_by) {
		if (!unwind_self_add(stack, task, within, task->name, __FILE__, task->line))
			return;
	}
}

static bool parse(struct task *task)
{
	unsigned long i, sum = 0;

	for (i = 0; i < 100000; i++) {
		sum += i * task->count;
		asm volatile("" : "+r"(sum));
	}
	return ++task->count % 8 == 0;
}

/* A task that awaits another one is done when that is done often enough */
static bool await(struct task *task)
{
	return ++task->count % 4 == 0;
}

static struct task tasks[] = {
	{ .name = "serve", .line = __LINE__, .step = await },
	{ .name = "handle", .line = __LINE__, .step = await, .awaited_by = &tasks[0] },
	{ .name = "parse", .line = __LINE__, .step = parse, .awaited_by = &tasks[1] },
};

/* A task that is done lets another one go on, which awaits it; at last, all begin again */
static void run(void)
{
	while (rounds--) {
		running = &tasks[2];
		while (running && running->step(running))
			running = running->awaited_by;
	}
	running = NULL;
}

int main(int argc, char **argv)
{
	char here;
	int error;

	rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 2000;
	/* The scheduler is called from this frame */
	error = unwind_self_start(walk, &here, NULL);
	if (error)
		fprintf(stderr, "not in stacks: %s\n", strerror(-error));
	run();
	unwind_self_stop();
	return 0;
}
