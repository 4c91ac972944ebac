// SPDX-License-Identifier: GPL-2.0
/*
 * True stacks, see step_shadow.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step_shadow.h"

/* Never below a stack pointer */
#define NO_SLOT		UINT64_MAX

static void die(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(1);
}

static struct shadow_stack *add_stack(struct shadow *shadow, uint64_t sp)
{
	struct shadow_stack *stack = &shadow->stacks[shadow->nr];

	if (shadow->nr++ == SHADOW_STACKS)
		die("a program has more stacks than are followed");
	*stack = (struct shadow_stack){ .low = sp, .high = sp };
	return stack;
}

void shadow_init(struct shadow *shadow, uint64_t sp)
{
	shadow->nr = 0;
	shadow->sp = sp;
	shadow->stack = add_stack(shadow, sp);
}

static bool is_near(const struct shadow_stack *stack, uint64_t sp)
{
	return sp + SHADOW_FAR > stack->low && sp < stack->high + SHADOW_FAR;
}

static struct shadow_stack *stack_at(struct shadow *shadow, uint64_t sp)
{
	unsigned int i;

	for (i = 0; i < shadow->nr; i++)
		if (is_near(&shadow->stacks[i], sp))
			return &shadow->stacks[i];
	return add_stack(shadow, sp);
}

/* Go to a stack that a signal handler on this one interrupted: the handler is left */
static void leave_handlers(struct shadow *shadow, struct shadow_stack *to)
{
	struct shadow_stack *stack, *next;

	for (stack = shadow->stack; stack && stack != to; stack = stack->caller)
		;
	if (!stack)
		return;
	for (stack = shadow->stack; stack != to; stack = next) {
		next = stack->caller;
		stack->caller = NULL;
		stack->nr = 0;
	}
}

static void set_sp(struct shadow *shadow, uint64_t sp)
{
	struct shadow_stack *stack = shadow->stack;

	shadow->sp = sp;
	if (sp < stack->low)
		stack->low = sp;
	if (sp > stack->high)
		stack->high = sp;
}

bool shadow_move(struct shadow *shadow, uint64_t sp)
{
	struct shadow_stack *stack = shadow->stack;

	if (!is_near(stack, sp)) {
		stack = stack_at(shadow, sp);
		leave_handlers(shadow, stack);
		shadow->stack = stack;
	}
	set_sp(shadow, sp);
	while (stack->nr && stack->frame[stack->nr - 1].slot < sp)
		stack->nr--;
	return !stack->nr;
}

const struct shadow_frame *shadow_top(const struct shadow *shadow)
{
	struct shadow_iter iter;

	shadow_walk(&iter, shadow);
	return shadow_next(&iter);
}

/* @frame lacks the fields that depend on the frames further out */
static void push(struct shadow *shadow, const struct shadow_frame *frame)
{
	const struct shadow_frame *outer = shadow_top(shadow);
	struct shadow_stack *stack = shadow->stack;
	struct shadow_frame *top;

	if (stack->nr == SHADOW_FRAMES)
		die("a stack is deeper than is followed");
	top = &stack->frame[stack->nr++];
	*top = *frame;
	top->hash = ((outer ? outer->hash : 0) ^ top->ra) * 0x9e3779b97f4a7c15UL;
	top->hash ^= top->hash >> 29;
	top->tabled = frame->tabled && (!outer || outer->tabled);
}

void shadow_call(struct shadow *shadow, uint64_t ra, uint64_t fp, bool tabled)
{
	push(shadow, &(struct shadow_frame){
		.ra = ra, .slot = shadow->sp, .fp = fp, .tabled = tabled,
	});
}

void shadow_return(struct shadow *shadow)
{
	shadow->stack->nr--;
}

void shadow_signal(struct shadow *shadow, const struct shadow_signal *signal)
{
	struct shadow_stack *from = shadow->stack;
	struct shadow_stack *to = stack_at(shadow, signal->sp);

	shadow->stack = to;
	set_sp(shadow, signal->sp);
	if (to != from) {
		to->nr = 0;
		to->caller = from;
	}
	push(shadow, &(struct shadow_frame){
		.ra = signal->ip,
		.slot = to == from ? signal->saved_ip : NO_SLOT,
		.fp = signal->fp,
		.exact = true,
		.tabled = signal->tabled_ip,
	});
	push(shadow, &(struct shadow_frame){
		.ra = signal->restorer,
		.slot = signal->sp,
		.fp = signal->fp,
		.tabled = signal->tabled_restorer,
	});
}

void shadow_walk(struct shadow_iter *iter, const struct shadow *shadow)
{
	iter->stack = shadow->stack;
	iter->left = shadow->stack->nr;
}

const struct shadow_frame *shadow_next(struct shadow_iter *iter)
{
	while (!iter->left) {
		iter->stack = iter->stack->caller;
		if (!iter->stack)
			return NULL;
		iter->left = iter->stack->nr;
	}
	return &iter->stack->frame[--iter->left];
}
