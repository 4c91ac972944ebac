/* SPDX-License-Identifier: GPL-2.0 */
/* The architecture's functions that read user memory; the harness has no tags. */
#ifndef _UNWIND_TEST_ASM_UNWIND_ARCH_H
#define _UNWIND_TEST_ASM_UNWIND_ARCH_H

#define unwind_arch_tags_off()	((void)0)
#define unwind_arch_tags_on()	((void)0)

#endif /* _UNWIND_TEST_ASM_UNWIND_ARCH_H */
