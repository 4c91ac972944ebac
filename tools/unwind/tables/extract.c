// SPDX-License-Identifier: GPL-2.0
/*
 * Copy what the converter reads of an ELF file.  Bytes keep their offsets, so the copy is an
 * ELF file, too; all else is a hole.
 *
 * The file is read, not mapped: a page fault in a hole of a file in memory would allocate a page,
 * which stays as long as the file, and which the service pays for.  Headers and names are looked
 * at in the copy.  Sections may overlap them: a file that changes meanwhile may change these, too,
 * and so end this process, as below.
 *
 * The cache (cache.c) converts the copy, and names the result by the copy's digest.  So the
 * name covers all that the result depends on.  If the converter is to read another section,
 * and the list below lacks it, then results are worse, but belong to their names;
 * tests/cache_test.c compares them with a conversion of the whole file.
 *
 * PHP's chain and Go's functions depend on instructions; and without section headers, only
 * .eh_frame itself says where it ends.  Such files are copied as a whole.
 */
#include <elf.h>
#include <linux/types.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandbox.h"

/* Tables of what is larger are not kept in the cache */
#define COPY_MAX	(256ULL << 20)
#define PIECE		65536

static const char * const names[] = {
	".eh_frame", ".eh_frame_hdr", ".debug_frame", ".plt", ".iplt", ".PyRuntime",
	".init", ".fini",
};

/* Go's table, which is read together with the code */
static const char * const go_names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };

/* The function of PHP that php.c looks for */
static const char php[] = "execute_ex";

/**
 * struct image - an ELF file
 * @bytes: the copy, mapped
 * @size: of the file
 * @left: how many bytes may still be copied
 * @ehdr: its header
 * @phdrs: program headers
 * @shdrs: section headers
 * @has_cfi: there is a section .eh_frame
 * @has_php: it has PHP
 * @has_go: it has functions of Go
 */
struct image {
	const __u8		*bytes;
	__u64			size;
	__u64			left;
	const Elf64_Ehdr	*ehdr;
	const Elf64_Phdr	*phdrs;
	const Elf64_Shdr	*shdrs;
	bool			has_cfi;
	bool			has_php;
	bool			has_go;
};

/* NULL if the file does not have these bytes.  They have to be copied before they are used */
static const void *part(const struct image *image, __u64 offset, __u64 size)
{
	if (offset > image->size || size > image->size - offset)
		return NULL;
	return image->bytes + offset;
}

static bool copy(struct image *image, __u64 offset, __u64 size)
{
	static __u8 piece[PIECE];

	if (!part(image, offset, size) || size > image->left)
		return false;
	image->left -= size;
	while (size) {
		ssize_t ret = pread(SANDBOX_IN, piece, size < PIECE ? size : PIECE, offset);

		if (ret <= 0 || pwrite(SANDBOX_OUT, piece, ret, offset) != ret)
			return false;
		offset += ret;
		size -= ret;
	}
	return true;
}

static bool copy_section(struct image *image, const Elf64_Shdr *shdr)
{
	return shdr->sh_type == SHT_NOBITS || copy(image, shdr->sh_offset, shdr->sh_size);
}

static bool is_named(const struct image *image, const Elf64_Shdr *shdr, const char *name)
{
	const Elf64_Shdr *names = &image->shdrs[image->ehdr->e_shstrndx];
	const size_t size = strlen(name) + 1;

	return shdr->sh_name < names->sh_size && size <= names->sh_size - shdr->sh_name &&
	       !memcmp(image->bytes + names->sh_offset + shdr->sh_name, name, size);
}

static bool copy_symbols(struct image *image, const Elf64_Shdr *shdr)
{
	const Elf64_Shdr *strings = &image->shdrs[shdr->sh_link];

	if (shdr->sh_link >= image->ehdr->e_shnum || strings->sh_type == SHT_NOBITS ||
	    !copy_section(image, shdr) || !copy_section(image, strings))
		return false;
	image->has_php |= !!memmem(image->bytes + strings->sh_offset, strings->sh_size,
				   php, sizeof(php));
	return true;
}

static bool copy_sections(struct image *image)
{
	unsigned int i, j;

	if (!image->ehdr->e_shnum)
		return true;
	if (image->ehdr->e_shstrndx >= image->ehdr->e_shnum ||
	    image->shdrs[image->ehdr->e_shstrndx].sh_type == SHT_NOBITS ||
	    !copy_section(image, &image->shdrs[image->ehdr->e_shstrndx]))
		return false;
	for (i = 0; i < image->ehdr->e_shnum; i++) {
		const Elf64_Shdr *shdr = &image->shdrs[i];

		if (shdr->sh_type == SHT_DYNSYM && !copy_symbols(image, shdr))
			return false;
		image->has_cfi |= is_named(image, shdr, ".eh_frame");
		for (j = 0; j < sizeof(names) / sizeof(*names); j++) {
			if (is_named(image, shdr, names[j]) && !copy_section(image, shdr))
				return false;
		}
		for (j = 0; j < sizeof(go_names) / sizeof(*go_names); j++)
			image->has_go |= is_named(image, shdr, go_names[j]);
	}
	return true;
}

/* Is .eh_frame to be found by .eh_frame_hdr alone? */
static bool has_header_only(const struct image *image)
{
	unsigned int i;

	for (i = 0; !image->has_cfi && i < image->ehdr->e_phnum; i++) {
		if (image->phdrs[i].p_type == PT_GNU_EH_FRAME)
			return true;
	}
	return false;
}

/* Files with more headers than 16 bits can count, or unaligned ones, are not copied */
static bool copy_headers(struct image *image)
{
	const Elf64_Ehdr *ehdr = part(image, 0, sizeof(*ehdr));

	if (!copy(image, 0, sizeof(*ehdr)) || memcmp(ehdr->e_ident, ELFMAG, SELFMAG) ||
	    ehdr->e_ident[EI_CLASS] != ELFCLASS64 || ehdr->e_ident[EI_DATA] != ELFDATA2LSB ||
	    ehdr->e_phnum == PN_XNUM || ehdr->e_phentsize != sizeof(*image->phdrs) ||
	    (ehdr->e_shoff && (!ehdr->e_shnum || ehdr->e_shentsize != sizeof(*image->shdrs))) ||
	    (ehdr->e_phoff | ehdr->e_shoff) % __alignof__(*ehdr))
		return false;
	image->ehdr = ehdr;
	image->phdrs = part(image, ehdr->e_phoff, ehdr->e_phnum * sizeof(*image->phdrs));
	image->shdrs = part(image, ehdr->e_shoff, ehdr->e_shnum * sizeof(*image->shdrs));
	return copy(image, ehdr->e_phoff, ehdr->e_phnum * sizeof(*image->phdrs)) &&
	       copy(image, ehdr->e_shoff, ehdr->e_shnum * sizeof(*image->shdrs));
}

/**
 * unwind_extract - copy what the converter reads, from SANDBOX_IN to SANDBOX_OUT
 *
 * A file that changes meanwhile may end this process.
 *
 * Return: false if the file is none that can be copied.
 */
bool unwind_extract(void)
{
	struct image image = { .left = COPY_MAX };
	/* Some C libraries have no fstat() that does without paths, which are forbidden here */
	const off_t size = lseek(SANDBOX_IN, 0, SEEK_END);

	if (size <= 0)
		return false;
	image.size = size;
	image.bytes = mmap(NULL, image.size, PROT_READ, MAP_SHARED, SANDBOX_OUT, 0);
	if (image.bytes == MAP_FAILED || !copy_headers(&image) || !copy_sections(&image))
		return false;
	return !(image.has_php || image.has_go || has_header_only(&image)) ||
	       copy(&image, 0, image.size);
}
