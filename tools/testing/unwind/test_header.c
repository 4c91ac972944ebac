// SPDX-License-Identifier: GPL-2.0
/*
 * Headers: which are accepted, and which error each of the others gets.
 *
 * One good table is the start of every case; a case changes a field or two.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "sframe_format.h"
#include "sframe_test.h"
#include "umem.h"

static const struct sfb_row rows[] = { SFB_ROW(0, SFB_SP, 0, 8) };
static const struct sfb_func funcs[] = {
	{ .start = 0x1000, .size = 0x10, SFB_ROWS(rows) },
	{ .start = 0x1010, .size = 0x10, SFB_ROWS(rows) },
};

/* Built, 28 + 2 * 16 + 2 * (5 + 3) = 76 bytes; in version 2, 74 */
static struct sfb_table good_table(u8 version)
{
	return (struct sfb_table){
		.version = version, .flags = SFB_SORTED | SFB_PCREL,
		.abi = SFB_AMD64, .fixed_ra = -8, SFB_FUNCS(funcs),
	};
}

struct field {
	u32	pos;
	u8	size;
	u64	val;
};

struct header_case {
	const char	*name;
	int		ret;
	u8		version;
	struct field	fields[3];
};

static const struct header_case cases[] = {
	{ "v2 as it is", 0, 2, {} },
	{ "v3 as it is", 0, 3, {} },
	{ "magic", -ENOEXEC, 3, { { SFB_HDR_MAGIC, 2, 0xdee3 } } },
	{ "magic zero", -ENOEXEC, 3, { { SFB_HDR_MAGIC, 2, 0 } } },
	{ "magic of the other byte order", -ENOEXEC, 3,
	  { { SFB_HDR_MAGIC, 2, 0xe2de } } },
	{ "bad magic comes before bad version", -ENOEXEC, 3,
	  { { SFB_HDR_MAGIC, 2, 0 }, { SFB_HDR_VERSION, 1, 4 } } },
	{ "version 0", -EOPNOTSUPP, 3, { { SFB_HDR_VERSION, 1, 0 } } },
	{ "version 1", -EOPNOTSUPP, 3, { { SFB_HDR_VERSION, 1, 1 } } },
	{ "version 4", -EOPNOTSUPP, 3, { { SFB_HDR_VERSION, 1, 4 } } },
	{ "version 255", -EOPNOTSUPP, 3, { { SFB_HDR_VERSION, 1, 255 } } },
	{ "a version unknown may have flags unknown", -EOPNOTSUPP, 3,
	  { { SFB_HDR_VERSION, 1, 4 }, { SFB_HDR_FLAGS, 1, 0xff } } },
	{ "v2 no flags", 0, 2, { { SFB_HDR_FLAGS, 1, 0 } } },
	{ "v3 no flags", 0, 3, { { SFB_HDR_FLAGS, 1, 0 } } },
	{ "v2 frame pointer flag", 0, 2, { { SFB_HDR_FLAGS, 1, 7 } } },
	{ "v3 frame pointer flag", -ENOEXEC, 3, { { SFB_HDR_FLAGS, 1, 7 } } },
	{ "v2 unknown flag 3", -ENOEXEC, 2, { { SFB_HDR_FLAGS, 1, 9 } } },
	{ "v3 unknown flag 3", -ENOEXEC, 3, { { SFB_HDR_FLAGS, 1, 9 } } },
	{ "v2 unknown flag 7", -ENOEXEC, 2, { { SFB_HDR_FLAGS, 1, 0x80 } } },
	{ "v3 unknown flag 7", -ENOEXEC, 3, { { SFB_HDR_FLAGS, 1, 0x80 } } },
	{ "ABI 0", -ENOEXEC, 3, { { SFB_HDR_ABI, 1, 0 } } },
	{ "ABI AArch64", -ENOEXEC, 3, { { SFB_HDR_ABI, 1, SFB_AARCH64 } } },
	{ "ABI 255", -ENOEXEC, 2, { { SFB_HDR_ABI, 1, 255 } } },
	{ "no functions", 0, 3, { { SFB_HDR_NUM_FDES, 4, 0 } } },
	{ "no functions, no rows", 0, 3,
	  { { SFB_HDR_NUM_FDES, 4, 0 }, { SFB_HDR_FRE_LEN, 4, 0 } } },
	{ "number of rows is not used", 0, 3,
	  { { SFB_HDR_NUM_FRES, 4, 0xffffffff } } },
	{ "v2 FDEs one past FREs", -ENOEXEC, 2, { { SFB_HDR_NUM_FDES, 4, 3 } } },
	{ "v3 FDEs one past FREs", -ENOEXEC, 3, { { SFB_HDR_NUM_FDES, 4, 3 } } },
	{ "FDEs one byte past FREs", -ENOEXEC, 3, { { SFB_HDR_FDEOFF, 4, 1 } } },
	{ "FREs one byte before end of FDEs", -ENOEXEC, 3,
	  { { SFB_HDR_FREOFF, 4, 31 }, { SFB_HDR_FRE_LEN, 4, 1 } } },
	{ "aux header over everything", -ENOEXEC, 3,
	  { { SFB_HDR_AUX_LEN, 1, 255 } } },
	{ "aux header one byte too long", -ENOEXEC, 3,
	  { { SFB_HDR_AUX_LEN, 1, 1 } } },
	{ "aux header in place of an FDE", 0, 3,
	  { { SFB_HDR_AUX_LEN, 1, 16 }, { SFB_HDR_NUM_FDES, 4, 1 },
	    { SFB_HDR_FREOFF, 4, 16 } } },
	{ "FREs one byte past end", -ENOEXEC, 3, { { SFB_HDR_FRE_LEN, 4, 17 } } },
	{ "FREs one byte short", 0, 3, { { SFB_HDR_FRE_LEN, 4, 15 } } },
	{ "FREs huge", -ENOEXEC, 3, { { SFB_HDR_FRE_LEN, 4, 0xffffffff } } },
	{ "FRE offset at end, none there", 0, 3,
	  { { SFB_HDR_FREOFF, 4, 48 }, { SFB_HDR_FRE_LEN, 4, 0 } } },
	{ "FRE offset past end, none there", -ENOEXEC, 3,
	  { { SFB_HDR_FREOFF, 4, 49 }, { SFB_HDR_FRE_LEN, 4, 0 } } },
	{ "FDE offset past FRE offset, none there", -ENOEXEC, 3,
	  { { SFB_HDR_FDEOFF, 4, 33 }, { SFB_HDR_NUM_FDES, 4, 0 } } },
	/* In 32 bits each of the following would wrap to something small */
	{ "v3 2^28 FDEs", -ENOEXEC, 3, { { SFB_HDR_NUM_FDES, 4, 0x10000000 } } },
	{ "v2 2^32 / 20 FDEs", -ENOEXEC, 2,
	  { { SFB_HDR_NUM_FDES, 4, 0x0ccccccd } } },
	{ "2^32 - 1 FDEs", -ENOEXEC, 3,
	  { { SFB_HDR_NUM_FDES, 4, 0xffffffff } } },
	{ "v2 FDE offset wraps", -ENOEXEC, 2,
	  { { SFB_HDR_FDEOFF, 4, 0xffffffd8 } } },
	{ "v3 FDE offset wraps", -ENOEXEC, 3,
	  { { SFB_HDR_FDEOFF, 4, 0xffffffe0 } } },
	{ "FDE offset + header wraps", -ENOEXEC, 3,
	  { { SFB_HDR_FDEOFF, 4, 0xffffffe4 } } },
	{ "FRE offset + length wraps", -ENOEXEC, 3,
	  { { SFB_HDR_FREOFF, 4, 0xfffffff0 } } },
	{ "FRE offset + header wraps", -ENOEXEC, 3,
	  { { SFB_HDR_FREOFF, 4, 0xfffffffc } } },
	{ "FRE offset wraps with its length", -ENOEXEC, 3,
	  { { SFB_HDR_FREOFF, 4, 0x20 }, { SFB_HDR_FRE_LEN, 4, 0xffffffe0 } } },
	{ "all offsets huge", -ENOEXEC, 3,
	  { { SFB_HDR_FDEOFF, 4, 0xffffffff }, { SFB_HDR_FREOFF, 4, 0xffffffff },
	    { SFB_HDR_FRE_LEN, 4, 0xffffffff } } },
};

static void header_case(const struct header_case *c)
{
	const struct sfb_table table = good_table(c->version);
	struct sframe_section sec;
	struct sfb_image img;
	unsigned int i;

	tap_begin("header: %s", c->name);
	sfb_build(&img, &table);
	for (i = 0; i < ARRAY_SIZE(c->fields) && c->fields[i].size; i++)
		sfb_put(&img, c->fields[i].pos, c->fields[i].size,
			c->fields[i].val);
	umem_map(DEFAULT_BASE, img.bytes, img.size);
	CHECK_EQ(sframe_read_header(&sec, DEFAULT_BASE, img.size, SFB_AMD64),
		 c->ret);
	umem_unmap_all();
	sfb_free(&img);
	tap_end();
}

/* What is accepted is also understood: every field of the description */
static void header_fields(u8 version)
{
	struct sfb_table table = good_table(version);
	struct env env;

	tap_begin("header: v%u, what is found in it", version);
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
	CHECK_EQ(env.sec.abi, SFB_AMD64);
	CHECK_EQ(env.sec.fixed_fp, -16);
	CHECK_EQ(env.sec.fixed_ra, -8);
	env_close(&env);
	tap_end();
}

/* Cut off at every length; nothing past the end may be looked at */
static void header_truncated(u8 version)
{
	const struct sfb_table table = good_table(version);
	struct sframe_section sec;
	struct sfb_image img;
	u32 size;

	tap_begin("header: v%u, sections cut off at every length", version);
	sfb_build(&img, &table);
	for (size = 0; size <= img.size; size++) {
		u8 *part = malloc(size);

		memcpy(part, img.bytes, size);
		umem_map(DEFAULT_BASE, part, size);
		umem_start();
		CHECK_EQ(sframe_read_header(&sec, DEFAULT_BASE, size,
					    SFB_AMD64),
			 size == img.size ? 0 : -ENOEXEC);
		CHECK_EQ(umem_reads, size < SFB_HDR_SIZE ? 0 : 7);
		umem_unmap_all();
		free(part);
	}
	sfb_free(&img);
	tap_end();
}

/* The section claims to end at or past the end of the address space */
static void header_at_end_of_memory(void)
{
	const struct sfb_table table = good_table(3);
	struct sframe_section sec;
	struct sfb_image img;

	tap_begin("header: at the end of the address space");
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
	tap_end();
}

static void header_unreadable(void)
{
	const struct sfb_table table = good_table(3);
	struct sframe_section sec;
	struct sfb_image img;
	unsigned long k;

	tap_begin("header: each read of it fails");
	sfb_build(&img, &table);
	umem_map(DEFAULT_BASE, img.bytes, img.size);
	for (k = 1; k <= 7; k++) {
		umem_start();
		umem_fail_at(k);
		CHECK_EQ(sframe_read_header(&sec, DEFAULT_BASE, img.size,
					    SFB_AMD64), -EFAULT);
		CHECK_EQ(umem_reads, k);
	}
	umem_fail_at(0);
	umem_unmap_all();
	sfb_free(&img);
	tap_end();
}

/* The decoder takes the ABI from its caller, who takes it from here */
static void abi_numbers(void)
{
	tap_begin("header: numbers of the ABIs");
	CHECK_EQ(SFRAME_ABI_AMD64_ENDIAN_LITTLE, SFB_AMD64);
	CHECK_EQ(SFRAME_ABI_AARCH64_ENDIAN_LITTLE, SFB_AARCH64);
	CHECK_EQ(SFRAME_ABI_AARCH64_ENDIAN_BIG, SFB_AARCH64_BE);
	tap_end();
}

void test_header(void)
{
	unsigned int i;

	abi_numbers();
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		header_case(&cases[i]);
	header_fields(2);
	header_fields(3);
	header_truncated(2);
	header_truncated(3);
	header_at_end_of_memory();
	header_unreadable();
}
