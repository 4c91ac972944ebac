/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's sort(), by the C library's. */
#ifndef _UNWIND_TEST_SORT_H
#define _UNWIND_TEST_SORT_H

#include <stdlib.h>

#include <linux/types.h>

static inline void sort(void *base, size_t num, size_t size,
			int (*cmp)(const void *, const void *), void *swap)
{
	(void)swap;
	qsort(base, num, size, cmp);
}

#endif /* _UNWIND_TEST_SORT_H */
