// SPDX-License-Identifier: GPL-2.0
/*
 * Tables: does the rule at an offset end there?  sframe_table_find_edge() says that
 * another rule may be in force at the next offset.
 *
 * That is so if an entry begins there.  It is also said, and may be wrong, of offsets that
 * lie whole blocks before that one, with no entry in between, and of all offsets outside
 * the table.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/err.h>
#include <linux/kernel.h>

#include "sframe_gen.h"
#include "sframe_test.h"
#include "table.h"
#include "test_table.h"

static const struct sfb_fre one_fre[] = { SFB_FRE(0, SFB_SP, 0, 8) };
static const struct sfb_fre other_fre[] = { SFB_FRE(0, SFB_SP, 0, 16) };
static const struct sfb_fre late_rule[] = { SFB_FRE(4, SFB_SP, 0, 8) };
static const struct sfb_fre three_fres[] = {
	SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(1, SFB_SP, 0, 16), SFB_FRE(9, SFB_SP, 0, 24),
};

/*
 * By hand
 */

/* From @from up to @to, only offsets in @edges have one.  They ascend; -1 ends them. */
static void expect_edges(const struct sframe_table *table, u64 from, u64 to, const u64 *edges)
{
	u64 i;

	if (IS_ERR(table)) {
		tap_fail("no table: %ld", PTR_ERR(table));
		return;
	}
	for (i = from; i < to; i++) {
		bool edge, want = i == *edges;
		u64 rule = sframe_table_find_edge(table, i - table->start, &edge);

		edges += want;
		if (edge != want)
			tap_fail("at %#llx: %s edge", (long long)i, edge ? "an" : "no");
		if (rule != sframe_table_find(table, i))
			tap_fail("at %#llx: another rule with the edge", (long long)i);
	}
}

#define EXPECT_EDGES(table, from, to, ...) \
	expect_edges(table, from, to, (const u64[]){ __VA_ARGS__, -1ULL })

static void expect_all_edges(const struct sframe_table *table, u64 from, u64 to)
{
	bool edge;
	u64 i;

	for (i = from; i < to && !IS_ERR(table); i++) {
		if (sframe_table_find_edge(table, i - table->start, &edge) != SFRAME_RULE_NONE ||
		    !edge)
			tap_fail("at %#llx: a rule or no edge", (long long)i);
	}
}

/* In one block: at the last offset of each rule, and at no other offset */
static void fres(u8 version)
{
	const struct sfb_func funcs[] = {
		{ .start = 0x1010, .size = 0x10, SFB_FRES(three_fres) },
		{ .start = 0x1020, .size = 0x10, SFB_FRES(late_rule) },
		{ .start = 0x1030, .size = 0x10, SFB_FRES(one_fre) },
		{ .start = 0x1040, .size = 1, SFB_FRES(other_fre) },
		{ .start = 0x1041, .size = 1, SFB_FRES(one_fre) },
		{ .start = 0x1060, .size = 0x10, SFB_FRES(one_fre) },
	};
	const struct sfb_table section = {
		.version = version, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table = build(&section);

	tap_begin("table: v%u: an edge where an entry begins at the next offset", version);
	EXPECT_EDGES(table, 0x1000, 0x1070,
		     /* Before the first function; at the ends of its FREs, and its own */
		     0x100f, 0x1010, 0x1018, 0x101f,
		     /* Before the late FRE, but not where a function of the same rule follows */
		     0x1023,
		     /* Functions of one byte each; then a gap, and the table's end */
		     0x103f, 0x1040, 0x1041, 0x105f, 0x106f);
	close_table(table);
}

/* Whole blocks before an entry, if there is none in between */
static void blocks(u8 version)
{
	const struct sfb_func funcs[] = {
		/* Two blocks of one rule, and the first offset of the third */
		{ .start = 0x1000, .size = 0x101, SFB_FRES(one_fre) },
		/* From the last offset of a block on */
		{ .start = 0x11ff, .size = 2, SFB_FRES(other_fre) },
		/* Up to the end of a block, and from there on */
		{ .start = 0x1240, .size = 0x40, SFB_FRES(one_fre) },
		{ .start = 0x1280, .size = 0x40, SFB_FRES(other_fre) },
		/* Around a page of 64 KiB */
		{ .start = 0xfffe, .size = 4, SFB_FRES(one_fre) },
	};
	const struct sfb_table section = {
		.version = version, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table = build(&section);

	tap_begin("table: v%u: an edge 128 bytes before an entry, too", version);
	EXPECT_EDGES(table, 0x1000, 0x1380, 0x1000, 0x1080, 0x1100, 0x117e, 0x11fe, 0x1200,
		     0x123f, 0x127f, 0x12bf, 0x12fd, 0x137d);
	EXPECT_EDGES(table, 0xff00, 0x10002, 0xff7d, 0xfffd, 0x10001);
	close_table(table);
}

/* Blocks without an entry: of a function, and between functions */
static void gaps(void)
{
	const struct sfb_func funcs[] = {
		{ .start = 0x1000, .size = 0x10, SFB_FRES(one_fre) },
		{ .start = 0x1280, .size = 0x10, SFB_FRES(one_fre) },
		{ .start = 0x1310, .size = 0x200, SFB_FRES(one_fre) },
	};
	const struct sfb_table section = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table = build(&section);

	tap_begin("table: amid a gap there is no edge but whole blocks before its end");
	expect_rules(table, 0x1010, 0x1280, SFRAME_RULE_NONE);
	EXPECT_EDGES(table, 0x1000, 0x1510, 0x100f, 0x107f, 0x10ff, 0x117f, 0x11ff, 0x127f,
		     0x128f, 0x130f, 0x138f, 0x140f, 0x148f, 0x150f);
	close_table(table);
}

/* At the end of the table's last block, one before it, and one after it */
static void table_ends(u32 size)
{
	const struct sfb_func func = { .start = 0x1010, .size = size, SFB_FRES(one_fre) };
	const struct sfb_table section = {
		.version = 3, .abi = SFB_AMD64, .fixed_ra = -8,
		.num_funcs = 1, .funcs = &func,
	};
	struct sframe_table *table = build(&section);
	const u64 end = 0x1010 + size;

	tap_begin("table: up to %#llx: an edge at the end, and everywhere outside",
		  (long long)end);
	EXPECT_EDGES(table, 0x1000, end, 0x100f, end - 1);
	expect_all_edges(table, 0, 0x1000);
	expect_all_edges(table, end, 0x2000);
	expect_all_edges(table, 0x100001000, 0x100001100);
	expect_all_edges(table, -0x100ULL, -1ULL);
	expect_all_edges(table, -1ULL - 0xffffffff + 0x1000, -1ULL - 0xffffffff + 0x1100);
	close_table(table);
}

/* The last function describes nothing: there is no entry where it ends */
static void ends_without_rule(void)
{
	const struct sfb_func funcs[] = {
		{ .start = 0x1000, .size = 0x10, SFB_FRES(one_fre) },
		{ .start = 0x1010, .size = 0x10 },
	};
	const struct sfb_table section = {
		.version = 2, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table = build(&section);

	tap_begin("table: no edge where nothing ends");
	if (!IS_ERR(table))
		CHECK_EQ(table->span, 0x20);
	EXPECT_EDGES(table, 0x1000, 0x1020, 0x100f);
	expect_all_edges(table, 0x1020, 0x1100);
	close_table(table);
}

/* Bad rules, outermost functions and rules that do not fit into 64 bits end, too */
static void other_rules(void)
{
	static const struct sfb_fre large[] = { SFB_FRE(0, SFB_SP, 2, 0x100000) };
	const struct sfb_func funcs[] = {
		{ .start = 0x1000, .size = 0x10, .type = 2, SFB_FRES(one_fre) },
		{ .start = 0x1010, .size = 0x10 },
		{ .start = 0x1020, .size = 0x10, SFB_FRES(large) },
		{ .start = 0x1030, .size = 0x10, SFB_FRES(large) },
		{ .start = 0x1040, .size = 0x10, .flags = SFB_SIGNAL, SFB_FRES(large) },
		{ .start = 0x1050, .size = 0x10, .type = 2, SFB_FRES(one_fre) },
	};
	const struct sfb_table section = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table = build(&section);

	tap_begin("table: an edge between rules of any kind");
	expect_rules(table, 0x1000, 0x1010, SFRAME_RULE_BAD);
	expect_rules(table, 0x1050, 0x1060, SFRAME_RULE_BAD);
	EXPECT_EDGES(table, 0x1000, 0x1060, 0x100f, 0x101f, 0x103f, 0x104f, 0x105f);
	close_table(table);
}

/*
 * By the entries
 */

/* Counts: the comparison proves nothing without them */
struct seen {
	u64	offsets;
	u64	edges;		/* where an entry begins at the next offset */
	u64	changes;	/* of these, with another rule */
	u64	in_block;	/* changes inside a block */
};

/* Where each entry begins, from the table's start.  Entry 0 lies in no block. */
static u64 *entry_offsets(const struct sframe_table *table)
{
	const u32 num_blocks = DIV_ROUND_UP(table->span, SFRAME_BLOCK);
	u64 *offsets = calloc(table->nr + 1, sizeof(*offsets));
	u32 i, nr = 1;
	u16 n;

	for (i = 0; i < num_blocks; i++) {
		n = table->block[i + 1] - table->block[i];
		while (n-- && nr < table->nr) {
			offsets[nr] = (u64)i * SFRAME_BLOCK + table->low[nr];
			nr++;
		}
	}
	/* The last entry may begin where the last block ends */
	if (nr < table->nr && table->span % SFRAME_BLOCK == 0)
		offsets[nr++] = table->span;
	CHECK_EQ(nr, table->nr);
	/* None begins after the last */
	offsets[table->nr] = -1ULL;
	for (i = 2; i < table->nr; i++)
		if (offsets[i] <= offsets[i - 1])
			tap_fail("entry %u is at %#llx", i, (long long)offsets[i]);
	return offsets;
}

/* Each offset of the table, and some before and after */
static void compare_entries(const struct sframe_table *table, struct seen *seen)
{
	u64 *offsets = entry_offsets(table), off, rule, want, next;
	u32 i = 0;
	bool edge;

	expect_all_edges(table, table->start - 300, table->start);
	for (off = 0; off < table->span; off++) {
		bool begins, blocks_before, last = off % SFRAME_BLOCK == SFRAME_BLOCK - 1;

		while (offsets[i + 1] <= off)
			i++;
		begins = offsets[i + 1] == off + 1;
		blocks_before = i + 1 < table->nr && !((offsets[i + 1] - off - 1) % SFRAME_BLOCK);
		want = table->rules[table->rule[i]];
		rule = sframe_table_find_edge(table, off, &edge);
		next = sframe_table_find(table, table->start + off + 1);
		if (rule != want)
			tap_fail("at %#llx: rule %#llx, not %#llx", (long long)off,
				 (long long)rule, (long long)want);
		if (rule != next && !edge)
			tap_fail("at %#llx: another rule follows without an edge",
				 (long long)off);
		if (edge != blocks_before)
			tap_fail("at %#llx: %s edge", (long long)off, edge ? "an" : "no");
		seen->offsets++;
		seen->edges += begins;
		seen->changes += rule != next;
		seen->in_block += rule != next && !last;
	}
	expect_all_edges(table, table->start + off, table->start + off + 300);
	free(offsets);
}

static void report(const struct seen *seen)
{
	printf("# %llu offsets, %llu entries, %llu changes of the rule, %llu amid a block\n",
	       (long long)seen->offsets, (long long)seen->edges,
	       (long long)seen->changes, (long long)seen->in_block);
	/* Each entry has another rule than the one before it */
	CHECK_EQ(seen->changes, seen->edges);
	if (!seen->in_block || seen->in_block == seen->changes || seen->offsets < 2 * seen->edges)
		tap_fail("too little was compared");
}

static void compare_generated(u32 num)
{
	const u64 vaddr = SECTION + TABLE_REACH;
	struct sframe_table *table;
	struct seen seen = {};
	struct sfb_image img;
	u32 seed;

	tap_begin("table: %u generated tables, by their entries", num);
	for (seed = 0; seed < num; seed++) {
		gen_table(&img, seed, seed % 16 ? 6 : 60);
		table = table_of(img.bytes, img.size, vaddr, img.bytes[SFB_HDR_ABI]);
		if (IS_ERR(table))
			tap_fail("seed %u: no table: %ld", seed, PTR_ERR(table));
		else
			compare_entries(table, &seen);
		close_table(table);
		sfb_free(&img);
	}
	report(&seen);
}

/* Rows of @step bytes each, so many that numbers of entries exceed 16 bits */
static void many_entries(u64 start, u32 num, u32 step)
{
	struct sfb_fre *many = calloc(num, sizeof(*many));
	const struct sfb_func func = {
		.start = start, .size = num * step, .fre_type = 2,
		.fres = many, .num_fres = num,
	};
	const struct sfb_table section = {
		.version = 2, .abi = SFB_AMD64, .fixed_ra = -8,
		.num_funcs = 1, .funcs = &func,
	};
	struct sframe_table *table;
	struct seen seen = {};
	u32 i;

	tap_begin("table: %u FREs of %u bytes each from %#llx on, by their entries", num, step,
		  (long long)start);
	for (i = 0; i < num; i++)
		many[i] = (struct sfb_fre)SFB_FRE(i * step, SFB_SP, 0, 8 + i % 4 * 8);
	table = build(&section);
	if (IS_ERR(table)) {
		tap_fail("no table: %ld", PTR_ERR(table));
	} else {
		compare_entries(table, &seen);
		/* One more begins at the end */
		CHECK_EQ(seen.edges, num + (start % SFRAME_BLOCK != 0));
		CHECK_EQ(seen.changes, seen.edges);
	}
	close_table(table);
	free(many);
}

void test_table_edge(void)
{
	u8 version;

	for (version = 2; version <= 3; version++) {
		fres(version);
		blocks(version);
	}
	gaps();
	table_ends(0x6f);
	table_ends(0x70);
	table_ends(0x71);
	ends_without_rule();
	other_rules();
	compare_generated(48);
	many_entries(0x1000, 300, 1);
	many_entries(0x107f, 0x10100, 1);
	many_entries(0x10000, 0x20001, 3);
}
