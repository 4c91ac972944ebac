// SPDX-License-Identifier: GPL-2.0
/* The current task's user stack, by the name that mainline has for it. */

#include <linux/export.h>
#include <linux/unwind_stack.h>
#include <linux/unwind_user.h>

/**
 * unwind_user - take the current task's user stack
 * @trace: @trace->entries has room for @max addresses; @trace->nr is set
 * @max: limit on the number of frames
 *
 * Context: task context that may sleep, without the mmap lock.
 * Return: as unwind_walk().
 */
int unwind_user(struct unwind_stacktrace *trace, unsigned int max)
{
	return unwind_walk(trace, max, NULL);
}
EXPORT_SYMBOL_GPL(unwind_user);
