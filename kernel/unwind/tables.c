// SPDX-License-Identifier: GPL-2.0
/*
 * Which table describes this address?
 *
 * Each address space has, once something in it was unwound, a tree from text
 * ranges to tables.  Nothing fills it beforehand: the first time an address
 * without an entry is met where faulting is allowed, the mapping under it is
 * looked at, and what was found (also: nothing) is remembered.  A process that
 * nobody profiles has no tree.
 *
 * An entry is true as long as its mapping is.  Entries are made with the mmap
 * lock held for reading, after the mapping was seen to be still what the entry
 * was made from, and dropped with it held for writing, before the range can be
 * mapped again.  So no entry outlives its mapping, whatever threads do meanwhile.
 *
 * Readers take no lock: they walk the tree and copy the entry under RCU, in any
 * context.  A copy may be used after its entry was dropped; reads of a table
 * that is no longer there then fail or yield nonsense, both of which a hostile
 * table could as well.
 *
 * Only the tables of the current task's own address space are ever looked up.
 */

#include <linux/cleanup.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/unwind_user.h>
#include <asm/unwind_user.h>
#include <trace/events/unwind.h>

#include "sframe_format.h"
#include "tables.h"

/**
 * struct unwind_tables - the tables of an address space
 * @tree: from text ranges to &struct unwind_table
 * @lock: held for each change of @tree; taken inside the mmap lock
 */
struct unwind_tables {
	struct maple_tree	tree;
	struct mutex		lock;	/* for changes of the tree */
};

/* What stands in the tree for a mapping without a table */
static struct unwind_table no_table = { .format = UNWIND_TABLE_NONE };

static void free_table(struct unwind_table *table)
{
	if (table != &no_table)
		kfree_rcu(table, rcu);
}

/* The address space's tables, allocated by the first who needs them */
static struct unwind_tables *get_tables(struct mm_struct *mm)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables), *old;

	if (tables)
		return tables;

	tables = kmalloc(sizeof(*tables), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!tables)
		return NULL;
	mt_init_flags(&tables->tree, MT_FLAGS_USE_RCU);
	mutex_init(&tables->lock);

	old = cmpxchg(&mm->unwind_tables, NULL, tables);
	if (!old)
		return tables;
	kfree(tables);
	return old;
}

/*
 * Dropping
 */

/*
 * Drop every entry that touches the range.  An entry that reaches beyond it goes
 * as a whole: the rest is found again when it is needed.
 *
 * It cannot fail, or the range could be mapped anew with the entry still there.
 * Removing an entry may need memory; the tree's own lock is dropped for that,
 * while ours keeps others from changing it.
 */
static void drop_range(struct unwind_tables *tables, unsigned long start,
		       unsigned long end)
{
	MA_STATE(mas, &tables->tree, start, start);
	struct unwind_table *table;

	lockdep_assert_held(&tables->lock);

	mas_lock(&mas);
	while ((table = mas_find(&mas, end - 1))) {
		trace_unwind_table_dropped(mas.index, mas.last + 1);
		mas_store_gfp(&mas, NULL, GFP_KERNEL | __GFP_NOFAIL);
		free_table(table);

		mas_unlock(&mas);
		cond_resched();
		mas_lock(&mas);
		mas_set(&mas, start);
	}
	mas_unlock(&mas);
}

void __unwind_tables_drop(struct mm_struct *mm, unsigned long start,
			  unsigned long end)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);

	mmap_assert_write_locked(mm);
	guard(mutex)(&tables->lock);
	drop_range(tables, start, end);
}

void __unwind_tables_free(struct mm_struct *mm)
{
	struct unwind_tables *tables = mm->unwind_tables;
	struct unwind_table *table;
	unsigned long index = 0;

	mm->unwind_tables = NULL;
	mt_for_each(&tables->tree, table, index, ULONG_MAX)
		free_table(table);
	mtree_destroy(&tables->tree);
	kfree(tables);
}

/*
 * Finding
 */

static bool is_vdso(const struct vm_area_struct *vma)
{
	return !vma->vm_file &&
	       vma->vm_start == (unsigned long)vma->vm_mm->context.vdso;
}

/* What is mapped at @ip?  On success, @map->file holds a reference. */
static int get_mapping(struct mm_struct *mm, unsigned long ip,
		       struct unwind_mapping *map)
{
	struct vm_area_struct *vma;
	int ret = -ENOENT;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	vma = vma_lookup(mm, ip);
	if (vma && vma->vm_flags & VM_EXEC) {
		map->start = vma->vm_start;
		map->end = vma->vm_end;
		map->offset = is_vdso(vma) ? 0 : (u64)vma->vm_pgoff << PAGE_SHIFT;
		map->file = vma->vm_file ? get_file(vma->vm_file) : NULL;
		ret = vma->vm_file || is_vdso(vma) ? 0 : 1;
	}
	mmap_read_unlock(mm);
	return ret;
}

static bool mapping_unchanged(struct mm_struct *mm,
			      const struct unwind_mapping *map)
{
	struct vm_area_struct *vma = vma_lookup(mm, map->start);

	return vma && vma->vm_start == map->start && vma->vm_end == map->end &&
	       vma->vm_flags & VM_EXEC && vma->vm_file == map->file &&
	       (!map->file || (u64)vma->vm_pgoff << PAGE_SHIFT == map->offset);
}

/* Is the table mapped, all of it, from where the file says that it is? */
static bool table_mapped(struct mm_struct *mm, const struct unwind_mapping *map,
			 const struct unwind_elf_table *where)
{
	struct vm_area_struct *vma = vma_lookup(mm, where->addr);

	if (!vma || where->size > vma->vm_end - where->addr)
		return false;
	if (!map->file)
		return vma->vm_start == map->start;
	return vma->vm_file &&
	       file_inode(vma->vm_file) == file_inode(map->file) &&
	       ((u64)vma->vm_pgoff << PAGE_SHIFT) +
	       (where->addr - vma->vm_start) == where->offset;
}

/* Make an entry, if the mapping still is what @table was made from */
static int remember(struct mm_struct *mm, const struct unwind_mapping *map,
		    const struct unwind_elf_table *where,
		    struct unwind_table *table)
{
	struct unwind_tables *tables = get_tables(mm);
	int ret;

	if (!tables)
		return -ENOMEM;
	if (mmap_read_lock_killable(mm))
		return -EINTR;

	if (!mapping_unchanged(mm, map)) {
		ret = -EAGAIN;
	} else if (where && !table_mapped(mm, map, where)) {
		ret = -ENOEXEC;
	} else {
		guard(mutex)(&tables->lock);
		/* An older entry can be there: mappings merge and split */
		drop_range(tables, map->start, map->end);
		ret = mtree_store_range(&tables->tree, map->start, map->end - 1,
					table, GFP_KERNEL_ACCOUNT);
	}
	mmap_read_unlock(mm);
	return ret;
}

/* A file that has no table, or a bad one, is not asked again */
static int remember_none(struct mm_struct *mm, const struct unwind_mapping *map)
{
	remember(mm, map, NULL, &no_table);
	return -ENOENT;
}

/* May it be different the next time, with the same mapping? */
static bool is_transient(int err)
{
	return err == -EINTR || err == -ERESTARTSYS || err == -ENOMEM ||
	       err == -EAGAIN;
}

static int find_sframe(struct mm_struct *mm, const struct unwind_mapping *map,
		       struct unwind_table *out)
{
	struct unwind_elf_table where = {};
	struct unwind_table *table;
	int ret;

	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!table)
		return -ENOMEM;

	ret = unwind_elf_find_table(map, &where);
	if (!ret)
		ret = sframe_read_header(&table->sframe, where.addr, where.size,
					 UNWIND_USER_SFRAME_ABI);
	if (!ret) {
		table->format = UNWIND_TABLE_SFRAME;
		table->text_start = map->start;
		table->text_end = map->end;
		*out = *table;
		ret = remember(mm, map, &where, table);
	}
	if (!ret) {
		trace_unwind_table_found(map->start, map->end, where.addr,
					 where.size);
		return 0;
	}
	kfree(table);
	if (ret != -ENOENT)
		trace_unwind_table_invalid(map->start, map->end, where.addr, ret);
	return is_transient(ret) ? ret : remember_none(mm, map);
}

static int find_table(struct mm_struct *mm, unsigned long ip,
		      struct unwind_table *out)
{
	struct unwind_mapping map;
	int ret;

	ret = get_mapping(mm, ip, &map);
	if (ret < 0)
		return ret;
	/* Neither a file nor the vDSO: code that was made at run time */
	if (ret > 0)
		return remember_none(mm, &map);

	ret = find_sframe(mm, &map, out);
	if (map.file)
		fput(map.file);
	return ret;
}

/*
 * Looking up
 */

static bool lookup_known(struct mm_struct *mm, unsigned long ip,
			 struct unwind_table *out)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);
	struct unwind_table *table;

	if (!tables)
		return false;

	guard(rcu)();
	table = mtree_load(&tables->tree, ip);
	if (!table)
		return false;
	*out = *table;
	return true;
}

/**
 * unwind_table_lookup - which table describes an address of the current task?
 * @ip: the address
 * @access: in UNWIND_USER_FAULTABLE, a table that is not known is looked for
 * @table: a copy of what is known; valid on success
 *
 * Context: any with UNWIND_USER_NOFAULT; else task context that may sleep,
 * without the mmap lock.
 * Return: 0, or a negative error (-ENOENT most often) when no table describes
 * the address.
 */
int unwind_table_lookup(unsigned long ip, enum unwind_user_access access,
			struct unwind_table *table)
{
	struct mm_struct *mm = current->mm;

	if (lookup_known(mm, ip, table))
		return table->format == UNWIND_TABLE_NONE ? -ENOENT : 0;
	if (access == UNWIND_USER_NOFAULT)
		return -ENOENT;
	return find_table(mm, ip, table);
}
