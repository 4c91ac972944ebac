/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows of a sample JIT: memory for code, and the table that describes it.
 *
 * A window's table is registered once, while it is empty, and grows in place as
 * functions are added.  The kernel may read it at any time, also in the middle
 * of a change; the order of the stores (see jit.c) makes that safe.
 *
 * Functions may be removed and their entries used again.  Their rows may not:
 * when there is no more room for rows, or code, the window is retired as a whole.
 *
 * One thread at a time may change a window.  The caller makes sure that no thread runs
 * code that is removed or retired; jit_pool.h shows one way.
 */
#ifndef SAMPLES_UNWIND_JIT_H
#define SAMPLES_UNWIND_JIT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "jit_code.h"

/**
 * struct jit_entry - a function in a window
 * @code: its first byte
 * @size: its size in bytes
 * @ra: the address to which its callee returns
 */
struct jit_entry {
	const void	*code;
	__u32	size;
	const void	*ra;
};

/**
 * struct jit_window - code, its table, and how much of both is used
 * @code: memory for code, readable, writable and executable
 * @code_size: its size in bytes
 * @code_used: bytes from the start that have functions
 * @table: memory for the table
 * @table_size: its size in bytes
 * @rows_max: bytes of the table for rows
 * @rows_used: bytes of rows
 * @entries_max: number of entries that there is room for
 * @nr_entries: number of entries, empty ones included
 * @sorted: entries are in the order of their addresses; else in any
 * @registered: the kernel knows the table
 */
struct jit_window {
	__u8		*code;
	size_t		code_size;
	size_t		code_used;
	__u8		*table;
	size_t		table_size;
	size_t		rows_max;
	size_t		rows_used;
	__u32	entries_max;
	__u32	nr_entries;
	bool		sorted;
	bool		registered;
};

/* Set up a window in the given memory, with an empty table; 0 or -1 and errno */
int jit_window_init(struct jit_window *win, void *code, size_t code_size,
		    void *table, size_t table_size, bool sorted);

/* Register the table; 0 or -1 and errno */
int jit_window_register(struct jit_window *win);

/*
 * Unregister the table, and empty it.  No thread may be in the window's code, or
 * have it on its stack.
 */
int jit_window_retire(struct jit_window *win);

/*
 * Add a function at the end of the code and fill in @entry.  Returns the index of its
 * entry, or -1 with ENOSPC.
 */
int jit_add(struct jit_window *win, const struct jit_func *func,
	    struct jit_entry *entry);

/*
 * The same with the entry of a removed function.  This does not work in a sorted table:
 * there, the entry's place in the order is taken.  @at: where to write the code, or NULL
 * for the end of the code.
 */
int jit_refill(struct jit_window *win, int index, const struct jit_func *func,
	       void *at, struct jit_entry *entry);

/* Remove a function that is not called any more, and is on no stack */
void jit_remove(struct jit_window *win, int index);

#endif /* SAMPLES_UNWIND_JIT_H */
