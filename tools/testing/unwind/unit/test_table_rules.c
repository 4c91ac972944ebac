// SPDX-License-Identifier: GPL-2.0
/*
 * Tables: which rules fit into 64 bits, the bounds on rules and entries, and what fails.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/slab.h>

#include "sframe_test.h"
#include "table.h"
#include "test_table.h"

#define MAX_RULES	4096
#define MAX_COMPLEX	1024
#define MAX_REPEATED	65536

/* One function of one FRE, and the rule that becomes of it; 0: it does not fit */
struct one_rule {
	const char	*what;
	u8		abi;
	s8		ra;
	s8		fp;
	u8		type;
	u8		flags;
	struct sfb_fre	fre;
	u64		rule;
};

static const struct one_rule rules[] = {
	{ "largest CFA", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 2, 0x3fff8),
	  ORDINARY(0x3fff8) },
	{ "CFA too large", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 2, 0x40000), 0 },
	{ "lowest CFA", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 2, -0x40000),
	  ORDINARY(-0x40000) },
	{ "CFA too low", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 2, -0x40008), 0 },
	{ "CFA that would wrap", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 2, 0x80008), 0 },
	{ "lowest CFA of all", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 2, INT_MIN), 0 },
	{ "CFA no multiple of 8", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 0, 12), 0 },
	{ "CFA no multiple of 8, below", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 0, -4), 0 },
	{ "CFA by FP", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_FP, 0, 16),
	  ORDINARY(16) | SFRAME_RULE_CFA_FP },
	{ "largest FP", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 2, 16, 0x3fff8),
	  ORDINARY(16) | SAVED(0x3fff8) },
	{ "FP too large", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 2, 16, 0x40000), 0 },
	{ "lowest FP", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 2, 16, -0x40000),
	  ORDINARY(16) | SAVED(-0x40000) },
	{ "FP too low", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 2, 16, -0x40008), 0 },
	{ "FP no multiple of 8", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 0, 16, -15), 0 },
	{ "FP fixed", SFB_AMD64, -8, -16, 0, 0, SFB_FRE(0, SFB_SP, 0, 16),
	  ORDINARY(16) | SAVED(-16) },
	{ "FP fixed, no multiple of 8", SFB_AMD64, -8, -17, 0, 0,
	  SFB_FRE(0, SFB_SP, 0, 16), 0 },
	{ "RA fixed, no multiple of 8", SFB_AMD64, -7, 0, 0, 0,
	  SFB_FRE(0, SFB_SP, 0, 16), 0 },
	{ "RA in its register", SFB_AARCH64, 0, 0, 0, 0, SFB_FRE(0, SFB_SP, 0, 16),
	  SFRAME_RULE_LINK | WORDS(16, 16) },
	{ "CFA 0", SFB_AARCH64, 0, 0, 0, 0, SFB_FRE(0, SFB_SP, 0, 0),
	  SFRAME_RULE_LINK },
	{ "RA in its register, FP saved", SFB_AARCH64, 0, -16, 0, 0,
	  SFB_FRE(0, SFB_FP, 0, 16),
	  SFRAME_RULE_LINK | WORDS(16, 16) | SAVED(-16) | SFRAME_RULE_CFA_FP },
	{ "RA and FP saved", SFB_AARCH64, 0, 0, 0, 0,
	  SFB_FRE(0, SFB_SP, 2, 0x1000, -0x400, -0x800),
	  SFRAME_RULE_ORDINARY | WORDS(0x1000, 16) | WORDS(-0x400, 32) | SAVED(-0x800) },
	{ "RA lowest", SFB_AARCH64, 0, 0, 0, 0, SFB_FRE(0, SFB_SP, 2, 16, -0x40000),
	  SFRAME_RULE_ORDINARY | WORDS(16, 16) | WORDS(-0x40000, 32) },
	{ "RA too low", SFB_AARCH64, 0, 0, 0, 0,
	  SFB_FRE(0, SFB_SP, 2, 0x1000, -0x40008), 0 },
	{ "RA at the CFA", SFB_AARCH64, 0, 0, 0, 0, SFB_FRE(0, SFB_SP, 0, 16, 0), 0 },
	{ "RA at the CFA, FP saved", SFB_AARCH64, 0, 0, 0, 0,
	  SFB_FRE(0, SFB_SP, 0, 16, 0, -16), 0 },
	{ "RA above the CFA", SFB_AARCH64, 0, 0, 0, 0, SFB_FRE(0, SFB_FP, 0, 16, 8), 0 },
	{ "RA fixed, above the CFA", SFB_AMD64, 8, 0, 0, 0, SFB_FRE(0, SFB_SP, 0, 16), 0 },
	{ "RA at the CFA, flexible", SFB_AMD64, -8, 0, 1, 0,
	  SFB_FRE(0, SFB_SP, 0, 7 << 3 | 1, 16, 2, 0), 0 },
	{ "FP above the CFA", SFB_AMD64, -8, 0, 0, 0, SFB_FRE(0, SFB_SP, 0, 16, 8),
	  ORDINARY(16) | SAVED(8) },
	{ "signatures are left out", SFB_AARCH64, 0, 0, 0, SFB_KEY_B,
	  SFB_FRE(0, SFB_SP | SFB_MANGLED, 0, 16, -8), ORDINARY(16) },
	{ "signal frame", SFB_AMD64, -8, 0, 0, SFB_SIGNAL, SFB_FRE(0, SFB_SP, 0, 16), 0 },
	{ "outermost", SFB_AMD64, -8, 0, 0, 0, SFB_FRE_OUTERMOST(0), 0 },
	{ "flexible, as any", SFB_AMD64, -8, 0, 1, 0,
	  SFB_FRE(0, SFB_SP, 0, 7 << 3 | 1, 16, 2, -8, 2, -16),
	  ORDINARY(16) | SAVED(-16) },
	{ "flexible, CFA by FP", SFB_AMD64, -8, 0, 1, 0, SFB_FRE(0, SFB_SP, 0, 6 << 3 | 1, 16),
	  ORDINARY(16) | SFRAME_RULE_CFA_FP },
	{ "CFA in memory", SFB_AMD64, -8, 0, 1, 0, SFB_FRE(0, SFB_SP, 0, 7 << 3 | 3, 16), 0 },
	{ "CFA by another register", SFB_AMD64, -8, 0, 1, 0,
	  SFB_FRE(0, SFB_SP, 0, 10 << 3 | 1, 16), 0 },
	{ "RA in a register", SFB_AMD64, -8, 0, 1, 0,
	  SFB_FRE(0, SFB_SP, 0, 7 << 3 | 1, 16, 1 << 3 | 1, 0), 0 },
	{ "RA in memory at SP", SFB_AMD64, -8, 0, 1, 0,
	  SFB_FRE(0, SFB_SP, 0, 7 << 3 | 1, 16, 7 << 3 | 3, 0), 0 },
	{ "RA an address in the frame", SFB_AMD64, -8, 0, 1, 0,
	  SFB_FRE(0, SFB_SP, 1, 7 << 3 | 1, 16, 8 << 3, -8), 0 },
	{ "FP in a register", SFB_AMD64, -8, 0, 1, 0,
	  SFB_FRE(0, SFB_SP, 0, 7 << 3 | 1, 16, 0, 3 << 3 | 1, 0), 0 },
	{ "FP in memory at FP", SFB_AMD64, -8, 0, 1, 0,
	  SFB_FRE(0, SFB_SP, 0, 7 << 3 | 1, 16, 0, 6 << 3 | 3, 0), 0 },
	{ "FP an address in the frame", SFB_AMD64, -8, 0, 1, 0,
	  SFB_FRE(0, SFB_SP, 1, 7 << 3 | 1, 16, 0, 8 << 3, -16), 0 },
};

/* The rule is what it has to be, and says what the decoder does */
static void one_rule(const struct one_rule *r)
{
	const struct sfb_func func = {
		.start = 0x1000, .size = 16, .type = r->type, .flags = r->flags,
		.fres = &r->fre, .num_fres = 1,
	};
	const struct sfb_table section = {
		.version = 3, .flags = SFB_SORTED, .abi = r->abi, .fixed_ra = r->ra,
		.fixed_fp = r->fp, .num_funcs = 1, .funcs = &func,
	};
	struct sframe_table *table;
	struct unwind_frame_rule want;
	const char *differs;
	struct env env;
	int ret;

	tap_begin("table: rule: %s", r->what);
	env_open(&env, &section);
	table = build_text(&env.img);
	expect_rules(table, 0x1000, 0x1010, r->rule ?: SFRAME_RULE_COMPLEX);
	close_table(table);

	table = table_of(env.img.bytes, env.img.size, env.base, r->abi);
	ret = env_find(&env, 0x1000, &want);
	differs = table_differs(table, env.base, env.base + 0x1000, ret, &want);
	if (differs)
		tap_fail("%s", differs);
	CHECK_EQ(table->nr_complex, !r->rule);
	sframe_table_free(table);
	env_close(&env);
}

/*
 * As many rules as can be numbered: CFAs from @first on in steps of 8.  Two follow that
 * are known, so they are good, and an ordinary one that is not.
 */
static void many_rules(u32 num, s32 first, u32 max, u64 last_rule)
{
	struct sfb_fre *fres = calloc(num + 3, sizeof(*fres));
	const struct sfb_func func = {
		.start = 0x1000, .size = num + 3, .fre_type = 1,
		.fres = fres, .num_fres = num + 3,
	};
	const struct sfb_table section = {
		.version = 2, .abi = SFB_AMD64, .fixed_ra = -8,
		.num_funcs = 1, .funcs = &func,
	};
	struct sframe_table *table;
	struct unwind_frame_rule rule;
	u32 i;

	tap_begin("table: %u rules from CFA %d on: %u are allowed", num, first, max);
	for (i = 0; i < num; i++)
		fres[i] = (struct sfb_fre)SFB_FRE(i, SFB_SP, 2, first + i * 8);
	fres[num] = (struct sfb_fre)SFB_FRE(num, SFB_SP, 2, first);
	fres[num + 1] = (struct sfb_fre)SFB_FRE(num + 1, SFB_SP, 2,
						first + (max - 1) * 8);
	fres[num + 2] = (struct sfb_fre)SFB_FRE(num + 2, SFB_SP, 2, 1 << 17);
	table = build(&section);
	for (i = 0; i < num + 2 && !IS_ERR(table); i++) {
		u64 packed = sframe_table_find(table, 0x1000 + i);

		if (i >= max && i < num) {
			CHECK_EQ(packed, SFRAME_RULE_BAD);
			continue;
		}
		CHECK_EQ(sframe_table_rule(table, packed, &rule), 0);
		CHECK_EQ(rule.cfa.offset, fres[i].words[0]);
	}
	expect_rules(table, 0x1000 + num + 2, 0x1000 + num + 3, last_rule);
	close_table(table);
	free(fres);
}

/* Rows that differ in one part of a sum have different rules; equal ones have the same */
static void sum_rules(void)
{
	static const struct sfb_fre fres[] = {
		SFB_FRE(0, SFB_SP, 0, 7 << 3 | 3, 16),
		SFB_FRE(1, SFB_SP, 0, 7 << 3 | 7, 16, 8, 0),
		SFB_FRE(2, SFB_SP, 0, 7 << 3 | 7, 16, 16, 0),
		SFB_FRE(3, SFB_SP, 0, 7 << 3 | 7, 16, 8, 9 << 3 | 1),
		SFB_FRE(4, SFB_SP, 0, 7 << 3 | 7, 16, 8, 9 << 3 | 3),
		SFB_FRE(5, SFB_SP, 0, 7 << 3 | 7, 16, 8, 8 << 3 | 1),
		SFB_FRE(6, SFB_SP, 0, 7 << 3 | 7, 16, 8, 0),
		SFB_FRE(7, SFB_SP, 0, 7 << 3 | 7, 16, 0, 0),
	};
	const struct sfb_func func = {
		.start = 0x1000, .size = 16, .type = 1, SFB_FRES(fres),
	};
	const struct sfb_table section = {
		.version = 3, .flags = SFB_CFA_SUM, .abi = SFB_AMD64, .fixed_ra = -8,
		.num_funcs = 1, .funcs = &func,
	};
	struct sframe_table *table;
	u64 first[ARRAY_SIZE(fres)];
	u32 i, k;

	tap_begin("table: CFAs that are sums");
	table = build(&section);
	for (i = 0; i < ARRAY_SIZE(fres); i++) {
		first[i] = sframe_table_find(table, 0x1000 + i);
		CHECK_EQ(!!(first[i] & SFRAME_RULE_COMPLEX), true);
		for (k = 0; k < i; k++)
			CHECK_EQ(first[i] == first[k], (i == 6 && k == 1) || (i == 7 && !k));
	}
	CHECK_EQ(table->nr_complex, 6);
	close_table(table);
}

/*
 * Bounds on entries
 */

/* @num functions of @size bytes that share @num_fres FREs, or say that there are */
static void build_shared(struct sfb_image *img, u8 version, u32 num, u32 num_fres)
{
	struct sfb_func *funcs = calloc(num, sizeof(*funcs));
	struct sfb_fre *fres = calloc(num_fres, sizeof(*fres));
	const struct sfb_table section = {
		.version = version, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, .num_funcs = num, .funcs = funcs,
	};
	u32 i;

	for (i = 0; i < num_fres; i++)
		fres[i] = (struct sfb_fre)SFB_FRE(i, SFB_SP, 0, 8 + i % 4 * 8);
	for (i = 0; i < num; i++)
		funcs[i] = (struct sfb_func){
			.start = (u64)i * num_fres, .size = num_fres, .fre_type = 1,
		};
	funcs[num - 1].fres = fres;
	funcs[num - 1].num_fres = num_fres;
	sfb_build(img, &section);
	for (i = 0; i < num; i++) {
		sfb_put(img, sfb_fde(img, i) + (version == 2 ? 8 : 12), 4,
			img->func_fres[num - 1] - img->fres);
		if (version == 2)
			sfb_put(img, sfb_fde(img, i) + 12, 4, num_fres);
	}
	free(fres);
	free(funcs);
}

/* The first ones are good, as far as the bound allows; the others are bad */
static void shared_fres(u8 version)
{
	const u32 num = 1000, num_fres = 3000;
	struct sframe_table *table;
	struct sfb_image img;
	u32 i, good;

	tap_begin("table: v%u: %u functions that share %u FREs", version, num, num_fres);
	build_shared(&img, version, num, num_fres);
	good = (img.size / 2 + MAX_REPEATED) / num_fres;
	table = build_text(&img);
	for (i = 0; i < num * num_fres; i++)
		expect_rules(table, i, i + 1, i / num_fres >= good ? SFRAME_RULE_BAD :
			     ORDINARY(8 + i % num_fres % 4 * 8));
	expect_rules(table, i, i + 256, SFRAME_RULE_NONE);
	close_table(table);
	sfb_free(&img);
}

/*
 * A function whose FREs are repeated as often as is allowed, and once more.  One without
 * FREs follows, which needs no room.
 */
static void repeated_often(u8 version)
{
	static const struct sfb_fre fres[] = {
		SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(1, SFB_SP, 0, 16),
	};
	struct sfb_func funcs[] = {
		{ .start = 0, .flags = SFB_PCMASK, .rep_size = 2, SFB_FRES(fres) },
		{ .size = 16 },
	};
	const struct sfb_table section = {
		.version = version, .abi = SFB_AMD64, .fixed_ra = -8, SFB_FUNCS(funcs),
	};
	struct sframe_table *table;
	struct sfb_image img;
	u32 most, more, i;

	tap_begin("table: v%u: FREs repeated as often as is allowed", version);
	sfb_build(&img, &section);
	/* Two FREs, and one entry more where each block but the first begins */
	most = (img.size / 2 + MAX_REPEATED + 1) / 3;
	sfb_free(&img);
	for (more = 0; more < 2; more++) {
		funcs[0].size = 2 * (most + more);
		funcs[1].start = funcs[0].size;
		table = build(&section);
		for (i = 0; i < funcs[0].size; i++)
			expect_rules(table, i, i + 1, more ? SFRAME_RULE_BAD :
				     ORDINARY(i % 2 ? 16 : 8));
		expect_rules(table, i, i + 16, version == 2 ? SFRAME_RULE_NONE :
			     SFRAME_RULE_COMPLEX);
		expect_rules(table, i + 16, i + 256, SFRAME_RULE_NONE);
		close_table(table);
	}
}

/* Rows that end before their block does are not repeated beyond it */
static void claimed(u8 version)
{
	struct sframe_table *table;
	struct sfb_image img;
	u32 max = version == 2 ? 0xffffffff : 0xffff;

	tap_begin("table: v%u: %u FREs promised, repeated 2^32 - 1 times", version, max);
	build_shared(&img, version, 2, 16);
	if (version == 2) {
		sfb_put(&img, sfb_fde(&img, 0) + 12, 4, max);
		sfb_put(&img, sfb_fde(&img, 0) + 16, 2, SFB_PCMASK | 1 << 8);
	} else {
		/* Both have these attributes: the second is bad, too */
		sfb_put(&img, img.func_fres[1], 2, max);
		sfb_put(&img, img.func_fres[1] + 2, 1, SFB_PCMASK);
		sfb_put(&img, img.func_fres[1] + 4, 1, 1);
	}
	table = build_text(&img);
	expect_rules(table, 0, 16, SFRAME_RULE_BAD);
	close_table(table);
	/* A bad function as large as all text: too many blocks for a table with few entries */
	sfb_put(&img, sfb_fde(&img, 0) + (version == 2 ? 4 : 8), 4, 0xffffffff);
	table = build_text(&img);
	CHECK_EQ(PTR_ERR_OR_ZERO(table), -E2BIG);
	close_table(table);
	sfb_free(&img);
}

#define FULL_FRES	(0x100000000 / 128 / 16 + 0x1000)
#define FULL_FRE	6	/* 4 bytes of start, info, a word */

/* A function of an FRE, and one of FULL_FRES FREs of a byte each */
static void build_full(struct sfb_image *img)
{
	static const struct sfb_fre rule[] = { SFB_FRE(0, SFB_SP, 0, 24) };
	const struct sfb_func funcs[] = {
		{ .size = 16, SFB_FRES(rule) }, { .size = FULL_FRES, .fre_type = 2 },
	};
	const struct sfb_table section = {
		.version = 2, .abi = SFB_AMD64, .fixed_ra = -8, SFB_FUNCS(funcs),
	};
	u32 i, pos;

	sfb_build(img, &section);
	pos = img->size;
	img->size += FULL_FRES * FULL_FRE;
	img->bytes = realloc(img->bytes, img->size);
	for (i = 0; i < FULL_FRES; i++, pos += FULL_FRE) {
		memcpy(&img->bytes[pos], &i, sizeof(i));
		img->bytes[pos + 4] = SFB_SP | 1 << 1;
		img->bytes[pos + 5] = i % 2 ? 16 : 8;
	}
	sfb_put(img, sfb_fde(img, 1) + 12, 4, FULL_FRES);
	sfb_put(img, SFB_HDR_FRE_LEN, 4, img->size - img->fres);
}

/* Text of 4 GiB, which is allowed if there are entries enough */
static void largest(void)
{
	const u64 base = 0x80000000, max = U32_MAX - SFRAME_BLOCK;
	const struct sframe_segment text = {
		.vaddr = SECTION - base, .size = 1ULL << 40,
	};
	struct sframe_table *table;
	struct sfb_image img;

	tap_begin("table: as much text as can be");
	build_full(&img);
	sfb_put(&img, sfb_fde(&img, 0), 4, -base);
	sfb_put(&img, sfb_fde(&img, 1), 4, max - FULL_FRES - base);
	table = build_image(&img, &text, 1);
	expect_rules(table, 0, 16, ORDINARY(24));
	expect_rules(table, 16, 1000, SFRAME_RULE_NONE);
	expect_rules(table, max - FULL_FRES - 100, max - FULL_FRES,
		     SFRAME_RULE_NONE);
	expect_rules(table, max - 3, max - 2, ORDINARY(FULL_FRES % 2 ? 8 : 16));
	expect_rules(table, max - 2, max - 1, ORDINARY(FULL_FRES % 2 ? 16 : 8));
	expect_rules(table, max - 1, max, ORDINARY(FULL_FRES % 2 ? 8 : 16));
	expect_rules(table, max, max + 1000, SFRAME_RULE_NONE);
	close_table(table);
	sfb_put(&img, sfb_fde(&img, 1), 4, max + 1 - FULL_FRES - base);
	table = build_image(&img, &text, 1);
	CHECK_EQ(PTR_ERR_OR_ZERO(table), -E2BIG);
	close_table(table);
	sfb_free(&img);
}

/* The bytes that are not there are not read */
static void too_large(void)
{
	struct sframe_table *table;
	struct sfb_image img;

	tap_begin("table: a section of 2 GiB");
	build_shared(&img, 3, 10, 10);
	img.size = 0x7fffffff;
	table = build_text(&img);
	expect_rules(table, 0, 1, ORDINARY(8));
	close_table(table);
	img.size++;
	table = build_text(&img);
	CHECK_EQ(PTR_ERR_OR_ZERO(table), -E2BIG);
	close_table(table);
	sfb_free(&img);
}

/*
 * Failures
 */

static void no_memory(void)
{
	struct sframe_table *table;
	struct sfb_image img;
	unsigned long i;

	tap_begin("table: memory runs out");
	build_shared(&img, 3, 10, 10);
	for (i = 1; i <= 5; i++) {
		slab_fail_at = i;
		table = build_text(&img);
		CHECK_EQ(PTR_ERR_OR_ZERO(table), -ENOMEM);
		close_table(table);
	}
	slab_fail_at = i;
	table = build_text(&img);
	CHECK_EQ(PTR_ERR_OR_ZERO(table), 0);
	CHECK_EQ(slab_fail_at, 1);
	slab_fail_at = 0;
	close_table(table);
	sframe_table_free(NULL);
	sfb_free(&img);
}

void test_table_cases(void)
{
	static const struct sframe_case_set *sets[] = {
		&sframe_header_set, &sframe_amd64_set, &sframe_aarch64_set,
		&sframe_flex_set, &sframe_lookup_set, &sframe_invalid_set,
	};
	struct sframe_case_variant v[CASE_MAX_VARIANTS];
	unsigned int i, k, n, num;
	const char *wrong;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		tap_begin("table: the %s cases", sets[i]->name);
		for (k = 0; k < sets[i]->num; k++) {
			const struct sframe_case *c = &sets[i]->cases[k];

			num = sframe_case_variants(c, v);
			for (n = 0; n < num; n++) {
				wrong = sframe_case_table(c, &v[n]);
				if (wrong)
					tap_fail("%s, v%u, flags %u: %s", c->name,
						 v[n].version, v[n].flags, wrong);
			}
		}
	}
}

void test_table_rules(void)
{
	u8 version;
	u32 i;

	test_table_cases();
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		one_rule(&rules[i]);
	/* Two rules exist always: of no function, and of a bad one */
	many_rules(MAX_RULES - 2, 8, MAX_RULES - 2, SFRAME_RULE_BAD);
	many_rules(MAX_RULES - 1, 8, MAX_RULES - 2, SFRAME_RULE_BAD);
	many_rules(6000, 8, MAX_RULES - 2, SFRAME_RULE_BAD);
	many_rules(MAX_COMPLEX, 4, MAX_COMPLEX, ORDINARY(1 << 17));
	many_rules(MAX_COMPLEX + 1, 4, MAX_COMPLEX, ORDINARY(1 << 17));
	many_rules(6000, 4, MAX_COMPLEX, ORDINARY(1 << 17));
	sum_rules();
	for (version = 2; version <= 3; version++) {
		shared_fres(version);
		repeated_often(version);
		claimed(version);
	}
	no_memory();
	too_large();
	largest();
}
