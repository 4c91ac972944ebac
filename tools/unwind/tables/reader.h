/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cursor over untrusted bytes. A read beyond the end returns 0 and marks the cursor as
 * bad; it stays bad. Values are little-endian.
 */
#ifndef _UNWIND_TABLES_READER_H
#define _UNWIND_TABLES_READER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

struct reader {
	const __u8	*pos;
	const __u8	*end;
	bool		bad;
};

static inline size_t reader_left(const struct reader *r)
{
	return r->end - r->pos;
}

/* Take @size bytes; NULL if there are fewer */
static inline const __u8 *read_bytes(struct reader *r, __u64 size)
{
	const __u8 *bytes = r->pos;

	if (size > reader_left(r)) {
		r->bad = true;
		r->pos = r->end;
		return NULL;
	}
	r->pos += size;
	return bytes;
}

/* An unsigned value of @size bytes, at most 8 */
static inline __u64 read_uint(struct reader *r, unsigned int size)
{
	const __u8 *bytes = read_bytes(r, size);
	__u64 val = 0;

	while (bytes && size--)
		val = val << 8 | bytes[size];
	return val;
}

static inline __s64 read_sint(struct reader *r, unsigned int size)
{
	unsigned int unused = 64 - 8 * size;

	return (__s64)(read_uint(r, size) << unused) >> unused;
}

static inline __u8 read_u8(struct reader *r)
{
	if (r->pos == r->end) {
		r->bad = true;
		return 0;
	}
	return *r->pos++;
}

/* LEB128; more than 64 bits are bad */
static inline __u64 read_leb(struct reader *r, bool is_signed)
{
	unsigned int shift = 0;
	__u64 val = 0;
	__u8 byte;

	do {
		byte = read_u8(r);
		if (shift > 63) {
			r->bad = true;
			return 0;
		}
		val |= (__u64)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		val |= -1ULL << shift;
	return val;
}

static inline __u64 read_uleb(struct reader *r)
{
	return read_leb(r, false);
}

static inline __s64 read_sleb(struct reader *r)
{
	return read_leb(r, true);
}

#endif /* _UNWIND_TABLES_READER_H */
