// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of a mapping of the current task: the file of its text, its name, whether a page
 * may be brought in there, and whether it could be a stack.
 *
 * As for tables (mapping.c), values that are read from a VMA without the mmap lock count
 * only if no writer had the lock meanwhile.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/maple_tree.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>
#include <linux/sprintf.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/userfaultfd_k.h>
#include <asm/unwind_arch.h>

#include "memory.h"

/*
 * Files
 */

/* A VMA's file, and the address at which the file would start; NULL if it has none */
static struct file *file_of(const struct vm_area_struct *vma, u64 *origin)
{
	*origin = READ_ONCE(vma->vm_start) - ((u64)READ_ONCE(vma->vm_pgoff) << PAGE_SHIFT);
	return READ_ONCE(vma->vm_file);
}

/* Text that was copied out of a file may be in up to this number of adjacent pieces */
#define MAX_PIECES	4

/* Find the mapping of a file on one side of @vma, past other pieces without a file */
static const struct vm_area_struct *beside(const struct vm_area_struct *vma, bool below)
{
	MA_STATE(mas, &current->mm->mm_mt, 0, 0);
	unsigned int left = MAX_PIECES;

	while (vma && left-- && !READ_ONCE(vma->vm_file)) {
		mas_set(&mas, below ? READ_ONCE(vma->vm_start) - 1 : READ_ONCE(vma->vm_end));
		vma = mas_walk(&mas);
	}
	return vma;
}

/**
 * unwind_text_file - find the file that the text of a mapping comes from
 * @vma: the mapping
 * @origin: set to the address at which the file would start
 *
 * Some programs copy their text to anonymous memory, to have it in huge pages, and move
 * that to where the text was, in one piece or a few.  Other mappings of the file remain on
 * either side, as far apart as in the file.  Nothing else gets in between.
 *
 * Context: any, in an RCU read-side critical section; the mmap lock is held, or the caller
 * checks afterwards that nothing was changed.
 * Return: the file; NULL if there is none.
 */
struct file *unwind_text_file(const struct vm_area_struct *vma, u64 *origin)
{
	const struct vm_area_struct *below, *above;
	struct file *file = file_of(vma, origin);
	u64 other;

	if (file || unwind_is_vdso(vma))
		return file;
	below = beside(vma, true);
	above = beside(vma, false);
	if (!below || !above)
		return NULL;
	file = file_of(below, origin);
	return file && file_of(above, &other) == file && other == *origin ? file : NULL;
}

/*
 * Pages
 */

/* Can a plain read bring in a page here, without side effects or another program's help? */
static bool may_fault(struct vm_area_struct *vma)
{
	const vm_flags_t flags = READ_ONCE(vma->vm_flags);

	return flags & (VM_READ | VM_WRITE | VM_EXEC) &&
	       !(flags & (VM_IO | VM_PFNMAP)) && !userfaultfd_armed(vma);
}

/* Properties of a mapping; @end is 0 if there is no mapping */
struct memory {
	unsigned long	start;
	unsigned long	end;
	bool		may_fault;
	bool		may_be_stack;
};

static bool lies_in(unsigned long addr, const struct memory *memory)
{
	return addr >= memory->start && addr < memory->end;
}

static int find_memory(unsigned long addr, bool locked, struct memory *memory)
{
	MA_STATE(mas, &current->mm->mm_mt, addr, addr);
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	unsigned int seq = 0;

	*memory = (struct memory){};
	guard(rcu)();
	if (!locked && !mmap_lock_speculate_try_begin(mm, &seq))
		return -EBUSY;
	vma = mas_walk(&mas);
	if (vma) {
		memory->start = READ_ONCE(vma->vm_start);
		memory->end = READ_ONCE(vma->vm_end);
		memory->may_fault = may_fault(vma);
		memory->may_be_stack = !READ_ONCE(vma->vm_file) &&
			(READ_ONCE(vma->vm_flags) & (VM_WRITE | VM_EXEC)) == VM_WRITE;
	}
	return !locked && mmap_lock_speculate_retry(mm, seq) ? -EBUSY : 0;
}

/**
 * unwind_may_fault_in - may memory of the current task be brought in?
 * @addr: its address
 * @beside: another address, which has to be in the same mapping; or 0
 * @locked: the mmap lock is held
 *
 * Context: any.
 * Return: 1 if there is memory which a page fault can make resident, and the kernel may do
 * so on its own account; 0 if not; -EBUSY a writer has the mmap lock.
 */
int unwind_may_fault_in(unsigned long addr, unsigned long beside, bool locked)
{
	struct memory memory;

	if (find_memory(addr, locked, &memory))
		return -EBUSY;
	return memory.may_fault && (!beside || lies_in(beside, &memory));
}

/**
 * unwind_other_stack - may an address of the current task be on another stack?
 * @addr: the address
 * @sp: an address on this stack
 * @end: set to the end of the mapping of @addr
 * @locked: the mmap lock is held
 *
 * Context: any.
 * Return: 1 if @addr is in anonymous memory that can be written to and not executed, and
 * @sp is not in the same mapping; 0 if not; -EBUSY a writer has the mmap lock.
 */
int unwind_other_stack(unsigned long addr, unsigned long sp, unsigned long *end, bool locked)
{
	struct memory memory;

	if (find_memory(addr, locked, &memory))
		return -EBUSY;
	*end = memory.end;
	return memory.may_be_stack && !lies_in(sp, &memory);
}

/* Is it anonymous memory, or a private mapping of /dev/zero? */
static bool is_anonymous(struct vm_area_struct *vma)
{
	return !vma->vm_file || vma_is_anonymous(vma);
}

/* Is the page in the page cache?  If so, a fault does not wait for a disk or a server. */
static bool is_cached(struct vm_area_struct *vma, unsigned long addr)
{
	struct folio *folio;
	bool cached;

	if (is_vm_hugetlb_page(vma))
		return false;
	folio = filemap_get_folio(vma->vm_file->f_mapping, linear_page_index(vma, addr));
	if (IS_ERR(folio))
		return false;
	cached = folio_test_uptodate(folio);
	folio_put(folio);
	return cached;
}

static bool is_resident(unsigned long addr)
{
	char byte;
	int ret;

	unwind_arch_tags_off();
	ret = copy_from_user_nofault(&byte, (const void __user *)addr, sizeof(byte));
	unwind_arch_tags_on();
	return !ret;
}

/*
 * May the current task wait until this page is resident?  A stack may have to come from swap.
 * But nothing is read from a file, and no page of a file is allocated.
 */
static bool may_wait_for(struct vm_area_struct *vma, unsigned long addr, unsigned long beside)
{
	return vma && may_fault(vma) && (!beside || vma == vma_lookup(vma->vm_mm, beside)) &&
	       (is_anonymous(vma) || is_cached(vma, addr));
}

/*
 * Bring in a page.  The lock is held from the check to the fault: another thread could map
 * something else there, for which the task must not wait.  If the fault has to wait, it drops
 * the lock, and all is checked again.
 */
static bool bring_in_page(unsigned long addr, unsigned long beside)
{
	unsigned int flags = FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_KILLABLE;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	vm_fault_t fault;

	do {
		if (mmap_read_lock_killable(mm))
			return false;
		vma = vma_lookup(mm, addr);
		if (!may_wait_for(vma, addr, beside)) {
			mmap_read_unlock(mm);
			return false;
		}
		fault = handle_mm_fault(vma, addr, flags, NULL);
		flags |= FAULT_FLAG_TRIED;
		if (!(fault & (VM_FAULT_RETRY | VM_FAULT_COMPLETED)))
			mmap_read_unlock(mm);
	} while (fault & VM_FAULT_RETRY && !fatal_signal_pending(current));
	return !(fault & (VM_FAULT_RETRY | VM_FAULT_ERROR));
}

/**
 * unwind_bring_in - bring in some memory of the current task
 * @addr: its address
 * @size: its size, less than a page; it may cross the end of its page
 * @beside: as for unwind_may_fault_in()
 *
 * Context: task; may sleep; without the mmap lock.
 * Return: whether it was brought in.
 */
bool unwind_bring_in(unsigned long addr, size_t size, unsigned long beside)
{
	const unsigned long last = addr + size - 1;

	return bring_in_page(addr, beside) &&
	       (!((addr ^ last) & PAGE_MASK) || bring_in_page(last, beside)) &&
	       /* It may be executable only */
	       is_resident(addr) && is_resident(last);
}

/* Limits of the mappings and pages of files that a table may span: each frame may check them */
#define MAX_STRETCH	64
#define MAX_PAGES	4096

/*
 * Can all of this be read without waiting for a disk or a server?  Swap may be waited for, and
 * huge pages come from neither.
 */
static bool are_there(struct vm_area_struct *vma, unsigned long start, unsigned long end,
		      unsigned int *pages)
{
	if (is_anonymous(vma) || is_vm_hugetlb_page(vma) ||
	    shmem_mapping(vma->vm_file->f_mapping))
		return true;
	for (start &= PAGE_MASK; start < end; start += PAGE_SIZE) {
		if (!*pages || (!is_resident(start) && !is_cached(vma, start)))
			return false;
		--*pages;
	}
	return true;
}

/**
 * unwind_may_read - may a stretch of memory of the current task be read with faults?
 * @start: its address
 * @size: its size in bytes
 *
 * Context: task; may sleep; without the mmap lock.
 * Return: whether all of it is memory as for unwind_may_fault_in(), in MAX_STRETCH mappings
 * and MAX_PAGES pages of files at most, and none of these has to be read.
 */
bool unwind_may_read(unsigned long start, unsigned long size)
{
	const unsigned long end = start + size;
	struct mm_struct *mm = current->mm;
	unsigned int left = MAX_STRETCH, pages = MAX_PAGES;
	struct vm_area_struct *vma;
	bool may = true;

	if (mmap_read_lock_killable(mm))
		return false;
	while (may && start < end) {
		vma = vma_lookup(mm, start);
		may = vma && left-- && may_fault(vma) &&
		      are_there(vma, start, min(end, vma->vm_end), &pages);
		if (may)
			start = vma->vm_end;
	}
	mmap_read_unlock(mm);
	return may;
}

/*
 * Names
 */

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
	if (mmap_read_lock_killable(mm))
		return 0;
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
