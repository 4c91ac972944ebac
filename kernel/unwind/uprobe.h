/* SPDX-License-Identifier: GPL-2.0 */
/* Undo the changes that uprobes made, for the frame loop: uprobe.c. */
#ifndef _KERNEL_UNWIND_UPROBE_H
#define _KERNEL_UNWIND_UPROBE_H

#include <linux/sched.h>
#include <linux/types.h>
#include <linux/unwind_base.h>
#include <linux/uprobes.h>

#ifdef CONFIG_UPROBES

/**
 * unwind_uprobed - may uprobes have changed the current task's stack?
 *
 * Context: task, for itself.
 * Return: false if the task has never hit a probe, so there is nothing to undo.
 */
static inline bool unwind_uprobed(void)
{
	return current->utask;
}

/**
 * unwind_uprobe_leave - go from the code of an optimized uprobe to the probed function
 * @ip: an interrupted frame's instruction pointer; changed if it is in such code
 * @sp: its stack pointer; changed in the same case
 * @word_size: bytes in a stack word
 *
 * Context: any, with page faults disabled.
 * Return: 0, or the address of a word of the stack that could not be read.
 */
static inline unsigned long unwind_uprobe_leave(unsigned long *ip, unsigned long *sp,
						unsigned int word_size)
{
	return word_size == sizeof(u64) ? unwind_arch_uprobe_leave(ip, sp) : 0;
}

/**
 * unwind_uretprobes_hidden - does the task have uprobes that this context cannot undo?
 *
 * Context: any.
 * Return: whether true return addresses, or the address of a probed instruction, are in
 * lists that cannot be read here.
 */
static inline bool unwind_uretprobes_hidden(void)
{
	const struct uprobe_task *utask = READ_ONCE(current->utask);

	return utask && !in_task() &&
	       (READ_ONCE(utask->return_instances) ||
		READ_ONCE(utask->active_uprobe));
}

#else

static inline bool unwind_uprobed(void)
{
	return false;
}

static inline unsigned long unwind_uprobe_leave(unsigned long *ip, unsigned long *sp,
						unsigned int word_size)
{
	return 0;
}

static inline bool unwind_uretprobes_hidden(void)
{
	return false;
}

#endif /* CONFIG_UPROBES */

/* If unwind_uprobed() */
unsigned long unwind_uprobe_ip(unsigned long ip);
bool unwind_uretprobe_ra(unsigned long *ra, unsigned long cfa,
			 unsigned int word_size);
bool unwind_uretprobe_record_ra(unsigned long *ra, unsigned long *sp,
				unsigned long fp);
unsigned long unwind_uretprobe_leave(unsigned long *ip, unsigned long *sp,
				     unsigned int word_size);

#endif /* _KERNEL_UNWIND_UPROBE_H */
