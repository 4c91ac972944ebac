// SPDX-License-Identifier: GPL-2.0
/*
 * Results in the Test Anything Protocol. A case also fails when the code under test read
 * unmapped user memory, whatever the case tests.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"
#include "umem.h"

static unsigned int cases, failed_cases, failed_checks;
static unsigned long violations_before;
static char name[128];
static bool stop, in_case;

void tap_stop_at_failure(void)
{
	stop = true;
}

static void end_case(void)
{
	if (!in_case)
		return;
	in_case = false;
	if (umem_violations != violations_before)
		tap_fail("%lu reads outside what is mapped",
			 umem_violations - violations_before);
	failed_cases += !!failed_checks;
	printf("%sok %u - %s\n", failed_checks ? "not " : "", ++cases, name);
	if (stop && failed_checks)
		exit(tap_finish());
}

void tap_begin(const char *fmt, ...)
{
	va_list args;

	end_case();
	va_start(args, fmt);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	failed_checks = 0;
	violations_before = umem_violations;
	in_case = true;
}

void tap_skip(const char *fmt, ...)
{
	va_list args;

	end_case();
	printf("ok %u # SKIP ", ++cases);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
}

void tap_fail(const char *fmt, ...)
{
	va_list args;

	/* Print the first few only; thousands would hide them */
	if (failed_checks++ >= 10)
		return;
	printf("# %s: ", name);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
}

void tap_check_eq(long long got, long long want, const char *what,
		  const char *file, int line)
{
	if (got != want)
		tap_fail("%s:%d: %s is %lld, not %lld", file, line, what, got,
			 want);
}

int tap_finish(void)
{
	end_case();
	printf("1..%u\n", cases);
	return failed_cases ? 1 : 0;
}
