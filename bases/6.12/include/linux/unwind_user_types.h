/* SPDX-License-Identifier: GPL-2.0 */
/* The result of an unwind: kernel/unwind/user.c. */
#ifndef _LINUX_UNWIND_USER_TYPES_H
#define _LINUX_UNWIND_USER_TYPES_H

/**
 * struct unwind_stacktrace - addresses of one user stack
 * @nr: number of valid @entries, 0 if nothing could be unwound
 * @entries: the topmost frame's instruction pointer, then return addresses,
 *	innermost first; valid only for the duration of the callback, or until
 *	the current task unwinds again
 */
struct unwind_stacktrace {
	unsigned int	nr;
	unsigned long	*entries;
};

#endif /* _LINUX_UNWIND_USER_TYPES_H */
