// SPDX-License-Identifier: GPL-2.0
/*
 * The mappings of the program.
 */
#include <errno.h>
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "map.h"
#include "table.h"

#define MAX_OBJECTS	64

/* The page size of the machine that mapped it */
#define PAGE_MASK	(~(uint64_t)4095)

static struct object objects[MAX_OBJECTS];
static unsigned int num_objects;

/* Find the segment of the program's text that is mapped from @pgoff on */
static void find_text(Elf *elf, uint64_t pgoff, const char *path, GElf_Phdr *phdr)
{
	size_t i, num;

	if (elf_getphdrnum(elf, &num))
		errx(1, "%s: no program headers", path);
	for (i = 0; i < num; i++)
		if (gelf_getphdr(elf, i, phdr) && phdr->p_type == PT_LOAD &&
		    (phdr->p_flags & PF_X) && (phdr->p_offset & PAGE_MASK) == pgoff)
			return;
	errx(1, "%s: no segment at offset %#llx", path, (unsigned long long)pgoff);
}

/* Is it already known? No other object may be in its place. */
static bool is_known(const char *name, const struct object *object)
{
	unsigned int i;

	for (i = 0; i < num_objects; i++) {
		const struct object *other = &objects[i];

		if (object->start >= other->end || object->end <= other->start)
			continue;
		if (!strcmp(name, other->name) && object->start == other->start)
			return true;
		errx(1, "%s is mapped where %s was", name, other->name);
	}
	return false;
}

void map_add(const char *path, const char *name, uint64_t start, uint64_t len,
	     uint64_t pgoff)
{
	struct object object = {
		.start = start,
		.end = start + len,
	};
	GElf_Phdr text;
	Elf *elf;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		errx(1, "cannot read %s", path);

	find_text(elf, pgoff, path, &text);
	object.bias = start - (text.p_vaddr & PAGE_MASK);
	/*
	 * With the first segment, the loader maps room for the whole file. It unmaps the
	 * rest between two segments, and the vDSO may come to lie there.
	 */
	if (object.end > object.bias + text.p_vaddr + text.p_memsz)
		object.end = object.bias + text.p_vaddr + text.p_memsz;
	if (!is_known(name, &object)) {
		if (num_objects == MAX_OBJECTS)
			errx(1, "too many objects");
		object.name = strdup(name);
		object.path = strdup(path);
		object.table = table_open(fd, elf, object.bias);
		objects[num_objects++] = object;
	}
	elf_end(elf);
	close(fd);
}

const struct object *map_find(uint64_t address)
{
	unsigned int i;

	for (i = 0; i < num_objects; i++)
		if (address >= objects[i].start && address < objects[i].end)
			return &objects[i];
	return NULL;
}

/* .eh_frame is in the objects themselves: do not search for other files */
static int no_debuginfo(Dwfl_Module *mod, void **userdata, const char *modname,
			GElf_Addr base, const char *file_name,
			const char *debuglink_file, GElf_Word debuglink_crc,
			char **debuginfo_file_name)
{
	return -1;
}

static int no_elf(Dwfl_Module *mod, void **userdata, const char *modname,
		  Dwarf_Addr base, char **file_name, Elf **elfp)
{
	return -1;
}

Dwfl *map_dwfl(void)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = no_elf,
		.find_debuginfo = no_debuginfo,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	unsigned int i;

	if (!dwfl)
		errx(1, "libdwfl: %s", dwfl_errmsg(-1));
	dwfl_report_begin(dwfl);
	for (i = 0; i < num_objects; i++) {
		struct object *object = &objects[i];

		object->module = dwfl_report_elf(dwfl, object->name, object->path,
						 -1, object->bias, false);
		if (!object->module)
			errx(1, "%s: %s", object->path, dwfl_errmsg(-1));
	}
	dwfl_report_end(dwfl, NULL, NULL);
	return dwfl;
}

bool map_read(uint64_t address, void *to, size_t len)
{
	const struct object *object = map_find(address);
	GElf_Addr at = address, bias;
	Elf_Data *data;
	Elf_Scn *scn;

	scn = object ? dwfl_module_address_section(object->module, &at, &bias) : NULL;
	data = scn ? elf_rawdata(scn, NULL) : NULL;
	if (!data || !data->d_buf || at > data->d_size || len > data->d_size - at)
		return false;
	memcpy(to, (uint8_t *)data->d_buf + at, len);
	return true;
}

/* Code without a symbol, a PLT for example, is named after its section */
static const char *section_name(const struct object *object, uint64_t address)
{
	GElf_Addr bias;
	GElf_Shdr shdr;
	size_t names;
	Elf_Scn *scn = dwfl_module_address_section(object->module, &address, &bias);
	Elf *elf = dwfl_module_getelf(object->module, &bias);
	const char *name = NULL;

	if (scn && gelf_getshdr(scn, &shdr) && !elf_getshdrstrndx(elf, &names))
		name = elf_strptr(elf, names, shdr.sh_name);
	return name ?: "?";
}

const char *map_name(uint64_t address)
{
	static char names[8][256];
	static unsigned int next;
	const struct object *object = map_find(address);
	char *name = names[next++ % 8];
	const char *symbol, *file;

	if (!object) {
		snprintf(name, sizeof(names[0]), "no object:%#llx",
			 (unsigned long long)address);
		return name;
	}
	file = strrchr(object->name, '/');
	file = file ? file + 1 : object->name;
	symbol = dwfl_module_addrname(object->module, address);
	snprintf(name, sizeof(names[0]), "%s:%s", file,
		 symbol ? symbol : section_name(object, address));
	return name;
}
