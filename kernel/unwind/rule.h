/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The boundary between table formats and the frame loop: struct unwind_frame_rule, a frame
 * rule.
 *
 *   address --> decoder of the table's format --> rule --> frame loop --> caller's frame
 *
 * A frame rule says how to compute the canonical frame address (CFA), and from it the return
 * address (RA) and the caller's frame pointer (FP).  A decoder makes rules and knows no
 * stack.  The frame loop applies rules, and knows no format.
 */
#ifndef _KERNEL_UNWIND_RULE_H
#define _KERNEL_UNWIND_RULE_H

#include <linux/types.h>

/**
 * enum unwind_rule_base - the value to which a rule's offset is added
 * @UNWIND_RULE_SAME: none; the register still has the caller's value (FP),
 *	or is in the architecture's link register (RA, as for @UNWIND_RULE_REG)
 * @UNWIND_RULE_SP: this frame's stack pointer
 * @UNWIND_RULE_FP: this frame's frame pointer
 * @UNWIND_RULE_CFA: this frame's CFA; not for the CFA itself
 * @UNWIND_RULE_REG: the register @reg of &struct unwind_reg_rule, known only for
 *	an interrupted frame: the topmost one, or the caller of a signal frame
 */
enum unwind_rule_base {
	UNWIND_RULE_SAME,
	UNWIND_RULE_SP,
	UNWIND_RULE_FP,
	UNWIND_RULE_CFA,
	UNWIND_RULE_REG,
};

/* Without padding: the builder of tables compares rules byte by byte */

/**
 * struct unwind_reg_rule - how to get one value of the caller's frame
 * @base: one of &enum unwind_rule_base
 * @deref: the value is in memory at base + offset, not base + offset itself
 * @reg: DWARF register number, for UNWIND_RULE_REG
 * @offset: added to the base, in bytes
 */
struct unwind_reg_rule {
	u8	base;
	bool	deref;
	u16	reg;
	s32	offset;
};

/**
 * struct unwind_frame_rule - a frame rule: how to get from one frame to its caller's
 * @cfa: rule for the canonical frame address
 * @ra: rule for the return address
 * @fp: rule for the caller's frame pointer
 * @outermost: there is no caller; the rules are not valid
 * @signal: this is a signal frame: the caller was interrupted, its address is
 *	the next instruction and not the one after a call
 * @at_end: the address may be the last one of its function: a return address right after
 *	it may belong to other code, such as a signal's trampoline
 * @mangled_ra: the return address carries pointer authentication bits
 * @pauth_key_b: they were made with key B, not A
 * @cfa_scale: if not 0, this times the register @cfa_index is added to the address from
 *	which @cfa reads the CFA; known only for an interrupted frame
 * @cfa_index: DWARF register number
 * @cfa_addend: added to the CFA that @cfa reads from memory, in bytes
 */
struct unwind_frame_rule {
	struct unwind_reg_rule	cfa;
	struct unwind_reg_rule	ra;
	struct unwind_reg_rule	fp;
	bool			outermost;
	bool			signal;
	bool			at_end;
	bool			mangled_ra;
	bool			pauth_key_b;
	u8			cfa_scale;
	u16			cfa_index;
	s32			cfa_addend;
};

#endif /* _KERNEL_UNWIND_RULE_H */
