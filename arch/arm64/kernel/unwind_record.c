// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that were interrupted while they had a frame record, and of which no table
 * tells.  Asked by unwind_link.c, where it is not seen that the return address is in the
 * link register.
 *
 * The frame pointer leads to the caller only if the record that it points to is this
 * function's own.  If it is still, or again, the caller's, it leads past the caller, to
 * which nothing in the stack would point then: so that it is not, has to be seen.  It is,
 *
 * - where the record was made straight before:
 *
 *	stp x29, x30, [sp, #-N]!
 *	mov x29, sp
 *
 * - where one way from there on leads to what needs it:
 *
 *	ldp x29, x30, [sp], #N		restores both, or
 *	ldur x29, [sp, #-8]		as Go does, or
 *	ldr x29, [sp], #N		as assembly that calls nothing, or
 *	mov sp, x29			frees the stack by it
 *
 * - where all ways lead to calls, or to nothing that tells more.  A call overwrites the link
 *   register, so the return address is saved by then; and it was before, if no way there
 *   saves it.
 *
 * A compiler's code has a record, or has none, at each instruction, however that was come
 * to: one way suffices, whether or not it will be taken.  But a function that keeps no
 * records may save and restore both registers all the same, with the frame pointer still
 * its caller's in between, or with another use of that; and it has its return address
 * saved as well when it calls.  So what comes before is looked at, as it lies there: where
 * the nearest instruction that saves the link register, as a function does that begins, is
 * not followed by what makes a record, no way tells.  And a call tells nothing where there
 * is a hint that it may be such a function, or that nothing is saved yet:
 *
 *	stp x29, x30, [sp, #-N]!	the register is saved, or copied, while it may still
 *	mov x9, x30			have what the function was called with,
 *	ret / bti c / autiasp		or used for a return
 *
 *	ldr x30, [sp], #N		it is restored without the frame pointer
 *	ret
 *
 *	ldr x29, [x0]			the frame pointer has another use
 *
 * or where a way leads to what is no instruction, as a uprobe's, or one that may branch to
 * anywhere.  A way that leads further than is looked, or to a switch whose cases are not
 * near, tells nothing.
 *
 * Ways before a call are looked at first.  What is behind one is of use to find what needs a
 * record, or a hint that there is none.  It may be another function, if the call does not
 * return: where that saves both, the way ends.
 *
 * The instructions are the process's own and may be chosen to mislead: then the frame
 * pointer is followed, to addresses of that process, in its text.
 */

#include <linux/array_size.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/types.h>
#include <asm/insn.h>

#include "unwind_code.h"

/* How far back a record was made; and how far before that both registers were saved */
#define STRAIGHT	64
#define SAVED		32
/* From where the link register is restored to a return */
#define NEAR		16
/* How far back is looked for what saves the link register, as it lies there */
#define BACK		1024
/* On ways: so many instructions on all of them, and as far off as branches lead */
#define ON_WAYS		2048
#define OFF		((int)BIT(24))
#define WAYS		256
/* From the jump of a switch to one of its cases */
#define CASES		128
/* A power of two.  More than are looked at, so that few of them share a bit */
#define PASSED		4096

/* mov sp, x29; add sp, x29, #; sub sp, x29, # */
static const struct unwind_insn frees_by_fp = {
	~(UNWIND_INSN_ADD_OFFSET | 0x40000000U), 0x910003bf
};

/* ldur x29, [sp, #-8] */
static const struct unwind_insn restores_fp = { ~0U, 0xf85f83fd };
/* ldr x29, [sp], #: of a record, if one was made before; else it may have been any use */
static const struct unwind_insn pops_fp = { ~0x1ff000U, 0xf84007fd };

/* stp x30, x, [sp, #]!; stp x, x30, [sp, #]! */
static const struct unwind_insn pushes_link_first = {
	~(UNWIND_INSN_PAIR_OFFSET | 0x7c00U), 0xa98003fe
};

static const struct unwind_insn pushes_link_second = {
	~(UNWIND_INSN_PAIR_OFFSET | 0x1fU), 0xa9807be0
};

/* str x30, [sp, #]; stp x30, x, [sp, #]; stp x, x30, [sp, #] */
static const struct unwind_insn stores_link_alone = { ~UNWIND_INSN_ADD_OFFSET, 0xf90003fe };
static const struct unwind_insn stores_link_first = {
	~(UNWIND_INSN_PAIR_OFFSET | 0x7c00U), 0xa90003fe
};

static const struct unwind_insn stores_link_second = {
	~(UNWIND_INSN_PAIR_OFFSET | 0x1fU), 0xa9007be0
};

/* The registers that a function saves before it uses them */
#define FIRST_SAVED	19
#define LAST_SAVED	29

/* A load, or a store, from the stack pointer on */
static const struct unwind_insn loads_from_sp = { 0x0a0003e0, 0x080003e0 };

/* ret x; and br x30, which is one as well */
static const struct unwind_insn returns_by[] = {
	{ ~0x3e0U, 0xd65f0000 },
	{ ~0U, 0xd61f03c0 },
};

/* Of the system, as nop, or mrs */
static const struct unwind_insn of_system = { 0xffc00000, 0xd5000000 };
/* autiasp; autibsp */
static const struct unwind_insn checks_link = { ~0x40U, 0xd50323bf };

/**
 * struct ways - from the next instruction on, those that are left
 * @passed: instructions that some way has passed, by the low bits of where they are
 * @looked_max: enough is looked at by then
 * @nr: how many are left that come before a call, the first of @at
 * @nr_called: how many are left behind one, the last of @at
 * @doubtful: a call does not suffice
 * @made: what comes before makes a record
 * @at: so many instructions after the next one they go on
 */
struct ways {
	DECLARE_BITMAP(passed, PASSED);
	unsigned int	looked_max;
	unsigned int	nr;
	unsigned int	nr_called;
	bool		doubtful;
	bool		made;
	s16		at[WAYS];
};

/* Is one of the registers stored, or the link register copied? */
static bool copies(u32 insn)
{
	if (unwind_insn_copies_fp_or_lr(insn))
		return true;
	return unwind_insn_is_fp_or_lr(insn & 0x1f) && unwind_insn_of_general(insn) &&
	       unwind_insn_is(insn, &UNWIND_INSN_SAVES_SINGLE);
}

/*
 * Straight before
 */

static bool was_saved(struct unwind_code *code, int at)
{
	int end = at - SAVED;
	u32 insn;

	while (--at >= end) {
		insn = unwind_code_insn(code, at);
		if (unwind_insn_saves_both(insn))
			return true;
		if (unwind_insn_ends_block(insn))
			return false;
	}
	return false;
}

/*
 * Nothing but branches may be between: what is behind a call may be another function.
 * @doubtful: set if the link register was saved or copied since
 */
static bool was_made(struct unwind_code *code, bool *doubtful)
{
	u32 insn;
	int at;

	for (at = -1; at >= -STRAIGHT; at--) {
		insn = unwind_code_insn(code, at);
		if (unwind_insn_makes_fp(insn))
			return was_saved(code, at);
		if (unwind_insn_is_plain(insn)) {
			*doubtful |= copies(insn);
			if (unwind_insn_writes_fp_or_lr(insn) &&
			    !unwind_insn_is(insn, &UNWIND_INSN_SAVES_PAIR))
				return false;
		} else if (unwind_insn_ends_block(insn) || unwind_insn_is_begin(insn) ||
			   aarch64_insn_is_svc(insn)) {
			return false;
		}
	}
	return false;
}

/*
 * As it lies there
 */

enum saved {
	NOT_SAVED,	/* as far as was looked */
	FOR_RECORD,
	FOR_ITSELF,	/* there is no record */
};

/* Does it save the link register, as a function does that begins? */
static bool saves_at_begin(u32 insn)
{
	unsigned int other;

	if (unwind_insn_saves_both(insn))
		return true;
	if (unwind_insn_is(insn, &pushes_link_first))
		other = insn >> 10 & 0x1f;
	else if (unwind_insn_is(insn, &pushes_link_second))
		other = insn & 0x1f;
	else
		return false;
	return other >= FIRST_SAVED && other <= LAST_SAVED;
}

/* Or stores it, perhaps for that: or else, it has another use, and this is kept */
static bool stores_link(u32 insn)
{
	return unwind_insn_is(insn, &stores_link_alone) ||
	       unwind_insn_is(insn, &stores_link_first) ||
	       unwind_insn_is(insn, &stores_link_second);
}

static bool is_followed_by_fp(struct unwind_code *code, int at)
{
	int end = at + SAVED;
	u32 insn;

	while (++at <= end) {
		insn = unwind_code_insn(code, at);
		if (unwind_insn_makes_fp(insn))
			return true;
		if (unwind_insn_ends_block(insn))
			return false;
	}
	return false;
}

/* For what does the nearest instruction before save the link register? */
static enum saved saved_before(struct unwind_code *code)
{
	bool stored = false;
	u32 insn;
	int at;

	for (at = -1; at >= -BACK; at--) {
		insn = unwind_code_insn(code, at);
		if (unwind_insn_is_plain(insn)) {
			if (saves_at_begin(insn))
				return is_followed_by_fp(code, at) ? FOR_RECORD : FOR_ITSELF;
			stored |= stores_link(insn);
		} else if (unwind_insn_is_begin(insn)) {
			return stored ? FOR_ITSELF : NOT_SAVED;
		} else if (!insn) {
			break;
		}
	}
	return NOT_SAVED;
}

/*
 * Ways on
 */

static void add_way(struct ways *ways, int at, bool called)
{
	if (at != (s16)at || ways->nr + ways->nr_called == WAYS)
		ways->doubtful |= !called;
	else if (called)
		ways->at[WAYS - ++ways->nr_called] = at;
	else
		ways->at[ways->nr++] = at;
}

/* Is there something to be seen on a way that no other has passed? */
static __always_inline bool may_go_on(const struct unwind_code *code, struct ways *ways,
				      int at)
{
	return at > -OFF && at < OFF && code->looked < ways->looked_max &&
	       !__test_and_set_bit(at & (PASSED - 1), ways->passed);
}

static bool needs_record(const struct ways *ways, u32 insn)
{
	return unwind_insn_is(insn, &frees_by_fp) || unwind_insn_is(insn, &restores_fp) ||
	       unwind_insn_restores_record(insn) ||
	       (ways->made && unwind_insn_is(insn, &pops_fp));
}

/* Is one of the registers in it, or may it be?  All others are passed. */
static __always_inline bool is_of_record(u32 insn)
{
	return unwind_insn_is_fp_or_lr(insn & 0x1f) ||
	       unwind_insn_is_fp_or_lr(insn >> 10 & 0x1f) ||
	       unwind_insn_is(insn, &frees_by_fp) ||
	       unwind_insn_is(insn, &UNWIND_INSN_COPIES_LINK);
}

/* @insn writes one of the two, or both: the frame pointer? */
static bool writes_fp(u32 insn)
{
	return (insn & 0x1f) == 29 || (unwind_insn_is(insn, &UNWIND_INSN_LOADS_PAIR) &&
				       (insn >> 10 & 0x1f) == 29);
}

/* @at, the link register is written, by @insn: is it restored alone, for a return? */
static bool returns_soon(struct unwind_code *code, int at, u32 insn)
{
	int end = at + NEAR;

	if (!unwind_insn_is(insn, &loads_from_sp))
		return false;
	while (++at < end) {
		insn = unwind_code_insn(code, at);
		if (unwind_insn_is_plain(insn))
			continue;
		if (unwind_insn_is_call(insn))
			return false;
		if (unwind_insn_returns(insn))
			return true;
		if (unwind_insn_ends_block(insn))
			return aarch64_insn_is_branch(insn);
	}
	return false;
}

/* stp x29, x30, by any addressing */
static bool saves_pair(u32 insn)
{
	return unwind_insn_is(insn, &UNWIND_INSN_SAVES_PAIR) && (insn & 0x7c1f) == 0x781d;
}

/* What @insn does to one of them; does the way go on? */
static bool pass_use(struct unwind_code *code, struct ways *ways, int at, u32 insn,
		     bool called)
{
	/* A record may be made here, by another function behind a call that does not return */
	if (unwind_insn_saves_both(insn) || saves_pair(insn)) {
		ways->doubtful |= !called;
		return false;
	}
	if (copies(insn)) {
		ways->doubtful |= !called;
		return true;
	}
	if (!unwind_insn_writes_fp_or_lr(insn))
		return true;
	if (writes_fp(insn) || returns_soon(code, at, insn)) {
		ways->doubtful = true;
		return false;
	}
	/* It is free, as behind a call; but no call has shown that */
	if (!called)
		add_way(ways, at + 1, true);
	return called;
}

/* A way comes to a switch: its cases are behind that, more often than not */
static void add_case(struct unwind_code *code, struct ways *ways, int at, bool called)
{
	int end = at + CASES;
	u32 insn;

	while (++at < end) {
		insn = unwind_code_insn(code, at);
		if (!insn || unwind_insn_is_begin(insn))
			return;
		if (unwind_insn_is(insn, &UNWIND_INSN_JUMP_PAD)) {
			add_way(ways, at, called);
			return;
		}
	}
}

/* Is it the end of a function, or what comes right before or after that? */
static bool is_end(u32 insn)
{
	return unwind_insn_returns(insn) || unwind_insn_is_begin(insn) ||
	       unwind_insn_is_any(insn, returns_by, ARRAY_SIZE(returns_by)) ||
	       unwind_insn_is(insn, &UNWIND_INSN_LEAVES) ||
	       unwind_insn_is(insn, &checks_link);
}

/* A way has come to what is no branch to somewhere else in the function; does it go on? */
static bool pass_other(struct unwind_code *code, struct ways *ways, int at, u32 insn,
		       bool called)
{
	if (unwind_insn_is(insn, &of_system) && !is_end(insn))
		return true;
	if (aarch64_insn_is_svc(insn))
		return true;
	if (aarch64_insn_is_br(insn) && !is_end(insn))
		add_case(code, ways, at, called);
	else if (!aarch64_insn_is_brk(insn))
		/* An end, none at all, as a uprobe's, or one that may branch to anywhere */
		ways->doubtful |= !called;
	return false;
}

/* Does a way lead to what needs a record?  @calls: set if there is a call on it before */
static bool leads_to_need(struct unwind_code *code, struct ways *ways, int at, bool called,
			  bool *calls)
{
	u32 insn;

	while (may_go_on(code, ways, at)) {
		insn = unwind_code_insn(code, at);
		if (unwind_insn_is_plain(insn)) {
			if (is_of_record(insn)) {
				if (needs_record(ways, insn))
					return true;
				if (!pass_use(code, ways, at, insn, called))
					return false;
			}
		} else if (unwind_insn_is_call(insn)) {
			if (!called) {
				*calls = true;
				add_way(ways, at + 1, true);
				return false;
			}
		} else if (unwind_insn_is_conditional(insn)) {
			add_way(ways, at + unwind_insn_jumps_by(insn), called);
		} else if (aarch64_insn_is_b(insn)) {
			at += unwind_insn_jumps_by(insn);
			continue;
		} else if (!pass_other(code, ways, at, insn, called)) {
			return false;
		}
		at++;
	}
	return false;
}

/**
 * unwind_code_has_record - does the frame pointer point to this function's own record?
 * @code: of which it is not seen that the return address is in the link register; what
 *	could not be read is noted there
 *
 * Context: as unwind_user_start().
 * Return: whether that is seen.
 */
bool unwind_code_has_record(struct unwind_code *code)
{
	struct ways ways = { .nr = 1 };
	enum saved saved;
	bool calls = false;

	if (was_made(code, &ways.doubtful))
		return true;
	saved = saved_before(code);
	if (saved == FOR_ITSELF)
		return false;
	ways.made = saved == FOR_RECORD;
	ways.looked_max = code->looked + ON_WAYS;
	while (ways.nr)
		if (leads_to_need(code, &ways, ways.at[--ways.nr], false, &calls))
			return true;
	while (ways.nr_called)
		if (leads_to_need(code, &ways, ways.at[WAYS - ways.nr_called--], true, &calls))
			return true;
	/* What could not be read may be such a hint */
	return calls && !ways.doubtful && !code->unread;
}
