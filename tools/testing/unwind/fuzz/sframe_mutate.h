/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mutations of fuzz inputs (see sframe_fuzz.h) that know the format, shared
 * by libFuzzer's driver and ours.
 */
#ifndef _UNWIND_TEST_SFRAME_MUTATE_H
#define _UNWIND_TEST_SFRAME_MUTATE_H

#include <linux/types.h>

/* Change @data of @size bytes, with room for @max, in place; the new size */
u32 fuzz_mutate(u8 *data, u32 size, u32 max, u64 *state);

/* Functions of @other among those of @data; writes @out, returns its size */
u32 fuzz_cross(const u8 *data, u32 size, const u8 *other, u32 other_size,
	       u8 *out, u32 max, u64 *state);

/* An input around a section, with a random seed and mostly its own ABI */
u32 fuzz_input(const u8 *section, u32 size, u8 *out, u32 max, u64 *state);

#endif /* _UNWIND_TEST_SFRAME_MUTATE_H */
