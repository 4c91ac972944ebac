// SPDX-License-Identifier: GPL-2.0
/*
 * Symbols: the names of functions, for notes, and the place of a name.
 */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf_file.h"

/* The first note at or after @addr, of @nr notes that are sorted by address */
static size_t first_note(const struct unwind_note *notes, size_t nr, __u64 addr)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (notes[mid].start < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Number of bytes of the symbol that begins at the note's address less its offset */
struct symbol {
	__u64	addr;
	__u64	size;
};

/* Name the first note in a function; the symbol that starts last decides */
static void name_note(struct unwind_note *notes, struct symbol *symbols, size_t nr,
		      const GElf_Sym *sym, const char *name)
{
	size_t i = first_note(notes, nr, sym->st_value);

	if (i == nr || (notes[i].name[0] && symbols[i].addr > sym->st_value))
		return;
	snprintf(notes[i].name, UNWIND_NOTE_NAME_LEN, "%s", name);
	symbols[i] = (struct symbol){
		.addr = sym->st_value, .size = sym->st_size,
	};
}

static void read_table(const struct elf_file *file, Elf_Scn *scn,
		       const GElf_Shdr *shdr, struct unwind_note *notes,
		       struct symbol *symbols, size_t nr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;
	int i;

	for (i = 0; gelf_getsym(data, i, &sym); i++) {
		const char *name;

		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC ||
		    sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(file->elf, shdr->sh_link, sym.st_name);
		if (name)
			name_note(notes, symbols, nr, &sym, name);
	}
}

/* Copy the name of the first note in a function to the notes after it */
static void spread_names(struct unwind_note *notes, struct symbol *symbols,
			 size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		__u64 offset;

		if (i && (!notes[i].name[0] ||
			  symbols[i].addr < symbols[i - 1].addr)) {
			symbols[i] = symbols[i - 1];
			memcpy(notes[i].name, notes[i - 1].name,
			       UNWIND_NOTE_NAME_LEN);
		}
		offset = notes[i].start - symbols[i].addr;
		notes[i].offset = offset;
		if (offset > 0xffffffff)
			symbols[i].size = 1;
	}
	/* Not earlier: a note without a symbol separates other notes from theirs */
	for (i = 0; i < nr; i++) {
		if (symbols[i].size && notes[i].offset >= symbols[i].size)
			notes[i].name[0] = '\0';
		if (!notes[i].name[0])
			notes[i].offset = 0;
	}
}

static int compare_notes(const void *a, const void *b)
{
	const struct unwind_note *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

/**
 * elf_file_name_notes - sort notes, and say in which functions they are
 * @file: the file
 * @notes: the notes
 * @nr: how many there are
 *
 * Where there is no memory for it, they have no names.
 */
void elf_file_name_notes(const struct elf_file *file, struct unwind_note *notes,
			 size_t nr)
{
	struct symbol *symbols = calloc(nr + 1, sizeof(*symbols));
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	if (!nr || !symbols)
		goto out;
	qsort(notes, nr, sizeof(*notes), compare_notes);
	while ((scn = elf_nextscn(file->elf, scn))) {
		if (gelf_getshdr(scn, &shdr) &&
		    (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM))
			read_table(file, scn, &shdr, notes, symbols, nr);
	}
	spread_names(notes, symbols, nr);
out:
	free(symbols);
}

static bool find_symbol(const struct elf_file *file, Elf_Scn *scn, const GElf_Shdr *shdr,
			const char *name, GElf_Sym *sym)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *this;
	int i;

	for (i = 0; gelf_getsym(data, i, sym); i++) {
		if (sym->st_shndx == SHN_UNDEF)
			continue;
		this = elf_strptr(file->elf, shdr->sh_link, sym->st_name);
		if (this && !strcmp(this, name))
			return true;
	}
	return false;
}

/**
 * elf_file_symbol - find a symbol that the file exports
 * @file: the file
 * @name: its name
 * @range: set to its addresses
 *
 * Return: false if there is none.
 */
bool elf_file_symbol(const struct elf_file *file, const char *name, struct text_range *range)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Sym sym;

	while ((scn = elf_nextscn(file->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNSYM ||
		    !find_symbol(file, scn, &shdr, name, &sym))
			continue;
		range->start = sym.st_value;
		range->end = sym.st_value + sym.st_size;
		return range->end >= range->start;
	}
	return false;
}
