/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slots of a drawer (surface_memory.c), for operations of other files on its code.
 *
 *	SLOT_AT(i)	a file of code, or the code in anonymous memory
 *	+ TABLE_OFFSET	the table of the latter
 *	+ ELSEWHERE	text that was moved
 *	+ WRITABLE	the same file, shared and writable
 */
#ifndef SELFTEST_UNWIND_SURFACE_SLOTS_H
#define SELFTEST_UNWIND_SURFACE_SLOTS_H

#include <linux/unwind.h>
#include <stdbool.h>

#include "code.h"
#include "code_file.h"

#define SLOTS		4
#define SLOT_SIZE	0x1000000UL
#define DRAWER_AT(n)	(0x10000000000UL + 0x100000000UL * (n))
#define SLOT_AT(i)	(DRAWER_AT(drawer) + SLOT_SIZE * (i))
#define TABLE_OFFSET	0x100000UL
#define ELSEWHERE	0x800000UL
#define WRITABLE	0xc00000UL
#define FUNCTIONS	4
#define TEXT_BYTES	(CODE_STRIDE * FUNCTIONS)

enum slot_kind {
	NOTHING, ANONYMOUS, SEALED, UNSEALED, FILE_IN_TMPFS, FILE_SERVED, FILE_OVERLAID, KINDS
};

/*
 * @whole: nothing of it was unmapped
 * @callable: the code is there
 * @registered: under a key of the slot; nobody knows, if its memory was unmapped in part
 */
struct slot {
	enum slot_kind		kind;
	struct code		code;
	struct code_image	image;
	int			fd;
	bool			whole;
	bool			callable;
	bool			registered;
};

extern __thread struct slot slots[SLOTS];

static inline bool is_callable(const struct slot *slot)
{
	return slot->callable;
}

/* The code and its table */
static inline bool is_there(const struct slot *slot)
{
	return slot->callable && slot->whole;
}

/* A random one of those slots that an operation can use, or SLOTS */
unsigned int find_slot(bool (*fits)(const struct slot *slot));

void *text_of(unsigned int i);
void *table_of(unsigned int i);
/* To register it, under the drawer's key */
struct unwind_table_attr attr_of_slot(unsigned int i);
/* Unmap all of it */
void clear_slot(unsigned int i);

/* The code calls a function that makes a system call, or @innermost, which sets nr to 0 */
void call_code(chain_fn fn);
void call_code_with(chain_fn fn, chain_fn innermost);

/* Report any other result */
int expect(const char *what, int ret, int expected);

#endif /* SELFTEST_UNWIND_SURFACE_SLOTS_H */
