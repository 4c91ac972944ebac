/* SPDX-License-Identifier: GPL-2.0 */
/* Shared declarations of the benchmark module; deferred_bench.c describes it. */
#ifndef _KERNEL_UNWIND_TESTS_BENCH_H
#define _KERNEL_UNWIND_TESTS_BENCH_H

#include <linux/types.h>

#ifdef CONFIG_ARM64
#include <asm/sysreg.h>
#else
#include <asm/msr.h>
#endif

/*
 * The counter that counts instructions in an emulator with one instruction per
 * nanosecond. Such an emulator runs instructions in order: there is no barrier here,
 * because it would be counted.
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
 * bench_nmi_x86.c or bench_nmi_perf.c: call @measure in one NMI that comes on this CPU
 * or, with @in_user, on another one, where it has to hit user space. False if there was
 * none, or it hit other code. The caller makes one call at a time; it may sleep.
 */
bool bench_in_nmi(bool in_user, void (*measure)(void));
int bench_nmi_start(void);
void bench_nmi_stop(void);

#endif /* _KERNEL_UNWIND_TESTS_BENCH_H */
