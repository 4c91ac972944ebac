/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A section as the kernel reads it: by its own decoder, kernel/unwind/sframe.c.
 */
#ifndef _UNWIND_TABLES_TEST_KERNEL_TABLE_H
#define _UNWIND_TABLES_TEST_KERNEL_TABLE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "rule.h"
#include "sframe.h"

/**
 * struct kernel_table - a section
 * @section: the kernel's
 * @addr: link-time address of the section
 */
struct kernel_table {
	struct sframe_section	section;
	u64			addr;
};

int kernel_table_open(struct kernel_table *table, const void *section,
		      size_t size, u64 addr, unsigned int machine);
int kernel_table_row(const struct kernel_table *table, u64 addr,
		     struct unwind_frame_rule *row);
bool kernel_rows_equal(const struct unwind_frame_rule *a, const struct unwind_frame_rule *b);

#endif /* _UNWIND_TABLES_TEST_KERNEL_TABLE_H */
