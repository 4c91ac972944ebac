/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_UNWIND_RECORD_H
#define _KERNEL_UNWIND_RECORD_H

#include <linux/types.h>

struct sframe_table;
struct unwind_arch_caller;

bool unwind_record_is_own(const struct sframe_table *table, unsigned long origin,
			  unsigned long addr, struct unwind_arch_caller *insns);

#endif /* _KERNEL_UNWIND_RECORD_H */
