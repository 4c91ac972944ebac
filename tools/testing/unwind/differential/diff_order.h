/* SPDX-License-Identifier: GPL-2.0 */
/* Sections of the other byte order, read as a machine of that order reads them. */
#ifndef _UNWIND_TEST_DIFF_ORDER_H
#define _UNWIND_TEST_DIFF_ORDER_H

#include <linux/types.h>

/*
 * Call before reading the section that was mapped at @addr: if it is of the other
 * byte order, whatever is read of it is swapped; returns whether that is so.
 */
bool order_follow(unsigned long addr, const u8 *bytes, size_t size);

#endif /* _UNWIND_TEST_DIFF_ORDER_H */
