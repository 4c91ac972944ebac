// SPDX-License-Identifier: GPL-2.0
/*
 * The text at an address of the current task, and the table that describes it.
 *
 *   address ──> what the process registered (tables.c, section.c)
 *           └─> VMA ──> file ──> the file's table (file.c)
 *
 * This works in any context, NMI included, without a lock: the VMA is looked up under
 * RCU, and believed only if no writer had the mmap lock meanwhile.  Then the VMA was in
 * the tree all the time, and its file belonged to it.  VMA, file and inode are freed
 * after a grace period, so reading them is safe in any case.
 *
 * A writer makes the lookup fail with -EBUSY.  That may be the current task itself,
 * interrupted in the middle of mmap().
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/unwind_stack.h>
#include <linux/unwind_tables.h>

#include "file.h"
#include "mapping.h"
#include "memory.h"
#include "section.h"
#include "tables.h"
#include "walk.h"

/* Cost of a lookup, in ordinary frames: of any, more for mappings on either side, for a section */
#define LOOKUP_COST		8
#define BESIDE_COST		20
#define SECTION_COST		8
/* Half as much more if there are so many mappings or registered ranges that trees are deep */
#define MANY			1024

/*
 * Finding
 */

/* The VMA's bounds, where its file starts, and the file's table.  It may change meanwhile. */
static int map_vma(const struct vm_area_struct *vma, struct unwind_mapping *map)
{
	enum unwind_file_state state;
	const struct inode *inode;
	const struct file *file;
	int ret;

	map->start = READ_ONCE(vma->vm_start);
	map->size = READ_ONCE(vma->vm_end) - map->start;
	map->table = NULL;
	map->pending = false;
	map->extra_cost = READ_ONCE(vma->vm_file) ? 0 : BESIDE_COST;
	if (!IS_ENABLED(CONFIG_UNWIND_USER_SFRAME))
		return 0;
	file = unwind_text_file(vma, &map->origin);
	if (!file) {
		if (!unwind_is_vdso(vma))
			return 0;
		map->origin = map->start;
		map->table = unwind_vdso_table;
		return 0;
	}
	/* NULL if the file is gone, or being used anew */
	inode = READ_ONCE(file->f_inode);
	if (!inode)
		return 0;
	ret = unwind_file_find(inode, NULL, &map->table, &state);
	map->pending = state < UNWIND_FILE_NONE;
	return ret;
}

static int find(struct mm_struct *mm, unsigned long addr, struct unwind_mapping *map)
{
	MA_STATE(mas, &mm->mm_mt, addr, addr);
	const struct vm_area_struct *vma;
	struct unwind_mapping section, hole;
	int ret;

	if (unlikely(unwind_tables_any(mm))) {
		ret = unwind_tables_find(mm, addr, map, &section, &hole);
		if (ret == -ENODATA) {
			map->extra_cost = SECTION_COST;
			return unwind_section_find(mm, &section, map);
		}
		if (ret != -ENOENT)
			return ret;
	} else {
		hole = (struct unwind_mapping){ .size = ULONG_MAX };
	}
	vma = mas_walk(&mas);
	if (!vma || !(READ_ONCE(vma->vm_flags) & VM_EXEC))
		return -EFAULT;
	ret = map_vma(vma, map);
	if (map->table)
		map->origin += map->table->start;
	/* A registered range may begin in the middle of a VMA */
	if (map->start < hole.start) {
		map->size -= hole.start - map->start;
		map->start = hole.start;
	}
	map->size = min(map->size, hole.start + hole.size - map->start);
	return ret;
}

/* -EBUSY: a writer has the mmap lock.  Others as for unwind_walk_map(). */
static int find_mapping(unsigned long addr, struct unwind_mapping *map, bool locked)
{
	struct mm_struct *mm = current->mm;
	unsigned int seq = 0;
	int ret;

	if (!locked && !mmap_lock_speculate_try_begin(mm, &seq))
		return -EBUSY;
	ret = find(mm, addr, map);
	return !locked && mmap_lock_speculate_retry(mm, seq) ? -EBUSY : ret;
}

/*
 * Remembering
 */

/*
 * Clip a mapping to the part around @addr that the table describes as a whole, or not at all.
 * All distances are taken from @addr, because map->origin may be any number.
 */
static void clip_to_table(struct unwind_mapping *map, unsigned long addr)
{
	unsigned long down = addr - map->start, up = map->size - down;
	const unsigned long at = addr - map->origin;
	const u32 span = map->table->span;

	if (at < span) {
		map->inside = map->table;
		down = min(down, at);
		up = min(up, span - at);
	} else {
		down = min(down, at - span);
		up = min(up, -at);
	}
	map->start = addr - down;
	map->size = down + up;
}

/* The cost of a lookup that was made just now */
static unsigned int lookup_cost(const struct unwind_mapping *map)
{
	const unsigned int cost = LOOKUP_COST + map->extra_cost;
	struct mm_struct *mm = current->mm;

	BUILD_BUG_ON((LOOKUP_COST + BESIDE_COST) * 3 / 2 > LOOKUP_COST_MAX);
	if (READ_ONCE(mm->map_count) > MANY ||
	    (unwind_tables_any(mm) && unwind_tables_nr(mm) > MANY))
		return cost + cost / 2;
	return cost;
}

/**
 * unwind_walk_map - find the mapping of an address, and its table
 * @state: the unwind, which remembers the mapping
 * @addr: the address
 * @map: set
 *
 * Context: any, in an RCU read-side critical section.
 * Return: 0; -EFAULT there is no text; -ENODATA the table is not known, and can be
 * loaded where that is allowed (not if @state->no_tables is set); -EREMOTE the table can be
 * read in process memory only (UNWIND_TABLE_JIT); -EBUSY a writer has the mmap lock.
 */
int unwind_walk_map(struct unwind_walk_state *state, unsigned long addr,
		    const struct unwind_mapping **map)
{
	struct unwind_mapping *slot;
	unsigned int i;
	int ret;

	for (i = 0; i < UNWIND_MAPPINGS; i++) {
		slot = &state->maps[i];
		if (addr - slot->start < slot->size)
			goto found;
	}
	i = state->next_map;
	slot = &state->maps[i];
	*slot = (struct unwind_mapping){};
	ret = find_mapping(addr, slot, state->locked);
	state->budget -= min(state->budget, lookup_cost(slot));
	if (ret == -ENODATA && state->no_tables)
		ret = 0;
	if (ret) {
		slot->size = 0;
		return ret;
	}
	slot->inside = NULL;
	if (slot->table)
		clip_to_table(slot, addr);
	if (IS_ENABLED(CONFIG_UNWIND_USER_LANGUAGES) && state->notes && slot->table &&
	    slot->table->chain)
		unwind_chain_note(state->notes, slot->table, slot->origin - slot->table->start);
	state->next_map = (i + 1) % UNWIND_MAPPINGS;
found:
	state->map = i;
	*map = slot;
	return 0;
}

/**
 * unwind_walk_forget - forget all mappings
 * @state: the unwind; its RCU read-side critical section is about to end
 */
void unwind_walk_forget(struct unwind_walk_state *state)
{
	unsigned int i;

	for (i = 0; i < UNWIND_MAPPINGS; i++)
		state->maps[i].size = 0;
}

/*
 * Kinds
 */

static enum unwind_text_kind text_kind(const struct vm_area_struct *vma,
				       unsigned long ip)
{
	if (unwind_is_vdso(vma))
		return UNWIND_TEXT_VDSO;
	if (unwind_tables_any(vma->vm_mm) && unwind_tables_is_jit(vma, ip))
		return UNWIND_TEXT_JIT;
	return vma->vm_file ? UNWIND_TEXT_FILE : UNWIND_TEXT_ANON;
}

/**
 * unwind_find_text - find the kind of text at an address of the current task
 * @vma: the mapping at @ip, or NULL; it is locked, or the mmap lock is held
 * @ip: the address
 * @offset: of @ip in the file, or in the mapping if it is of no file
 *
 * Context: task.
 * Return: its kind.
 */
enum unwind_text_kind unwind_find_text(const struct vm_area_struct *vma,
				       unsigned long ip, u64 *offset)
{
	enum unwind_text_kind kind;

	*offset = 0;
	if (!vma)
		return UNWIND_TEXT_NONE;

	kind = text_kind(vma, ip);
	*offset = ip - vma->vm_start;
	if (kind == UNWIND_TEXT_FILE)
		*offset += (u64)vma->vm_pgoff << PAGE_SHIFT;
	return kind;
}
