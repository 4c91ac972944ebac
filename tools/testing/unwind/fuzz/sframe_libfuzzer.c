// SPDX-License-Identifier: GPL-2.0
/*
 * What libFuzzer calls.  Compiled once per target, which is FUZZ_TARGET; without
 * one, each input is for all of them.
 */
#include "sframe_build.h"
#include "sframe_fuzz.h"
#include "sframe_gen.h"
#include "sframe_mutate.h"

static u64 generator(unsigned int seed)
{
	return seed + 1ULL;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
#ifdef FUZZ_TARGET
	fuzz_one(FUZZ_TARGET, data, size);
#else
	enum fuzz_target target;

	for (target = 0; target < FUZZ_TARGETS; target++)
		fuzz_one(target, data, size);
#endif
	return 0;
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max,
			       unsigned int seed)
{
	u64 state = generator(seed);

	if (!gen_below(&state, 8))
		return LLVMFuzzerMutate(data, size, max);
	if (max < FUZZ_CONTROL + SFB_HDR_SIZE)
		return size;
	return fuzz_mutate(data, size, max, &state);
}

size_t LLVMFuzzerCustomCrossOver(const u8 *data, size_t size, const u8 *other,
				 size_t other_size, u8 *out, size_t max,
				 unsigned int seed)
{
	u64 state = generator(seed);

	if (max < FUZZ_CONTROL)
		return 0;
	return fuzz_cross(data, size, other, other_size, out, max, &state);
}
