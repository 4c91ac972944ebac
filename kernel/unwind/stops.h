/* SPDX-License-Identifier: GPL-2.0 */
/* Counts of stop reasons, frames and lookups: stops.c. */
#ifndef _KERNEL_UNWIND_STOPS_H
#define _KERNEL_UNWIND_STOPS_H

#include <linux/percpu.h>
#include <linux/unwind_user_types.h>

#define UNWIND_NR_STOPS		(UNWIND_STOP_LIMIT + 1)

/**
 * struct unwind_row_counts - counts that show how often cached rules were used
 * @frames: of all stacks
 * @lookups: frames for which no rule was cached
 */
struct unwind_row_counts {
	unsigned long	frames;
	unsigned long	lookups;
};

#ifdef CONFIG_DEBUG_FS

DECLARE_PER_CPU(unsigned long [UNWIND_NR_STOPS], unwind_stop_count);
DECLARE_PER_CPU(struct unwind_row_counts, unwind_row_count);

/**
 * unwind_count_stop - count a stop reason
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
 * @nr: number of frames
 *
 * Context: any.
 */
static inline void unwind_count_frames(unsigned int nr)
{
	this_cpu_add(unwind_row_count.frames, nr);
}

/**
 * unwind_count_lookup - count a lookup of a rule that was not cached
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
