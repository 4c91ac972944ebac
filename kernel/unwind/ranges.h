/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of ranges of text that do not overlap: ranges.c. */
#ifndef _KERNEL_UNWIND_RANGES_H
#define _KERNEL_UNWIND_RANGES_H

#include <linux/interval_tree.h>
#include <linux/maple_tree.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "tables.h"

/**
 * struct unwind_range - one range of text in a set
 * @table: readers copy this
 * @memory: the memory of the table itself; unused if it is not known
 * @by_key: node of the set's tree of keys; unused if @key is 0
 * @key: chosen by the process that registered the range; 0 if the kernel found it
 * @rcu: frees the range after a grace period: readers in any context may still use it
 */
struct unwind_range {
	struct unwind_table		table;
	struct interval_tree_node	memory;
	struct rb_node			by_key;
	u64				key;
	struct rcu_head			rcu;
};

/**
 * struct unwind_ranges - a set of ranges of text that do not overlap
 * @by_text: from text to &struct unwind_range; read under RCU, in any context
 * @by_memory: from the memory of tables to the ranges that they describe
 * @by_key: the ranges that have a key
 * @nr: number of ranges
 *
 * The owner serialises changes.
 */
struct unwind_ranges {
	struct maple_tree	by_text;
	struct rb_root_cached	by_memory;
	struct rb_root		by_key;
	unsigned int		nr;
};

void unwind_ranges_init(struct unwind_ranges *set);
void unwind_ranges_destroy(struct unwind_ranges *set);
struct unwind_range *unwind_range_alloc(const struct unwind_table *table,
					u64 key);
int unwind_ranges_insert(struct unwind_ranges *set, struct unwind_range *range);
int unwind_ranges_copy(struct unwind_ranges *to, struct unwind_ranges *from);
bool unwind_ranges_overlap(struct unwind_ranges *set, unsigned long start,
			   unsigned long end);
bool unwind_ranges_touch(struct unwind_ranges *set, unsigned long start,
			 unsigned long end);
bool unwind_ranges_drop_text(struct unwind_ranges *set, unsigned long start,
			     unsigned long end);
bool unwind_ranges_drop(struct unwind_ranges *set, unsigned long start,
			unsigned long end);
bool unwind_ranges_has_key(const struct unwind_ranges *set, u64 key);
void unwind_ranges_drop_key(struct unwind_ranges *set, u64 key);
bool unwind_ranges_lookup(struct unwind_ranges *set, unsigned long ip,
			  struct unwind_table *table);

#endif /* _KERNEL_UNWIND_RANGES_H */
