/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of user memory for sframe_bench: loads of the host's memory. On x86 they are the
 * instructions of the kernel's unsafe_get_user().
 *
 * The kernel also opens and closes user memory once per lookup, which takes about ten
 * instructions. They are not counted here.
 */
#ifndef _UNWIND_BENCH_UACCESS_H
#define _UNWIND_BENCH_UACCESS_H

#include <linux/compiler.h>
#include <linux/types.h>

static __always_inline int bench_load(void *val, unsigned long addr,
				      unsigned int size)
{
#ifdef __x86_64__
	switch (size) {
	case 1:
		asm volatile("movb %1, %0" : "=q" (*(u8 *)val)
			     : "m" (*(const u8 *)addr));
		break;
	case 2:
		asm volatile("movw %1, %0" : "=r" (*(u16 *)val)
			     : "m" (*(const u16 *)addr));
		break;
	case 4:
		asm volatile("movl %1, %0" : "=r" (*(u32 *)val)
			     : "m" (*(const u32 *)addr));
		break;
	default:
		asm volatile("movq %1, %0" : "=r" (*(u64 *)val)
			     : "m" (*(const u64 *)addr));
	}
#else
	__builtin_memcpy(val, (const void *)addr, size);
#endif
	return 0;
}

#define copy_from_user(to, ptr, size) \
	((void)__builtin_memcpy((to), (const void *)(ptr), (size)), 0)

#define unsafe_get_user(x, ptr, label) do {				\
	if (bench_load(&(x), (unsigned long)(ptr), sizeof(x)))		\
		goto label;						\
} while (0)

#define might_fault()			((void)0)
#define user_read_access_begin(ptr, size) ((void)(ptr), (void)(size), true)
#define user_read_access_end()		((void)0)

#endif /* _UNWIND_BENCH_UACCESS_H */
