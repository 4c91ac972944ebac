// SPDX-License-Identifier: GPL-2.0
/*
 * Registered sections that are parts of files.
 *
 * A C library registers the section of each object that it maps, and "unwind-tables run"
 * has sections in the files of a cache.  As long as the process has not written to that
 * memory, it is what the file is.  So all processes share the table, and it is kept as
 * other tables of files are (file.c), without a reference to the file.
 *
 *   text and section of one file, which names the section: the file's own table
 *   any other: the table of that part of the section's file, for text at that distance
 *
 * The table is made of the file, not of memory, which may be another one by then: a process
 * cannot spoil the table of others.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "file.h"
#include "mapping.h"
#include "memory.h"
#include "section.h"

/*
 * The file that a section is a part of, and which part; or NULL.  If the text is of the same
 * file, @origin is set to the address at which the file would start, for the text; else to 0.
 */
static struct file *section_file(struct mm_struct *mm, const struct unwind_mapping *section,
				 const struct unwind_mapping *text,
				 struct unwind_part *part, u64 *origin)
{
	MA_STATE(mas, &mm->mm_mt, section->start, section->start);
	const struct vm_area_struct *vma = mas_walk(&mas);
	struct file *file, *text_file;
	u64 offset;

	*origin = 0;
	if (!vma)
		return NULL;
	offset = section->start - READ_ONCE(vma->vm_start);
	file = READ_ONCE(vma->vm_file);
	/* With pages of its own, some of the memory was written to */
	if (!file || READ_ONCE(vma->anon_vma) ||
	    section->size > READ_ONCE(vma->vm_end) - section->start)
		return NULL;
	*part = (struct unwind_part){
		.offset = ((u64)READ_ONCE(vma->vm_pgoff) << PAGE_SHIFT) + offset,
		.size = section->size,
		.to_text = text->start - section->start,
		.text_size = text->size,
	};
	mas_set(&mas, text->start);
	vma = mas_walk(&mas);
	text_file = vma ? unwind_text_file(vma, origin) : NULL;
	if (!text_file || READ_ONCE(text_file->f_inode) != READ_ONCE(file->f_inode))
		*origin = 0;
	return file;
}

static int find_table(const struct inode *inode, const struct unwind_part *part, u64 origin,
		      struct unwind_mapping *map)
{
	enum unwind_file_state state;
	int ret;

	if (origin) {
		ret = unwind_file_find(inode, NULL, &map->table, &state);
		map->pending = state == UNWIND_FILE_LOADING;
		map->origin = origin;
		if (ret || map->pending)
			return ret;
		if (map->table && map->table->section == part->offset)
			goto found;
	}
	ret = unwind_file_find(inode, part, &map->table, &state);
	map->pending = state == UNWIND_FILE_LOADING;
	map->origin = map->start;
	if (ret || map->pending)
		return ret;
	if (!map->table)
		return -ENODATA;
found:
	map->origin += map->table->start;
	return 0;
}

/**
 * unwind_section_find - find the table of a registered section, if it is a part of a file
 * @mm: the current task's address space
 * @section: memory of the section
 * @map: the text; its table is set
 *
 * Context: any, in an RCU read-side critical section; the mmap lock is held, or the caller
 * checks afterwards that nothing was changed.
 * Return: 0, also if it is being loaded; -ENODATA it has to be loaded, or copied.
 */
int unwind_section_find(struct mm_struct *mm, const struct unwind_mapping *section,
			struct unwind_mapping *map)
{
	struct unwind_part part;
	const struct inode *inode;
	struct file *file;
	u64 origin;

	file = section_file(mm, section, map, &part, &origin);
	/* NULL if the file is gone, or being used anew */
	inode = file ? READ_ONCE(file->f_inode) : NULL;
	return inode ? find_table(inode, &part, origin, map) : -ENODATA;
}

static bool is_found(struct file *file, const struct unwind_part *part, u64 origin)
{
	struct unwind_mapping map = {};

	guard(rcu)();
	return !find_table(file_inode(file), part, origin, &map);
}

/**
 * unwind_section_load - load the table of a registered section, if it is a part of a file
 * @section: memory of the section, of the current task
 * @text: the text that it describes
 *
 * Context: task; may sleep, but does not wait for the file; without the mmap lock.
 * Return: whether it is loaded, or being loaded.
 */
bool unwind_section_load(const struct unwind_mapping *section,
			 const struct unwind_mapping *text)
{
	struct file *file __free(fput) = NULL;
	struct mm_struct *mm = current->mm;
	struct unwind_part part;
	u64 origin;

	if (mmap_read_lock_killable(mm))
		return false;
	scoped_guard(rcu)
		file = section_file(mm, section, text, &part, &origin);
	if (file)
		get_file(file);
	mmap_read_unlock(mm);
	if (!file)
		return false;
	if (origin && !is_found(file, &part, origin))
		unwind_file_load_part(get_file(file), NULL);
	if (!is_found(file, &part, origin))
		unwind_file_load_part(get_file(file), &part);
	return is_found(file, &part, origin);
}
