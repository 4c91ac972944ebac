// SPDX-License-Identifier: GPL-2.0
/*
 * From a row's words to rules: one line of a table per case.
 *
 * Each case is a function of one row, between two good ones; these must decode
 * whatever the case is, as a bad entry may cost nothing but itself.
 */
#include <errno.h>

#include <linux/kernel.h>

#include "sframe_test.h"

struct rule_case {
	const char	*name;
	u8		version;
	u8		abi;
	s8		ra;		/* fixed offset of RA, 0: none */
	s8		fp;		/* fixed offset of FP, 0: none */
	u8		func_flags;
	u8		type;
	struct sfb_row	row;
	int		error;
	struct unwind_row want;
};

#define ROW(...)	SFB_ROW(0, __VA_ARGS__)
#define FLEX		1

/* A flexible row's control word: register, address in register, in memory */
#define C_REG(reg)	((reg) << 3 | 1)
#define C_AT_REG(reg)	((reg) << 3 | 3)
#define C_AT_CFA	2
#define C_UNUSED	4

static const struct rule_case amd64[] = {
	{ "SP-based CFA", 2, SFB_AMD64, -8, 0, 0, 0, ROW(SFB_SP, 0, 8), 0,
	  { .cfa = SP(8), .ra = AT_CFA(-8), .fp = SAME } },
	{ "FP-based CFA", 3, SFB_AMD64, -8, 0, 0, 0, ROW(SFB_FP, 0, 16), 0,
	  { .cfa = FP(16), .ra = AT_CFA(-8), .fp = SAME } },
	{ "FP saved", 2, SFB_AMD64, -8, 0, 0, 0, ROW(SFB_FP, 0, 16, -16), 0,
	  { .cfa = FP(16), .ra = AT_CFA(-8), .fp = AT_CFA(-16) } },
	{ "2-byte words", 3, SFB_AMD64, -8, 0, 0, 0,
	  ROW(SFB_SP, 1, 0x7fff, -0x8000), 0,
	  { .cfa = SP(0x7fff), .ra = AT_CFA(-8), .fp = AT_CFA(-0x8000) } },
	{ "4-byte words", 2, SFB_AMD64, -8, 0, 0, 0,
	  ROW(SFB_SP, 2, 0x7fffffff, -0x7fffffff - 1), 0,
	  { .cfa = SP(0x7fffffff), .ra = AT_CFA(-8),
	    .fp = AT_CFA(-0x7fffffff - 1) } },
	{ "1-byte words are signed", 3, SFB_AMD64, -8, 0, 0, 0,
	  ROW(SFB_SP, 0, 127, -128), 0,
	  { .cfa = SP(127), .ra = AT_CFA(-8), .fp = AT_CFA(-128) } },
	{ "negative CFA offset", 3, SFB_AMD64, -8, 0, 0, 0,
	  ROW(SFB_FP, 0, -64), 0,
	  { .cfa = FP(-64), .ra = AT_CFA(-8), .fp = SAME } },
	{ "RA not fixed", 3, SFB_AMD64, 0, 0, 0, 0, ROW(SFB_SP, 0, 8, -24), 0,
	  { .cfa = SP(8), .ra = AT_CFA(-24), .fp = SAME } },
	{ "RA and FP fixed", 3, SFB_AMD64, -8, -16, 0, 0, ROW(SFB_FP, 0, 16), 0,
	  { .cfa = FP(16), .ra = AT_CFA(-8), .fp = AT_CFA(-16) } },
	{ "RA fixed at +127, FP at -128", 2, SFB_AMD64, 127, -128, 0, 0,
	  ROW(SFB_FP, 0, 16), 0,
	  { .cfa = FP(16), .ra = AT_CFA(127), .fp = AT_CFA(-128) } },
	{ "FP fixed, RA not", 3, SFB_AMD64, 0, -16, 0, 0,
	  ROW(SFB_FP, 0, 16, -24), 0,
	  { .cfa = FP(16), .ra = AT_CFA(-24), .fp = AT_CFA(-16) } },
	{ "a word too many", 3, SFB_AMD64, -8, 0, 0, 0,
	  ROW(SFB_SP, 0, 8, -16, -24), -EINVAL, {} },
	{ "a word too many, all fixed", 2, SFB_AMD64, -8, -16, 0, 0,
	  ROW(SFB_SP, 0, 8, -16), -EINVAL, {} },
	{ "15 words", 3, SFB_AMD64, -8, 0, 0, 0,
	  ROW(SFB_SP, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
	  -EINVAL, {} },
	{ "outermost row", 2, SFB_AMD64, -8, 0, 0, 0, SFB_ROW_OUTERMOST(0), 0,
	  { .outermost = true } },
	{ "outermost row", 3, SFB_AMD64, -8, 0, 0, 0, SFB_ROW_OUTERMOST(0), 0,
	  { .outermost = true } },
	{ "outermost row, FP fixed", 3, SFB_AMD64, -8, -16, 0, 0,
	  SFB_ROW_OUTERMOST(0), 0, { .outermost = true } },
	{ "outermost flexible row", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  SFB_ROW_OUTERMOST(0), 0, { .outermost = true } },
	{ "signal frame", 3, SFB_AMD64, -8, 0, SFB_SIGNAL, 0,
	  ROW(SFB_SP, 0, 8), 0,
	  { .cfa = SP(8), .ra = AT_CFA(-8), .fp = SAME, .signal = true } },
	{ "v2 has no signal frames", 2, SFB_AMD64, -8, 0, SFB_SIGNAL, 0,
	  ROW(SFB_SP, 0, 8), 0,
	  { .cfa = SP(8), .ra = AT_CFA(-8), .fp = SAME } },
	{ "no pointer authentication", 3, SFB_AMD64, -8, 0, SFB_KEY_B, 0,
	  ROW(SFB_SP | SFB_MANGLED, 0, 8), 0,
	  { .cfa = SP(8), .ra = AT_CFA(-8), .fp = SAME } },
	{ "unknown function type", 3, SFB_AMD64, -8, 0, 0, 2,
	  ROW(SFB_SP, 0, 8), -EINVAL, {} },
	{ "unknown function type 31", 3, SFB_AMD64, -8, 0, 0, 31,
	  ROW(SFB_SP, 0, 8), -EINVAL, {} },
	{ "v2 has no function types", 2, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, 8), 0,
	  { .cfa = SP(8), .ra = AT_CFA(-8), .fp = SAME } },
};

static const struct rule_case aarch64[] = {
	{ "leaf", 2, SFB_AARCH64, 0, 0, 0, 0, ROW(SFB_SP, 0, 0), 0,
	  { .cfa = SP(0), .ra = SAME, .fp = SAME } },
	{ "RA and FP saved", 3, SFB_AARCH64, 0, 0, 0, 0,
	  ROW(SFB_SP, 0, 32, -24, -32), 0,
	  { .cfa = SP(32), .ra = AT_CFA(-24), .fp = AT_CFA(-32) } },
	{ "RA alone saved", 3, SFB_AARCH64, 0, 0, 0, 0,
	  ROW(SFB_SP, 0, 32, -8), 0,
	  { .cfa = SP(32), .ra = AT_CFA(-8), .fp = SAME } },
	{ "big endian's number", 3, SFB_AARCH64_BE, 0, 0, SFB_KEY_B, 0,
	  ROW(SFB_FP | SFB_MANGLED, 0, 16, -8, -16), 0,
	  { .cfa = FP(16), .ra = AT_CFA(-8), .fp = AT_CFA(-16),
	    .mangled_ra = true, .pauth_key_b = true } },
	{ "mangled RA, key A", 2, SFB_AARCH64, 0, 0, 0, 0,
	  ROW(SFB_SP | SFB_MANGLED, 0, 16, -8, -16), 0,
	  { .cfa = SP(16), .ra = AT_CFA(-8), .fp = AT_CFA(-16),
	    .mangled_ra = true } },
	{ "mangled RA, key B", 3, SFB_AARCH64, 0, 0, SFB_KEY_B, 0,
	  ROW(SFB_SP | SFB_MANGLED, 1, 512, -504, -512), 0,
	  { .cfa = SP(512), .ra = AT_CFA(-504), .fp = AT_CFA(-512),
	    .mangled_ra = true, .pauth_key_b = true } },
	{ "v2 key B", 2, SFB_AARCH64, 0, 0, SFB_KEY_B, 0, ROW(SFB_SP, 0, 0), 0,
	  { .cfa = SP(0), .ra = SAME, .fp = SAME, .pauth_key_b = true } },
	{ "a word too many", 3, SFB_AARCH64, 0, 0, 0, 0,
	  ROW(SFB_SP, 0, 32, -8, -16, -24), -EINVAL, {} },
	{ "flexible, SP is 31 and FP 29", 3, SFB_AARCH64, 0, 0, 0, FLEX,
	  ROW(SFB_SP, 1, C_REG(31), 16, C_AT_REG(29), 8, C_REG(7), 0), 0,
	  { .cfa = SP(16), .ra = AT_FP(8), .fp = REG(7, 0) } },
};

static const struct rule_case flex[] = {
	{ "CFA by register", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(10), 0), 0,
	  { .cfa = REG(10, 0), .ra = AT_CFA(-8), .fp = SAME } },
	{ "CFA from memory at FP (DRAP)", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_AT_REG(6), -8), 0,
	  { .cfa = AT_FP(-8), .ra = AT_CFA(-8), .fp = SAME } },
	{ "CFA from memory at SP", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_FP, 0, C_AT_REG(7), 24), 0,
	  { .cfa = AT_SP(24), .ra = AT_CFA(-8), .fp = SAME } },
	{ "CFA by FP, FP in memory at FP", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(6), 16, 0, C_AT_REG(6), 0), 0,
	  { .cfa = FP(16), .ra = AT_CFA(-8), .fp = AT_FP(0) } },
	{ "the row's base bit means nothing", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_FP, 0, C_REG(7), 16), 0,
	  { .cfa = SP(16), .ra = AT_CFA(-8), .fp = SAME } },
	{ "RA in memory at CFA", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, C_AT_CFA, -16), 0,
	  { .cfa = SP(16), .ra = AT_CFA(-16), .fp = SAME } },
	{ "RA in memory at CFA + 0", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, C_AT_CFA, 0), 0,
	  { .cfa = SP(16), .ra = AT_CFA(0), .fp = SAME } },
	{ "RA and FP in registers", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, C_REG(1), 0, C_REG(3), 0), 0,
	  { .cfa = SP(16), .ra = REG(1, 0), .fp = REG(3, 0) } },
	{ "FP in memory at a register", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, 0, C_AT_REG(12), -40), 0,
	  { .cfa = SP(16), .ra = AT_CFA(-8), .fp = AT_REG(12, -40) } },
	{ "FP is relative to CFA", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, 0, 5 << 3, -40), 0,
	  { .cfa = SP(16), .ra = AT_CFA(-8), .fp = CFA(-40) } },
	{ "RA and FP padded, both fixed", 3, SFB_AMD64, -8, -16, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, 0, 0), 0,
	  { .cfa = SP(16), .ra = AT_CFA(-8), .fp = AT_CFA(-16) } },
	{ "RA padded, FP not, both fixed", 3, SFB_AMD64, -8, -16, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, 0, C_AT_CFA, -24), 0,
	  { .cfa = SP(16), .ra = AT_CFA(-8), .fp = AT_CFA(-24) } },
	{ "RA padded, not fixed", 3, SFB_AMD64, 0, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, 0, C_AT_CFA, -24), 0,
	  { .cfa = SP(16), .ra = SAME, .fp = AT_CFA(-24) } },
	{ "padding to the row's end", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, 0, 0, 0, 0, 0), 0,
	  { .cfa = SP(16), .ra = AT_CFA(-8), .fp = SAME } },
	{ "padding after three rules", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, C_AT_CFA, -8, C_AT_CFA, -16, 0, 0), 0,
	  { .cfa = SP(16), .ra = AT_CFA(-8), .fp = AT_CFA(-16) } },
	{ "2-byte words", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 1, C_AT_REG(255), -0x8000, 0, C_REG(32), 0x7fff), 0,
	  { .cfa = AT_REG(255, -0x8000), .ra = AT_CFA(-8),
	    .fp = REG(32, 0x7fff) } },
	{ "4-byte words", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 2, C_AT_REG(6), -0x12345678), 0,
	  { .cfa = AT_FP(-0x12345678), .ra = AT_CFA(-8), .fp = SAME } },
	{ "1-byte control is unsigned: register 31", 3, SFB_AMD64, -8, 0, 0,
	  FLEX, ROW(SFB_SP, 0, C_REG(31), -1), 0,
	  { .cfa = REG(31, -1), .ra = AT_CFA(-8), .fp = SAME } },
	{ "2-byte control is unsigned: register 8191", 3, SFB_AMD64, -8, 0, 0,
	  FLEX, ROW(SFB_SP, 1, C_REG(8191), 0), -EINVAL, {} },
	{ "register 256", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 1, C_REG(256), 0), -EINVAL, {} },
	{ "register 256 + 7 is not SP", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 2, C_REG(263), 0), -EINVAL, {} },
	{ "register 2^29 - 1", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 2, -7, 0), -EINVAL, {} },
	{ "register of RA too large", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 1, C_REG(7), 16, C_REG(256), 0), -EINVAL, {} },
	{ "number is ignored without a register", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 1, C_REG(7), 16, C_AT_CFA | 0x4000, -8), 0,
	  { .cfa = SP(16), .ra = AT_CFA(-8), .fp = SAME } },
	{ "unused bit, CFA", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7) | C_UNUSED, 16), -EINVAL, {} },
	{ "unused bit, RA", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, C_UNUSED, 0), -EINVAL, {} },
	{ "unused bit, FP", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, 0, C_AT_REG(6) | C_UNUSED, 0), -EINVAL,
	  {} },
	{ "no offset for CFA", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7)), -EINVAL, {} },
	{ "no offset for RA", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, C_AT_CFA), -EINVAL, {} },
	{ "no offset for FP", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, 0, C_AT_CFA), -EINVAL, {} },
	{ "no CFA", 3, SFB_AMD64, -8, 0, 0, FLEX, ROW(SFB_SP, 0, 0), -EINVAL,
	  {} },
	{ "no CFA but an RA", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, 0, C_AT_CFA, -8), -EINVAL, {} },
	{ "CFA relative to CFA", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, 1 << 3, 16), -EINVAL, {} },
	{ "CFA in memory at CFA", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_AT_CFA, 16), -EINVAL, {} },
	{ "padding that is not zero", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, 0, 0, 1), -EINVAL, {} },
	{ "last padding word is not zero", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 0, C_REG(7), 16, C_AT_CFA, -8, C_AT_CFA, -16, 0, -1),
	  -EINVAL, {} },
	{ "15 words, 9 of them padding", 3, SFB_AMD64, -8, 0, 0, FLEX,
	  ROW(SFB_SP, 2, C_REG(7), 16, C_AT_CFA, -8, C_AT_CFA, -16, 0, 0, 0, 0,
	      0, 0, 0, 0, 0), 0,
	  { .cfa = SP(16), .ra = AT_CFA(-8), .fp = AT_CFA(-16) } },
	{ "signal frame", 3, SFB_AMD64, 0, 0, SFB_SIGNAL, FLEX,
	  ROW(SFB_SP, 1, C_AT_REG(7), 160, C_AT_REG(7), 168, C_AT_REG(7), 120),
	  0, { .cfa = AT_SP(160), .ra = AT_SP(168), .fp = AT_SP(120),
	       .signal = true } },
	{ "mangled RA", 3, SFB_AARCH64, 0, 0, SFB_KEY_B, FLEX,
	  ROW(SFB_SP | SFB_MANGLED, 1, C_REG(29), 16, C_AT_CFA, -8), 0,
	  { .cfa = FP(16), .ra = AT_CFA(-8), .fp = SAME, .mangled_ra = true,
	    .pauth_key_b = true } },
};

/* What the neighbours have: as many words as the ABI may need, all distinct */
static struct unwind_row good_row(const struct rule_case *c, s32 cfa)
{
	struct unwind_row row = { .cfa = SP(cfa), .ra = SAME, .fp = SAME };

	if (c->ra)
		row.ra = (struct unwind_rule)AT_CFA(c->ra);
	if (c->fp)
		row.fp = (struct unwind_rule)AT_CFA(c->fp);
	return row;
}

static void rule_case(const char *set, const struct rule_case *c)
{
	static const struct sfb_row first[] = { SFB_ROW(0, SFB_SP, 0, 72) };
	static const struct sfb_row last[] = { SFB_ROW(0, SFB_SP, 1, 720) };
	const struct sfb_func funcs[] = {
		{ .start = 0x1000, .size = 0x10, SFB_ROWS(first) },
		{ .start = 0x1010, .size = 0x10, .flags = c->func_flags,
		  .type = c->type, .rows = &c->row, .num_rows = 1 },
		{ .start = 0x1020, .size = 0x10, SFB_ROWS(last) },
	};
	const struct sfb_table table = {
		.version = c->version, .flags = SFB_SORTED | SFB_PCREL,
		.abi = c->abi, .fixed_ra = c->ra, .fixed_fp = c->fp,
		SFB_FUNCS(funcs),
	};
	struct unwind_row good;
	struct env env;

	tap_begin("%s: v%u, %s", set, c->version, c->name);
	env_open(&env, &table);
	if (c->error)
		expect_error(&env, 0x1018, c->error);
	else
		expect_row(&env, 0x1018, &c->want);
	good = good_row(c, 72);
	expect_row(&env, 0x100f, &good);
	good = good_row(c, 720);
	expect_row(&env, 0x1020, &good);
	env_close(&env);
	tap_end();
}

/* Functions without rows: outermost, but only where the format says so */
static void no_rows(u8 version, u8 type, u8 flags, int error)
{
	static const struct sfb_row rows[] = { SFB_ROW(0, SFB_SP, 0, 8) };
	const struct sfb_func funcs[] = {
		{ .start = 0x1000, .size = 0x10, SFB_ROWS(rows) },
		{ .start = 0x1010, .size = 0x10, .type = type, .flags = flags },
		{ .start = 0x1020, .size = 0x10, SFB_ROWS(rows) },
		{ .start = 0x1030, .size = 0x10, .type = type, .flags = flags },
	};
	const struct sfb_table table = {
		.version = version, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
	const struct unwind_row want = {
		.outermost = true, .signal = flags & SFB_SIGNAL,
	};
	struct env env;

	tap_begin("no rows: v%u, type %u, flags %#x", version, type, flags);
	env_open(&env, &table);
	if (error) {
		expect_error(&env, 0x1010, error);
		expect_error(&env, 0x103f, error);
	} else {
		expect_row(&env, 0x1010, &want);
		expect_row(&env, 0x103f, &want);
	}
	expect_cfa(&env, 0x100f, 8);
	expect_cfa(&env, 0x1020, 8);
	env_close(&env);
	tap_end();
}

void test_rules(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(amd64); i++)
		rule_case("AMD64", &amd64[i]);
	for (i = 0; i < ARRAY_SIZE(aarch64); i++)
		rule_case("AArch64", &aarch64[i]);
	for (i = 0; i < ARRAY_SIZE(flex); i++)
		rule_case("flex", &flex[i]);
	no_rows(3, 0, 0, 0);
	no_rows(3, 0, SFB_SIGNAL, 0);
	no_rows(3, FLEX, 0, -ENOENT);
	no_rows(3, 2, 0, -ENOENT);
	no_rows(2, 0, 0, -ENOENT);
}
