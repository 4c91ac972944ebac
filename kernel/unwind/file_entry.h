/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The entries of files: file.c keeps them, file_service.c changes them, too.
 */
#ifndef _KERNEL_UNWIND_FILE_ENTRY_H
#define _KERNEL_UNWIND_FILE_ENTRY_H

#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "file.h"
#include "sframe_table.h"

/**
 * struct unwind_file - what is known about the table of a file, or of a part of it
 * @node: in the hash of all files, by @seq
 * @seq: number of the file's inode
 * @part: the part; all 0 if the entry is for the file
 * @state: one of &enum unwind_file_state
 * @kind: whether the file can have a table
 * @provided: the contents come from the table service
 * @used: the entry was used since the clock's hand passed
 * @too_large: size of its table in kilobytes, if that is more than the limit; else 0
 * @table: the table, if the state is UNWIND_FILE_READY
 * @version: of the file, as it was when the table was loaded
 * @size: of the file, likewise
 * @retry: when to try again, in jiffies: if it failed, is ineligible, or was asked for
 * @clock: in the list of all entries
 * @lru: in the list of the entries of its cgroup
 * @id: names the entry
 * @dev: the file's device, to be listed
 * @ino: the inode's number there, likewise
 * @rcu: frees it
 *
 * The fields that a lookup reads come first.
 */
struct unwind_file {
	struct hlist_node	node;
	u64			seq;
	struct unwind_part	part;
	u8			state;
	u8			kind;
	bool			provided;
	bool			used;
	u32			too_large;
	struct sframe_table	*table;
	u64			version;
	loff_t			size;
	unsigned long		retry;
	struct list_head	clock;
	struct list_head	lru;
	u64			id;
	dev_t			dev;
	u64			ino;
	struct rcu_head		rcu;
};

#define UNWIND_FILE_HASH_BITS	12

extern DECLARE_HASHTABLE(unwind_files, UNWIND_FILE_HASH_BITS);
/* Protects all changes of entries */
extern spinlock_t unwind_files_lock;

/**
 * unwind_entry_bytes - how much memory does an entry take, with its table?
 * @file: the entry
 *
 * Return: its size in bytes.
 */
static inline unsigned long unwind_entry_bytes(const struct unwind_file *file)
{
	return sizeof(*file) + (file->table ? file->table->bytes : 0);
}

struct unwind_file *unwind_entry_find(u64 seq, const struct unwind_part *part);
bool unwind_entry_is_same(const struct unwind_file *file, const struct inode *inode);
bool unwind_entry_is_valid(const struct unwind_file *file, enum unwind_file_state state,
			   const struct inode *inode);
bool unwind_file_is_settled(const struct inode *inode);
bool unwind_table_is_too_large(const struct sframe_table *table);
struct unwind_file *unwind_entry_alloc(struct inode *inode, enum unwind_file_kind kind,
				       const struct unwind_part *part);
struct unwind_file *unwind_entry_insert(struct unwind_file *file);
void unwind_entry_remove(struct unwind_file *file);
void unwind_entry_set_state(struct unwind_file *file, enum unwind_file_state state,
			    unsigned long retry_after);
void unwind_entries_keep_limit(void);
void unwind_entries_changed(void);

#endif /* _KERNEL_UNWIND_FILE_ENTRY_H */
