/* SPDX-License-Identifier: GPL-2.0 */
/* Definitions of the kernel's bitops.h that are missing in tools/include. */
#ifndef _UNWIND_LINK_BITOPS_H
#define _UNWIND_LINK_BITOPS_H

#include_next <linux/bitops.h>
#include <linux/types.h>

static inline s32 sign_extend32(u32 value, int index)
{
	return (s32)(value << (31 - index)) >> (31 - index);
}

#endif /* _UNWIND_LINK_BITOPS_H */
