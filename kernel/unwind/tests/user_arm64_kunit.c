// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the frame loop on arm64: return addresses in the link register,
 * authentication codes, tags, and frame records that do not show where their frame ends.
 *
 * The text has functions of FUNC_SIZE bytes, and a longer one.
 *
 *	leaf	never moves the stack pointer
 *	mid	signs its return address, from +4 on, and has a frame of 4 words
 *		with a frame record at its bottom, from +8 on
 *	bare	has a frame of 2 words, and saves its return address there, from
 *		+8 on, but no frame pointer
 *	outer	the outermost
 *	bind	is entered with 2 words pushed, and its rules know only that the upper
 *		one is the return address; has a frame of 4 words from +8 on, and has
 *		popped all of it at +24
 *	late	has mid's frame from +4 on, returns at +16, and goes on after that; twice
 *	high	has mid's frame from +4 on, with its frame record in the middle
 *	many	has mid's frame from +4 on, but for every other instruction
 */

#include <linux/mm.h>
#include <asm/pointer_auth.h>
#include <asm/unwind_arch.h>

#include "sframe_build.h"
#include "user_fixture.h"

#define FUNC_SIZE	32
#define LEAF		0
#define MID		FUNC_SIZE
#define BARE		(2 * FUNC_SIZE)
#define OUTER		(3 * FUNC_SIZE)
#define BIND		(4 * FUNC_SIZE)
#define NOWHERE		(5 * FUNC_SIZE)
/* NOWHERE may have more than FUNC_SIZE bytes */
#define LATE		(16 * FUNC_SIZE)
#define HIGH		(18 * FUNC_SIZE)
#define MANY		(20 * FUNC_SIZE)
#define MANY_RULES	66
#define MANY_SIZE	(MANY_RULES * 4)
/* No stack has these: a table of few functions would say nothing about NOWHERE */
#define OTHER		(100 * FUNC_SIZE)

/* In the body of a function, after a call */
#define BODY		16

#define FRAME_WORDS	4

#ifdef CONFIG_CPU_BIG_ENDIAN
#define ABI		SFB_AARCH64_BE
#else
#define ABI		SFB_AARCH64
#endif

static const struct sfb_fre leaf_fres[] = { SFB_FRE(0, SFB_SP, 0, 0) };
static const struct sfb_fre mid_fres[] = {
	SFB_FRE(0, SFB_SP, 0, 0),
	SFB_FRE(4, SFB_SP | SFB_MANGLED, 0, 0),
	SFB_FRE(8, SFB_SP | SFB_MANGLED, 0, 32, -24, -32),
};

static const struct sfb_fre late_fres[] = {
	SFB_FRE(0, SFB_SP, 0, 0),
	SFB_FRE(4, SFB_SP, 0, 32, -24, -32),
	SFB_FRE(16, SFB_SP, 0, 0),
	SFB_FRE(20, SFB_SP, 0, 32, -24, -32),
};

static const struct sfb_fre high_fres[] = {
	SFB_FRE(0, SFB_SP, 0, 32),
	SFB_FRE(4, SFB_SP, 0, 32, -8, -16),
};

static const struct sfb_fre bare_fres[] = {
	SFB_FRE(0, SFB_SP, 0, 16),
	SFB_FRE(8, SFB_SP, 0, 16, -8),
};

static const struct sfb_fre bind_fres[] = {
	SFB_FRE(0, SFB_SP, 0, 0, 8),
	SFB_FRE(8, SFB_SP, 0, 32, 8),
	SFB_FRE(24, SFB_SP, 0, -16, 8),
};

static void free_image(void *img)
{
	sfb_free(img);
}

static void write_table(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct sfb_fre *many_fres = kunit_kcalloc(test, MANY_RULES, sizeof(*many_fres), GFP_KERNEL);
	const struct sfb_func funcs[] = {
		{ .start = PAGE_SIZE + LEAF, .size = FUNC_SIZE, SFB_FRES(leaf_fres) },
		{ .start = PAGE_SIZE + MID, .size = FUNC_SIZE, SFB_FRES(mid_fres) },
		{ .start = PAGE_SIZE + BARE, .size = FUNC_SIZE, SFB_FRES(bare_fres) },
		{ .start = PAGE_SIZE + OUTER, .size = FUNC_SIZE },
		{ .start = PAGE_SIZE + BIND, .size = FUNC_SIZE, SFB_FRES(bind_fres) },
		{ .start = PAGE_SIZE + LATE, .size = FUNC_SIZE, SFB_FRES(late_fres) },
		{ .start = PAGE_SIZE + LATE + FUNC_SIZE, .size = FUNC_SIZE, SFB_FRES(late_fres) },
		{ .start = PAGE_SIZE + HIGH, .size = FUNC_SIZE, SFB_FRES(high_fres) },
		{ .start = PAGE_SIZE + MANY, .size = MANY_SIZE, .fre_type = 1,
		  .fres = many_fres, .num_fres = MANY_RULES },
		{ .start = PAGE_SIZE + OTHER, .size = FUNC_SIZE, SFB_FRES(mid_fres) },
		{ .start = PAGE_SIZE + OTHER + FUNC_SIZE, .size = FUNC_SIZE, SFB_FRES(bind_fres) },
	};
	const struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED, .abi = ABI, SFB_FUNCS(funcs),
	};
	struct sfb_image *img;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, many_fres);
	for (i = 0; i < MANY_RULES; i++) {
		many_fres[i] = late_fres[i % 2];
		many_fres[i].start = 4 * i;
	}
	img = kunit_kzalloc(test, sizeof(*img), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, img);
	KUNIT_ASSERT_EQ(test, sfb_build(img, &table), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_image, img), 0);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)t->section, img->bytes,
					   img->size), 0);
	use_table_of(test, img->size);
}

static void begin(struct kunit *test, unsigned long func, unsigned int sp,
		  unsigned int fp, unsigned long lr)
{
	struct user_test *t = test->priv;

	set_regs(t, t->text + func, word_addr(t, sp), word_addr(t, fp));
	t->regs.regs[30] = lr;
	start(test);
	write_table(test);
}

/* A frame record at @index: the caller's FP, which is @fp, and the return address */
static void put_record(struct kunit *test, unsigned int index, unsigned int fp,
		       unsigned long ra)
{
	put_word(test, index, word_addr(test->priv, fp));
	put_word(test, index + 1, ra);
}

/* As if signed with an unknown key */
static unsigned long sign(unsigned long addr)
{
	return addr | ptrauth_user_pac_mask();
}

static unsigned long tag(unsigned long addr)
{
	return addr | 0xa5UL << 56;
}

static void put_insn(struct kunit *test, unsigned long at, u32 insn)
{
	struct user_test *t = test->priv;
	__le32 __user *to = (__le32 __user *)(t->text + at);

	KUNIT_ASSERT_EQ(test, put_user(cpu_to_le32(insn), to), 0);
}

/* The function at NOWHERE has a frame record, and no rule */
static void has_record(struct kunit *test)
{
	put_insn(test, NOWHERE, 0x910003bf);	/* mov sp, x29 */
}

#define INSN_SAVES	0xa9be7bfd	/* stp x29, x30, [sp, #-32]! */
#define INSN_SAVES_HIGH	0xa9017bfd	/* stp x29, x30, [sp, #16] */
#define INSN_SETS_FP	0x910003fd	/* mov x29, sp */
#define INSN_SETS_HIGH	0x910043fd	/* add x29, sp, #16 */
#define INSN_RESTORES	0xa8c27bfd	/* ldp x29, x30, [sp], #32 */
#define INSN_RETURNS	0xd65f03c0	/* ret */
#define INSN_NOP	0xd503201f
#define INSN_BREAK	0xd4200000	/* brk #0 */
#define INSN_CALLS	0xd63f0100	/* blr x8, as all of the text */

/* The code of late; @sets: it sets the frame pointer */
static void put_late(struct kunit *test, unsigned long at, bool sets)
{
	put_insn(test, at, INSN_SAVES);
	put_insn(test, at + 4, sets ? INSN_SETS_FP : INSN_CALLS);
	put_insn(test, at + 12, INSN_RESTORES);
	put_insn(test, at + 16, INSN_RETURNS);
}

/* A leaf has a caller, although the frame record is the caller's own */
static void arm64_leaf(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_record(test, 10, 20, t->text + OUTER + BODY);
	begin(test, LEAF + 4, 10, 10, t->text + MID + BODY);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + LEAF + 4,
		     t->text + MID + BODY, t->text + OUTER + BODY);
	KUNIT_EXPECT_EQ(test, t->state.sp, word_addr(t, 10 + FRAME_WORDS));
	KUNIT_EXPECT_EQ(test, t->state.fp, word_addr(t, 20));
}

/* An address in no function has a caller, too, if it was called */
static void arm64_no_text(struct kunit *test)
{
	struct user_test *t = test->priv;
	const unsigned long ips[] = {
		0, 8, 0x111, TASK_SIZE - 4, (unsigned long)arm64_leaf,
	};
	unsigned int i;

	put_record(test, 10, 20, t->text + OUTER + BODY);
	for (i = 0; i < ARRAY_SIZE(ips); i++) {
		begin(test, ips[i] - t->text, 10, 10, sign(t->text + MID + BODY));
		EXPECT_STACK(test, UNWIND_STOP_END, ips[i], t->text + MID + BODY,
			     t->text + OUTER + BODY);

		/* If a return led to it, the link register has no other address */
		begin(test, ips[i] - t->text, 10, 10, ips[i]);
		EXPECT_STACK(test, UNWIND_STOP_END, ips[i], t->text + OUTER + BODY);
		begin(test, ips[i] - t->text, 10, 10, 0);
		EXPECT_STACK(test, UNWIND_STOP_END, ips[i], t->text + OUTER + BODY);
	}
}

/* Each instruction of a prologue has a caller, too */
static void arm64_prologue(struct kunit *test)
{
	struct user_test *t = test->priv;

	begin(test, MID, 10, 20, t->text + OUTER + BODY);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + MID,
		     t->text + OUTER + BODY);
	begin(test, MID + 4, 10, 20, t->text + OUTER + BODY);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + MID + 4,
		     t->text + OUTER + BODY);

	/* The frame is there, and the link register has an old address */
	put_record(test, 10, 20, t->text + OUTER + BODY);
	begin(test, MID + 8, 10, 20, t->text + LEAF + 4);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + MID + 8,
		     t->text + OUTER + BODY);
}

/* The link register is the topmost frame's: a caller has saved its own */
static void arm64_leaf_in_the_middle(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_record(test, 10, 0, t->text + LEAF + 4);
	begin(test, MID + BODY, 10, 10, t->text + OUTER + BODY);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + MID + BODY,
		     t->text + LEAF + 4);

	put_record(test, 10, 0, t->text + BARE + 4);
	begin(test, MID + BODY, 10, 10, t->text + OUTER + BODY);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + MID + BODY,
		     t->text + BARE + 4);
}

/* At most a table shows that an address is signed: always strip it */
static void arm64_signed(struct kunit *test)
{
	struct user_test *t = test->priv;

	if (!system_supports_address_auth())
		kunit_skip(test, "no pointer authentication");
	KUNIT_ASSERT_NE(test, sign(t->text), t->text);

	/* In the link register; on the stack, by a rule that does not say so */
	put_record(test, 10, 20, sign(t->text + OUTER + BODY));
	begin(test, LEAF, 10, 10, sign(t->text + MID + BODY));
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + LEAF,
		     t->text + MID + BODY, t->text + OUTER + BODY);

	/* In a frame record */
	has_record(test);
	put_record(test, 10, 20, sign(t->text + NOWHERE + 8));
	put_record(test, 20, 30, sign(t->text + OUTER + BODY));
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE,
		     t->text + NOWHERE + 8, t->text + OUTER + BODY);
}

/* An address of the kernel is not in user space, however many bits it loses */
static void arm64_signed_kernel(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned long addr = (unsigned long)arm64_signed_kernel;

	has_record(test);
	put_record(test, 10, 20, addr);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, t->text + NOWHERE);

	put_record(test, 10, 20, addr & ~ptrauth_user_pac_mask());
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, t->text + NOWHERE);
}

/* Tags in registers, and in saved registers, do not count */
static void arm64_tags(struct kunit *test)
{
	struct user_test *t = test->priv;

	has_record(test);
	put_words(test, 10, tag(word_addr(t, 20)), tag(t->text + NOWHERE + 8));
	put_words(test, 20, 0, t->text + OUTER + BODY);
	begin(test, NOWHERE, 8, 10, 0);
	start_at(test, t->text + NOWHERE, tag(word_addr(t, 8)),
		 tag(word_addr(t, 10)));
	use_table_of(test, PAGE_SIZE);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE,
		     t->text + NOWHERE + 8, t->text + OUTER + BODY);

	/* By table, with a tagged stack pointer and link register */
	put_record(test, 10, 20, t->text + OUTER + BODY);
	set_regs(t, t->text + LEAF, tag(word_addr(t, 10)), 0);
	t->regs.regs[30] = tag(t->text + MID + BODY);
	start(test);
	use_table_of(test, PAGE_SIZE);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + LEAF,
		     t->text + MID + BODY, t->text + OUTER + BODY);
}

/*
 * A return address above the CFA was pushed before the function was entered: the
 * caller's caller shows where the caller's stack is
 */
static void arm64_pushed_before(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* The pushed address; and the one that bare has saved */
	put_word(test, 11, t->text + BARE + BODY);
	put_word(test, 13, t->text + OUTER + BODY);

	begin(test, BIND + 4, 10, 30, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + BIND + 4,
		     t->text + BARE + BODY, t->text + OUTER + BODY);
	KUNIT_EXPECT_EQ(test, t->state.sp, word_addr(t, 14));
	begin(test, BIND + BODY, 6, 30, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + BIND + BODY,
		     t->text + BARE + BODY, t->text + OUTER + BODY);
	begin(test, BIND + 24, 12, 30, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + BIND + 24,
		     t->text + BARE + BODY, t->text + OUTER + BODY);

	/* As it is while a callee works for it */
	put_record(test, 2, 30, t->text + BIND + BODY);
	begin(test, MID + 8, 2, 30, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + MID + 8, t->text + BIND + BODY,
		     t->text + BARE + BODY, t->text + OUTER + BODY);
	KUNIT_EXPECT_EQ(test, t->state.sp, word_addr(t, 14));
	KUNIT_EXPECT_EQ(test, t->state.fp, word_addr(t, 30));
}

/*
 * After a frame record the caller's stack pointer is not known, because the record does
 * not show where its frame ends. A rule that counts from the stack pointer would take any
 * word there for a return address. But the rule may give the place in the frame of the
 * record to which the frame pointer points, as the instructions show; from then on
 * everything is known again.
 */
static void arm64_record_then_table(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned int i;

	has_record(test);
	for (i = 0; i < 40; i++)
		put_word(test, i, t->text + LEAF + 4);
	/* NOWHERE has a frame of 6 words; then comes mid's frame, twice */
	put_record(test, 10, 16, t->text + MID + BODY);
	put_record(test, 16, 20, t->text + MID + BODY);
	put_record(test, 20, 30, t->text + OUTER + BODY);
	put_insn(test, MID + 4, INSN_SAVES);
	put_insn(test, MID + 8, INSN_SETS_FP);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE,
		     t->text + MID + BODY, t->text + MID + BODY,
		     t->text + OUTER + BODY);
	KUNIT_EXPECT_EQ(test, t->state.method, UNWIND_METHOD_SFRAME);
	KUNIT_EXPECT_EQ(test, t->state.sp, word_addr(t, 20 + FRAME_WORDS));
	KUNIT_EXPECT_EQ(test, t->state.fp, word_addr(t, 30));
}

/* The rule has a record, but nothing shows that the frame pointer points to it */
static void arm64_record_of_other(struct kunit *test)
{
	static const u32 insns[] = { INSN_CALLS, INSN_SETS_HIGH, 0 };
	struct user_test *t = test->priv;
	unsigned int i;

	has_record(test);
	/* mid's frame has words 12 to 15, and does not change the frame pointer */
	put_record(test, 10, 20, t->text + MID + BODY);
	put_record(test, 12, 20, t->text + BARE + BODY);
	put_record(test, 20, 30, t->text + OUTER + BODY);
	put_insn(test, MID + 4, INSN_SAVES);
	for (i = 0; i < ARRAY_SIZE(insns); i++) {
		put_insn(test, MID + 8, insns[i]);
		begin(test, NOWHERE, 10, 10, 0);
		EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + NOWHERE,
			     t->text + MID + BODY);
	}
}

/* late, without its frame record, right behind another late function that has one */
static void arm64_record_of_neighbour(struct kunit *test)
{
	struct user_test *t = test->priv;

	has_record(test);
	put_late(test, LATE, true);
	put_late(test, LATE + FUNC_SIZE, false);
	put_record(test, 10, 20, t->text + LATE + FUNC_SIZE + 28);
	put_record(test, 20, 30, t->text + OUTER + BODY);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + NOWHERE,
		     t->text + LATE + FUNC_SIZE + 28);
}

/* The record is not at the bottom of the frame */
static void arm64_record_high(struct kunit *test)
{
	struct user_test *t = test->priv;

	has_record(test);
	put_insn(test, HIGH, INSN_SAVES_HIGH);
	put_insn(test, HIGH + 4, INSN_SETS_HIGH);
	put_record(test, 10, 18, t->text + HIGH + BODY);
	put_record(test, 18, 30, t->text + OUTER + BODY);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE,
		     t->text + HIGH + BODY, t->text + OUTER + BODY);
	KUNIT_EXPECT_EQ(test, t->state.sp, word_addr(t, 20));

	put_insn(test, HIGH + 4, INSN_SETS_FP);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + NOWHERE, t->text + HIGH + BODY);
}

/* The frame pointer was set before an earlier return of the function */
static void arm64_record_then_late(struct kunit *test)
{
	struct user_test *t = test->priv;

	has_record(test);
	put_record(test, 10, 16, t->text + LATE + 28);
	put_record(test, 16, 20, t->text + OUTER + BODY);
	put_late(test, LATE, true);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE,
		     t->text + LATE + 28, t->text + OUTER + BODY);
	KUNIT_EXPECT_EQ(test, t->state.sp, word_addr(t, 16 + FRAME_WORDS));

	/* The later part is aligned */
	put_insn(test, LATE + 16, INSN_NOP);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE,
		     t->text + LATE + 28, t->text + OUTER + BODY);

	/* A debugger's breakpoint is there */
	put_insn(test, LATE + 16, INSN_BREAK);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + NOWHERE, t->text + LATE + 28);

	put_late(test, LATE, false);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + NOWHERE, t->text + LATE + 28);
}

/* Too many earlier returns */
static void arm64_record_too_late(struct kunit *test)
{
	struct user_test *t = test->priv;
	const unsigned long last = MANY + MANY_SIZE;
	unsigned long at;

	has_record(test);
	for (at = MANY; at < last; at += 8) {
		put_insn(test, at, INSN_RETURNS);
		put_insn(test, at + 4, INSN_CALLS);
	}
	put_insn(test, MANY, INSN_SAVES);
	put_insn(test, MANY + 4, INSN_SETS_FP);
	put_record(test, 16, 20, t->text + OUTER + BODY);

	put_record(test, 10, 16, t->text + last - 16);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE,
		     t->text + last - 16, t->text + OUTER + BODY);
	put_record(test, 10, 16, t->text + last);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + NOWHERE, t->text + last);
}

/* If the rule has no record either, the frame pointer is some caller's */
static void arm64_record_then_none(struct kunit *test)
{
	struct user_test *t = test->priv;

	has_record(test);
	put_record(test, 10, 16, t->text + BARE + BODY);
	put_record(test, 16, 20, t->text + OUTER + BODY);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + NOWHERE,
		     t->text + BARE + BODY);

	/* Known from the registers, it is enough */
	put_word(test, 11, t->text + OUTER + BODY);
	begin(test, BARE + BODY, 10, 16, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + BARE + BODY,
		     t->text + OUTER + BODY);
}

/*
 * There is no rule: the instructions show where the return address is
 */

#define IN_LINK		(-1)
#define NO_SP		(-1)

static const struct insn_code {
	const char	*what;
	u32		insns[13];
	u8		at;		/* the instruction that is next */
	s8		cfa;		/* words above the stack pointer */
	s8		ra;		/* word that has the return address */
	bool		fp_saved;	/* and the caller's frame pointer before it */
} insn_codes[] = {
	/* Where a function begins */
	{ "bti c", { 0xd503245f }, 0, 0, IN_LINK },
	{ "paciasp", { 0xd503233f }, 0, 0, IN_LINK },
	{ "stp x29, x30, [sp, #-32]!", { 0xa9be7bfd, 0x910003fd }, 0, NO_SP, IN_LINK },
	{ "mov x29, sp", { 0xa9be7bfd, 0x910003fd }, 1, NO_SP, IN_LINK },
	{ "sub sp, sp, #64", { 0xd10103ff, 0xa9027bfd, 0x910083fd }, 0, NO_SP, IN_LINK },
	{ "add x29, sp, #32", { 0xd10103ff, 0xa9027bfd, 0x910083fd }, 2, NO_SP, IN_LINK },
	{ "pairs between stp and add x29, sp, #160",
	  { 0xd102c3ff, 0xa90a7bfd, 0x6d0027e8, 0x6d0127e8, 0x6d0227e8, 0x6d0327e8,
	    0xa9046ffc, 0xa90567fa, 0xa9065ff8, 0xa90757f6, 0xa9084ff4, 0x910283fd },
	  11, NO_SP, IN_LINK },
	/* Its end, with the registers as they were */
	{ "ret", { 0xd65f03c0 }, 0, 0, IN_LINK },
	{ "retaa", { 0xd65f0bff }, 0, 0, IN_LINK },
	{ "autiasp", { 0xa8c27bfd, 0xd50323bf, 0xd65f03c0 }, 1, 0, IN_LINK },
	{ "add sp, sp, #64", { 0x910103ff, 0xd65f03c0 }, 0, 8, IN_LINK },
	{ "add sp, sp, #4096; sub sp, sp, #4032",
	  { 0x914007ff, 0xd13f03ff, 0xd65f03c0 }, 0, 8, IN_LINK },
	{ "sub sp, sp, #16; add sp, sp, #16",
	  { 0xd10043ff, 0x910043ff, 0xd65f03c0 }, 0, 0, IN_LINK },
	{ "ldr x19, [sp], #16", { 0xf84107f3, 0xd65f03c0 }, 0, 2, IN_LINK },
	{ "ldp d8, d9, [sp], #16", { 0x6cc127e8, 0xd65f03c0 }, 0, 2, IN_LINK },
	{ "ldp q8, q9, [sp], #32", { 0xacc127e8, 0xd65f03c0 }, 0, 4, IN_LINK },
	{ "ldp w1, w2, [sp], #8", { 0x28c10be1, 0xd65f03c0 }, 0, 1, IN_LINK },
	{ "str x19, [sp, #-16]!; ldr x19, [sp], #16",
	  { 0xf81f0ff3, 0xf84107f3, 0xd65f03c0 }, 0, 0, IN_LINK },
	{ "tst w0, #1", { 0x7200001f, 0xd65f03c0 }, 0, 0, IN_LINK },
	{ "cbz; ret", { 0xb4000040, 0xd65f03c0 }, 0, 0, IN_LINK },
	{ "b.ne back; ret", { 0xd2800000, 0x54ffffe1, 0xd65f03c0 }, 0, 0, IN_LINK },
	{ "dmb ish; mrs x0, tpidr_el0; ret",
	  { 0xd5033bbf, 0xd53bd040, 0xd65f03c0 }, 0, 0, IN_LINK },
	/* Its end, where it restores them */
	{ "ldp x29, x30, [sp], #32", { 0xa8c27bfd, 0xd65f03c0 }, 0, 4, 1, true },
	{ "ldp x29, x30, [sp, #32]; add sp, sp, #64",
	  { 0xa9427bfd, 0x910103ff, 0xd65f03c0 }, 0, 8, 5, true },
	{ "ldr x30, [sp, #8]; add sp, sp, #16", { 0xf94007fe, 0x910043ff, 0xd65f03c0 }, 0, 2, 1 },
	{ "ldr x30, [sp], #16", { 0xf84107fe, 0xd65f03c0 }, 0, 2, 0 },
	{ "ldp x30, x19, [sp], #16", { 0xa8c14ffe, 0xd65f03c0 }, 0, 2, 0 },
	{ "ldp x29, x30, [sp], #32; mov x16, x4; br x16",
	  { 0xa8c27bfd, 0xaa0403f0, 0xd61f0200 }, 0, 4, 1, true },
	/* Stubs */
	{ "stub: adrp", { 0x90000010, 0xf9400611, 0x91002210, 0xd61f0220 }, 0, 0, IN_LINK },
	{ "stub: br", { 0x90000010, 0xf9400611, 0x91002210, 0xd61f0220 }, 3, 0, IN_LINK },
	{ "first stub: adrp", { 0xa9bf7bf0, 0xf00000f0, 0xf947fe11, 0x913fe210, 0xd61f0220 },
	  1, 2, IN_LINK },
	{ "first stub: br", { 0xa9bf7bf0, 0xf00000f0, 0xf947fe11, 0x913fe210, 0xd61f0220 },
	  4, 2, IN_LINK },
}, record_codes[] = {
	{ "mov sp, x29", { 0x910003bf } },
	{ "sub sp, x29, #16", { 0xd2800000, 0xd10043bf } },
	{ "sub sp, sp, #32; mov sp, x29", { 0xd10083ff, 0x910003bf } },
}, unknown_codes[] = {
	{ "bl", { 0x94000040, 0xd65f03c0 } },
	{ "blr x8", { 0xd63f0100, 0xd65f03c0 } },
	{ "b", { 0x14000002, 0xd2800000, 0xd65f03c0 } },
	{ "br x9", { 0xd61f0120, 0xd65f03c0 } },
	{ "br x17 after add x17, x0, x1", { 0x8b010011, 0xd61f0220 }, 1 },
	{ "svc", { 0xd4000001, 0xd65f03c0 } },
	{ "brk", { 0xd4207d00, 0xd65f03c0 } },
	{ "a uprobe", { 0xd2800000, 0xd42000a0, 0xd65f03c0 }, 1 },
	{ "another uprobe's place", { 0xd65f03c0, 0xd42000a0, 0xd65f03c0 }, 1 },
	{ "b.ne back over sub sp, sp, #16",
	  { 0xd10043ff, 0xd503201f, 0x54ffffc1, 0xd65f03c0 }, 1 },
	{ "no instruction", { 0, 0xd65f03c0 } },
	{ "mov x30, x11", { 0xaa0b03fe, 0xd65f03c0 } },
	{ "ldr x30, [x0]", { 0xf940001e, 0xd65f03c0 } },
	{ "ldp x29, x30, [x19]", { 0xa9407a7d, 0xd65f03c0 } },
	{ "ldr w30, [sp]", { 0xb94003fe, 0xd65f03c0 } },
	{ "str x30, [sp, #8]; ldr x30, [sp, #8]",
	  { 0xf90007fe, 0xf94007fe, 0xd65f03c0 } },
	{ "stp x29, x30, [sp, #16]; ldp x29, x30, [sp, #16]",
	  { 0xa9017bfd, 0xa9417bfd, 0xd65f03c0 } },
	{ "sub sp, sp, #16; ldr x30, [sp]", { 0xd10043ff, 0xf94003fe, 0xd65f03c0 } },
	{ "ldr x30 twice", { 0xf94003fe, 0xf94007fe, 0xd65f03c0 } },
	{ "sub sp, sp, #16", { 0xd10043ff, 0xd65f03c0 } },
	{ "add sp, sp, x12", { 0x8b2c63ff, 0xd65f03c0 } },
	{ "and sp, x9, #-32", { 0x927be93f, 0xd65f03c0 } },
	{ "mov sp, x20", { 0x9100029f, 0xd65f03c0 } },
	{ "addvl sp, sp, #1", { 0x043f503f, 0xd65f03c0 } },
	{ "st2g sp, [sp], #32", { 0xd9a027ff, 0xd65f03c0 } },
	{ "stgp x19, x20, [sp], #32", { 0x688153f3, 0xd65f03c0 } },
	{ "ld1 { v8.8b-v11.8b }, [sp], #32", { 0x0cdf23e8, 0xd65f03c0 } },
	{ "mov sp, x29 after ldr x29", { 0xf94003fd, 0x910003bf, 0xd65f03c0 } },
	{ "b.ne back, when sp has moved", { 0x910043ff, 0x54ffffe1, 0xd65f03c0 } },
	{ "mov x30, x1 between stp and mov x29, sp", { 0xa9be7bfd, 0xaa0103fe, 0x910003fd }, 2 },
	{ "add x29, sp, #32 without stp", { 0xd2800000, 0x910083fd, 0x94000040 } },
	{ "add x29, sp, #32 after a call", { 0xa9be7bfd, 0x94000040, 0x910083fd, 0x94000040 }, 2 },
};

static void put_insns(struct kunit *test, unsigned long to, const u32 *insns, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(test, put_user(cpu_to_le32(insns[i]),
					       (__le32 __user *)to + i), 0);
}

/* Frame records are some outer callers', unless the code has saved one */
static unsigned long at_code(struct kunit *test, const struct insn_code *code)
{
	struct user_test *t = test->priv;
	unsigned int sp = 10;

	kunit_info(test, "%s\n", code->what);
	KUNIT_ASSERT_EQ(test, clear_user((void __user *)(t->text + NOWHERE),
					 PAGE_SIZE - NOWHERE), 0);
	put_insns(test, t->text + NOWHERE, code->insns, ARRAY_SIZE(code->insns));
	put_insn(test, MID + 4, INSN_SAVES);
	put_insn(test, MID + 8, INSN_SETS_FP);
	put_record(test, 30, 40, t->text + OUTER + BODY + 4);
	if (code->cfa >= 0)
		put_record(test, sp + code->cfa, 30, t->text + OUTER + BODY);
	if (code->ra >= 0)
		put_word(test, sp + code->ra, sign(t->text + MID + BODY));
	if (code->fp_saved)
		put_word(test, sp + code->ra - 1, word_addr(t, 30));
	begin(test, NOWHERE + code->at * 4, sp, code->fp_saved ? 35 : 30,
	      code->ra >= 0 ? 0 : sign(t->text + MID + BODY));
	return t->text + NOWHERE + code->at * 4;
}

static void arm64_insns(struct kunit *test)
{
	struct user_test *t = test->priv;
	const struct insn_code *code;
	unsigned long ip;

	for (code = insn_codes; code < insn_codes + ARRAY_SIZE(insn_codes); code++) {
		ip = at_code(test, code);
		/* If its stack pointer is not known, the caller's own record decides */
		EXPECT_STACK(test, UNWIND_STOP_END, ip, t->text + MID + BODY,
			     t->text + OUTER + BODY + (code->cfa >= 0 ? 0 : 4));
	}
}

/* The frame pointer leads to the function's own record */
static void arm64_insns_record(struct kunit *test)
{
	struct user_test *t = test->priv;
	const struct insn_code *code;
	unsigned long ip;

	for (code = record_codes; code < record_codes + ARRAY_SIZE(record_codes); code++) {
		ip = at_code(test, code);
		EXPECT_STACK(test, UNWIND_STOP_END, ip, t->text + OUTER + BODY + 4);
	}
}

/* The frame pointer may skip the caller, so the stack ends */
static void arm64_insns_unknown(struct kunit *test)
{
	const struct insn_code *code;
	unsigned long ip;

	for (code = unknown_codes; code < unknown_codes + ARRAY_SIZE(unknown_codes); code++) {
		ip = at_code(test, code);
		EXPECT_STACK(test, UNWIND_STOP_NO_RULE, ip);
	}
}

/* A wrong rule costs no caller if the instructions show one */
static void arm64_insns_bad_rule(struct kunit *test)
{
	static const struct sfb_fre fres[] = { SFB_FRE(0, SFB_SP, 0, 4) };
	const struct sfb_func funcs[] = {
		{ .start = PAGE_SIZE + MID, .size = FUNC_SIZE, SFB_FRES(mid_fres) },
		{ .start = PAGE_SIZE + OUTER, .size = FUNC_SIZE },
		{ .start = PAGE_SIZE + BIND, .size = FUNC_SIZE, SFB_FRES(bind_fres) },
		{ .start = PAGE_SIZE + NOWHERE, .size = FUNC_SIZE, SFB_FRES(fres) },
	};
	const struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED, .abi = ABI, SFB_FUNCS(funcs),
	};
	struct user_test *t = test->priv;
	struct sfb_image img = {};

	at_code(test, &insn_codes[0]);
	KUNIT_ASSERT_EQ(test, sfb_build(&img, &table), 0);
	KUNIT_EXPECT_EQ(test, copy_to_user((void __user *)t->section, img.bytes,
					   img.size), 0);
	use_table_of(test, img.size);
	sfb_free(&img);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE, t->text + MID + BODY,
		     t->text + OUTER + BODY);
}

/* The register's value is not the program's: the frame pointer would skip the caller */
static void arm64_insns_bad_link(struct kunit *test)
{
	struct user_test *t = test->priv;

	at_code(test, &insn_codes[0]);
	t->regs.regs[30] = (unsigned long)arm64_insns_bad_link;
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_NOT_TEXT, t->text + NOWHERE);
	t->regs.regs[30] = 0x110;
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_NOT_TEXT, t->text + NOWHERE);
	/* Or it marks the end */
	t->regs.regs[30] = 0;
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + NOWHERE);
}

/* No instruction runs at an unaligned address: it was called, or jumped to, by mistake */
static void arm64_misaligned(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_record(test, 10, 20, t->text + OUTER + BODY);
	begin(test, NOWHERE + 2, 10, 10, sign(t->text + MID + BODY));
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE + 2, t->text + MID + BODY,
		     t->text + OUTER + BODY);
}

/* AArch32 programs have no frame that could be followed, not even by tables */
static void arm64_compat(struct kunit *test)
{
	struct user_test *t = test->priv;

	set_regs(t, t->text + MID + BODY, word_addr(t, 2), word_addr(t, 4));
	t->regs.pstate = PSR_MODE32_BIT | PSR_MODE_EL0t;
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, t->text + MID + BODY);
}

static struct kunit_case user_arm64_cases[] = {
	KUNIT_CASE(arm64_leaf),
	KUNIT_CASE(arm64_no_text),
	KUNIT_CASE(arm64_prologue),
	KUNIT_CASE(arm64_leaf_in_the_middle),
	KUNIT_CASE(arm64_signed),
	KUNIT_CASE(arm64_signed_kernel),
	KUNIT_CASE(arm64_tags),
	KUNIT_CASE(arm64_pushed_before),
	KUNIT_CASE(arm64_record_then_table),
	KUNIT_CASE(arm64_record_of_other),
	KUNIT_CASE(arm64_record_of_neighbour),
	KUNIT_CASE(arm64_record_high),
	KUNIT_CASE(arm64_record_then_late),
	KUNIT_CASE(arm64_record_too_late),
	KUNIT_CASE(arm64_record_then_none),
	KUNIT_CASE(arm64_insns),
	KUNIT_CASE(arm64_insns_record),
	KUNIT_CASE(arm64_insns_unknown),
	KUNIT_CASE(arm64_insns_bad_rule),
	KUNIT_CASE(arm64_insns_bad_link),
	KUNIT_CASE(arm64_misaligned),
	KUNIT_CASE(arm64_compat),
	{}
};

static struct kunit_suite user_arm64_suite = {
	.name = "unwind_user_arm64",
	.init = user_test_init,
	.test_cases = user_arm64_cases,
};

kunit_test_suite(user_arm64_suite);

MODULE_DESCRIPTION("KUnit tests of the user stack iterator on arm64");
MODULE_LICENSE("GPL");
