/* SPDX-License-Identifier: GPL-2.0 */
/* tools/include has it as well, but there it needs what else is in kernel.h. */
#ifndef _UNWIND_TEST_UNALIGNED_H
#define _UNWIND_TEST_UNALIGNED_H

#include <linux/kernel.h>
#include_next <linux/unaligned.h>

#endif /* _UNWIND_TEST_UNALIGNED_H */
