// SPDX-License-Identifier: GPL-2.0
/*
 * Count the unwinder's functions that NMIs hit.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stress_check.h"
#include "stress_where.h"
#include "../../kselftest.h"

struct symbol {
	unsigned long	start;
	unsigned long	hits;
	char		name[56];
	bool		of_unwinder;
};

static struct symbol *symbols;
static size_t nr_symbols;

static bool is_of_unwinder(const char *name)
{
	static const char * const others[] = {
		"task_work_run", "task_work_add", "deliver", "deliver_now",
		"close_entry", "queue_task_work", "called", "entry_stack",
	};
	size_t i;

	if (strstr(name, "unwind_") && !strstr(name, "arch_unwind"))
		return true;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(name, others[i]))
			return true;
	return false;
}

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int where_init(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	size_t max = 0;
	char line[512], type;

	nr_symbols = 0;
	while (file && fgets(line, sizeof(line), file)) {
		struct symbol *symbol;

		if (nr_symbols == max) {
			max = max ? 2 * max : 65536;
			symbols = realloc(symbols, max * sizeof(*symbols));
			if (!symbols)
				return -1;
		}
		symbol = &symbols[nr_symbols];
		memset(symbol, 0, sizeof(*symbol));
		if (sscanf(line, "%lx %c %55s", &symbol->start, &type,
			   symbol->name) != 3 || !strchr("tTwW", type))
			continue;
		symbol->of_unwinder = is_of_unwinder(symbol->name);
		nr_symbols++;
	}
	if (!file)
		return -1;
	fclose(file);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_start);
	return nr_symbols ? 0 : -1;
}

void where_event(const struct unwind_stress_event *event)
{
	size_t low = 0, high = nr_symbols;

	if (event->type != UNWIND_STRESS_REQUEST ||
	    event->context != UNWIND_STRESS_NMI_KERNEL || !nr_symbols ||
	    event->addr < symbols[0].start)
		return;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (symbols[mid].start <= event->addr)
			low = mid;
		else
			high = mid;
	}
	symbols[low].hits++;
}

unsigned long where_in_core(void)
{
	unsigned long hits = 0;
	size_t i;

	for (i = 0; i < nr_symbols; i++)
		if (symbols[i].of_unwinder)
			hits += symbols[i].hits;
	return hits;
}

void where_print(void)
{
	size_t i;

	ksft_print_msg("requests from NMIs that hit the unwinder: %lu:",
		       where_in_core());
	for (i = 0; i < nr_symbols; i++)
		if (symbols[i].of_unwinder && symbols[i].hits)
			printf(" %s %lu", symbols[i].name, symbols[i].hits);
	printf("\n");
}
