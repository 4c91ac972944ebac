// SPDX-License-Identifier: GPL-2.0
/*
 * Coroutines: stacks that a program switches by itself. They lie as far apart as
 * step_shadow.h requires.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_SIZE	0x100000UL
#define COROUTINES	2

static ucontext_t home, coroutine[COROUTINES];
static int turns[COROUTINES];

static void take_turn(int i, int depth)
{
	if (depth) {
		take_turn(i, depth - 1);
		return;
	}
	turns[i]++;
	swapcontext(&coroutine[i], i ? &home : &coroutine[1]);
}

static void run(int i)
{
	int turn;

	for (turn = 0; turn < 3; turn++)
		take_turn(i, turn);
}

int main(void)
{
	int i;

	for (i = 0; i < COROUTINES; i++) {
		char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (stack == MAP_FAILED || getcontext(&coroutine[i]))
			return 1;
		/* With room on either side */
		coroutine[i].uc_stack.ss_sp = stack + STACK_SIZE / 4;
		coroutine[i].uc_stack.ss_size = STACK_SIZE / 2;
		coroutine[i].uc_link = &home;
		makecontext(&coroutine[i], (void (*)(void))run, 1, i);
	}
	/* Each turn of the first starts one of the second, which ends last */
	for (i = 0; i < 4; i++)
		swapcontext(&home, &coroutine[0]);
	return turns[0] == 3 && turns[1] == 3 ? 0 : 2;
}
