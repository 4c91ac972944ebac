/* SPDX-License-Identifier: GPL-2.0 */
/* The tables that a process registered (tables.c). */
#ifndef _KERNEL_UNWIND_TABLES_H
#define _KERNEL_UNWIND_TABLES_H

#include <linux/types.h>

#include "mapping.h"
#include "rule.h"

struct mm_struct;
struct unwind_chain;
struct unwind_chain_found;
struct unwind_range;

int unwind_copy_attr(void *attr, size_t known, u64 uattr, size_t size);
int unwind_tables_find(struct mm_struct *mm, unsigned long addr,
		       struct unwind_mapping *map, struct unwind_mapping *hole);
unsigned int unwind_tables_nr(struct mm_struct *mm);
int unwind_tables_build(struct mm_struct *mm, unsigned long addr);
int unwind_tables_find_rule(struct mm_struct *mm, unsigned long addr,
			    struct unwind_frame_rule *rule);
void unwind_tables_trace_invalid(unsigned long text_start, unsigned long text_end,
				 unsigned long table, int error);
bool unwind_tables_is_jit(const struct vm_area_struct *vma, unsigned long addr);

int unwind_tables_register(struct mm_struct *mm, struct unwind_range *range,
			   unsigned int max);
int unwind_tables_unregister(struct mm_struct *mm, u64 key);

int unwind_tables_add_chain(struct mm_struct *mm, struct unwind_chain *chain);
int unwind_tables_del_chain(struct mm_struct *mm, u64 key);
unsigned int unwind_tables_get_chains(struct mm_struct *mm,
				      struct unwind_chain_found *found);

#endif /* _KERNEL_UNWIND_TABLES_H */
