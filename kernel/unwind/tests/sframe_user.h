/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lookups in user memory, with page faults or without.  The decoder does not know which:
 * its caller disables page faults, and so do these functions.
 */
#ifndef _KERNEL_UNWIND_TESTS_SFRAME_USER_H
#define _KERNEL_UNWIND_TESTS_SFRAME_USER_H

#include <linux/uaccess.h>

#include "../sframe.h"

enum user_faults {
	USER_NO_FAULTS,
	USER_FAULTS,
};

static inline int user_read_header(struct sframe_section *sec,
				   unsigned long start, unsigned long size,
				   u8 abi, enum user_faults faults)
{
	int ret;

	if (faults == USER_FAULTS)
		return sframe_read_header(sec, start, size, abi);
	pagefault_disable();
	ret = sframe_read_header(sec, start, size, abi);
	pagefault_enable();
	return ret;
}

/* @offset counts from the section's start */
static inline int user_find_rule(const struct sframe_section *sec, s64 offset,
				 enum user_faults faults, struct unwind_frame_rule *rule)
{
	int ret;

	if (faults == USER_FAULTS)
		return sframe_find_rule(sec, sec->start + offset, rule);
	pagefault_disable();
	ret = sframe_find_rule(sec, sec->start + offset, rule);
	pagefault_enable();
	return ret;
}

#endif /* _KERNEL_UNWIND_TESTS_SFRAME_USER_H */
