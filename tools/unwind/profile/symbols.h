/* SPDX-License-Identifier: GPL-2.0 */
/* Symbols: ranges of addresses with names */
#ifndef UNWIND_PROFILE_SYMBOLS_H
#define UNWIND_PROFILE_SYMBOLS_H

#include <stddef.h>

struct symbol {
	unsigned long long	start;
	unsigned long long	size;
	/* Where the name is in the text; several may share it */
	unsigned long long	name;
};

struct symbols {
	struct symbol		*symbol;
	size_t			nr;
	size_t			room;
	/* Names, each with a zero */
	char			*text;
	size_t			text_size;
	size_t			text_room;
};

/* Add to the text; where that is */
size_t add_text(struct symbols *symbols, const void *text, size_t size);
void add_symbol(struct symbols *symbols, unsigned long long start, unsigned long long size,
		size_t name);
/* After the last was added, before the first is looked for */
void sort_symbols(struct symbols *symbols);
/* The last symbol that begins at @at or before, if @at is in it */
const struct symbol *find_symbol(const struct symbols *symbols, unsigned long long at);
const char *symbol_name(const struct symbols *symbols, const struct symbol *symbol);

/* The kernel's functions. Takes a while: call it before processes come and go */
void read_kernel_symbols(struct symbols *symbols);

#endif /* UNWIND_PROFILE_SYMBOLS_H */
