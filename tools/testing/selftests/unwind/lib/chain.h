/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chains: code that is compiled in several ways, and notes its own stack.
 *
 * A chain is three functions that call each other. Each notes its return address, and the
 * last calls the next item: another chain, or the test. So a test strings together chains
 * with frame pointers, with tables, or with neither, and knows the expected stack
 * exactly.
 *
 * Chains need no relocation and no library. They are built into shared objects that a
 * test maps itself (see image.h), and into programs (see prog.c).
 */
#ifndef SELFTEST_UNWIND_CHAIN_H
#define SELFTEST_UNWIND_CHAIN_H

#define CHAIN_FRAMES	3
#define NOTES_MAX	16

struct notes;
typedef void (*chain_fn)(struct notes *notes);

/* Return addresses, outermost first, and the functions still to be called */
struct notes {
	unsigned long	nr;
	unsigned long	ra[NOTES_MAX];
	unsigned long	nr_next;
	chain_fn	next[NOTES_MAX];
};

void chain(struct notes *notes);

/* The same for chains that are linked into one program, see big_endian.c */
void chain_table(struct notes *notes);
void chain_fp_signed(struct notes *notes);
void chain_table_signed(struct notes *notes);
void chain_table_signed_b(struct notes *notes);

#endif /* SELFTEST_UNWIND_CHAIN_H */
