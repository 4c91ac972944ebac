// SPDX-License-Identifier: GPL-2.0
/*
 * All that perf record compresses into records comes back out of these records,
 * without what is compressed after it: also data that gets no shorter, and a last piece that
 * just does not fit into a record.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "tests.h"
#include "util/compress.h"
#include "util/debug.h"

#ifdef HAVE_ZSTD_SUPPORT
/* As long as the payload of a record may be, less than 64 KiB */
#define RECORD_SIZE	65504UL

struct record {
	size_t size;
};

static ssize_t set_size(void *where, size_t room, size_t size)
{
	struct record *record = where;

	if (size) {
		record->size = size;
		return 0;
	}
	return room < sizeof(*record) ? -1 : (ssize_t)sizeof(*record);
}

/* Noise, which does not compress, or bytes that all are the same */
static void fill(unsigned char *data, size_t size, bool noise)
{
	u32 state = 1;
	size_t i;

	for (i = 0; i < size; i++) {
		state = state * 1664525 + 1013904223;
		data[i] = noise ? state >> 24 : 0x55;
	}
}

/* Decompress the records that @size bytes at @from consist of; return how many bytes that are */
static size_t decompress(void *from, size_t size, unsigned char *to, size_t room)
{
	struct zstd_data zstd = {};
	size_t at = 0, got = 0;

	zstd_init(&zstd, 0);
	while (at < size) {
		struct record *record = from + at;

		got += zstd_decompress_stream(&zstd, record + 1, record->size,
					      to + got, room - got);
		at += sizeof(*record) + record->size;
	}
	zstd_fini(&zstd);
	return got;
}

static int check(size_t size, bool noise)
{
	size_t room = 2 * size + 4 * RECORD_SIZE, got = 0;
	struct zstd_data zstd = {};
	unsigned char *data = malloc(size), *out = malloc(room);
	void *records = malloc(room);
	ssize_t compressed;
	int err = -ENOMEM;

	if (data && out && records) {
		fill(data, size, noise);
		zstd_init(&zstd, 1);
		compressed = zstd_compress_stream_to_records(&zstd, records, room, data, size,
							     RECORD_SIZE, set_size);
		zstd_fini(&zstd);
		if (compressed > 0)
			got = decompress(records, compressed, out, room);
		err = got == size && !memcmp(data, out, size) ? 0 : -EIO;
		if (err)
			pr_debug("%zu bytes of %s: %zu came back\n", size,
				 noise ? "noise" : "the same", got);
	}
	free(records);
	free(out);
	free(data);
	return err;
}

static int test__compress(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const size_t sizes[] = {
		1, RECORD_SIZE / 2, RECORD_SIZE - 1024, RECORD_SIZE - 1, RECORD_SIZE,
		RECORD_SIZE + 1, 2 * RECORD_SIZE, 1000000, 5000000,
	};
	int ret = TEST_OK;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (check(sizes[i], true) || check(sizes[i], false))
			ret = TEST_FAIL;
	}
	return ret;
}
#else
static int test__compress(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return TEST_SKIP;
}
#endif

DEFINE_SUITE("Compressed records hold all data", compress);
