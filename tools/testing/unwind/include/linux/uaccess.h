/* SPDX-License-Identifier: GPL-2.0 */
/* get_user() of the harness: what user memory holds is up to umem.c. */
#ifndef _UNWIND_TEST_UACCESS_H
#define _UNWIND_TEST_UACCESS_H

#include <linux/types.h>

#include "../../umem.h"

#define get_user(x, ptr) \
	umem_get_user(&(x), (unsigned long)(ptr), sizeof(x))

#endif /* _UNWIND_TEST_UACCESS_H */
