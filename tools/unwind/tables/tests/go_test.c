// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of Go in a file that changes while it is read.  Functions of this file replace
 * the reading of the file, and malloc(): go.c calls it when it has counted a function's rows,
 * and before it writes them.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "go.h"

#define SUBJECT	"go"
#include "result.h"

/* Where things are in the table */
#define PCTAB		0x80
#define FUNCS		0xc0
#define DESCRIPTION	0x20
#define TABLE		0x120

#define TEXT		0x1000
#define SIZE		0x40

/* Differences of the distance, each with bytes of code: 0, 8, 16, 8, 0; and 0 throughout */
static const __u8 many[] = { 2, 1, 16, 1, 16, 1, 15, 1, 15, SIZE - 4, 0 };
static const __u8 one[] = { 2, SIZE, 0 };

static __u8 table[TABLE], code[SIZE];
static const __u8 *later;
static size_t nr_fdes;

void *__real_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	if (later)
		memcpy(table + PCTAB + 1, later, sizeof(many));
	return __real_malloc(size);
}

bool elf_file_section(const struct elf_file *file, const char *name, __u64 *addr,
		      struct reader *r)
{
	const bool is_code = !strcmp(name, ".text");

	(void)file;
	*addr = is_code ? TEXT : 0;
	*r = (struct reader){
		.pos = is_code ? code : table,
		.end = is_code ? code + sizeof(code) : table + sizeof(table),
	};
	return true;
}

const struct text_range *elf_file_text(const struct elf_file *file, __u64 addr)
{
	return addr == TEXT ? file->text : NULL;
}

void cfi_run_cie(struct cfi_cie *cie, const struct machine *machine)
{
	(void)cie;
	(void)machine;
}

int cfi_list_add_cie(struct cfi_list *list, const struct cfi_cie *cie)
{
	(void)cie;
	list->nr_cies++;
	return 0;
}

int cfi_list_add_fde(struct cfi_list *list, const struct cfi_fde *fde)
{
	(void)list;
	nr_fdes += fde->start == TEXT && fde->end == TEXT + SIZE && fde->program_len;
	return 0;
}

static void put(size_t offset, __u64 val, size_t size)
{
	for (; size; size--, val >>= 8)
		table[offset++] = val;
}

/* A table of one function, which has these distances */
static void make_table(const __u8 *distances, size_t size)
{
	memset(table, 0, sizeof(table));
	put(0, 0x08010000fffffff1, 8);
	/* One function, where the code is, and where the two parts are */
	put(8, 1, 8);
	put(8 + 8 * 2, TEXT, 8);
	put(8 + 8 * 6, PCTAB, 8);
	put(8 + 8 * 7, FUNCS, 8);
	put(FUNCS + 4, DESCRIPTION, 4);
	put(FUNCS + 8, SIZE, 4);
	put(FUNCS + DESCRIPTION + 16, 1, 4);
	memcpy(table + PCTAB + 1, distances, size);
}

/* Read the table, which changes on the way; how many functions are there? */
static size_t read_functions(const __u8 *before, size_t size, const __u8 *after)
{
	static const struct machine machine = { .elf = EM_X86_64 };
	struct text_range text = { .start = TEXT, .end = TEXT + SIZE };
	const struct elf_file file = { .machine = &machine, .text = &text, .nr_text = 1 };
	struct cfi_list list = {};

	make_table(before, size);
	nr_fdes = 0;
	later = after;
	if (go_add(&list, &file))
		nr_fdes = -1;
	later = NULL;
	while (list.made) {
		struct cfi_made *made = list.made;

		list.made = made->next;
		free(made);
	}
	return nr_fdes;
}

int main(void)
{
	__u8 padded[sizeof(many)] = {};

	memcpy(padded, one, sizeof(one));
	result(read_functions(many, sizeof(many), NULL) == 1 &&
	       read_functions(one, sizeof(one), NULL) == 1, "a function has an entry");
	result(!read_functions(many, sizeof(many), padded),
	       "a function that gets fewer rows while it is read has none");
	result(!read_functions(one, sizeof(one), many),
	       "a function that gets more rows while it is read has none");
	return end_results();
}
