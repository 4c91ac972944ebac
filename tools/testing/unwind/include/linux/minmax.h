/* SPDX-License-Identifier: GPL-2.0 */
/* tools/include has them in kernel.h. */
#ifndef _UNWIND_TEST_MINMAX_H
#define _UNWIND_TEST_MINMAX_H

#include <linux/kernel.h>

#endif /* _UNWIND_TEST_MINMAX_H */
