// SPDX-License-Identifier: GPL-2.0
/*
 * A set of ranges of text, each with the SFrame section that describes it.
 *
 * A set answers three questions.  Each has its own tree, so each costs at most the
 * logarithm of the number of ranges:
 *
 *   by_text	which table describes this address?  Readers ask in any context, under
 *		RCU: a maple tree.
 *   by_memory	which ranges lose their section when this memory is unmapped?
 *		One section can describe several ranges: an interval tree.
 *   by_key	which ranges did the process register under this key?
 *
 * Only changes of the set read the latter two, and the set's owner (tables.c)
 * serialises changes.  These two trees allocate nothing.  So only by_text could fail
 * to remove a range, and take_out() makes sure that it does not.
 *
 * A range in a set does not change, except that it gets a table, built from its section, when
 * one is first needed.  A removed range is freed after a grace period.
 */

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "ranges.h"

#define CREATE_TRACE_POINTS
#include <trace/events/unwind_tables.h>

void unwind_ranges_init(struct unwind_ranges *set)
{
	mt_init_flags(&set->by_text, MT_FLAGS_USE_RCU);
	set->by_memory = RB_ROOT_CACHED;
	set->by_key = RB_ROOT;
	set->nr = 0;
	set->bytes = 0;
}

/**
 * unwind_ranges_destroy - free a set with its ranges
 * @set: the set, which has no reader any more, not even under RCU
 *
 * Without readers, RCU need not free the tree's nodes.  It must not, either:
 * mt_free_walk(), which would do that, takes the metadata in the last slot of
 * a full node for a child.
 *
 * Context: task; may sleep.
 */
void unwind_ranges_destroy(struct unwind_ranges *set)
{
	struct unwind_range *range;
	unsigned long index = 0;

	mt_for_each(&set->by_text, range, index, ULONG_MAX) {
		unwind_range_free(range);
		cond_resched();
	}
	mt_clear_in_rcu(&set->by_text);
	mtree_destroy(&set->by_text);
}

/**
 * unwind_range_alloc - allocate a range that is in no set yet
 * @start: its first address
 * @end: the first address after it
 * @section: the section that describes it
 * @key: its key
 * @gfp: for the allocation
 *
 * Context: task; may sleep.
 * Return: the range, to be freed with unwind_range_free() unless it is inserted; or NULL.
 */
struct unwind_range *unwind_range_alloc(unsigned long start, unsigned long end,
					const struct sframe_section *section, u64 key, gfp_t gfp)
{
	static atomic64_t last_id;
	struct unwind_range *range;

	range = kmalloc(sizeof(*range), gfp);
	if (!range)
		return NULL;
	*range = (struct unwind_range){
		.start = start,
		.end = end,
		.section = *section,
		.id = atomic64_inc_return(&last_id),
		.memory.start = section->start,
		.memory.last = section->end - 1,
		.key = key,
	};
	return range;
}

/**
 * unwind_range_free - free a range that has no reader
 * @range: the range
 *
 * Context: any but NMI and hard interrupt, without a spinlock.
 */
void unwind_range_free(struct unwind_range *range)
{
	struct unwind_built *built = rcu_dereference_protected(range->built, true);

	if (built && refcount_dec_and_test(&built->users)) {
		if (!IS_ERR(built->table))
			sframe_table_free(built->table);
		kfree(built);
	}
	kfree(range);
}

static void free_range_rcu(struct rcu_head *rcu)
{
	unwind_range_free(container_of(rcu, struct unwind_range, rcu));
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
 * @set: the set
 * @range: from unwind_range_alloc(); belongs to the set on success
 * @gfp: for the tree's nodes
 *
 * Context: task; may sleep.
 * Return: 0; -EEXIST if it overlaps a range of the set; -ENOMEM.
 */
int unwind_ranges_insert(struct unwind_ranges *set, struct unwind_range *range, gfp_t gfp)
{
	int ret;

	ret = mtree_insert_range(&set->by_text, range->start, range->end - 1, range, gfp);
	if (ret)
		return ret;
	interval_tree_insert(&range->memory, &set->by_memory);
	rb_add(&range->by_key, &set->by_key, less_by_key);
	WRITE_ONCE(set->nr, set->nr + 1);
	return 0;
}

/**
 * unwind_ranges_copy - copy the ranges of a set into an empty set
 * @to: the empty set; the caller destroys it also on failure
 * @from: the other set, which does not change meanwhile
 * @but: marks of ranges to leave out, see unwind_ranges_mark()
 * @gfp: for each allocation
 *
 * Context: task; may sleep.
 * Return: 0 or -ENOMEM.
 */
int unwind_ranges_copy(struct unwind_ranges *to, struct unwind_ranges *from,
		       struct xarray *but, gfp_t gfp)
{
	struct unwind_range *range, *copy;
	struct unwind_built *built;
	unsigned long index = 0;
	int ret;

	mt_for_each(&from->by_text, range, index, ULONG_MAX) {
		if (xa_load(but, range->id))
			continue;
		copy = unwind_range_alloc(range->start, range->end, &range->section,
					  range->key, gfp);
		if (!copy)
			return -ENOMEM;
		copy->id = range->id;
		ret = unwind_ranges_insert(to, copy, gfp);
		if (ret) {
			unwind_range_free(copy);
			return ret;
		}
		built = rcu_dereference_protected(range->built, true);
		if (built) {
			refcount_inc(&built->users);
			unwind_ranges_set_built(to, copy, built);
		}
		cond_resched();
	}
	return 0;
}

static size_t bytes_of(const struct unwind_built *built)
{
	return built && !IS_ERR(built->table) ? built->table->bytes : 0;
}

/**
 * unwind_ranges_set_built - give a range the table that was built from its section
 * @set: the set
 * @range: a range in it, which has none yet
 * @built: the table
 *
 * Context: task.
 */
void unwind_ranges_set_built(struct unwind_ranges *set, struct unwind_range *range,
			     struct unwind_built *built)
{
	set->bytes += bytes_of(built);
	rcu_assign_pointer(range->built, built);
}

/*
 * Remove a range from all three trees.  This must not fail: if the range stayed, its
 * memory could be mapped anew.  The maple tree may need a node to record that an
 * entry is gone, hence __GFP_NOFAIL.
 */
static void take_out(struct unwind_ranges *set, struct unwind_range *range)
{
	MA_STATE(mas, &set->by_text, range->start, range->end - 1);

	trace_unwind_table_dropped(range->start, range->end);
	mas_lock(&mas);
	mas_store_gfp(&mas, NULL, GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
	mas_unlock(&mas);

	interval_tree_remove(&range->memory, &set->by_memory);
	rb_erase(&range->by_key, &set->by_key);
	WRITE_ONCE(set->nr, set->nr - 1);
	set->bytes -= bytes_of(rcu_dereference_protected(range->built, true));
	call_rcu(&range->rcu, free_range_rcu);
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

static int mark(struct xarray *marks, const struct unwind_range *range)
{
	cond_resched();
	if (xa_load(marks, range->id))
		return 0;
	trace_unwind_table_dropped(range->start, range->end);
	return xa_err(xa_store(marks, range->id, xa_mk_value(0), GFP_KERNEL | __GFP_NOWARN));
}

/**
 * unwind_ranges_drop - remove each range whose text or section is in some memory
 * @set: the set
 * @start: first address
 * @end: first address after it
 *
 * A range is removed as a whole, even if only a part of it is there.
 *
 * Context: task; may sleep.
 */
void unwind_ranges_drop(struct unwind_ranges *set, unsigned long start,
			unsigned long end)
{
	struct unwind_range *range;

	while ((range = first_in_text(set, start, end) ?:
			first_in_memory(set, start, end))) {
		take_out(set, range);
		cond_resched();
	}
}

/**
 * unwind_ranges_mark - mark each range whose text or section is in some memory
 * @set: the set, which stays as it is
 * @start: first address
 * @end: first address after it
 * @marks: gets a mark at the number of each range
 *
 * Context: task; may sleep.
 * Return: 0 or -ENOMEM.
 */
int unwind_ranges_mark(struct unwind_ranges *set, unsigned long start, unsigned long end,
		       struct xarray *marks)
{
	struct interval_tree_node *node;
	struct unwind_range *range;
	unsigned long index = start;
	int ret;

	mt_for_each(&set->by_text, range, index, end - 1) {
		ret = mark(marks, range);
		if (ret)
			return ret;
	}
	for (node = interval_tree_iter_first(&set->by_memory, start, end - 1); node;
	     node = interval_tree_iter_next(node, start, end - 1)) {
		ret = mark(marks, container_of(node, struct unwind_range, memory));
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * unwind_ranges_find_key - find a range that is registered under a key
 * @set: the set
 * @key: the key
 *
 * Return: one of them, or NULL.
 */
struct unwind_range *unwind_ranges_find_key(const struct unwind_ranges *set, u64 key)
{
	struct rb_node *node = rb_find_first(&key, &set->by_key, cmp_key);

	return node ? rb_entry(node, struct unwind_range, by_key) : NULL;
}

/**
 * unwind_ranges_drop_key - remove all ranges of a key
 * @set: the set
 * @key: the key
 *
 * Context: task; may sleep.
 */
void unwind_ranges_drop_key(struct unwind_ranges *set, u64 key)
{
	struct unwind_range *range;

	while ((range = unwind_ranges_find_key(set, key))) {
		take_out(set, range);
		cond_resched();
	}
}

/**
 * unwind_ranges_find - find the range around an address
 * @set: the set
 * @addr: the address
 * @start: set to the first address of the range, or of a hole around @addr, which may be
 *	part of a larger one
 * @last: likewise to the last address
 *
 * Context: any, in an RCU read-side critical section.
 * Return: the range, or NULL.
 */
struct unwind_range *unwind_ranges_find(struct unwind_ranges *set, unsigned long addr,
					unsigned long *start, unsigned long *last)
{
	MA_STATE(mas, &set->by_text, addr, addr);
	struct unwind_range *range = mas_walk(&mas);

	*start = mas.index;
	*last = mas.last;
	return range;
}
