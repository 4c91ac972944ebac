/* SPDX-License-Identifier: GPL-2.0 */
/* Counts of outcomes, to be read in /sys/kernel/debug/unwind: counts.c. */
#ifndef _KERNEL_UNWIND_COUNTS_H
#define _KERNEL_UNWIND_COUNTS_H

#include <linux/percpu.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>
#include <linux/unwind_stack_types.h>

/**
 * struct unwind_counts - counts of the outcomes of something
 * @file: name of the file that shows them
 * @names: the outcomes that it shows, with their names
 * @nr: number of these
 * @counts: by outcome
 */
struct unwind_counts {
	const char			*file;
	const struct trace_print_flags	*names;
	unsigned int			nr;
	unsigned long __percpu		*counts;
};

#define UNWIND_NR_STOPS		(UNWIND_STOP_LIMIT + 1)

#ifdef CONFIG_DEBUG_FS

DECLARE_PER_CPU(unsigned long [UNWIND_NR_STOPS], unwind_stop_count);

void unwind_show_counts(const struct unwind_counts *counts);

/**
 * unwind_count_stop - count a stop reason
 * @stop: the reason
 *
 * Context: any.
 */
static inline void unwind_count_stop(enum unwind_stop_reason stop)
{
	this_cpu_inc(unwind_stop_count[stop]);
}

#else

static inline void unwind_show_counts(const struct unwind_counts *counts) { }
static inline void unwind_count_stop(enum unwind_stop_reason stop) { }

#endif /* CONFIG_DEBUG_FS */

#endif /* _KERNEL_UNWIND_COUNTS_H */
