// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the iterator: stacks that the test lays out in user memory,
 * walked from registers that it makes up.
 */

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>

#include "../user.h"
#include "sframe_data.h"

#ifdef CONFIG_X86_64

#define STACK_WORDS	(PAGE_SIZE / sizeof(u64))
#define MAX_FRAMES	64

struct user_test {
	unsigned long			text;	/* nothing is there; only numbers */
	unsigned long			section;
	unsigned long			stack;
	struct pt_regs			regs;
	struct unwind_user_state	state;
	struct unwind_stacktrace	trace;
	unsigned long			entries[MAX_FRAMES];
};

static void put_word(struct kunit *test, unsigned int index, u64 val)
{
	struct user_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, put_user(val, (u64 __user *)t->stack + index), 0);
}

static unsigned long word_addr(struct user_test *t, unsigned int index)
{
	return t->stack + index * sizeof(u64);
}

static int user_test_init(struct kunit *test)
{
	struct test_sframe sframe;
	struct user_test *t;

	t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;

	t->section = kunit_vm_mmap(test, NULL, 0, 4 * PAGE_SIZE,
				   PROT_READ | PROT_WRITE,
				   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, t->section, 0);
	KUNIT_ASSERT_LT(test, t->section, TASK_SIZE);
	t->text = t->section + PAGE_SIZE;
	t->stack = t->section + 2 * PAGE_SIZE;
	t->trace.entries = t->entries;

	test_sframe_init(&sframe, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)t->section, &sframe,
					   sizeof(sframe)), 0);
	t->regs = (struct pt_regs){ .cs = __USER_CS, .ss = __USER_DS };
	return 0;
}

static void set_regs(struct user_test *t, unsigned long ip, unsigned long sp,
		     unsigned long fp)
{
	t->regs.ip = ip;
	t->regs.sp = sp;
	t->regs.bp = fp;
}

static void start(struct kunit *test)
{
	struct user_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, unwind_user_start(&t->state, &t->regs,
						UNWIND_USER_FAULTABLE), 0);
}

/* The table is known, as if it had been looked up before */
static void use_table(struct kunit *test)
{
	struct user_test *t = test->priv;

	t->state.table.format = UNWIND_TABLE_SFRAME;
	t->state.table.text_start = t->text;
	t->state.table.text_end = t->text + PAGE_SIZE;
	KUNIT_ASSERT_EQ(test,
			sframe_read_header(&t->state.table.sframe, t->section,
					   sizeof(struct test_sframe),
					   SFRAME_ABI_AMD64_ENDIAN_LITTLE), 0);
}

#define EXPECT_STACK(test, reason, ...)						\
do {										\
	const unsigned long expected[] = { __VA_ARGS__ };			\
	struct user_test *_t = (test)->priv;					\
	unsigned int _i;							\
										\
	unwind_user_frames(&_t->state, &_t->trace, MAX_FRAMES);			\
	KUNIT_EXPECT_EQ(test, _t->state.stop, reason);				\
	KUNIT_ASSERT_EQ(test, _t->trace.nr, ARRAY_SIZE(expected));		\
	for (_i = 0; _i < ARRAY_SIZE(expected); _i++)				\
		KUNIT_EXPECT_EQ(test, _t->entries[_i], expected[_i]);		\
} while (0)

static void user_fp_chain(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* Two frame records; the outer one has no caller's frame pointer */
	put_word(test, 10, word_addr(t, 20));
	put_word(test, 11, 0x1111);
	put_word(test, 20, 0);
	put_word(test, 21, 0x2222);
	set_regs(t, 0x1000, word_addr(t, 4), word_addr(t, 10));
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, 0x1000, 0x1111, 0x2222);
}

static void user_fp_not_a_frame(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 10, word_addr(t, 20));
	put_word(test, 11, 0x1111);

	/* Below the stack pointer */
	set_regs(t, 0x1000, word_addr(t, 12), word_addr(t, 10));
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000);

	/* Not aligned */
	set_regs(t, 0x1000, word_addr(t, 4), word_addr(t, 10) + 4);
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000);

	/* At the very end of the address space */
	set_regs(t, 0x1000, word_addr(t, 4), -8UL);
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000);

	/* Not mapped */
	KUNIT_ASSERT_EQ(test, vm_munmap(t->stack + PAGE_SIZE, PAGE_SIZE), 0);
	set_regs(t, 0x1000, word_addr(t, 4), t->stack + PAGE_SIZE);
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_UNREADABLE, 0x1000);
}

static void user_fp_loop(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* A record that points to itself: no way outwards */
	put_word(test, 10, word_addr(t, 10));
	put_word(test, 11, 0x1111);
	set_regs(t, 0x1000, word_addr(t, 4), word_addr(t, 10));
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000, 0x1111);
}

static void user_kernel_address(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 10, word_addr(t, 20));
	put_word(test, 11, (unsigned long)user_kernel_address);
	set_regs(t, 0x1000, word_addr(t, 4), word_addr(t, 10));
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, 0x1000);
}

static void user_limit(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned int i;

	for (i = 0; i < 2 * (MAX_FRAMES + 10); i += 2) {
		put_word(test, 10 + i, word_addr(t, 12 + i));
		put_word(test, 11 + i, 0x1111);
	}
	set_regs(t, 0x1000, word_addr(t, 4), word_addr(t, 10));
	start(test);
	unwind_user_frames(&t->state, &t->trace, MAX_FRAMES);
	KUNIT_EXPECT_EQ(test, t->trace.nr, MAX_FRAMES);
	KUNIT_EXPECT_EQ(test, t->state.stop, UNWIND_STOP_LIMIT);
}

static void user_compat(struct kunit *test)
{
	struct user_test *t = test->priv;
	u32 __user *words;
	unsigned long low;

	low = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			    MAP_ANONYMOUS | MAP_PRIVATE | MAP_32BIT, 0);
	KUNIT_ASSERT_NE(test, low, 0);
	KUNIT_ASSERT_LT(test, low, U32_MAX);
	words = (u32 __user *)low;

	/* The words beside a 32-bit record must not be taken for part of it */
	KUNIT_ASSERT_EQ(test, put_user((u32)(low + 80), &words[10]), 0);
	KUNIT_ASSERT_EQ(test, put_user(0x1111u, &words[11]), 0);
	KUNIT_ASSERT_EQ(test, put_user(0xdeadu, &words[12]), 0);
	KUNIT_ASSERT_EQ(test, put_user(0u, &words[20]), 0);
	KUNIT_ASSERT_EQ(test, put_user(0x2222u, &words[21]), 0);

	t->regs.cs = __USER32_CS;
	set_regs(t, 0x1000, low + 16, low + 40);
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, 0x1000, 0x1111, 0x2222);

	/* A segment of the program's own: addresses are not what they seem */
	t->regs.cs = 0x7;
	KUNIT_EXPECT_EQ(test, unwind_user_start(&t->state, &t->regs,
						UNWIND_USER_FAULTABLE), -EINVAL);
}

static void user_kernel_regs(struct kunit *test)
{
	struct user_test *t = test->priv;

	t->regs.cs = __KERNEL_CS;
	KUNIT_EXPECT_EQ(test, unwind_user_start(&t->state, &t->regs,
						UNWIND_USER_FAULTABLE), -EINVAL);
}

/* A full stack by table: leaf, caller with FP saved, outermost frame */
static void user_sframe_stack(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* sp_func at its entry: return address on top */
	put_word(test, 10, t->text + TEST_SP_FUNC + 9);
	/* sp_func at +8: CFA = SP+24, RA below, FP below that */
	put_word(test, 12, word_addr(t, 20));
	put_word(test, 13, t->text + TEST_FP_FUNC + 4);
	/* fp_func: CFA = FP+16 */
	put_word(test, 20, 0x5555);
	put_word(test, 21, t->text + TEST_END_FUNC + 1);
	set_regs(t, t->text + TEST_SP_FUNC, word_addr(t, 10), 0x77);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC,
		     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 4,
		     t->text + TEST_END_FUNC + 1);
	KUNIT_EXPECT_EQ(test, t->state.method, UNWIND_USER_SFRAME);
	KUNIT_EXPECT_EQ(test, t->state.fp, 0x5555);
}

/*
 * A call as the last instruction of a function returns to the first of the next:
 * it is the caller's row that counts. The topmost address is taken as it is.
 */
static void user_sframe_ra_minus_one(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* From sp_func's entry into the end of sp_func, which is end_func's start */
	put_word(test, 10, t->text + TEST_END_FUNC);
	put_word(test, 13, t->text + TEST_END_FUNC + 1);
	set_regs(t, t->text + TEST_SP_FUNC, word_addr(t, 10), 0);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC,
		     t->text + TEST_END_FUNC, t->text + TEST_END_FUNC + 1);

	set_regs(t, t->text + TEST_END_FUNC, word_addr(t, 10), 0);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_END_FUNC);
}

/* What a signal interrupted is an exact address */
static void user_sframe_signal(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 10, t->text + TEST_END_FUNC);
	set_regs(t, t->text + TEST_SIG_FUNC, word_addr(t, 10), 0);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SIG_FUNC,
		     t->text + TEST_END_FUNC);
}

/* Per frame: a frame that the table does not describe is left by its FP */
static void user_sframe_mixed(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 10, t->text + TEST_TEXT_SIZE + 8);
	put_word(test, 14, 0x99);
	put_word(test, 15, t->text + TEST_SP_FUNC + 4);
	put_word(test, 16, t->text + TEST_END_FUNC + 1);
	set_regs(t, t->text + TEST_SP_FUNC, word_addr(t, 10), word_addr(t, 14));
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC,
		     t->text + TEST_TEXT_SIZE + 8, t->text + TEST_SP_FUNC + 4,
		     t->text + TEST_END_FUNC + 1);
}

/* So is one whose entry is bad; if that does not help, the entry is to blame */
static void user_sframe_bad_entry(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 14, 0x99);
	put_word(test, 15, t->text + TEST_END_FUNC + 1);
	set_regs(t, t->text + TEST_BAD_FUNC, word_addr(t, 10), word_addr(t, 14));
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_BAD_FUNC,
		     t->text + TEST_END_FUNC + 1);

	set_regs(t, t->text + TEST_BAD_FUNC, word_addr(t, 10), 1);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_BAD_TABLE, t->text + TEST_BAD_FUNC);
}

/* Other registers are known for the topmost frame only */
static void user_sframe_register(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* CFA = *(R10 - 8) */
	put_word(test, 30, word_addr(t, 12));
	put_word(test, 11, t->text + TEST_FLEX_FUNC + 1);
	t->regs.r10 = word_addr(t, 31);
	set_regs(t, t->text + TEST_FLEX_FUNC, word_addr(t, 10), 1);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + TEST_FLEX_FUNC,
		     t->text + TEST_FLEX_FUNC + 1);
}

/* A row may not lead back, nor nowhere */
static void user_sframe_backwards(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 30, word_addr(t, 10));
	t->regs.r10 = word_addr(t, 31);
	set_regs(t, t->text + TEST_FLEX_FUNC, word_addr(t, 10), 1);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_FLEX_FUNC);

	put_word(test, 30, word_addr(t, 12) + 4);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_FLEX_FUNC);
}

/* A 32-bit frame is never described by an SFrame table */
static void user_sframe_not_compat(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 10, t->text + TEST_END_FUNC + 1);
	t->regs.cs = __USER32_CS;
	set_regs(t, t->text + TEST_END_FUNC, word_addr(t, 10), 1);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, t->text + TEST_END_FUNC);
}

static void user_nofault(struct kunit *test)
{
	struct user_test *t = test->priv;
	int ret;

	/* The second page of the stack was never touched */
	set_regs(t, 0x1000, t->stack, t->stack + PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, unwind_user_start(&t->state, &t->regs,
						UNWIND_USER_NOFAULT), 0);
	pagefault_disable();
	ret = unwind_user_next(&t->state);
	pagefault_enable();
	KUNIT_EXPECT_EQ(test, ret, -ENOENT);
	KUNIT_EXPECT_EQ(test, t->state.stop, UNWIND_STOP_UNREADABLE);

	/* Faulted in, it is a frame record that ends the stack */
	start(test);
	KUNIT_EXPECT_EQ(test, unwind_user_next(&t->state), -ENOENT);
	KUNIT_EXPECT_EQ(test, t->state.stop, UNWIND_STOP_END_FP);
}

static struct kunit_case user_cases[] = {
	KUNIT_CASE(user_fp_chain),
	KUNIT_CASE(user_fp_not_a_frame),
	KUNIT_CASE(user_fp_loop),
	KUNIT_CASE(user_kernel_address),
	KUNIT_CASE(user_limit),
	KUNIT_CASE(user_compat),
	KUNIT_CASE(user_kernel_regs),
	KUNIT_CASE(user_sframe_stack),
	KUNIT_CASE(user_sframe_ra_minus_one),
	KUNIT_CASE(user_sframe_signal),
	KUNIT_CASE(user_sframe_mixed),
	KUNIT_CASE(user_sframe_bad_entry),
	KUNIT_CASE(user_sframe_register),
	KUNIT_CASE(user_sframe_backwards),
	KUNIT_CASE(user_sframe_not_compat),
	KUNIT_CASE(user_nofault),
	{}
};

static struct kunit_suite user_suite = {
	.name = "unwind_user",
	.init = user_test_init,
	.test_cases = user_cases,
};

kunit_test_suite(user_suite);

#endif /* CONFIG_X86_64 */

MODULE_DESCRIPTION("KUnit tests of the user stack iterator");
MODULE_LICENSE("GPL");
