// SPDX-License-Identifier: GPL-2.0
/*
 * Rows that are kept once they were found.
 *
 * Profiles return to the same addresses again and again. Looking one up means to
 * search the ranges of text, then the table's index, in user memory, and to go along
 * a function's rows. So what came of it is kept, by address: the row, or that there
 * is none. A hit answers three questions at once: is there text at this address,
 * which table describes it, and how.
 *
 * Each address space has its own entries: a fixed number, made when the first row
 * is to be kept where sleeping is allowed, charged to the process, and freed with
 * the address space. An address has its place in a small set of them, where the new
 * take the place of any. A row that was lost is looked up again, no more; a row that
 * is not true any more is another function's frame, and must never be found.
 *
 * Entries are 32 bytes, and there are 1,024: an address space that was unwound has 32
 * KB more, one that never was has none. Of the frames of a database under load, more
 * than nine in ten are found.
 *
 * Stale rows.  The rows have a generation, which is raised (unwind_rows_drop())
 * after each change of what describes an address: a range of text was registered, was
 * replaced, or was removed, by the process, or with its text or its table's memory.
 * (Where a range is found for the first time, nothing was kept before.) An entry has
 * the generation from before its row was looked for, and counts in that one only.
 *
 *	who looks up			who changes
 *	1. reads the generation		1. changes the set of ranges
 *	2. looks a range up		2. raises the generation
 *	3. reads the table
 *	4. writes the entry
 *
 * If the change is not seen by 2, then its generation is not by 1, and the entry
 * is stale from its birth. So it does not matter how long 2 to 4 take, nor what
 * happens meanwhile. A removal is complete before the memory can be mapped anew
 * (tables.c): no entry outlives its mapping.
 *
 * The generation does not wrap. After its last, which takes four billion changes,
 * nothing is kept for the address space any more.
 *
 * What is not kept: rows of tables that were registered as such that change
 * (UNWIND_TABLE_JIT); rows of ranges that are not in the sets, and so would not be
 * dropped; rows that do not fit; errors.
 *
 * A table that is not said to change may all the same be written by its process, or
 * its file be changed, and so may a file's text. Rows from before may then be used on.
 * Such a process lies about its own stack, and to itself: the iterator trusts no row.
 *
 * Torn rows.  An entry has a sequence count of its own: odd while it is written. A
 * writer claims the entry by making the count odd, and gives up if it already is: so
 * nobody waits, and tasks and NMIs can write alike. A reader believes what it has read
 * only if the count was even and has not changed. Counts are
 * as wide as a word, and do not come round while somebody reads.
 */

#include <linux/align.h>
#include <linux/bitfield.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "rows.h"

/* The rest of unwind_kept_row.how: rules of CFA, RA and FP, and the row's flags */
#define HOW_RULE_SHIFT(i)	(4 + 4 * (i))
#define HOW_RULE_BASE		0x7
#define HOW_RULE_DEREF		0x8
#define HOW_CFA_REG_SHIFT	16
#define HOW_OUTERMOST		BIT(24)
#define HOW_SIGNAL		BIT(25)
#define HOW_MANGLED_RA		BIT(26)
#define HOW_PAUTH_KEY_B		BIT(27)
#define HOW_AT_END		BIT(29)

void unwind_rows_init(struct unwind_rows *rows)
{
	rows->generation = 1;
	rows->entries = NULL;
}

/**
 * unwind_rows_alloc - make room for rows, if there is none yet
 * @rows: the current task's address space's
 *
 * Without memory, there is none.
 *
 * Context: task; may sleep.
 */
void unwind_rows_alloc(struct unwind_rows *rows)
{
	struct unwind_rows_entry *entries;

	BUILD_BUG_ON(sizeof(*entries) != 32);

	if (READ_ONCE(rows->entries))
		return;
	/* It can do without, so nobody need be killed for it */
	entries = kvcalloc(UNWIND_ROWS, sizeof(*entries), GFP_KERNEL_ACCOUNT |
			   __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	/* Another thread may have been as fast */
	if (cmpxchg(&rows->entries, NULL, entries))
		kvfree(entries);
}

/* Nobody reads them any more */
void unwind_rows_free(struct unwind_rows *rows)
{
	kvfree(rows->entries);
}

/**
 * unwind_rows_generation - before something is looked up whose row is to be kept
 * @rows: the address space's
 *
 * Context: any.
 * Return: what unwind_rows_keep() wants; 0 where nothing can be kept.
 */
u32 unwind_rows_generation(const struct unwind_rows *rows)
{
	/* Pairs with unwind_rows_drop() */
	u32 generation = smp_load_acquire(&rows->generation);

	return generation == UNWIND_ROWS_LAST ? 0 : generation;
}

/**
 * unwind_rows_drop - what describes addresses has changed
 * @rows: the address space's; drops are serialised by the caller
 *
 * Context: any.
 */
void unwind_rows_drop(struct unwind_rows *rows)
{
	const u32 last = rows->generation;

	if (last == UNWIND_ROWS_LAST)
		return;
	/* Pairs with unwind_rows_generation(): who sees this sees the change */
	smp_store_release(&rows->generation, last + 1);
}

/*
 * The entry that an address gets: the first that is stale or its own, or else one
 * at random, or nearly. (Each in turn would be the worst: of five addresses that come
 * round and round, as those of one stack do, the next would always have just gone.)
 * There may be two of one address then, of which both are true, or one is stale; if
 * that comes first, the row is looked up again, and takes its place.
 */
static struct unwind_rows_entry *choose_entry(struct unwind_rows_entry *set,
					      u32 generation,
					      unsigned long addr)
{
	struct unwind_rows_entry *entry;
	unsigned long writes = 0;

	for (entry = set; entry < set + UNWIND_ROWS_WAYS; entry++) {
		if (READ_ONCE(entry->generation) != generation ||
		    READ_ONCE(entry->addr) == addr)
			return entry;
		writes += READ_ONCE(entry->seq) / 2;
	}
	return &set[hash_long(addr ^ (writes * writes), ilog2(UNWIND_ROWS_WAYS))];
}

/**
 * unwind_rows_keep - keep a row
 * @rows: the address space's
 * @generation: from before its range was looked up, not 0
 * @addr: the address
 * @row: what describes it
 *
 * Context: any. Where another context is at the same entry, it is left alone.
 */
void unwind_rows_keep(struct unwind_rows *rows, u32 generation,
		      unsigned long addr, const struct unwind_kept_row *row)
{
	struct unwind_rows_entry *entries = READ_ONCE(rows->entries), *entry;
	unsigned long seq;

	if (!entries)
		return;
	entry = choose_entry(unwind_rows_set(entries, addr), generation, addr);

	seq = READ_ONCE(entry->seq);
	/* Fully ordered: who reads what is written below sees it odd */
	if (seq & 1 || cmpxchg(&entry->seq, seq, seq + 1) != seq)
		return;
	WRITE_ONCE(entry->addr, addr);
	WRITE_ONCE(entry->generation, generation);
	WRITE_ONCE(entry->row.how, row->how);
	WRITE_ONCE(entry->row.cfa, row->cfa);
	WRITE_ONCE(entry->row.ra, row->ra);
	WRITE_ONCE(entry->row.fp, row->fp);
	/* Pairs with unwind_rows_find() */
	smp_store_release(&entry->seq, seq + 2);
}

/*
 * The form in which rows are kept
 */

static u32 pack_rule(const struct unwind_rule *rule, unsigned int i)
{
	return (rule->base | (rule->deref ? HOW_RULE_DEREF : 0)) <<
	       HOW_RULE_SHIFT(i);
}

static struct unwind_rule unpack_rule(u32 how, unsigned int i, s32 offset)
{
	how >>= HOW_RULE_SHIFT(i);
	return (struct unwind_rule){
		.base = how & HOW_RULE_BASE,
		.deref = how & HOW_RULE_DEREF,
		.offset = offset,
	};
}

static bool saved_from_cfa(const struct unwind_rule *rule)
{
	return rule->base == UNWIND_RULE_CFA && rule->deref;
}

/* Says nothing that matters to the iterator, which strips each return address */
static u32 pack_signature(const struct unwind_row *row)
{
	return (row->mangled_ra ? HOW_MANGLED_RA : 0) |
	       (row->pauth_key_b ? HOW_PAUTH_KEY_B : 0);
}

/* UNWIND_KEPT_SIMPLE and what goes with it, if the row has that shape; else 0 */
static u32 pack_simple(const struct unwind_row *row)
{
	u32 how = UNWIND_KEPT_SIMPLE | pack_signature(row);

	/* Where a function ends there is more to be tried than its row */
	if (row->outermost || row->signal || row->at_end || row->cfa.deref ||
	    !saved_from_cfa(&row->ra))
		return 0;
	if (row->cfa.base == UNWIND_RULE_FP)
		how |= UNWIND_KEPT_CFA_FP;
	else if (row->cfa.base != UNWIND_RULE_SP)
		return 0;
	if (saved_from_cfa(&row->fp))
		how |= UNWIND_KEPT_FP_SAVED;
	else if (row->fp.base != UNWIND_RULE_SAME)
		return 0;
	return how;
}

static u32 pack_rules(const struct unwind_row *row)
{
	return pack_rule(&row->cfa, 0) | pack_rule(&row->ra, 1) |
	       pack_rule(&row->fp, 2) |
	       (u32)row->cfa.reg << HOW_CFA_REG_SHIFT |
	       (row->outermost ? HOW_OUTERMOST : 0) |
	       (row->signal ? HOW_SIGNAL : 0) |
	       (row->at_end ? HOW_AT_END : 0) | pack_signature(row);
}

/**
 * unwind_rows_pack - bring a row into the form in which it is kept
 * @kept: filled in
 * @row: the row
 *
 * Return: whether it fits: small offsets for RA and FP, no further register there.
 */
bool unwind_rows_pack(struct unwind_kept_row *kept,
		      const struct unwind_row *row)
{
	kept->cfa = row->cfa.offset;
	kept->ra = row->ra.offset;
	kept->fp = row->fp.offset;
	if (kept->ra != row->ra.offset || kept->fp != row->fp.offset)
		return false;
	kept->how = pack_simple(row);
	if (kept->how)
		return true;
	if (row->ra.base == UNWIND_RULE_REG || row->fp.base == UNWIND_RULE_REG)
		return false;
	kept->how = pack_rules(row);
	return kept->how;
}

static void unpack_simple(struct unwind_row *row,
			  const struct unwind_kept_row *kept)
{
	*row = (struct unwind_row){
		.cfa.base = kept->how & UNWIND_KEPT_CFA_FP ? UNWIND_RULE_FP :
							     UNWIND_RULE_SP,
		.cfa.offset = kept->cfa,
		.ra.base = UNWIND_RULE_CFA,
		.ra.deref = true,
		.ra.offset = kept->ra,
		.mangled_ra = kept->how & HOW_MANGLED_RA,
		.pauth_key_b = kept->how & HOW_PAUTH_KEY_B,
	};
	if (!(kept->how & UNWIND_KEPT_FP_SAVED))
		return;
	row->fp.base = UNWIND_RULE_CFA;
	row->fp.deref = true;
	row->fp.offset = kept->fp;
}

/**
 * unwind_rows_unpack - the row that was packed
 * @row: filled in
 * @kept: from unwind_rows_pack()
 */
void unwind_rows_unpack(struct unwind_row *row,
			const struct unwind_kept_row *kept)
{
	if (kept->how & UNWIND_KEPT_SIMPLE) {
		unpack_simple(row, kept);
		return;
	}
	*row = (struct unwind_row){
		.cfa = unpack_rule(kept->how, 0, kept->cfa),
		.ra = unpack_rule(kept->how, 1, kept->ra),
		.fp = unpack_rule(kept->how, 2, kept->fp),
		.outermost = kept->how & HOW_OUTERMOST,
		.signal = kept->how & HOW_SIGNAL,
		.at_end = kept->how & HOW_AT_END,
		.mangled_ra = kept->how & HOW_MANGLED_RA,
		.pauth_key_b = kept->how & HOW_PAUTH_KEY_B,
	};
	row->cfa.reg = kept->how >> HOW_CFA_REG_SHIFT;
}

/**
 * unwind_rows_pack_link - bring where a return address is into the form that is kept
 * @link: of a function that has it in a register
 *
 * Return: bits of what is kept of an address without a row; 0 if it does not fit.
 */
u32 unwind_rows_pack_link(const struct unwind_user_link *link)
{
	const unsigned int word = sizeof(u32);

	if (!IS_ALIGNED(link->pushed, word) ||
	    !FIELD_FIT(UNWIND_KEPT_LINK_REG, link->reg) ||
	    !FIELD_FIT(UNWIND_KEPT_LINK_WORDS, link->pushed / word))
		return 0;
	return UNWIND_KEPT_LINK | (link->sp_known ? UNWIND_KEPT_LINK_SP : 0) |
	       FIELD_PREP(UNWIND_KEPT_LINK_REG, link->reg) |
	       FIELD_PREP(UNWIND_KEPT_LINK_WORDS, link->pushed / word);
}

/**
 * unwind_rows_unpack_link - where a return address is, that was packed
 * @link: filled in, if it is in a register
 * @how: what is kept of an address without a row
 *
 * Return: whether it is known to be there.
 */
bool unwind_rows_unpack_link(struct unwind_user_link *link, u32 how)
{
	if (!(how & UNWIND_KEPT_LINK))
		return false;
	*link = (struct unwind_user_link){
		.reg = FIELD_GET(UNWIND_KEPT_LINK_REG, how),
		.pushed = FIELD_GET(UNWIND_KEPT_LINK_WORDS, how) * sizeof(u32),
		.sp_known = how & UNWIND_KEPT_LINK_SP,
	};
	return true;
}
