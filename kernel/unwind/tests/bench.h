/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the benchmark module share; deferred_bench.c has the idea. */
#ifndef _KERNEL_UNWIND_TESTS_BENCH_H
#define _KERNEL_UNWIND_TESTS_BENCH_H

#include <linux/types.h>

#ifdef CONFIG_ARM64
#include <asm/sysreg.h>
#else
#include <asm/msr.h>
#endif

/*
 * In an emulator that gives each instruction a nanosecond, what counts these. It
 * executes instructions as they stand: there is no barrier, which would be counted.
 */
static __always_inline u64 bench_insns(void)
{
#ifdef CONFIG_ARM64
	return read_sysreg(cntvct_el0);
#else
	return rdtsc();
#endif
}

/*
 * bench_nmi_x86.c or bench_nmi_perf.c: have @measure called in one NMI that comes on
 * this CPU or, with @in_user, on another one, where it has to hit user space. False
 * if there was none, or it hit something else. The caller sees to it that there is
 * one at a time; it may sleep.
 */
bool bench_in_nmi(bool in_user, void (*measure)(void));
int bench_nmi_start(void);
void bench_nmi_stop(void);

#endif /* _KERNEL_UNWIND_TESTS_BENCH_H */
