/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The results of a test program, as TAP.  The program defines SUBJECT before.
 */
#ifndef _UNWIND_TABLES_RESULT_H
#define _UNWIND_TABLES_RESULT_H

#include <stdbool.h>
#include <stdio.h>

static unsigned int nr, failed;

static inline void result(bool ok, const char *name)
{
	failed += !ok;
	printf("%sok %u - " SUBJECT ": %s\n", ok ? "" : "not ", ++nr, name);
	fflush(stdout);
}

/* To be returned by main() */
static inline int end_results(void)
{
	printf("1..%u\n", nr);
	return !!failed;
}

#endif /* _UNWIND_TABLES_RESULT_H */
