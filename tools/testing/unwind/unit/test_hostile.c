// SPDX-License-Identifier: GPL-2.0
/*
 * Sections that are cut off anywhere, that change while they are read, or where any read
 * fails.
 *
 * Entries that make no sense give -EINVAL for their functions, and change nothing for the
 * functions around. Reads that fail give -EFAULT, at once. Values that change may give
 * any answer, as long as no guarantee is broken. Single faults are among the cases that
 * KUnit runs too (sframe_cases_lookup.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "sframe_test.h"
#include "umem.h"

static const struct sfb_fre good_a[] = { SFB_FRE(0, SFB_SP, 0, 8) };
static const struct sfb_fre good_b[] = { SFB_FRE(0, SFB_SP, 2, 24) };
static const struct sfb_fre victim[] = {
	SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(4, SFB_SP, 0, 16, -16),
	SFB_FRE(8, SFB_FP, 0, 16, -16),
};

static const struct sfb_func funcs[] = {
	{ .start = 0x1000, .size = 0x10, SFB_FRES(good_a) },
	{ .start = 0x1010, .size = 0x10, .rep_size = 4, SFB_FRES(victim) },
	{ .start = 0x1020, .size = 0x10, SFB_FRES(good_b) },
};

static struct sfb_table hostile_table(u8 version, u8 flags)
{
	return (struct sfb_table){
		.version = version, .flags = flags, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};
}

/*
 * The last function's FREs are cut off at every byte: the FRE sub-section is
 * made shorter, and the buffer with it.
 */
static void cut_off(u8 version, u8 size_code)
{
	const struct sfb_fre last_fres[] = {
		SFB_FRE(0, SFB_SP, size_code, 8),
		SFB_FRE(8, SFB_SP, size_code, 16, -16),
	};
	const struct sfb_func last_funcs[] = {
		{ .start = 0x1000, .size = 0x10, SFB_FRES(good_a) },
		{ .start = 0x1020, .size = 0x10, .fre_type = size_code,
		  SFB_FRES(last_fres) },
	};
	struct sfb_table table = hostile_table(version, SFB_SORTED);
	u32 total, first_end, size;
	struct env env;

	tap_begin("hostile: v%u, FREs cut off at any byte return EINVAL, size %u", version,
		  1 << size_code);
	table.funcs = last_funcs;
	table.num_funcs = ARRAY_SIZE(last_funcs);
	env_open(&env, &table);
	total = env.img.size;
	/* The end of the first FRE, and of the second's start */
	first_end = env.img.func_fres[1] + (version == 3 ? 5 : 0) +
		    (1 << size_code) + 1 + (1 << size_code);
	env_close(&env);

	for (size = total - 1; size >= first_end - (1 << size_code) * 2 - 1;
	     size--) {
		sfb_build(&env.img, &table);
		sfb_put(&env.img, SFB_HDR_FRE_LEN, 4, size - env.img.fres);
		env.img.bytes = realloc(env.img.bytes, size);
		env.img.size = size;
		env.base = DEFAULT_BASE;
		umem_map(env.base, env.img.bytes, size);
		CHECK_EQ(sframe_read_header(&env.sec, env.base, size,
					    SFB_AMD64), 0);
		expect_cfa(&env, 0x1000, 8);
		expect_error(&env, 0x1028, -EINVAL);
		/* The second's start is needed to see that it starts later */
		if (size < first_end + (1 << size_code) + 1)
			expect_error(&env, 0x1020, -EINVAL);
		else
			expect_cfa(&env, 0x1020, 8);
		env_close(&env);
	}
}

/* No room even for the attributes of the only function, or for its first FRE */
static void nothing_left(const struct sfb_func *func, u32 needed)
{
	struct sfb_table table = hostile_table(3, SFB_SORTED);
	struct env env;
	u32 left;

	tap_begin("hostile: v3, 0 to %u bytes of FREs return EINVAL", needed - 1);
	table.funcs = func;
	table.num_funcs = 1;
	for (left = 0; left < needed; left++) {
		sfb_build(&env.img, &table);
		sfb_put(&env.img, SFB_HDR_FRE_LEN, 4, left);
		env.img.size = env.img.fres + left;
		env.img.bytes = realloc(env.img.bytes, env.img.size);
		env.base = DEFAULT_BASE;
		umem_map(env.base, env.img.bytes, env.img.size);
		CHECK_EQ(sframe_read_header(&env.sec, env.base, env.img.size,
					    SFB_AMD64), 0);
		expect_error(&env, 0x1000, -EINVAL);
		env_close(&env);
	}
}

/* One lookup, with each of its reads failing in turn */
static void each_read_fails(const struct env *env, u64 offset)
{
	struct unwind_frame_rule rule;
	unsigned long k, reads;

	env_find(env, offset, &rule);
	reads = umem_reads;
	if (!reads)
		tap_fail("at %#llx: nothing was read", (unsigned long long)offset);
	for (k = 1; k <= reads; k++) {
		umem_fail_at(k);
		CHECK_EQ(env_find(env, offset, &rule), -EFAULT);
		CHECK_EQ(umem_reads, k);
	}
	umem_fail_at(0);
}

static void unreadable(u8 version, u8 flags, s8 fixed_ra)
{
	static const struct sfb_fre flex_fres[] = {
		SFB_FRE(0, SFB_SP, 1, 7 << 3 | 1, 16, 2, -8, 2, -16),
	};
	static const struct sfb_fre outermost[] = { SFB_FRE_OUTERMOST(0) };
	static const struct sfb_fre r4[] = { SFB_FRE(0, SFB_SP, 2, 8, -16) };
	static const struct sfb_fre r3[] = { SFB_FRE(0, SFB_SP, 0, 8, -16, -8) };
	const struct sfb_func all[] = {
		{ .start = 0x1000, .size = 0x10, SFB_FRES(victim) },
		{ .start = 0x1010, .size = 0x10, .fre_type = 1, .type = 1,
		  SFB_FRES(flex_fres) },
		{ .start = 0x1020, .size = 0x10, .fre_type = 2, SFB_FRES(r4) },
		{ .start = 0x1030, .size = 0x10, SFB_FRES(outermost) },
		{ .start = 0x1040, .size = 0x10 },
		{ .start = 0x1050, .size = 0x10, SFB_FRES(r3) },
	};
	struct sfb_table table = hostile_table(version, flags);
	struct env env;
	u64 offset;

	tap_begin("hostile: v%u, %ssorted, RA %sfixed, each failed read returns EFAULT", version,
		  flags & SFB_SORTED ? "" : "un", fixed_ra ? "" : "not ");
	table.fixed_ra = fixed_ra;
	table.funcs = all;
	table.num_funcs = ARRAY_SIZE(all);
	env_open(&env, &table);
	for (offset = 0xfff; offset < 0x1060; offset++)
		each_read_fails(&env, offset);
	env_close(&env);
}

/* Random values for the k-th read and all after it */
static unsigned long mutate_from;
static u64 mutate_state;

static u64 next_random(void)
{
	mutate_state ^= mutate_state << 13;
	mutate_state ^= mutate_state >> 7;
	return mutate_state ^= mutate_state << 17;
}

static void mutate(unsigned long addr, void *val, size_t size)
{
	u8 *bytes = val;

	(void)addr;
	if (umem_reads < mutate_from || next_random() & 1)
		return;
	for (; size; size--, bytes++)
		*bytes = next_random() & 1 ? next_random() : *bytes ^ 0xff;
}

/*
 * Any documented answer is allowed except -EFAULT, because memory can be read; env_find()
 * checks the guarantees.
 */
static void changing(u8 version, u8 flags)
{
	const struct sfb_table table = hostile_table(version, flags);
	unsigned int found = 0, refused = 0, round;
	struct unwind_frame_rule rule;
	struct env env;
	int ret;

	tap_begin("hostile: v%u, flags %u, values that change break no promise",
		  version, flags);
	env_open(&env, &table);
	mutate_state = 88172645463325252ULL;
	umem_set_hook(mutate);
	for (round = 0; round < 20000; round++) {
		mutate_from = 1 + round % 20;
		ret = env_find(&env, 0xff0 + round % 0x50, &rule);
		if (ret == -EFAULT)
			tap_fail("round %u: -EFAULT", round);
		found += !ret;
		refused += ret == -EINVAL;
	}
	umem_set_hook(NULL);
	/* Otherwise the values did not change as intended */
	if (!found || !refused)
		tap_fail("%u FREs, %u refusals", found, refused);
	env_close(&env);
}

/* The header, but for its counts, is read once: later changes move no bound */
static void header_changes(u8 version)
{
	const struct sfb_table table = hostile_table(version, SFB_SORTED);
	struct env env;

	tap_begin("hostile: v%u, a header that changes later moves no bound", version);
	env_open(&env, &table);
	sfb_put(&env.img, SFB_HDR_VERSION, 1, version ^ 1);
	sfb_put(&env.img, SFB_HDR_FLAGS, 1, 0xff);
	sfb_put(&env.img, SFB_HDR_ABI, 1, SFB_AARCH64);
	sfb_put(&env.img, SFB_HDR_FIXED_RA, 1, 77);
	sfb_put(&env.img, SFB_HDR_FDEOFF, 4, 0xfffffff0);
	sfb_put(&env.img, SFB_HDR_FREOFF, 4, 0xfffffff0);
	expect_cfa(&env, 0x1000, 8);
	expect_cfa(&env, 0x102f, 24);
	expect_error(&env, 0x1030, -ENOENT);
	env_close(&env);
}

/* A section that lies partly outside user memory is not read at all */
static void not_user_memory(u8 version)
{
	const struct sfb_table table = hostile_table(version, SFB_SORTED);
	struct unwind_frame_rule rule;
	struct env env;

	tap_begin("hostile: v%u, a section beyond user memory returns EFAULT", version);
	env_open(&env, &table);
	umem_set_end_of_memory(env.base + env.img.size);
	expect_cfa(&env, 0x1000, 8);
	umem_set_end_of_memory(env.base + env.img.size - 1);
	expect_error(&env, 0x1000, -EFAULT);
	env_find(&env, 0x1000, &rule);
	CHECK_EQ(umem_reads, 0);
	umem_set_end_of_memory(-1UL);
	env_close(&env);
}

/* A sorted index that is unsorted: a found function must still cover the address */
static void not_sorted(u8 version)
{
	static const struct sfb_func liars[] = {
		{ .start = 0x3000, .size = 0x10, SFB_FRES(good_a) },
		{ .start = 0x1000, .size = 0x10, SFB_FRES(good_b) },
		{ .start = 0x2000, .size = 0x10, SFB_FRES(good_a) },
		{ .start = 0x1000, .size = 0x10, SFB_FRES(good_b) },
	};
	struct sfb_table table = hostile_table(version, SFB_SORTED);
	struct unwind_frame_rule rule;
	struct env env;
	u64 offset;
	int ret;

	tap_begin("hostile: v%u, an unsorted index gives no wrong FRE", version);
	table.funcs = liars;
	table.num_funcs = ARRAY_SIZE(liars);
	env_open(&env, &table);
	for (offset = 0; offset < 0x4000; offset += 8) {
		ret = env_find(&env, offset, &rule);
		if (ret == -ENOENT)
			continue;
		CHECK_EQ(ret, 0);
		CHECK_EQ(rule.cfa.offset, (offset & ~0xfULL) == 0x1000 ? 24 : 8);
		if ((offset & 0xfff) >= 0x10 || offset < 0x1000)
			tap_fail("an FRE for %#llx, where no function is",
				 (unsigned long long)offset);
	}
	env_close(&env);
}

void test_hostile(void)
{
	static const struct sfb_func outermost = {
		.start = 0x1000, .size = 0x10,
	};
	u8 version, code;

	nothing_left(&funcs[0], 8);
	nothing_left(&outermost, 5);
	for (version = 2; version <= 3; version++) {
		for (code = 0; code <= 2; code++)
			cut_off(version, code);
		unreadable(version, SFB_SORTED, -8);
		unreadable(version, SFB_PCREL, -8);
		unreadable(version, SFB_SORTED, 0);
		changing(version, SFB_SORTED | SFB_PCREL);
		changing(version, 0);
		header_changes(version);
		not_sorted(version);
		not_user_memory(version);
	}
}
