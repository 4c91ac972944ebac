/* SPDX-License-Identifier: GPL-2.0 */
/* What was compared, by kind of section: version and architecture. */
#ifndef _UNWIND_TEST_DIFF_REPORT_H
#define _UNWIND_TEST_DIFF_REPORT_H

#include <linux/types.h>

struct diff_count {
	unsigned long	files;
	unsigned long	functions;
	unsigned long	fres;		/* as the tables have them */
	unsigned long	addresses;	/* that both were asked about */
	unsigned long	found;		/* where libsframe had an FRE */
	unsigned long	differences;
	unsigned long	section_bytes;	/* of sections that have a table */
	unsigned long	table_bytes;
};

/* Is it a kind that the kernel is meant to read? */
bool report_has_kind(u8 version, u8 abi);

/* Add the count of a section of such a kind */
void report_add(u8 version, u8 abi, const struct diff_count *count);

/*
 * Print the table; a kind that should be there but is not becomes a skipped test.
 * Returns how many addresses had an FRE.
 */
unsigned long report_print(u8 max_version);

#endif /* _UNWIND_TEST_DIFF_REPORT_H */
