/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of user memory, for the steps of frame.c and the decoder (sframe.c).  The loop
 * over ordinary frames (walk.c) opens user memory by itself; architecture code and
 * uprobe.c use get_user().
 *
 * The frame loop has disabled page faults: then get_user() fails at once instead of
 * sleeping.  The decoder reads sections that change, in task context that may fault.
 * The host harness in tools/testing/unwind supplies its own get_user().
 *
 * For many reads of one stretch of memory, unwind_read_begin() opens user memory once.
 *
 * Memory may have tags (arm64's MTE).  The addresses here have none, so tag checks are
 * off during reads.
 *
 * Each accessor reads the value once.  The value is hostile: it may be anything, and
 * the next read of the same address may return something else.
 */
#ifndef _KERNEL_UNWIND_MEM_H
#define _KERNEL_UNWIND_MEM_H

#include <linux/errno.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/unwind_arch.h>

static __always_inline int unwind_read_u32(u32 *val, unsigned long addr)
{
	int ret;

	unwind_arch_tags_off();
	ret = get_user(*val, (const u32 __user *)addr);
	unwind_arch_tags_on();
	return ret;
}

static __always_inline int unwind_read_u64(u64 *val, unsigned long addr)
{
	int ret;

	unwind_arch_tags_off();
	ret = get_user(*val, (const u64 __user *)addr);
	unwind_arch_tags_on();
	return ret;
}

/**
 * unwind_read_begin - open a stretch of memory for many reads
 * @start: its address
 * @size: its size in bytes
 *
 * get_user() checks an address, opens user memory, reads and closes it again.
 * Here all but the read is done once:
 *
 *	if (!unwind_read_begin(start, size))
 *		return -EFAULT;
 *	ret = reads_by_unwind_unsafe_read();
 *	unwind_read_end();
 *
 * User memory is open in between, so no function may be called there: the code that
 * reads is inlined as a whole (objtool checks that).  That code keeps its reads within
 * the stretch.  A speculated read may leave it, but reaches no kernel address: positions
 * have 32 bits, and even times the size of an entry they do not go that far.
 *
 * Return: whether the stretch is user memory at all.
 */
static __always_inline bool unwind_read_begin(unsigned long start,
					      unsigned long size)
{
	might_fault();
	if (!user_read_access_begin((const void __user *)start, size))
		return false;
	unwind_arch_tags_off();
	return true;
}

static __always_inline void unwind_read_end(void)
{
	unwind_arch_tags_on();
	user_read_access_end();
}

static __always_inline int unwind_unsafe_read_u8(u8 *val, unsigned long addr)
{
	unsafe_get_user(*val, (const u8 __user *)addr, fault);
	return 0;
fault:
	return -EFAULT;
}

static __always_inline int unwind_unsafe_read_u16(u16 *val, unsigned long addr)
{
	unsafe_get_user(*val, (const u16 __user *)addr, fault);
	return 0;
fault:
	return -EFAULT;
}

static __always_inline int unwind_unsafe_read_u32(u32 *val, unsigned long addr)
{
	unsafe_get_user(*val, (const u32 __user *)addr, fault);
	return 0;
fault:
	return -EFAULT;
}

static __always_inline int unwind_unsafe_read_u64(u64 *val, unsigned long addr)
{
	unsafe_get_user(*val, (const u64 __user *)addr, fault);
	return 0;
fault:
	return -EFAULT;
}

#endif /* _KERNEL_UNWIND_MEM_H */
