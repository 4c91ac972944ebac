// SPDX-License-Identifier: GPL-2.0
/*
 * Text that is not mapped.
 *
 * The frame loop reads instructions at return addresses: is there a call before one, or is
 * it a signal's trampoline?  A task that has not run there yet, like a child after fork(),
 * may have no page there.  A page fault would bring it in, and the program would have a
 * page more than it has without a profiler.  So the loop reads the page cache: the page is
 * the one that the fault would find.
 *
 * That holds for mappings of files that were never written to.  An unwind holds a few
 * pages, and replaces the oldest one.
 */

#include <linux/err.h>
#include <linux/hugetlb.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/page-flags.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/secretmem.h>
#include <linux/uaccess.h>
#include <linux/unwind_arch.h>
#include <linux/userfaultfd_k.h>

#include "walk.h"

static struct page *page_at(const struct unwind_code *code, unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < UNWIND_CODE_PAGES; i++) {
		if (code->page[i] && code->start[i] == (addr & PAGE_MASK))
			return code->page[i];
	}
	return NULL;
}

/* Read bytes of one page.  Its memory may have failed since, and be unmapped in the kernel. */
static bool read_piece(const struct unwind_code *code, unsigned long addr, void *val,
		       size_t size)
{
	struct page *page = page_at(code, addr);

	return page && !PageHWPoison(page) &&
	       !copy_from_kernel_nofault(val, page_address(page) + offset_in_page(addr), size);
}

/**
 * unwind_code_read - read text that is not mapped
 * @code: the unwind's pages; NULL if it has none
 * @addr: its address, of the current task
 * @val: filled in
 * @size: bytes to read, at most 8
 *
 * Context: any.
 * Return: whether all of it was read.
 */
bool unwind_code_read(const struct unwind_code *code, unsigned long addr, void *val,
		      size_t size)
{
	const size_t first = min(size, PAGE_SIZE - offset_in_page(addr));

	return code && read_piece(code, addr, val, first) &&
	       (first == size || read_piece(code, addr + first, val + first, size - first));
}

/* Would a page fault in this mapping map the file's own page? */
static bool is_plain_text(struct vm_area_struct *vma)
{
	return vma && vma->vm_file && !vma->anon_vma && !is_vm_hugetlb_page(vma) &&
	       !vma_is_secretmem(vma) && !userfaultfd_armed(vma) &&
	       (vma->vm_flags & (VM_READ | VM_EXEC | VM_IO | VM_PFNMAP)) == (VM_READ | VM_EXEC);
}

/* A reference to the page that a fault would map */
static struct page *find_page(unsigned long addr)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	struct folio *folio;
	struct page *page;

	if (mmap_read_lock_killable(mm))
		return ERR_PTR(-EINTR);
	vma = vma_lookup(mm, addr);
	if (is_plain_text(vma)) {
		const pgoff_t index = linear_page_index(vma, addr);

		folio = filemap_get_folio(vma->vm_file->f_mapping, index);
		page = IS_ERR(folio) ? ERR_PTR(-EFAULT) : folio_file_page(folio, index);
	} else {
		page = ERR_PTR(-ENOENT);
	}
	mmap_read_unlock(mm);
	if (IS_ERR(page) || (folio_test_uptodate(folio) && !PageHWPoison(page)))
		return page;
	folio_put(folio);
	return ERR_PTR(-EFAULT);
}

/* Add the page of @addr; it replaces the oldest one */
static int add_page(struct unwind_code *code, unsigned long addr)
{
	struct page *page;

	if (page_at(code, addr))
		return -EFAULT;
	page = find_page(addr);
	if (IS_ERR(page))
		return PTR_ERR(page);
	if (code->page[code->next])
		put_page(code->page[code->next]);
	code->start[code->next] = addr & PAGE_MASK;
	code->page[code->next] = page;
	code->next = (code->next + 1) % UNWIND_CODE_PAGES;
	return 0;
}

/**
 * unwind_code_add - get a word of text that is not mapped
 * @code: the unwind's pages
 * @addr: the word's address
 *
 * Context: task; may sleep; without the mmap lock.
 * Return: 0 if a page was added, so that reading again may succeed; -ENOENT if a part of the
 * word is not in unmodified text of a file; -EFAULT if the page cache cannot supply it;
 * -EINTR if the task was killed.
 */
int unwind_code_add(struct unwind_code *code, unsigned long addr)
{
	const int ret = add_page(code, addr);
	/* The rest may be in the next page */
	const int rest = add_page(code, addr + sizeof(u64) - 1);

	if (!ret || !rest)
		return 0;
	return rest == -ENOENT ? rest : ret;
}

/**
 * unwind_code_release - drop the references to all pages
 * @code: the unwind's pages
 *
 * Context: task.
 */
void unwind_code_release(struct unwind_code *code)
{
	unsigned int i;

	for (i = 0; i < UNWIND_CODE_PAGES; i++) {
		if (code->page[i])
			put_page(code->page[i]);
	}
}
