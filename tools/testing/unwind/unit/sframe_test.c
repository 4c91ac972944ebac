// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the SFrame decoder and of tables: the fixture and main().
 */
#include <string.h>

#include "sframe_test.h"
#include "umem.h"

void env_open_at(struct env *env, const struct sfb_table *table,
		 unsigned long base)
{
	sfb_build(&env->img, table);
	env->base = base;
	umem_map(base, env->img.bytes, env->img.size);
	CHECK_EQ(sframe_read_header(&env->sec, base, env->img.size, table->abi),
		 0);
}

void env_open(struct env *env, const struct sfb_table *table)
{
	env_open_at(env, table, DEFAULT_BASE);
}

void env_close(struct env *env)
{
	umem_unmap_all();
	sfb_free(&env->img);
}

int env_find(const struct env *env, u64 offset, struct unwind_frame_rule *rule)
{
	const char *broken;
	int ret;

	ret = lookup_rule(&env->sec, env->base + offset, rule, &broken);
	if (broken)
		tap_fail("at %#llx: %s", (unsigned long long)offset, broken);
	return ret;
}

static void expect(const struct env *env, u64 offset, int error,
		   const struct unwind_frame_rule *want)
{
	struct unwind_frame_rule rule;
	int ret = env_find(env, offset, &rule);

	if (ret != error)
		tap_fail("at %#llx: %d, not %d", (unsigned long long)offset, ret, error);
	else if (!ret && !frame_rule_equal(&rule, want))
		tap_fail("at %#llx: %s, not %s", (unsigned long long)offset,
			 frame_rule_string(&rule), frame_rule_string(want));
}

void expect_rule(const struct env *env, u64 offset,
		 const struct unwind_frame_rule *want)
{
	expect(env, offset, 0, want);
}

void expect_error(const struct env *env, u64 offset, int error)
{
	expect(env, offset, error, NULL);
}

void expect_cfa(const struct env *env, u64 offset, s32 cfa)
{
	struct unwind_frame_rule want = { .cfa = SP(cfa), .ra = SAME, .fp = SAME };

	want.ra = env->sec.fixed.ra;
	expect(env, offset, 0, &want);
}

int main(int argc, char **argv)
{
	/* For mutants.sh: the cases, and writes, which no case can do */
	if (argc == 2 && !strcmp(argv[1], "cases")) {
		test_cases();
		test_table_cases();
		test_changing();
		return tap_finish();
	}
	/* Likewise: the tests of tables, to the first that fails */
	if (argc == 2 && !strcmp(argv[1], "tables")) {
		tap_stop_at_failure();
		test_table();
		return tap_finish();
	}
	/* Likewise: all, to the first that fails; the quick ones first */
	if (argc == 2 && !strcmp(argv[1], "first"))
		tap_stop_at_failure();
	test_cases();
	test_header();
	test_lookup();
	test_limits();
	test_edges();
	test_table();
	test_hostile();
	test_changing();
	return tap_finish();
}
