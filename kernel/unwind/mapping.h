/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text at an address of the current task, and the table that describes it: mapping.c.
 */
#ifndef _KERNEL_UNWIND_MAPPING_H
#define _KERNEL_UNWIND_MAPPING_H

#include <linux/mm_types.h>
#include <linux/types.h>

#include "sframe_table.h"

/**
 * struct unwind_mapping - a range of text
 * @start: first address
 * @size: its size in bytes; 0 if there is no range
 * @origin: the address at which @table starts
 * @table: the table; NULL if there is none.  Valid until the RCU read-side critical
 *	section ends in which it was looked up
 * @inside: the same, if it describes all of the range; set by unwind_walk_map()
 * @pending: there may be a table later
 * @extra_cost: cost of its lookup beyond the usual one, in ordinary frames
 */
struct unwind_mapping {
	unsigned long			start;
	unsigned long			size;
	u64				origin;
	const struct sframe_table	*table;
	const struct sframe_table	*inside;
	bool				pending;
	u8				extra_cost;
};

#endif /* _KERNEL_UNWIND_MAPPING_H */
