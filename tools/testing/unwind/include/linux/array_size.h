/* SPDX-License-Identifier: GPL-2.0 */
/* tools/include has it in kernel.h. */
#ifndef _UNWIND_TEST_ARRAY_SIZE_H
#define _UNWIND_TEST_ARRAY_SIZE_H

#include <linux/kernel.h>

#endif /* _UNWIND_TEST_ARRAY_SIZE_H */
