// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of tables: a table of each section in sframe_cases.h gives the answers
 * that the cases expect.  tools/testing/unwind has the faults that only a table can have,
 * and more about edges.
 */

#include <kunit/test.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "../sframe_table.h"
#include "rule_compare.h"
#include "sframe_cases.h"

static void run_case(struct kunit *test, const struct sframe_case *c)
{
	struct sframe_case_variant v[CASE_MAX_VARIANTS];
	unsigned int num = sframe_case_variants(c, v), i;
	const char *wrong;

	for (i = 0; i < num; i++) {
		wrong = sframe_case_table(c, &v[i]);
		if (wrong)
			KUNIT_FAIL(test, "%s, v%u, flags %u: %s", c->name,
				   v[i].version, v[i].flags, wrong);
	}
}

static void run_set(struct kunit *test, const struct sframe_case_set *set)
{
	unsigned int i;

	for (i = 0; i < set->num; i++)
		run_case(test, &set->cases[i]);
}

static void table_header(struct kunit *test)
{
	run_set(test, &sframe_header_set);
}

static void table_rules(struct kunit *test)
{
	run_set(test, &sframe_amd64_set);
	run_set(test, &sframe_aarch64_set);
	run_set(test, &sframe_flex_set);
}

static void table_lookup(struct kunit *test)
{
	run_set(test, &sframe_lookup_set);
	run_set(test, &sframe_invalid_set);
}

#define NUM_FRES	60000
#define FUNC_START	0x12340

static void free_section(void *img)
{
	sfb_free(img);
}

/* One function of NUM_FRES FREs of @step bytes each, with two rules in turn */
static void make_section(struct kunit *test, struct sfb_image *img, u32 step)
{
	struct sfb_fre *fres = kvcalloc(NUM_FRES, sizeof(*fres), GFP_KERNEL);
	const struct sfb_func func = {
		.start = FUNC_START, .size = NUM_FRES * step, .fre_type = step > 1 ? 2 : 1,
		.fres = fres, .num_fres = NUM_FRES,
	};
	const struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, .num_funcs = 1, .funcs = &func,
	};
	unsigned int i;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, fres);
	for (i = 0; i < NUM_FRES; i++)
		fres[i] = (struct sfb_fre)SFB_FRE(i * step, SFB_SP, 0,
						  i % 2 ? 16 : 8);
	ret = sfb_build(img, &table);
	kvfree(fres);
	KUNIT_ASSERT_EQ(test, ret, 0);
	ret = kunit_add_action_or_reset(test, free_section, img);
	KUNIT_ASSERT_EQ(test, ret, 0);
}

/* A table of more than a page, built and freed again and again */
static void table_large(struct kunit *test)
{
	const struct sframe_segment text = { .size = 0x100000 };
	struct sframe_image image = { .segments = &text, .nr_segments = 1 };
	struct sframe_table *table;
	struct sfb_image *img;
	unsigned int i, turn;

	img = kunit_kzalloc(test, sizeof(*img), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, img);
	make_section(test, img, 1);
	image.section = img->bytes;
	image.size = img->size;
	for (turn = 0; turn < 10; turn++) {
		unsigned int wrong = 0;

		table = sframe_table_build(&image, SFB_AMD64);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, table);
		for (i = 0; i < NUM_FRES; i++) {
			u64 rule = sframe_table_find(table, FUNC_START + i);

			wrong += sframe_rule_cfa(rule) != (i % 2 ? 16 : 8);
		}
		KUNIT_EXPECT_EQ(test, wrong, 0);
		KUNIT_EXPECT_EQ(test, sframe_table_find(table, FUNC_START - 1),
				SFRAME_RULE_NONE);
		KUNIT_EXPECT_EQ(test, sframe_table_find(table, FUNC_START + NUM_FRES),
				SFRAME_RULE_NONE);
		sframe_table_free(table);
	}
	sframe_table_free(NULL);
}

#define STEP	3

/* A rule ends where the next FRE begins, also if that is at the start of a block */
static void table_edge(struct kunit *test)
{
	const struct sframe_segment text = { .size = 0x100000 };
	struct sframe_image image = { .segments = &text, .nr_segments = 1 };
	unsigned int i, wrong_rules = 0, wrong_edges = 0;
	struct sframe_table *table;
	struct sfb_image *img;
	bool edge;

	img = kunit_kzalloc(test, sizeof(*img), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, img);
	make_section(test, img, STEP);
	image.section = img->bytes;
	image.size = img->size;
	table = sframe_table_build(&image, SFB_AMD64);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, table);
	for (i = 0; i < NUM_FRES * STEP; i++) {
		u64 offset = FUNC_START + i;
		u64 rule = sframe_table_find_edge(table, offset - table->start, &edge);

		wrong_rules += sframe_rule_cfa(rule) != (i / STEP % 2 ? 16 : 8);
		wrong_edges += edge != (i % STEP == STEP - 1);
	}
	KUNIT_EXPECT_EQ(test, wrong_rules, 0);
	KUNIT_EXPECT_EQ(test, wrong_edges, 0);
	sframe_table_free(table);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(table_header),
	KUNIT_CASE(table_rules),
	KUNIT_CASE(table_lookup),
	KUNIT_CASE(table_large),
	KUNIT_CASE(table_edge),
	{}
};

static struct kunit_suite table_suite = {
	.name = "unwind_sframe_table",
	.test_cases = table_cases,
};

kunit_test_suite(table_suite);

MODULE_DESCRIPTION("KUnit tests of tables made of SFrame sections");
MODULE_LICENSE("GPL");
