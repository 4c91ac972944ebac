// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate stacks: settings and counts, see immediate_counts.h.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "immediate_counts.h"

#define METHODS		"/sys/kernel/unwind/methods"
#define COUNTS		"/sys/kernel/debug/unwind/immediate"

long read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	long number = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

int write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	int ret;

	if (!file)
		return -1;
	ret = fputs(text, file);
	return fclose(file) || ret < 0 ? -1 : 0;
}

static const char * const count_names[] = {
	[TAKEN]		= "taken",
	[NO_TABLE]	= "no table had a say",
	[MISSING]	= "not known or not resident",
	[CHANGING]	= "being changed",
	[UPROBE]	= "return addresses hidden by uretprobes",
	[SIGRETURN]	= "while a signal returns",
	[ASKED]		= "asked for",
};

void read_counts(long counts[NR_COUNTS])
{
	FILE *file = fopen(COUNTS, "r");
	char line[128], name[128];
	long count;
	int i;

	for (i = 0; i < NR_COUNTS; i++)
		counts[i] = -1;
	while (file && fgets(line, sizeof(line), file))
		for (i = 0; i < NR_COUNTS; i++)
			if (sscanf(line, "%ld %127[^\n]", &count, name) == 2 &&
			    !strcmp(name, count_names[i]))
				counts[i] = count;
	if (file)
		fclose(file);
}

bool immediate_missing(void)
{
	FILE *file = fopen(METHODS, "r");
	char methods[64] = "";

	if (!file)
		return false;
	if (!fgets(methods, sizeof(methods), file))
		methods[0] = 0;
	fclose(file);
	return strstr(methods, "sframe") && access(IMMEDIATE_SYSCTL, F_OK);
}
