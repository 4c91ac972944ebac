// SPDX-License-Identifier: GPL-2.0
/*
 * Joining samples with their user stacks, see join.h.
 *
 * Threads are in sets, by number. One that finds its set full takes the place of the
 * thread that was sampled least recently.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "join.h"
#include "table.h"

#define WAYS		8
#define SETS		(THREADS / WAYS)

struct waiting {
	struct sample		sample;
	/* Number, plus 1; 0 is the end */
	unsigned int		next;
};

struct slot {
	bool			has_stack;
	unsigned int		user;
	/* The first and the last sample that wait */
	unsigned int		first;
	unsigned int		last;
	unsigned long long	cookie;
};

struct current {
	unsigned int		tid;
	/* The slot of the cookie that came last */
	unsigned int		newest;
	struct slot		slots[2];
	/* When it was last sampled; 0 is free */
	unsigned long long	used;
};

struct join_totals join_totals;

static struct current (*sets)[WAYS];
static unsigned long long now;

static struct waiting *pool;
static unsigned int free_pool;

static on_joined joined;

void init_join(on_joined to)
{
	unsigned int i;

	joined = to;
	sets = need(calloc(SETS, sizeof(*sets)));
	pool = need(calloc(PENDING, sizeof(*pool)));
	for (i = 0; i < PENDING; i++)
		pool[i].next = i + 1 < PENDING ? i + 2 : 0;
	free_pool = 1;
}

static void miss(const struct sample *sample)
{
	join_totals.missing++;
	joined(sample, STACK_MISSING);
}

/* Report the samples that wait */
static void release(struct slot *slot, unsigned int user)
{
	struct waiting *waiting;
	unsigned int at, next;

	for (at = slot->first; at; at = next) {
		waiting = &pool[at - 1];
		next = waiting->next;
		if (user == STACK_MISSING)
			miss(&waiting->sample);
		else
			joined(&waiting->sample, user);
		waiting->next = free_pool;
		free_pool = at;
		join_totals.pending--;
	}
	slot->first = 0;
	slot->last = 0;
}

static struct current *find_thread(unsigned int tid)
{
	struct current *set = sets[tid % SETS];
	unsigned int i;

	for (i = 0; i < WAYS; i++)
		if (set[i].used && set[i].tid == tid)
			return &set[i];
	return NULL;
}

static struct current *add_thread(unsigned int tid)
{
	struct current *set = sets[tid % SETS], *oldest = set;
	unsigned int i;

	for (i = 1; i < WAYS; i++)
		if (set[i].used < oldest->used)
			oldest = &set[i];
	release(&oldest->slots[0], STACK_MISSING);
	release(&oldest->slots[1], STACK_MISSING);
	*oldest = (struct current){ .tid = tid };
	return oldest;
}

static struct slot *slot_of(struct current *current, unsigned long long cookie)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (current->slots[i].cookie == cookie)
			return &current->slots[i];
	return NULL;
}

/* Replace the older cookie, unless only that one waits: its stack is held, and comes later */
static struct slot *add_slot(struct current *current, unsigned long long cookie)
{
	const unsigned int older = !current->newest;
	struct slot *slot;

	if (!current->slots[older].first || current->slots[current->newest].first)
		current->newest = older;
	slot = &current->slots[current->newest];
	release(slot, STACK_MISSING);
	*slot = (struct slot){ .cookie = cookie };
	return slot;
}

static void wait_for_stack(struct slot *slot, const struct sample *sample)
{
	unsigned int at = free_pool;

	if (!at) {
		miss(sample);
		return;
	}
	free_pool = pool[at - 1].next;
	pool[at - 1] = (struct waiting){ .sample = *sample };
	if (slot->last)
		pool[slot->last - 1].next = at;
	else
		slot->first = at;
	slot->last = at;
	join_totals.pending++;
}

void join_sample(const struct sample *sample)
{
	struct current *current;
	struct slot *slot;

	if (!sample->cookie) {
		joined(sample, NO_STACK);
		return;
	}
	current = find_thread(sample->thread.tid) ?: add_thread(sample->thread.tid);
	current->used = ++now;
	slot = slot_of(current, sample->cookie) ?: add_slot(current, sample->cookie);
	if (slot->has_stack)
		joined(sample, slot->user);
	else
		wait_for_stack(slot, sample);
}

void join_stack(unsigned int tid, unsigned long long cookie, unsigned int user)
{
	struct current *current = find_thread(tid);
	struct slot *slot = current ? slot_of(current, cookie) : NULL;

	if (!slot)
		return;
	slot->has_stack = true;
	slot->user = user;
	release(slot, user);
}

void end_join(void)
{
	unsigned int i, way;

	for (i = 0; i < SETS; i++) {
		for (way = 0; way < WAYS; way++) {
			release(&sets[i][way].slots[0], STACK_MISSING);
			release(&sets[i][way].slots[1], STACK_MISSING);
		}
	}
}
