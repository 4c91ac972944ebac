// SPDX-License-Identifier: GPL-2.0
/* Symbols, see symbols.h. Their names are in one piece of memory: they are many */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"
#include "table.h"

/* The kernel reports no sizes: an address beyond this distance is not in the function before */
#define KERNEL_SYMBOL_MAX	0x100000

size_t add_text(struct symbols *symbols, const void *text, size_t size)
{
	const size_t at = symbols->text_size;

	if (size > symbols->text_room - at) {
		symbols->text_room = 2 * at + size + 4096;
		symbols->text = need(realloc(symbols->text, symbols->text_room));
	}
	memcpy(symbols->text + at, text, size);
	symbols->text_size += size;
	return at;
}

void add_symbol(struct symbols *symbols, unsigned long long start, unsigned long long size,
		size_t name)
{
	if (symbols->nr == symbols->room) {
		symbols->room = 2 * symbols->room + 256;
		symbols->symbol = need(realloc(symbols->symbol,
					       symbols->room * sizeof(*symbols->symbol)));
	}
	symbols->symbol[symbols->nr++] = (struct symbol){ start, size, name };
}

/* Of several at one address, the one that was added last is found */
static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

void sort_symbols(struct symbols *symbols)
{
	if (symbols->nr)
		qsort(symbols->symbol, symbols->nr, sizeof(*symbols->symbol), by_start);
}

const struct symbol *find_symbol(const struct symbols *symbols, unsigned long long at)
{
	size_t low = 0, high = symbols->nr;
	const struct symbol *symbol;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (symbols->symbol[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	symbol = &symbols->symbol[low - 1];
	return at - symbol->start < symbol->size && symbol->name < symbols->text_size ?
	       symbol : NULL;
}

const char *symbol_name(const struct symbols *symbols, const struct symbol *symbol)
{
	return symbols->text + symbol->name;
}

void read_kernel_symbols(struct symbols *symbols)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long long start;
	char line[512], name[256], type;

	while (file && fgets(line, sizeof(line), file))
		/* Without privileges, all addresses are 0 */
		if (sscanf(line, "%llx %c %255s", &start, &type, name) == 3 && start &&
		    (type == 't' || type == 'T'))
			add_symbol(symbols, start, KERNEL_SYMBOL_MAX,
				   add_text(symbols, name, strlen(name) + 1));
	if (file)
		fclose(file);
	sort_symbols(symbols);
}
