/* SPDX-License-Identifier: GPL-2.0 */
/* Lookups in user memory, in the access mode that they ask for. */
#ifndef _KERNEL_UNWIND_TESTS_SFRAME_USER_H
#define _KERNEL_UNWIND_TESTS_SFRAME_USER_H

#include <linux/uaccess.h>

#include "../sframe.h"

static inline int user_read_header(struct sframe_section *sec,
				   unsigned long start, unsigned long size,
				   u8 abi, enum unwind_user_access access)
{
	int ret;

	if (access == UNWIND_USER_FAULTABLE)
		return sframe_read_header(sec, start, size, abi);
	pagefault_disable();
	ret = sframe_read_header(sec, start, size, abi);
	pagefault_enable();
	return ret;
}

/* @offset counts from the section's start */
static inline int user_find_row(const struct sframe_section *sec, s64 offset,
				enum unwind_user_access access,
				struct unwind_row *row)
{
	int ret;

	if (access == UNWIND_USER_FAULTABLE)
		return sframe_find_row(sec, sec->start + offset, access, row);
	pagefault_disable();
	ret = sframe_find_row(sec, sec->start + offset, access, row);
	pagefault_enable();
	return ret;
}

#endif /* _KERNEL_UNWIND_TESTS_SFRAME_USER_H */
