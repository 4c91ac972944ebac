// SPDX-License-Identifier: GPL-2.0
/*
 * Convert a file, and print in words the row that the kernel's decoder finds at each
 * symbol that begins with "at_", in order of names; then the notes.  Before them, the text of
 * an interpreter's chain.
 *
 *	table_rows FILE [SYMBOLS]
 *
 * SYMBOLS is a file with symbols, if FILE has none.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert.h"
#include "kernel_table.h"
#include "rules.h"

struct symbol {
	const char	*name;
	u64		addr;
};

static const char *base_name(const struct unwind_reg_rule *rule, char *buf,
			     size_t size)
{
	switch (rule->base) {
	case UNWIND_RULE_SP:
		return "sp";
	case UNWIND_RULE_FP:
		return "fp";
	case UNWIND_RULE_CFA:
		return "cfa";
	default:
		snprintf(buf, size, "r%u", rule->reg);
		return buf;
	}
}

/* "[cfa-8]" is the word in memory there */
static void print_rule(const char *of, const struct unwind_reg_rule *rule)
{
	char buf[8];

	if (rule->base == UNWIND_RULE_SAME) {
		printf(" %s=same", of);
		return;
	}
	if (rule->base == UNWIND_RULE_REG && rule->reg == RULE_REG_NONE) {
		printf(" %s=lost", of);
		return;
	}
	printf(" %s=%s%s%+d%s", of, rule->deref ? "[" : "",
	       base_name(rule, buf, sizeof(buf)), rule->offset,
	       rule->deref ? "]" : "");
}

static void print_row(const struct kernel_table *table,
		      const struct symbol *symbol)
{
	struct unwind_frame_rule row;
	int ret = kernel_table_row(table, symbol->addr, &row);

	printf("%s:", symbol->name);
	if (ret) {
		printf(" %s\n", ret == -ENOENT ? "none" : "rejected");
		return;
	}
	if (row.outermost) {
		printf(" outermost\n");
		return;
	}
	print_rule("cfa", &row.cfa);
	if (row.cfa_scale)
		printf("[r%u*%u]", row.cfa_index, row.cfa_scale);
	if (row.cfa_addend)
		printf("%+d", row.cfa_addend);
	print_rule("ra", &row.ra);
	print_rule("fp", &row.fp);
	printf("%s%s%s\n", row.signal ? " signal" : "",
	       row.mangled_ra ? " mangled" : "", row.pauth_key_b ? " key-b" : "");
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct symbol *)a)->name,
		      ((const struct symbol *)b)->name);
}

static Elf_Data *find_symbols(Elf *elf, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, shdr) && shdr->sh_type == SHT_SYMTAB)
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

static void print_rows(Elf *elf, const struct kernel_table *table)
{
	static struct symbol symbols[1000];
	size_t i, nr = 0;
	GElf_Shdr shdr;
	Elf_Data *data = find_symbols(elf, &shdr);
	GElf_Sym sym;

	for (i = 0; data && gelf_getsym(data, i, &sym); i++) {
		char *name = elf_strptr(elf, shdr.sh_link, sym.st_name);

		if (name && !strncmp(name, "at_", 3) && nr < 1000)
			symbols[nr++] = (struct symbol){ name, sym.st_value };
	}
	qsort(symbols, nr, sizeof(*symbols), compare_names);
	for (i = 0; i < nr; i++)
		print_row(table, &symbols[i]);
}

static void print_chain(const struct unwind_table *table)
{
	const struct unwind_chain_text *text = table->chain.text;

	if (!table->has_chain)
		return;
	printf("chain: text of %llu bytes", text[0].size);
	if (text[1].size)
		printf("; and of %llu bytes, %llu bytes before it", text[1].size,
		       text[0].start - text[1].start);
	printf("\n");
}

static void print_notes(const struct unwind_table *table)
{
	size_t i;

	for (i = 0; i < table->nr_notes; i++) {
		const struct unwind_note *note = &table->notes[i];

		printf("note: %s+%u, %llu bytes: %s\n", note->name, note->offset,
		       note->end - note->start, unwind_note_text(note->type));
	}
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	int symbols = argc > 1 ? open(argv[argc - 1], O_RDONLY) : -1;
	struct unwind_table table;
	struct kernel_table kernel;
	int ret;

	if (fd < 0 || symbols < 0)
		return 2;
	/* An address other than 0 reveals offsets with a wrong base */
	ret = unwind_check(fd, 0x7654321000, &table);
	if (ret) {
		printf("%s\n", unwind_convert_error(ret));
		return 1;
	}
	if (kernel_table_open(&kernel, table.sframe, table.size, table.addr,
			      table.machine)) {
		printf("the kernel rejects the section\n");
		return 1;
	}
	elf_version(EV_CURRENT);
	print_chain(&table);
	print_rows(elf_begin(symbols, ELF_C_READ, NULL), &kernel);
	print_notes(&table);
	return 0;
}
