/* SPDX-License-Identifier: GPL-2.0 */
/* The mapping at an address of the current task: see text.c. */
#ifndef _KERNEL_UNWIND_TEXT_H
#define _KERNEL_UNWIND_TEXT_H

#include <linux/mm_types.h>
#include <linux/types.h>

#ifdef CONFIG_UNWIND_USER_SFRAME

/**
 * unwind_is_vdso - is this mapping the vDSO's text?
 * @vma: the mapping; it is locked, or the mmap lock is held
 *
 * Return: whether it is.
 */
static inline bool unwind_is_vdso(const struct vm_area_struct *vma)
{
	return !vma->vm_file &&
	       vma->vm_start == (unsigned long)vma->vm_mm->context.vdso;
}

u64 unwind_text_name(unsigned long ip, char *name, size_t size);
bool unwind_may_be_mapped(unsigned long addr);
bool unwind_may_be_text(unsigned long ip);

#else

static inline u64 unwind_text_name(unsigned long ip, char *name, size_t size)
{
	*name = '\0';
	return 0;
}

static inline bool unwind_may_be_mapped(unsigned long addr)
{
	return true;
}

#endif /* CONFIG_UNWIND_USER_SFRAME */

#endif /* _KERNEL_UNWIND_TEXT_H */
