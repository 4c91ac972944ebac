// SPDX-License-Identifier: GPL-2.0
/*
 * Tables: what matters to the task that builds one, or unwinds.  It may be killed in the
 * meantime, and it may be in a function that the table does not describe.
 */
#include <errno.h>
#include <stdlib.h>

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/sched.h>

#include "sframe_test.h"
#include "test_table.h"

static const struct sfb_fre fre_8[] = { SFB_FRE(0, SFB_SP, 0, 8) };
static const struct sfb_fre fre_16[] = { SFB_FRE(0, SFB_SP, 0, 16) };

/* Build the table for a task that is killed when it looks for the @at-th time */
static long build_killed(const struct sfb_table *section, unsigned long at)
{
	struct sframe_table *table;
	long ret;

	task_asked = 0;
	task_killed_at = at;
	table = build(section);
	task_killed_at = 0;
	ret = PTR_ERR_OR_ZERO(table);
	close_table(table);
	return ret;
}

#define FRES		5000

static void killed_task(void)
{
	struct sfb_fre *fres = calloc(FRES, sizeof(*fres));
	const struct sfb_func funcs[] = {
		{ .start = 0x1000, .size = 0x10, SFB_FRES(fre_8) },
		{ .start = 0x1010, .size = 0x10, SFB_FRES(fre_16) },
		{ .start = 0x2000, .size = FRES, .fre_type = 1, .fres = fres, .num_fres = FRES },
	};
	const struct sfb_table section = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64, .fixed_ra = -8,
		SFB_FUNCS(funcs),
	};
	/* Per function: collected, counted, added, its one block; per 1,024 FREs; at the end */
	const unsigned long all = 3 * 4 + FRES / 1024 + 1;
	unsigned long at;
	u32 i;

	tap_begin("table: a task that is killed builds no table");
	for (i = 0; i < FRES; i++)
		fres[i] = (struct sfb_fre)SFB_FRE(i, SFB_SP, 0, 8 + i % 2 * 8);
	CHECK_EQ(build_killed(&section, 0), 0);
	CHECK_EQ(task_asked, all);
	for (at = 1; at <= all; at++) {
		CHECK_EQ(build_killed(&section, at), -EINTR);
		/* Each of the loops that are nested looks once more */
		CHECK_EQ(task_asked <= at + 2, true);
	}
	CHECK_EQ(build_killed(&section, all + 1), 0);
	free(fres);
}

/* The order does not matter then, but sorting has to end */
static void killed_while_it_sorts(void)
{
	struct sfb_func funcs[100];
	const struct sfb_table section = {
		.version = 3, .abi = SFB_AMD64, .fixed_ra = -8, SFB_FUNCS(funcs),
	};
	u32 i;

	tap_begin("table: a task that is killed does not sort");
	for (i = 0; i < 100; i++)
		funcs[i] = (struct sfb_func){
			.start = 0x10000 - i * 32, .size = 16, SFB_FRES(fre_8),
		};
	CHECK_EQ(build_killed(&section, 0), 0);
	CHECK_EQ(build_killed(&section, 150), -EINTR);
}

/* @nr functions of a byte each, side by side: @nr entries, and one more at the end */
static void put_funcs(struct sfb_func *funcs, u32 nr, u64 start)
{
	u32 i;

	for (i = 0; i < nr; i++)
		funcs[i] = (struct sfb_func){
			.start = start + i, .size = 1,
			.fres = i % 2 ? fre_16 : fre_8, .num_fres = 1,
		};
}

static void expect_around(const struct sframe_table *table, s64 block, bool described)
{
	const u64 off = block * (s64)SFRAME_BLOCK;

	CHECK_EQ(sframe_table_describes_around(table, off), described);
	CHECK_EQ(sframe_table_describes_around(table, off + SFRAME_BLOCK - 1), described);
}

/* A dozen entries in 256 blocks on either side */
static void around(void)
{
	struct sfb_func funcs[12];
	struct sfb_table section = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64, .fixed_ra = -8,
		.num_funcs = 11, .funcs = funcs,
	};
	struct sframe_table *table;

	tap_begin("table: whether it describes something nearby, at its start");
	put_funcs(funcs, 11, 0x1000);
	table = build(&section);
	expect_around(table, -257, false);
	expect_around(table, -256, true);
	expect_around(table, 0, true);
	expect_around(table, 256, true);
	expect_around(table, 257, false);
	expect_around(table, 1LL << 40, false);
	expect_around(table, -(1LL << 40), false);
	close_table(table);

	tap_begin("table: whether it describes enough nearby");
	section.num_funcs = 10;
	table = build(&section);
	expect_around(table, 0, false);
	close_table(table);

	tap_begin("table: whether it describes something nearby, amid a table");
	section.num_funcs = 12;
	put_funcs(funcs + 11, 1, 0x1000 + 600 * SFRAME_BLOCK);
	table = build(&section);
	expect_around(table, 256, true);
	expect_around(table, 257, false);
	expect_around(table, 600, false);
	close_table(table);

	tap_begin("table: whether it describes something nearby, at its end");
	put_funcs(funcs, 1, 0x1000);
	put_funcs(funcs + 1, 11, 0x1000 + 300 * SFRAME_BLOCK);
	table = build(&section);
	expect_around(table, 43, false);
	expect_around(table, 44, true);
	expect_around(table, 556, true);
	expect_around(table, 557, false);
	close_table(table);
}

/* Where a rule begins, as seen by looking up each address */
static u64 begin_of(const struct sframe_table *table, u64 off, u64 lowest)
{
	const u64 rule = sframe_table_find(table, table->start + off);

	while (off && sframe_table_find(table, table->start + off - 1) == rule)
		off--;
	return off / SFRAME_BLOCK < lowest / SFRAME_BLOCK ? 0 : off;
}

static void begins(void)
{
	static const u64 lowest[] = { 0, 1, 0xff00, 0x10000, 0x10010, 0x10400 };
	struct sfb_func funcs[64];
	const struct sfb_table section = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64, .fixed_ra = -8,
		SFB_FUNCS(funcs),
	};
	struct sframe_table *table;
	u64 off;
	u32 i;

	tap_begin("table: where rules begin");
	put_funcs(funcs, 20, 0x1000);
	put_funcs(funcs + 20, 20, 0x1000 + 0x10000 - 10);
	put_funcs(funcs + 40, 24, 0x1000 + 0x10400);
	table = build(&section);
	for (i = 0; i < ARRAY_SIZE(lowest); i++)
		for (off = lowest[i]; off < table->span; off += off > 64 && off < 0xff00 ? 61 : 1)
			CHECK_EQ(sframe_table_begin(table, off, lowest[i]),
				 begin_of(table, off, lowest[i]));
	close_table(table);
}

void test_table_task(void)
{
	killed_task();
	killed_while_it_sorts();
	around();
	begins();
}
