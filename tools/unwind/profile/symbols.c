// SPDX-License-Identifier: GPL-2.0
/*
 * Names of addresses, see symbols.h.
 *
 * A file is identified by its build-id, if it has one, and by its path. Its functions are
 * stored by their offset in the file, because the kernel reports offsets.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols.h"

/* The kernel reports no sizes: an address beyond this distance is not in the function before */
#define KERNEL_SYMBOL_MAX	0x100000

struct symbol {
	unsigned long long	start;
	unsigned long long	size;
	char			*name;
};

struct symbols {
	struct symbol		*symbol;
	size_t			nr;
};

struct file {
	struct file		*next;
	char			*path;
	bool			has_id;
	unsigned char		id[BPF_BUILD_ID_SIZE];
	struct symbols		symbols;
};

static struct file *files;

static void add_symbol(struct symbols *symbols, unsigned long long start,
		       unsigned long long size, const char *name)
{
	struct symbol *more = symbols->symbol;

	/* Double the memory whenever the number is a power of two */
	if (!(symbols->nr & (symbols->nr - 1)))
		more = realloc(more, (2 * symbols->nr + 1) * sizeof(*more));
	if (!more)
		return;
	symbols->symbol = more;
	more[symbols->nr++] = (struct symbol){ start, size, strdup(name) };
}

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void sort_symbols(struct symbols *symbols)
{
	if (symbols->nr)
		qsort(symbols->symbol, symbols->nr, sizeof(*symbols->symbol),
		      by_start);
}

/* The last symbol that begins at @at or before, if @at is in it */
static const char *find_symbol(const struct symbols *symbols, unsigned long long at)
{
	size_t low = 0, high = symbols->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (symbols->symbol[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	return at - symbols->symbol[low - 1].start < symbols->symbol[low - 1].size ?
	       symbols->symbol[low - 1].name : NULL;
}

/*
 * Files
 */

/* Convert an address of the file to its offset; unchanged if it has none */
static unsigned long long file_offset(Elf *elf, unsigned long long addr)
{
	size_t i, nr = 0;
	GElf_Phdr phdr;

	elf_getphdrnum(elf, &nr);
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(elf, i, &phdr) && phdr.p_type == PT_LOAD &&
		    addr - phdr.p_vaddr < phdr.p_filesz)
			return addr - phdr.p_vaddr + phdr.p_offset;
	return addr;
}

static void read_table(struct file *file, Elf *elf, Elf_Scn *section)
{
	GElf_Shdr shdr;
	Elf_Data *data;
	GElf_Sym sym;
	int i;

	if (!gelf_getshdr(section, &shdr) ||
	    (shdr.sh_type != SHT_SYMTAB && shdr.sh_type != SHT_DYNSYM))
		return;
	data = elf_getdata(section, NULL);
	for (i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, shdr.sh_link, sym.st_name);

		if (GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_size && name)
			add_symbol(&file->symbols, file_offset(elf, sym.st_value),
				   sym.st_size, name);
	}
}

static void read_symbols(struct file *file)
{
	int fd = open(file->path, O_RDONLY);
	Elf_Scn *section = NULL;
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (elf && (section = elf_nextscn(elf, section)))
		read_table(file, elf, section);
	elf_end(elf);
	close(fd);
	sort_symbols(&file->symbols);
}

static struct file *find_path(const char *path)
{
	struct file *file;

	for (file = files; file; file = file->next)
		if (!strcmp(file->path, path))
			return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->path = strdup(path);
	file->next = files;
	files = file;
	read_symbols(file);
	return file;
}

static struct file *find_id(const unsigned char *id)
{
	struct file *file;

	for (file = files; file; file = file->next)
		if (file->has_id && !memcmp(file->id, id, BPF_BUILD_ID_SIZE))
			return file;
	return NULL;
}

/* Find the file that is mapped at @ip, while the process exists, and the offset there */
static struct file *find_mapped(int pid, unsigned long long ip,
				unsigned long long *offset)
{
	unsigned long long start, end, from;
	char line[4096], path[4096];
	struct file *file = NULL;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %4095s", &start, &end,
			   &from, path) != 4 || ip < start || ip >= end)
			continue;
		*offset = ip - start + from;
		file = find_path(path);
		break;
	}
	if (maps)
		fclose(maps);
	return file;
}

void print_user(FILE *out, int pid, unsigned long long ip, bool call,
		const struct bpf_stack_build_id *id)
{
	const bool by_id = id->status == BPF_STACK_BUILD_ID_VALID;
	unsigned long long offset = by_id ? id->offset : 0;
	struct file *file = by_id ? find_id(id->build_id) : NULL;
	const char *name;

	if (!file) {
		file = find_mapped(pid, ip, &offset);
		if (file && by_id) {
			file->has_id = true;
			memcpy(file->id, id->build_id, BPF_BUILD_ID_SIZE);
		}
	}
	name = file ? find_symbol(&file->symbols, offset - call) : NULL;
	if (name)
		fputs(name, out);
	else if (file)
		fprintf(out, "[%s+0x%llx]",
			strrchr(file->path, '/') ? strrchr(file->path, '/') + 1 :
						   file->path, offset);
	else
		fputs("[unknown]", out);
}

static struct symbols kernel;

void read_kernel_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[512], name[256], type;
	unsigned long long start;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %c %255s", &start, &type, name) == 3 &&
		    (type == 't' || type == 'T'))
			add_symbol(&kernel, start, KERNEL_SYMBOL_MAX, name);
	if (file)
		fclose(file);
	sort_symbols(&kernel);
}

void print_kernel(FILE *out, unsigned long long ip, bool call)
{
	const char *name = find_symbol(&kernel, ip - call);

	fprintf(out, "%s_[k]", name ?: "unknown");
}
