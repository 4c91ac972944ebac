/* SPDX-License-Identifier: GPL-2.0 */
/* Names that later kernels have changed. */
#ifndef _LINUX_UNWIND_BASE_H
#define _LINUX_UNWIND_BASE_H

#include <linux/fs.h>

static inline struct file *dentry_open_nonotify(const struct path *path, int flags,
						const struct cred *cred)
{
	return dentry_open(path, flags | __FMODE_NONOTIFY, cred);
}

#define arch_uretprobe_trampoline	arch_uprobe_trampoline

/* A uprobe is a breakpoint, whatever the probed instruction is */
#define UNWIND_UPROBE_LEAVE_READS	0
static inline unsigned long unwind_arch_uprobe_leave(unsigned long *ip, unsigned long *sp)
{
	return 0;
}

#define vdso64_image			vdso_image_64

/* The flag of shmem_file_setup() */
#define UNWIND_NORESERVE	VM_NORESERVE

/* The arguments of a KUnit test's parameters */
#define UNWIND_GEN_PARAMS(name)	name##_gen_params(const void *prev, char *desc)

/* The arguments of a callback of list_lru_shrink_walk() */
#define UNWIND_LRU_PARAMS(name)						\
	name(struct list_head *item, struct list_lru_one *list,	\
	     spinlock_t *lock, void *arg)

/* Bits of arm64's TTBR0_EL1 that are no address */
#define UNWIND_TTBR0_FLAGS	(TTBR_ASID_MASK | TTBR_CNP_BIT)

#endif /* _LINUX_UNWIND_BASE_H */
