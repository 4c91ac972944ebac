/* SPDX-License-Identifier: GPL-2.0 */
/* Counts of why stacks ended, and of rows that were of use: stops.c. */
#ifndef _KERNEL_UNWIND_STOPS_H
#define _KERNEL_UNWIND_STOPS_H

#include <linux/percpu.h>
#include <linux/unwind_user_types.h>

#define UNWIND_NR_STOPS		(UNWIND_STOP_LIMIT + 1)

/**
 * struct unwind_row_counts - how often rows that are kept were of use
 * @frames: of all stacks
 * @lookups: for which no row was kept
 */
struct unwind_row_counts {
	unsigned long	frames;
	unsigned long	lookups;
};

#ifdef CONFIG_DEBUG_FS

DECLARE_PER_CPU(unsigned long [UNWIND_NR_STOPS], unwind_stop_count);
DECLARE_PER_CPU(struct unwind_row_counts, unwind_row_count);

/**
 * unwind_count_stop - count why an unwind ended
 * @stop: the reason
 *
 * Context: any.
 */
static inline void unwind_count_stop(enum unwind_user_stop stop)
{
	this_cpu_inc(unwind_stop_count[stop]);
}

/**
 * unwind_count_frames - count the frames of a stack
 * @nr: how many
 *
 * Context: any.
 */
static inline void unwind_count_frames(unsigned int nr)
{
	this_cpu_add(unwind_row_count.frames, nr);
}

/**
 * unwind_count_lookup - count a row that was not kept
 *
 * Context: any.
 */
static inline void unwind_count_lookup(void)
{
	this_cpu_inc(unwind_row_count.lookups);
}

#else

static inline void unwind_count_stop(enum unwind_user_stop stop) { }
static inline void unwind_count_frames(unsigned int nr) { }
static inline void unwind_count_lookup(void) { }

#endif /* CONFIG_DEBUG_FS */

#endif /* _KERNEL_UNWIND_STOPS_H */
