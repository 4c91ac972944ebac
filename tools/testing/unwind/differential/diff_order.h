/* SPDX-License-Identifier: GPL-2.0 */
/* Sections of the other byte order, read as a machine of that order reads them. */
#ifndef _UNWIND_TEST_DIFF_ORDER_H
#define _UNWIND_TEST_DIFF_ORDER_H

#include <linux/types.h>

/*
 * Call this before reading the section that was mapped at @addr.  If the section
 * has the other byte order, all reads of it are swapped, and this returns true.
 */
bool order_follow(unsigned long addr, const u8 *bytes, size_t size);

#endif /* _UNWIND_TEST_DIFF_ORDER_H */
