/* SPDX-License-Identifier: GPL-2.0 */
/* Names that later kernels have changed. */
#ifndef _LINUX_UNWIND_BASE_H
#define _LINUX_UNWIND_BASE_H

#include <linux/btf.h>
#include <linux/fs.h>
#include <linux/list_lru.h>

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

/* The flags of shmem_file_setup() */
#define VMA_NORESERVE_BIT	VM_NORESERVE
#define mk_vma_flags(flags)	(flags)

/* The arguments of a KUnit test's parameters */
#define UNWIND_GEN_PARAMS(name)	name##_gen_params(const void *prev, char *desc)

/* Callbacks of list_lru_shrink_walk() are not given the list's lock; ours have no argument */
static inline enum lru_status unwind_lru_callback(struct list_head *item,
						  struct list_lru_one *list,
						  spinlock_t *lock, void *callback)
{
	enum lru_status (*shrink)(struct list_head *item, struct list_lru_one *list,
				  void *arg) = callback;

	return shrink(item, list, NULL);
}

#define list_lru_shrink_walk(lru, sc, callback, arg)			\
	list_lru_shrink_walk(lru, sc, unwind_lru_callback, ((void)(arg), (void *)(callback)))

/* The arguments of all BPF functions are checked */
#undef KF_SLEEPABLE
#define KF_SLEEPABLE		((1 << 4) | (1 << 5))

#endif /* _LINUX_UNWIND_BASE_H */
