/* SPDX-License-Identifier: GPL-2.0 */
/* The steps of the deferred core, which the tests call one by one. */
#ifndef _KERNEL_UNWIND_DEFERRED_H
#define _KERNEL_UNWIND_DEFERRED_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <linux/unwind_deferred_types.h>

struct unwind_walk_notes;

/* State bits of unwind_task_info::requests; the rest are clients */
#define UNWIND_PENDING		BIT(BITS_PER_LONG - 1)	/* the task work is queued */
#define UNWIND_CLOSED		BIT(BITS_PER_LONG - 2)	/* no more requests */
#define UNWIND_NAMED		BIT(BITS_PER_LONG - 3)	/* there is a cookie */
#define UNWIND_MAX_CLIENTS	(BITS_PER_LONG - 3)
#define UNWIND_CLIENTS		GENMASK(UNWIND_MAX_CLIENTS - 1, 0)

/*
 * Frames of a stack: as many as kernel.perf_event_max_stack says, and at most as many as
 * one perf record has room for.  Without perf, as many as its default.
 */
#define UNWIND_ENTRIES		127
#define UNWIND_MAX_ENTRIES	8000

/**
 * struct unwind_cache - a buffer for the stack of a task in one entry into the kernel
 * @size: room in @entries
 * @has_notes: a &struct unwind_walk_notes with as much room follows @entries
 * @own: it belongs to one task, whose cgroup is charged for it; else other tasks use it later
 * @nr: number of valid @entries
 * @cookie: low half of the cookie of the stack: enough to tell it from the cookie before
 * @rcu: frees the buffer, without its contents
 * @entries: the stack
 */
struct unwind_cache {
	u16			size : 14;
	u16			has_notes : 1;
	u16			own : 1;
	u16			nr;
	u32			cookie;
	union {
		struct rcu_head	rcu;
		DECLARE_FLEX_ARRAY(unsigned long, entries);
	};
};

/**
 * struct unwind_held - a stack that is delivered later
 * @cache: the stack; NULL if none is held
 * @cookie: names it
 * @clients: the bits of clients that get it
 * @ids: the unique numbers of these clients
 */
struct unwind_held {
	struct unwind_cache	*cache;
	u64			cookie;
	unsigned long		clients;
	u64			ids[UNWIND_MAX_CLIENTS];
};

/* Size of a buffer without notes */
static inline size_t unwind_cache_size(unsigned int size)
{
	return max(sizeof(struct unwind_cache), offsetof(struct unwind_cache, entries[size]));
}

/**
 * unwind_cache_notes - the notes of the walk that took a stack
 * @cache: the stack, or NULL
 *
 * Return: the notes, or NULL.
 */
static inline struct unwind_walk_notes *unwind_cache_notes(struct unwind_cache *cache)
{
	return IS_ENABLED(CONFIG_UNWIND_USER_LANGUAGES) && cache && cache->has_notes ?
	       (void *)cache + unwind_cache_size(cache->size) : NULL;
}

void unwind_cache_free(struct unwind_cache *cache);
void unwind_held_add(struct unwind_held *held, unsigned long clients);
void unwind_held_deliver(struct unwind_held *held);

/* Number of the client that was registered last */
extern u64 unwind_last_client;

int unwind_info_request(struct unwind_task_info *info, unsigned long bit,
			u64 *cookie, bool *queue);
unsigned long unwind_info_take(struct unwind_task_info *info);
bool unwind_info_reset(struct unwind_task_info *info);

/* kick.c */
void unwind_keep_entry(const struct unwind_task_info *info);
bool unwind_entry_ended(const struct unwind_task_info *info);
bool unwind_kept_entry(unsigned long client, u64 *cookie);
bool unwind_needs_kick(void);
void unwind_kick(void);

#endif /* _KERNEL_UNWIND_DEFERRED_H */
