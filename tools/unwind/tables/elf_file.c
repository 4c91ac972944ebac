// SPDX-License-Identifier: GPL-2.0
/*
 * The ELF file: its architecture, its executable addresses, its CFI.
 */
#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cfi.h"
#include "elf_file.h"
#include "sframe_write.h"

/* Larger sections are ignored, before they are decompressed */
#define SECTION_MAX	0x40000000ULL
#define PHDRS_MAX	65535

static const struct machine machines[] = {
	{
		.elf = EM_X86_64, .abi = SFRAME_ABI_AMD64_LE, .fixed_ra = -8,
		.sp = 7, .fp = 6, .ra = 16, .regs = 16,
	},
	{
		.elf = EM_AARCH64, .abi = SFRAME_ABI_AARCH64_LE,
		.sp = 31, .fp = 29, .ra = 30, .regs = 32,
	},
};

static int find_machine(struct elf_file *file, const GElf_Ehdr *ehdr)
{
	unsigned int i;

	if (gelf_getclass(file->elf) != ELFCLASS64 ||
	    ehdr->e_ident[EI_DATA] != ELFDATA2LSB)
		return -EOPNOTSUPP;
	if (ehdr->e_type != ET_EXEC && ehdr->e_type != ET_DYN)
		return -EOPNOTSUPP;
	for (i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		if (machines[i].elf == ehdr->e_machine)
			file->machine = &machines[i];
	}
	return file->machine ? 0 : -EOPNOTSUPP;
}

/*
 * Executable addresses
 */

static int compare_ranges(const void *a, const void *b)
{
	const struct text_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Ranges that overlap or touch become one */
static void join_ranges(struct elf_file *file)
{
	size_t i, nr = 0;

	qsort(file->text, file->nr_text, sizeof(*file->text), compare_ranges);
	for (i = 0; i < file->nr_text; i++) {
		struct text_range *range = &file->text[i];

		if (nr && range->start <= file->text[nr - 1].end) {
			if (range->end > file->text[nr - 1].end)
				file->text[nr - 1].end = range->end;
			continue;
		}
		file->text[nr++] = *range;
	}
	file->nr_text = nr;
}

static int find_text(struct elf_file *file)
{
	size_t i, nr;
	GElf_Phdr phdr;

	if (elf_getphdrnum(file->elf, &nr) || !nr || nr > PHDRS_MAX)
		return -ENOEXEC;
	file->text = calloc(nr + 1, sizeof(*file->text));
	if (!file->text)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(file->elf, i, &phdr))
			return -ENOEXEC;
		if (phdr.p_type != PT_LOAD || !(phdr.p_flags & PF_X) ||
		    phdr.p_vaddr + phdr.p_memsz <= phdr.p_vaddr)
			continue;
		file->text[file->nr_text++] = (struct text_range){
			.start = phdr.p_vaddr,
			.end = phdr.p_vaddr + phdr.p_memsz,
		};
	}
	join_ranges(file);
	return 0;
}

/**
 * elf_file_text - find the executable range that has an address
 * @file: the file
 * @addr: the address
 *
 * Return: the range, or NULL if the address is not executable.
 */
const struct text_range *elf_file_text(const struct elf_file *file, __u64 addr)
{
	size_t low = 0, high = file->nr_text;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (addr < file->text[mid].start)
			high = mid;
		else if (addr >= file->text[mid].end)
			low = mid + 1;
		else
			return &file->text[mid];
	}
	return NULL;
}

/*
 * CFI
 */

static void add_cfi(struct elf_file *file, Elf_Data *data, __u64 addr,
		    bool is_eh)
{
	if (!data || !data->d_buf || !data->d_size)
		return;
	file->cfi[file->nr_cfi++] = (struct cfi_section){
		.data = data, .addr = addr, .is_eh = is_eh,
	};
}

/* libelf writes to the header of a section that it decompresses, in this process's copy */
static bool decompress(Elf_Scn *scn)
{
	Elf64_Shdr *shdr = elf64_getshdr(scn);
	char *page = (char *)((unsigned long)shdr & -getpagesize());

	return !mprotect(page, (char *)(shdr + 1) - page, PROT_READ | PROT_WRITE) &&
	       elf_compress(scn, 0, 0) >= 0;
}

/* Read a section that may be compressed */
static Elf_Data *section_data(Elf_Scn *scn, const GElf_Shdr *shdr)
{
	GElf_Chdr chdr;

	if (shdr->sh_type == SHT_NOBITS)
		return NULL;
	if (shdr->sh_flags & SHF_COMPRESSED &&
	    (!gelf_getchdr(scn, &chdr) || chdr.ch_size > SECTION_MAX ||
	     !decompress(scn)))
		return NULL;
	return elf_rawdata(scn, NULL);
}

static Elf_Scn *find_section(const struct elf_file *file, const char *name,
			     GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return NULL;
	while ((scn = elf_nextscn(file->elf, scn))) {
		const char *this;

		if (!gelf_getshdr(scn, shdr))
			continue;
		this = elf_strptr(file->elf, names, shdr->sh_name);
		if (this && !strcmp(this, name))
			return scn;
	}
	return NULL;
}

/**
 * elf_file_section - find a section by its name
 * @file: the file
 * @name: the name
 * @addr: set to its address
 * @r: set to its bytes
 *
 * Return: false if there is none, or it has no bytes.
 */
bool elf_file_section(const struct elf_file *file, const char *name, __u64 *addr,
		      struct reader *r)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(file, name, &shdr);
	Elf_Data *data = scn ? section_data(scn, &shdr) : NULL;

	if (!data || !data->d_buf)
		return false;
	*addr = shdr.sh_addr;
	*r = (struct reader){
		.pos = data->d_buf,
		.end = (__u8 *)data->d_buf + data->d_size,
	};
	return true;
}

/**
 * elf_file_text_origin - find where the file begins, by its text
 * @file: the file
 * @origin: set to the address that its first byte would have, were all of it mapped as its
 *	text is
 *
 * Return: false if there is no text.
 */
bool elf_file_text_origin(const struct elf_file *file, __u64 *origin)
{
	size_t i, nr;
	GElf_Phdr phdr;

	if (elf_getphdrnum(file->elf, &nr))
		return false;
	for (i = 0; i < nr && gelf_getphdr(file->elf, i, &phdr); i++) {
		if (phdr.p_type == PT_LOAD && phdr.p_flags & PF_X) {
			*origin = phdr.p_vaddr - phdr.p_offset;
			return true;
		}
	}
	return false;
}

/* The bytes at an address, as far as the file has them */
static Elf_Data *data_at(const struct elf_file *file, __u64 addr)
{
	size_t i, nr;
	GElf_Phdr phdr;
	__u64 skip;

	if (elf_getphdrnum(file->elf, &nr))
		return NULL;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(file->elf, i, &phdr))
			return NULL;
		skip = addr - phdr.p_vaddr;
		if (phdr.p_type == PT_LOAD && skip < phdr.p_filesz &&
		    phdr.p_filesz - skip <= SECTION_MAX)
			return elf_getdata_rawchunk(file->elf,
						    phdr.p_offset + skip,
						    phdr.p_filesz - skip,
						    ELF_T_BYTE);
	}
	return NULL;
}

/* Without sections, .eh_frame_hdr locates .eh_frame, but not its end */
static void find_by_header(struct elf_file *file, const GElf_Phdr *phdr)
{
	struct cfi_section hdr = {
		.data = data_at(file, phdr->p_vaddr),
		.addr = phdr->p_vaddr,
	};
	struct reader r;
	__u64 addr;
	__u8 version, encoding;

	if (!hdr.data || !hdr.data->d_buf)
		return;
	r = (struct reader){
		.pos = hdr.data->d_buf,
		.end = (__u8 *)hdr.data->d_buf + hdr.data->d_size,
	};
	version = read_u8(&r);
	encoding = read_u8(&r);
	read_uint(&r, 2);
	addr = cfi_read_pointer(&r, encoding, &hdr);
	if (version == 1 && !r.bad)
		add_cfi(file, data_at(file, addr), addr, true);
}

static void find_eh_frame(struct elf_file *file)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(file, ".eh_frame", &shdr);
	size_t i, nr;
	GElf_Phdr phdr;

	if (scn)
		add_cfi(file, section_data(scn, &shdr), shdr.sh_addr, true);
	if (elf_getphdrnum(file->elf, &nr))
		return;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(file->elf, i, &phdr) ||
		    phdr.p_type != PT_GNU_EH_FRAME)
			continue;
		file->hdr_bytes = phdr.p_filesz;
		/* Not in a file of debug information, which has no such bytes */
		if (!scn)
			find_by_header(file, &phdr);
		return;
	}
}

static void find_debug_frame(struct elf_file *file)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(file, ".debug_frame", &shdr);

	if (scn)
		add_cfi(file, section_data(scn, &shdr), 0, false);
}

/* Given a descriptor, libelf would make system calls that the sandbox does not allow */
static bool map_file(struct elf_file *file, int fd)
{
	const off_t size = lseek(fd, 0, SEEK_END);
	void *bytes = size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;

	if (bytes == MAP_FAILED)
		return false;
	file->bytes = bytes;
	file->size = size;
	file->elf = elf_memory(bytes, size);
	return file->elf;
}

static bool is_in_file(const struct elf_file *file, __u64 offset, __u64 nr, __u64 size)
{
	return offset <= file->size && nr * size <= file->size - offset;
}

/*
 * Has the file lost its end?  libelf then reports no sections.  Without program headers,
 * nothing is known about the file.  A file without section headers is complete if its CFI was
 * found, because these headers are not loaded into memory.
 */
static bool is_cut_short(const struct elf_file *file, const GElf_Ehdr *ehdr)
{
	if (!is_in_file(file, ehdr->e_phoff, ehdr->e_phnum, ehdr->e_phentsize))
		return true;
	return !file->nr_cfi && ehdr->e_shoff &&
	       !is_in_file(file, ehdr->e_shoff, ehdr->e_shnum ?: 1, ehdr->e_shentsize);
}

/**
 * elf_file_open - find what the converter needs
 * @file: filled in; to be closed also after an error
 * @fd: a descriptor to map the file from
 *
 * Return: 0; -ENOEXEC it is no ELF file, or a broken one; -ENODATA it is cut short;
 * -EOPNOTSUPP it is of an architecture or a type that is not converted; -ENOMEM.
 */
int elf_file_open(struct elf_file *file, int fd)
{
	GElf_Ehdr ehdr;
	int ret;

	memset(file, 0, sizeof(*file));
	elf_version(EV_CURRENT);
	if (!map_file(file, fd) || elf_kind(file->elf) != ELF_K_ELF ||
	    !gelf_getehdr(file->elf, &ehdr))
		return -ENOEXEC;
	file->ident = (const unsigned char *)elf_getident(file->elf, NULL);
	file->entry = ehdr.e_entry;
	ret = find_machine(file, &ehdr);
	if (!ret)
		ret = find_text(file);
	if (ret)
		return ret == -ENOEXEC && is_cut_short(file, &ehdr) ? -ENODATA : ret;
	find_eh_frame(file);
	find_debug_frame(file);
	return is_cut_short(file, &ehdr) ? -ENODATA : 0;
}

void elf_file_close(struct elf_file *file)
{
	free(file->text);
	elf_end(file->elf);
	if (file->bytes)
		munmap(file->bytes, file->size);
}
