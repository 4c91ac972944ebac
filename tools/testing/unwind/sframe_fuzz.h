/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fuzz target and what its driver wants to know of it.
 *
 * An input is eight bytes of control, then a section:
 *
 *	0	bits 0-1: ABI; bit 2: values change between reads
 *	1 ... 7	seed of addresses and changes
 */
#ifndef _UNWIND_TEST_SFRAME_FUZZ_H
#define _UNWIND_TEST_SFRAME_FUZZ_H

#include <linux/types.h>

#define FUZZ_CONTROL	8
#define FUZZ_MUTATE	4

enum fuzz_outcome {
	FUZZ_REFUSED,		/* header */
	FUZZ_ROW,
	FUZZ_OUTERMOST,
	FUZZ_NONE,		/* -ENOENT */
	FUZZ_INVALID,		/* -EINVAL */
	FUZZ_TOO_BIG,		/* -E2BIG */
	FUZZ_OUTCOMES,
};

/* How often each was seen: a fuzzer that sees only some tests only some */
extern unsigned long fuzz_outcomes[FUZZ_OUTCOMES];

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif /* _UNWIND_TEST_SFRAME_FUZZ_H */
