/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fuzz targets, and what their drivers want to know of them.
 *
 * An input is eight bytes of control, then a section:
 *
 *	0	bits 0-1: the ABI that the section is read as
 *	1 ... 7	seed of addresses, of changes and of missing pages
 *
 * A target is a kind of memory that the section is in.  None of it is in the
 * input: each input is one for every target.
 */
#ifndef _UNWIND_TEST_SFRAME_FUZZ_H
#define _UNWIND_TEST_SFRAME_FUZZ_H

#include <linux/types.h>

#define FUZZ_CONTROL	8
/* Room for what exceeds the bounds on a lookup */
#define FUZZ_MAX_INPUT	0x60000

enum fuzz_target {
	FUZZ_PLAIN,		/* holds still */
	FUZZ_CHANGING,		/* someone writes to it between any two reads */
	FUZZ_MISSING,		/* pages of it are missing */
	FUZZ_TARGETS,
};

enum fuzz_outcome {
	FUZZ_REFUSED,		/* header */
	FUZZ_FRE,
	FUZZ_OUTERMOST,
	FUZZ_NONE,		/* -ENOENT */
	FUZZ_INVALID,		/* -EINVAL */
	FUZZ_TOO_BIG,		/* -E2BIG */
	FUZZ_UNREADABLE,	/* -EFAULT */
	FUZZ_TABLE,		/* the answer in a table, too */
	FUZZ_OTHER_TABLE,	/* a table has the right one of several */
	FUZZ_NO_TABLE,		/* nothing to make it of, or too much text */
	FUZZ_OUTCOMES,
};

/* How often each was seen: a fuzzer tests only the outcomes that it reaches */
extern unsigned long fuzz_outcomes[FUZZ_OUTCOMES];

/* Try one input; does not return when a promise is broken */
void fuzz_one(enum fuzz_target target, const u8 *data, size_t size);

/* What libFuzzer calls; the last is what it gives: its own mutations */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max,
			       unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const u8 *data, size_t size, const u8 *other,
				 size_t other_size, u8 *out, size_t max,
				 unsigned int seed);
size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t max);

#endif /* _UNWIND_TEST_SFRAME_FUZZ_H */
