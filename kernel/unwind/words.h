/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of single words of user memory, many in a row.
 *
 *	pagefault_disable();
 *	if (words_begin()) {
 *		ok = read_word(addr, &word) && ...
 *		words_end();
 *	}
 *	pagefault_enable();
 *
 * User memory is open in between, so no function may be called there: the code that reads is
 * inlined as a whole (objtool checks that).  Each address is checked as it is read, or made
 * one that faults; or all words of a structure are by words_bound().  None has a tag any more,
 * which access_ok() would have to handle.
 */
#ifndef _KERNEL_UNWIND_WORDS_H
#define _KERNEL_UNWIND_WORDS_H

#include <linux/nospec.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/unwind_arch.h>

static __always_inline bool words_begin(void)
{
	if (can_do_masked_user_access())
		(void)masked_user_access_begin((const void __user *)NULL);
	else if (!user_read_access_begin((const void __user *)NULL, TASK_SIZE_MAX))
		return false;
	unwind_arch_tags_off();
	return true;
}

static __always_inline void words_end(void)
{
	unwind_arch_tags_on();
	user_read_access_end();
}

/*
 * Does @addr leave room for @size bytes of user memory?  If not, reads that are speculated all
 * the same reach the first @size bytes of it.
 */
static __always_inline bool words_bound(unsigned long *addr, unsigned long size)
{
	const unsigned long end = TASK_SIZE_MAX - size;

	if (*addr >= end)
		return false;
	*addr &= array_index_mask_nospec(*addr, end);
	return true;
}

/* @addr is within what words_bound() has checked */
static __always_inline bool read_bound_word(unsigned long addr, unsigned long *word)
{
	unsigned long val;

	/* Some compilers make it clear its result if it fails */
	unsafe_get_user(val, (const unsigned long __user *)addr, fault);
	*word = val;
	return true;
fault:
	return false;
}

static __always_inline bool read_bound_half(unsigned long addr, u32 *half)
{
	u32 val;

	unsafe_get_user(val, (const u32 __user *)addr, fault);
	*half = val;
	return true;
fault:
	return false;
}

static __always_inline bool read_word(unsigned long addr, unsigned long *word)
{
	if (can_do_masked_user_access())
		addr = (unsigned long)mask_user_address((const void __user *)addr);
	else if (addr > TASK_SIZE_MAX - sizeof(*word))
		return false;
	return read_bound_word(addr, word);
}

static __always_inline bool read_half(unsigned long addr, u32 *half)
{
	if (can_do_masked_user_access())
		addr = (unsigned long)mask_user_address((const void __user *)addr);
	else if (addr > TASK_SIZE_MAX - sizeof(*half))
		return false;
	return read_bound_half(addr, half);
}

#endif /* _KERNEL_UNWIND_WORDS_H */
