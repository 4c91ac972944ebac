// SPDX-License-Identifier: GPL-2.0
/*
 * Registered sections that are parts of files.
 *
 * A C library registers the section of each object that it maps, and "unwind-tables run"
 * has sections in the files of a cache.  As long as the process has not written to that
 * memory, it has the file's contents.  So all processes share the table, and file.c keeps it
 * like other tables of files, without a reference to the file.
 *
 *   text and section of one file, as its program headers say: the file's own table
 *   any other: the table of that part of the section's file, for text at that distance
 *
 * The table is built from the file, not from memory, which the process may have changed or
 * replaced by then.  So a process cannot spoil the table of others.
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

/**
 * struct registered - a registered section that is a part of a file
 * @part: the part
 * @origin: the address at which the file would start, for the text; 0 if the text is not one
 *	mapping of the same file
 */
struct registered {
	struct unwind_part	part;
	u64			origin;
};

static u64 offset_of(const struct vm_area_struct *vma, unsigned long addr)
{
	return ((u64)READ_ONCE(vma->vm_pgoff) << PAGE_SHIFT) + (addr - READ_ONCE(vma->vm_start));
}

static bool is_within(const struct unwind_mapping *map, const struct vm_area_struct *vma)
{
	return vma && map->size <= READ_ONCE(vma->vm_end) - map->start;
}

/* The file that contains a section, or NULL */
static struct file *find_file(struct mm_struct *mm, const struct unwind_mapping *section,
			      const struct unwind_mapping *text, struct registered *as)
{
	MA_STATE(mas, &mm->mm_mt, section->start, section->start);
	const struct vm_area_struct *vma = mas_walk(&mas);
	struct file *file, *other;

	if (!is_within(section, vma))
		return NULL;
	file = READ_ONCE(vma->vm_file);
	/* A mapping with private pages was written to, at least in part */
	if (!file || READ_ONCE(vma->anon_vma))
		return NULL;
	*as = (struct registered){
		.part = {
			.offset = offset_of(vma, section->start),
			.size = section->size,
			.to_text = text->start - section->start,
			.text_size = text->size,
		},
	};
	mas_set(&mas, text->start);
	vma = mas_walk(&mas);
	other = is_within(text, vma) ? READ_ONCE(vma->vm_file) : NULL;
	if (other && READ_ONCE(other->f_inode) == READ_ONCE(file->f_inode))
		as->origin = text->start - offset_of(vma, text->start);
	return file;
}

/* Is the file's own table the one that would be built from the part? */
static bool is_same(const struct sframe_table *table, const struct registered *as,
		    unsigned long text)
{
	const struct sframe_place *place = &table->place;
	const u64 skip = text - as->origin - place->text;

	return place->section && place->section == as->part.offset &&
	       skip <= place->text_size && as->part.text_size <= place->text_size - skip &&
	       as->part.to_text == place->to_text + skip;
}

static int find_table(const struct inode *inode, const struct registered *as,
		      struct unwind_mapping *map)
{
	bool pending = false;

	if (as->origin) {
		pending = unwind_file_find(inode, NULL, &map->table) == UNWIND_FILE_LOADING;
		map->origin = as->origin;
		if (map->table && is_same(map->table, as, map->start))
			goto found;
	}
	pending |= unwind_file_find(inode, &as->part, &map->table) == UNWIND_FILE_LOADING;
	map->origin = map->start;
	if (map->table)
		goto found;
	map->pending = pending;
	return pending ? 0 : -ENODATA;
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
	const struct inode *inode;
	struct registered as;
	struct file *file;

	file = find_file(mm, section, map, &as);
	/* NULL if the file is gone, or being used anew */
	inode = file ? READ_ONCE(file->f_inode) : NULL;
	return inode ? find_table(inode, &as, map) : -ENODATA;
}

static bool is_found(struct file *file, const struct registered *as,
		     const struct unwind_mapping *text)
{
	struct unwind_mapping map = *text;

	guard(rcu)();
	return !find_table(file_inode(file), as, &map);
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
	struct registered as;

	if (mmap_read_lock_killable(mm))
		return false;
	scoped_guard(rcu)
		file = find_file(mm, section, text, &as);
	if (file)
		get_file(file);
	mmap_read_unlock(mm);
	if (!file)
		return false;
	/*
	 * Load the file's own table only if that is the one of this section: an archive has none,
	 * and the service need not make a table that the process has registered.
	 */
	if (as.origin && !is_found(file, &as, text) && unwind_file_names(file, as.part.offset))
		unwind_file_load_part(get_file(file), NULL);
	if (!is_found(file, &as, text))
		unwind_file_load_part(get_file(file), &as.part);
	return is_found(file, &as, text);
}
