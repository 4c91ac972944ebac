/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows that are kept once they were found: see rows.c.
 *
 * What a hit executes is here, to be inlined: it is what most frames cost.
 */
#ifndef _KERNEL_UNWIND_ROWS_H
#define _KERNEL_UNWIND_ROWS_H

#include <asm/barrier.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <linux/unwind_user_arch.h>

#include "row.h"

/* Of one address space: 1,024 entries of 32 bytes; an address has its place in a set */
#define UNWIND_ROWS_WAYS	4
#define UNWIND_ROWS_SETS_BITS	8
#define UNWIND_ROWS		(UNWIND_ROWS_WAYS << UNWIND_ROWS_SETS_BITS)

/**
 * struct unwind_kept_row - a row in the form in which it is kept
 * @cfa: offset of the CFA
 * @ra: offset of the return address
 * @fp: offset of the caller's frame pointer
 * @how: UNWIND_KEPT_*; 0 where nothing is kept
 */
struct unwind_kept_row {
	s32	cfa;
	s16	ra;
	s16	fp;
	u32	how;
};

/*
 * The shape that almost all rows have: the CFA lies at an offset from SP or FP,
 * the return address is saved at an offset from the CFA, and so is the caller's
 * FP, or it is still in its register.
 */
#define UNWIND_KEPT_SIMPLE	BIT(0)
#define UNWIND_KEPT_CFA_FP	BIT(1)	/* the CFA counts from FP, not SP */
#define UNWIND_KEPT_FP_SAVED	BIT(2)	/* FP is saved as well */
/* What is known is that no row describes the address */
#define UNWIND_KEPT_NONE	BIT(3)
/* And, perhaps, that no signal's trampoline begins behind it, where a call returns to */
#define UNWIND_KEPT_CALL	BIT(28)
/*
 * And, perhaps, whether who is interrupted there has its return address in the link
 * register, or which one; and how many words of 4 bytes the stack pointer is below the
 * caller's, if that is known
 */
#define UNWIND_KEPT_NO_LINK	BIT(30)
/* Nor do they show a frame record; the call may tell that has left something there */
#define UNWIND_KEPT_AMBIGUOUS	BIT(29)
#define UNWIND_KEPT_LINK	BIT(31)
#define UNWIND_KEPT_LINK_SP	BIT(29)
#define UNWIND_KEPT_LINK_REG	GENMASK(27, 23)
#define UNWIND_KEPT_LINK_WORDS	GENMASK(22, 4)
/* Neither of the two: the other bits have the rules, see unwind_rows_unpack() */

/**
 * struct unwind_rows_entry - what is kept for one address
 * @addr: the address
 * @seq: odd while it is being written
 * @generation: of the rows, from before the row was looked for; 0: never written
 * @row: the row
 */
struct unwind_rows_entry {
	unsigned long		addr;
	unsigned long		seq;
	u32			generation;
	struct unwind_kept_row	row;
};

/**
 * struct unwind_rows - rows that are kept for an address space
 * @generation: raised by each change of what describes its addresses; never 0
 * @entries: UNWIND_ROWS of them; NULL before the first row
 */
struct unwind_rows {
	u32				generation;
	struct unwind_rows_entry	*entries;
};

/* The last generation: in it, nothing is kept any more */
#define UNWIND_ROWS_LAST	U32_MAX

/* The set of entries that an address has its place in */
static __always_inline struct unwind_rows_entry *
unwind_rows_set(struct unwind_rows_entry *entries, unsigned long addr)
{
	return &entries[hash_long(addr, UNWIND_ROWS_SETS_BITS) * UNWIND_ROWS_WAYS];
}

/**
 * unwind_rows_find - is a row kept for an address?
 * @rows: the address space's
 * @entries: its entries, not NULL
 * @addr: the address
 * @row: filled in, also with nonsense where there is none
 *
 * Context: any; nothing is called.
 * Return: whether @row is what describes @addr.
 */
static __always_inline bool
unwind_rows_find(const struct unwind_rows *rows,
		 struct unwind_rows_entry *entries, unsigned long addr,
		 struct unwind_kept_row *row)
{
	const struct unwind_rows_entry *entry = unwind_rows_set(entries, addr);
	const struct unwind_rows_entry *end = entry + UNWIND_ROWS_WAYS;
	unsigned long seq;

	for (;; entry++) {
		if (entry == end)
			return false;
		seq = READ_ONCE(entry->seq);
		/* Pairs with unwind_rows_keep(): what is read below is no older */
		smp_rmb();
		if (READ_ONCE(entry->addr) == addr)
			break;
	}
	if (READ_ONCE(entry->generation) != READ_ONCE(rows->generation))
		return false;
	row->how = READ_ONCE(entry->row.how);
	row->cfa = READ_ONCE(entry->row.cfa);
	row->ra = READ_ONCE(entry->row.ra);
	row->fp = READ_ONCE(entry->row.fp);
	/* Nor is it newer: the count was even before, and is the same after */
	smp_rmb();
	return READ_ONCE(entry->seq) == (seq & ~1UL);
}

void unwind_rows_init(struct unwind_rows *rows);
void unwind_rows_alloc(struct unwind_rows *rows);
void unwind_rows_free(struct unwind_rows *rows);
u32 unwind_rows_generation(const struct unwind_rows *rows);
void unwind_rows_keep(struct unwind_rows *rows, u32 generation,
		      unsigned long addr, const struct unwind_kept_row *row);
void unwind_rows_drop(struct unwind_rows *rows);

u32 unwind_rows_pack_link(const struct unwind_user_link *link);
bool unwind_rows_unpack_link(struct unwind_user_link *link, u32 how);
bool unwind_rows_pack(struct unwind_kept_row *kept,
		      const struct unwind_row *row);
void unwind_rows_unpack(struct unwind_row *row,
			const struct unwind_kept_row *kept);

#endif /* _KERNEL_UNWIND_ROWS_H */
