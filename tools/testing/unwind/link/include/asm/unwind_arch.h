/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the arch header that unwind_insn.c needs. */
#ifndef _UNWIND_LINK_UNWIND_ARCH_H
#define _UNWIND_LINK_UNWIND_ARCH_H

#include <linux/types.h>
#include <linux/unwind_arch.h>

/* The file's text has no tags */
#define unwind_arch_tags_off()	((void)0)
#define unwind_arch_tags_on()	((void)0)

int unwind_arch_find_caller(unsigned long ip, struct unwind_arch_caller *to);

#endif /* _UNWIND_LINK_UNWIND_ARCH_H */
