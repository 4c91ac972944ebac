/* SPDX-License-Identifier: GPL-2.0 */
/* Registered sections that are parts of files: section.c. */
#ifndef _KERNEL_UNWIND_SECTION_H
#define _KERNEL_UNWIND_SECTION_H

#include <linux/types.h>

struct mm_struct;
struct unwind_mapping;

int unwind_section_find(struct mm_struct *mm, const struct unwind_mapping *section,
			struct unwind_mapping *map);
bool unwind_section_load(const struct unwind_mapping *section,
			 const struct unwind_mapping *text);

#endif /* _KERNEL_UNWIND_SECTION_H */
