// SPDX-License-Identifier: GPL-2.0
/*
 * Is the frame record that the frame pointer points to the current frame's own?
 *
 * On arm64, a frame record does not show where its frame ends.  The stack pointer of the caller
 * that it leads to is not known, and most rules count from there.  Such a rule helps if it gives
 * the place of the frame pointer's record in the frame:
 *
 *	stp x29, x30, [sp, #-32]!	rule: CFA is SP + 32, x29 saved at CFA - 32, x30 above
 *	mov x29, sp			so this makes the record at CFA - 32 the frame pointer's
 *
 * The rule alone does not say so.  Code that keeps no frame pointer may save both registers side
 * by side as well, and then x29 still has some outer frame's record, or any value.  To go on from
 * there would skip callers.  So the instructions have to show that x29 was set.
 *
 * That is right after the registers were saved, where a rule begins.  A function's later parts
 * have rules that begin after an earlier return: go back over these, from rule to rule:
 *
 *	ldp x29, x30, [sp], #32		rule: CFA is SP
 *	ret				rule: CFA is SP + 32, as after the prologue
 *
 * A rule without saved registers that does not begin in this way is the start of the function.
 */

#include <linux/minmax.h>
#include <asm/unwind_arch.h>

#include "record.h"
#include "sframe_table.h"

/* Limits of the search: rules, and bytes */
#define MAX_RULES	16
#define MAX_DISTANCE	(32 * 1024)
/* Cost of the search in the table, in ordinary frames */
#define SEARCH_COST	32

/* Where a rule says that the record is, in bytes above its base; -1 if it has none */
static long record_offset(u64 rule)
{
	const long words = UNWIND_ARCH_FP_RA_WORDS - UNWIND_ARCH_FP_FP_WORDS;

	if (!(rule & SFRAME_RULE_ORDINARY) || !(rule & SFRAME_RULE_FP_SAVED) ||
	    sframe_rule_ra(rule) - sframe_rule_fp(rule) != words * (long)sizeof(u64))
		return -1;
	return sframe_rule_cfa(rule) + sframe_rule_fp(rule);
}

/**
 * unwind_record_is_own - is the frame pointer's record the one of the current frame's rule?
 * @table: the table that has the rule
 * @origin: the address that @table's offsets count from
 * @addr: the address of the rule; the function has made a call there
 * @insns: @left and @code are set; @left and @unread are updated
 *
 * Context: as unwind_walk_frames().
 * Return: whether the instructions show that it is.
 */
bool unwind_record_is_own(const struct sframe_table *table, unsigned long origin,
			  unsigned long addr, struct unwind_arch_caller *insns)
{
	const u64 from = addr - origin;
	const u64 lowest = from - min(from, MAX_DISTANCE);
	u64 rule, begin, off = from;
	unsigned int i;
	long offset;
	bool edge;

	if (UNWIND_ARCH_FP_CFA_EXACT)
		return true;
	insns->left -= min(insns->left, SEARCH_COST);
	for (i = 0; i < MAX_RULES && insns->left; i++, off = begin - 1) {
		begin = sframe_table_begin(table, off, lowest);
		if (begin <= lowest)
			return false;
		rule = sframe_table_find_edge(table, off, &edge);
		offset = record_offset(rule);
		if (offset >= 0 && rule & SFRAME_RULE_CFA_FP)
			return !offset;
		if (offset >= 0 &&
		    unwind_arch_sets_fp(origin + begin, origin + off, offset, insns))
			return true;
		if (offset < 0 && (!(rule & SFRAME_RULE_LINK) ||
				   !unwind_arch_leaves_frame(origin + begin, insns)))
			return false;
	}
	return false;
}
