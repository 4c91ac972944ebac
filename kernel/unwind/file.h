/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables of files: where they are kept (file.c) and how they are loaded (load.c).
 */
#ifndef _KERNEL_UNWIND_FILE_H
#define _KERNEL_UNWIND_FILE_H

#include <linux/fs.h>
#include <linux/types.h>

#include "sframe_table.h"

/**
 * enum unwind_file_state - what is known about the table of a file
 * @UNWIND_FILE_LOADING: it is being loaded
 * @UNWIND_FILE_FAILED: it could not be loaded, which may be different after a while
 * @UNWIND_FILE_NONE: the file has no table
 * @UNWIND_FILE_READY: it has
 */
enum unwind_file_state {
	UNWIND_FILE_LOADING,
	UNWIND_FILE_FAILED,
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

struct unwind_file;

extern const struct sframe_table *unwind_vdso_table;

int unwind_file_find(const struct inode *inode, const struct sframe_table **table,
		     bool *pending);
struct unwind_file *unwind_file_claim(struct inode *inode, enum unwind_file_kind kind);
bool unwind_file_finish(struct unwind_file *file, struct inode *inode,
			struct sframe_table *table);
int unwind_file_load(unsigned long addr);
u32 unwind_file_generation(void);

#endif /* _KERNEL_UNWIND_FILE_H */
