/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of tests that run in the kernel as well; here it never runs out. */
#ifndef _UNWIND_TEST_SLAB_H
#define _UNWIND_TEST_SLAB_H

#include <stdlib.h>

#include <linux/types.h>

#define GFP_KERNEL_ACCOUNT	0
#define __GFP_NORETRY		0
#define __GFP_NOWARN		0

static inline void *kvmalloc(size_t size, gfp_t gfp)
{
	(void)gfp;
	return malloc(size);
}

static inline void *kvcalloc(size_t n, size_t size, gfp_t gfp)
{
	(void)gfp;
	return calloc(n, size);
}

static inline void *kvmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	(void)gfp;
	return reallocarray(NULL, n, size);
}

static inline void *kvzalloc(size_t size, gfp_t gfp)
{
	return kvcalloc(1, size, gfp);
}

static inline void kvfree(void *p)
{
	free(p);
}

#endif /* _UNWIND_TEST_SLAB_H */
