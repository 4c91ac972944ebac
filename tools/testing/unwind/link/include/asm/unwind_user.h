/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the arch header that unwind_link.c needs. */
#ifndef _UNWIND_LINK_UNWIND_USER_H
#define _UNWIND_LINK_UNWIND_USER_H

#include <linux/types.h>
#include <linux/unwind_user_arch.h>

#define UNWIND_USER_LINK_REG	30

/* The file's text has no tags */
#define unwind_user_tags_off()	((void)0)
#define unwind_user_tags_on()	((void)0)

int unwind_user_link_holds_ra(unsigned long ip, struct unwind_user_link *link);
int unwind_user_link_called(unsigned long ip, unsigned long ra,
			    struct unwind_user_link *link);

#endif /* _UNWIND_LINK_UNWIND_USER_H */
