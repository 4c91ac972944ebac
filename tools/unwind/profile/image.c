// SPDX-License-Identifier: GPL-2.0
/*
 * ELF images, see image.h.
 *
 * A stripped program's symbols are in a debug file, which a package installs by the
 * build-id. Nothing of a program is trusted: libelf checks what it reads.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "image.h"

#define DEBUG_FILES	"/usr/lib/debug/.build-id"

static void add_segment(struct image *image, const GElf_Phdr *phdr)
{
	if (image->nr < SEGMENTS)
		image->segment[image->nr++] = (struct segment){
			phdr->p_offset, phdr->p_filesz, phdr->p_vaddr, phdr->p_flags & PF_X
		};
}

static void read_notes(struct image *image, Elf *elf, const GElf_Phdr *phdr)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, phdr->p_offset, phdr->p_filesz,
					      phdr->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, next, name, desc;
	GElf_Nhdr note;

	for (; data && (next = gelf_getnote(data, at, &note, &name, &desc)); at = next) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(data->d_buf + name, "GNU", sizeof("GNU")) ||
		    note.n_descsz > sizeof(image->id))
			continue;
		image->id_size = note.n_descsz;
		memcpy(image->id, data->d_buf + desc, note.n_descsz);
		return;
	}
}

static void read_headers(struct image *image, Elf *elf)
{
	size_t i, nr = 0;
	GElf_Phdr phdr;

	elf_getphdrnum(elf, &nr);
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &phdr))
			continue;
		if (phdr.p_type == PT_LOAD)
			add_segment(image, &phdr);
		else if (phdr.p_type == PT_NOTE && !image->id_size)
			read_notes(image, elf, &phdr);
	}
}

void read_image(struct image *image, const struct file *file)
{
	Elf *elf;

	*image = (struct image){ .file = file, .is_read = file->fd >= 0 };
	if (image->is_read) {
		elf_version(EV_CURRENT);
		elf = elf_begin(file->fd, ELF_C_READ, NULL);
		if (elf)
			read_headers(image, elf);
		elf_end(elf);
	}
	/* Its own build-id has the right length, which the kernel has not said */
	if (!file->has_id ||
	    (image->id_size && !memcmp(image->id, file->id, MIN(image->id_size, sizeof(file->id)))))
		return;
	/* This is another file, which has none of these addresses */
	image->nr = 0;
	image->id_size = sizeof(file->id);
	memcpy(image->id, file->id, sizeof(file->id));
}

unsigned long long image_address(const struct image *image, unsigned long long offset)
{
	unsigned int i;

	for (i = 0; i < image->nr; i++)
		if (offset - image->segment[i].offset < image->segment[i].size)
			return offset - image->segment[i].offset + image->segment[i].addr;
	return offset;
}

static void read_table(struct image *image, Elf *elf, Elf_Scn *section, GElf_Word link)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym sym;
	int i;

	for (i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, link, sym.st_name);

		if (GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_size && name && *name)
			add_symbol(&image->symbols, sym.st_value, sym.st_size, name);
	}
}

/* True if the file has the full table, not only what other files link against */
static bool read_tables(struct image *image, int fd)
{
	Elf_Scn *section = NULL;
	bool full = false;
	GElf_Shdr shdr;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (elf && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &shdr))
			continue;
		if (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM)
			read_table(image, elf, section, shdr.sh_link);
		full |= shdr.sh_type == SHT_SYMTAB;
	}
	elf_end(elf);
	return full;
}

static int open_debug_file(const struct image *image)
{
	char path[sizeof(DEBUG_FILES) + 2 * sizeof(image->id) + 16], *to = path;
	unsigned int i;

	if (image->id_size < 2)
		return -1;
	to += sprintf(to, DEBUG_FILES "/%02x/", image->id[0]);
	for (i = 1; i < image->id_size; i++)
		to += sprintf(to, "%02x", image->id[i]);
	sprintf(to, ".debug");
	return open(path, O_RDONLY | O_CLOEXEC);
}

void read_symbols(struct image *image)
{
	int fd = -1;

	/* A debug file has its addresses, but no offsets: those are the file's own */
	if (image->nr && !read_tables(image, image->file->fd))
		fd = open_debug_file(image);
	if (fd >= 0) {
		read_tables(image, fd);
		close(fd);
	}
	sort_symbols(&image->symbols);
	image->has_symbols = true;
}
