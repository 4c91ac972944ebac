// SPDX-License-Identifier: GPL-2.0
/*
 * Big-endian sections on a little-endian host (or the other way round).
 *
 * The decoder reads only the machine's own byte order, as a kernel meets tables
 * of its own order only.  To test the other order, each value is swapped on its
 * way from memory, in the size in which it is read.  So the decoder computes with
 * the values that it would have on a machine of that order.
 *
 * The header is the exception.  It is read in words that hold several fields:
 * there, each field is swapped, not the word.
 */
#include <string.h>

#include "diff_order.h"
#include "sframe_format.h"
#include "umem.h"

/* Magic, followed by fields of one byte each */
#define PREAMBLE_END	offsetof(struct sframe_header, num_fdes)

static unsigned long section;

static void reverse(u8 *bytes, size_t size)
{
	size_t i;

	for (i = 0; i < size / 2; i++) {
		u8 byte = bytes[i];

		bytes[i] = bytes[size - 1 - i];
		bytes[size - 1 - i] = byte;
	}
}

static void swap_value(unsigned long addr, void *val, size_t size)
{
	unsigned long offset = addr - section;
	size_t i;

	if (offset >= sizeof(struct sframe_header)) {
		reverse(val, size);
	} else if (offset == 0 && size >= sizeof(u16)) {
		reverse(val, sizeof(u16));
	} else {
		/* The header is read in pieces of several fields: bytes, then words */
		for (i = 0; i < size; i += sizeof(u32))
			if (offset + i >= PREAMBLE_END)
				reverse((u8 *)val + i, sizeof(u32));
	}
}

bool order_follow(unsigned long addr, const u8 *bytes, size_t size)
{
	u16 magic = 0;

	if (size >= sizeof(magic))
		memcpy(&magic, bytes, sizeof(magic));
	section = addr;
	if (magic != __builtin_bswap16(SFRAME_MAGIC)) {
		umem_set_hook(NULL);
		return false;
	}
	umem_set_hook(swap_value);
	return true;
}
