/* SPDX-License-Identifier: GPL-2.0 */
/* Frames of languages that belong to deferred stacks: what deferred.c calls. */
#ifndef _KERNEL_UNWIND_DEFERRED_CHAINS_H
#define _KERNEL_UNWIND_DEFERRED_CHAINS_H

#include <linux/unwind_deferred_types.h>
#include <linux/unwind_user.h>

#ifdef CONFIG_UNWIND_USER_LANGUAGES

void unwind_cache_walk(struct unwind_cache *cache, struct unwind_stacktrace *trace,
		       unsigned int max);
void unwind_cache_take_chains(struct unwind_cache *cache, const struct unwind_stacktrace *trace);
void unwind_cache_settle_chains(struct unwind_cache *cache);
void unwind_cache_free_notes(struct unwind_cache *cache);

#else

static inline void unwind_cache_walk(struct unwind_cache *cache,
				     struct unwind_stacktrace *trace, unsigned int max)
{
	unwind_user(trace, max);
}

static inline void unwind_cache_take_chains(struct unwind_cache *cache,
					    const struct unwind_stacktrace *trace)
{
}

static inline void unwind_cache_settle_chains(struct unwind_cache *cache) { }
static inline void unwind_cache_free_notes(struct unwind_cache *cache) { }

#endif /* CONFIG_UNWIND_USER_LANGUAGES */

#endif /* _KERNEL_UNWIND_DEFERRED_CHAINS_H */
