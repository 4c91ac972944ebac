// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the frame loop on arm64: return addresses in the link register,
 * authentication codes, tags, and frame records that do not show where their frame ends.
 *
 * The text has five functions of FUNC_SIZE bytes.
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
 */

#include <linux/mm.h>
#include <asm/pointer_auth.h>
#include <asm/unwind_user.h>

#include "sframe_build.h"
#include "user_fixture.h"

#define FUNC_SIZE	32
#define LEAF		0
#define MID		FUNC_SIZE
#define BARE		(2 * FUNC_SIZE)
#define OUTER		(3 * FUNC_SIZE)
#define BIND		(4 * FUNC_SIZE)
#define NOWHERE		(5 * FUNC_SIZE)

/* In the body of a function, after a call */
#define BODY		16

#define FRAME_WORDS	4

#ifdef CONFIG_CPU_BIG_ENDIAN
#define ABI		SFB_AARCH64_BE
#else
#define ABI		SFB_AARCH64
#endif

static const struct sfb_row leaf_rows[] = { SFB_ROW(0, SFB_SP, 0, 0) };
static const struct sfb_row mid_rows[] = {
	SFB_ROW(0, SFB_SP, 0, 0),
	SFB_ROW(4, SFB_SP | SFB_MANGLED, 0, 0),
	SFB_ROW(8, SFB_SP | SFB_MANGLED, 0, 32, -24, -32),
};

static const struct sfb_row bare_rows[] = {
	SFB_ROW(0, SFB_SP, 0, 16),
	SFB_ROW(8, SFB_SP, 0, 16, -8),
};

static const struct sfb_row bind_rows[] = {
	SFB_ROW(0, SFB_SP, 0, 0, 8),
	SFB_ROW(8, SFB_SP, 0, 32, 8),
	SFB_ROW(24, SFB_SP, 0, -16, 8),
};

static void free_image(void *img)
{
	sfb_free(img);
}

static void write_table(struct kunit *test)
{
	struct user_test *t = test->priv;
	const struct sfb_func funcs[] = {
		{ .start = PAGE_SIZE + LEAF, .size = FUNC_SIZE, SFB_ROWS(leaf_rows) },
		{ .start = PAGE_SIZE + MID, .size = FUNC_SIZE, SFB_ROWS(mid_rows) },
		{ .start = PAGE_SIZE + BARE, .size = FUNC_SIZE, SFB_ROWS(bare_rows) },
		{ .start = PAGE_SIZE + OUTER, .size = FUNC_SIZE },
		{ .start = PAGE_SIZE + BIND, .size = FUNC_SIZE, SFB_ROWS(bind_rows) },
	};
	const struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED, .abi = ABI, SFB_FUNCS(funcs),
	};
	struct sfb_image *img;

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

/* So has an address in no function, if it was called */
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

		/* If it was returned to, the register has nothing new */
		begin(test, ips[i] - t->text, 10, 10, ips[i]);
		EXPECT_STACK(test, UNWIND_STOP_END, ips[i], t->text + OUTER + BODY);
		begin(test, ips[i] - t->text, 10, 10, 0);
		EXPECT_STACK(test, UNWIND_STOP_END, ips[i], t->text + OUTER + BODY);
	}
}

/* So has each instruction of a prologue */
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

	put_word(test, 10, tag(word_addr(t, 20)));
	put_word(test, 11, tag(t->text + NOWHERE + 8));
	put_word(test, 20, 0);
	put_word(test, 21, t->text + OUTER + BODY);
	begin(test, NOWHERE, 8, 10, 0);
	set_regs(t, t->text + NOWHERE, tag(word_addr(t, 8)),
		 tag(word_addr(t, 10)));
	start(test);
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
 * record to which the frame pointer points; from then on everything is known again.
 */
static void arm64_record_then_table(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned int i;

	for (i = 0; i < 40; i++)
		put_word(test, i, t->text + LEAF + 4);
	/* NOWHERE has a frame of 6 words; then comes mid's frame, twice */
	put_record(test, 10, 16, t->text + MID + BODY);
	put_record(test, 16, 20, t->text + MID + BODY);
	put_record(test, 20, 30, t->text + OUTER + BODY);
	begin(test, NOWHERE, 10, 10, 0);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE,
		     t->text + MID + BODY, t->text + MID + BODY,
		     t->text + OUTER + BODY);
	KUNIT_EXPECT_EQ(test, t->state.method, UNWIND_USER_SFRAME);
	KUNIT_EXPECT_EQ(test, t->state.sp, word_addr(t, 20 + FRAME_WORDS));
	KUNIT_EXPECT_EQ(test, t->state.fp, word_addr(t, 30));
}

/* If the rule has no record either, the frame pointer is some caller's */
static void arm64_record_then_none(struct kunit *test)
{
	struct user_test *t = test->priv;

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
 * There is no table, and the frame record is some outer caller's: the instructions show
 * where the return address is still, or again, in the link register, and how far the
 * stack pointer has moved.
 */

static const struct link_code {
	const char	*what;
	u32		insns[14];
	u8		at;		/* which of them is next */
	u16		pushed;		/* words */
	u16		between;	/* number of others that come just before it */
	u16		behind;		/* and just after it */
} link_codes[] = {
	{ "bti c", { 0xd503245f }, 0, 0 },
	{ "paciasp", { 0xd503233f }, 0, 0 },
	{ "stp x29, x30, [sp, #-32]!", { 0xa9be7bfd, 0x910003fd }, 0, 0 },
	{ "mov x29, sp", { 0xa9be7bfd, 0x910003fd }, 1, 4 },
	{ "sub sp, sp, #64", { 0xd10103ff, 0xa9027bfd, 0x910083fd }, 0, 0 },
	{ "stp x29, x30, [sp, #32]", { 0xd10103ff, 0xa9027bfd, 0x910083fd }, 1, 8 },
	{ "add x29, sp, #32", { 0xd10103ff, 0xa9027bfd, 0x910083fd }, 2, 8 },
	{ "between stp and mov x29, sp", { 0xa9be7bfd, 0xd2800000, 0x910003fd }, 1, 4 },
	{ "before stp and mov x29, sp", { 0xd2800000, 0xa9be7bfd, 0x910003fd }, 0, 0 },
	{ "between sub and stp", { 0xd10103ff, 0xf9000bf3, 0xa9027bfd, 0x910083fd }, 1, 8 },
	{ "stp d8, d9 before", { 0x6dbf27e8, 0xa9be7bfd, 0x910003fd }, 2, 6 },
	{ "stp q8, q9 before", { 0xadbf27e8, 0xa9be7bfd, 0x910003fd }, 2, 8 },
	{ "stp w1, w2 before", { 0x29bf0be1, 0xa9be7bfd, 0x910003fd }, 2, 5 },
	{ "before add sp, sp, #4096", { 0x914007ff, 0xd65f03c0 }, 0, 512 },
	{ "str x19 before", { 0xf81f0ff3, 0xa9be7bfd, 0x910003fd }, 1, 2 },
	{ "after ldp x29, x30, [sp], #32", { 0xa8c27bfd, 0x52800000, 0xd65f03c0 }, 1, 0 },
	{ "a jump after ldp", { 0xa8c27bfd, 0x14000040 }, 1, 0 },
	{ "add sp, sp, #64", { 0xa9427bfd, 0x910103ff, 0xd65f03c0 }, 1, 8 },
	{ "before add sp, sp, #64",
	  { 0xa9427bfd, 0xf9400bf3, 0x910103ff, 0xd65f03c0 }, 1, 8 },
	{ "in a leaf, before ret", { 0xc8e0fc41, 0xd65f03c0 }, 0, 0 },
	{ "in a leaf, before tst x9, #-32", { 0xf27be93f, 0xd65f03c0 }, 0, 0 },
	{ "in a leaf, before ld1 { v8.8b-v11.8b }, [sp]", { 0x0c4023e8, 0xd65f03c0 }, 0, 0 },
	{ "in a leaf, before cbz", { 0x39400210, 0x34000070, 0xc8e0fc41, 0xd65f03c0 }, 0, 0 },
	{ "before ldr x19, [sp], #16", { 0xa8c27bfd, 0xf84107f3, 0xd65f03c0 }, 1, 2 },
	{ "before st2g sp, [sp], #32", { 0xa9427bfd, 0xd9a027ff, 0xd65f03c0 }, 1, 4 },
	{ "stg x0, [sp, #16] does not move", { 0xa8c27bfd, 0xd9201be0, 0xd65f03c0 }, 1, 0 },
	{ "before stgp x19, x20, [sp], #32", { 0xa9427bfd, 0x688153f3, 0xd65f03c0 }, 1, 4 },
	{ "before ldpsw x0, x1, [sp], #16", { 0xa9427bfd, 0x68c207e0, 0xd65f03c0 }, 1, 2 },
	{ "before mov x30, x1 between stp and mov x29, sp",
	  { 0xa9be7bfd, 0xaa0103fe, 0x910003fd }, 1, 4 },
	{ "str x30, [sp, #-32]!; stur x29, [sp, #-8]; sub x29, sp, #8",
	  { 0xf81e0ffe, 0xf81f83fd, 0xd10023fd }, 0, 0 },
	{ "stur x29, [sp, #-8] after str x30, [sp, #-32]!",
	  { 0xf81e0ffe, 0xf81f83fd, 0xd10023fd }, 1, 4 },
	{ "sub x29, sp, #8 after str x30, [sp, #-32]!; stur x29, [sp, #-8]",
	  { 0xf81e0ffe, 0xf81f83fd, 0xd10023fd }, 2, 4 },
	{ "mov sp, x20 after sub x20, sp, #64; stp x29, x30, [x20, #-8]",
	  { 0xd10103f4, 0xa93ffa9d, 0x9100029f, 0xd10023fd }, 2, 0 },
	{ "autiasp", { 0xa8c27bfd, 0xd50323bf, 0xd65f03c0 }, 1, 0 },
	{ "ret", { 0xd65f03c0 }, 0, 0 },
	{ "retaa", { 0xd65f0bff }, 0, 0 },
	{ "stub: adrp", { 0x90000010, 0xf9400611, 0x91002210, 0xd61f0220 }, 0, 0 },
	{ "stub: ldr", { 0x90000010, 0xf9400611, 0x91002210, 0xd61f0220 }, 1, 0 },
	{ "stub: add", { 0x90000010, 0xf9400611, 0x91002210, 0xd61f0220 }, 2, 0 },
	{ "stub: br", { 0x90000010, 0xf9400611, 0x91002210, 0xd61f0220 }, 3, 0 },
	{ "signed stub: bti c",
	  { 0xd503245f, 0x90000010, 0xf9400211, 0xd503201f, 0xd503219f, 0xd61f0220 }, 0, 0 },
	{ "signed stub: adrp",
	  { 0xd503245f, 0x90000010, 0xf9400211, 0xd503201f, 0xd503219f, 0xd61f0220 }, 1, 0 },
	{ "signed stub: br",
	  { 0xd503245f, 0x90000010, 0xf9400211, 0xd503201f, 0xd503219f, 0xd61f0220 }, 5, 0 },
	{ "first stub: stp",
	  { 0xd503245f, 0xa9bf7bf0, 0xf00000f0, 0xf947fe11, 0x913fe210, 0xd61f0220 }, 1, 0 },
	{ "first stub: adrp",
	  { 0xd503245f, 0xa9bf7bf0, 0xf00000f0, 0xf947fe11, 0x913fe210, 0xd61f0220 }, 2, 2 },
	{ "first stub: br",
	  { 0xd503245f, 0xa9bf7bf0, 0xf00000f0, 0xf947fe11, 0x913fe210, 0xd61f0220 }, 5, 2 },
	{ "after mov x13, x30; bl; mov x30, x13",
	  { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0xa9005013 }, 4, 0 },
	{ "and after stp x29, x4, [x0, #80]",
	  { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0xa905101d, 0xd2800000 }, 5, 0 },
	{ "and after tbnz",
	  { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0x37000050, 0xd2800000 }, 5, 0 },
	{ "and after sub sp, sp, #64",
	  { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0xd10103ff, 0xd2800000 }, 5, 8 },
	{ "before cbz, stp and mov x29, sp", { 0xb4000080, 0xa9be7bfd, 0x910003fd }, 0, 0 },
	{ "between sub, cbz and stp",
	  { 0xd10103ff, 0xb4000080, 0xa9027bfd, 0x910083fd }, 2, 8 },
	{ "pairs between stp and add x29, sp, #160",
	  { 0xd102c3ff, 0xa90a7bfd, 0x6d0027e8, 0x6d0127e8, 0x6d0227e8, 0x6d0327e8,
	    0xa9046ffc, 0xa90567fa, 0xa9065ff8, 0xa90757f6, 0xa9084ff4, 0x910283fd }, 11, 22 },
	{ "veneer: adrp", { 0x90000010, 0x91002210, 0xd61f0200 }, 0, 0 },
	{ "veneer: br x16", { 0x90000010, 0x91002210, 0xd61f0200 }, 2, 0 },
	{ "veneer of a literal: ldr", { 0x58000050, 0xd61f0200 }, 0, 0 },
	{ "veneer of a literal: add",
	  { 0x58000090, 0x10000011, 0x8b110210, 0xd61f0200 }, 2, 0 },
	{ "stub after the padding of the first",
	  { 0xd61f0220, 0xd503201f, 0xd503201f, 0x90000010, 0xf9400611, 0x91002210,
	    0xd61f0220 }, 3, 0 },
	{ "mov x13, x30; before bl; mov x30, x13",
	  { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe }, 2, 0 },
	{ "mov x13, x30 after bti c", { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe }, 1, 0 },
	/* Paths: the first that leads out is enough */
	{ "cbz over a call, to ret", { 0xb4000040, 0x94000040, 0xd65f03c0 }, 0, 0 },
	{ "tbnz over a call, to ret", { 0x37000040, 0x94000040, 0xd65f03c0 }, 0, 0 },
	{ "b.eq over a call, to add sp, sp, #64; ret",
	  { 0xd2800000, 0x54000040, 0x94000040, 0x910103ff, 0xd65f03c0 }, 0, 8 },
	{ "over two calls", { 0xb4000040, 0x94000040, 0xb4000040, 0x94000040, 0xd65f03c0 }, 0, 0 },
	{ "b to ret, over a call", { 0x14000002, 0x94000040, 0xd65f03c0 }, 0, 0 },
	{ "b back, to ret", { 0xd65f03c0, 0xd2800000, 0x17fffffe }, 1, 0 },
	{ "out of a loop that ends with a jump back",
	  { 0xb4000060, 0xd2800000, 0x17fffffe, 0x910083ff, 0xd65f03c0 }, 1, 4 },
	{ "in a loop that leaves sp alone, before add sp, sp, #32",
	  { 0xd2800000, 0xd2800000, 0x54ffffc1, 0x910083ff, 0xd65f03c0 }, 1, 4 },
	{ "b to bti c", { 0x14000002, 0x94000040, 0xd503245f }, 0, 0 },
	{ "cbz over a call, before paciasp", { 0xb4000040, 0xd503233f, 0x94000040 }, 0, 0 },
	{ "b to stp x29, x30, [sp, #-32]!; mov x0, #0; mov x29, sp",
	  { 0x14000002, 0x94000040, 0xa9be7bfd, 0xd2800000, 0x910003fd }, 0, 0 },
	{ "b to b to ret", { 0x14000002, 0xd65f03c0, 0x17ffffff }, 0, 0 },
	{ "b to a stub", { 0x14000002, 0x94000040, 0x90000010, 0xf9400611, 0x91002210, 0xd61f0220 },
	  0, 0 },
	{ "before retaasppc", { 0xd2800000, 0x5500001f }, 0, 0 },
	{ "after svc, before ret", { 0xd4000001, 0xd2800000, 0xd65f03c0 }, 1, 0 },
	{ "after bti c and svc", { 0xd503245f, 0xd4000001, 0xd2800000, 0x94000040 }, 2, 0 },
	{ "b to ret, 600 further", { 0x14000258, 0xd65f03c0 }, 0, 0, 0, 599 },
	{ "before ret, 500 further", { 0xd2800000, 0xd65f03c0 }, 0, 0, 0, 499 },
	{ "before mov x16, x4; br x16", { 0xd2800000, 0xaa0403f0, 0xd61f0200 }, 0, 0 },
	{ "br x17 after mov x17, x4", { 0xaa0403f1, 0xd61f0220 }, 1, 0 },
	{ "fabs d29, d0 before ret", { 0x1e60c01d, 0xd65f03c0 }, 0, 0 },
	{ "fmov s30, w0 before ret", { 0x1e27001e, 0xd65f03c0 }, 0, 0 },
	{ "scvtf d29, x0 before ret", { 0x9e62001d, 0xd65f03c0 }, 0, 0 },
	{ "ldr d30, [sp, #8] before ret", { 0xfd4007fe, 0xd65f03c0 }, 0, 0 },
	{ "b.ls over a jump through a table, to ret",
	  { 0x7100201f, 0x54000069, 0x10000049, 0xd61f0120, 0xd65f03c0 }, 0, 0 },
	/* Straight from where it begins */
	{ "after bti c, before a call", { 0xd503245f, 0xd2800000, 0x94000040 }, 1, 0 },
	{ "after paciasp and sub sp, sp, #64, before a call",
	  { 0xd503233f, 0xd10103ff, 0xd2800000, 0x94000040 }, 2, 8 },
	{ "after bti c and cbz, before a call",
	  { 0xd503245f, 0xb4000060, 0xd2800000, 0x94000040 }, 2, 0 },
	{ "after bti c and stp x19, x20, [sp, #-16]!, before a call",
	  { 0xd503245f, 0xa9bf53f3, 0xd2800000, 0x94000040 }, 2, 2 },
	{ "after bti c and 255 more", { 0xd503245f, 0x94000040 }, 1, 0, 255 },
	{ "after mov x13, x30; bl; mov x30, x13 and 255 more",
	  { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0xd2800000 }, 4, 0, 255 },
	{ "after that, sub sp, sp, #64 and 254 more",
	  { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0xd10103ff, 0xd2800000 },
	  5, 8, 254 },
};

/* The return address is known, but not where the caller's frame begins */
static const struct link_code no_sp_codes[] = {
	{ "sub sp, sp, x9 before", { 0xcb2963ff, 0xa9be7bfd, 0x910003fd }, 2, 0 },
	{ "sub sp, sp, x12; stp x29, x30, [sp]",
	  { 0xd282020c, 0xcb2c63ff, 0xa9007bfd, 0x910003fd }, 2, 0 },
	{ "before add sp, sp, x12",
	  { 0xa9407bfd, 0xd282020c, 0x8b2c63ff, 0xd65f03c0 }, 1, 0 },
	{ "before mov sp, x29", { 0x910003bf, 0xd65f03c0 }, 0, 0 },
	{ "before addvl sp, sp, #1", { 0xa9427bfd, 0x043f503f, 0xd65f03c0 }, 1, 0 },
	{ "before ld1 { v8.8b-v11.8b }, [sp], #32", { 0x0cdf23e8, 0xd65f03c0 }, 0, 0 },
	{ "after st1 { v8.d }[0], [sp], #8", { 0x0d9f87e8, 0xa9be7bfd, 0x910003fd }, 2, 0 },
	{ "before and sp, x9, #-32", { 0x927be93f, 0xd65f03c0 }, 0, 0 },
	{ "svc before ret", { 0xd4000001, 0xd65f03c0 }, 0, 0 },
	{ "svc before stp", { 0xd4000001, 0xa9be7bfd, 0x910003fd }, 2, 0 },
	{ "sub x29, sp, #8 after stp x29, x30, [x20, #-8]; mov sp, x20",
	  { 0xd10103f4, 0xa93ffa9d, 0x9100029f, 0xd10023fd }, 3, 0 },
	{ "in a loop that moves sp, before ret",
	  { 0xd10043ff, 0xd2800000, 0x54ffffc1, 0xd65f03c0 }, 1, 0 },
	{ "cbz to stp x29, x30, [sp, #-32]!; mov x29, sp",
	  { 0xb4000040, 0x94000040, 0xa9be7bfd, 0x910003fd }, 0, 0 },
	{ "b to stp x29, x30, [sp, #16]; add x29, sp, #16",
	  { 0x14000002, 0x94000040, 0xa9017bfd, 0x910043fd }, 0, 0 },
	{ "after addpl sp, sp, #-1", { 0x047f57ff, 0xa9be7bfd, 0x910003fd }, 2, 0 },
	{ "after a uprobe", { 0xd42000a0, 0xa9be7bfd, 0x910003fd }, 1, 0 },
	{ "a uprobe before stp", { 0xd42000a0, 0xa9be7bfd, 0x910003fd }, 2, 0 },
	{ "a uprobe's stp before mov x29, sp", { 0xd42000a0, 0x910003fd }, 1, 0 },
	{ "after a uprobe; mov x13, x30; bl; mov x30, x13",
	  { 0xd42000a0, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0xa9005013 }, 4, 0 },
	{ "in a loop before stp",
	  { 0xd14043ff, 0xf90003ff, 0xeb2c63ff, 0x54ffffa1, 0xa9007bfd, 0x910003fd }, 1, 0 },
	{ "after a loop before stp",
	  { 0xd14043ff, 0xf90003ff, 0xeb2c63ff, 0x54ffffa1, 0xa9007bfd, 0x910003fd }, 5, 0 },
};

/* Nothing is known here, as the instructions stand */
static const struct link_code no_link_codes[] = {
	{ "br x17", { 0x8b010011, 0xd61f0220 }, 1, 0 },
	{ "adrp x16 for something else", { 0x90000010, 0x91002210, 0xf9400200 }, 0, 0 },
	{ "sub sp, sp, #64 to make room", { 0xd10103ff, 0x910003e0 }, 0, 0 },
	{ "add sp, sp, #64 after something else", { 0xf94003f3, 0x910103ff }, 1, 0 },
	{ "before ldr x30, [sp], #16", { 0xd2800000, 0xf84107fe, 0xd65f03c0 }, 0, 0 },
	{ "before mov x30, x11", { 0xaa0b03fe, 0xd65f03c0 }, 0, 0 },
	{ "b to itself", { 0x14000000, 0xd65f03c0 }, 0, 0 },
	{ "in a loop without an end", { 0xd2800000, 0x17ffffff, 0xd65f03c0 }, 0, 0 },
	{ "b to what nobody wrote", { 0x14100000, 0xd65f03c0 }, 0, 0 },
	{ "b to stp x29, x30, [sp, #16], for something else",
	  { 0x14000002, 0x94000040, 0xa9017bfd, 0xd2800000, 0x94000040 }, 0, 0 },
	{ "cbz to paciasp", { 0xb4000040, 0x94000040, 0xd503233f }, 0, 0 },
	{ "cbz to paciasp; stp x29, x30, [sp, #-32]!; mov x29, sp",
	  { 0xb4000040, 0x94000040, 0xd503233f, 0xa9be7bfd, 0x910003fd }, 0, 0 },
	{ "cbz to bti c", { 0xb4000040, 0x94000040, 0xd503245f }, 0, 0 },
	{ "b.hi to bti j; bti c", { 0x54000048, 0x94000040, 0xd503249f, 0xd503245f }, 0, 0 },
	{ "b.hi to bti j; paciasp", { 0x54000048, 0x94000040, 0xd503249f, 0xd503233f }, 0, 0 },
	{ "before bti c", { 0xd2800000, 0xd503245f }, 0, 0 },
	{ "after mov x30, x1 between stp and mov x29, sp",
	  { 0xa9be7bfd, 0xaa0103fe, 0x910003fd }, 2, 0 },
	{ "after mov w30, #1 between stp and add x29, sp, #32",
	  { 0xd10103ff, 0xa9027bfd, 0x5280003e, 0x910083fd }, 3, 0 },
	{ "svc before paciasp", { 0xd4000001, 0xd503233f }, 0, 0 },
	{ "svc before stp x29, x30, [sp, #-32]!; mov x29, sp",
	  { 0xd4000001, 0xa9be7bfd, 0x910003fd }, 0, 0 },
	{ "b to ret, 600 further, after a write of x30",
	  { 0x14000258, 0xaa0103fe, 0xd65f03c0 }, 0, 0, 0, 599 },
	{ "before ret, 540 further", { 0xd2800000, 0xd65f03c0 }, 0, 0, 0, 539 },
	{ "before mov x15, x4; br x15", { 0xd2800000, 0xaa0403ef, 0xd61f01e0 }, 0, 0 },
	{ "before add x16, x16, x4; br x16", { 0xd2800000, 0x8b040210, 0xd61f0200 }, 0, 0 },
	{ "fcvtzs x30, d0 before ret", { 0x9e78001e, 0xd65f03c0 }, 0, 0 },
	{ "fmov x30, d0 before ret", { 0x9e66001e, 0xd65f03c0 }, 0, 0 },
	{ "umov x29, v0.d[0] before ret", { 0x4e083c1d, 0xd65f03c0 }, 0, 0 },
	{ "b.hi over a switch, to ret",
	  { 0x7100201f, 0x54000068, 0x10000049, 0xd61f0120, 0xd65f03c0 }, 0, 0 },
	{ "after bti c and str x30, [sp, #-16]!, before a call",
	  { 0xd503245f, 0xf81f0ffe, 0xd2800000, 0x94000040 }, 2, 0 },
	{ "after bti c and stp x29, x30, [sp, #16], before a call",
	  { 0xd503245f, 0xa9017bfd, 0xd2800000, 0x94000040 }, 2, 0 },
	{ "after bti c and stp x19, x30, [sp, #-16]!, before a call",
	  { 0xd503245f, 0xa9bf7bf3, 0xd2800000, 0x94000040 }, 2, 0 },
	{ "after bti c and mov x9, x30, before a call",
	  { 0xd503245f, 0xaa1e03e9, 0xd2800000, 0x94000040 }, 2, 0 },
	{ "after bti c and 256 more", { 0xd503245f, 0xd4207d00 }, 1, 0, 256 },
	{ "after mov x12, x30; bl; mov x30, x13",
	  { 0xd503245f, 0xaa1e03ec, 0x94000040, 0xaa0d03fe, 0xa9005013 }, 4, 0 },
	{ "after that, not where a function begins",
	  { 0xd503201f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0xa9005013 }, 4, 0 },
	{ "after that and a call",
	  { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0x94000040, 0xd2800000 }, 5, 0 },
	{ "after that and ldp x29, x30, [x0, #80]",
	  { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0xa945781d, 0xd2800000 }, 5, 0 },
	{ "add x29, sp, #16 for something else", { 0x94000040, 0x910043fd }, 1, 0 },
	{ "a uprobe", { 0xd42000a0, 0xa9be7bfd, 0x910003fd }, 0, 0 },
	{ "a uprobe before mov x29, sp", { 0xa9be7bfd, 0xd42000a0, 0x910003fd }, 0, 0 },
	{ "a jump before ret", { 0xd2800000, 0x14000040, 0xd65f03c0 }, 0, 0 },
	{ "a call before mov x29, sp", { 0xa9be7bfd, 0x94000040, 0x910003fd }, 0, 0 },
	{ "stp x29, x30 after something else", { 0xa90153f3, 0xa9027bfd }, 1, 0 },
	{ "stp x19, x20, [sp, #-32]!", { 0xa9be53f3 }, 0, 0 },
	{ "ret x1", { 0xd65f0020 }, 0, 0 },
	{ "after mov x13, x30; bl; mov x30, x13 and 256 more",
	  { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0xd2800000 }, 4, 0, 256 },
	/* It is not known, either, that there is a frame record: none was made, or before a call */
	{ "nothing", { 0xd2800000, 0xd4207d00 }, 0, 0 },
	{ "after mov x29, sp and 64 more",
	  { 0xa9be7bfd, 0x910003fd, 0xd2800000, 0xd4207d00 }, 2, 0, 64 },
	{ "after mov x29, sp, for something else", { 0x910003fd, 0xd2800000, 0xd4207d00 }, 1, 0 },
	{ "after mov x29, sp and a call",
	  { 0xa9be7bfd, 0x910003fd, 0x94000040, 0xd2800000, 0xd4207d00 }, 3, 0 },
	{ "after mov x29, sp and svc",
	  { 0xa9be7bfd, 0x910003fd, 0xd4000001, 0xd2800000, 0xd4207d00 }, 3, 0 },
	{ "after mov x29, sp and b",
	  { 0xa9be7bfd, 0x910003fd, 0x14000002, 0xd2800000, 0xd4207d00 }, 3, 0 },
	{ "after mov x29, sp and ldr x29, [x0]",
	  { 0xa9be7bfd, 0x910003fd, 0xf940001d, 0xd2800000, 0xd4207d00 }, 3, 0 },
	{ "before ldp x29, x30, [x0, #32]", { 0xd2800000, 0xa942781d }, 0, 0 },
	{ "stp x29, x30, [sp, #16] before ldp",
	  { 0xd2800000, 0xa9017bfd, 0xd2800000, 0xa8c27bfd }, 0, 0 },
	{ "ldr x29, [x0] before ldp", { 0xd2800000, 0xf940001d, 0xa8c27bfd }, 0, 0 },
	{ "bti c before ldp", { 0xd2800000, 0xd503245f, 0xa8c27bfd }, 0, 0 },
	{ "br x16 before ldp", { 0xd2800000, 0xd61f0200, 0xd503249f, 0xa8c27bfd }, 0, 0 },
	{ "a switch of another function, before ldp",
	  { 0xd61f0120, 0xd503245f, 0xd503249f, 0xa8c27bfd }, 0, 0 },
	/* The registers saved before, as the code lies there, were not for a record */
	{ "before ldp, after stp x29, x30, [sp, #-32]!",
	  { 0xa9be7bfd, 0x94000040, 0xd2800000, 0xa8c27bfd }, 2, 0 },
	{ "before ldp, 900 after stp x29, x30, [sp, #-32]!",
	  { 0xa9be7bfd, 0x94000040, 0xd2800000, 0xa8c27bfd }, 2, 0, 900 },
	{ "before ldp, after stp x29, x30, [sp, #-32]!; ret; mov x29, sp",
	  { 0xa9be7bfd, 0xd65f03c0, 0x910003fd, 0x94000040, 0xd2800000, 0xa8c27bfd }, 4, 0 },
	{ "before a call, after stp x30, x19, [sp, #-32]!; cbz",
	  { 0xa9be4ffe, 0xb4000040, 0x94000040, 0xd2800000, 0x94000040 }, 3, 0 },
	{ "before a call, after stp x20, x30, [sp, #-32]! and a call",
	  { 0xa9be7bf4, 0x94000040, 0xd2800000, 0x94000040 }, 2, 0 },
	{ "before a call, after str x30, [sp, #-16]! and a call",
	  { 0xf81f0ffe, 0x94000040, 0xd2800000, 0x94000040 }, 2, 0 },
	{ "before a call, after paciasp; str x30, [sp, #16]; and a call",
	  { 0xd503233f, 0xf9000bfe, 0x94000040, 0xd2800000, 0x94000040 }, 3, 0 },
	{ "before a call, after bti c; stp x30, x1, [sp, #16]; and a call",
	  { 0xd503245f, 0xa90107fe, 0x94000040, 0xd2800000, 0x94000040 }, 3, 0 },
	{ "before ldr x29, [sp], #16; ret", { 0xd2800000, 0xf84107fd, 0xd65f03c0 }, 0, 0 },
	/* It may be saved, or free, or a function may keep no records: a call shows nothing */
	{ "mov x9, x30 before a call", { 0xd2800000, 0xaa1e03e9, 0x94000040 }, 0, 0 },
	{ "str x30, [sp, #8] before a call", { 0xd2800000, 0xf90007fe, 0x94000040 }, 0, 0 },
	{ "stp x19, x30, [sp, #-32]! before a call",
	  { 0xd2800000, 0xa9be7bf3, 0x94000040 }, 0, 0 },
	{ "str x29, [sp, #8] before a call", { 0xd2800000, 0xf90007fd, 0x94000040 }, 0, 0 },
	{ "cbz to stp x29, x30, [sp, #-32]!, or a call",
	  { 0xb4000060, 0x94000040, 0xd4207d00, 0xa9be7bfd }, 0, 0 },
	{ "cbz to bti c, or a call", { 0xb4000060, 0x94000040, 0xd4207d00, 0xd503245f }, 0, 0 },
	{ "cbz to paciasp, or a call", { 0xb4000060, 0x94000040, 0xd4207d00, 0xd503233f }, 0, 0 },
	{ "cbz to autiasp, or a call",
	  { 0xb4000060, 0x94000040, 0xd4207d00, 0xd50323bf, 0xd4207d00 }, 0, 0 },
	{ "cbz to ret x1, or a call", { 0xb4000060, 0x94000040, 0xd4207d00, 0xd65f0020 }, 0, 0 },
	{ "cbz to br x30, or a call", { 0xb4000060, 0x94000040, 0xd4207d00, 0xd61f03c0 }, 0, 0 },
	{ "cbz to a uprobe, or a call", { 0xb4000060, 0x94000040, 0xd4207d00, 0xd42000a0 }, 0, 0 },
	{ "cbz to nothing, or a call", { 0xb4000060, 0x94000040, 0xd4207d00 }, 0, 0 },
	{ "cbz to bc.eq, or a call",
	  { 0xb4000060, 0x94000040, 0xd4207d00, 0x54000050, 0xd4207d00 }, 0, 0 },
	{ "cbz to cbgt, or a call",
	  { 0xb4000060, 0x94000040, 0xd4207d00, 0x74000040, 0xd4207d00 }, 0, 0 },
	{ "a call before ldr x30, [sp], #16; retaasppc",
	  { 0x94000040, 0xf84107fe, 0x5500001f }, 0, 0 },
	{ "cbz to br x17, or a call", { 0xb4000060, 0x94000040, 0xd4207d00, 0xd61f0220 }, 0, 0 },
	{ "a call before ldr x30, [sp], #16; ret", { 0x94000040, 0xf84107fe, 0xd65f03c0 }, 0, 0 },
	{ "a call before ldp x19, x30, [sp], #32; autiasp; ret",
	  { 0x94000040, 0xa8c27bf3, 0xd50323bf, 0xd65f03c0 }, 0, 0 },
	{ "a call before ldr x30, [sp], #16; add sp, sp, #16; b",
	  { 0x94000040, 0xf84107fe, 0x910043ff, 0x14000040 }, 0, 0 },
	{ "a call before mov x29, x0", { 0x94000040, 0xaa0003fd }, 0, 0 },
	{ "ldr x29, [x0] before a call", { 0xd2800000, 0xf940001d, 0x94000040 }, 0, 0 },
	{ "mov x30, x11, and nothing", { 0xaa0b03fe, 0xd4207d00 }, 0, 0 },
};

/* The instructions show that there is a frame record */
static const struct link_code record_codes[] = {
	/* Made straight before */
	{ "after stp x29, x30, [sp, #-32]!; mov x29, sp",
	  { 0xa9be7bfd, 0x910003fd, 0xd2800000, 0xd4207d00 }, 2, 0 },
	{ "after sub sp, sp, #64; stp x29, x30, [sp, #32]; add x29, sp, #32; cbz",
	  { 0xd10103ff, 0xa9027bfd, 0x910083fd, 0xb4000040, 0xd2800000, 0xd4207d00 }, 4, 0 },
	{ "after str x30, [sp, #-32]!; stur x29, [sp, #-8]; sub x29, sp, #8",
	  { 0xf81e0ffe, 0xf81f83fd, 0xd10023fd, 0xd2800000, 0xd4207d00 }, 3, 0 },
	{ "after mov x29, sp and 63 more",
	  { 0xa9be7bfd, 0x910003fd, 0xd2800000, 0xd4207d00 }, 2, 0, 63 },
	{ "after mov x29, sp and stp x29, x19, [sp, #16]",
	  { 0xa9be7bfd, 0x910003fd, 0xa9014ffd, 0xd2800000, 0xd4207d00 }, 3, 0 },
	/* Paths to an instruction that needs it */
	{ "before ldp x29, x30, [sp], #32", { 0xd2800000, 0xa8c27bfd }, 0, 0 },
	{ "before ldp x29, x30, [sp, #32]", { 0xd2800000, 0xa9427bfd }, 0, 0 },
	{ "before ldur x29, [sp, #-8]", { 0xd2800000, 0xf85f83fd }, 0, 0 },
	{ "before mov sp, x29", { 0xd2800000, 0x910003bf, 0xd4207d00 }, 0, 0 },
	{ "before sub sp, x29, #16", { 0xd2800000, 0xd10043bf, 0xd4207d00 }, 0, 0 },
	{ "before add sp, x29, #16", { 0xd2800000, 0x910043bf, 0xd4207d00 }, 0, 0 },
	{ "900 before ldp", { 0xd2800000, 0xa8c27bfd }, 0, 0, 0, 900 },
	{ "cbz to ldp", { 0xb4000040, 0xd4207d00, 0xa8c27bfd }, 0, 0 },
	{ "b to ldp", { 0x14000002, 0xd4207d00, 0xa8c27bfd }, 0, 0 },
	{ "b.ne back, before ldp", { 0xd2800000, 0x54ffffe1, 0xa8c27bfd }, 0, 0 },
	{ "svc before ldp", { 0xd4000001, 0xa8c27bfd }, 0, 0 },
	{ "a switch, before ldp",
	  { 0xd61f0120, 0xd2800000, 0xd503249f, 0xa8c27bfd }, 0, 0 },
	{ "cbz to mov x30, x1; ret, before ldp",
	  { 0xb4000040, 0xa8c27bfd, 0xaa0103fe, 0xd65f03c0 }, 0, 0 },
	/* With any other operation on them */
	{ "mov x9, x30 before ldp", { 0xd2800000, 0xaa1e03e9, 0xa8c27bfd }, 0, 0 },
	{ "mov x30, x11 before ldp", { 0xaa0b03fe, 0xa8c27bfd }, 0, 0 },
	{ "mov x30, x11; str x30, [sp, #40] before ldp",
	  { 0xaa0b03fe, 0xf90017fe, 0xa8c27bfd }, 0, 0 },
	{ "ldr x30, [sp, #40]; add x0, x30, x0; cbz; ldp",
	  { 0xf94017fe, 0x8b0003c0, 0xb4000020, 0xa8c27bfd }, 0, 0 },
	{ "a call, and stp x1, x30, [sp, #16] before ldp",
	  { 0x94000040, 0xa9017be1, 0xa8c27bfd }, 0, 0 },
	{ "mov x9, x30 and a call before ldp",
	  { 0xaa1e03e9, 0x94000040, 0xa8c27bfd }, 0, 0 },
	{ "cbz over a call, to ldp", { 0xb4000040, 0x94000040, 0xa8c27bfd, 0xd65f03c0 }, 0, 0 },
	/* Or on the frame pointer alone, if the record was made before, as the code lies there */
	{ "before ldr x29, [sp], #16, and 64 after stp; mov x29, sp",
	  { 0xa9bf7bfd, 0x910003fd, 0xd2800000, 0xf84107fd, 0xd65f03c0 }, 2, 0, 64 },
	{ "before ldp, and 64 after stp; mov x29, sp; ret; str x30, [sp, #16]",
	  { 0xa9bf7bfd, 0x910003fd, 0xd65f03c0, 0xf9000bfe, 0xd2800000, 0xa8c27bfd },
	  4, 0, 64 },
	/* Calls */
	{ "a call", { 0xd63f0100 }, 0, 0 },
	{ "str d30, [sp, #8] before a call", { 0xfd0007fe, 0x94000040 }, 0, 0 },
	{ "after bti c and a call, before a call",
	  { 0xd503245f, 0x94000040, 0xd2800000, 0x94000040 }, 2, 0 },
	{ "before a call", { 0xd2800000, 0x94000040 }, 0, 0 },
	{ "before blr x8", { 0xd2800000, 0xd63f0100 }, 0, 0 },
	{ "cbz to a call", { 0xb4000040, 0xd4207d00, 0x94000040 }, 0, 0 },
	{ "cbz to nop; mrs x0, tpidr_el0; svc, and a call",
	  { 0xb4000040, 0xd4207d00, 0xd503201f, 0xd53bd040, 0xd4000001, 0x94000040 }, 0, 0 },
	{ "cbz to brk #1000, or a call", { 0xb4000040, 0x94000040, 0xd4207d00 }, 0, 0 },
	{ "br x9, whose cases are not near, or a call",
	  { 0xb4000040, 0xd61f0120, 0x94000040 }, 0, 0 },
	{ "a call before bti c", { 0x94000040, 0xd503245f }, 0, 0 },
	{ "a call before stp x29, x30, [sp, #-32]!", { 0x94000040, 0xa9be7bfd }, 0, 0 },
	{ "a call before mov x9, x30", { 0x94000040, 0xaa1e03e9 }, 0, 0 },
	{ "a call before ldr x30, [sp, #8], and a call",
	  { 0x94000040, 0xf94007fe, 0x94000040 }, 0, 0 },
};

static unsigned long next_insn(const struct user_test *t, const struct link_code *code)
{
	return t->text + NOWHERE + (code->at + code->between) * 4;
}

static void put_insns(struct kunit *test, unsigned long to, const u32 *insns, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(test, put_user(cpu_to_le32(insns[i]),
					       (__le32 __user *)to + i), 0);
}

static void at_code(struct kunit *test, const struct link_code *code, unsigned long lr)
{
	const u32 other = 0xd2800000;		/* mov x0, #0 */
	struct user_test *t = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, clear_user((void __user *)(t->text + NOWHERE),
					 PAGE_SIZE - NOWHERE), 0);
	/* There is no call at the address in the link register */
	put_insns(test, t->text + MID + BODY - 4, &other, 1);
	put_insns(test, t->text + NOWHERE, code->insns, code->at);
	for (i = 0; i < code->between; i++)
		put_insns(test, t->text + NOWHERE + (code->at + i) * 4, &other, 1);
	put_insns(test, next_insn(t, code), code->insns + code->at, 1);
	for (i = 1; i <= code->behind; i++)
		put_insns(test, next_insn(t, code) + i * 4, &other, 1);
	put_insns(test, next_insn(t, code) + i * 4, code->insns + code->at + 1,
		  ARRAY_SIZE(code->insns) - code->at - 1);
	put_record(test, 10 + code->pushed, 30, t->text + OUTER + BODY);
	put_record(test, 30, 40, t->text + OUTER + BODY + 4);
	begin(test, next_insn(t, code) - t->text, 10, 30, lr);
}

static void arm64_link_register(struct kunit *test)
{
	const struct link_code *code;
	struct user_test *t = test->priv;

	for (code = link_codes; code < link_codes + ARRAY_SIZE(link_codes); code++) {
		kunit_info(test, "%s\n", code->what);
		at_code(test, code, sign(t->text + MID + BODY));
		EXPECT_STACK(test, UNWIND_STOP_END, next_insn(t, code),
			     t->text + MID + BODY, t->text + OUTER + BODY);
		KUNIT_EXPECT_EQ(test, t->state.sp,
				word_addr(t, 10 + code->pushed + FRAME_WORDS));
		KUNIT_EXPECT_EQ(test, t->state.fp, word_addr(t, 30));
	}
}

/* Then the caller's own record decides */
static void arm64_link_register_no_sp(struct kunit *test)
{
	const struct link_code *code;
	struct user_test *t = test->priv;

	for (code = no_sp_codes; code < no_sp_codes + ARRAY_SIZE(no_sp_codes); code++) {
		kunit_info(test, "%s\n", code->what);
		at_code(test, code, sign(t->text + MID + BODY));
		EXPECT_STACK(test, UNWIND_STOP_END, next_insn(t, code),
			     t->text + MID + BODY, t->text + OUTER + BODY + 4);
		KUNIT_EXPECT_EQ(test, t->state.sp, word_addr(t, 30 + FRAME_WORDS));
		KUNIT_EXPECT_EQ(test, t->state.fp, word_addr(t, 40));
	}
}

static void arm64_link_register_unknown(struct kunit *test)
{
	const struct link_code *code;
	struct user_test *t = test->priv;

	for (code = no_link_codes; code < no_link_codes + ARRAY_SIZE(no_link_codes); code++) {
		kunit_info(test, "%s\n", code->what);
		at_code(test, code, t->text + MID + BODY);
		EXPECT_STACK(test, UNWIND_STOP_AMBIGUOUS, next_insn(t, code));
	}
}

/* The frame record is the function's own */
static void arm64_record(struct kunit *test)
{
	const struct link_code *code;
	struct user_test *t = test->priv;

	for (code = record_codes; code < record_codes + ARRAY_SIZE(record_codes); code++) {
		kunit_info(test, "%s\n", code->what);
		at_code(test, code, t->text + MID + BODY);
		EXPECT_STACK(test, UNWIND_STOP_END, next_insn(t, code),
			     t->text + OUTER + BODY + 4);
	}
}

/* While a call is made, another register has it for a moment */
static void arm64_link_register_kept_in_another(struct kunit *test)
{
	static const struct link_code code = {
		"", { 0xd503245f, 0xaa1e03ed, 0x94000040, 0xaa0d03fe, 0xd65f03c0 }, 3, 0
	};
	struct user_test *t = test->priv;

	at_code(test, &code, t->text + NOWHERE + 12);
	t->regs.regs[13] = sign(t->text + MID + BODY);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE + 12, t->text + MID + BODY,
		     t->text + OUTER + BODY);
	KUNIT_EXPECT_EQ(test, t->state.sp, word_addr(t, 10 + FRAME_WORDS));
}

/* A wrong rule costs no caller if the instructions show one */
static void arm64_link_register_bad_row(struct kunit *test)
{
	static const struct sfb_row rows[] = { SFB_ROW(0, SFB_SP, 0, 4) };
	const struct sfb_func funcs[] = {
		{ .start = PAGE_SIZE + MID, .size = FUNC_SIZE, SFB_ROWS(mid_rows) },
		{ .start = PAGE_SIZE + OUTER, .size = FUNC_SIZE },
		{ .start = PAGE_SIZE + BIND, .size = FUNC_SIZE, SFB_ROWS(bind_rows) },
		{ .start = PAGE_SIZE + NOWHERE, .size = FUNC_SIZE, SFB_ROWS(rows) },
	};
	const struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED, .abi = ABI, SFB_FUNCS(funcs),
	};
	struct user_test *t = test->priv;
	struct sfb_image img = {};

	at_code(test, &link_codes[0], t->text + MID + BODY);
	KUNIT_ASSERT_EQ(test, sfb_build(&img, &table), 0);
	KUNIT_EXPECT_EQ(test, copy_to_user((void __user *)t->section, img.bytes,
					   img.size), 0);
	use_table_of(test, img.size);
	sfb_free(&img);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE, t->text + MID + BODY,
		     t->text + OUTER + BODY);
}

/* The register's value is not the program's: the frame pointer would skip the caller */
static void arm64_link_register_wrong(struct kunit *test)
{
	const u32 call = 0xd63f0100;		/* blr x8 */
	struct user_test *t = test->priv;

	at_code(test, &link_codes[0], (unsigned long)arm64_link_register_wrong);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + NOWHERE);
	/* Or it marks the end */
	at_code(test, &link_codes[0], 0);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + NOWHERE);
	/* After a frame has made a call, its register is not known */
	at_code(test, &link_codes[2], t->text + MID + BODY);
	put_record(test, 10, 30, t->text + OUTER + BODY);
	put_insns(test, t->text + NOWHERE + 60, &call, 1);
	begin(test, LEAF, 10, 10, t->text + NOWHERE + 64);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + LEAF, t->text + NOWHERE + 64,
		     t->text + OUTER + BODY);
	/* Nothing is there */
	at_code(test, &link_codes[0], 0x110);
	EXPECT_STACK(test, UNWIND_STOP_NOT_TEXT, t->text + NOWHERE);
}

/*
 * The target of a path cannot be read: it may be evidence against a frame record.
 */
static void arm64_record_unread(struct kunit *test)
{
	/* cbz to a call, or on to the end of the mapping */
	static const u32 insns[] = { 0xb4ffffe0, 0xd2800000 };
	const u32 call = 0x94000040;
	struct user_test *t = test->priv;
	const unsigned long end = t->stack + PAGE_SIZE;

	KUNIT_ASSERT_EQ(test, vm_munmap(end, PAGE_SIZE), 0);
	put_insns(test, end - 8, insns, 2);
	put_insns(test, end - 12, &call, 1);
	put_record(test, 20, 40, t->text + OUTER + BODY);
	begin(test, end - 8 - t->text, 10, 20, t->text + MID + BODY);
	EXPECT_STACK(test, UNWIND_STOP_AMBIGUOUS, end - 8);
}

/* No instruction runs at an unaligned address: it was called, or jumped to, by mistake */
static void arm64_misaligned(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_record(test, 10, 20, t->text + OUTER + BODY);
	begin(test, NOWHERE + 2, 10, 10, sign(t->text + MID + BODY));
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE + 2, t->text + MID + BODY,
		     t->text + OUTER + BODY);
	begin(test, NOWHERE + 2, 10, 10, t->text + NOWHERE + 2);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + NOWHERE + 2, t->text + OUTER + BODY);
}

/*
 * The instructions around do not decide, as nothing is known of the code after a trap.  But
 * the call that has set the link register does.
 */

#define TRAP		0xd4207d00	/* brk #1000 */
#define BL		0x94000000
#define BLR_X8		0xd63f0100
/* Places of jumps that a call may lead to, and of a stub's data */
#define JUMP		BARE
#define SLOT		(BARE + 16)

static const struct called_code {
	struct link_code	code;
	u32			call;		/* BL: to the first of the instructions */
	u32			jump[4];	/* by these, if it is to JUMP */
	bool			sp_unknown;
} called_codes[] = {
	{ { "bl to it", { 0xd2800000, TRAP }, 0, 0 }, BL },
	{ { "bl to what was just before", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 }, BL },
	{ { "bl, and sub sp, sp, #64", { 0xd10103ff, 0xd2800000, TRAP }, 1, 8 }, BL },
	{ { "bl, and a branch", { 0xb4000040, 0xd2800000, 0xd2800000, TRAP }, 2, 0 },
	  BL, .sp_unknown = true },
	{ { "bl, and ret before a switch's case",
	    { 0x10000049, 0xd61f0120, 0xd65f03c0, 0xd2800000, TRAP }, 3, 0 },
	  BL, .sp_unknown = true },
	{ { "bl, and 600 more", { 0xd2800000, 0xd2800000, TRAP }, 1, 0, 600 }, BL },
	{ { "bl to it, which begins with b",
	    { 0x14000002, 0xd2800000, 0xd2800000, 0xd2800000, TRAP }, 3, 0 }, BL },
	{ { "bl to b", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 }, BL, { 0x14000000 } },
	{ { "bl to bti c; b", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 },
	  BL, { 0xd503245f, 0x14000000 } },
	{ { "bl to a veneer", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 },
	  BL, { 0x90000010, 0x91000210, 0xd61f0200 } },
	{ { "bl to a stub", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 },
	  BL, { 0x90000010, 0xf9400211, 0x91000210, 0xd61f0220 } },
	{ { "blr, and 600 more after bti c", { 0xd503245f, 0xd2800000, TRAP }, 1, 0, 600 },
	  BLR_X8 },
	{ { "blr, and a branch after paciasp",
	    { 0xd503233f, 0x14000002, 0xd2800000, 0xd2800000, TRAP }, 3, 0 },
	  BLR_X8, .sp_unknown = true },
	{ { "blraaz x8, and ret after bti c",
	    { 0xd503245f, 0xd65f03c0, 0xd2800000, TRAP }, 2, 0 },
	  0xd63f091f, .sp_unknown = true },
	{ { "bl to what goes on to bti c, and ret",
	    { 0xd2800000, 0xd503245f, 0xd65f03c0, 0xd2800000, TRAP }, 3, 0 },
	  BL, .sp_unknown = true },
	{ { "bl, and vectors of the same numbers",
	    { 0xb4000040, 0x4ebf1ffe, 0x6e0807de, 0x04fe03de, 0x65df03de, 0x0420401e,
	      0xa5e0a01e, 0x0e080c1e, 0xd2800000, TRAP }, 8, 0 },
	  BL, .sp_unknown = true },
};

/* It is not known what called these, or not whether they have made a call */
static const struct called_code no_called_codes[] = {
	{ { "no call", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 }, 0xd2800000 },
	{ { "b to it", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 }, 0x14000000 },
	{ { "a uprobe", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 }, 0xd42000a0 },
	{ { "blr without a landing pad", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 },
	  BLR_X8 },
	{ { "bl to something else", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 },
	  BL, { 0xd2800000 } },
	{ { "bl to br x16", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 },
	  BL, { 0xd61f0200 } },
	{ { "bl to b to itself", { 0xd2800000, 0xd2800000, TRAP }, 1, 0 },
	  BL, { 0x14000000 | (u32)-1 >> 6 } },
	{ { "bl, and a call", { 0xb4000060, 0x94000040, 0xd2800000, TRAP }, 2, 0 }, BL },
	{ { "bl, and blr", { 0xd2800000, 0xd63f0100, 0xd2800000, TRAP }, 2, 0 }, BL },
	{ { "bl, and stp x29, x30, [sp, #16]",
	    { 0xd2800000, 0xa9017bfd, 0xd2800000, TRAP }, 2, 0 }, BL },
	{ { "bl, and str x30, [sp, #-16]!",
	    { 0xd2800000, 0xf81f0ffe, 0xd2800000, TRAP }, 2, 0 }, BL },
	{ { "bl, and stp x19, x30, [sp, #-16]!",
	    { 0xd2800000, 0xa9bf7bf3, 0xd2800000, TRAP }, 2, 0 }, BL },
	{ { "bl, and mov x9, x30", { 0xd2800000, 0xaa1e03e9, 0xd2800000, TRAP }, 2, 0 },
	  BL },
	{ { "bl, and mov x29, x1", { 0xd2800000, 0xaa0103fd, 0xd2800000, TRAP }, 2, 0 },
	  BL },
	{ { "bl, and ldp x19, x30, [sp, #16]",
	    { 0xd2800000, 0xa9417bf3, 0xd2800000, TRAP }, 2, 0 }, BL },
	{ { "bl, and ldr x30, [sp], #16",
	    { 0xd2800000, 0xf84107fe, 0xd2800000, TRAP }, 2, 0 }, BL },
	{ { "bl, and cntd x30", { 0xd2800000, 0x04e0e3fe, 0xd2800000, TRAP }, 2, 0 }, BL },
	{ { "bl, and lastb x29, p0, z0.d",
	    { 0xd2800000, 0x05e1a01d, 0xd2800000, TRAP }, 2, 0 }, BL },
	{ { "bl, and what is none", { 0xd2800000, 0, 0xd2800000, TRAP }, 2, 0 }, BL },
	{ { "bl, and a uprobe", { 0xd2800000, 0xd42000a0, 0xd2800000, TRAP }, 2, 0 }, BL },
	{ { "bl, and add sp, sp, #64", { 0x910103ff, 0xd2800000, TRAP }, 1, 0 }, BL },
	{ { "blr, and a call after bti c",
	    { 0xd503245f, 0x94000040, 0xd2800000, TRAP }, 2, 0 }, BLR_X8 },
};

/* A branch to there, with its operation */
static u32 branch(u32 op, unsigned long from, unsigned long to)
{
	return op | ((to - from) / 4 & 0x3ffffff);
}

/* In it, with a call before @MID + @BODY */
static void at_called_code(struct kunit *test, const struct called_code *called,
			   unsigned long lr)
{
	struct user_test *t = test->priv;
	const unsigned long ra = t->text + MID + BODY, to = t->text + NOWHERE;
	u32 call = called->call, insn;
	unsigned int i;

	at_code(test, &called->code, lr);
	if (call == BL)
		call = branch(BL, ra - 4, called->jump[0] ? t->text + JUMP : to);
	put_insns(test, ra - 4, &call, 1);
	KUNIT_ASSERT_EQ(test, put_user((u64)to, (u64 __user *)(t->text + SLOT)), 0);
	for (i = 0; i < ARRAY_SIZE(called->jump); i++) {
		insn = called->jump[i];
		if (insn == 0x14000000)		/* b */
			insn = branch(insn, t->text + JUMP + i * 4, to);
		else if (insn == 0xf9400211)	/* ldr x17, [x16, #] */
			insn |= SLOT / 8 << 10;
		else if (insn == 0x91000210)	/* add x16, x16, # */
			insn |= (NOWHERE & 0xfff) << 10;
		put_insns(test, t->text + JUMP + i * 4, &insn, 1);
	}
}

static void arm64_called(struct kunit *test)
{
	struct user_test *t = test->priv;
	const struct called_code *called;
	unsigned int sp;

	for (called = called_codes; called < called_codes + ARRAY_SIZE(called_codes); called++) {
		kunit_info(test, "%s\n", called->code.what);
		at_called_code(test, called, sign(t->text + MID + BODY));
		sp = called->sp_unknown ? 30 : 10 + called->code.pushed;
		EXPECT_STACK(test, UNWIND_STOP_END, next_insn(t, &called->code),
			     t->text + MID + BODY,
			     t->text + OUTER + BODY + (called->sp_unknown ? 4 : 0));
		KUNIT_EXPECT_EQ(test, t->state.sp, word_addr(t, sp + FRAME_WORDS));
	}
}

static void arm64_called_unknown(struct kunit *test)
{
	struct user_test *t = test->priv;
	const struct called_code *called;

	for (called = no_called_codes;
	     called < no_called_codes + ARRAY_SIZE(no_called_codes); called++) {
		kunit_info(test, "%s\n", called->code.what);
		at_called_code(test, called, sign(t->text + MID + BODY));
		EXPECT_STACK(test, UNWIND_STOP_AMBIGUOUS, next_insn(t, &called->code));
	}
}

/*
 * The register has no address of an instruction, or of one that cannot be read.
 */
static void arm64_called_from_nowhere(struct kunit *test)
{
	struct user_test *t = test->priv;
	const unsigned long nowhere[] = {
		0, t->text + MID + BODY + 2, 3, 4, -4UL, TASK_SIZE_MAX - 4,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nowhere); i++) {
		kunit_info(test, "%#lx\n", nowhere[i]);
		at_called_code(test, &called_codes[0], nowhere[i]);
		EXPECT_STACK(test, UNWIND_STOP_AMBIGUOUS, t->text + NOWHERE);
	}
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
	KUNIT_CASE(arm64_record_then_none),
	KUNIT_CASE(arm64_link_register),
	KUNIT_CASE(arm64_link_register_no_sp),
	KUNIT_CASE(arm64_link_register_unknown),
	KUNIT_CASE(arm64_record),
	KUNIT_CASE(arm64_record_unread),
	KUNIT_CASE(arm64_misaligned),
	KUNIT_CASE(arm64_link_register_kept_in_another),
	KUNIT_CASE(arm64_link_register_bad_row),
	KUNIT_CASE(arm64_link_register_wrong),
	KUNIT_CASE(arm64_called),
	KUNIT_CASE(arm64_called_unknown),
	KUNIT_CASE(arm64_called_from_nowhere),
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
