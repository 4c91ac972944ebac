/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comparing and printing rules, for KUnit and for tools/testing/unwind.
 *
 * Two rules are equal if the frame loop would do the same with them.  The rules of an
 * outermost frame do not count, nor the register of a rule that uses none.
 */
#ifndef _KERNEL_UNWIND_TESTS_RULE_COMPARE_H
#define _KERNEL_UNWIND_TESTS_RULE_COMPARE_H

#include "../rule.h"
#include "../sframe_table.h"

bool frame_rule_equal(const struct unwind_frame_rule *a, const struct unwind_frame_rule *b);

/* A rule in words, in a static buffer that two calls do not share */
const char *frame_rule_string(const struct unwind_frame_rule *rule);

/* The rule at an offset, as in the segments from which the table was built */
static inline u64 sframe_table_find(const struct sframe_table *table, u64 offset)
{
	bool edge;

	return sframe_table_find_edge(table, offset - table->start, &edge);
}

#endif /* _KERNEL_UNWIND_TESTS_RULE_COMPARE_H */
