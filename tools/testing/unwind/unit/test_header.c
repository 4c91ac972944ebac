// SPDX-License-Identifier: GPL-2.0
/*
 * Headers: their fields, and headers that are cut off or cannot be read. The cases that
 * KUnit runs too (sframe_cases_header.c) cover accepted headers, and the error of each
 * other one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "sframe_format.h"
#include "sframe_test.h"
#include "umem.h"

static const struct sfb_fre fres[] = { SFB_FRE(0, SFB_SP, 0, 8) };
static const struct sfb_func funcs[] = {
	{ .start = 0x1000, .size = 0x10, SFB_FRES(fres) },
	{ .start = 0x1010, .size = 0x10, SFB_FRES(fres) },
};

/* Built, 28 + 2 * 16 + 2 * (5 + 3) = 76 bytes; in version 2, 74 */
static struct sfb_table good_table(u8 version)
{
	return (struct sfb_table){
		.version = version, .flags = SFB_SORTED | SFB_PCREL,
		.abi = SFB_AMD64, .fixed_ra = -8, SFB_FUNCS(funcs),
	};
}

/* A caller that passes an unknown ABI is refused, too */
static void unknown_abis(u8 version)
{
	struct sfb_table table = good_table(version);
	unsigned int abi;

	tap_begin("header: v%u, only known ABIs are accepted", version);
	for (abi = 0; abi <= U8_MAX; abi++) {
		struct sframe_section sec;
		struct sfb_image img;

		table.abi = abi;
		sfb_build(&img, &table);
		umem_map(DEFAULT_BASE, img.bytes, img.size);
		CHECK_EQ(sframe_read_header(&sec, DEFAULT_BASE, img.size, abi),
			 abi >= SFB_AARCH64_BE && abi <= SFB_AMD64 ? 0 :
								     -ENOEXEC);
		umem_unmap_all();
		sfb_free(&img);
	}
}

/* Every field of an accepted header reaches the description */
static void header_fields(u8 version)
{
	struct sfb_table table = good_table(version);
	struct env env;

	tap_begin("header: v%u, every field is found", version);
	table.aux_len = 7;
	table.fde_gap = 3;
	table.fre_gap = 5;
	table.fixed_fp = -16;
	env_open(&env, &table);
	CHECK_EQ(env.sec.start, DEFAULT_BASE);
	CHECK_EQ(env.sec.fdes, DEFAULT_BASE + 28 + 7 + 3);
	CHECK_EQ(env.sec.fres, DEFAULT_BASE + 28 + 7 + 3 +
		 2 * (version == 3 ? 16 : 20) + 5);
	CHECK_EQ(env.sec.num_fdes, 2);
	CHECK_EQ(env.sec.fre_len, 2 * (version == 3 ? 8 : 3));
	CHECK_EQ(env.sec.version, version);
	CHECK_EQ(env.sec.flags, SFB_SORTED | SFB_PCREL);
	CHECK_EQ(env.sec.aarch64, false);
	CHECK_EQ(env.sec.fixed.fp.offset, -16);
	CHECK_EQ(env.sec.fixed.ra.offset, -8);
	env_close(&env);
}

/* Cut off at every length; no byte past the end may be read */
static void header_truncated(u8 version)
{
	const struct sfb_table table = good_table(version);
	struct sframe_section sec;
	struct sfb_image img;
	u32 size;

	tap_begin("header: v%u, a section that is cut off returns ENOEXEC", version);
	sfb_build(&img, &table);
	for (size = 0; size <= img.size; size++) {
		u8 *part = malloc(size);

		memcpy(part, img.bytes, size);
		umem_map(DEFAULT_BASE, part, size);
		umem_start();
		CHECK_EQ(sframe_read_header(&sec, DEFAULT_BASE, size,
					    SFB_AMD64),
			 size == img.size ? 0 : -ENOEXEC);
		CHECK_EQ(umem_reads, size < 4 ? 0 :
			 size < SFB_HDR_SIZE ? 1 : 2);
		umem_unmap_all();
		free(part);
	}
	sfb_free(&img);
}

/* The preamble has the version of the rest, whatever version has that size */
static void header_preamble(void)
{
	const struct sfb_table table = good_table(3);
	struct sframe_section sec;
	struct sfb_image img;
	u32 size;

	tap_begin("header: version 4 returns EOPNOTSUPP by its preamble alone");
	sfb_build(&img, &table);
	sfb_put(&img, SFB_HDR_VERSION, 1, 4);
	for (size = 0; size <= img.size; size++) {
		u8 *part = malloc(size);

		memcpy(part, img.bytes, size);
		umem_map(DEFAULT_BASE, part, size);
		umem_start();
		CHECK_EQ(sframe_read_header(&sec, DEFAULT_BASE, size,
					    SFB_AMD64),
			 size < 4 ? -ENOEXEC : -EOPNOTSUPP);
		CHECK_EQ(umem_reads, size < 4 ? 0 : 1);
		umem_unmap_all();
		free(part);
	}
	sfb_free(&img);
}

/* The section claims to end at or past the end of the address space */
static void header_at_end_of_memory(void)
{
	const struct sfb_table table = good_table(3);
	struct sframe_section sec;
	struct sfb_image img;

	tap_begin("header: a section that wraps the address space returns ENOEXEC");
	sfb_build(&img, &table);
	umem_map(-(unsigned long)img.size - 1, img.bytes, img.size);
	CHECK_EQ(sframe_read_header(&sec, -(unsigned long)img.size - 1,
				    img.size, SFB_AMD64), 0);
	CHECK_EQ(sframe_read_header(&sec, -(unsigned long)img.size - 1,
				    img.size + 1, SFB_AMD64), -ENOEXEC);
	CHECK_EQ(sframe_read_header(&sec, -(unsigned long)img.size - 1,
				    img.size + 2, SFB_AMD64), -ENOEXEC);
	CHECK_EQ(sframe_read_header(&sec, DEFAULT_BASE, -1UL, SFB_AMD64),
		 -ENOEXEC);
	umem_unmap_all();
	sfb_free(&img);
}

static void header_unreadable(void)
{
	const struct sfb_table table = good_table(3);
	struct sframe_section sec;
	struct sfb_image img;
	unsigned long k;

	tap_begin("header: each failed read returns EFAULT");
	sfb_build(&img, &table);
	umem_map(DEFAULT_BASE, img.bytes, img.size);
	for (k = 1; k <= 2; k++) {
		umem_start();
		umem_fail_at(k);
		CHECK_EQ(sframe_read_header(&sec, DEFAULT_BASE, img.size,
					    SFB_AMD64), -EFAULT);
		CHECK_EQ(umem_reads, k);
	}
	umem_fail_at(0);
	umem_unmap_all();
	sfb_free(&img);
}

/* The decoder takes the ABI from its caller, which takes it from here */
static void abi_numbers(void)
{
	tap_begin("header: ABIs have the numbers of the specification");
	CHECK_EQ(SFRAME_ABI_AMD64_ENDIAN_LITTLE, SFB_AMD64);
	CHECK_EQ(SFRAME_ABI_AARCH64_ENDIAN_LITTLE, SFB_AARCH64);
	CHECK_EQ(SFRAME_ABI_AARCH64_ENDIAN_BIG, SFB_AARCH64_BE);
	CHECK_EQ(SFRAME_ABI_S390X_ENDIAN_BIG, 4);
}

void test_header(void)
{
	abi_numbers();
	unknown_abis(2);
	unknown_abis(3);
	header_fields(2);
	header_fields(3);
	header_truncated(2);
	header_truncated(3);
	header_preamble();
	header_at_end_of_memory();
	header_unreadable();
}
