// SPDX-License-Identifier: GPL-2.0
/*
 * Register the tables of all objects that the dynamic loader maps, for a C library that
 * does not do so itself:
 *
 *	LD_AUDIT=/path/to/unwind_audit.so program
 *
 * The kernel finds tables of mapped files without help. This library is for systems where
 * the kernel must not read files, and for files that it cannot read.
 *
 * The loader calls la_objopen() for each object after it has mapped it, and la_objclose()
 * before it unmaps it. The address of the object's link map is the key of the table: each
 * object has one as long as it is mapped.
 *
 * Failures are invisible to the program. When the kernel refuses a table, its tracepoint
 * unwind:unwind_table_invalid reports that.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/unwind.h>

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME	0x6474e554
#endif

/* Functions that the loader looks up by name */
#define __public	__attribute__((visibility("default")))

struct headers {
	const Elf64_Phdr	*phdr;
	unsigned int		nr;
};

/*
 * Can this memory be read? The kernel reads the signal set (of 8 bytes) before it notices
 * that the operation is unknown.
 */
static bool readable(uintptr_t addr)
{
	return syscall(SYS_rt_sigprocmask, -1, addr, NULL, 8) &&
	       errno != EFAULT;
}

/* The program headers of an object whose file begins where it is mapped */
static bool headers_at(uintptr_t start, struct headers *headers)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)start;

	if (!readable(start) || memcmp(ehdr->e_ident, ELFMAG, SELFMAG) ||
	    ehdr->e_phentsize != sizeof(*headers->phdr) || !ehdr->e_phnum)
		return false;
	headers->phdr = (const Elf64_Phdr *)(start + ehdr->e_phoff);
	headers->nr = ehdr->e_phnum;
	return readable((uintptr_t)headers->phdr) &&
	       readable((uintptr_t)(headers->phdr + headers->nr) - 8);
}

/*
 * A program that is linked to a fixed address does not begin at its load bias. The kernel
 * passes the address of its program headers.
 */
static bool headers_of_program(uintptr_t bias, struct headers *headers)
{
	unsigned int i;

	headers->phdr = (const Elf64_Phdr *)getauxval(AT_PHDR);
	headers->nr = getauxval(AT_PHNUM);
	for (i = 0; i < headers->nr; i++)
		if (headers->phdr[i].p_type == PT_PHDR)
			return (uintptr_t)headers->phdr ==
			       bias + headers->phdr[i].p_vaddr;
	return false;
}

/* Are these the headers of that object? Another object may lie at its load bias. */
static bool headers_are_of(const struct headers *headers, const struct link_map *map)
{
	unsigned int i;

	for (i = 0; i < headers->nr; i++)
		if (headers->phdr[i].p_type == PT_DYNAMIC)
			return map->l_addr + headers->phdr[i].p_vaddr ==
			       (uintptr_t)map->l_ld;
	return false;
}

/*
 * Find where the beginning of the object's file is mapped. A library that is linked to an
 * address other than 0 does not begin at its load bias either. Its dynamic section is in
 * one of its mappings; the last earlier mapping of the file's first page is the
 * beginning. 0: not found.
 */
static uintptr_t file_start(const struct link_map *map)
{
	unsigned long start, end, offset, inode, first_inode = 0, first = 0;
	unsigned int major, minor, first_dev = 0, dev;
	uintptr_t found = 0;
	char line[512];
	FILE *maps;

	maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return 0;
	while (!found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx %x:%x %lu", &start, &end, &offset,
			   &major, &minor, &inode) != 6)
			continue;
		dev = major << 20 | minor;
		if (inode && !offset) {
			first = start;
			first_inode = inode;
			first_dev = dev;
		}
		if ((uintptr_t)map->l_ld < start || (uintptr_t)map->l_ld >= end)
			continue;
		if (inode != first_inode || dev != first_dev)
			break;
		found = first;
	}
	fclose(maps);
	return found;
}

static bool find_headers(const struct link_map *map, struct headers *headers)
{
	if (headers_at(map->l_addr, headers) && headers_are_of(headers, map))
		return true;
	if (headers_of_program(map->l_addr, headers))
		return true;
	return headers_at(file_start(map), headers) && headers_are_of(headers, map);
}

static void add(const struct link_map *map, const Elf64_Phdr *sframe,
		const Elf64_Phdr *text)
{
	struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME,
		.key = (uintptr_t)map,
		.table_start = map->l_addr + sframe->p_vaddr,
		.table_size = sframe->p_memsz,
		.text_start = map->l_addr + text->p_vaddr,
		.text_size = text->p_memsz,
	};

	prctl(PR_UNWIND_TABLE, PR_UNWIND_TABLE_ADD, &attr, sizeof(attr), 0UL);
}

/* The object's one table describes each executable segment */
static void add_all(const struct link_map *map, const struct headers *headers)
{
	const Elf64_Phdr *phdr = headers->phdr, *sframe = NULL;
	unsigned int i;

	for (i = 0; i < headers->nr; i++)
		if (phdr[i].p_type == PT_GNU_SFRAME)
			sframe = &phdr[i];
	for (i = 0; sframe && i < headers->nr; i++)
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X)
			add(map, sframe, &phdr[i]);
}

/* The functions that the loader calls */

/* 0: do without this library */
__public unsigned int la_version(unsigned int version)
{
	if (prctl(PR_UNWIND_TABLE, PR_UNWIND_TABLE_VERSION, NULL, 0UL, 0UL) < 1)
		return 0;
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* 0: do not report calls from and to the object */
__public unsigned int la_objopen(struct link_map *map, Lmid_t lmid,
				 uintptr_t *cookie)
{
	struct headers headers;

	*cookie = (uintptr_t)map;
	if (find_headers(map, &headers))
		add_all(map, &headers);
	return 0;
}

__public unsigned int la_objclose(uintptr_t *cookie)
{
	struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME,
		.key = *cookie,
	};

	/* Most objects have no table: then there is none to unregister */
	prctl(PR_UNWIND_TABLE, PR_UNWIND_TABLE_DEL, &attr, sizeof(attr), 0UL);
	return 0;
}
