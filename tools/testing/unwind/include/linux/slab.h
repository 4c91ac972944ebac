/* SPDX-License-Identifier: GPL-2.0 */
/* Allocations of the kernel's code in user space.  They fail when a test wants that. */
#ifndef _UNWIND_TEST_SLAB_H
#define _UNWIND_TEST_SLAB_H

#include <stdlib.h>

#include <linux/types.h>

#define GFP_KERNEL_ACCOUNT	0
#define __GFP_NORETRY		0
#define __GFP_NOWARN		0

/* The allocation that fails, counted from now on; 0: none */
extern unsigned long slab_fail_at;
/* Allocations that were not freed */
extern long slab_used;

void *slab_count(void *p);

static inline void *kvmalloc(size_t size, gfp_t gfp)
{
	(void)gfp;
	return slab_count(malloc(size));
}

static inline void *kvcalloc(size_t n, size_t size, gfp_t gfp)
{
	(void)gfp;
	return slab_count(calloc(n, size));
}

static inline void *kvmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	(void)gfp;
	return slab_count(reallocarray(NULL, n, size));
}

static inline void *kvzalloc(size_t size, gfp_t gfp)
{
	return kvcalloc(1, size, gfp);
}

static inline void kvfree(void *p)
{
	slab_used -= !!p;
	free(p);
}

#endif /* _UNWIND_TEST_SLAB_H */
