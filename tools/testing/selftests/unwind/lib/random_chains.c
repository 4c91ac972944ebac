// SPDX-License-Identifier: GPL-2.0
/*
 * Random stacks, see random_chains.h. They are the same in each run.
 */
#include <stddef.h>

#include "../../kselftest.h"
#include "image.h"
#include "random_chains.h"

static const struct {
	const char	*name;
	bool		table;
} files[] = {
	{ "chain_table.so", true },
	{ "chain_both.so", true },
	{ "chain_fp.so", false },
	{ "chain_table_other.so", true },
};

#define NR_FILES	((int)ARRAY_SIZE(files))

/* And between() */
static chain_fn fns[NR_FILES + 1];

static unsigned int random_below(unsigned int n)
{
	static unsigned long state = 1;

	state = state * 6364136223846793005UL + 1442695040888963407UL;
	return (state >> 33) % n;
}

/* Frames between chains that keep frame pointers */
static void between(struct notes *notes)
{
	char locals[64];

	asm volatile("" : : "r"(locals) : "memory");
	notes->next[notes->nr_next++](notes);
	asm volatile("" : : "r"(locals) : "memory");
}

int random_chains_load(void)
{
	static struct image image[NR_FILES];
	int i;

	for (i = 0; i < NR_FILES; i++) {
		fns[i] = image_load(&image[i], files[i].name);
		if (!fns[i])
			return -1;
	}
	fns[NR_FILES] = between;
	return 0;
}

bool random_chains_call(chain_fn last)
{
	unsigned int i, which, depth = 1 + random_below(4);
	struct notes notes = { .nr_next = 1 };
	bool by_table = false;

	for (i = 0; i < depth; i++) {
		which = random_below(NR_FILES + 1);
		by_table |= which < NR_FILES && files[which].table;
		notes.next[i] = fns[which];
	}
	notes.next[depth] = last;
	notes.next[0](&notes);
	return by_table;
}
