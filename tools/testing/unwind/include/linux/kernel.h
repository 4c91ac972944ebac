/* SPDX-License-Identifier: GPL-2.0 */
/* Definitions of the kernel's kernel.h that are missing in tools/include. */
#ifndef _UNWIND_TEST_KERNEL_H
#define _UNWIND_TEST_KERNEL_H

#include_next <linux/kernel.h>
#include <linux/types.h>
#include <string.h>

#ifndef U8_MAX
#define U8_MAX	((u8)~0U)
#endif
#ifndef S32_MAX
#define S32_MAX	((s32)(~0U >> 1))
#endif
#ifndef U32_MAX
#define U32_MAX	((u32)~0U)
#endif

#endif /* _UNWIND_TEST_KERNEL_H */
