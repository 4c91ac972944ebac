// SPDX-License-Identifier: GPL-2.0
/*
 * The iterator's short cut: from frame to frame by rows of the shape that almost all
 * have, or by frame records where there is no row.
 *
 * For such a frame whose row is kept (rows.c), all that is left to do is to read two
 * words of the stack. This is done here in one loop, with the same checks that the
 * iterator makes (user.c). A row that is not kept is looked up, and then kept, if it
 * may be.
 *
 * It only goes where nothing is in doubt. Whatever else there is to a frame - a row
 * of another shape, the stack's end, a signal's trampoline, a stack that uprobes have
 * changed, memory that cannot be read, a caller that would not lie further out - is
 * left to the iterator, which begins with that frame anew.
 *
 * A step is taken only once what describes the caller's frame is known, too.  That is
 * needed for the next step anyway, and says that the caller's address is text.
 *
 * While user memory is open, no function may be called: what reads is inlined.
 *
 * Where a frame record may lie anywhere in its frame (not UNWIND_USER_FP_CFA_EXACT),
 * the stack pointer is not known behind it, as in the iterator: the next row has to
 * count from the frame pointer, or to say where its own record lies.
 */

#include <linux/align.h>
#include <linux/uaccess.h>
#include <asm/unwind_user.h>

#include "rows.h"
#include "stops.h"
#include "unwind_mem.h"
#include "user.h"

/*
 * Words of user memory, here and there: each address is checked as it is read, or
 * made one that faults. None has a tag any more that access_ok() would have to know of.
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
 * struct walk - where the loop is
 * @ip: as in &struct unwind_user_state
 * @sp: likewise
 * @fp: likewise
 * @exact_ip: likewise
 * @sp_is_bound: likewise
 * @row: what describes that frame
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
 * May the frame pointer be followed: does no row describe this frame, and is there
 * nothing else to be tried before?
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

/* Where the CFA is: if the stack pointer is not known, by the frame record (apply_cfa()) */
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

/* The caller's frame, all but what describes it, and so whether it is text */
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

/* That there is no row, in the form in which rows are kept: a frame record */
static const struct unwind_kept_row no_row = {
	.cfa = UNWIND_USER_FP_CFA_WORDS * (int)sizeof(u64),
	.ra = (UNWIND_USER_FP_RA_WORDS - UNWIND_USER_FP_CFA_WORDS) * (int)sizeof(u64),
	.fp = (UNWIND_USER_FP_FP_WORDS - UNWIND_USER_FP_CFA_WORDS) * (int)sizeof(u64),
	.how = UNWIND_KEPT_NONE | UNWIND_KEPT_CFA_FP | UNWIND_KEPT_FP_SAVED,
};

/*
 * What the instructions tell of an address without a row: whether a signal's trampoline
 * begins behind it, where a caller goes on, and whether they show that a function which
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
 * What the table says of an address, if it says anything that can be kept. That there
 * is no row is kept with what it takes to follow the frame pointer. Where text was made
 * at run time, and may be written anew, its instructions are looked at each time.
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
 * Look a row up, and keep it: unless its range would not be missed when it is
 * dropped, or its table may change.
 */
static noinline bool lookup_and_keep(struct unwind_user_state *state,
				     unsigned long ip,
				     struct unwind_kept_row *kept)
{
	struct unwind_table *table = &state->table;

	kept->how = 0;
	/* No program's text; what it is, the iterator says */
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
	/* Once: reclaiming memory for it may have taken long */
	if (state->access == UNWIND_USER_FAULTABLE && !state->no_rows &&
	    !READ_ONCE(state->rows->entries)) {
		unwind_rows_alloc(state->rows);
		state->no_rows = !READ_ONCE(state->rows->entries);
	}
	unwind_rows_keep(state->rows, table->generation, ip, kept);
	return true;
}

/* The row of the first frame: kept, or looked up */
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
 * The loop; @row is the first frame's. In memory is only what lookup_and_keep() fills in:
 * whatever else the loop needs are its own variables.
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
 * unwind_user_walk - go on as far as frames are ordinary
 * @state: where the unwind is; moved to the last frame that was reached
 * @row: what describes that one; its @how is 0 if that is not known
 * @ips: filled in: the addresses of the frames after the first
 * @room: for how many of them
 *
 * Context: as unwind_user_start().
 * Return: how many there are; 0 is no error.
 */
unsigned int unwind_user_walk(struct unwind_user_state *state,
			      struct unwind_kept_row *row, unsigned long *ips,
			      unsigned int room)
{
	if (!first_row(state, row) || state->probed || !room)
		return 0;
	return walk(state, row, ips, room);
}
