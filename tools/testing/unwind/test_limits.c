// SPDX-License-Identifier: GPL-2.0
/*
 * Lookups have bounds, but a sorted section has none on its size.  What is at a
 * bound, and what is one past it, is among the cases that KUnit runs too
 * (sframe_cases_limits.c).
 */
#include <errno.h>
#include <stdlib.h>

#include <linux/kernel.h>

#include "sframe_test.h"
#include "umem.h"

static const struct sfb_row row[] = { SFB_ROW(0, SFB_SP, 0, 8) };

static void expect_in(const struct env *env, u64 offset,
		      enum unwind_user_access access, int ret)
{
	struct unwind_row found;

	CHECK_EQ(env_find(env, offset, access, &found), ret);
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

	tap_begin("limits: %u sorted functions", num);
	for (i = 0; i < num; i++)
		funcs[i] = (struct sfb_func){
			.start = 0x10000000 + 32 * i, .size = 16,
			SFB_ROWS(row),
		};
	env_open(&env, &table);
	for (i = 0; i < num; i++) {
		expect_in(&env, funcs[i].start, UNWIND_USER_NOFAULT, 0);
		expect_in(&env, funcs[i].start + 16, UNWIND_USER_NOFAULT,
			  -ENOENT);
		/* log2(num) + 1 starts; size, FREs, 4 of the function; 3 */
		if (umem_reads > 17 + 1 + 6 + 3)
			tap_fail("function %u took %lu reads", i, umem_reads);
	}
	expect_in(&env, 0x10000000 - 1, UNWIND_USER_NOFAULT, -ENOENT);
	env_close(&env);
	free(funcs);
	tap_end();
}

void test_limits(void)
{
	no_scan();
}
