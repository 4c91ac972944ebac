/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The current task's user stack: immediate, in any context (kernel/unwind/immediate.c), or
 * with page faults (walk.c).
 */
#ifndef _LINUX_UNWIND_STACK_H
#define _LINUX_UNWIND_STACK_H

#include <linux/errno.h>
#include <linux/mm_types.h>
#include <linux/unwind_stack_types.h>
#include <linux/unwind_user_types.h>

struct pt_regs;
struct unwind_walk_notes;

int unwind_walk(struct unwind_stacktrace *trace, unsigned int max,
		struct unwind_walk_notes *notes);
enum unwind_text_kind unwind_find_text(const struct vm_area_struct *vma,
				       unsigned long ip, u64 *offset);

#if defined(CONFIG_UNWIND_USER_FP) || defined(CONFIG_UNWIND_USER_SFRAME)

bool unwind_regs_saved(void);

#else

static inline bool unwind_regs_saved(void)
{
	return true;
}

#endif /* CONFIG_UNWIND_USER_FP || CONFIG_UNWIND_USER_SFRAME */

#ifdef CONFIG_UNWIND_USER_IMMEDIATE

unsigned int unwind_immediate(struct pt_regs *regs, unsigned long *entries,
			      unsigned int max);

/**
 * unwind_immediate_init_mm - start a new address space without knowledge about its tables
 * @mm: address space that is being set up, not yet visible to other tasks
 */
static inline void unwind_immediate_init_mm(struct mm_struct *mm)
{
	mm->unwind_bare = 0;
}

#else

static inline unsigned int
unwind_immediate(struct pt_regs *regs, unsigned long *entries, unsigned int max)
{
	return 0;
}

static inline void unwind_immediate_init_mm(struct mm_struct *mm) { }

#endif /* CONFIG_UNWIND_USER_IMMEDIATE */

#endif /* _LINUX_UNWIND_STACK_H */
