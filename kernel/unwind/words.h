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
 * User access is enabled in between, so no function may be called there: all code that reads
 * is inlined (objtool checks that).  Each read checks or masks its address.  Callers have
 * removed tags, so access_ok(), which handles tags, is not needed.
 */
#ifndef _KERNEL_UNWIND_WORDS_H
#define _KERNEL_UNWIND_WORDS_H

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

static __always_inline bool read_word(unsigned long addr, unsigned long *word)
{
	const unsigned long __user *at = (const unsigned long __user *)addr;
	unsigned long val;

	if (can_do_masked_user_access())
		at = mask_user_address(at);
	else if (addr > TASK_SIZE_MAX - sizeof(*at))
		return false;
	/* With some compilers, this clears its result if it fails: leave *@word alone then */
	unsafe_get_user(val, at, fault);
	*word = val;
	return true;
fault:
	return false;
}

static __always_inline bool read_half(unsigned long addr, u32 *half)
{
	const u32 __user *at = (const u32 __user *)addr;
	u32 val;

	if (can_do_masked_user_access())
		at = mask_user_address(at);
	else if (addr > TASK_SIZE_MAX - sizeof(*at))
		return false;
	unsafe_get_user(val, at, fault);
	*half = val;
	return true;
fault:
	return false;
}

#endif /* _KERNEL_UNWIND_WORDS_H */
