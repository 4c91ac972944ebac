/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables of files: file.c keeps them, load.c loads them, and the table service changes
 * them by file_service.c.
 */
#ifndef _KERNEL_UNWIND_FILE_H
#define _KERNEL_UNWIND_FILE_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/types.h>

#include "sframe_table.h"

/**
 * enum unwind_file_state - what is known about the table of a file
 * @UNWIND_FILE_LOADING: it is being loaded
 * @UNWIND_FILE_FAILED: it could not be loaded, which may be different after a while
 * @UNWIND_FILE_ASKED: the file has none, and the table service was asked for one
 * @UNWIND_FILE_NONE: there is none
 * @UNWIND_FILE_READY: there is one
 */
enum unwind_file_state {
	UNWIND_FILE_LOADING,
	UNWIND_FILE_FAILED,
	UNWIND_FILE_ASKED,
	UNWIND_FILE_NONE,
	UNWIND_FILE_READY,
};

/**
 * enum unwind_file_kind - can a file have a table?
 * @UNWIND_FILE_PLAIN: it can; each change of it makes another version
 * @UNWIND_FILE_SEALED: it can, and cannot change any more, though it may be open for writing
 * @UNWIND_FILE_INELIGIBLE: it cannot
 */
enum unwind_file_kind {
	UNWIND_FILE_PLAIN,
	UNWIND_FILE_SEALED,
	UNWIND_FILE_INELIGIBLE,
};

/**
 * struct unwind_part - a section somewhere in a file, and the text that it describes
 * @offset: of the section, in the file
 * @size: of the section in bytes, not 0
 * @to_text: from the section in memory to the text in memory, in bytes
 * @text_size: of the text in bytes
 */
struct unwind_part {
	u64	offset;
	u64	size;
	u64	to_text;
	u64	text_size;
};

struct unwind_file;
struct unwind_request_item;
struct unwind_table_info;

extern const struct sframe_table *unwind_vdso_table;

int unwind_file_find(const struct inode *inode, const struct unwind_part *part,
		     const struct sframe_table **table);
struct unwind_file *unwind_file_claim(struct inode *inode, enum unwind_file_kind kind,
				      const struct unwind_part *part);
bool unwind_file_finish(struct unwind_file *file, struct inode *inode,
			struct sframe_table *table, struct unwind_request_item *request);
int unwind_file_provide(struct inode *inode, enum unwind_file_kind kind, u64 *id,
			struct sframe_table *table);
void unwind_file_free_table(struct sframe_table *table);
int unwind_file_withdraw(u64 id);
bool unwind_table_is_sparse(const struct sframe_table *table, loff_t size);
void unwind_file_forget_missing(void);
void unwind_file_forget_provided(void);
int unwind_file_list(struct unwind_table_info *infos, u32 room, u32 *bucket);
u32 unwind_file_generation(void);

int unwind_file_load(unsigned long addr);
bool unwind_file_names(struct file *file, u64 offset);
int unwind_file_load_part(struct file *file, const struct unwind_part *part);
void unwind_file_trace_found(const struct file *file, const struct inode *inode, u32 entries,
			     size_t bytes);
struct sframe_table *unwind_file_build(struct file *file, const void *section,
				       size_t size, u64 vaddr);
enum unwind_file_kind unwind_file_kind(struct file *file, const struct inode *inode);

#endif /* _KERNEL_UNWIND_FILE_H */
