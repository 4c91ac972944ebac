// SPDX-License-Identifier: GPL-2.0
/*
 * Lookups have bounds, but the size of a sorted section has none. The values at a bound,
 * and one past it, are among the cases that KUnit runs too (sframe_cases_limits.c).
 */
#include <errno.h>
#include <stdlib.h>

#include <linux/kernel.h>

#include "sframe_test.h"
#include "umem.h"

static const struct sfb_fre fre[] = { SFB_FRE(0, SFB_SP, 0, 8) };

static void expect_ret(const struct env *env, u64 offset, int ret)
{
	struct unwind_frame_rule found;

	CHECK_EQ(env_find(env, offset, &found), ret);
}

static void no_scan(void)
{
	const u32 num = 4 * MAX_SCAN;
	struct sfb_func *funcs = calloc(num, sizeof(*funcs));
	struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED | SFB_PCREL,
		.abi = SFB_AMD64, .fixed_ra = -8, .num_funcs = num,
		.funcs = funcs,
	};
	struct env env;
	u32 i;

	tap_begin("limits: each of %u sorted functions is found", num);
	for (i = 0; i < num; i++)
		funcs[i] = (struct sfb_func){
			.start = 0x10000000 + 32 * i, .size = 16,
			SFB_FRES(fre),
		};
	env_open(&env, &table);
	for (i = 0; i < num; i++) {
		expect_ret(&env, funcs[i].start, 0);
		expect_ret(&env, funcs[i].start + 16, -ENOENT);
		/* log2(num) + 1 starts; size, FREs, 4 of the function; 3; 5 for changes */
		if (umem_reads > 17 + 1 + 6 + 3 + 5)
			tap_fail("function %u took %lu reads", i, umem_reads);
	}
	expect_ret(&env, 0x10000000 - 1, -ENOENT);
	env_close(&env);
	free(funcs);
}

/*
 * The most expensive lookup that succeeds. The search ends at the last of 2^k entries
 * after k steps. All entries but the first are empty functions at one address, and are
 * stepped over. The first one's FREs are repeated (one read more), all start at 0, and
 * the last has the maximum number of data words.
 */
static void open_dearest(struct env *env, u32 num_funcs, u32 num_fres)
{
	const struct sfb_fre last = SFB_FRE(0, SFB_SP, 2, 7 << 3 | 1, 8, 2, -8,
					    2, -16, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	struct sfb_func *funcs = calloc(num_funcs, sizeof(*funcs));
	struct sfb_fre *fres = calloc(num_fres, sizeof(*fres));
	const struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, .num_funcs = num_funcs, .funcs = funcs,
	};
	u32 i;

	for (i = 0; i < num_funcs; i++)
		funcs[i] = (struct sfb_func){ .start = 0x1000 };
	for (i = 0; i < num_fres; i++)
		fres[i] = fre[0];
	fres[num_fres - 1] = last;
	funcs[0].size = 16;
	funcs[0].type = 1;
	funcs[0].flags = SFB_PCMASK;
	funcs[0].rep_size = 16;
	funcs[0].fres = fres;
	funcs[0].num_fres = num_fres;
	env_open(env, &table);
	free(fres);
	free(funcs);
}

#define LOG2_SCAN	14
/* Difference between the bound on FREs and version 3's lower one */
#define FRES_SHORT	1

static void dearest_lookup(void)
{
	const struct unwind_frame_rule want = {
		.cfa = SP(8), .ra = AT_CFA(-8), .fp = AT_CFA(-16),
	};
	u32 reads = MAX_READS - (31 - LOG2_SCAN) - 2 * FRES_SHORT;
	struct unwind_frame_rule found;
	struct env env;

	tap_begin("limits: the dearest lookup takes %u reads", reads);
	CHECK_EQ(1U << LOG2_SCAN, MAX_SCAN);
	open_dearest(&env, MAX_SCAN, MAX_FRES - FRES_SHORT);
	CHECK_EQ(env_find(&env, 0x1000, &found), 0);
	CHECK_EQ(frame_rule_equal(&found, &want), true);
	CHECK_EQ(umem_reads, reads);
	env_close(&env);
}

static void step_bound(void)
{
	struct env env;

	tap_begin("limits: one empty function more than %u returns E2BIG", MAX_SCAN);
	open_dearest(&env, MAX_SCAN + 1, 1);
	expect_ret(&env, 0x1000, -E2BIG);
	env_close(&env);
}

/* Empty functions up to the bound, and no other function before them */
static void all_empty(void)
{
	const struct sfb_func before = {
		.start = 0xff0, .size = 16, SFB_FRES(fre),
	};
	struct sfb_func *funcs = calloc(MAX_SCAN + 2, sizeof(*funcs));
	struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, .funcs = funcs,
	};
	struct env env;
	u32 i;

	funcs[0] = before;
	for (i = 1; i < MAX_SCAN + 2; i++)
		funcs[i] = (struct sfb_func){ .start = 0x1000 };
	for (table.num_funcs = MAX_SCAN; table.num_funcs <= MAX_SCAN + 2;
	     table.num_funcs++) {
		const bool allowed = table.num_funcs <= MAX_SCAN + 1;

		tap_begin("limits: %u empty functions alone return %s",
			  table.num_funcs - 1, allowed ? "ENOENT" : "E2BIG");
		env_open(&env, &table);
		expect_ret(&env, 0x1000, allowed ? -ENOENT : -E2BIG);
		expect_ret(&env, 0xfff, 0);
		env_close(&env);
	}
	free(funcs);
}

void test_limits(void)
{
	no_scan();
	dearest_lookup();
	step_bound();
	all_empty();
}
