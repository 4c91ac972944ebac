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

/* The arguments of a KUnit test's parameters */
#define UNWIND_GEN_PARAMS(name)						\
	name##_gen_params(struct kunit *test, const void *prev, char *desc)

#endif /* _LINUX_UNWIND_BASE_H */
