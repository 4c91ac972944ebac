// SPDX-License-Identifier: GPL-2.0
/*
 * A fast path of the frame loop (user.c), for ordinary frames: those with a rule of the
 * usual shape, or with a frame record and no rule.
 *
 * If such a frame's rule is cached (rows.c), two words of the stack are left to read.
 * One loop does that, with the same checks as user.c.  A rule that is not cached is
 * looked up, and then cached, if it may be.
 *
 * The loop stops at any doubt, and user.c begins anew with that frame: a rule of another
 * shape, the stack's end, a signal's trampoline, a stack that uprobes have changed,
 * memory that cannot be read, a caller that would not lie further out.
 *
 * It takes a step only once the rule of the caller's frame is known, too.  The next step
 * needs that anyway, and it shows that the caller's address is text.
 *
 * While user memory is open, no function may be called: the code that reads is inlined.
 *
 * If a frame record may lie anywhere in its frame (not UNWIND_USER_FP_CFA_EXACT), the
 * stack pointer is not known after it, as in user.c: the next rule has to count from the
 * frame pointer, or to give the place of its own record.
 */

#include <linux/align.h>
#include <linux/uaccess.h>
#include <asm/unwind_user.h>

#include "rows.h"
#include "stops.h"
#include "unwind_mem.h"
#include "user.h"

/*
 * Reads of single words of user memory.  Each address is checked as it is read, or made
 * one that faults.  None has a tag any more, which access_ok() would have to handle.
 */

static __always_inline bool words_begin(void)
{
	might_fault();
	if (can_do_masked_user_access())
		(void)masked_user_access_begin((const void __user *)NULL);
	else if (!user_read_access_begin((const void __user *)NULL, TASK_SIZE_MAX))
		return false;
	unwind_user_tags_off();
	return true;
}

static __always_inline void words_end(void)
{
	unwind_user_tags_on();
	user_read_access_end();
}

static __always_inline bool read_word(unsigned long addr, unsigned long *word)
{
	const unsigned long __user *at = (const unsigned long __user *)addr;

	if (can_do_masked_user_access())
		at = mask_user_address(at);
	else if (addr > TASK_SIZE_MAX - sizeof(*at))
		return false;
	unsafe_get_user(*word, at, fault);
	return true;
fault:
	return false;
}

static __always_inline bool read_insns(unsigned long addr, u32 *insns)
{
	const u32 __user *at = (const u32 __user *)addr;

	if (can_do_masked_user_access())
		at = mask_user_address(at);
	else if (addr > TASK_SIZE_MAX - sizeof(*at))
		return false;
	unsafe_get_user(*insns, at, fault);
	return true;
fault:
	return false;
}

/**
 * struct walk - the loop's current frame
 * @ip: as in &struct unwind_user_state
 * @sp: as in &struct unwind_user_state
 * @fp: as in &struct unwind_user_state
 * @exact_ip: as in &struct unwind_user_state
 * @sp_is_bound: as in &struct unwind_user_state
 * @row: the frame's rule
 */
struct walk {
	unsigned long		ip;
	unsigned long		sp;
	unsigned long		fp;
	bool			exact_ip;
	bool			sp_is_bound;
	struct unwind_kept_row	row;
};

/*
 * May the loop follow the frame pointer: does the frame have no rule, and is there no
 * other method to try first?
 */
static __always_inline bool may_follow_fp(const struct walk *at)
{
	u32 insns;

	if (!(at->row.how & UNWIND_KEPT_NONE) || at->exact_ip || at->fp < at->sp)
		return false;
	if (at->row.how & UNWIND_KEPT_CALL)
		return true;
	return read_insns(at->ip, &insns) && !unwind_user_maybe_trampoline(insns);
}

/* Find the CFA; if the stack pointer is not known, by the frame record (apply_cfa()) */
static __always_inline bool walk_cfa(const struct walk *at, unsigned long *cfa)
{
	const int word = sizeof(unsigned long);
	unsigned long base = at->fp;

	if (at->row.how & UNWIND_KEPT_CFA_FP) {
		*cfa = base + at->row.cfa;
	} else if (UNWIND_USER_FP_CFA_EXACT || !at->sp_is_bound) {
		base = at->sp;
		*cfa = base + at->row.cfa;
	} else {
		if (!(at->row.how & UNWIND_KEPT_FP_SAVED) || at->row.ra - at->row.fp !=
		    (UNWIND_USER_FP_RA_WORDS - UNWIND_USER_FP_FP_WORDS) * word)
			return false;
		*cfa = base - UNWIND_USER_FP_FP_WORDS * word - at->row.fp;
	}
	return base;
}

/* Find the caller's frame, but not its rule; the rule shows whether it is text */
static __always_inline bool walk_one(const struct walk *at, struct walk *next)
{
	const unsigned int min = at->exact_ip ? UNWIND_USER_CFA_MIN_WORDS : 1;
	const unsigned long word = sizeof(unsigned long);
	unsigned long cfa;

	if (!(at->row.how & UNWIND_KEPT_SIMPLE) && !may_follow_fp(at))
		return false;
	if (!walk_cfa(at, &cfa) || cfa < at->sp || !IS_ALIGNED(cfa, word) ||
	    cfa - at->sp < min * word)
		return false;

	next->sp = cfa;
	next->fp = at->fp;
	next->exact_ip = false;
	if (!UNWIND_USER_FP_CFA_EXACT)
		next->sp_is_bound = at->row.how & UNWIND_KEPT_NONE;
	if (!read_word(cfa + at->row.ra, &next->ip))
		return false;
	next->ip = unwind_user_strip_ra(next->ip);
	if (!(at->row.how & UNWIND_KEPT_FP_SAVED))
		return true;
	if (!read_word(cfa + at->row.fp, &next->fp))
		return false;
	next->fp = unwind_user_untag(next->fp);
	return true;
}

/* The cached form of "no rule": a frame record */
static const struct unwind_kept_row no_row = {
	.cfa = UNWIND_USER_FP_CFA_WORDS * (int)sizeof(u64),
	.ra = (UNWIND_USER_FP_RA_WORDS - UNWIND_USER_FP_CFA_WORDS) * (int)sizeof(u64),
	.fp = (UNWIND_USER_FP_FP_WORDS - UNWIND_USER_FP_CFA_WORDS) * (int)sizeof(u64),
	.how = UNWIND_KEPT_NONE | UNWIND_KEPT_CFA_FP | UNWIND_KEPT_FP_SAVED,
};

/*
 * Find out what the instructions at an address without a rule show: whether a signal's
 * trampoline begins right after it, where a caller continues; and whether a function that
 * is interrupted there has its return address in the link register, or a frame record.
 */
static u32 look_at_text(struct unwind_user_state *state, unsigned long ip)
{
	struct unwind_user_link link;
	u32 insns, how = 0;
	bool held;

	if (!unwind_read_u32(&insns, ip + 1) && !unwind_user_maybe_trampoline(insns))
		how |= UNWIND_KEPT_CALL;
	if (UNWIND_USER_LINK_REG < 0 || !state->exact_ip)
		return how;
	held = !unwind_user_link_holds_ra(ip, &link);
	state->looked += link.looked;
	if (!link.lasting)
		return how;
	if (held)
		return how | unwind_rows_pack_link(&link);
	return how | UNWIND_KEPT_NO_LINK | (link.ambiguous ? UNWIND_KEPT_AMBIGUOUS : 0);
}

/*
 * Get the rule of an address from its table, if it can be cached.  "No rule" is cached as
 * well, with the data to follow the frame pointer.  Text made at run time may be rewritten:
 * its instructions are read each time.
 */
static bool decode_row(struct unwind_user_state *state, unsigned long ip,
		       struct unwind_kept_row *kept)
{
	struct unwind_row row;
	int ret = -ENOENT;

	if (state->table.format != UNWIND_TABLE_NONE)
		ret = unwind_user_find_row(state, ip, &row);
	if (!ret)
		return unwind_rows_pack(kept, &row);
	if (ret != -ENOENT)
		return false;
	*kept = no_row;
	if (state->table.from_file)
		kept->how |= look_at_text(state, ip);
	return true;
}

/*
 * Look a rule up and cache it, unless its table may change, or nothing would drop
 * the cached rule with its range.
 */
static noinline bool lookup_and_keep(struct unwind_user_state *state,
				     unsigned long ip,
				     struct unwind_kept_row *kept)
{
	struct unwind_table *table = &state->table;

	kept->how = 0;
	/* This is no program's text; user.c finds out what it is */
	if (!IS_ENABLED(CONFIG_UNWIND_USER_SFRAME) || ip >= TASK_SIZE_MAX - 1)
		return false;
	if (state->looked_max && state->looked > state->looked_max)
		return false;
	unwind_count_lookup();
	unwind_user_resched(state);
	if (!unwind_table_covers(table, ip) &&
	    unwind_table_lookup(ip, unwind_user_table_access(state), table))
		return false;
	if (!decode_row(state, ip, kept)) {
		kept->how = 0;
		return false;
	}
	if (!table->generation || table->sframe.changes)
		return true;

	if (!state->rows)
		state->rows = unwind_table_rows(current->mm);
	/* Only once: reclaiming memory for it may take long */
	if (state->access == UNWIND_USER_FAULTABLE && !state->no_rows &&
	    !READ_ONCE(state->rows->entries)) {
		unwind_rows_alloc(state->rows);
		state->no_rows = !READ_ONCE(state->rows->entries);
	}
	unwind_rows_keep(state->rows, table->generation, ip, kept);
	return true;
}

/* Get the rule of the first frame, from the cache or from its table */
static __always_inline bool first_row(struct unwind_user_state *state,
				      struct unwind_kept_row *row)
{
	const unsigned long ip = unwind_user_lookup_ip(state);
	const struct unwind_rows *rows = state->rows;

	row->how = 0;
	/* Tables describe 64-bit programs only */
	if (state->word_size != sizeof(u64))
		return false;
	if (rows && READ_ONCE(rows->entries) &&
	    unwind_rows_find(rows, READ_ONCE(rows->entries), ip, row))
		return true;
	return lookup_and_keep(state, ip, row);
}

/*
 * The loop; @row is the first frame's rule.  Only the rule that lookup_and_keep() fills in
 * is in memory.  All else that the loop needs is in its own variables.
 */
static __always_inline unsigned int walk(struct unwind_user_state *state,
					 struct unwind_kept_row *row,
					 unsigned long *ips, unsigned int room)
{
	struct walk at = {
		.ip = state->ip,
		.sp = state->sp,
		.fp = state->fp,
		.exact_ip = state->exact_ip,
		.sp_is_bound = state->sp_is_bound,
		.row = *row,
	}, next;
	const struct unwind_rows *rows;
	struct unwind_rows_entry *entries;
	u32 how = 0, hows = 0;
	unsigned int nr = 0;
	bool ok;

	do {
		rows = state->rows;
		entries = rows ? READ_ONCE(rows->entries) : NULL;
		if (!words_begin())
			break;
		while ((ok = walk_one(&at, &next)) && entries &&
		       unwind_rows_find(rows, entries, next.ip - 1, &next.row)) {
			how = at.row.how;
			hows |= how;
			at = next;
			ips[nr++] = at.ip;
			if (nr == room)
				break;
		}
		words_end();
		if (!ok || nr == room || !lookup_and_keep(state, next.ip - 1, row))
			break;
		next.row = *row;
		how = at.row.how;
		hows |= how;
		at = next;
		ips[nr++] = at.ip;
	} while (nr < room);

	*row = at.row;
	if (!nr)
		return 0;
	state->ip = at.ip;
	state->sp = at.sp;
	state->fp = at.fp;
	state->saved_regs = 0;
	state->method = how & UNWIND_KEPT_SIMPLE ? UNWIND_USER_SFRAME :
						   UNWIND_USER_FP;
	state->by_table |= !!(hows & UNWIND_KEPT_SIMPLE);
	state->topmost = false;
	state->exact_ip = false;
	if (!UNWIND_USER_FP_CFA_EXACT)
		state->sp_is_bound = at.sp_is_bound;
	return nr;
}

/**
 * unwind_user_walk - move through frames as long as they are ordinary
 * @state: the current frame; moved to the last frame that was reached
 * @row: the rule of that frame; its @how is 0 if it is not known
 * @ips: filled in: the addresses of the frames after the first
 * @room: for how many of them
 *
 * Context: as unwind_user_start().
 * Return: the number of addresses; 0 is no error.
 */
unsigned int unwind_user_walk(struct unwind_user_state *state,
			      struct unwind_kept_row *row, unsigned long *ips,
			      unsigned int room)
{
	if (!first_row(state, row) || state->probed || !room)
		return 0;
	return walk(state, row, ips, room);
}
