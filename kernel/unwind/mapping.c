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

/*
 * Cost of a lookup, in ordinary frames; BESIDE_COST is added if mappings on either side are
 * looked at, SECTION_COST for a registered section
 */
#define LOOKUP_COST		8
#define BESIDE_COST		20
#define SECTION_COST		8
/* Half as much more if there are more mappings or registered ranges: their trees are deep */
#define MANY			1024

/*
 * Finding
 */

/* Find a file's table.  The file may change, or its memory be reused, meanwhile. */
static int map_file(const struct file *file, struct unwind_mapping *map)
{
	/* NULL if the file is gone, or being used anew */
	const struct inode *inode = READ_ONCE(file->f_inode);
	int state;

	if (!inode)
		return 0;
	state = unwind_file_find(inode, NULL, &map->table);
	map->pending = state < UNWIND_FILE_NONE;
	return min(state, 0);
}

/* Memory without a file: the vDSO, or text that was copied from the file on either side */
static noinline int map_without_file(const struct vm_area_struct *vma,
				     struct unwind_mapping *map)
{
	const struct file *file = unwind_text_file(vma, &map->origin);

	map->extra_cost = BESIDE_COST;
	if (file)
		return map_file(file, map);
	if (unwind_is_vdso(vma) && unwind_arch_has_vdso(current->mm)) {
		map->origin = map->start;
		map->table = unwind_vdso_table;
	}
	return 0;
}

/* Get the VMA's bounds, its file's start and table.  The VMA may change meanwhile. */
static int map_vma(const struct vm_area_struct *vma, struct unwind_mapping *map)
{
	const struct file *file = READ_ONCE(vma->vm_file);

	map->start = READ_ONCE(vma->vm_start);
	map->size = READ_ONCE(vma->vm_end) - map->start;
	if (!IS_ENABLED(CONFIG_UNWIND_USER_SFRAME))
		return 0;
	if (!file)
		return map_without_file(vma, map);
	map->origin = map->start - ((u64)READ_ONCE(vma->vm_pgoff) << PAGE_SHIFT);
	return map_file(file, map);
}

/* Find the VMA's mapping.  Errors as for unwind_walk_map(). */
static int find_vma_map(struct mm_struct *mm, unsigned long addr, struct unwind_mapping *map)
{
	const struct vm_area_struct *vma = vma_lookup(mm, addr);
	int ret;

	if (!vma || !(READ_ONCE(vma->vm_flags) & VM_EXEC))
		return -EFAULT;
	ret = map_vma(vma, map);
	if (map->table)
		map->origin += map->table->start;
	return ret;
}

/* The same if ranges are registered: find one of these, or the mapping between them */
static noinline int find_registered(struct mm_struct *mm, unsigned long addr,
				    struct unwind_mapping *map)
{
	struct unwind_mapping section, hole;
	int ret = unwind_tables_find(mm, addr, map, &section, &hole);

	if (ret == -ENODATA) {
		map->extra_cost = SECTION_COST;
		return unwind_section_find(mm, &section, map);
	}
	if (ret != -ENOENT)
		return ret;
	ret = find_vma_map(mm, addr, map);
	/* A registered range may begin in the middle of a VMA */
	if (map->start < hole.start) {
		map->size -= hole.start - map->start;
		map->start = hole.start;
	}
	map->size = min(map->size, hole.start + hole.size - map->start);
	return ret;
}

static int find(struct mm_struct *mm, unsigned long addr, struct unwind_mapping *map)
{
	return unlikely(unwind_tables_any(mm)) ? find_registered(mm, addr, map) :
						 find_vma_map(mm, addr, map);
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
 * unwind_walk_add_map - find the mapping of an address that is in no remembered one
 * @state: the unwind, which remembers the mapping
 * @addr: the address
 *
 * Context: any, in an RCU read-side critical section.
 * Return: as unwind_walk_map().
 */
const struct unwind_mapping *unwind_walk_add_map(struct unwind_walk_state *state,
						 unsigned long addr)
{
	const unsigned int i = state->next_map;
	struct unwind_mapping *slot = &state->maps[i];
	int ret;

	/* Otherwise the compiler computes its address at each use */
	OPTIMIZER_HIDE_VAR(slot);
	slot->table = NULL;
	slot->inside = NULL;
	slot->pending = false;
	slot->extra_cost = 0;
	ret = find_mapping(addr, slot, state->locked);
	state->budget -= min(state->budget, lookup_cost(slot));
	if (ret == -ENODATA && state->no_tables)
		ret = 0;
	if (ret) {
		slot->size = 0;
		return ERR_PTR(ret);
	}
	if (slot->table)
		clip_to_table(slot, addr);
	if (IS_ENABLED(CONFIG_UNWIND_USER_LANGUAGES) && state->notes && slot->table &&
	    slot->table->chain)
		unwind_chain_note(state->notes, slot->table, slot->origin - slot->table->start);
	state->next_map = (i + 1) % UNWIND_MAPPINGS;
	state->map = i;
	return slot;
}

/**
 * unwind_walk_map - find the mapping of an address, and its table
 * @state: the unwind, which remembers the mapping
 * @addr: the address
 *
 * Context: any, in an RCU read-side critical section.
 * Return: the mapping; or an error: -EFAULT there is no text; -ENODATA the table is not
 * known, and can be loaded where that is allowed (not if @state->no_tables is set); -EREMOTE
 * the table can be read in process memory only (UNWIND_TABLE_JIT); -EBUSY a writer has the
 * mmap lock.
 */
const struct unwind_mapping *unwind_walk_map(struct unwind_walk_state *state,
					     unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < UNWIND_MAPPINGS; i++) {
		if (addr - state->maps[i].start < state->maps[i].size) {
			state->map = i;
			return &state->maps[i];
		}
	}
	return unwind_walk_add_map(state, addr);
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
