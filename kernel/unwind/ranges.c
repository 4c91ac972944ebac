// SPDX-License-Identifier: GPL-2.0
/*
 * A set of ranges of text, each with the table that describes it.
 *
 * Three questions are asked of a set, and each has its tree, so that none costs
 * more than the logarithm of the number of ranges:
 *
 *   by_text	which table describes this address?  Asked by readers, in any
 *		context, under RCU: a maple tree.
 *   by_memory	which ranges lose their table when this memory is unmapped?  One
 *		table can describe several ranges: an interval tree.
 *   by_key	which ranges did the process register under this name?
 *
 * The latter two are only looked at when the set is changed, which its owner
 * (tables.c) serialises.  They need no memory of their own, so that taking a range out can
 * fail for by_text only, and there it must not (see take_out()).
 *
 * A range does not change while it is in a set.  Readers copy what they need;
 * one that was taken out is freed after a grace period.
 */

#include <linux/sched.h>
#include <linux/slab.h>
#include <trace/events/unwind.h>

#include "ranges.h"

void unwind_ranges_init(struct unwind_ranges *set)
{
	mt_init_flags(&set->by_text, MT_FLAGS_USE_RCU);
	set->by_memory = RB_ROOT_CACHED;
	set->by_key = RB_ROOT;
	set->nr = 0;
}

/**
 * unwind_ranges_destroy - free a set with its ranges
 * @set: the set, which nobody reads any more, also not under RCU
 *
 * There being no readers, the tree need not have its nodes freed by RCU.  Nor may
 * it: mt_free_walk(), which would do that, takes the metadata in the last slot of
 * a full node for a child.
 *
 * Context: task; may sleep.
 */
void unwind_ranges_destroy(struct unwind_ranges *set)
{
	struct unwind_range *range;
	unsigned long index = 0;

	mt_for_each(&set->by_text, range, index, ULONG_MAX) {
		kfree(range);
		cond_resched();
	}
	mt_clear_in_rcu(&set->by_text);
	mtree_destroy(&set->by_text);
}

/**
 * unwind_range_alloc - a range that is in no set yet
 * @table: what describes it
 * @key: its name, or 0
 *
 * Context: task; may sleep.
 * Return: the range, to be freed with kfree() unless it is inserted; or NULL.
 */
struct unwind_range *unwind_range_alloc(const struct unwind_table *table,
					u64 key)
{
	struct unwind_range *range;

	range = kmalloc(sizeof(*range), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!range)
		return NULL;
	*range = (struct unwind_range){
		.table = *table,
		.key = key,
	};
	if (table->sframe.end > table->sframe.start) {
		range->memory.start = table->sframe.start;
		range->memory.last = table->sframe.end - 1;
	}
	return range;
}

static bool has_memory(const struct unwind_range *range)
{
	return range->memory.last;
}

static bool less_by_key(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct unwind_range, by_key)->key <
	       rb_entry(b, struct unwind_range, by_key)->key;
}

static int cmp_key(const void *key, const struct rb_node *node)
{
	u64 a = *(const u64 *)key;
	u64 b = rb_entry(node, struct unwind_range, by_key)->key;

	return a < b ? -1 : a > b;
}

/**
 * unwind_ranges_insert - add a range
 * @set: where to
 * @range: from unwind_range_alloc(); belongs to the set on success
 *
 * Context: task; may sleep.
 * Return: 0; -EEXIST if it overlaps one that is there; -ENOMEM.
 */
int unwind_ranges_insert(struct unwind_ranges *set, struct unwind_range *range)
{
	int ret;

	ret = mtree_insert_range(&set->by_text, range->table.text_start,
				 range->table.text_end - 1, range,
				 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (ret)
		return ret;
	if (has_memory(range))
		interval_tree_insert(&range->memory, &set->by_memory);
	if (range->key)
		rb_add(&range->by_key, &set->by_key, less_by_key);
	set->nr++;
	return 0;
}

/**
 * unwind_ranges_copy - add to an empty set what another one has
 * @to: the empty set; destroy it also on failure
 * @from: the other one, which nobody changes meanwhile
 *
 * Context: task; may sleep.
 * Return: 0 or -ENOMEM.
 */
int unwind_ranges_copy(struct unwind_ranges *to, struct unwind_ranges *from)
{
	struct unwind_range *range, *copy;
	unsigned long index = 0;
	int ret;

	mt_for_each(&from->by_text, range, index, ULONG_MAX) {
		copy = unwind_range_alloc(&range->table, range->key);
		if (!copy)
			return -ENOMEM;
		ret = unwind_ranges_insert(to, copy);
		if (ret) {
			kfree(copy);
			return ret;
		}
		cond_resched();
	}
	return 0;
}

/*
 * Take a range out of all three trees.  It cannot fail: the memory could be
 * mapped anew with the range still there.  The maple tree may need a node to
 * write down that something is gone.
 */
static void take_out(struct unwind_ranges *set, struct unwind_range *range)
{
	MA_STATE(mas, &set->by_text, range->table.text_start,
		 range->table.text_end - 1);

	trace_unwind_table_dropped(range->table.text_start,
				   range->table.text_end);
	mas_lock(&mas);
	mas_store_gfp(&mas, NULL, GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
	mas_unlock(&mas);

	if (has_memory(range))
		interval_tree_remove(&range->memory, &set->by_memory);
	if (range->key)
		rb_erase(&range->by_key, &set->by_key);
	set->nr--;
	kfree_rcu(range, rcu);
}

static struct unwind_range *first_in_text(struct unwind_ranges *set,
					  unsigned long start,
					  unsigned long end)
{
	return mt_find(&set->by_text, &start, end - 1);
}

static struct unwind_range *first_in_memory(struct unwind_ranges *set,
					    unsigned long start,
					    unsigned long end)
{
	struct interval_tree_node *node;

	node = interval_tree_iter_first(&set->by_memory, start, end - 1);
	return node ? container_of(node, struct unwind_range, memory) : NULL;
}

/**
 * unwind_ranges_overlap - does any range lie in there, in part at least?
 * @set: the set
 * @start: first address
 * @end: first address after it
 *
 * Return: true if one does.
 */
bool unwind_ranges_overlap(struct unwind_ranges *set, unsigned long start,
			   unsigned long end)
{
	return first_in_text(set, start, end);
}

/**
 * unwind_ranges_touch - does any range, or the table of one, lie in there?
 * @set: the set
 * @start: first address
 * @end: first address after it
 *
 * Return: true if one does.
 */
bool unwind_ranges_touch(struct unwind_ranges *set, unsigned long start,
			 unsigned long end)
{
	return first_in_text(set, start, end) ||
	       first_in_memory(set, start, end);
}

/**
 * unwind_ranges_drop_text - remove each range that lies in there
 * @set: the set
 * @start: first address
 * @end: first address after it
 *
 * What lies there in part goes as a whole.
 *
 * Context: task; may sleep.
 * Return: whether there was any.
 */
bool unwind_ranges_drop_text(struct unwind_ranges *set, unsigned long start,
			     unsigned long end)
{
	struct unwind_range *range;
	bool any = false;

	while ((range = first_in_text(set, start, end))) {
		any = true;
		take_out(set, range);
		cond_resched();
	}
	return any;
}

/**
 * unwind_ranges_drop - remove each range that, or whose table, lies in there
 * @set: the set
 * @start: first address
 * @end: first address after it
 *
 * What lies there in part goes as a whole.
 *
 * Context: task; may sleep.
 * Return: whether there was any.
 */
bool unwind_ranges_drop(struct unwind_ranges *set, unsigned long start,
			unsigned long end)
{
	struct unwind_range *range;
	bool any;

	any = unwind_ranges_drop_text(set, start, end);
	while ((range = first_in_memory(set, start, end))) {
		any = true;
		take_out(set, range);
		cond_resched();
	}
	return any;
}

static struct unwind_range *first_of_key(const struct unwind_ranges *set,
					 u64 key)
{
	struct rb_node *node = rb_find_first(&key, &set->by_key, cmp_key);

	return node ? rb_entry(node, struct unwind_range, by_key) : NULL;
}

/**
 * unwind_ranges_has_key - is any range registered under this name?
 * @set: the set
 * @key: the name
 *
 * Return: true if one is.
 */
bool unwind_ranges_has_key(const struct unwind_ranges *set, u64 key)
{
	return first_of_key(set, key);
}

/**
 * unwind_ranges_drop_key - remove all ranges of a name
 * @set: the set
 * @key: the name
 *
 * Context: task; may sleep.
 */
void unwind_ranges_drop_key(struct unwind_ranges *set, u64 key)
{
	struct unwind_range *range;

	while ((range = first_of_key(set, key))) {
		take_out(set, range);
		cond_resched();
	}
}

/**
 * unwind_ranges_lookup - what describes this address?
 * @set: the set
 * @ip: the address
 * @table: a copy of it; where there is none, only the bounds of the hole that
 *	was met (which can lie within a larger one)
 *
 * Context: any, in an RCU read-side critical section.
 * Return: true if there is one.
 */
bool unwind_ranges_lookup(struct unwind_ranges *set, unsigned long ip,
			  struct unwind_table *table)
{
	MA_STATE(mas, &set->by_text, ip, ip);
	struct unwind_range *range;

	range = mas_walk(&mas);
	if (range) {
		*table = range->table;
		return true;
	}
	table->text_start = mas.index;
	table->text_end = mas.last == ULONG_MAX ? ULONG_MAX : mas.last + 1;
	return false;
}
