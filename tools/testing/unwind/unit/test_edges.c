// SPDX-License-Identifier: GPL-2.0
/*
 * Edges of checks: the last allowed value, and the first forbidden one. mutants.sh showed
 * that no other test would notice a check that is off by one.
 */
#include <errno.h>
#include <stdlib.h>

#include "sframe_test.h"

static const struct sfb_fre fre[] = { SFB_FRE(0, SFB_SP, 0, 8) };

/* @num empty functions at the address of one that is not empty, and after it */
static int find_after_empty(u32 num, u8 version)
{
	struct sfb_func *funcs = calloc(num + 1, sizeof(*funcs));
	struct sfb_table table = {
		.version = version, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, .num_funcs = num + 1, .funcs = funcs,
	};
	struct unwind_frame_rule found;
	struct env env;
	u32 i;
	int ret;

	for (i = 0; i <= num; i++)
		funcs[i] = (struct sfb_func){ .start = 0x1000, SFB_FRES(fre) };
	funcs[0].size = 0x10;
	env_open(&env, &table);
	ret = env_find(&env, 0x1008, &found);
	env_close(&env);
	free(funcs);
	return ret;
}

/* The last examined entry is the one that is not empty */
static void empty_bound(u8 version)
{
	tap_begin("edges: v%u, %u empty functions are stepped over", version, MAX_SCAN - 1);
	CHECK_EQ(find_after_empty(MAX_SCAN - 1, version), 0);
	tap_begin("edges: v%u, %u empty functions return E2BIG", version, MAX_SCAN);
	CHECK_EQ(find_after_empty(MAX_SCAN, version), -E2BIG);
}

/* Attributes that end where the section does: a function without FREs */
static void attributes_alone(void)
{
	const struct sfb_func func = { .start = 0x1000, .size = 0x10 };
	const struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, .num_funcs = 1, .funcs = &func,
	};
	const struct unwind_frame_rule outermost = { .outermost = true };
	struct env env;

	tap_begin("edges: v3, attributes without FREs are an outermost frame");
	env_open(&env, &table);
	CHECK_EQ(env.sec.fre_len, 5);
	expect_rule(&env, 0x1000, &outermost);
	expect_rule(&env, 0x100f, &outermost);
	expect_error(&env, 0x1010, -ENOENT);
	env_close(&env);
}

void test_edges(void)
{
	u8 version;

	for (version = 2; version <= 3; version++)
		empty_bound(version);
	attributes_alone();
}
