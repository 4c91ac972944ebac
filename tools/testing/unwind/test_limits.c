// SPDX-License-Identifier: GPL-2.0
/*
 * Lookups that would take too long end with -E2BIG: at the stated bound, not
 * before it, and sooner where page faults are not allowed.
 */
#include <errno.h>
#include <stdlib.h>

#include <linux/kernel.h>

#include "sframe_test.h"
#include "umem.h"

static const struct sfb_row row[] = { SFB_ROW(0, SFB_SP, 0, 8) };

static void expect_in(const struct env *env, u64 offset,
		      enum unwind_user_access access, int ret)
{
	struct unwind_row found;

	CHECK_EQ(env_find(env, offset, access, &found), ret);
}

/*
 * @num functions of 16 bytes in falling order, so that the last entry has the
 * lowest address and is looked at after all others.
 */
static void open_scan(struct env *env, u32 num, u8 version)
{
	struct sfb_func *funcs = calloc(num, sizeof(*funcs));
	struct sfb_table table = {
		.version = version, .abi = SFB_AMD64, .fixed_ra = -8,
		.num_funcs = num, .funcs = funcs,
	};
	u32 i;

	for (i = 0; i < num; i++)
		funcs[i] = (struct sfb_func){
			.start = 0x10000000 - 16 * i, .size = 16,
			SFB_ROWS(row),
		};
	env_open(env, &table);
	free(funcs);
}

static void scan(enum unwind_user_access access, u8 version)
{
	u32 max = max_scan(access), last = 0x10000000 - 16 * (max - 1);
	struct env env;

	tap_begin("limits: v%u, %u unsorted functions", version, max);
	open_scan(&env, max, version);
	expect_in(&env, last, access, 0);
	expect_in(&env, last - 1, access, -ENOENT);
	env_close(&env);
	tap_end();

	tap_begin("limits: v%u, %u unsorted functions", version, max + 1);
	open_scan(&env, max + 1, version);
	expect_in(&env, last, access, 0);
	expect_in(&env, last - 1, access, -E2BIG);
	expect_in(&env, last - 17, access, -E2BIG);
	if (access == UNWIND_USER_NOFAULT)
		expect_in(&env, last - 1, UNWIND_USER_FAULTABLE, 0);
	env_close(&env);
	tap_end();
}

/* The bound on scans is none on sorted sections */
static void no_scan(void)
{
	const u32 num = 4 * MAX_SCAN;
	struct sfb_func *funcs = calloc(num, sizeof(*funcs));
	struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED | SFB_PCREL,
		.abi = SFB_AMD64, .fixed_ra = -8, .num_funcs = num,
		.funcs = funcs,
	};
	struct env env;
	u32 i;

	tap_begin("limits: %u sorted functions", num);
	for (i = 0; i < num; i++)
		funcs[i] = (struct sfb_func){
			.start = 0x10000000 + 32 * i, .size = 16,
			SFB_ROWS(row),
		};
	env_open(&env, &table);
	for (i = 0; i < num; i++) {
		expect_in(&env, funcs[i].start, UNWIND_USER_NOFAULT, 0);
		expect_in(&env, funcs[i].start + 16, UNWIND_USER_NOFAULT,
			  -ENOENT);
		/* log2(num) + 1 starts; size, FREs, 4 of the function; 3 */
		if (umem_reads > 17 + 1 + 6 + 3)
			tap_fail("function %u took %lu reads", i, umem_reads);
	}
	expect_in(&env, 0x10000000 - 1, UNWIND_USER_NOFAULT, -ENOENT);
	env_close(&env);
	free(funcs);
	tap_end();
}

/* One function of @num rows, each for one byte */
static void open_rows(struct env *env, u32 num, u8 version)
{
	struct sfb_row *rows = calloc(num, sizeof(*rows));
	const struct sfb_func func = {
		.start = 0x1000, .size = 0x100000, .fre_type = 2, .rows = rows,
		.num_rows = num,
	};
	const struct sfb_table table = {
		.version = version, .flags = SFB_SORTED, .abi = SFB_AMD64,
		.fixed_ra = -8, .num_funcs = 1, .funcs = &func,
	};
	u32 i;

	for (i = 0; i < num; i++)
		rows[i] = (struct sfb_row)SFB_ROW(i, SFB_SP, 2, 8 * i);
	env_open(env, &table);
	free(rows);
}

static void row_bound(enum unwind_user_access access, u8 version)
{
	u32 max = max_fres(access);
	struct env env;

	tap_begin("limits: v%u, %u rows", version, max);
	open_rows(&env, max, version);
	expect_in(&env, 0x1000 + max - 1, access, 0);
	expect_in(&env, 0x1000 + max + 99, access, 0);
	env_close(&env);
	tap_end();

	/* That the last row allowed is the right one, the next one would say */
	tap_begin("limits: v%u, %u rows", version, max + 1);
	open_rows(&env, max + 1, version);
	expect_in(&env, 0x1000 + max - 2, access, 0);
	expect_in(&env, 0x1000 + max - 1, access, -E2BIG);
	expect_in(&env, 0x1000 + max, access, -E2BIG);
	if (access == UNWIND_USER_NOFAULT) {
		expect_in(&env, 0x1000 + max, UNWIND_USER_FAULTABLE, 0);
		expect_cfa(&env, 0x1000 + max - 2, 8 * (max - 2));
	}
	env_close(&env);
	tap_end();
}

/* Version 3 counts rows in 16 bits: the largest function there can be */
static void most_rows_v3(void)
{
	struct env env;

	tap_begin("limits: v3, 65535 rows");
	open_rows(&env, 65535, 3);
	expect_in(&env, 0x1000 + 65534, UNWIND_USER_FAULTABLE, 0);
	expect_in(&env, 0x1000 + 65534, UNWIND_USER_NOFAULT, -E2BIG);
	env_close(&env);
	tap_end();
}

void test_limits(void)
{
	u8 version;

	for (version = 2; version <= 3; version++) {
		scan(UNWIND_USER_NOFAULT, version);
		scan(UNWIND_USER_FAULTABLE, version);
		row_bound(UNWIND_USER_NOFAULT, version);
	}
	row_bound(UNWIND_USER_FAULTABLE, 2);
	most_rows_v3();
	no_scan();
}
