// SPDX-License-Identifier: GPL-2.0
/*
 * ELF files as tests need them, see code_file.h.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "code_file.h"
#include "image.h"

#if defined(__x86_64__)
#define CODE_MACHINE	EM_X86_64
#elif defined(__aarch64__)
#define CODE_MACHINE	EM_AARCH64
#endif

const struct code_file code_file_usual = {
	.nr_texts = 1,
	.text = { { PG(1), PG(1) } },
	.table = { PG(2), PG(2) },
	.frame = CODE_FRAME,
	.frame_table = CODE_FRAME,
};

/* The kernel's index has two bytes for each 128 of text */
const struct code_file code_file_wide = {
	.nr_texts = 2,
	.text = { { PG(1), PG(1) }, { PG(1) + CODE_FILE_WIDE * 64, PG(1) + CODE_FILE_WIDE * 64 } },
	.table = { PG(2), PG(2) },
	.frame = CODE_FRAME,
	.frame_table = CODE_FRAME,
};

static uint64_t fn_vaddr(const struct code_file *file, unsigned int text,
			 unsigned int i)
{
	return file->text[text].vaddr + i * CODE_STRIDE;
}

size_t code_file_table_size(const struct code_file *file)
{
	return code_table_size(file->nr_texts * CODE_FILE_FUNCTIONS);
}

static int write_at(int fd, const void *buf, size_t size, uint64_t offset)
{
	return pwrite(fd, buf, size, offset) == (ssize_t)size ? 0 : -1;
}

static int write_headers(const struct code_file *file, int fd)
{
	struct elf64_phdr phdr[CODE_FILE_TEXTS + 2] = {}, *next = phdr;
	struct elf64_hdr ehdr = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = CODE_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(ehdr),
		.e_ehsize = sizeof(ehdr),
		.e_phentsize = sizeof(*phdr),
	};
	char page[CODE_PAGE] = {};
	unsigned int i;

	for (i = 0; i < file->nr_texts; i++)
		*next++ = (struct elf64_phdr){
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			.p_offset = file->text[i].offset,
			.p_vaddr = file->text[i].vaddr,
			.p_filesz = CODE_PAGE, .p_memsz = CODE_PAGE,
			.p_align = CODE_PAGE,
		};
	*next++ = (struct elf64_phdr){
		.p_type = PT_LOAD, .p_flags = PF_R,
		.p_offset = file->table.offset, .p_vaddr = file->table.vaddr,
		.p_filesz = code_file_table_size(file),
		.p_memsz = code_file_table_size(file),
		.p_align = CODE_PAGE,
	};
	*next = next[-1];
	next->p_type = file->hidden ? PT_NULL : PT_GNU_SFRAME;
	next++;
	ehdr.e_phnum = next - phdr;
	/* All of the page, or it is read again before its contents are known */
	memcpy(page, &ehdr, sizeof(ehdr));
	memcpy(page + ehdr.e_phoff, phdr, ehdr.e_phnum * sizeof(*phdr));
	return write_at(fd, page, sizeof(page), 0);
}

static int write_text(const struct code_file *file, int fd, unsigned int text)
{
	char page[CODE_PAGE] = {};
	unsigned int i;

	for (i = 0; i < CODE_FILE_FUNCTIONS; i++)
		code_write(page + i * CODE_STRIDE, file->frame);
	return write_at(fd, page, sizeof(page), file->text[text].offset);
}

static int write_table(const struct code_file *file, int fd)
{
	uint64_t fn[CODE_FILE_TEXTS * CODE_FILE_FUNCTIONS];
	unsigned int i, nr = 0;
	char page[CODE_PAGE] = {};

	for (i = 0; i < file->nr_texts * CODE_FILE_FUNCTIONS; i++)
		fn[nr++] = fn_vaddr(file, i / CODE_FILE_FUNCTIONS,
				    i % CODE_FILE_FUNCTIONS);
	code_table_write(page, file->table.vaddr, fn, nr, file->frame_table);
	return write_at(fd, page, sizeof(page), file->table.offset);
}

int code_file_write(const struct code_file *file, int fd)
{
	unsigned int i;

	for (i = 0; i < file->nr_texts; i++)
		if (write_text(file, fd, i))
			return -1;
	return write_table(file, fd) || write_headers(file, fd) ? -1 : 0;
}

int code_file_unsealed(const struct code_file *file)
{
	int fd = memfd_create("code", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && code_file_write(file, fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

int code_file_memfd(const struct code_file *file)
{
	int fd = code_file_unsealed(file);

	if (fd >= 0 && file_seal(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int map_page(const struct code_image *image,
		    const struct code_segment *segment, int prot, int fd)
{
	return mmap(image->base + segment->vaddr, CODE_PAGE, prot,
		    MAP_PRIVATE | MAP_FIXED, fd, segment->offset) == MAP_FAILED ?
	       -1 : 0;
}

int code_image_map(struct code_image *image, const struct code_file *file,
		   int fd, void *where)
{
	unsigned int i;

	*image = (struct code_image){ .file = file };
	image->size = file->table.vaddr + CODE_PAGE;
	for (i = 0; i < file->nr_texts; i++)
		if (image->size < file->text[i].vaddr + CODE_PAGE)
			image->size = file->text[i].vaddr + CODE_PAGE;
	/* This replaces the mappings at @where, all at once */
	image->base = mmap(where, image->size, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			   (where ? MAP_FIXED : 0), -1, 0);
	if (image->base == MAP_FAILED) {
		image->size = 0;
		return -1;
	}
	for (i = 0; i < file->nr_texts; i++)
		if (map_page(image, &file->text[i], PROT_READ | PROT_EXEC, fd))
			return -1;
	return map_page(image, &file->table, PROT_READ, fd);
}

void code_image_unmap(struct code_image *image)
{
	if (image->size)
		munmap(image->base, image->size);
	image->size = 0;
}

chain_fn code_image_fn(const struct code_image *image, unsigned int text,
		       unsigned int i)
{
	return (chain_fn)(image->base + fn_vaddr(image->file, text, i));
}
