/* SPDX-License-Identifier: GPL-2.0 */
/* Names that differ between the kernels that this code is made for. */
#ifndef _LINUX_UNWIND_BASE_H
#define _LINUX_UNWIND_BASE_H

#if defined(CONFIG_X86_64) && defined(CONFIG_UPROBES)
/* So many may fail, at addresses that the program chooses */
#define UNWIND_UPROBE_LEAVE_READS	2
unsigned long unwind_arch_uprobe_leave(unsigned long *ip, unsigned long *sp);
#else
/* A uprobe is a breakpoint, whatever the probed instruction is */
#define UNWIND_UPROBE_LEAVE_READS	0
static inline unsigned long unwind_arch_uprobe_leave(unsigned long *ip, unsigned long *sp)
{
	return 0;
}
#endif

/* The flag of shmem_file_setup() */
#define UNWIND_NORESERVE	mk_vma_flags(VMA_NORESERVE_BIT)

/* The arguments of a KUnit test's parameters */
#define UNWIND_GEN_PARAMS(name)						\
	name##_gen_params(struct kunit *test, const void *prev, char *desc)

/* The arguments of a callback of list_lru_shrink_walk() */
#define UNWIND_LRU_PARAMS(name)						\
	name(struct list_head *item, struct list_lru_one *list, void *arg)

/* Bits of arm64's TTBR0_EL1 that are no address */
#define UNWIND_TTBR0_FLAGS	(TTBRx_EL1_ASID_MASK | TTBRx_EL1_CnP_MASK)

#endif /* _LINUX_UNWIND_BASE_H */
