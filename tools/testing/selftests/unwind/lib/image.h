/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ELF files as bytes that a test may change, and as mappings that it makes.
 *
 * Neither the kernel's nor libc's loader maps a file whose program headers are nonsense,
 * but a process can map anything. So the segments are mapped here, by the headers that
 * the file had before the test changed it.
 */
#ifndef SELFTEST_UNWIND_IMAGE_H
#define SELFTEST_UNWIND_IMAGE_H

#include <linux/compiler.h>
#include <linux/elf.h>
#include <stddef.h>
#include <stdint.h>

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME	0x6474e554
#endif

/* The SFrame format, version 3 (see "The SFrame Format" in binutils), as far as tests need it. */
#define SFRAME_MAGIC		0xdee2
#define SFRAME_F_FDE_SORTED	0x1

struct sframe_header {
	uint16_t	magic;
	uint8_t		version;
	uint8_t		flags;
	uint8_t		abi_arch;
	int8_t		cfa_fixed_fp_offset;
	int8_t		cfa_fixed_ra_offset;
	uint8_t		auxhdr_len;
	uint32_t	num_fdes;
	uint32_t	num_fres;
	uint32_t	fre_len;
	uint32_t	fdeoff;
	uint32_t	freoff;
} __packed;

struct sframe_fde {
	int64_t		start_offset;
	uint32_t	size;
	uint32_t	fre_off;
} __packed;

struct sframe_attr {
	uint16_t	num_fres;
	uint8_t		info;
	uint8_t		info2;
	uint8_t		rep_size;
} __packed;

/* A file's bytes; @orig has the bytes before a test changed them */
struct elf {
	unsigned char	*data;
	unsigned char	*orig;
	size_t		size;
};

/* 0, or -1 with errno; @name is a file in the directory of the test program */
int elf_read(struct elf *elf, const char *name);
void elf_free(struct elf *elf);
void elf_restore(struct elf *elf);

struct elf64_hdr *elf_ehdr(const struct elf *elf);
/* The first program header of a type, with all of @flags, or NULL */
struct elf64_phdr *elf_phdr(const struct elf *elf, uint32_t type, uint32_t flags);

/* Parts of the table; the fields that locate them must be unchanged */
struct sframe_header *elf_sframe(const struct elf *elf);
struct sframe_fde *elf_fde(const struct elf *elf, unsigned int i);
struct sframe_attr *elf_fde_attr(const struct elf *elf, unsigned int i);

/* Nothing can change the contents of a memfd any more: only then the kernel loads its table */
int file_seal(int fd);
/*
 * Wait until a later change of a file cannot have the same time as the last one: only then
 * the kernel uses its table, unless the file system counts changes.
 */
int file_settle(int fd);
/* Write the bytes to an unnamed file, which is sealed */
int elf_memfd(const struct elf *elf);
/* Write the bytes to a program file, which is settled; @path receives its name */
int elf_program(const struct elf *elf, char *path, size_t size);

/*
 * A mapped image. @text is the address of its executable segment, @entry the address of
 * its entry point.
 */
struct image {
	char		*base;
	size_t		size;
	uintptr_t	text;
	uintptr_t	text_end;
	void		*entry;
};

/* Map the segments of @fd by the original headers of @elf, at @where if not NULL */
int image_map(struct image *image, const struct elf *elf, int fd, void *where);
void image_unmap(struct image *image);
/* Map an unchanged file; return its entry point, or NULL */
void *image_load(struct image *image, const char *name);

#endif /* SELFTEST_UNWIND_IMAGE_H */
