// SPDX-License-Identifier: GPL-2.0
/*
 * The differential test's result, by kind of section.
 */
#include <stdio.h>

#include <linux/kernel.h>

#include "diff_report.h"
#include "sframe_format.h"
#include "tap.h"

static const char * const abis[] = {
	[SFRAME_ABI_AARCH64_ENDIAN_BIG] = "AArch64 big-endian",
	[SFRAME_ABI_AARCH64_ENDIAN_LITTLE] = "AArch64",
	[SFRAME_ABI_AMD64_ENDIAN_LITTLE] = "AMD64",
};

static struct diff_count counts[SFRAME_VERSION_3 + 1][ARRAY_SIZE(abis)];

static void count_add(struct diff_count *to, const struct diff_count *count)
{
	to->files += count->files;
	to->functions += count->functions;
	to->fres += count->fres;
	to->addresses += count->addresses;
	to->found += count->found;
	to->differences += count->differences;
	to->section_bytes += count->section_bytes;
	to->table_bytes += count->table_bytes;
}

bool report_has_kind(u8 version, u8 abi)
{
	return version >= SFRAME_VERSION_2 && version < ARRAY_SIZE(counts) &&
	       abi < ARRAY_SIZE(abis) && abis[abi];
}

void report_add(u8 version, u8 abi, const struct diff_count *count)
{
	count_add(&counts[version][abi], count);
}

static void print_count(const char *version, const char *abi,
			const struct diff_count *count)
{
	printf("# %-7s %-20s %7lu %9lu %9lu %10lu %11lu %10lu %10lu\n", version, abi,
	       count->files, count->functions, count->fres, count->addresses,
	       count->differences, count->section_bytes, count->table_bytes);
}

unsigned long report_print(u8 max_version)
{
	struct diff_count total = {};
	u8 version, abi;
	char name[4];

	printf("# by libsframe that reads version %u and earlier:\n",
	       max_version);
	printf("# %-7s %-20s %7s %9s %9s %10s %11s %10s %10s\n", "version",
	       "architecture", "files", "functions", "FREs", "addresses",
	       "differences", "sections", "tables");
	for (version = SFRAME_VERSION_2; version <= max_version; version++) {
		for (abi = 0; abi < ARRAY_SIZE(abis); abi++) {
			if (!abis[abi])
				continue;
			snprintf(name, sizeof(name), "%u", version);
			print_count(name, abis[abi], &counts[version][abi]);
			count_add(&total, &counts[version][abi]);
			if (!counts[version][abi].files)
				tap_skip("diff: no file of version %u, %s",
					 version, abis[abi]);
		}
	}
	print_count("total:", "", &total);
	return total.found;
}
