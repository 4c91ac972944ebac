/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of user memory for the iterator and the decoders.
 *
 * One set of accessors serves both access modes: who must not fault has
 * disabled page faults around the whole unwind (see unwind_user()), and then
 * get_user() fails at once instead of sleeping.  The host harness in
 * tools/testing/unwind supplies its own get_user().
 *
 * Every accessor reads the value once.  What it returns is hostile: it may be
 * anything, and the next read of the same address may return something else.
 */
#ifndef _KERNEL_UNWIND_MEM_H
#define _KERNEL_UNWIND_MEM_H

#include <linux/types.h>
#include <linux/uaccess.h>

static __always_inline int unwind_read_u8(u8 *val, unsigned long addr)
{
	return get_user(*val, (const u8 __user *)addr);
}

static __always_inline int unwind_read_u16(u16 *val, unsigned long addr)
{
	return get_user(*val, (const u16 __user *)addr);
}

static __always_inline int unwind_read_u32(u32 *val, unsigned long addr)
{
	return get_user(*val, (const u32 __user *)addr);
}

static __always_inline int unwind_read_u64(u64 *val, unsigned long addr)
{
	return get_user(*val, (const u64 __user *)addr);
}

#endif /* _KERNEL_UNWIND_MEM_H */
