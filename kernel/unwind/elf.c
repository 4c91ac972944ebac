// SPDX-License-Identifier: GPL-2.0
/*
 * From a mapping of an ELF file's text to the file's SFrame table.
 *
 * The program headers say which part of the file is mapped where (PT_LOAD) and
 * where the table is (PT_GNU_SFRAME).  The mapping at hand fixes the load bias:
 * the difference between an address in the process and the one in the file.
 *
 * The file belongs to the process and may lie.  All arithmetic on its values is
 * modulo 2^64; the caller (found.c) checks that the result is a mapping of the same file
 * at the same offset before it believes it.
 */

#include <linux/cleanup.h>
#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "tables.h"

/* binutils; elf.h does not have it yet */
#define PT_GNU_SFRAME		(PT_LOOS + 0x474e554)

/* No linker writes nearly as many; what lies beyond is not looked at */
#define UNWIND_MAX_PHDRS	256

/*
 * Devices may be mapped as text too; __kernel_read() would log that it cannot
 * read some of them.
 */
static bool file_readable(const struct file *file)
{
	return S_ISREG(file_inode(file)->i_mode) && file->f_op->read_iter &&
	       !file->f_op->read;
}

/* Read from the file, or, for the vDSO which has none, from where it is mapped */
static int read_image(const struct unwind_mapping *map, void *buf, size_t size,
		      u64 offset)
{
	loff_t pos = offset;
	ssize_t ret;

	if (!map->file) {
		if (offset > map->end - map->start ||
		    size > map->end - map->start - offset)
			return -ENOEXEC;
		return copy_from_user(buf, (void __user *)(map->start + offset),
				      size) ? -EFAULT : 0;
	}

	if (!file_readable(map->file) || pos < 0 ||
	    pos > LLONG_MAX - (loff_t)size)
		return -ENOEXEC;
	/*
	 * Without the permission hooks of kernel_read(): the process mapped the
	 * file, and whoever decides on such hooks must not be able to make it
	 * wait for a read that it did not ask for.
	 */
	ret = __kernel_read(map->file, buf, size, &pos);
	if (ret < 0)
		return ret;
	return ret == size ? 0 : -ENOEXEC;
}

static bool header_valid(const struct elf64_hdr *ehdr)
{
	return !memcmp(ehdr->e_ident, ELFMAG, SELFMAG) &&
	       ehdr->e_ident[EI_CLASS] == ELFCLASS64 &&
	       ehdr->e_ident[EI_DATA] == ELF_DATA &&
	       elf_check_arch(ehdr) &&
	       ehdr->e_phentsize == sizeof(struct elf64_phdr) &&
	       ehdr->e_phnum && ehdr->e_phnum <= UNWIND_MAX_PHDRS;
}

/* Does this segment hold the first page of the mapping? */
static bool segment_holds(const struct elf64_phdr *phdr,
			  const struct unwind_mapping *map)
{
	u64 first = phdr->p_offset & PAGE_MASK;

	return phdr->p_type == PT_LOAD && phdr->p_flags & PF_X &&
	       map->offset >= first &&
	       map->offset - first < phdr->p_filesz + (phdr->p_offset - first);
}

/**
 * unwind_elf_find_table - where is the SFrame table of a mapped file?
 * @map: an executable mapping of the current address space
 * @table: filled in on success; unchecked, as the file says
 *
 * Context: task; may sleep and may read the file.
 * Return: 0; -ENOENT the file has no table; -ENOEXEC it is not an ELF file of
 * this architecture, or makes no sense; another error when it could not be read.
 */
int unwind_elf_find_table(const struct unwind_mapping *map,
			  struct unwind_elf_table *table)
{
	const struct elf64_phdr *text = NULL, *sframe = NULL;
	struct elf64_phdr *phdrs __free(kfree) = NULL;
	struct elf64_hdr ehdr;
	unsigned int i;
	u64 bias;
	int ret;

	ret = read_image(map, &ehdr, sizeof(ehdr), 0);
	if (ret)
		return ret;
	/* 32-bit programs have no SFrame tables; nothing is wrong with them */
	if (!memcmp(ehdr.e_ident, ELFMAG, SELFMAG) &&
	    ehdr.e_ident[EI_CLASS] == ELFCLASS32)
		return -ENOENT;
	if (!header_valid(&ehdr))
		return -ENOEXEC;

	phdrs = kmalloc_array(ehdr.e_phnum, sizeof(*phdrs),
			      GFP_KERNEL | __GFP_NOWARN);
	if (!phdrs)
		return -ENOMEM;
	ret = read_image(map, phdrs, ehdr.e_phnum * sizeof(*phdrs), ehdr.e_phoff);
	if (ret)
		return ret;

	for (i = 0; i < ehdr.e_phnum; i++) {
		if (!text && segment_holds(&phdrs[i], map))
			text = &phdrs[i];
		if (!sframe && phdrs[i].p_type == PT_GNU_SFRAME)
			sframe = &phdrs[i];
	}
	if (!sframe)
		return -ENOENT;
	if (!text)
		return -ENOEXEC;

	bias = map->start - (text->p_vaddr + (map->offset - text->p_offset));
	table->addr = bias + sframe->p_vaddr;
	table->size = sframe->p_memsz;
	table->offset = sframe->p_offset;
	return 0;
}
