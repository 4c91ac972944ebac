// SPDX-License-Identifier: GPL-2.0
/*
 * Which table describes this address?  The iterator (user.c, walk.c) asks; the row of
 * the address in that table is then looked up by its format's decoder (sframe.c).  A
 * table is the process's memory and stays there: what is known of it here is where it
 * lies, and what its header says of its parts.
 *
 * An address space has two sets of ranges of text (see ranges.c):
 *
 *   found	made by the kernel when an address that no range covers is first
 *		met where faulting is allowed (found.c).  Not inherited by fork: it is
 *		found again.
 *   registered	told by the process itself (register.c).  Inherited by fork, and
 *		shared with the child until one of the two changes it.  Where both
 *		describe an address, this one wins.
 *
 * Nothing fills them beforehand.  An address space that was never unwound, and
 * in which nothing was registered, has a NULL pointer, and all that it pays is
 * the test of that pointer.
 *
 * Ranges are removed when their text, or the memory of their table, is unmapped,
 * with the mmap lock held for writing: before anything else is there.
 * So no range that was found outlives its mapping, whatever threads do meanwhile.
 * (One may be registered for what another thread unmaps just then: that is no worse
 * than a table that is wrong.)
 *
 * Changes of either set are made with the tables' own lock, which is taken inside
 * the mmap lock.  Readers take no lock: they copy a range under RCU, in any
 * context.  A copy may be used after its range was dropped; reads of a table
 * that is no longer there then fail or yield nonsense, both of which a hostile
 * table could as well.
 *
 * Only the tables of the current task's own address space are ever looked up.
 *
 * The rows that were found in tables are kept (rows.c), and dropped by whoever has
 * changed a set, before it gives up the lock.
 */

#include <linux/cleanup.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/unwind_user.h>
#include <linux/workqueue.h>
#include <trace/events/unwind.h>

#include "ranges.h"
#include "rows.h"
#include "tables.h"
#include "text.h"

/*
 * Ranges that are remembered for one address space.  More than it can have
 * mappings, unless mappings are made executable, sampled, and made something else
 * by the million.
 */
#define UNWIND_MAX_FOUND	65536

/**
 * struct unwind_registry - what a process registered
 * @ranges: the set
 * @sharers: address spaces that have it; it changes only while this is 1
 * @free_work: frees it when readers in any context cannot see it any more
 */
struct unwind_registry {
	struct unwind_ranges	ranges;
	refcount_t		sharers;
	struct rcu_work		free_work;
};

/**
 * struct unwind_tables - the tables of an address space
 * @rows: rows that were found in these tables
 * @lock: held for each change; taken inside the mmap lock
 * @found: what the kernel found
 * @registered: what the process registered; NULL if nothing
 * @patience: of samples that found something missing
 */
struct unwind_tables {
	struct unwind_rows		rows;
	struct mutex			lock;	/* for changes of both sets */
	struct unwind_ranges		found;
	struct unwind_registry __rcu	*registered;
	struct unwind_patience		patience;
};

/* The address space's tables, allocated by the first who needs them */
static struct unwind_tables *get_tables(struct mm_struct *mm)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables), *old;

	if (tables)
		return tables;

	tables = kmalloc(sizeof(*tables), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!tables)
		return NULL;
	unwind_rows_init(&tables->rows);
	mutex_init(&tables->lock);
	unwind_ranges_init(&tables->found);
	RCU_INIT_POINTER(tables->registered, NULL);
	tables->patience = (struct unwind_patience){};

	old = cmpxchg(&mm->unwind_tables, NULL, tables);
	if (!old)
		return tables;
	kfree(tables);
	return old;
}

/*
 * The registry
 */

static void free_registry(struct work_struct *work)
{
	struct unwind_registry *registry =
		container_of(to_rcu_work(work), struct unwind_registry, free_work);

	unwind_ranges_destroy(&registry->ranges);
	kfree(registry);
}

static struct unwind_registry *alloc_registry(void)
{
	struct unwind_registry *registry;

	registry = kmalloc(sizeof(*registry), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!registry)
		return NULL;
	unwind_ranges_init(&registry->ranges);
	refcount_set(&registry->sharers, 1);
	INIT_RCU_WORK(&registry->free_work, free_registry);
	return registry;
}

static void put_registry(struct unwind_registry *registry)
{
	if (registry && refcount_dec_and_test(&registry->sharers))
		queue_rcu_work(system_unbound_wq, &registry->free_work);
}

static struct unwind_registry *registry_of(struct unwind_tables *tables)
{
	return rcu_dereference_protected(tables->registered,
					 lockdep_is_held(&tables->lock));
}

static void replace_registry(struct unwind_tables *tables,
			     struct unwind_registry *registry)
{
	struct unwind_registry *old = registry_of(tables);

	rcu_assign_pointer(tables->registered, registry);
	put_registry(old);
}

/*
 * The registry, for a change: made if there is none, and a copy of its own if it
 * is shared.  Nobody else can start to share it meanwhile: a fork of this
 * address space needs the lock, and those who share it already are counted.
 */
static struct unwind_registry *own_registry(struct unwind_tables *tables)
{
	struct unwind_registry *old = registry_of(tables), *registry;

	if (old && refcount_read(&old->sharers) == 1)
		return old;

	registry = alloc_registry();
	if (!registry)
		return NULL;
	if (old && unwind_ranges_copy(&registry->ranges, &old->ranges)) {
		put_registry(registry);
		return NULL;
	}
	replace_registry(tables, registry);
	return registry;
}

/**
 * unwind_tables_register - add a range to what the process registered
 * @mm: the current task's address space
 * @range: from unwind_range_alloc(); belongs to the tables on success
 * @max: limit on the number of ranges
 *
 * Context: task; may sleep.
 * Return: 0; -ENOSPC at the limit; -EEXIST if it overlaps another one; -ENOMEM.
 */
int unwind_tables_register(struct mm_struct *mm, struct unwind_range *range,
			   unsigned int max)
{
	struct unwind_tables *tables = get_tables(mm);
	struct unwind_registry *registry;
	int ret;

	if (!tables)
		return -ENOMEM;

	guard(mutex)(&tables->lock);
	registry = registry_of(tables);
	if ((registry ? registry->ranges.nr : 0) >= max)
		return -ENOSPC;
	/* Before a shared one is copied for nothing */
	if (registry && unwind_ranges_overlap(&registry->ranges,
					      range->table.text_start,
					      range->table.text_end))
		return -EEXIST;
	registry = own_registry(tables);
	if (!registry)
		return -ENOMEM;
	ret = unwind_ranges_insert(&registry->ranges, range);
	/*
	 * It may be in front of one that was found; and if it could not be inserted,
	 * the registry may still be another.
	 */
	unwind_rows_drop(&tables->rows);
	return ret;
}

/**
 * unwind_tables_unregister - remove what the process registered under a name
 * @mm: the current task's address space
 * @key: the name
 *
 * Context: task; may sleep.
 * Return: 0; -ENOENT if there is nothing; -ENOMEM if it is shared and could not
 * be copied.
 */
int unwind_tables_unregister(struct mm_struct *mm, u64 key)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);
	struct unwind_registry *registry;

	if (!tables)
		return -ENOENT;

	guard(mutex)(&tables->lock);
	registry = registry_of(tables);
	if (!registry || !unwind_ranges_has_key(&registry->ranges, key))
		return -ENOENT;
	registry = own_registry(tables);
	if (!registry)
		return -ENOMEM;
	unwind_ranges_drop_key(&registry->ranges, key);
	unwind_rows_drop(&tables->rows);
	return 0;
}

/*
 * What was found
 */

/**
 * unwind_tables_remember - add a range to what was found
 * @mm: the current task's address space, its mmap lock held for reading
 * @range: from unwind_range_alloc(); belongs to the tables on success
 *
 * What was found before there is replaced: mappings merge and split.
 *
 * Context: task; may sleep.
 * Return: 0; -ENOSPC when too much was remembered already; -ENOMEM.
 */
int unwind_tables_remember(struct mm_struct *mm, struct unwind_range *range)
{
	struct unwind_tables *tables = get_tables(mm);

	mmap_assert_locked(mm);
	if (!tables)
		return -ENOMEM;

	guard(mutex)(&tables->lock);
	if (unwind_ranges_drop_text(&tables->found, range->table.text_start,
				    range->table.text_end))
		unwind_rows_drop(&tables->rows);
	if (tables->found.nr >= UNWIND_MAX_FOUND)
		return -ENOSPC;
	return unwind_ranges_insert(&tables->found, range);
}

/*
 * munmap, fork, exit
 */

/*
 * Drop what was registered there; whether there was anything.
 *
 * A registry that is shared is copied first.  Where there is no memory for that,
 * all that this process had registered is dropped: it loses its tables, which
 * costs it stacks, but can never unwind with one that is no longer true.
 */
static bool drop_registered(struct unwind_tables *tables, unsigned long start,
			    unsigned long end)
{
	struct unwind_registry *registry = registry_of(tables);

	if (!registry || !unwind_ranges_touch(&registry->ranges, start, end))
		return false;
	registry = own_registry(tables);
	if (registry) {
		unwind_ranges_drop(&registry->ranges, start, end);
	} else {
		trace_unwind_table_dropped(0, TASK_SIZE);
		replace_registry(tables, NULL);
	}
	return true;
}

void __unwind_tables_drop(struct mm_struct *mm, unsigned long start,
			  unsigned long end)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);
	bool found, registered;

	mmap_assert_write_locked(mm);
	/* A mapping was made, and none replaced: asked here, off the fast path */
	if (start == end)
		return;
	guard(mutex)(&tables->lock);
	found = unwind_ranges_drop(&tables->found, start, end);
	registered = drop_registered(tables, start, end);
	/* Not for memory that has nothing to do with tables, such as malloc()'s */
	if (found || registered)
		unwind_rows_drop(&tables->rows);
}

int __unwind_tables_fork(struct mm_struct *mm, struct mm_struct *oldmm)
{
	struct unwind_tables *old = READ_ONCE(oldmm->unwind_tables), *tables;
	struct unwind_registry *registry;

	mmap_assert_write_locked(oldmm);
	guard(mutex)(&old->lock);
	registry = registry_of(old);
	if (!registry || !registry->ranges.nr)
		return 0;

	tables = get_tables(mm);
	if (!tables)
		return -ENOMEM;
	refcount_inc(&registry->sharers);
	RCU_INIT_POINTER(tables->registered, registry);
	return 0;
}

void __unwind_tables_free(struct mm_struct *mm)
{
	struct unwind_tables *tables = mm->unwind_tables;

	mm->unwind_tables = NULL;
	unwind_rows_free(&tables->rows);
	unwind_ranges_destroy(&tables->found);
	put_registry(rcu_dereference_protected(tables->registered, true));
	kfree(tables);
}

/*
 * Looking up
 */

/*
 * What was found holds for its whole mapping; what is registered may begin in
 * the middle of that.  The copy must not promise more than the hole in what is
 * registered, or the iterator would go on using it there.
 */
static void clip_to_hole(struct unwind_table *table,
			 const struct unwind_table *hole)
{
	table->text_start = max(table->text_start, hole->text_start);
	table->text_end = min(table->text_end, hole->text_end);
}

static bool lookup_known(struct mm_struct *mm, unsigned long ip,
			 struct unwind_table *out, struct unwind_table *hole)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);
	struct unwind_registry *registry;
	u32 generation;

	hole->text_start = 0;
	hole->text_end = ULONG_MAX;
	if (!tables)
		return false;

	generation = unwind_rows_generation(&tables->rows);
	guard(rcu)();
	registry = rcu_dereference(tables->registered);
	if (registry) {
		if (unwind_ranges_lookup(&registry->ranges, ip, out))
			goto found;
		*hole = *out;
	}
	if (!unwind_ranges_lookup(&tables->found, ip, out))
		return false;
	clip_to_hole(out, hole);
found:
	out->generation = generation;
	return true;
}

/**
 * unwind_table_lookup - which table describes an address of the current task?
 * @ip: the address
 * @access: in UNWIND_USER_FAULTABLE, what is not known is looked for
 * @table: a copy of what is known, which may be that there is none
 *	(UNWIND_TABLE_NONE); on error it describes no address at all, or says that
 *	there is none where it is not worth while to look again in the same unwind
 *
 * Context: any with UNWIND_USER_NOFAULT; else task context that may sleep,
 * without the mmap lock.
 * Return: 0; -EFAULT if the address is not in memory that is executable; -ENOENT
 * if nothing is known and may not be looked for; another error if it could not be.
 */
int unwind_table_lookup(unsigned long ip, enum unwind_user_access access,
			struct unwind_table *table)
{
	struct mm_struct *mm = current->mm;
	struct unwind_table hole;
	int ret;

	if (lookup_known(mm, ip, table, &hole))
		return 0;
	if (access == UNWIND_USER_FAULTABLE) {
		ret = unwind_table_find(mm, ip, table);
		clip_to_hole(table, &hole);
		return ret;
	}
	*table = (struct unwind_table){};
	return unwind_may_be_text(ip) ? -ENOENT : -EFAULT;
}

/**
 * unwind_table_patience - of an address space
 * @mm: the current task's
 *
 * Context: any.
 * Return: it lives as long as @mm; NULL while that has no tables.
 */
struct unwind_patience *unwind_table_patience(struct mm_struct *mm)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);

	return tables ? &tables->patience : NULL;
}

/**
 * unwind_table_rows - the rows that are kept for an address space
 * @mm: the current task's
 *
 * Context: any.
 * Return: they live as long as @mm; NULL while it has no tables.
 */
struct unwind_rows *unwind_table_rows(struct mm_struct *mm)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);

	return tables ? &tables->rows : NULL;
}
