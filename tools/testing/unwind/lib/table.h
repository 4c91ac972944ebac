/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables beside lookups: a table (sframe_table.c) of a section has to say of each address
 * what the decoder says (sframe.c).
 */
#ifndef _UNWIND_TEST_TABLE_H
#define _UNWIND_TEST_TABLE_H

#include "rule_compare.h"
#include "sframe_table.h"

/* Text around the section that tests build tables for; offsets count from its start */
#define TABLE_REACH	0x60000000UL

/* A table of a section that is linked at @vaddr; an ERR_PTR() if it cannot be had */
struct sframe_table *table_of(const void *section, size_t size, u64 vaddr, u8 abi);

/*
 * Does a lookup of @ip in @table end as one in the section, with @ret and @rule?  NULL if
 * it does, else what is wrong.
 */
const char *table_differs(const struct sframe_table *table, u64 vaddr, u64 ip,
			  int ret, const struct unwind_frame_rule *rule);

/* Checks the invariants of tables; NULL if they hold, else the one that does not */
const char *table_broken(const struct sframe_table *table, size_t section_size);

#endif /* _UNWIND_TEST_TABLE_H */
