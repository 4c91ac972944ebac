/* SPDX-License-Identifier: GPL-2.0 */
/* Which table describes an address (tables.c), and how one is found (found.c, elf.c). */
#ifndef _KERNEL_UNWIND_TABLES_H
#define _KERNEL_UNWIND_TABLES_H

#include <linux/errno.h>
#include <linux/types.h>
#include <linux/unwind_user_types.h>

#include "sframe.h"

struct mm_struct;
struct unwind_range;
struct unwind_rows;

/**
 * enum unwind_format - what kind of table describes a range of text
 * @UNWIND_TABLE_NONE: none; it was looked for, so it need not be again
 * @UNWIND_TABLE_SFRAME: an SFrame section
 */
enum unwind_format {
	UNWIND_TABLE_NONE,
	UNWIND_TABLE_SFRAME,
};

/**
 * struct unwind_table - what describes a range of text of an address space
 * @format: one of &enum unwind_format
 * @generation: of the rows that are kept, from before this was looked up: see
 *	rows.c; 0 where none may be kept of it
 * @from_file: the text was found to be that of a file, which is taken not to be
 *	written anew (see rows.c)
 * @text_start: first address of the range
 * @text_end: first address after it
 * @sframe: the table, for UNWIND_TABLE_SFRAME; for UNWIND_TABLE_NONE only its
 *	@start and @end, where a table should have been, if that is known
 */
struct unwind_table {
	enum unwind_format	format;
	u32			generation;
	bool			from_file;
	unsigned long		text_start;
	unsigned long		text_end;
	struct sframe_section	sframe;
};

/**
 * struct unwind_patience - when to ask again for what is missing (in_place.c)
 * @left: samples that shall not ask
 * @all: how many there were to be when that began
 *
 * Changed in any context without precautions: where an interrupt comes between read
 * and write, a sample asks too late or too often.
 */
struct unwind_patience {
	u16	left;
	u16	all;
};

#ifdef CONFIG_UNWIND_USER_SFRAME
int unwind_table_lookup(unsigned long ip, enum unwind_user_access access,
			struct unwind_table *table);
struct unwind_patience *unwind_table_patience(struct mm_struct *mm);
struct unwind_rows *unwind_table_rows(struct mm_struct *mm);
#else
static inline int unwind_table_lookup(unsigned long ip,
				      enum unwind_user_access access,
				      struct unwind_table *table)
{
	*table = (struct unwind_table){};
	return -ENOENT;
}

static inline struct unwind_rows *unwind_table_rows(struct mm_struct *mm)
{
	return NULL;
}

#endif

/**
 * unwind_table_covers - does what was last looked up also describe this address?
 * @table: result of unwind_table_lookup(), or zeroed
 * @ip: address
 *
 * Return: whether it does.
 */
static inline bool unwind_table_covers(const struct unwind_table *table,
				       unsigned long ip)
{
	return ip >= table->text_start && ip < table->text_end;
}

/**
 * struct unwind_mapping - a mapping of text as it was seen under the mmap lock
 * @start: first address
 * @end: first address after it
 * @offset: offset of @start in @file, in bytes
 * @file: the mapped file, with a reference; NULL for the vDSO
 */
struct unwind_mapping {
	unsigned long	start;
	unsigned long	end;
	u64		offset;
	struct file	*file;
};

/**
 * struct unwind_elf_table - where an ELF file says that its table is
 * @addr: address in the current address space
 * @size: bytes
 * @offset: offset in the file
 */
struct unwind_elf_table {
	unsigned long	addr;
	unsigned long	size;
	u64		offset;
};

int unwind_table_find(struct mm_struct *mm, unsigned long ip,
		      struct unwind_table *table);
int unwind_tables_remember(struct mm_struct *mm, struct unwind_range *range);
int unwind_tables_register(struct mm_struct *mm, struct unwind_range *range,
			   unsigned int max);
int unwind_tables_unregister(struct mm_struct *mm, u64 key);
int unwind_elf_find_table(const struct unwind_mapping *map,
			  struct unwind_elf_table *table);

#endif /* _KERNEL_UNWIND_TABLES_H */
