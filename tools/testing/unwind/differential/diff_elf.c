// SPDX-License-Identifier: GPL-2.0
/*
 * The SFrame section of an ELF file: by name, since not every version of libelf
 * knows its type.  Only of linked files; in others it wants relocation.  A file
 * may also be such a section, and nothing else.
 */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diff_elf.h"

static u8 *copy_section(Elf *elf, size_t *size)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr shdr;
	size_t names;
	char *name;
	u8 *bytes;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		if (!name || strcmp(name, ".sframe"))
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_size)
			return NULL;
		bytes = malloc(data->d_size);
		memcpy(bytes, data->d_buf, data->d_size);
		*size = data->d_size;
		return bytes;
	}
	return NULL;
}

static u8 *copy_raw(Elf *elf, size_t *size)
{
	char *file = elf_rawfile(elf, size);
	u8 *bytes = NULL;

	if (file && *size >= 2 &&
	    (!memcmp(file, "\xe2\xde", 2) || !memcmp(file, "\xde\xe2", 2))) {
		bytes = malloc(*size);
		memcpy(bytes, file, *size);
	}
	return bytes;
}

u8 *elf_sframe(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	u8 *bytes = NULL;
	GElf_Ehdr ehdr;
	Elf *elf;

	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_NONE)
		bytes = copy_raw(elf, size);
	else if (elf && gelf_getehdr(elf, &ehdr) && ehdr.e_type != ET_REL)
		bytes = copy_section(elf, size);
	elf_end(elf);
	close(fd);
	return bytes;
}
