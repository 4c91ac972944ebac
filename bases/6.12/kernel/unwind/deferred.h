/* SPDX-License-Identifier: GPL-2.0 */
/* The steps of the deferred core, which the tests call one by one. */
#ifndef _KERNEL_UNWIND_DEFERRED_H
#define _KERNEL_UNWIND_DEFERRED_H

#include <linux/bits.h>
#include <linux/unwind_deferred_types.h>

/* State bits of unwind_task_info::requests; the rest are clients */
#define UNWIND_PENDING		BIT(BITS_PER_LONG - 1)	/* the task work is queued */
#define UNWIND_CLOSED		BIT(BITS_PER_LONG - 2)	/* no more requests */
#define UNWIND_NAMED		BIT(BITS_PER_LONG - 3)	/* the cookie is this entry's */
#define UNWIND_MAX_CLIENTS	(BITS_PER_LONG - 3)
#define UNWIND_CLIENTS		GENMASK(UNWIND_MAX_CLIENTS - 1, 0)

/*
 * Frames of a stack: as many as kernel.perf_event_max_stack says, but at least as many as
 * one page has room for, with the buffer's header, and at most as many as one perf record
 * has room for.
 */
#define UNWIND_MIN_ENTRIES	510
#define UNWIND_MAX_ENTRIES	8000

/**
 * struct unwind_cache - a task's buffer for its user stack
 * @cookie: names the entry into the kernel with this stack; 0 if nothing is cached
 * @nr: number of valid @entries
 * @size: room in @entries
 * @entries: the stack
 */
struct unwind_cache {
	u64		cookie;
	unsigned int	nr;
	unsigned int	size;
	unsigned long	entries[] __counted_by(size);
};

int unwind_info_request(struct unwind_task_info *info, unsigned long bit,
			u64 *cookie, bool *queue);
unsigned long unwind_info_take(struct unwind_task_info *info);
bool unwind_info_reset(struct unwind_task_info *info);

#endif /* _KERNEL_UNWIND_DEFERRED_H */
