// SPDX-License-Identifier: GPL-2.0
/*
 * How the table service (device.c) changes the entries of files (file.c): the kernel asks it for
 * tables, and it provides, withdraws and lists them.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/kdev_t.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <uapi/linux/unwind.h>

#include "file.h"
#include "file_entry.h"
#include "request.h"

/* May the service's answer replace @old?  @id is 0 for an answer without a request. */
static int check_answer(const struct unwind_file *old, const struct inode *inode, u64 id)
{
	lockdep_assert_held(&unwind_files_lock);
	if (id) {
		if (!old || old->id != id || old->state != UNWIND_FILE_ASKED ||
		    !unwind_entry_is_same(old, inode))
			return -ESTALE;
	} else if (old && unwind_entry_is_valid(old, old->state, inode)) {
		if (old->state == UNWIND_FILE_READY)
			return -EEXIST;
		if (old->state == UNWIND_FILE_LOADING)
			return -EBUSY;
	}
	return 0;
}

/**
 * unwind_file_provide - give a file a table, or none, for the table service
 * @inode: the file's
 * @kind: as for unwind_file_claim(); not ineligible
 * @id: of the request; or 0, and set to the entry's
 * @table: belongs to the entry on success; NULL if there is none
 *
 * If the table is too large, the file is not asked for again until the limit is raised, or
 * another service starts.
 *
 * Context: task; may sleep.
 * Return: 0; -ESTALE this was not asked, or the file has changed since; -EEXIST it has a
 * table; -EBUSY that is being loaded; -ETXTBSY the file is open for writing, or was changed
 * just now; -ENOSPC the table is larger than all tables may be; -ENOMEM.
 */
int unwind_file_provide(struct inode *inode, enum unwind_file_kind kind, u64 *id,
			struct sframe_table *table)
{
	enum unwind_file_state state = table ? UNWIND_FILE_READY : UNWIND_FILE_NONE;
	struct unwind_file *file __free(kfree) = NULL, *old;
	int ret;

	if (kind != UNWIND_FILE_SEALED && !unwind_file_is_settled(inode))
		return -ETXTBSY;
	file = unwind_entry_alloc(inode, kind, NULL);
	if (!file)
		return -ENOMEM;

	guard(spinlock)(&unwind_files_lock);
	old = unwind_entry_find(file->seq, NULL);
	ret = check_answer(old, inode, *id);
	if (ret)
		return ret;
	if (old)
		unwind_entry_remove(old);
	file->id = *id;
	file->provided = true;
	if (table && unwind_table_is_too_large(table)) {
		state = UNWIND_FILE_FAILED;
		file->too_large = table->bytes / 1024;
	} else {
		file->table = table;
	}
	old = unwind_entry_insert(no_free_ptr(file));
	*id = old->id;
	unwind_entry_set_state(old, state, 0);
	unwind_entries_keep_limit();
	return state == UNWIND_FILE_FAILED ? -ENOSPC : 0;
}

/* Remove entries, bucket by bucket, and return their number */
static unsigned long remove_all(bool (*which)(const struct unwind_file *file, u64 id),
				u64 id)
{
	struct unwind_file *file;
	struct hlist_node *next;
	unsigned long nr = 0;
	unsigned int i;

	for (i = 0; i < HASH_SIZE(unwind_files); i++) {
		scoped_guard(spinlock, &unwind_files_lock) {
			hlist_for_each_entry_safe(file, next, &unwind_files[i], node) {
				if (!which(file, id))
					continue;
				unwind_entry_remove(file);
				nr++;
			}
		}
		cond_resched();
	}
	scoped_guard(spinlock, &unwind_files_lock)
		unwind_entries_changed();
	return nr;
}

static bool is_provided_as(const struct unwind_file *file, u64 id)
{
	return file->provided && file->table && file->id == id;
}

/**
 * unwind_file_withdraw - remove a provided table
 * @id: id of its entry
 *
 * Context: task; may sleep.
 * Return: 0; -ENOENT no provided table has this id.
 */
int unwind_file_withdraw(u64 id)
{
	return remove_all(is_provided_as, id) ? 0 : -ENOENT;
}

/* A file of more bytes per entry is hardly described */
#define SPARSE		2048

/**
 * unwind_table_is_sparse - does a file's own table describe next to nothing of it?
 * @table: the table
 * @size: of the file, in bytes
 *
 * An object that was built without tables can have the ones of crt1.o, or of a language's
 * library, which it was linked with.
 *
 * Context: any.
 * Return: whether it does.
 */
bool unwind_table_is_sparse(const struct sframe_table *table, loff_t size)
{
	return table->nr < size / SPARSE;
}

static bool is_missing(const struct unwind_file *file, u64 unused)
{
	if (file->state == UNWIND_FILE_READY)
		return !file->provided && !file->part.size &&
		       unwind_table_is_sparse(file->table, file->size);
	return file->state == UNWIND_FILE_NONE || file->state == UNWIND_FILE_ASKED;
}

/**
 * unwind_file_forget_missing - forget which files have no table, or next to none
 *
 * Context: task; may sleep.
 */
void unwind_file_forget_missing(void)
{
	remove_all(is_missing, 0);
}

static bool is_of_service(const struct unwind_file *file, u64 unused)
{
	return file->provided || file->state == UNWIND_FILE_ASKED;
}

/**
 * unwind_file_forget_provided - forget all answers of the table service, and requests to it
 *
 * Context: task; may sleep.
 */
void unwind_file_forget_provided(void)
{
	remove_all(is_of_service, 0);
}

static void describe(const struct unwind_file *file, struct unwind_table_info *info)
{
	*info = (struct unwind_table_info){
		.id = file->id,
		.ino = file->ino,
		.dev_major = MAJOR(file->dev),
		.dev_minor = MINOR(file->dev),
		.bytes = unwind_entry_bytes(file),
		.entries = file->table->nr,
		.flags = (file->provided ? UNWIND_TABLE_PROVIDED : 0) |
			 (READ_ONCE(file->used) ? UNWIND_TABLE_USED : 0) |
			 (file->part.size ? UNWIND_TABLE_PART : 0),
	};
}

/* Describe the tables of a list, and return their number */
static u32 list_bucket(unsigned int i, struct unwind_table_info *infos, u32 room)
{
	const struct unwind_file *file;
	u32 nr = 0;

	guard(rcu)();
	hlist_for_each_entry_rcu(file, &unwind_files[i], node) {
		/* Pairs with unwind_entry_set_state(), as in unwind_file_find() */
		if (smp_load_acquire(&file->state) != UNWIND_FILE_READY)
			continue;
		if (nr < room)
			describe(file, &infos[nr]);
		nr++;
	}
	return nr;
}

/**
 * unwind_file_list - describe tables
 * @infos: set
 * @room: number of elements in @infos
 * @bucket: where to begin, 0 at first; set to where to continue, 0 at the end
 *
 * A table that is there all the time is described once.
 *
 * Context: task; may sleep.
 * Return: number of described tables; -ENOSPC there is too little room to continue.
 */
int unwind_file_list(struct unwind_table_info *infos, u32 room, u32 *bucket)
{
	u32 nr = 0, more, i;

	for (i = *bucket; i < HASH_SIZE(unwind_files); i++) {
		more = list_bucket(i, infos + nr, room - nr);
		if (more > room - nr)
			break;
		nr += more;
		cond_resched();
	}
	if (!nr && i < HASH_SIZE(unwind_files))
		return -ENOSPC;
	*bucket = i < HASH_SIZE(unwind_files) ? i : 0;
	return nr;
}
