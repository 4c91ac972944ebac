// SPDX-License-Identifier: GPL-2.0
/*
 * Write an ELF file with one section, .sframe, at its own address: for "readelf
 * --sframe".
 */
#include <elf.h>
#include <endian.h>
#include <string.h>

#include "sframe_elf.h"

#define SHT_GNU_SFRAME	0x6ffffff4

enum { NO_SECTION, SFRAME, NAMES, NR_SECTIONS };

static const char names[] = "\0.sframe\0.shstrtab";

struct header {
	Elf64_Ehdr	ehdr;
	Elf64_Shdr	shdrs[NR_SECTIONS];
};

/**
 * sframe_elf_write - write an ELF file with a table's section
 * @out: where to write it
 * @table: the table
 *
 * Return: 0, or -1 if it could not be written.
 */
int sframe_elf_write(FILE *out, const struct unwind_table *table)
{
	struct header header = {
		.ehdr = {
			.e_ident = {
				ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
				ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
			},
			.e_type = htole16(ET_DYN),
			.e_machine = htole16(table->machine),
			.e_version = htole32(EV_CURRENT),
			.e_shoff = htole64(offsetof(struct header, shdrs)),
			.e_ehsize = htole16(sizeof(Elf64_Ehdr)),
			.e_shentsize = htole16(sizeof(Elf64_Shdr)),
			.e_shnum = htole16(NR_SECTIONS),
			.e_shstrndx = htole16(NAMES),
		},
		.shdrs[SFRAME] = {
			.sh_name = htole32(1),
			.sh_type = htole32(SHT_GNU_SFRAME),
			.sh_flags = htole64(SHF_ALLOC),
			.sh_addr = htole64(table->addr),
			.sh_offset = htole64(sizeof(header)),
			.sh_size = htole64(table->size),
			.sh_addralign = htole64(8),
		},
		.shdrs[NAMES] = {
			.sh_name = htole32(sizeof("\0.sframe")),
			.sh_type = htole32(SHT_STRTAB),
			.sh_offset = htole64(sizeof(header) + table->size),
			.sh_size = htole64(sizeof(names)),
			.sh_addralign = htole64(1),
		},
	};

	fwrite(&header, sizeof(header), 1, out);
	fwrite(table->sframe, table->size, 1, out);
	fwrite(names, sizeof(names), 1, out);
	return ferror(out) ? -1 : 0;
}
