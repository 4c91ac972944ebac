// SPDX-License-Identifier: GPL-2.0
/*
 * The tables that a process registered (register.c): ranges of text, each with an SFrame
 * section in the memory of the process.
 *
 * A process that registered nothing has a NULL pointer here, and pays the test of it.
 * A child of fork() inherits the ranges, and shares them with its parent until one of the
 * two adds or removes some, or makes a table of a section.  If it only unmaps some, these
 * are marked as dropped for this process: no range is copied in munmap() or fork(), where
 * the mmap locks are held.  The few chains (chain_register.c) are inherited, too.
 *
 * Ranges are removed when their text, or the memory of their section, is unmapped, with
 * the mmap lock held for writing, before anything else can be mapped there.  (A range may be
 * registered for memory that another thread is just unmapping.  That is no worse than a
 * wrong table.)
 *
 * The table of a section that does not change is made when a stack first needs it: a table of a
 * file, if the section is a part of one (section.c), else from a copy.  So unwinding reads no
 * process memory but the stack.  A section that changes (UNWIND_TABLE_JIT) is read in place, in
 * a context that may fault.
 *
 * Changes are made with the tables' own lock, which is taken inside the mmap lock.
 * Readers take no lock: they find a range under RCU, in any context.  Only the current
 * task's address space is ever looked up.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/unwind_tables.h>
#include <linux/workqueue.h>
#include <asm/unwind_arch.h>
#include <trace/events/unwind_tables.h>

#include "mapping.h"
#include "memory.h"
#include "ranges.h"
#include "section.h"
#include "sframe.h"
#include "tables.h"

/* Size of all tables that are made from one process's sections */
#define MAX_BUILT	SZ_64M

/* How long a section is left alone if there was no memory for its table */
#define RETRY_AFTER	HZ

/**
 * struct unwind_registry - the ranges that a process registered
 * @ranges: the ranges
 * @sharers: address spaces that share them; they change only while this is 1
 * @free_work: frees them when readers in any context cannot see them any more
 */
struct unwind_registry {
	struct unwind_ranges	ranges;
	refcount_t		sharers;
	struct rcu_work		free_work;
};

/**
 * unwind_tables_get - get the tables of an address space
 * @mm: the address space
 *
 * Context: task; may sleep.
 * Return: the tables, which the first task that needs them allocates; or NULL.
 */
struct unwind_tables *unwind_tables_get(struct mm_struct *mm)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables), *old;

	if (tables)
		return tables;

	tables = kzalloc(sizeof(*tables), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!tables)
		return NULL;
	mutex_init(&tables->lock);
	xa_init_flags(&tables->dropped, XA_FLAGS_ACCOUNT);

	old = cmpxchg(&mm->unwind_tables, NULL, tables);
	if (!old)
		return tables;
	kfree(tables);
	return old;
}

/**
 * unwind_copy_attr - copy an extensible structure from user space
 * @attr: set on success
 * @known: size of the kernel's structure, which is the size of its first version so far
 * @uattr: its address in user space
 * @size: its size as the caller knows it
 *
 * Context: task; may sleep.
 * Return: 0; -EINVAL it is shorter than its first version; -E2BIG it is longer than a page,
 * or has a tail that is not zero; -EFAULT.
 */
int unwind_copy_attr(void *attr, size_t known, u64 uattr, size_t size)
{
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size < known)
		return -EINVAL;
	return copy_struct_from_user(attr, known, u64_to_user_ptr(uattr), size);
}

/*
 * The registry
 */

static void free_registry(struct unwind_registry *registry)
{
	unwind_ranges_destroy(&registry->ranges);
	kfree(registry);
}

static void free_registry_work(struct work_struct *work)
{
	free_registry(container_of(to_rcu_work(work), struct unwind_registry, free_work));
}

static struct unwind_registry *alloc_registry(gfp_t gfp)
{
	struct unwind_registry *registry;

	registry = kmalloc(sizeof(*registry), gfp);
	if (!registry)
		return NULL;
	unwind_ranges_init(&registry->ranges);
	refcount_set(&registry->sharers, 1);
	INIT_RCU_WORK(&registry->free_work, free_registry_work);
	return registry;
}

static void put_registry(struct unwind_registry *registry)
{
	if (registry && refcount_dec_and_test(&registry->sharers))
		queue_rcu_work(system_dfl_wq, &registry->free_work);
}

static struct unwind_registry *registry_of(struct unwind_tables *tables)
{
	return rcu_dereference_protected(tables->registered,
					 lockdep_is_held(&tables->lock));
}

/* There may be 65,536 marks, so not all at once, as xa_destroy() would */
static void clear_marks(struct unwind_tables *tables)
{
	unsigned long id;
	void *mark;

	xa_for_each(&tables->dropped, id, mark) {
		xa_erase(&tables->dropped, id);
		cond_resched();
	}
}

static void replace_registry(struct unwind_tables *tables,
			     struct unwind_registry *registry)
{
	struct unwind_registry *old = registry_of(tables);

	rcu_assign_pointer(tables->registered, registry);
	/* Pairs with smp_rmb() in find_range() */
	smp_wmb();
	clear_marks(tables);
	put_registry(old);
}

/*
 * Is the registry not shared?  The caller holds the lock, without which no fork of this address
 * space can begin to share it.
 */
static bool is_own(struct unwind_registry *registry)
{
	return refcount_read(&registry->sharers) == 1;
}

/*
 * Get a registry that may be changed: allocate one if there is none, and copy it, without the
 * marked ranges, if it is or was shared.
 */
static struct unwind_registry *own_registry(struct unwind_tables *tables, gfp_t gfp)
{
	struct unwind_registry *old = registry_of(tables), *registry;

	if (old && is_own(old) && xa_empty(&tables->dropped))
		return old;

	registry = alloc_registry(gfp);
	if (!registry)
		return NULL;
	if (old && unwind_ranges_copy(&registry->ranges, &old->ranges, &tables->dropped, gfp)) {
		/* At once: nobody has seen it, and the program may be short of memory */
		free_registry(registry);
		return NULL;
	}
	replace_registry(tables, registry);
	return registry;
}

/**
 * unwind_tables_register - add a range to the registered ranges of the process
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
	struct unwind_tables *tables = unwind_tables_get(mm);
	struct unwind_registry *registry;

	if (!tables)
		return -ENOMEM;

	guard(mutex)(&tables->lock);
	registry = own_registry(tables, UNWIND_GFP_RANGES);
	if (!registry)
		return -ENOMEM;
	if (registry->ranges.nr >= max)
		return -ENOSPC;
	return unwind_ranges_insert(&registry->ranges, range, UNWIND_GFP_RANGES);
}

/**
 * unwind_tables_unregister - remove the ranges that the process registered under a key
 * @mm: the current task's address space
 * @key: the key
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
	if (!registry || !unwind_ranges_find_key(&registry->ranges, key))
		return -ENOENT;
	registry = own_registry(tables, UNWIND_GFP_RANGES);
	if (!registry)
		return -ENOMEM;
	/* All ranges of the key may have been dropped before */
	if (!unwind_ranges_find_key(&registry->ranges, key))
		return -ENOENT;
	unwind_ranges_drop_key(&registry->ranges, key);
	return 0;
}

/*
 * munmap, fork, exit
 */

/*
 * If there is no memory for the marks, all ranges of this process are dropped: it loses its
 * tables, and so stacks, but is never unwound by a table that is no longer true.
 */
void __unwind_tables_drop(struct mm_struct *mm, unsigned long start,
			  unsigned long end)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);
	struct unwind_registry *registry;

	mmap_assert_write_locked(mm);
	/*
	 * Nothing to drop if the new mapping replaced none.  Tested here to keep the fast path
	 * short.
	 */
	if (start == end)
		return;
	guard(mutex)(&tables->lock);
	registry = registry_of(tables);
	if (!registry)
		return;
	if (is_own(registry)) {
		unwind_ranges_drop(&registry->ranges, start, end);
	} else if (unwind_ranges_mark(&registry->ranges, start, end, &tables->dropped)) {
		trace_unwind_table_dropped(0, TASK_SIZE);
		replace_registry(tables, NULL);
	}
}

/* 0, or -ENOMEM */
static int copy_marks(struct xarray *to, struct xarray *from)
{
	unsigned long id;
	void *mark;
	int ret = 0;

	xa_for_each(from, id, mark) {
		ret = xa_err(xa_store(to, id, mark, GFP_KERNEL | __GFP_NOWARN));
		if (ret)
			break;
		cond_resched();
	}
	return ret;
}

/* If there is no memory, the child has no tables */
void __unwind_tables_fork(struct mm_struct *mm, struct mm_struct *oldmm)
{
	struct unwind_tables *old = READ_ONCE(oldmm->unwind_tables), *tables;
	struct unwind_registry *registry;
	bool chains;

	mmap_assert_write_locked(oldmm);
	guard(mutex)(&old->lock);
	registry = registry_of(old);
	if (registry && !registry->ranges.nr)
		registry = NULL;
	chains = IS_ENABLED(CONFIG_UNWIND_USER_LANGUAGES) && unwind_chains_any(old);
	if (!registry && !chains)
		return;

	tables = unwind_tables_get(mm);
	if (tables && chains)
		unwind_chains_share(tables, old);
	if (!registry)
		return;
	if (!tables || copy_marks(&tables->dropped, &old->dropped)) {
		trace_unwind_table_dropped(0, TASK_SIZE);
		return;
	}
	refcount_inc(&registry->sharers);
	RCU_INIT_POINTER(tables->registered, registry);
}

void __unwind_tables_free(struct mm_struct *mm)
{
	struct unwind_tables *tables = mm->unwind_tables;

	mm->unwind_tables = NULL;
	if (IS_ENABLED(CONFIG_UNWIND_USER_LANGUAGES))
		unwind_chains_free(tables);
	put_registry(rcu_dereference_protected(tables->registered, true));
	clear_marks(tables);
	kfree(tables);
}

/*
 * Looking up
 */

/* Find the range around @addr, or NULL; and the bounds of the range or of a hole */
static struct unwind_range *find_range(struct mm_struct *mm, unsigned long addr,
				       unsigned long *start, unsigned long *last)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);
	struct unwind_registry *registry;
	struct unwind_range *range;

	*start = 0;
	*last = ULONG_MAX;
	if (!tables)
		return NULL;
	do {
		registry = rcu_dereference(tables->registered);
		if (!registry)
			return NULL;
		range = unwind_ranges_find(&registry->ranges, addr, start, last);
		/* A dropped range counts as a hole, which may be part of a larger one */
		if (range && xa_load(&tables->dropped, range->id))
			range = NULL;
		/* Pairs with smp_wmb() in replace_registry(), which removes the marks, too */
		smp_rmb();
	} while (unlikely(registry != rcu_access_pointer(tables->registered)));
	return range;
}

static struct unwind_mapping text_of(const struct unwind_range *range)
{
	return (struct unwind_mapping){
		.start = range->start,
		.size = range->end - range->start,
	};
}

static struct unwind_mapping memory_of(const struct unwind_range *range)
{
	return (struct unwind_mapping){
		.start = range->section.start,
		.size = range->section.end - range->section.start,
	};
}

/**
 * unwind_tables_find - find the registered table of an address
 * @mm: the current task's address space
 * @addr: the address
 * @map: set to the range and its table, if the address is in one
 * @section: set to the memory of its section, if there is no table yet
 * @hole: set to the hole around the address, if it is in none
 *
 * Context: any, in an RCU read-side critical section.
 * Return: 0; -ENOENT no range is registered there; -ENODATA unwind_section_find() may have it, or
 * unwind_tables_build() has to make it first;
 * -EREMOTE it changes, see unwind_tables_find_rule().
 */
int unwind_tables_find(struct mm_struct *mm, unsigned long addr,
		       struct unwind_mapping *map, struct unwind_mapping *section,
		       struct unwind_mapping *hole)
{
	struct unwind_built *built;
	struct unwind_range *range;
	unsigned long start, last, retry;

	range = find_range(mm, addr, &start, &last);
	if (!range) {
		*hole = (struct unwind_mapping){
			.start = start,
			.size = last - start + (last - start != ULONG_MAX),
		};
		return -ENOENT;
	}
	*map = text_of(range);
	if (range->section.changes)
		return -EREMOTE;
	built = rcu_dereference(range->built);
	if (!built) {
		retry = READ_ONCE(range->retry);
		map->pending = retry && time_before(jiffies, retry);
		if (map->pending)
			return 0;
		*section = memory_of(range);
		return -ENODATA;
	}
	if (!IS_ERR(built->table)) {
		map->table = built->table;
		map->origin = map->table->start;
	}
	return 0;
}

/**
 * unwind_tables_nr - count the registered ranges
 * @mm: the current task's address space
 *
 * Context: any, in an RCU read-side critical section.
 * Return: their number.
 */
unsigned int unwind_tables_nr(struct mm_struct *mm)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);
	struct unwind_registry *registry = tables ? rcu_dereference(tables->registered) : NULL;

	return registry ? READ_ONCE(registry->ranges.nr) : 0;
}

/**
 * unwind_tables_is_jit - is the text at an address registered as compiled at run time?
 * @vma: the mapping, of the current task
 * @addr: the address
 *
 * Context: any.
 * Return: whether its table may change (UNWIND_TABLE_JIT), or it comes from no file: only a
 * registered table describes such text.
 */
bool unwind_tables_is_jit(const struct vm_area_struct *vma, unsigned long addr)
{
	struct unwind_range *range;
	unsigned long start, last;

	guard(rcu)();
	range = find_range(vma->vm_mm, addr, &start, &last);
	return range && (range->section.changes || !vma->vm_file);
}

/* Copy the fields of the range around @addr that build() and install() need */
static int read_range(struct mm_struct *mm, unsigned long addr, struct unwind_range *copy)
{
	struct unwind_range *range;
	unsigned long start, last;

	guard(rcu)();
	range = find_range(mm, addr, &start, &last);
	if (!range)
		return -ENOENT;
	copy->start = range->start;
	copy->end = range->end;
	copy->section = range->section;
	copy->id = range->id;
	return 0;
}

/* There is no memory for a table: each stack would copy the section, and find that out again */
static void put_off(struct mm_struct *mm, const struct unwind_range *copy)
{
	struct unwind_range *range;
	unsigned long start, last;

	guard(rcu)();
	range = find_range(mm, copy->start, &start, &last);
	if (range && range->id == copy->id)
		WRITE_ONCE(range->retry, (jiffies + RETRY_AFTER) | 1);
}

/* Return the table, or an error: -EFAULT, -ENOMEM and -EINTR if another attempt may succeed */
static struct sframe_table *build(const struct unwind_range *range)
{
	const struct sframe_segment text = {
		.vaddr = range->start,
		.offset = range->start,
		.size = range->end - range->start,
	};
	struct sframe_image image = {
		.size = range->section.end - range->section.start,
		.vaddr = range->section.start,
		.segments = &text,
		.nr_segments = 1,
	};
	void *section __free(kvfree) = NULL;
	unsigned long left;

	if (image.size > UNWIND_MAX_SECTION)
		return ERR_PTR(-E2BIG);
	if (fatal_signal_pending(current) ||
	    !unwind_may_read(range->section.start, image.size))
		return ERR_PTR(-EFAULT);
	section = kvmalloc(image.size, GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	if (!section)
		return ERR_PTR(-ENOMEM);
	image.section = section;
	unwind_arch_tags_off();
	left = copy_from_user(section, (const void __user *)range->section.start, image.size);
	unwind_arch_tags_on();
	return left ? ERR_PTR(-EFAULT) : sframe_table_build(&image, UNWIND_ARCH_SFRAME_ABI);
}

/*
 * Give the table to its range, unless the range has gone, or has a table.  Another process that
 * shares the registry may have other memory there by now.  The process does not ask for this
 * copy of the registry, so its cgroup must not run out of memory for it.
 */
static int install(struct unwind_tables *tables, const struct unwind_range *range,
		   struct unwind_built *built)
{
	struct unwind_registry *registry;
	struct unwind_range *now;
	unsigned long start, last;

	guard(mutex)(&tables->lock);
	if (!registry_of(tables))
		return -ENOENT;
	registry = own_registry(tables, UNWIND_GFP_RANGES | __GFP_NORETRY);
	if (!registry)
		return -ENOMEM;
	scoped_guard(rcu)
		now = unwind_ranges_find(&registry->ranges, range->start, &start, &last);
	/* The lock is held, so nobody removes @now */
	if (!now || now->id != range->id || rcu_access_pointer(now->built))
		return -ENOENT;
	if (!IS_ERR(built->table) &&
	    registry->ranges.bytes + built->table->bytes > MAX_BUILT) {
		sframe_table_free(built->table);
		built->table = ERR_PTR(-ENOSPC);
	}
	unwind_ranges_set_built(&registry->ranges, now, built);
	return 0;
}

/**
 * unwind_tables_trace_invalid - report a table that is refused, or not used
 * @text_start: as for the tracepoint unwind:unwind_table_invalid
 * @text_end: likewise
 * @table: likewise
 * @error: likewise
 *
 * Context: task, of the current address space; may sleep; without the mmap lock.
 */
void unwind_tables_trace_invalid(unsigned long text_start, unsigned long text_end,
				 unsigned long table, int error)
{
	char object[UNWIND_NAME_MAX];

	if (!trace_unwind_table_invalid_enabled())
		return;
	unwind_text_name(text_start, object, sizeof(object));
	trace_unwind_table_invalid(text_start, text_end, table, error, object);
}

/**
 * unwind_tables_build - make the table of the range around an address
 * @mm: the current task's address space
 * @addr: the address
 *
 * Context: task; may sleep and fault; without the mmap lock.
 * Return: 0 the result is found by another lookup; -ENOENT nothing is registered there;
 * -EFAULT the section cannot be read; -ENOMEM; -EINTR the task was killed.
 */
int unwind_tables_build(struct mm_struct *mm, unsigned long addr)
{
	struct unwind_mapping section, text;
	struct unwind_built *built;
	struct unwind_range range;
	int ret;

	ret = read_range(mm, addr, &range);
	if (ret)
		return ret;
	section = memory_of(&range);
	text = text_of(&range);
	if (unwind_section_load(&section, &text))
		return 0;
	built = kmalloc(sizeof(*built), GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	if (!built)
		return -ENOMEM;
	refcount_set(&built->users, 1);
	built->table = build(&range);
	if (IS_ERR(built->table)) {
		ret = PTR_ERR(built->table);
		unwind_tables_trace_invalid(range.start, range.end, range.section.start, ret);
		if (ret == -ENOMEM)
			put_off(mm, &range);
		if (ret == -EFAULT || ret == -ENOMEM || ret == -EINTR) {
			kfree(built);
			return ret;
		}
	}
	ret = install(mm->unwind_tables, &range, built);
	if (!ret)
		return 0;
	if (ret == -ENOMEM) {
		unwind_tables_trace_invalid(range.start, range.end, range.section.start, ret);
		put_off(mm, &range);
	}
	if (!IS_ERR(built->table))
		sframe_table_free(built->table);
	kfree(built);
	/* The range has changed meanwhile: look again */
	return ret == -ENOENT ? 0 : ret;
}

/**
 * unwind_tables_find_rule - find the rule of an address in a section that changes
 * @mm: the current task's address space
 * @addr: the address
 * @rule: filled in as by sframe_find_rule()
 *
 * Context: task; may sleep and fault; without the mmap lock.
 * Return: as sframe_find_rule(); -ENOENT also if nothing is registered there.
 */
int unwind_tables_find_rule(struct mm_struct *mm, unsigned long addr,
			    struct unwind_frame_rule *rule)
{
	struct unwind_range range;
	int ret;

	ret = read_range(mm, addr, &range);
	if (ret)
		return ret;
	if (!unwind_may_read(range.section.start, range.section.end - range.section.start))
		return -EFAULT;
	return sframe_find_rule(&range.section, addr, rule);
}
