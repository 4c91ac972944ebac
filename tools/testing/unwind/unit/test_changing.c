// SPDX-License-Identifier: GPL-2.0
/*
 * Sections that change: a compiler adds functions, removes them, and creates them again
 * while the section is in use.
 *
 * The writer is part of the test. It writes between any two reads of the lookup, in the
 * order that kernel/unwind/sframe.c requires. Forbidden changes are tried too; they must
 * not lead out of the section.
 */
#include <errno.h>
#include <string.h>

#include <linux/kernel.h>

#include "sframe_test.h"
#include "umem.h"

/*
 * The last function changes. The new version has the FREs of @next, starts 8 bytes later,
 * and is 0x20 bytes long. At BOTH the CFA shows which start and which FREs were used: 16
 * old, 32 new, else a mixture.
 */
#define OLD_ONLY	0x1022
#define BOTH		0x102a
#define NEW_ONLY	0x1032

static const struct sfb_fre good[] = { SFB_FRE(0, SFB_SP, 0, 8) };
static const struct sfb_fre old_fres[] = {
	SFB_FRE(0, SFB_SP, 0, 24), SFB_FRE(4, SFB_SP, 0, 16),
};

static const struct sfb_fre new_fres[] = {
	SFB_FRE(0, SFB_SP, 0, 32), SFB_FRE(4, SFB_SP, 0, 40),
};

static const struct sfb_func funcs[] = {
	{ .start = 0x1000, .size = 0x10, SFB_FRES(good) },
	{ .start = 0x1010, .size = 0x10, SFB_FRES(new_fres) },
	{ .start = 0x1020, .size = 0x10, SFB_FRES(old_fres) },
};

#define LAST		(ARRAY_SIZE(funcs) - 1)

static void open_changing(struct env *env, u8 version, u8 flags)
{
	const struct sfb_table table = {
		.version = version, .flags = flags, .abi = SFB_AMD64,
		.fixed_ra = -8, SFB_FUNCS(funcs),
	};

	env_open(env, &table);
}

static void put_counts(struct env *env, u32 num_fdes, u32 fre_len)
{
	sfb_put(&env->img, SFB_HDR_FRE_LEN, 4, fre_len);
	sfb_put(&env->img, SFB_HDR_NUM_FDES, 4, num_fdes);
}

/* Bytes of all FREs, and of those before the last function's */
static u32 fre_room(const struct env *env)
{
	return env->img.size - env->img.fres;
}

static u32 fres_before_last(const struct env *env)
{
	return env->img.func_fres[LAST] - env->img.fres;
}

/* The next lookup finds added functions */
static void grows(u8 version, u8 flags)
{
	struct env env;

	tap_begin("changing: v%u, flags %u, added functions are found once counted", version,
		  flags);
	open_changing(&env, version, flags);
	put_counts(&env, LAST, fres_before_last(&env));
	CHECK_EQ(sframe_read_header(&env.sec, env.base, env.img.size,
				    SFB_AMD64), 0);
	expect_cfa(&env, 0x1000, 8);
	expect_error(&env, OLD_ONLY, -ENOENT);

	/* FREs come first: an entry is wrong if its FREs do not count yet */
	put_counts(&env, LAST + 1, fres_before_last(&env));
	expect_error(&env, OLD_ONLY, -EINVAL);
	expect_cfa(&env, 0x1000, 8);

	put_counts(&env, LAST + 1, fre_room(&env));
	expect_cfa(&env, OLD_ONLY, 24);
	expect_cfa(&env, 0x1000, 8);
	put_counts(&env, 0, 0);
	expect_error(&env, 0x1000, -ENOENT);
	env_close(&env);
}

/* Counts that lead out of the section are refused, at any address */
static void counts_too_much(u8 version, u8 flags)
{
	/* Times 20 or 16, two of them wrap to a small number in 32 bits */
	static const u32 fdes[] = { LAST + 2, 0x0ccccccd, 0x10000000, -1U };
	struct env env;
	u32 room, i;

	tap_begin("changing: v%u, flags %u, counts beyond the section return EINVAL", version,
		  flags);
	open_changing(&env, version, flags);
	room = fre_room(&env);
	for (i = 0; i < ARRAY_SIZE(fdes); i++) {
		put_counts(&env, fdes[i], room);
		expect_error(&env, 0x1000, -EINVAL);
		CHECK_EQ(umem_reads, 2);
	}
	put_counts(&env, LAST + 1, room + 1);
	expect_error(&env, 0x1000, -EINVAL);
	CHECK_EQ(umem_reads, 2);
	put_counts(&env, LAST + 1, -1U);
	expect_error(&env, 0x1000, -EINVAL);
	put_counts(&env, LAST + 1, room);
	expect_cfa(&env, 0x1000, 8);
	env_close(&env);
}

/*
 * The writer: its steps, and the read of the lookup after which it makes each. A step is
 * a store to the last function's entry.
 */
struct step {
	u32		pos;	/* in the image */
	u8		size;
	u64		val;
	unsigned long	after;	/* number of reads; in ascending order */
};

static struct env *writer_env;
static struct step steps[4];
static unsigned int num_steps, steps_done;

static void write_between(unsigned long addr, void *val, size_t size)
{
	(void)addr;
	(void)val;
	(void)size;
	while (steps_done < num_steps &&
	       steps[steps_done].after <= umem_reads) {
		const struct step *s = &steps[steps_done++];

		sfb_put(&writer_env->img, s->pos, s->size, s->val);
	}
}

/* Fields of the last function's entry */
enum field { FUNC_START, FUNC_SIZE, FUNC_FRES };

static struct step store(const struct env *env, enum field field, u32 val)
{
	u32 fde = sfb_fde(&env->img, LAST);
	u32 start_size = env->sec.version == 2 ? 4 : 8;

	if (field == FUNC_START)
		return (struct step){ .pos = fde, .size = start_size,
				      .val = env->sec.flags & SFB_PCREL ?
					     (s64)val - fde : val };
	return (struct step){
		.pos = fde + start_size + (field == FUNC_FRES ? 4 : 0),
		.size = 4, .val = val,
	};
}

/* Look up @offset while the writer writes, then put the section back */
static int find_amid(struct env *env, u64 offset, struct unwind_frame_rule *rule)
{
	u8 before[256];
	int ret;

	if (env->img.size > sizeof(before))
		tap_fail("a section of %u bytes", env->img.size);
	memcpy(before, env->img.bytes, env->img.size);
	writer_env = env;
	steps_done = 0;
	umem_set_hook(write_between);
	ret = env_find(env, offset, rule);
	umem_set_hook(NULL);
	memcpy(env->img.bytes, before, env->img.size);
	return ret;
}

/*
 * One field changes after each read in turn. If it changes before the lookup reads it,
 * the new value counts. If it changes before the final check, the check notices any
 * change. After that, the old value counts.
 */
static void field_changes(u8 version, u8 flags, enum field field, u32 val,
			  int error, s32 cfa)
{
	unsigned int early = 0, amid = 0, late = 0;
	struct unwind_frame_rule rule;
	unsigned long k, reads;
	struct env env;
	int ret;

	tap_begin("changing: v%u, flags %u, a change of field %u to %#x returns old, EAGAIN or new",
		  version, flags, field, val);
	open_changing(&env, version, flags);
	CHECK_EQ(env_find(&env, OLD_ONLY, &rule), 0);
	reads = umem_reads;
	num_steps = 1;
	for (k = 1; k <= reads; k++) {
		steps[0] = store(&env, field, val);
		steps[0].after = k;
		ret = find_amid(&env, OLD_ONLY, &rule);
		if (!amid && ret == error && (ret || rule.cfa.offset == cfa))
			early++;
		else if (!late && ret == -EAGAIN)
			amid++;
		else if (!ret && rule.cfa.offset == 24)
			late++;
		else
			tap_fail("after read %lu: %d", k, ret);
	}
	if (!early || !amid || !late)
		tap_fail("%u early, %u amid, %u late", early, amid, late);
	env_close(&env);
}

/* The next order of the writer's steps among @reads reads; false: there is no other */
static bool next_schedule(unsigned long reads)
{
	unsigned int i = num_steps, k;

	while (i && steps[i - 1].after == reads)
		i--;
	if (!i)
		return false;
	steps[i - 1].after++;
	for (k = i; k < num_steps; k++)
		steps[k].after = steps[i - 1].after;
	return true;
}

/* Each answer is the old function's, or the new one's, or an error */
static void made_anew(u8 version, u8 flags, u64 offset, s32 old_cfa, s32 new_cfa)
{
	unsigned int was_old = 0, was_new = 0, noticed = 0, none = 0;
	struct unwind_frame_rule rule;
	struct env env;
	int ret;

	tap_begin("changing: v%u, flags %u, a function made anew is never mixed, at %#llx", version,
		  flags, (unsigned long long)offset);
	open_changing(&env, version, flags);
	steps[0] = store(&env, FUNC_SIZE, 0);
	steps[1] = store(&env, FUNC_START, 0x1028);
	steps[2] = store(&env, FUNC_FRES, env.img.func_fres[1] - env.img.fres);
	steps[3] = store(&env, FUNC_SIZE, 0x20);
	num_steps = ARRAY_SIZE(steps);
	for (ret = 0; ret < (int)num_steps; ret++)
		steps[ret].after = 1;
	/* No lookup in so small a section takes more than 24 reads */
	do {
		ret = find_amid(&env, offset, &rule);
		if (umem_reads > 24)
			tap_fail("%lu reads", umem_reads);
		if (!ret && old_cfa && rule.cfa.offset == old_cfa)
			was_old++;
		else if (!ret && new_cfa && rule.cfa.offset == new_cfa)
			was_new++;
		else if (ret == -EAGAIN)
			noticed++;
		else if (ret == -ENOENT)
			none++;
		else
			tap_fail("%d, CFA at SP + %d", ret, rule.cfa.offset);
	} while (next_schedule(24));
	if (!was_old != !old_cfa || !was_new != !new_cfa || !noticed || !none)
		tap_fail("%u old, %u new, %u noticed, %u none", was_old, was_new,
			 noticed, none);
	env_close(&env);
}

/* Each read fails in turn, including the reads of the counts and of the check */
static void unreadable(u8 version, u8 flags)
{
	unsigned long k, reads;
	struct unwind_frame_rule rule;
	struct env env;

	tap_begin("changing: v%u, flags %u, each failed read returns EFAULT", version, flags);
	open_changing(&env, version, flags);
	CHECK_EQ(env_find(&env, OLD_ONLY, &rule), 0);
	reads = umem_reads;
	for (k = 1; k <= reads; k++) {
		umem_fail_at(k);
		expect_error(&env, OLD_ONLY, -EFAULT);
		CHECK_EQ(umem_reads, k);
	}
	umem_fail_at(0);

	/* All of it must be user memory, including the unused part */
	put_counts(&env, 1, 8);
	umem_set_end_of_memory(env.base + env.img.size);
	expect_cfa(&env, 0x1000, 8);
	umem_set_end_of_memory(env.base + env.img.size - 1);
	expect_error(&env, 0x1000, -EFAULT);
	CHECK_EQ(umem_reads, 0);
	umem_set_end_of_memory(-1UL);
	env_close(&env);
}

static void test_kind(u8 version, u8 flags)
{
	/* With invalid FREs: their contents do not matter */
	const u32 no_fres = 0x7fffffff;
	/* The first function's FREs; an entry of version 2 has its own count: two FREs */
	const s32 others_cfa = version == 2 ? 32 : 8;

	grows(version, flags);
	counts_too_much(version, flags);
	field_changes(version, flags, FUNC_SIZE, 0, -ENOENT, 0);
	field_changes(version, flags, FUNC_SIZE, 0x11, 0, 24);
	field_changes(version, flags, FUNC_START, 0x2000, -ENOENT, 0);
	field_changes(version, flags, FUNC_FRES, 0, 0, others_cfa);
	field_changes(version, flags, FUNC_FRES, no_fres, -EINVAL, 0);
	made_anew(version, flags, OLD_ONLY, 24, 0);
	made_anew(version, flags, BOTH, 16, 32);
	made_anew(version, flags, NEW_ONLY, 0, 40);
	unreadable(version, flags);
}

void test_changing(void)
{
	u8 version;

	for (version = 2; version <= 3; version++) {
		test_kind(version, SFB_SORTED | SFB_PCREL);
		test_kind(version, SFB_SORTED);
		test_kind(version, SFB_PCREL);
	}
}
