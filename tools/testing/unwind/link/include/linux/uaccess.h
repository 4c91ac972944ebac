/* SPDX-License-Identifier: GPL-2.0 */
/* User memory is the text of the checked file. */
#ifndef _UNWIND_LINK_UACCESS_H
#define _UNWIND_LINK_UACCESS_H

#include "../../text.h"

#define user_read_access_begin(ptr, size)	((void)(ptr), (void)(size), true)
#define user_read_access_end()			((void)0)

#define unsafe_get_user(x, ptr, label) do {			\
	if (text_read((unsigned long)(ptr), &(x), sizeof(x)))	\
		goto label;					\
} while (0)

#define get_user(x, ptr)	text_read((unsigned long)(ptr), &(x), sizeof(x))

#endif /* _UNWIND_LINK_UACCESS_H */
