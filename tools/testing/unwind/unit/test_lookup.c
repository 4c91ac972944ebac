// SPDX-License-Identifier: GPL-2.0
/*
 * From an address to an FRE: to the function, and to its FRE.
 *
 * Rows in these tables differ in the offset of their CFA, which identifies them. The
 * other contents of FREs, and single lookups in functions of each kind, are among the
 * cases that KUnit runs too (sframe_cases_lookup.c, sframe_cases_rules.c).
 */
#include <errno.h>

#include <linux/kernel.h>

#include "sframe_test.h"

/* The farthest distance from the section in the format, in both directions */
#define S64_MIN_OFFSET	(-0x7fffffffffffffffLL - 1)
#define S64_MAX_OFFSET	0x7ffffffffffffff0LL

#define AMD64_V(version_, flags_) \
	.version = (version_), .flags = (flags_), .abi = SFB_AMD64, \
	.fixed_ra = -8

static const struct sfb_fre fre_8[] = { SFB_FRE(0, SFB_SP, 0, 8) };
static const struct sfb_fre fre_16[] = { SFB_FRE(0, SFB_SP, 0, 16) };
static const struct sfb_fre fre_24[] = { SFB_FRE(0, SFB_SP, 0, 24) };
static const struct sfb_fre steps[] = {
	SFB_FRE(0, SFB_SP, 0, 40), SFB_FRE(1, SFB_SP, 0, 48),
	SFB_FRE(5, SFB_SP, 0, 56), SFB_FRE(0x1f, SFB_SP, 0, 64),
};

/* Below, around and above the section; with and without gaps */
static const struct sfb_func funcs[] = {
	{ .start = -0x2000, .size = 0x10, SFB_FRES(fre_8) },
	{ .start = -0x1ff0, .size = 1, SFB_FRES(fre_16) },
	{ .start = -0x1000, .size = 0x20, SFB_FRES(steps) },
	{ .start = 0x1000, .size = 0x40, SFB_FRES(fre_24) },
	{ .start = 0x1040, .size = 0x20, SFB_FRES(steps) },
};

/* As funcs[], in no order */
static const struct sfb_func shuffled[] = {
	{ .start = 0x1040, .size = 0x20, SFB_FRES(steps) },
	{ .start = -0x2000, .size = 0x10, SFB_FRES(fre_8) },
	{ .start = 0x1000, .size = 0x40, SFB_FRES(fre_24) },
	{ .start = -0x1000, .size = 0x20, SFB_FRES(steps) },
	{ .start = -0x1ff0, .size = 1, SFB_FRES(fre_16) },
};

static s32 steps_cfa(s64 offset)
{
	if (offset >= 0x1f)
		return 64;
	if (offset >= 5)
		return 56;
	return offset >= 1 ? 48 : 40;
}

/* The expected offset, by a linear search of funcs[]; 0: none */
static s32 expected_cfa(s64 offset)
{
	if (offset >= -0x2000 && offset < -0x1ff0)
		return 8;
	if (offset == -0x1ff0)
		return 16;
	if (offset >= -0x1000 && offset < -0xfe0)
		return steps_cfa(offset + 0x1000);
	if (offset >= 0x1000 && offset < 0x1040)
		return 24;
	if (offset >= 0x1040 && offset < 0x1060)
		return steps_cfa(offset - 0x1040);
	return 0;
}

static void every_address(u8 version, u8 flags)
{
	struct sfb_table table = { AMD64_V(version, flags), SFB_FUNCS(funcs) };
	struct env env;
	s64 offset;

	if (!(flags & SFB_SORTED))
		table.funcs = shuffled;
	tap_begin("lookup: v%u, %ssorted, %s: every address has the right FRE", version,
		  flags & SFB_SORTED ? "" : "un",
		  flags & SFB_PCREL ? "PC-relative" : "section-relative");
	env_open(&env, &table);
	for (offset = -0x2100; offset < 0x1100; offset++) {
		s32 cfa = expected_cfa(offset);

		if (cfa)
			expect_cfa(&env, offset, cfa);
		else
			expect_error(&env, offset, -ENOENT);
	}
	expect_error(&env, -env.base, -ENOENT);
	expect_error(&env, -1UL - env.base, -ENOENT);
	env_close(&env);
}

/* The ends of a binary search: none, one, two, three functions */
static void few_functions(u8 version, u8 flags)
{
	static const struct sfb_func three[] = {
		{ .start = 0x1000, .size = 0x10, SFB_FRES(fre_8) },
		{ .start = 0x2000, .size = 0x10, SFB_FRES(fre_16) },
		{ .start = 0x3000, .size = 0x10, SFB_FRES(fre_24) },
	};
	static const s32 cfas[] = { 8, 16, 24 };
	struct sfb_table table = { AMD64_V(version, flags), SFB_FUNCS(three) };
	struct env env;
	u32 i;

	tap_begin("lookup: v%u, %ssorted, each of 0 to 3 functions is found", version,
		  flags & SFB_SORTED ? "" : "un");
	for (table.num_funcs = 0; table.num_funcs <= 3; table.num_funcs++) {
		env_open(&env, &table);
		expect_error(&env, 0xfff, -ENOENT);
		for (i = 0; i < table.num_funcs; i++) {
			expect_cfa(&env, three[i].start, cfas[i]);
			expect_cfa(&env, three[i].start + 0xf, cfas[i]);
			expect_error(&env, three[i].start + 0x10, -ENOENT);
		}
		if (i < 3)
			expect_error(&env, three[i].start, -ENOENT);
		env_close(&env);
	}
}

/*
 * Functions without code have entries too (a compiler makes them of unreachable code).
 * They lie at the address of the next function, in any order, because a sort by address
 * cannot distinguish them.
 */
static void empty_functions(u8 version, u8 flags)
{
	static const struct sfb_func f[] = {
		{ .start = 0x0ff0, .size = 0x10, SFB_FRES(fre_8) },
		{ .start = 0x1000, .size = 0, SFB_FRES(fre_24) },
		{ .start = 0x1000, .size = 0x10, SFB_FRES(fre_16) },
		{ .start = 0x1010, .size = 0x10, SFB_FRES(fre_8) },
		{ .start = 0x1010, .size = 0, SFB_FRES(fre_24) },
		{ .start = 0x1020, .size = 0, SFB_FRES(fre_24) },
		{ .start = 0x1020, .size = 0x10, SFB_FRES(fre_16) },
		{ .start = 0x1020, .size = 0, SFB_FRES(fre_24) },
		{ .start = 0x1020, .size = 0 },
		{ .start = 0x1030, .size = 0, SFB_FRES(fre_24) },
	};
	struct sfb_table table = { AMD64_V(version, flags), SFB_FUNCS(f) };
	struct env env;
	u32 i;

	tap_begin("lookup: v%u, %ssorted, empty functions hide none", version,
		  flags & SFB_SORTED ? "" : "un");
	/* Each length moves the middles of the binary search */
	for (; table.num_funcs >= 9; table.num_funcs--) {
		env_open(&env, &table);
		for (i = 0; i < 0x40; i++)
			expect_cfa(&env, 0x0ff0 + i, i & 0x10 ? 16 : 8);
		expect_error(&env, 0x1030, -ENOENT);
		env_close(&env);
	}
}

/* Starts of version 3 have 64 bits, of version 2 they are signed 32 bits */
static void far_functions(void)
{
	static const struct sfb_func v2[] = {
		{ .start = -0x7fffff00LL, .size = 0x10, SFB_FRES(fre_8) },
		{ .start = 0x7fffff00LL, .size = 0x10, SFB_FRES(fre_16) },
	};
	static const struct sfb_func v3[] = {
		{ .start = -0x123456789000LL, .size = 0x10, SFB_FRES(fre_8) },
		{ .start = 0x123456789000LL, .size = 0x10, SFB_FRES(fre_16) },
	};
	struct sfb_table table2 = { AMD64_V(2, SFB_SORTED), SFB_FUNCS(v2) };
	struct sfb_table table3 = { AMD64_V(3, SFB_SORTED | SFB_PCREL),
				    SFB_FUNCS(v3) };
	struct env env;

	tap_begin("lookup: functions far from the section are found");
	env_open(&env, &table2);
	expect_cfa(&env, v2[0].start, 8);
	expect_cfa(&env, v2[1].start + 0xf, 16);
	expect_error(&env, v2[1].start + 0x10, -ENOENT);
	env_close(&env);
	env_open(&env, &table3);
	expect_cfa(&env, v3[0].start, 8);
	expect_cfa(&env, v3[1].start + 0xf, 16);
	/* As far again: the same in 32 bits */
	expect_error(&env, v3[0].start + 0x100000000, -ENOENT);
	expect_error(&env, v3[1].start + 0x100000000, -ENOENT);
	expect_error(&env, v3[1].start - 0x100000000, -ENOENT);
	env_close(&env);
}

/* A start plus the section's address overflows at an end of memory */
static void ends_of_memory(u8 flags)
{
	static const struct sfb_func below[] = {
		{ .start = -0x2000, .size = 0x1000, SFB_FRES(fre_8) },
		{ .start = -0x1000, .size = 0x10, SFB_FRES(fre_16) },
	};
	static const struct sfb_func above[] = {
		{ .start = 0x20000, .size = 0x10, SFB_FRES(fre_24) },
	};
	static const struct sfb_func outermost[] = {
		{ .start = S64_MIN_OFFSET, .size = 0x10, SFB_FRES(fre_8) },
		{ .start = S64_MAX_OFFSET, .size = 0x10, SFB_FRES(fre_16) },
	};
	struct sfb_table table = { AMD64_V(3, flags), SFB_FUNCS(below) };
	struct env env;

	tap_begin("lookup: %s, functions at the ends of memory are found",
		  flags & SFB_SORTED ? "sorted" : "unsorted");
	env_open_at(&env, &table, 0x1000);
	expect_cfa(&env, -0x2000, 8);
	expect_cfa(&env, -0x1001, 8);
	expect_cfa(&env, -0x1000, 16);
	expect_error(&env, -0x2001, -ENOENT);
	expect_error(&env, -0xff0, -ENOENT);
	env_close(&env);

	table.funcs = above;
	table.num_funcs = ARRAY_SIZE(above);
	env_open_at(&env, &table, -0x10000UL);
	expect_cfa(&env, 0x20000, 24);
	expect_cfa(&env, 0x2000f, 24);
	expect_error(&env, 0x20010, -ENOENT);
	expect_error(&env, 0x1ffff, -ENOENT);
	env_close(&env);

	table.funcs = outermost;
	table.num_funcs = ARRAY_SIZE(outermost);
	env_open(&env, &table);
	expect_cfa(&env, S64_MIN_OFFSET, 8);
	expect_cfa(&env, S64_MIN_OFFSET + 0xf, 8);
	expect_cfa(&env, S64_MAX_OFFSET, 16);
	expect_error(&env, 0, -ENOENT);
	env_close(&env);
}

void test_lookup(void)
{
	static const u8 all_flags[] = {
		SFB_SORTED | SFB_PCREL, SFB_SORTED, SFB_PCREL, 0,
	};
	u8 version;
	u32 i;

	for (version = 2; version <= 3; version++) {
		for (i = 0; i < ARRAY_SIZE(all_flags); i++)
			every_address(version, all_flags[i]);
		few_functions(version, SFB_SORTED | SFB_PCREL);
		few_functions(version, SFB_PCREL);
		empty_functions(version, SFB_SORTED | SFB_PCREL);
		empty_functions(version, SFB_PCREL);
	}
	far_functions();
	ends_of_memory(SFB_SORTED);
	ends_of_memory(0);
}
