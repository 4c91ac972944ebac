/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of the sections that are fuzzed; see sframe_fuzz_table.c. */
#ifndef _UNWIND_TEST_SFRAME_FUZZ_TABLE_H
#define _UNWIND_TEST_SFRAME_FUZZ_TABLE_H

#include "sframe.h"

/* Build a table; @header is what reading the header returned, and @sec what it filled in */
void fuzz_table_open(const u8 *bytes, size_t size, u64 base, u8 abi, int header,
		     const struct sframe_section *sec);
/* The decoder's answer to @ip is @ret and @rule: is the table's the same? */
void fuzz_table_compare(u64 ip, int ret, const struct unwind_frame_rule *rule);
void fuzz_table_close(void);

/* Of the fuzz targets: a lookup that keeps its promises, and the end if something fails */
int fuzz_look_up(const struct sframe_section *sec, unsigned long ip,
		 struct unwind_frame_rule *rule);
void fuzz_die(const char *why);

#endif /* _UNWIND_TEST_SFRAME_FUZZ_TABLE_H */
