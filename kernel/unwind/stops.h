/* SPDX-License-Identifier: GPL-2.0 */
/* Counts of stop reasons: stops.c. */
#ifndef _KERNEL_UNWIND_STOPS_H
#define _KERNEL_UNWIND_STOPS_H

#include <linux/percpu.h>
#include <linux/unwind_stack_types.h>

#define UNWIND_NR_STOPS		(UNWIND_STOP_LIMIT + 1)

#ifdef CONFIG_DEBUG_FS

DECLARE_PER_CPU(unsigned long [UNWIND_NR_STOPS], unwind_stop_count);

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

static inline void unwind_count_stop(enum unwind_stop_reason stop) { }

#endif /* CONFIG_DEBUG_FS */

#endif /* _KERNEL_UNWIND_STOPS_H */
