// SPDX-License-Identifier: GPL-2.0
/*
 * The code of a process, see step_code.h.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "step_code.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME	0x6474e554
#endif

static bool is_restorer_from(const struct code *code, uint64_t addr)
{
	uint8_t insn[INSN_MAX];

	return code_read(code, addr, insn, machine_restorer.size) &&
	       !memcmp(insn, machine_restorer.bytes, machine_restorer.size);
}

bool code_is_restorer(const struct code *code, uint64_t addr)
{
	return is_restorer_from(code, addr) ||
	       is_restorer_from(code, addr - machine_restorer.call);
}

/*
 * Files
 */

static const Elf64_Ehdr *elf_of(const struct module *module)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)module->data;

	if (module->size < sizeof(*ehdr) || memcmp(ehdr, ELFMAG, SELFMAG))
		return NULL;
	return ehdr;
}

static void load_segments(struct module *module)
{
	const Elf64_Ehdr *ehdr = elf_of(module);
	const Elf64_Phdr *phdr;
	unsigned int i;

	if (!ehdr)
		return;
	phdr = (const Elf64_Phdr *)(module->data + ehdr->e_phoff);
	for (i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X)
			module->bias = module->start - module->offset -
				       (phdr[i].p_vaddr - phdr[i].p_offset);
		if (phdr[i].p_type == PT_GNU_SFRAME)
			section_read(&module->section,
				     module->data + phdr[i].p_offset,
				     phdr[i].p_filesz, phdr[i].p_vaddr);
	}
}

/* The vDSO has no file: its bytes are in memory */
static void load_vdso(struct code *code, struct module *module)
{
	module->size = module->end - module->start;
	module->data = mmap(NULL, module->size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (module->data == MAP_FAILED ||
	    !code_read(code, module->start, module->data, module->size))
		module->size = 0;
}

static void load_file(struct module *module)
{
	struct stat stat;
	int fd = open(module->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!fstat(fd, &stat)) {
		module->size = stat.st_size;
		module->data = mmap(NULL, module->size, PROT_READ, MAP_PRIVATE,
				    fd, 0);
		if (module->data == MAP_FAILED)
			module->size = 0;
	}
	close(fd);
}

static void unload(struct module *module)
{
	section_free(&module->section);
	if (module->size)
		munmap(module->data, module->size);
}

/*
 * Mappings
 */

static struct module *known(struct code *code, const struct module *module)
{
	unsigned int i;

	for (i = 0; i < code->nr; i++)
		if (code->module[i].start == module->start &&
		    code->module[i].end == module->end &&
		    code->module[i].offset == module->offset &&
		    !strcmp(code->module[i].path, module->path))
			return &code->module[i];
	return NULL;
}

static void add_mapping(struct code *code, const char *line)
{
	struct module module = { .found = true };
	struct module *old;
	char perm[8];

	if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %255s", &module.start,
		   &module.end, perm, &module.offset, module.path) != 5 ||
	    perm[2] != 'x')
		return;
	old = known(code, &module);
	if (old) {
		old->found = true;
		return;
	}
	if (code->nr == CODE_MODULES)
		return;
	if (!strcmp(module.path, "[vdso]"))
		load_vdso(code, &module);
	else if (module.path[0] == '/')
		load_file(&module);
	load_segments(&module);
	code->module[code->nr++] = module;
}

static void read_maps(struct code *code)
{
	char path[64], line[512];
	unsigned int i, nr = 0;
	FILE *maps;

	for (i = 0; i < code->nr; i++)
		code->module[i].found = false;
	snprintf(path, sizeof(path), "/proc/%d/maps", code->pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps))
		add_mapping(code, line);
	if (maps)
		fclose(maps);
	for (i = 0; i < code->nr; i++) {
		if (code->module[i].found)
			code->module[nr++] = code->module[i];
		else
			unload(&code->module[i]);
	}
	code->nr = nr;
	code->generation++;
	code->changed = false;
}

/*
 * The interface
 */

int code_open(struct code *code, pid_t pid)
{
	char path[64];

	memset(code, 0, sizeof(*code));
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	code->pid = pid;
	code->mem = open(path, O_RDONLY | O_CLOEXEC);
	code->changed = true;
	return code->mem < 0 ? -1 : 0;
}

void code_close(struct code *code)
{
	while (code->nr)
		unload(&code->module[--code->nr]);
	if (code->mem >= 0)
		close(code->mem);
}

void code_changed(struct code *code)
{
	code->changed = true;
}

bool code_read(const struct code *code, uint64_t addr, void *to, size_t size)
{
	return pread(code->mem, to, size, addr) == (ssize_t)size;
}

const struct module *code_module(struct code *code, uint64_t addr)
{
	unsigned int i;

	if (code->changed)
		read_maps(code);
	for (i = 0; i < code->nr; i++)
		if (addr >= code->module[i].start && addr < code->module[i].end)
			return &code->module[i];
	return NULL;
}

const struct code_entry *code_at(struct code *code, uint64_t addr)
{
	struct code_entry *entry = &code->cache[(addr ^ addr >> 16) % CODE_CACHE];
	const struct module *module;
	uint8_t insn[INSN_MAX + 2] = {};

	if (!code->changed && entry->addr == addr &&
	    entry->generation == code->generation)
		return entry;
	module = code_module(code, addr);
	/* It may be the last one before the end of the mapping */
	if (pread(code->mem, insn, INSN_MAX, addr) <= 0)
		insn[0] = 0;
	*entry = (struct code_entry){
		.addr = addr,
		.generation = code->generation,
		.kind = machine_kind(insn),
		.tabled = (module && section_fde(&module->section,
						 addr - module->bias)) ||
			  code_is_restorer(code, addr),
	};
	return entry;
}

/*
 * Names
 */

static const Elf64_Shdr *section_at(const struct module *module, uint64_t addr,
				    const char **name)
{
	const Elf64_Ehdr *ehdr = elf_of(module);
	const Elf64_Shdr *shdr;
	const char *names;
	unsigned int i;

	if (!ehdr || ehdr->e_shoff + ehdr->e_shnum * sizeof(*shdr) > module->size)
		return NULL;
	shdr = (const Elf64_Shdr *)(module->data + ehdr->e_shoff);
	names = (const char *)module->data + shdr[ehdr->e_shstrndx].sh_offset;
	for (i = 0; i < ehdr->e_shnum; i++) {
		if (!(shdr[i].sh_flags & SHF_ALLOC) || addr < shdr[i].sh_addr ||
		    addr >= shdr[i].sh_addr + shdr[i].sh_size)
			continue;
		*name = names + shdr[i].sh_name;
		return &shdr[i];
	}
	return NULL;
}

/* The symbol that begins at @addr or closest before it */
static uint64_t symbol_at(const struct module *module, uint64_t addr,
			  const char **name)
{
	const Elf64_Ehdr *ehdr = elf_of(module);
	const Elf64_Shdr *shdr = (const Elf64_Shdr *)(module->data + ehdr->e_shoff);
	const Elf64_Sym *sym;
	uint64_t found = 0;
	unsigned int i, j;

	for (i = 0; i < ehdr->e_shnum; i++) {
		const char *names;

		if (shdr[i].sh_type != SHT_SYMTAB && shdr[i].sh_type != SHT_DYNSYM)
			continue;
		sym = (const Elf64_Sym *)(module->data + shdr[i].sh_offset);
		names = (const char *)module->data + shdr[shdr[i].sh_link].sh_offset;
		for (j = 0; j < shdr[i].sh_size / sizeof(*sym); j++) {
			/* Symbols that begin with "$" distinguish code from data */
			if (sym[j].st_shndx == SHN_UNDEF || !names[sym[j].st_name] ||
			    names[sym[j].st_name] == '$' ||
			    ELF64_ST_TYPE(sym[j].st_info) > STT_FUNC ||
			    sym[j].st_value > addr || sym[j].st_value <= found)
				continue;
			found = sym[j].st_value;
			*name = names + sym[j].st_name;
		}
	}
	return found;
}

static uint64_t name_of(struct code *code, uint64_t addr, const char **name)
{
	const struct module *module = code_module(code, addr);
	const Elf64_Shdr *shdr;
	const char *section;
	uint64_t found;

	*name = "?";
	if (!module)
		return 0;
	addr -= module->bias;
	shdr = section_at(module, addr, &section);
	if (!shdr)
		return 0;
	*name = section;
	if (!strncmp(section, ".plt", 4))
		return addr - shdr->sh_addr;
	found = symbol_at(module, addr, name);
	return addr - (found ? found : shdr->sh_addr);
}

void code_name(struct code *code, uint64_t addr, char *name, size_t size)
{
	const struct module *module = code_module(code, addr);
	const char *symbol, *file = module ? strrchr(module->path, '/') : NULL;
	uint64_t offset = name_of(code, addr, &symbol);

	snprintf(name, size, "%s:%s+%#lx",
		 file ? file + 1 : module ? module->path : "?", symbol, offset);
}
