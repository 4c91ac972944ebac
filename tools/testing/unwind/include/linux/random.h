/* SPDX-License-Identifier: GPL-2.0 */
/* A seed of the harness: the same each time, so that a failure can be repeated. */
#ifndef _UNWIND_TEST_RANDOM_H
#define _UNWIND_TEST_RANDOM_H

#include <linux/types.h>

static inline u32 get_random_u32(void)
{
	return 0x2f0b4c47;
}

#endif /* _UNWIND_TEST_RANDOM_H */
