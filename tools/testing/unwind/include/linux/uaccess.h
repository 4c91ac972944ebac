/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The harness's get_user() and its batched variants. umem.c decides the contents of user
 * memory, and whether the window was open for a read.
 */
#ifndef _UNWIND_TEST_UACCESS_H
#define _UNWIND_TEST_UACCESS_H

#include <linux/types.h>

#include "../../lib/umem.h"

#define get_user(x, ptr) \
	umem_get_user(&(x), (unsigned long)(ptr), sizeof(x))

#define copy_from_user(to, ptr, size) \
	(umem_get_user((to), (unsigned long)(ptr), (size)) ? (size) : 0)

#define might_fault()			((void)0)

#define user_read_access_begin(ptr, size) \
	umem_begin((unsigned long)(ptr), (size))
#define user_read_access_end()		umem_end()

#define unsafe_get_user(x, ptr, label) do {				\
	if (umem_unsafe_get_user(&(x), (unsigned long)(ptr),		\
				 sizeof(x)))				\
		goto label;						\
} while (0)

#endif /* _UNWIND_TEST_UACCESS_H */
