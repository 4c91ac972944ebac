/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks in mmap, fork and exit code, which drop, inherit and free the tables that a process
 * registered: kernel/unwind/tables.c.
 */
#ifndef _LINUX_UNWIND_TABLES_H
#define _LINUX_UNWIND_TABLES_H

#include <linux/errno.h>
#include <linux/mm_types.h>

#ifdef CONFIG_UNWIND_USER_REGISTER

void __unwind_tables_drop(struct mm_struct *mm, unsigned long start,
			  unsigned long end);
void __unwind_tables_fork(struct mm_struct *mm, struct mm_struct *oldmm);
void __unwind_tables_free(struct mm_struct *mm);
int unwind_table_prctl(unsigned long op, unsigned long uattr,
		       unsigned long size, unsigned long arg5);

/**
 * unwind_tables_init - start a new address space without tables
 * @mm: address space that is being set up, not yet visible to other tasks
 */
static inline void unwind_tables_init(struct mm_struct *mm)
{
	mm->unwind_tables = NULL;
}

/**
 * unwind_tables_any - has the process ever registered a table or a chain, or inherited one?
 * @mm: the current task's address space
 *
 * Context: any.
 * Return: whether it has.
 */
static inline bool unwind_tables_any(const struct mm_struct *mm)
{
	return READ_ONCE(mm->unwind_tables);
}

/**
 * unwind_tables_drop - drop the registered ranges of memory that is unmapped
 * @mm: address space, its mmap_lock held for writing
 * @start: first address of the range, which may be empty
 * @end: first address after it
 *
 * Drops each registered range whose text or section overlaps the unmapped memory.
 *
 * Context: task; may sleep.  Costs one test of a pointer if nothing is registered.
 */
static inline void unwind_tables_drop(struct mm_struct *mm, unsigned long start,
				      unsigned long end)
{
	if (unlikely(READ_ONCE(mm->unwind_tables)))
		__unwind_tables_drop(mm, start, end);
}

/**
 * unwind_tables_fork - let a child inherit the tables that its parent registered
 * @mm: the child's address space
 * @oldmm: the parent's, its mmap_lock held for writing
 *
 * The two share the parent's ranges until one of them changes.  This cannot fail: if memory is
 * short, the child starts without ranges.
 *
 * Context: task; may sleep.  Costs one test of a pointer if there are no tables.
 */
static inline void unwind_tables_fork(struct mm_struct *mm,
				      struct mm_struct *oldmm)
{
	if (unlikely(READ_ONCE(oldmm->unwind_tables)))
		__unwind_tables_fork(mm, oldmm);
}

/**
 * unwind_tables_free - free the tables of an address space
 * @mm: address space without users
 */
static inline void unwind_tables_free(struct mm_struct *mm)
{
	if (unlikely(mm->unwind_tables))
		__unwind_tables_free(mm);
}

#else

static inline bool unwind_tables_any(const struct mm_struct *mm)
{
	return false;
}

static inline void unwind_tables_init(struct mm_struct *mm) { }
static inline void unwind_tables_drop(struct mm_struct *mm, unsigned long start,
				      unsigned long end) { }
static inline void unwind_tables_fork(struct mm_struct *mm,
				      struct mm_struct *oldmm) { }

static inline void unwind_tables_free(struct mm_struct *mm) { }

static inline int unwind_table_prctl(unsigned long op, unsigned long uattr,
				     unsigned long size, unsigned long arg5)
{
	return -EINVAL;
}

#endif /* CONFIG_UNWIND_USER_REGISTER */

#endif /* _LINUX_UNWIND_TABLES_H */
