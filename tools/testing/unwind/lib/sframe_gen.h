/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random well-formed tables, a different one per seed.
 *
 * Assemblers do not write such tables today but may (every size of start and word, every
 * ABI, both versions): input for the differ and for the fuzzer.
 */
#ifndef _UNWIND_TEST_SFRAME_GEN_H
#define _UNWIND_TEST_SFRAME_GEN_H

#include "sframe_build.h"

/* A random number from @state, which must not be 0 */
u64 gen_random(u64 *state);

/* A number below @bound */
static inline u32 gen_below(u64 *state, u32 bound)
{
	return gen_random(state) % bound;
}

/* Build the table that belongs to @seed, of at most @max_funcs functions */
void gen_table(struct sfb_image *img, u64 seed, u32 max_funcs);

#endif /* _UNWIND_TEST_SFRAME_GEN_H */
