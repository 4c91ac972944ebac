// SPDX-License-Identifier: GPL-2.0
/*
 * The mapping at an address of the current task:
 *
 * - its name, for people: where an unwind stopped;
 * - its kind, for traces: the files of frames;
 * - whether it can be text at all, for the frame loop and tables.c.
 *
 * The last works in any context, without a lock.  Its answer is a mapping that was
 * there a moment ago, or is there by now.
 */

#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sprintf.h>
#include <linux/string.h>
#include <linux/unwind_user.h>

#include "tables.h"
#include "text.h"

/**
 * unwind_text_name - name the mapping at an address of the current task, to print
 * @ip: the address
 * @name: the file's name, without its directory, or the kind of mapping in brackets
 * @size: room in @name
 *
 * Context: task; may sleep; without the mmap lock.
 * Return: the offset of @ip in the file.
 */
u64 unwind_text_name(unsigned long ip, char *name, size_t size)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	u64 offset = 0;

	*name = '\0';
	mmap_read_lock(mm);
	vma = vma_lookup(mm, ip);
	if (!vma) {
		strscpy(name, "[none]", size);
	} else if (vma->vm_file) {
		snprintf(name, size, "%pD", vma->vm_file);
		offset = ((u64)vma->vm_pgoff << PAGE_SHIFT) + (ip - vma->vm_start);
	} else {
		strscpy(name, unwind_is_vdso(vma) ? "[vdso]" : "[anon]", size);
		offset = ip - vma->vm_start;
	}
	mmap_read_unlock(mm);
	return offset;
}

static enum unwind_user_text text_kind(const struct vm_area_struct *vma,
				       unsigned long ip)
{
	struct unwind_table table;
	bool described;

	if (unwind_is_vdso(vma))
		return UNWIND_TEXT_VDSO;
	described = !unwind_table_lookup(ip, UNWIND_USER_NOFAULT, &table) &&
		    table.format == UNWIND_TABLE_SFRAME;
	/* Only a registered table describes text that comes from no file */
	if (described && (!vma->vm_file || table.sframe.changes))
		return UNWIND_TEXT_JIT;
	return vma->vm_file ? UNWIND_TEXT_FILE : UNWIND_TEXT_ANON;
}

/**
 * unwind_user_text - find the kind of text at an address of the current task
 * @vma: the mapping at @ip, or NULL; it is locked, or the mmap lock is held
 * @ip: the address
 * @offset: of @ip in the file, or in the mapping if it is of no file
 *
 * Context: task.
 * Return: its kind.
 */
enum unwind_user_text unwind_user_text(const struct vm_area_struct *vma,
				       unsigned long ip, u64 *offset)
{
	enum unwind_user_text kind;

	*offset = 0;
	if (!vma)
		return UNWIND_TEXT_NONE;

	kind = text_kind(vma, ip);
	*offset = ip - vma->vm_start;
	if (kind == UNWIND_TEXT_FILE)
		*offset += (u64)vma->vm_pgoff << PAGE_SHIFT;
	return kind;
}

/*
 * Flags of the mapping at an address of the current task, in any context; 0 if there
 * is none.  The mapping may change, and go, while we read it.  Then the answer is one
 * that was true, or will be, or a mixture of both.
 */
static vm_flags_t peek_flags(unsigned long addr)
{
	MA_STATE(mas, &current->mm->mm_mt, addr, addr);
	const struct vm_area_struct *vma;

	guard(rcu)();
	vma = mas_walk(&mas);
	return vma ? READ_ONCE(vma->vm_flags) : 0;
}

/* RCU frees mappings only if page faults find them under RCU */
#define CAN_PEEK	IS_ENABLED(CONFIG_PER_VMA_LOCK)

/**
 * unwind_may_be_mapped - could a page fault bring memory here?
 * @addr: address of the current task
 *
 * Context: any.
 * Return: false if no readable mapping is there.
 */
bool unwind_may_be_mapped(unsigned long addr)
{
	return !CAN_PEEK || peek_flags(addr) & (VM_READ | VM_WRITE | VM_EXEC);
}

/**
 * unwind_may_be_text - is there executable memory here?
 * @ip: address of the current task
 *
 * Context: any.
 * Return: false if there is none.
 */
bool unwind_may_be_text(unsigned long ip)
{
	return !CAN_PEEK || peek_flags(ip) & VM_EXEC;
}
