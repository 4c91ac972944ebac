/* SPDX-License-Identifier: GPL-2.0 */
/* A faulty test stops here, where the kernel only warns. */
#ifndef _UNWIND_TEST_BUG_H
#define _UNWIND_TEST_BUG_H

#include <assert.h>
#include_next <linux/bug.h>

#define WARN_ON(condition) ({ assert(!(condition)); 0; })

#endif /* _UNWIND_TEST_BUG_H */
