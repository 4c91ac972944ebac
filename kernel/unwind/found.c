// SPDX-License-Identifier: GPL-2.0
/*
 * Tables that are found: which table belongs to the file that is mapped here?
 * Asked by tables.c, about an address that no range covers, where faults are allowed.
 *
 * No help from the process is needed.  The mapping under the address is looked
 * at, its file's program headers say where the table is (elf.c), the table's own
 * header is checked (sframe.c), and what was found, also that there is none, is
 * remembered for the whole mapping.
 *
 * What is remembered is true as long as its mapping is.  It is written down with
 * the mmap lock held for reading, after the mapping was seen to be still what it
 * was made from, and removed with it held for writing, before the range can be
 * mapped again (tables.c).
 */

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/unwind_user.h>
#include <asm/unwind_user.h>
#include <trace/events/unwind.h>

#include "ranges.h"
#include "tables.h"
#include "text.h"

/*
 * What is mapped at @ip?  On success, @map->file holds a reference.  1 for text
 * that comes from no file, -EFAULT where there is no text at all.
 *
 * Here and below, the lock is not given up when the task is killed: the stack of one
 * that is killed while it sleeps is delivered with that signal pending.  It will
 * need the lock once more, to exit.
 */
static int get_mapping(struct mm_struct *mm, unsigned long ip,
		       struct unwind_mapping *map)
{
	struct vm_area_struct *vma;
	int ret = -EFAULT;

	mmap_read_lock(mm);
	vma = vma_lookup(mm, ip);
	if (vma && vma->vm_flags & VM_EXEC) {
		map->start = vma->vm_start;
		map->end = vma->vm_end;
		map->offset = unwind_is_vdso(vma) ? 0 : (u64)vma->vm_pgoff << PAGE_SHIFT;
		map->file = vma->vm_file ? get_file(vma->vm_file) : NULL;
		ret = vma->vm_file || unwind_is_vdso(vma) ? 0 : 1;
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

/* Is this the part of the file, or of the vDSO, that @addr should be? */
static bool vma_is_part(const struct vm_area_struct *vma, unsigned long addr,
			const struct unwind_mapping *map, u64 offset)
{
	if (!map->file)
		return vma->vm_start == map->start;
	return vma->vm_file &&
	       file_inode(vma->vm_file) == file_inode(map->file) &&
	       ((u64)vma->vm_pgoff << PAGE_SHIFT) + (addr - vma->vm_start) ==
	       offset;
}

/*
 * Is the table mapped, all of it, from where the file says that it is?  It can
 * lie in several mappings that follow each other, where protections differ.
 */
static bool table_mapped(struct mm_struct *mm, const struct unwind_mapping *map,
			 const struct unwind_elf_table *where)
{
	unsigned long addr = where->addr, end = where->addr + where->size;

	if (end <= addr)
		return false;
	while (addr < end) {
		struct vm_area_struct *vma = vma_lookup(mm, addr);

		if (!vma || !vma_is_part(vma, addr, map,
					 where->offset + (addr - where->addr)))
			return false;
		addr = vma->vm_end;
	}
	return true;
}

/* Write down what was found, if the mapping still is what it was made from */
static int remember(struct mm_struct *mm, const struct unwind_mapping *map,
		    const struct unwind_elf_table *where,
		    const struct unwind_table *table)
{
	struct unwind_range *range = unwind_range_alloc(table, 0);
	int ret;

	if (!range)
		return -ENOMEM;
	mmap_read_lock(mm);
	if (!mapping_unchanged(mm, map))
		ret = -EAGAIN;
	else if (where && !table_mapped(mm, map, where))
		ret = -ENOEXEC;
	else
		ret = unwind_tables_remember(mm, range);
	mmap_read_unlock(mm);
	if (ret)
		kfree(range);
	return ret;
}

/* No linker writes as large a table; what a file says beyond is not looked at */
#define UNWIND_MAX_TABLE	SZ_1G

/*
 * A file that has no table, or a bad one, is not asked again; unless what is
 * mapped where the table should be is replaced, as it is while a dynamic loader
 * maps a file's segments over each other.
 */
static int remember_none(struct mm_struct *mm, const struct unwind_mapping *map,
			 const struct unwind_elf_table *where,
			 struct unwind_table *none)
{
	int ret;

	*none = (struct unwind_table){
		.format = UNWIND_TABLE_NONE,
		.from_file = map->file,
		.text_start = map->start,
		.text_end = map->end,
	};
	if (where->size <= UNWIND_MAX_TABLE) {
		none->sframe.start = where->addr;
		none->sframe.end = where->addr + where->size;
	}

	ret = remember(mm, map, NULL, none);
	/* True for now, even if it will have to be looked for again */
	return ret == -ENOMEM || ret == -ENOSPC ? 0 : ret;
}

/*
 * May it be different the next time, with the same mapping?  But for the unwind that
 * looked there is none: it is not to wait for a disk at each frame.
 */
static bool is_transient(int err)
{
	switch (err) {
	case -EAGAIN:
	case -EINTR:
	case -ERESTARTSYS:
	case -EIO:
	case -ESTALE:
	case -ETIMEDOUT:
	case -ENOMEM:
	case -ENOSPC:
		return true;
	default:
		return false;
	}
}

static int find_sframe(struct mm_struct *mm, const struct unwind_mapping *map,
		       struct unwind_table *table)
{
	struct unwind_elf_table where = {};
	int ret;

	*table = (struct unwind_table){
		.format = UNWIND_TABLE_SFRAME,
		.from_file = map->file,
		.text_start = map->start,
		.text_end = map->end,
	};
	ret = unwind_elf_find_table(map, &where);
	if (!ret)
		ret = sframe_read_header(&table->sframe, where.addr, where.size,
					 UNWIND_USER_SFRAME_ABI);
	/* No page is faulted in for who is being killed; others may share the mm */
	if (ret == -EFAULT && fatal_signal_pending(current))
		ret = -EINTR;
	if (!ret) {
		ret = remember(mm, map, &where, table);
		/* It is as true when there are too many to remember it */
		if (ret == -ENOSPC)
			return 0;
	}
	if (!ret) {
		trace_unwind_table_found(map->start, map->end, where.addr,
					 where.size);
		return 0;
	}
	if (ret != -ENOENT)
		trace_unwind_table_invalid(map->start, map->end, where.addr, ret);
	if (!is_transient(ret))
		return remember_none(mm, map, &where, table);
	table->format = UNWIND_TABLE_NONE;
	return ret;
}

/**
 * unwind_table_find - look for the table of a file that is mapped
 * @mm: the current task's address space, without its mmap lock
 * @ip: address in the mapping
 * @table: filled in on success; UNWIND_TABLE_NONE where there is none, also on an
 *	error that need not be met again by the same unwind
 *
 * Context: task; may sleep, and may read the file.
 * Return: 0; -EFAULT when there is no text at @ip; another error when the table
 * could not be looked for, or read.
 */
int unwind_table_find(struct mm_struct *mm, unsigned long ip,
		      struct unwind_table *table)
{
	const struct unwind_elf_table nowhere = {};
	struct unwind_mapping map;
	int ret;

	*table = (struct unwind_table){};
	ret = get_mapping(mm, ip, &map);
	if (ret < 0)
		return ret;
	/* Neither a file nor the vDSO: code that was made at run time */
	if (ret > 0)
		return remember_none(mm, &map, &nowhere, table);

	ret = find_sframe(mm, &map, table);
	if (map.file)
		fput(map.file);
	/* Not even what is mapped there is known any more */
	if (ret == -EAGAIN)
		*table = (struct unwind_table){};
	return ret;
}
