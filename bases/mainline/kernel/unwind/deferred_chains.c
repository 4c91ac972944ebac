// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of languages that belong to deferred stacks.
 *
 * While a client may want these frames, a walk takes notes, from which chain.c finds them.  The
 * notes are kept with the stack, in the task's cache, until the task's next stack: a later
 * request of the same entry into the kernel has the same frames.  So a task that was unwound
 * meanwhile has 12 kB until it exits, for which its memory cgroup is charged.
 *
 * Only the task itself uses its cache, where it may sleep.
 */
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/unwind_chain.h>
#include <linux/unwind_deferred.h>
#include <linux/unwind_stack.h>

#include "deferred_chains.h"
#include "walk.h"

/* Frames for which notes have room: they take 4 kB */
#define NOTES_MAX	((SZ_4K - sizeof(struct unwind_walk_notes)) / sizeof(long))

/* Drop the notes of the stack before; return them if the next walk takes any */
static struct unwind_walk_notes *begin_notes(struct unwind_cache *cache)
{
	const struct unwind_walk_notes empty = { .own = true };
	struct unwind_walk_notes *notes = cache->notes;

	if (notes)
		unwind_chain_clear_notes(notes);
	if (!unwind_chain_has_readers())
		return NULL;
	if (!notes) {
		notes = kmalloc(struct_size(notes, sps, NOTES_MAX), unwind_notes_gfp(&empty));
		if (notes)
			*notes = empty;
	}
	cache->notes = notes;
	return notes;
}

/**
 * unwind_cache_walk - take the stack of the current task
 * @cache: the task's
 * @trace: set; with room for @max entries
 * @max: the most frames
 *
 * Context: task, may sleep and fault.
 */
void unwind_cache_walk(struct unwind_cache *cache, struct unwind_stacktrace *trace,
		       unsigned int max)
{
	struct unwind_walk_notes *notes = begin_notes(cache);

	if (notes)
		unwind_walk(trace, min(max, NOTES_MAX), notes);
	else
		unwind_user(trace, max);
}

/**
 * unwind_cache_take_chains - find the frames of languages, for clients that want them
 * @cache: the task's, or NULL
 * @trace: its stack
 *
 * Context: task, may sleep and fault; before the callbacks, as cancelling a client waits for
 * these.
 */
void unwind_cache_take_chains(struct unwind_cache *cache, const struct unwind_stacktrace *trace)
{
	if (cache && cache->notes && trace->nr)
		unwind_chain_take(trace, cache->notes);
}

/**
 * unwind_cache_settle_chains - bring in memory that was missing for names
 * @cache: the task's, or NULL
 *
 * Context: task, may sleep and fault; after the callbacks.
 */
void unwind_cache_settle_chains(struct unwind_cache *cache)
{
	if (cache && cache->notes)
		unwind_chain_settle(cache->notes);
}

/**
 * unwind_cache_free_notes - free what a task's cache has beside the stack
 * @cache: the cache, or NULL
 *
 * Context: any but NMI, as the last reference to a task may go in any.
 */
void unwind_cache_free_notes(struct unwind_cache *cache)
{
	if (!cache || !cache->notes)
		return;
	unwind_chain_free_notes(cache->notes);
	kfree(cache->notes);
}

/**
 * unwind_deferred_chains - the frames of languages that belong to the stack
 *
 * Context: the callback of a client.
 * Return: the frames, until the callback returns; NULL if there are none, or if no client
 * that is called now wants any.
 */
struct unwind_chain_stack *unwind_deferred_chains(void)
{
	struct unwind_cache *cache = current->unwind_info.cache;
	struct unwind_walk_notes *notes = cache ? cache->notes : NULL;

	return notes && notes->has_stack && notes->stack->nr ? notes->stack : NULL;
}
