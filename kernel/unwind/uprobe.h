/* SPDX-License-Identifier: GPL-2.0 */
/* What uprobes have changed, for the iterator: uprobe.c. */
#ifndef _KERNEL_UNWIND_UPROBE_H
#define _KERNEL_UNWIND_UPROBE_H

#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uprobes.h>

#ifdef CONFIG_UPROBES

/**
 * unwind_uprobed - may uprobes have changed the current task's stack?
 *
 * Context: task, for itself.
 * Return: false if no probe has ever been hit by it, so that nothing of it needs
 * to be put right.
 */
static inline bool unwind_uprobed(void)
{
	return current->utask;
}

/**
 * unwind_uretprobes_hidden - are there return addresses put aside that cannot be
 * looked up from here?
 *
 * Context: any.
 * Return: whether there are.
 */
static inline bool unwind_uretprobes_hidden(void)
{
	const struct uprobe_task *utask = READ_ONCE(current->utask);

	return utask && !in_task() &&
	       (READ_ONCE(utask->return_instances) ||
		READ_ONCE(utask->active_uprobe));
}

unsigned long unwind_uprobe_ip(unsigned long ip);
bool unwind_uretprobe_ra(unsigned long *ra, unsigned long cfa,
			 unsigned int word_size);
bool unwind_uretprobe_record_ra(unsigned long *ra, unsigned long *sp,
				unsigned long fp);
void unwind_uretprobe_leave(unsigned long *ip, unsigned long *sp,
			    unsigned int word_size);

#else

static inline bool unwind_uprobed(void)
{
	return false;
}

static inline bool unwind_uretprobes_hidden(void)
{
	return false;
}

static inline unsigned long unwind_uprobe_ip(unsigned long ip)
{
	return ip;
}

static inline bool unwind_uretprobe_ra(unsigned long *ra, unsigned long cfa,
				       unsigned int word_size)
{
	return true;
}

static inline bool unwind_uretprobe_record_ra(unsigned long *ra,
					      unsigned long *sp,
					      unsigned long fp)
{
	return true;
}

static inline void unwind_uretprobe_leave(unsigned long *ip, unsigned long *sp,
					  unsigned int word_size)
{
}

#endif /* CONFIG_UPROBES */

#endif /* _KERNEL_UNWIND_UPROBE_H */
