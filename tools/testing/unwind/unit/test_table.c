// SPDX-License-Identifier: GPL-2.0
/*
 * Tables: what one has for a section that is right, and what for one that is not.
 *
 * A section is linked at SECTION, and text that starts there has offset 0 unless a test
 * has segments of its own: offsets are then the starts that sframe_build.h takes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/slab.h>

#include "sframe_test.h"
#include "table.h"
#include "test_table.h"

static const struct sframe_segment all_text = { .vaddr = SECTION, .size = 1ULL << 41 };

struct sframe_table *build_image(const struct sfb_image *img,
				 const struct sframe_segment *segments,
				 unsigned int nr_segments)
{
	const struct sframe_image image = {
		.section = img->bytes, .size = img->size, .vaddr = SECTION,
		.segments = segments, .nr_segments = nr_segments,
	};
	struct sframe_table *table;
	const char *broken;
	long used = slab_used;

	table = sframe_table_build(&image, img->bytes[SFB_HDR_ABI]);
	CHECK_EQ(slab_used - used, !IS_ERR(table));
	if (IS_ERR(table))
		return table;
	broken = table_broken(table, img->size);
	if (broken)
		tap_fail("%s", broken);
	return table;
}

struct sframe_table *build_text(const struct sfb_image *img)
{
	return build_image(img, &all_text, 1);
}

struct sframe_table *build_section(const struct sfb_table *section,
				   const struct sframe_segment *segments,
				   unsigned int nr_segments)
{
	struct sframe_table *table;
	struct sfb_image img;

	sfb_build(&img, section);
	table = build_image(&img, segments, nr_segments);
	sfb_free(&img);
	return table;
}

struct sframe_table *build(const struct sfb_table *section)
{
	return build_section(section, &all_text, 1);
}

void expect_rules(const struct sframe_table *table, u64 from, u64 to, u64 packed)
{
	u64 i, found;

	if (IS_ERR(table)) {
		tap_fail("no table: %ld", PTR_ERR(table));
		return;
	}
	for (i = from; i < to; i++) {
		found = sframe_table_find(table, i);
		if (found != packed)
			tap_fail("at %#llx: rule %#llx, not %#llx", (long long)i,
				 (long long)found, (long long)packed);
	}
}

void expect_no_table(const struct sfb_table *section, int error)
{
	struct sframe_table *table = build(section);

	CHECK_EQ(PTR_ERR_OR_ZERO(table), error);
	close_table(table);
}

void close_table(struct sframe_table *table)
{
	if (!IS_ERR(table))
		sframe_table_free(table);
}

/*
 * Layout
 */

static const struct sfb_fre three_fres[] = {
	SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(4, SFB_SP, 0, 16, -16),
	SFB_FRE(9, SFB_FP, 0, 16, -16),
};

static const struct sfb_fre one_fre[] = { SFB_FRE(0, SFB_SP, 0, 8) };
static const struct sfb_fre late_rule[] = { SFB_FRE(4, SFB_SP, 0, 24) };

static void expect_three_fres(const struct sframe_table *table, u64 start, u64 end)
{
	expect_rules(table, start, start + 4, ORDINARY(8));
	expect_rules(table, start + 4, start + 9, ORDINARY(16) | SAVED(-16));
	expect_rules(table, start + 9, end, ORDINARY(16) | SAVED(-16) | SFRAME_RULE_CFA_FP);
}

/* Before, between and after: three functions.  Two have the same rules. */
static void layout(u8 version, u8 flags)
{
	const struct sfb_func funcs[] = {
		{ .start = 0x1010, .size = 0x30, SFB_FRES(three_fres) },
		{ .start = 0x1040, .size = 0x10, SFB_FRES(one_fre) },
		{ .start = 0x1100, .size = 0x101, SFB_FRES(three_fres) },
	};
	const struct sfb_table section = {
		.version = version, .flags = flags, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table;

	tap_begin("table: v%u, flags %u: arrays and bounds", version, flags);
	table = build(&section);
	if (IS_ERR(table)) {
		tap_fail("no table: %ld", PTR_ERR(table));
		return;
	}
	CHECK_EQ(table->start, 0x1000);
	CHECK_EQ(table->span, 0x201);
	CHECK_EQ(table->nr, 1 + 3 + 1 + 1 + 3 + 1);
	CHECK_EQ(table->nr_rules, 5);
	CHECK_EQ(table->nr_complex, 0);
	expect_rules(table, 0, 0x1010, SFRAME_RULE_NONE);
	expect_three_fres(table, 0x1010, 0x1040);
	expect_rules(table, 0x1040, 0x1050, ORDINARY(8));
	expect_rules(table, 0x1050, 0x1100, SFRAME_RULE_NONE);
	expect_three_fres(table, 0x1100, 0x1201);
	expect_rules(table, 0x1201, 0x3000, SFRAME_RULE_NONE);
	expect_rules(table, 0x100001010, 0x100001020, SFRAME_RULE_NONE);
	expect_rules(table, -0x1000UL, -1UL, SFRAME_RULE_NONE);
	close_table(table);
}

/* Rows and functions in turn that say the same take one entry, with or without size */
static void same_rule(void)
{
	static const struct sfb_fre fres[] = {
		SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(4, SFB_SP, 0, 8),
		SFB_FRE(8, SFB_SP, 0, 16), SFB_FRE(8, SFB_SP, 0, 8),
	};
	const struct sfb_func funcs[] = {
		{ .start = 0x1000, .size = 0x10, SFB_FRES(fres) },
		{ .start = 0x1010, .size = 0x10, SFB_FRES(one_fre) },
	};
	const struct sfb_table section = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64, .fixed_ra = -8,
		SFB_FUNCS(funcs),
	};
	struct sframe_table *table;

	tap_begin("table: what says the same takes one entry");
	table = build(&section);
	expect_rules(table, 0x1000, 0x1020, ORDINARY(8));
	expect_rules(table, 0x1020, 0x1100, SFRAME_RULE_NONE);
	if (!IS_ERR(table))
		CHECK_EQ(table->nr, 3);
	close_table(table);
}

/* Offsets around blocks of 128 and pages of 65536 bytes, where functions end or start */
static void boundaries(u64 boundary)
{
	const struct sfb_fre fres[] = {
		SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(3, SFB_SP, 0, 16),
	};
	u64 start;

	tap_begin("table: functions around offset %#llx", (long long)boundary);
	for (start = boundary - 8; start <= boundary + 2; start++) {
		const struct sfb_func funcs[] = {
			{ .start = boundary - 0x100, .size = 1, SFB_FRES(one_fre) },
			{ .start = start, .size = 6, SFB_FRES(fres) },
			{ .start = start + 8, .size = 1, SFB_FRES(one_fre) },
		};
		const struct sfb_table section = {
			.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64,
			.fixed_ra = -8, SFB_FUNCS(funcs),
		};
		struct sframe_table *table = build(&section);

		expect_rules(table, boundary - 0x180, boundary - 0x100, SFRAME_RULE_NONE);
		expect_rules(table, boundary - 0x100, boundary - 0xff, ORDINARY(8));
		expect_rules(table, boundary - 0xff, start, SFRAME_RULE_NONE);
		expect_rules(table, start, start + 3, ORDINARY(8));
		expect_rules(table, start + 3, start + 6, ORDINARY(16));
		expect_rules(table, start + 6, start + 8, SFRAME_RULE_NONE);
		expect_rules(table, start + 8, start + 9, ORDINARY(8));
		expect_rules(table, start + 9, start + 0x200, SFRAME_RULE_NONE);
		close_table(table);
	}
}

/* Another rule at each byte, so that blocks, pages and the counts of both are full */
static void full_blocks(u64 start, u32 per_func, u32 num_funcs)
{
	struct sfb_fre *fres = calloc(per_func, sizeof(*fres));
	struct sfb_func *funcs = calloc(num_funcs, sizeof(*funcs));
	const struct sfb_table section = {
		.version = 2, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, .num_funcs = num_funcs, .funcs = funcs,
	};
	struct sframe_table *table;
	u32 i;

	tap_begin("table: %u functions from %#llx on, with %u FREs of a byte each",
		  num_funcs, (long long)start, per_func);
	for (i = 0; i < per_func; i++)
		fres[i] = (struct sfb_fre)SFB_FRE(i, SFB_SP, 0, 8 + i % 4 * 8);
	for (i = 0; i < num_funcs; i++)
		funcs[i] = (struct sfb_func){
			.start = start + (u64)i * per_func, .size = per_func,
			.fre_type = 2, .fres = fres, .num_fres = per_func,
		};
	table = build(&section);
	expect_rules(table, start - 0x80, start, SFRAME_RULE_NONE);
	for (i = 0; i < num_funcs * per_func; i++)
		expect_rules(table, start + i, start + i + 1,
			     ORDINARY(8 + i % per_func % 4 * 8));
	expect_rules(table, start + i, start + i + 0x80, SFRAME_RULE_NONE);
	close_table(table);
	free(funcs);
	free(fres);
}

/*
 * Segments
 */

/* Functions that lie in one segment, or straddle two */
static void segments(void)
{
	static const struct sframe_segment segs[] = {
		/* Two with addresses of their own in one page of the file */
		{ .vaddr = SECTION + 0x10000, .offset = 0x3000, .size = 0x800 },
		{ .vaddr = SECTION + 0x20800, .offset = 0x3800, .size = 0x800 },
		/* The last addresses that there are */
		{ .vaddr = -0x1000UL, .offset = 0x8000, .size = 0x1000 },
	};
	const struct sfb_func funcs[] = {
		{ .start = 0xfff8, .size = 0x10, SFB_FRES(three_fres) },
		{ .start = 0x10000, .size = 0x20, SFB_FRES(one_fre) },
		{ .start = 0x107e0, .size = 0x21, SFB_FRES(three_fres) },
		{ .start = 0x107f0, .size = 0x10, SFB_FRES(one_fre) },
		{ .start = 0x10800, .size = 0x10, SFB_FRES(three_fres) },
		{ .start = 0x207f0, .size = 0x20, SFB_FRES(three_fres) },
		{ .start = 0x20800, .size = 0x10, SFB_FRES(three_fres) },
		{ .start = 0x20fff, .size = 1, SFB_FRES(one_fre) },
		{ .start = 0x21000, .size = 1, SFB_FRES(one_fre) },
		{ .start = 0x20900, .size = 0xffffffff, SFB_FRES(one_fre) },
		{ .start = -0x10LL - SECTION, .size = 0x10, SFB_FRES(one_fre) },
		{ .start = -0x20LL - SECTION, .size = 0x21, SFB_FRES(three_fres) },
	};
	const struct sfb_table section = {
		.version = 3, .abi = SFB_AMD64, .fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table;

	tap_begin("table: functions that lie in one of several parts of the file");
	table = build_section(&section, segs, ARRAY_SIZE(segs));
	expect_rules(table, 0x2000, 0x3000, SFRAME_RULE_NONE);
	expect_rules(table, 0x3000, 0x3020, ORDINARY(8));
	expect_rules(table, 0x3020, 0x37f0, SFRAME_RULE_NONE);
	expect_rules(table, 0x37f0, 0x3800, ORDINARY(8));
	expect_three_fres(table, 0x3800, 0x3810);
	expect_rules(table, 0x3810, 0x3fff, SFRAME_RULE_NONE);
	expect_rules(table, 0x3fff, 0x4000, ORDINARY(8));
	expect_rules(table, 0x4000, 0x8ff0, SFRAME_RULE_NONE);
	expect_rules(table, 0x8ff0, 0x9000, ORDINARY(8));
	expect_rules(table, 0x9000, 0xa000, SFRAME_RULE_NONE);
	close_table(table);

	tap_begin("table: no segment has a function");
	CHECK_EQ(PTR_ERR(build_section(&section, segs, 0)), -ENOENT);
	CHECK_EQ(PTR_ERR(build_section(&section, &(struct sframe_segment){
		.vaddr = SECTION + 0x40000, .size = 0x1000 }, 1)), -ENOENT);
}

/* Two segments that are the same text of the file: as functions that overlap */
static void segments_twice(void)
{
	static const struct sframe_segment segs[] = {
		{ .vaddr = SECTION, .offset = 0x3000, .size = 0x1000 },
		{ .vaddr = SECTION + 0x1000, .offset = 0x3000, .size = 0x1000 },
	};
	const struct sfb_func funcs[] = {
		{ .start = 0x1000, .size = 0x10, SFB_FRES(one_fre) },
		{ .start = 0, .size = 0x20, SFB_FRES(three_fres) },
	};
	const struct sfb_table section = {
		.version = 3, .abi = SFB_AMD64, .fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table;

	tap_begin("table: two segments that are the same text");
	table = build_section(&section, segs, ARRAY_SIZE(segs));
	expect_rules(table, 0x3000, 0x3010, ORDINARY(8));
	expect_rules(table, 0x3010, 0x3020, SFRAME_RULE_BAD);
	expect_rules(table, 0x3020, 0x3100, SFRAME_RULE_NONE);
	close_table(table);
}

/* Program headers are as hostile as the section */
static void segments_wrap(void)
{
	static const struct sframe_segment segs[] = {
		{ .vaddr = SECTION, .offset = 0x3000, .size = 0x1000 },
		{ .vaddr = SECTION + 0x1000, .offset = -0x800UL, .size = 0x1000 },
		{ .vaddr = SECTION + 0x2000, .offset = 0x4000, .size = -1UL },
	};
	const struct sfb_func funcs[] = {
		{ .start = 0x0, .size = 0x10, SFB_FRES(one_fre) },
		{ .start = 0x17f0, .size = 0x20, SFB_FRES(three_fres) },
		{ .start = 0x17f0, .size = 0x10, SFB_FRES(three_fres) },
		{ .start = 0x1010, .size = 0xff0, SFB_FRES(three_fres) },
		{ .start = 0x2000, .size = 0x10, SFB_FRES(one_fre) },
	};
	const struct sfb_table section = {
		.version = 3, .abi = SFB_AMD64, .fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table;

	tap_begin("table: segments that wrap");
	table = build_section(&section, segs, ARRAY_SIZE(segs));
	expect_rules(table, 0x2f80, 0x3000, SFRAME_RULE_NONE);
	expect_rules(table, 0x3000, 0x3010, ORDINARY(8));
	expect_rules(table, 0x3010, 0x4000, SFRAME_RULE_NONE);
	expect_rules(table, 0x4000, 0x4010, ORDINARY(8));
	expect_rules(table, 0x4010, 0x5000, SFRAME_RULE_NONE);
	close_table(table);
}

/*
 * Functions
 */

/* Each before the one that precedes it in the index */
static void unsorted(u8 version, u8 flags)
{
	struct sfb_func funcs[100];
	const struct sfb_table section = {
		.version = version, .flags = flags, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table;
	u32 i;

	tap_begin("table: v%u, flags %u: functions in any order", version, flags);
	for (i = 0; i < 100; i++)
		funcs[i] = (struct sfb_func){
			.start = 0x1000 + i * 37 % 100 * 32, .size = 16,
			.fres = i % 2 ? one_fre : late_rule, .num_fres = 1,
		};
	table = build(&section);
	for (i = 0; i < 100; i++) {
		u64 start = funcs[i].start;

		expect_rules(table, start, start + 4,
			     i % 2 ? ORDINARY(8) : SFRAME_RULE_NONE);
		expect_rules(table, start + 4, start + 16,
			     i % 2 ? ORDINARY(8) : ORDINARY(24));
		expect_rules(table, start + 16, start + 32, SFRAME_RULE_NONE);
	}
	close_table(table);
}

static const struct sfb_fre fres_24[] = { SFB_FRE(0, SFB_SP, 0, 24) };
static const struct sfb_fre fres_32[] = { SFB_FRE(0, SFB_SP, 0, 32) };

static void overlapping(void)
{
	const struct sfb_func funcs[] = {
		/* Amid another, at its end, and over that */
		{ .start = 0x1000, .size = 0x100, SFB_FRES(one_fre) },
		{ .start = 0x1010, .size = 0x10, SFB_FRES(fres_24) },
		{ .start = 0x10f0, .size = 0x10, SFB_FRES(fres_24) },
		{ .start = 0x10f8, .size = 0x20, SFB_FRES(fres_24) },
		{ .start = 0x1110, .size = 0x20, SFB_FRES(fres_24) },
		/* Where what was bad ends */
		{ .start = 0x1130, .size = 0x10, SFB_FRES(fres_24) },
		/* At the same address: the first of the index */
		{ .start = 0x2000, .size = 0x10, SFB_FRES(fres_32) },
		{ .start = 0x2000, .size = 0x20, SFB_FRES(fres_24) },
		{ .start = 0x2000, .size = 0x10, SFB_FRES(one_fre) },
		/* Twice the same function */
		{ .start = 0x3000, .size = 0x10, SFB_FRES(one_fre) },
		{ .start = 0x3000, .size = 0x10, SFB_FRES(one_fre) },
	};
	struct sfb_table section = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table;

	tap_begin("table: of functions that overlap, the first one counts");
	table = build(&section);
	expect_rules(table, 0x1000, 0x1100, ORDINARY(8));
	expect_rules(table, 0x1100, 0x1130, SFRAME_RULE_BAD);
	expect_rules(table, 0x1130, 0x1140, ORDINARY(24));
	expect_rules(table, 0x1140, 0x2000, SFRAME_RULE_NONE);
	expect_rules(table, 0x2000, 0x2010, ORDINARY(32));
	expect_rules(table, 0x2010, 0x2020, SFRAME_RULE_BAD);
	expect_rules(table, 0x2020, 0x3000, SFRAME_RULE_NONE);
	expect_rules(table, 0x3000, 0x3010, ORDINARY(8));
	expect_rules(table, 0x3010, 0x3100, SFRAME_RULE_NONE);
	close_table(table);
}

/* In an unsorted index, too, the first of several functions at one address has to win */
static void overlapping_unsorted(void)
{
	struct sfb_func funcs[100];
	const struct sfb_table section = {
		.version = 3, .abi = SFB_AMD64, .fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table;
	u32 i;

	tap_begin("table: the first of those at one address, unsorted");
	for (i = 0; i < 100; i++)
		funcs[i] = (struct sfb_func){
			.start = 0x2000 - i / 50 * 0x1000, .size = 16,
			.fres = i % 50 ? fres_24 : one_fre, .num_fres = 1,
		};
	table = build(&section);
	expect_rules(table, 0x1000, 0x1010, ORDINARY(8));
	expect_rules(table, 0x1010, 0x2000, SFRAME_RULE_NONE);
	expect_rules(table, 0x2000, 0x2010, ORDINARY(8));
	close_table(table);
}

static void empty(u8 version)
{
	const struct sfb_func funcs[] = {
		{ .start = 0x800, SFB_FRES(fres_24) },
		{ .start = 0x1000, SFB_FRES(fres_24) },
		{ .start = 0x1000, .size = 0x10, SFB_FRES(one_fre) },
		{ .start = 0x1000, SFB_FRES(fres_24) },
		{ .start = 0x1008, SFB_FRES(fres_24) },
		{ .start = 0x1010, SFB_FRES(fres_24) },
		{ .start = 0x9000, SFB_FRES(fres_24) },
	};
	struct sfb_table section = {
		.version = version, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table;

	tap_begin("table: v%u: functions of no size describe nothing", version);
	table = build(&section);
	expect_rules(table, 0x700, 0x1000, SFRAME_RULE_NONE);
	expect_rules(table, 0x1000, 0x1010, ORDINARY(8));
	expect_rules(table, 0x1010, 0x9100, SFRAME_RULE_NONE);
	if (!IS_ERR(table))
		CHECK_EQ(table->span, 0x10);
	close_table(table);
	section.num_funcs = 2;
	expect_no_table(&section, -ENOENT);
	section.num_funcs = 0;
	expect_no_table(&section, -ENOENT);
}

/* Few entries for a lot of text: the largest span that is allowed, and larger ones */
static void far_apart(void)
{
	/* Entries: one before all, FRE and end of each function */
	const u64 most = (64 * 3 + 4096) * SFRAME_BLOCK;
	static const u64 spans[] = { 1ULL << 31, (1ULL << 32) - 256, (1ULL << 32) - 128,
				     1ULL << 32, (1ULL << 32) + 128, 5ULL << 30,
				     1ULL << 39, (1ULL << 39) + 256, 1ULL << 40 };
	struct sfb_func funcs[] = {
		{ .start = 0x1000, .size = most, SFB_FRES(one_fre) },
		{ .start = 0x1000, .size = 0x10, SFB_FRES(one_fre) },
	};
	struct sfb_table section = {
		.version = 3, .abi = SFB_AMD64, .fixed_ra = -8,
		.num_funcs = 1, .funcs = funcs,
	};
	struct sframe_table *table;
	u32 i;

	tap_begin("table: text too large for what describes it");
	table = build(&section);
	expect_rules(table, 0x1000, 0x1100, ORDINARY(8));
	expect_rules(table, 0x1000 + most - 0x100, 0x1000 + most, ORDINARY(8));
	expect_rules(table, 0x1000 + most, 0x1100 + most, SFRAME_RULE_NONE);
	close_table(table);
	funcs[0].size++;
	expect_no_table(&section, -E2BIG);
	funcs[0].size = 0xffffffff;
	expect_no_table(&section, -E2BIG);
	section.num_funcs = 2;
	for (i = 0; i < ARRAY_SIZE(spans); i++) {
		funcs[0] = funcs[1];
		funcs[0].start += spans[i];
		expect_no_table(&section, -E2BIG);
	}
}

/*
 * Rows
 */

static void repeated(u8 version, u32 size, u8 rep_size)
{
	static const struct sfb_fre fres[] = {
		SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(6, SFB_SP, 0, 16),
		SFB_FRE(11, SFB_SP, 0, 24),
	};
	const struct sfb_func funcs[] = {
		{ .start = 0x1020, .size = size, .flags = SFB_PCMASK,
		  .rep_size = rep_size, SFB_FRES(fres) },
		{ .start = 0x1020 + size, .size = 0x10, SFB_FRES(fres_32) },
	};
	const struct sfb_table section = {
		.version = version, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table;
	u32 i;

	tap_begin("table: v%u: a function of %u bytes with FREs for each %u", version,
		  size, rep_size);
	table = build(&section);
	for (i = 0; i < size; i++) {
		u32 off = rep_size ? i % rep_size : 0;

		expect_rules(table, 0x1020 + i, 0x1021 + i,
			     !rep_size ? SFRAME_RULE_BAD :
			     ORDINARY(off < 6 ? 8 : off < 11 ? 16 : 24));
	}
	expect_rules(table, 0x1000, 0x1020, SFRAME_RULE_NONE);
	expect_rules(table, 0x1020 + size, 0x1030 + size, ORDINARY(32));
	close_table(table);
}

/* Each block begins with a gap: an entry more than there are FREs */
static void repeated_late(u8 version)
{
	const struct sfb_func func = {
		.start = 0x1000, .size = 16 * 3000 + 6, .flags = SFB_PCMASK,
		.rep_size = 16, SFB_FRES(late_rule),
	};
	const struct sfb_table section = {
		.version = version, .abi = SFB_AMD64, .fixed_ra = -8,
		.num_funcs = 1, .funcs = &func,
	};
	struct sframe_table *table;
	u32 i;

	tap_begin("table: v%u: FREs of repeated blocks that come late", version);
	table = build(&section);
	for (i = 0; i < func.size; i++)
		expect_rules(table, 0x1000 + i, 0x1001 + i,
			     i % 16 < 4 ? SFRAME_RULE_NONE : ORDINARY(24));
	expect_rules(table, 0x1000 + i, 0x1100 + i, SFRAME_RULE_NONE);
	close_table(table);
}

/* One function between two good ones; from some byte on, it is bad */
struct bad_fres {
	const char	*what;
	u8		version;
	u32		cut;	/* bytes of the function's FREs that are there; 0: all */
	u32		pos;	/* a byte of them that becomes 0x62: word size 3 */
	u32		num_fres;
	u32		starts[3];
	u32		good;	/* the first byte that is bad, or 16 */
};

static void bad_fres(const struct bad_fres *bad)
{
	struct sfb_fre fres[] = {
		SFB_FRE(bad->starts[0], SFB_SP, 0, 8),
		SFB_FRE(bad->starts[1], SFB_SP, 0, 16),
		SFB_FRE(bad->starts[2], SFB_SP, 0, 24),
	};
	const struct sfb_func funcs[] = {
		{ .start = 0x1000, .size = 0x10, SFB_FRES(fres_32) },
		{ .start = 0x1020, .size = 0x10, SFB_FRES(fres_32) },
		{ .start = 0x1010, .size = 0x10, SFB_FRES(fres) },
	};
	const struct sfb_table section = {
		.version = bad->version, .abi = SFB_AMD64, .fixed_ra = -8,
		SFB_FUNCS(funcs),
	};
	struct sframe_table *table;
	struct sfb_image img;
	u32 i;

	tap_begin("table: v%u: %s", bad->version, bad->what);
	sfb_build(&img, &section);
	i = img.func_fres[2] + (bad->version == 3 ? 5 : 0);
	if (bad->cut) {
		img.size = i + bad->cut;
		sfb_put(&img, SFB_HDR_FRE_LEN, 4, img.size - img.fres);
		/* In its exact size, for what watches memory */
		img.bytes = realloc(img.bytes, img.size);
	}
	if (bad->pos)
		sfb_put(&img, i + bad->pos, 1, 0x62);
	if (bad->num_fres && bad->version == 3)
		sfb_put(&img, img.func_fres[2], 2, bad->num_fres);
	else if (bad->num_fres)
		sfb_put(&img, sfb_fde(&img, 2) + 12, 4, bad->num_fres);
	table = build_text(&img);
	expect_rules(table, 0x1000, 0x1010, ORDINARY(32));
	for (i = 0; i < 0x10; i++)
		expect_rules(table, 0x1010 + i, 0x1011 + i,
			     i >= bad->good ? SFRAME_RULE_BAD :
			     i < bad->starts[1] ? ORDINARY(8) :
			     i < bad->starts[2] ? ORDINARY(16) : ORDINARY(24));
	expect_rules(table, 0x1020, 0x1030, ORDINARY(32));
	close_table(table);
	sfb_free(&img);
}

static void all_bad_fres(void)
{
	static const struct bad_fres bad[] = {
		{ "all FREs good", .starts = { 0, 4, 8 }, .good = 16 },
		{ "an FRE beyond the function", .starts = { 0, 4, 16 }, .good = 16 },
		{ "FREs not ascending", .starts = { 0, 8, 4 }, .good = 8 },
		{ "FREs not ascending at once", .starts = { 0, 4, 0 }, .good = 4 },
		{ "FREs not ascending beyond the function", .starts = { 0, 16, 4 },
		  .good = 16 },
		{ "second FRE without info", .starts = { 0, 4, 8 }, .cut = 4, .good = 0 },
		{ "third FRE without info", .starts = { 0, 4, 8 }, .cut = 7, .good = 4 },
		{ "third FRE without words", .starts = { 0, 4, 8 }, .cut = 8, .good = 8 },
		{ "third FRE whole", .starts = { 0, 4, 8 }, .cut = 9, .good = 16 },
		{ "bad info of the first FRE", .starts = { 0, 4, 8 }, .pos = 1 },
		{ "bad info of the second FRE", .starts = { 0, 4, 8 }, .pos = 4,
		  .good = 4 },
		{ "bad info of the third FRE", .starts = { 0, 4, 8 }, .pos = 7,
		  .good = 8 },
		{ "an FRE more than there are", .starts = { 0, 4, 8 }, .num_fres = 4,
		  .good = 8 },
		{ "FREs that cannot all be there", .starts = { 0, 4, 8 },
		  .num_fres = 65535, .good = 8 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct bad_fres b = bad[i];

		for (b.version = 2; b.version <= 3; b.version++)
			bad_fres(&b);
	}
}

static void types_and_no_fres(u8 version)
{
	const u64 fre = SFRAME_RULE_COMPLEX;
	struct sfb_func funcs[] = {
		{ .start = 0x1000, .size = 0x10, SFB_FRES(fres_32) },
		{ .start = 0x1010, .size = 0x10 },
		{ .start = 0x1020, .size = 0x10, .flags = SFB_PCMASK, .rep_size = 1 },
		{ .start = 0x1030, .size = 0x10, .type = 1 },
		{ .start = 0x1040, .size = 0x10, .flags = SFB_SIGNAL },
		{ .start = 0x1050, .size = 0x10, .type = 2, SFB_FRES(fres_32) },
		{ .start = 0x1060, .size = 0x80000, .flags = SFB_PCMASK, .rep_size = 1 },
		{ .start = 0x81060, .size = 0x10, SFB_FRES(fres_32) },
	};
	const struct sfb_table section = {
		.version = version, .abi = SFB_AMD64, .fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table;
	struct unwind_frame_rule found;
	struct sfb_image img;

	tap_begin("table: v%u: functions without FREs, and of types unknown", version);
	table = build(&section);
	expect_rules(table, 0x1000, 0x1010, ORDINARY(32));
	expect_rules(table, 0x1030, 0x1040, SFRAME_RULE_NONE);
	if (version == 2) {
		expect_rules(table, 0x1010, 0x1050, SFRAME_RULE_NONE);
		expect_rules(table, 0x1050, 0x1060, ORDINARY(32));
		expect_rules(table, 0x1060, 0x81060, SFRAME_RULE_NONE);
	} else {
		expect_rules(table, 0x1010, 0x1030, fre);
		expect_rules(table, 0x1040, 0x1050, fre | 1 << 16);
		expect_rules(table, 0x1050, 0x1060, SFRAME_RULE_BAD);
		expect_rules(table, 0x1060, 0x81060, fre);
		CHECK_EQ(sframe_table_rule(table, fre, &found), 0);
		CHECK_EQ(found.outermost, true);
		CHECK_EQ(found.signal, false);
		CHECK_EQ(sframe_table_rule(table, fre | 1 << 16, &found), 0);
		CHECK_EQ(found.outermost, true);
		CHECK_EQ(found.signal, true);
	}
	expect_rules(table, 0x81060, 0x81070, ORDINARY(32));
	close_table(table);

	/* Starts of FREs that have no size; attributes that are not there */
	sfb_build(&img, &section);
	if (version == 2)
		sfb_put(&img, sfb_fde(&img, 0) + 16, 1, 3);
	else
		sfb_put(&img, img.func_fres[0] + 2, 1, 3);
	sfb_put(&img, sfb_fde(&img, 7) + (version == 2 ? 8 : 12), 4, 0xffffffff);
	table = build_text(&img);
	expect_rules(table, 0x1000, 0x1010, SFRAME_RULE_BAD);
	expect_rules(table, 0x81060, 0x81070, SFRAME_RULE_BAD);
	close_table(table);
	sfb_free(&img);
}

void test_table(void)
{
	u8 version;

	for (version = 2; version <= 3; version++) {
		layout(version, SFB_SORTED | SFB_PCREL);
		layout(version, SFB_SORTED);
		layout(version, SFB_PCREL);
		layout(version, 0);
		unsorted(version, SFB_PCREL);
		unsorted(version, 0);
		/* The flag that says that a section is sorted is not believed */
		unsorted(version, SFB_SORTED);
		empty(version);
		repeated(version, 16 * 20, 16);
		repeated(version, 16 * 20 + 7, 16);
		repeated(version, 16 * 20 + 1, 16);
		repeated(version, 255 * 3 - 1, 255);
		repeated(version, 100, 8);
		repeated(version, 100, 1);
		repeated(version, 3, 16);
		repeated(version, 40, 0);
		repeated_late(version);
		types_and_no_fres(version);
	}
	same_rule();
	boundaries(0x1080);
	boundaries(0x10000);
	boundaries(0x20000);
	full_blocks(0x1000, 128, 1);
	full_blocks(0x107f, 130, 1);
	full_blocks(0x10000, 0x10000, 1);
	full_blocks(0x10000, 0x10001, 1);
	full_blocks(0xffff, 0x10002, 1);
	full_blocks(0x12345, 1000, 200);
	segments();
	segments_twice();
	segments_wrap();
	overlapping();
	overlapping_unsorted();
	far_apart();
	all_bad_fres();
	test_table_edge();
	test_table_rules();
	test_table_task();
}
