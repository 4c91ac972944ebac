/* SPDX-License-Identifier: GPL-2.0 */
/* Functions with a known number of instructions, as a measure for others. */
#ifndef _KERNEL_UNWIND_TESTS_BENCH_KNOWN_H
#define _KERNEL_UNWIND_TESTS_BENCH_KNOWN_H

/* Instructions from the first one to the return, both and a landing pad included */
#if defined(CONFIG_X86_KERNEL_IBT) || defined(CONFIG_ARM64)
#define BENCH_NOTHING	3
#else
#define BENCH_NOTHING	2
#endif
#define BENCH_NOPS	100

#ifndef __ASSEMBLY__

#include <linux/types.h>

struct unwind_work;

/* Both return 0; in the form of unwind_deferred_request() */
int bench_nothing(struct unwind_work *work, u64 *cookie);
int bench_nops(struct unwind_work *work, u64 *cookie);

#endif /* __ASSEMBLY__ */

#endif /* _KERNEL_UNWIND_TESTS_BENCH_KNOWN_H */
