/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of ranges of text that do not overlap: ranges.c. */
#ifndef _KERNEL_UNWIND_RANGES_H
#define _KERNEL_UNWIND_RANGES_H

#include <linux/interval_tree.h>
#include <linux/maple_tree.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "sframe.h"
#include "sframe_table.h"

/**
 * struct unwind_built - the table that was built from a registered section
 * @table: the table; an error if none could be built
 * @users: number of ranges with this table: after fork(), the child's range has it, too
 */
struct unwind_built {
	struct sframe_table	*table;
	refcount_t		users;
};

/**
 * struct unwind_range - a range of text in a set, and the section that describes it
 * @start: first address
 * @end: first address after it
 * @section: the section, in the process's memory
 * @id: of its registration, never used twice
 * @built: the table built from the section; NULL as long as no stack needed it, and for a
 *	section that changes
 * @retry: when to try again to build it, in jiffies, if there was no memory; else 0
 * @memory: the memory of the section
 * @by_key: node of the set's tree of keys
 * @key: chosen by the process
 * @rcu: frees the range after a grace period: readers in any context may still use it
 */
struct unwind_range {
	unsigned long			start;
	unsigned long			end;
	struct sframe_section		section;
	u64				id;
	struct unwind_built __rcu	*built;
	unsigned long			retry;
	struct interval_tree_node	memory;
	struct rb_node			by_key;
	u64				key;
	struct rcu_head			rcu;
};

/**
 * struct unwind_ranges - a set of ranges of text that do not overlap
 * @by_text: from text to &struct unwind_range; read under RCU, in any context
 * @by_memory: from the memory of sections to the ranges that they describe
 * @by_key: the ranges by key
 * @nr: number of ranges
 * @bytes: size of the tables that were built from their sections
 *
 * The owner serialises changes.
 */
struct unwind_ranges {
	struct maple_tree	by_text;
	struct rb_root_cached	by_memory;
	struct rb_root		by_key;
	unsigned int		nr;
	size_t			bytes;
};

/* For what a process registers: it is charged for that */
#define UNWIND_GFP_RANGES	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN)

void unwind_ranges_init(struct unwind_ranges *set);
void unwind_ranges_destroy(struct unwind_ranges *set);
struct unwind_range *unwind_range_alloc(unsigned long start, unsigned long end,
					const struct sframe_section *section, u64 key, gfp_t gfp);
void unwind_range_free(struct unwind_range *range);
int unwind_ranges_insert(struct unwind_ranges *set, struct unwind_range *range, gfp_t gfp);
int unwind_ranges_copy(struct unwind_ranges *to, struct unwind_ranges *from,
		       struct xarray *but, gfp_t gfp);
int unwind_ranges_mark(struct unwind_ranges *set, unsigned long start, unsigned long end,
		       struct xarray *marks);
void unwind_ranges_set_built(struct unwind_ranges *set, struct unwind_range *range,
			     struct unwind_built *built);
void unwind_ranges_drop(struct unwind_ranges *set, unsigned long start,
			unsigned long end);
struct unwind_range *unwind_ranges_find_key(const struct unwind_ranges *set, u64 key);
void unwind_ranges_drop_key(struct unwind_ranges *set, u64 key);
struct unwind_range *unwind_ranges_find(struct unwind_ranges *set, unsigned long addr,
					unsigned long *start, unsigned long *last);

#endif /* _KERNEL_UNWIND_RANGES_H */
