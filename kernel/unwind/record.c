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
 * That is in the prologue, right after the registers were saved: there, the rule of the record
 * begins after an instruction that goes on.  A later part of the function follows a branch:
 *
 *	ret				rule: CFA is SP
 *	bl abort			rule: CFA is SP + 32, as after the prologue
 *
 * So go back, from rule to rule, to the next prologue.  Only a part without one, which the
 * compiler has moved far away, would find another function's.
 */

#include <linux/minmax.h>
#include <asm/unwind_arch.h>

#include "record.h"
#include "sframe_table.h"

/* Limits of the search: rules, and bytes */
#define MAX_RULES	64
#define MAX_DISTANCE	(128 * 1024)
/* Blocks of a table that cost as much as an ordinary frame */
#define BLOCKS_PER_FRAME	16

/* Does the rule place the saved registers as a frame record does? */
static bool has_record(u64 rule)
{
	const long words = UNWIND_ARCH_FP_RA_WORDS - UNWIND_ARCH_FP_FP_WORDS;

	return rule & SFRAME_RULE_ORDINARY && rule & SFRAME_RULE_FP_SAVED &&
	       sframe_rule_ra(rule) - sframe_rule_fp(rule) == words * (long)sizeof(u64);
}

/* Does the prologue, after which @rule is in force from @begin to @last, set the frame pointer? */
static bool sets_fp(u64 rule, unsigned long begin, unsigned long last,
		    struct unwind_arch_caller *insns)
{
	const long offset = sframe_rule_cfa(rule) + sframe_rule_fp(rule);

	return rule & SFRAME_RULE_CFA_FP ? !offset :
					   unwind_arch_sets_fp(begin, last, offset, insns);
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
	u64 rule, before, begin, off = from;
	bool edge;
	u64 first;
	int i;

	if (UNWIND_ARCH_FP_CFA_EXACT)
		return true;
	first = sframe_table_find_edge(table, from, &edge);
	for (i = 0, rule = first; i < MAX_RULES && insns->left; i++, rule = before) {
		begin = sframe_table_begin(table, off, lowest);
		if (begin <= lowest)
			return false;
		before = sframe_table_find_edge(table, begin - 1, &edge);
		insns->left -= min(insns->left,
				   1 + (off - begin) / (BLOCKS_PER_FRAME * SFRAME_BLOCK));
		if (has_record(rule) && !has_record(before)) {
			switch (unwind_arch_goes_on(origin + begin, insns)) {
			case 0:
				break;
			case 1:
				return sframe_rule_fp(rule) == sframe_rule_fp(first) &&
				       sets_fp(rule, origin + begin, origin + off, insns);
			default:
				return false;
			}
		}
		if (!(before & (SFRAME_RULE_ORDINARY | SFRAME_RULE_LINK)))
			return false;
		off = begin - 1;
	}
	return false;
}
