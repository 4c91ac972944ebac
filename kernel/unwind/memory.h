/* SPDX-License-Identifier: GPL-2.0 */
/* Properties of a mapping of the current task: memory.c. */
#ifndef _KERNEL_UNWIND_MEMORY_H
#define _KERNEL_UNWIND_MEMORY_H

#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/types.h>

/**
 * unwind_is_vdso - is this mapping the vDSO's text?
 * @vma: the mapping, of the current task
 *
 * Context: any; the mapping is locked, or the caller checks afterwards that it was not
 * changed.
 * Return: whether it is.
 */
static inline bool unwind_is_vdso(const struct vm_area_struct *vma)
{
	return !vma->vm_file &&
	       vma->vm_start == (unsigned long)current->mm->context.vdso;
}

/* Bytes of a name that trace events show */
#define UNWIND_NAME_MAX	64

struct file *unwind_text_file(const struct vm_area_struct *vma, u64 *origin);
int unwind_may_fault_in(unsigned long addr, unsigned long beside, bool locked);
int unwind_other_stack(unsigned long addr, unsigned long sp, unsigned long *end, bool locked);
bool unwind_bring_in(unsigned long addr, size_t size, unsigned long beside);
bool unwind_may_read(unsigned long start, unsigned long size);
u64 unwind_text_name(unsigned long ip, char *name, size_t size);

#endif /* _KERNEL_UNWIND_MEMORY_H */
