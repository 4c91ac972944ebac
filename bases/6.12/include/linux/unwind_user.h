/* SPDX-License-Identifier: GPL-2.0 */
/* The current task's user stack, with page faults: kernel/unwind/user.c. */
#ifndef _LINUX_UNWIND_USER_H
#define _LINUX_UNWIND_USER_H

#include <linux/errno.h>
#include <linux/unwind_user_types.h>

#ifdef CONFIG_UNWIND_USER

int unwind_user(struct unwind_stacktrace *trace, unsigned int max);

#else

static inline int unwind_user(struct unwind_stacktrace *trace, unsigned int max)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_UNWIND_USER */

#endif /* _LINUX_UNWIND_USER_H */
