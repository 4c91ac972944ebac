// SPDX-License-Identifier: GPL-2.0
/*
 * Cases: a table of the section has to give the answers that the section gives.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>

#include "../sframe_table.h"
#include "rule_compare.h"
#include "sframe_cases.h"

/* Where the section is linked, amid text that has all functions but huge ones */
#define SECTION		0x700000000000ULL
#define REACH		0x100000000ULL

/* Do the function and its neighbours span more than a table can? */
static bool is_too_large(const struct sframe_case *c)
{
	return c->size > 0x80000000;
}

/* A bad header's error is the table's error; with a good one, there may be no functions */
static const char *header_differs(const struct sframe_case *c, int ret)
{
	if (ret == c->error || (!c->error && ret == -ENOENT))
		return NULL;
	return "building a table returns something else than the header's error";
}

static const char *lookup_differs(const struct sframe_table *table,
				  const struct sframe_case_lookup *l)
{
	const u64 offset = REACH + l->offset;
	struct unwind_frame_rule want = l->want, rule;
	bool edge;
	u64 packed = sframe_table_find_edge(table, offset - table->start, &edge);
	int ret = sframe_table_rule(table, packed, &rule);

	if (!edge && sframe_table_find(table, offset + 1) != packed)
		return "the table has another rule at the next address, without an edge";
	if (ret != l->error)
		return "a lookup in the table returns another error";
	/* Signatures are not in a table */
	want.mangled_ra = false;
	want.pauth_key_b = false;
	return ret || frame_rule_equal(&rule, &want) ? NULL : "the table has another packed";
}

static const char *table_differs_from_case(const struct sframe_case *c,
					   const struct sframe_table *table)
{
	struct sframe_case_lookup lookups[CASE_MAX_LOOKUPS];
	unsigned int num = sframe_case_lookups(c, lookups), i;
	const char *wrong = NULL;

	for (i = 0; i < num && !wrong; i++)
		wrong = lookup_differs(table, &lookups[i]);
	return wrong;
}

static const char *build_and_compare(const struct sframe_case *c,
				     const struct sframe_case_image *image)
{
	const struct sframe_segment text = {
		.vaddr = SECTION - REACH,
		.size = 3 * REACH,
	};
	const struct sframe_image section = {
		.section = image->img.bytes,
		.size = image->size,
		.vaddr = SECTION,
		.segments = &text,
		.nr_segments = 1,
	};
	struct sframe_table *table = sframe_table_build(&section, c->abi);
	int ret = PTR_ERR_OR_ZERO(table);
	const char *wrong = NULL;

	if (c->header)
		wrong = header_differs(c, ret);
	else if (is_too_large(c))
		wrong = ret == -E2BIG ? NULL : "a table of gigabytes was built";
	else if (ret)
		wrong = "no table was built";
	else
		wrong = table_differs_from_case(c, table);
	if (!ret)
		sframe_table_free(table);
	return wrong;
}

const char *sframe_case_table(const struct sframe_case *c,
			      const struct sframe_case_variant *v)
{
	struct sframe_case_image image;
	const char *wrong = NULL;

	if (sframe_case_build(c, v, &image))
		return "there is no memory";
	/* A table is made of a whole copy */
	if (!c->hole.base && !c->tail && image.size <= image.img.size)
		wrong = build_and_compare(c, &image);
	sfb_free(&image.img);
	return wrong;
}
