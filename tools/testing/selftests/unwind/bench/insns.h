/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counting instructions.
 *
 * These programs run in a guest of "qemu -icount shift=0" with one CPU. There each
 * instruction, of the kernel or of a program, takes one nanosecond of the guest's time,
 * and the processor's counter counts nanoseconds. The counter is the time stamp counter,
 * or on arm64 the virtual timer's, which must be set to run at 1 GHz. Programs read it
 * directly, so the rate that the kernel assumes does not matter.
 *
 * Time also passes while the CPU is idle. A measured operation may therefore wait only
 * for another process that runs meanwhile.
 */
#ifndef SELFTEST_UNWIND_INSNS_H
#define SELFTEST_UNWIND_INSNS_H

#include <stdbool.h>
#include <stdint.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "only x86-64 and arm64 are supported so far"
#endif

/* Execute @n times two instructions, and few others */
static inline void loop_of_two(uint64_t n)
{
#ifdef __aarch64__
	asm volatile("1:	subs	%0, %0, #1\n\t"
		     "b.ne	1b"
		     : "+r"(n) : : "cc", "memory");
#else
	asm volatile("1:	dec	%0\n\t"
		     "jnz	1b"
		     : "+r"(n) : : "cc", "memory");
#endif
}

static inline uint64_t insns(void)
{
#ifdef __aarch64__
	uint64_t now;

	asm volatile("mrs	%0, cntvct_el0" : "=r"(now) : : "memory");
	return now;
#else
	uint32_t lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
#endif
}

/*
 * Does the counter count instructions? A loop of a known number of instructions shows it.
 * The second of two runs counts, because the first may be interrupted.
 */
#define INSNS_LOOPS	10000

static inline bool insns_are_counted(void)
{
	uint64_t start, count = 0;
	int i;

	for (i = 0; i < 2; i++) {
		start = insns();
		loop_of_two(INSNS_LOOPS);
		count = insns() - start;
		if (count >= 2 * INSNS_LOOPS && count < 2 * INSNS_LOOPS + 20)
			return true;
	}
	return false;
}

#endif /* SELFTEST_UNWIND_INSNS_H */
