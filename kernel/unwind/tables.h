/* SPDX-License-Identifier: GPL-2.0 */
/* The tables that a process registered (tables.c). */
#ifndef _KERNEL_UNWIND_TABLES_H
#define _KERNEL_UNWIND_TABLES_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <uapi/linux/unwind.h>

#include "mapping.h"
#include "rule.h"

struct mm_struct;
struct unwind_chain;
struct unwind_chain_found;
struct unwind_range;
struct unwind_registry;

/**
 * struct unwind_tables - the tables of an address space
 * @lock: protects all changes; taken inside the mmap lock
 * @registered: registered ranges, perhaps shared with other processes; NULL if there are none
 * @dropped: marks the shared ranges that this process has dropped
 * @chains: registered chains; unused elements are NULL
 */
struct unwind_tables {
	struct mutex			lock;	/* for changes of what is registered */
	struct unwind_registry __rcu	*registered;
	struct xarray			dropped;
	struct unwind_chain __rcu	*chains[UNWIND_CHAIN_MAX];
};

struct unwind_tables *unwind_tables_get(struct mm_struct *mm);
int unwind_copy_attr(void *attr, size_t known, u64 uattr, size_t size);
int unwind_tables_find(struct mm_struct *mm, unsigned long addr,
		       struct unwind_mapping *map, struct unwind_mapping *section,
		       struct unwind_mapping *hole);
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

/* With CONFIG_UNWIND_USER_LANGUAGES: chain_set.c */
bool unwind_chains_any(struct unwind_tables *tables);
void unwind_chains_share(struct unwind_tables *to, struct unwind_tables *from);
void unwind_chains_free(struct unwind_tables *tables);
unsigned int unwind_chains_get(struct mm_struct *mm, struct unwind_chain_found *found);

#endif /* _KERNEL_UNWIND_TABLES_H */
