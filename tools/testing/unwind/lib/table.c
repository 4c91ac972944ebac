// SPDX-License-Identifier: GPL-2.0
/*
 * Tables under observation, shared by tests, differ and fuzzer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/err.h>

#include "rule_compare.h"
#include "table.h"

struct sframe_table *table_of(const void *section, size_t size, u64 vaddr, u8 abi)
{
	const struct sframe_segment text = {
		.vaddr = vaddr - TABLE_REACH,
		.size = 2 * TABLE_REACH,
	};
	const struct sframe_image image = {
		.section = section,
		.size = size,
		.vaddr = vaddr,
		.segments = &text,
		.nr_segments = 1,
	};

	return sframe_table_build(&image, abi);
}

const char *table_differs(const struct sframe_table *table, u64 vaddr, u64 ip,
			  int ret, const struct unwind_frame_rule *rule)
{
	const u64 offset = ip - (vaddr - TABLE_REACH);
	static char text[400];
	struct unwind_frame_rule found, want;
	bool edge;
	u64 packed;
	int got;

	/* The text that the table was built for ends before that */
	if (offset >= 2 * TABLE_REACH)
		return NULL;
	packed = sframe_table_find_edge(table, offset - table->start, &edge);
	if (!edge && sframe_table_find(table, offset + 1) != packed)
		return "the table has another rule at the next address, without an edge";
	got = sframe_table_rule(table, packed, &found);
	if (ret && ret != -ENOENT)
		ret = -EINVAL;
	if (got != ret)
		return got ? ret ? "the table has another error" :
				   "the table does not have it" :
			     "the table has what is not there";
	if (ret)
		return NULL;
	/* Signatures are not in a table */
	want = *rule;
	want.mangled_ra = false;
	want.pauth_key_b = false;
	if (frame_rule_equal(&found, &want))
		return NULL;
	snprintf(text, sizeof(text), "the table has another rule: %s, not %s",
		 frame_rule_string(&found), frame_rule_string(&want));
	return text;
}

static const char *rule_broken(const struct sframe_table *table, u64 packed)
{
	const u64 kind = packed & (SFRAME_RULE_ORDINARY | SFRAME_RULE_LINK |
				   SFRAME_RULE_COMPLEX | SFRAME_RULE_BAD);

	if (kind & (kind - 1) || (!kind && packed))
		return "a packed of no kind, or of two";
	if (kind == SFRAME_RULE_COMPLEX && (u16)(packed >> 16) >= table->nr_complex)
		return "a rule that is none";
	if (kind == SFRAME_RULE_ORDINARY && sframe_rule_ra(packed) >= 0)
		return "an ordinary packed with the RA at or above the CFA";
	return NULL;
}

const char *table_broken(const struct sframe_table *table, size_t section_size)
{
	const u32 blocks = (table->span + SFRAME_BLOCK - 1) / SFRAME_BLOCK;
	const char *broken = NULL;
	u32 i;

	if (table->start % SFRAME_BLOCK)
		return "a start amid a block";
	if (table->nr > section_size / 2 + 65536 + 2 * (section_size / 16) + 1)
		return "more entries than the stated bound";
	if (blocks > 64ULL * table->nr + 4096)
		return "more blocks than the stated bound";
	if (table->bytes < sizeof(*table) + 3 * (u64)table->nr + 2 * (u64)blocks)
		return "a size that is too small";
	for (i = 0; i < table->nr_rules && !broken; i++)
		broken = rule_broken(table, table->rules[i]);
	for (i = 0; i < table->nr && !broken; i++)
		if (table->rule[i] >= table->nr_rules)
			broken = "a packed that is none";
	for (i = 0; i < blocks && !broken; i++)
		if ((u16)(table->block[i + 1] - table->block[i]) > SFRAME_BLOCK)
			broken = "a block of more entries than it has addresses";
	return broken;
}
