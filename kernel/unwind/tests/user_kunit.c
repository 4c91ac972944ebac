// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the frame loop: unwinds of stacks that the test lays out in user
 * memory, from registers that it makes up.
 */

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/uaccess.h>
#include <asm/unwind_arch.h>

#include "sframe_data.h"
#include "user_fixture.h"

static void user_fp_chain(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* Two frame records; the outer one has no caller's frame pointer */
	put_words(test, 10, word_addr(t, 20), t->text + 0x110);
	put_words(test, 20, 0, t->text + 0x220);
	start_at(test, 0x1000, word_addr(t, 4), word_addr(t, 10));
	EXPECT_STACK(test, UNWIND_STOP_END_FP, 0x1000, t->text + 0x110, t->text + 0x220);
}

/*
 * There is no call before the second frame's address: some function has made up this stack,
 * and has left its own frame pointer there.
 */
static void user_fp_not_called(struct kunit *test)
{
	struct user_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, put_user(0ULL, (u64 __user *)(t->text + 0x108)), 0);
	put_words(test, 10, word_addr(t, 20), t->text + 0x110);
	put_words(test, 20, 0, t->text + 0x220);
	start_at(test, 0x1000, word_addr(t, 4), word_addr(t, 10));
	EXPECT_STACK(test, UNWIND_STOP_NO_CALL, 0x1000, t->text + 0x110);
}

static void user_fp_not_a_frame(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_words(test, 10, word_addr(t, 20), t->text + 0x110);

	/* Below the stack pointer */
	start_at(test, 0x1000, word_addr(t, 12), word_addr(t, 10));
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000);

	/* Not aligned */
	start_at(test, 0x1000, word_addr(t, 4), word_addr(t, 10) + 4);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000);

	/* At the very end of the address space */
	start_at(test, 0x1000, word_addr(t, 4), -8UL);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000);

	/* Not mapped */
	KUNIT_ASSERT_EQ(test, vm_munmap(t->stack + PAGE_SIZE, PAGE_SIZE), 0);
	start_at(test, 0x1000, word_addr(t, 4), t->stack + PAGE_SIZE);
	EXPECT_STACK(test, UNWIND_STOP_UNREADABLE, 0x1000);
}

static void user_fp_loop(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* A record that points to itself: not further out */
	put_words(test, 10, word_addr(t, 10), t->text + 0x110);
	start_at(test, 0x1000, word_addr(t, 4), word_addr(t, 10));
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000, t->text + 0x110);
}

static void user_kernel_address(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_words(test, 10, word_addr(t, 20), (unsigned long)user_kernel_address);
	start_at(test, 0x1000, word_addr(t, 4), word_addr(t, 10));
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000);
}

static void user_limit(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned int i;

	for (i = 0; i < 2 * (MAX_FRAMES + 10); i += 2) {
		put_word(test, 10 + i, word_addr(t, 12 + i));
		put_word(test, 11 + i, t->text + 0x110);
	}
	start_at(test, 0x1000, word_addr(t, 4), word_addr(t, 10));
	take_stack(test);
	KUNIT_EXPECT_EQ(test, t->trace.nr, MAX_FRAMES);
	KUNIT_EXPECT_EQ(test, t->state.stop, UNWIND_STOP_LIMIT);
}

/* The frames that the budget allows: one returns to @other, and the others to the text */
static unsigned int frames_in_budget(struct kunit *test, unsigned long other)
{
	const unsigned int budget = 400, max = 500;
	struct user_test *t = test->priv;
	struct unwind_stacktrace trace = {};
	unsigned int i;

	trace.entries = kunit_kcalloc(test, max, sizeof(*trace.entries), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, trace.entries);
	for (i = 0; i < max; i++)
		put_words(test, 2 * i, word_addr(t, 2 * i + 2),
			  (i == 1 ? other : t->text) + 0x110);
	start_at(test, t->text + 0x110, t->stack, t->stack);
	t->state.budget = budget;
	unwind_walk_all_frames(&t->state, &trace, max);
	KUNIT_EXPECT_EQ(test, t->state.stop, UNWIND_STOP_LIMIT);
	KUNIT_EXPECT_LT(test, trace.nr, budget);
	KUNIT_EXPECT_GT(test, trace.nr, budget / 2);
	KUNIT_EXPECT_EQ(test, trace.entries[2], other + 0x110);
	return trace.nr;
}

/* Each mapping that is looked up takes from the budget, however much room there is */
static void user_budget(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned long other;

	other = map_text(test, NULL, t->stack + 16 * PAGE_SIZE, MAP_ANONYMOUS);
	KUNIT_EXPECT_LT(test, frames_in_budget(test, other),
			frames_in_budget(test, t->text));
}

#ifdef CONFIG_X86_64
static void user_compat(struct kunit *test)
{
	struct user_test *t = test->priv;
	u32 __user *words;
	unsigned long low;

	low = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_ANONYMOUS | MAP_PRIVATE | MAP_32BIT, 0);
	KUNIT_ASSERT_NE(test, low, 0);
	KUNIT_ASSERT_LT(test, low, U32_MAX);
	words = (u32 __user *)low;
	/* Calls, before the addresses that are returned to */
	KUNIT_ASSERT_EQ(test, put_user(0xe8e8e8e8, (u32 __user *)(low + 0x10a)), 0);
	KUNIT_ASSERT_EQ(test, put_user(0xe8e8e8e8, (u32 __user *)(low + 0x21b)), 0);

	/* The words beside a 32-bit record must not be taken for part of it */
	KUNIT_ASSERT_EQ(test, put_user((u32)(low + 80), &words[10]), 0);
	KUNIT_ASSERT_EQ(test, put_user((u32)(low + 0x110), &words[11]), 0);
	KUNIT_ASSERT_EQ(test, put_user(0xdeadu, &words[12]), 0);
	KUNIT_ASSERT_EQ(test, put_user(0u, &words[20]), 0);
	KUNIT_ASSERT_EQ(test, put_user((u32)(low + 0x220), &words[21]), 0);

	t->regs.cs = __USER32_CS;
	start_at(test, 0x1000, low + 16, low + 40);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, 0x1000, low + 0x110, low + 0x220);

	/* A segment of the program's own: addresses are not what they seem */
	t->regs.cs = 0x7;
	KUNIT_EXPECT_EQ(test, unwind_walk_start(&t->state, &t->regs), -EINVAL);
}

#endif /* CONFIG_X86_64 */

static void user_kernel_regs(struct kunit *test)
{
	struct user_test *t = test->priv;

	set_kernel_regs(t);
	KUNIT_EXPECT_EQ(test, unwind_walk_start(&t->state, &t->regs), -EINVAL);
}

/* A full stack by table: leaf, caller with FP saved, outermost frame */
static void user_sframe_stack(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* sp_func at its entry: return address on top */
	put_word(test, 10, t->text + TEST_SP_FUNC + 9);
	/* sp_func at +8: CFA = SP+24, RA below, FP below that */
	put_words(test, 12, word_addr(t, 20), t->text + TEST_FP_FUNC + 4);
	/* fp_func: CFA = FP+16 */
	put_words(test, 20, 0x5555, t->text + TEST_END_FUNC + 1);
	start_at(test, t->text + TEST_SP_FUNC, word_addr(t, 10), 0x77);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC,
		     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 4,
		     t->text + TEST_END_FUNC + 1);
	KUNIT_EXPECT_EQ(test, t->state.method, UNWIND_METHOD_SFRAME);
	KUNIT_EXPECT_EQ(test, t->state.fp, 0x5555);
}

/* A frame on another stack, below: a caller's is followed, an interrupted function's is not */
static void user_sframe_further_in(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* fp_func: CFA = FP+16 */
	put_words(test, 12, 0x5555, t->text + TEST_END_FUNC + 4);
	put_word(test, 30, t->text + TEST_FP_FUNC + 4);
	start_at(test, t->text + TEST_SP_FUNC, word_addr(t, 30), word_addr(t, 12));
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC,
		     t->text + TEST_FP_FUNC + 4, t->text + TEST_END_FUNC + 4);

	start_at(test, t->text + TEST_FP_FUNC + 4, word_addr(t, 30), word_addr(t, 12));
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_FP_FUNC + 4);
}

/* The same by frame pointer alone, which leads to the lower one of two mappings */
static void user_fp_further_in(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned long inner, outer;

	inner = kunit_vm_mmap(test, NULL, 0, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE,
			      MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, inner, 0);
	KUNIT_ASSERT_EQ(test, vm_munmap(inner + PAGE_SIZE, PAGE_SIZE), 0);
	outer = inner + 2 * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, put_user(inner + 0x100, (u64 __user *)outer), 0);
	KUNIT_ASSERT_EQ(test, put_user(t->text + 0x110, (u64 __user *)(outer + 8)), 0);
	KUNIT_ASSERT_EQ(test, put_user(0ULL, (u64 __user *)(inner + 0x100)), 0);
	KUNIT_ASSERT_EQ(test, put_user(t->text + 0x220, (u64 __user *)(inner + 0x108)), 0);

	start_at(test, 0x1000, outer, outer);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, 0x1000, t->text + 0x110, t->text + 0x220);

	/* An interrupted function's is not followed */
	start_at(test, 0x1000, outer, inner + 0x100);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000);

	/* Nor is a record from which the next one lies further in */
	KUNIT_ASSERT_EQ(test, put_user(inner + 0x80, (u64 __user *)(inner + 0x100)), 0);
	start_at(test, 0x1000, outer, outer);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000, t->text + 0x110);

	/* Nor one in the same mapping */
	KUNIT_ASSERT_EQ(test, put_user(inner + 0x100, (u64 __user *)(inner + 0x200)), 0);
	KUNIT_ASSERT_EQ(test, put_user(t->text + 0x110, (u64 __user *)(inner + 0x208)), 0);
	start_at(test, 0x1000, inner + 0x200, inner + 0x200);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000, t->text + 0x110);
}

/*
 * A call that is the last instruction of a function returns to the first of the next:
 * the caller's rule counts. The topmost address is used as it is.
 */
static void user_sframe_ra_minus_one(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* From sp_func's entry into the end of sp_func, which is end_func's start */
	put_word(test, 10, t->text + TEST_END_FUNC);
	put_word(test, 13, t->text + TEST_END_FUNC + 1);
	start_at(test, t->text + TEST_SP_FUNC, word_addr(t, 10), 0);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC,
		     t->text + TEST_END_FUNC, t->text + TEST_END_FUNC + 1);

	start_at(test, t->text + TEST_END_FUNC, word_addr(t, 10), 0);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_END_FUNC);
}

/* The address of an interrupted frame is exact */
static void user_sframe_signal(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 10, t->text + TEST_END_FUNC);
	start_at(test, t->text + TEST_SIG_FUNC, word_addr(t, 10), 0);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SIG_FUNC,
		     t->text + TEST_END_FUNC);
}

#ifdef CONFIG_X86_64
/* Per frame: if the table does not describe a frame, its FP leads to the caller */
static void user_sframe_mixed(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 10, t->text + TEST_TEXT_SIZE + 8);
	put_word(test, 14, 0x99);
	put_words(test, 15, t->text + TEST_SP_FUNC + 4, t->text + TEST_END_FUNC + 1);
	start_at(test, t->text + TEST_SP_FUNC, word_addr(t, 10), word_addr(t, 14));
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC,
		     t->text + TEST_TEXT_SIZE + 8, t->text + TEST_SP_FUNC + 4,
		     t->text + TEST_END_FUNC + 1);
}

#endif /* CONFIG_X86_64 */

/* So it does if the entry is bad; if that does not help, the entry is to blame */
static void user_sframe_bad_entry(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_words(test, 14, 0x99, t->text + TEST_END_FUNC + 1);
	start_at(test, t->text + TEST_BAD_FUNC, word_addr(t, 10), word_addr(t, 14));
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_BAD_FUNC,
		     t->text + TEST_END_FUNC + 1);

	start_at(test, t->text + TEST_BAD_FUNC, word_addr(t, 10), 1);
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
	t->regs.TEST_REG10 = word_addr(t, 31);
	start_at(test, t->text + TEST_FLEX_FUNC, word_addr(t, 10), 1);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + TEST_FLEX_FUNC,
		     t->text + TEST_FLEX_FUNC + 1);

	/* Nor does a frame pointer help: the stack has been aligned */
	put_words(test, 40, 0, t->text + TEST_END_FUNC + 1);
	start_at(test, t->text + TEST_FLEX_FUNC, word_addr(t, 10),
		 word_addr(t, 40));
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + TEST_FLEX_FUNC,
		     t->text + TEST_FLEX_FUNC + 1);
}

#ifdef CONFIG_X86_64
/* An interrupted function that has popped its return address, such as vfork() */
static void user_sframe_ra_in_register(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 12, t->text + TEST_END_FUNC + 1);
	t->regs.TEST_REG10 = t->text + TEST_SP_FUNC + 5;
	start_at(test, t->text + TEST_REG_FUNC, word_addr(t, 10), 1);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_REG_FUNC,
		     t->text + TEST_SP_FUNC + 5, t->text + TEST_END_FUNC + 1);

	/* A function that has made a call has lost the register, and has a frame */
	put_word(test, 10, t->text + TEST_REG_FUNC + 1);
	start_at(test, t->text + TEST_SP_FUNC, word_addr(t, 10), 1);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_SP_FUNC,
		     t->text + TEST_REG_FUNC + 1);
}

/* The CFA, less 8, was saved at SP + 16; @saved is the word that was saved */
static void start_sum(struct kunit *test, u64 saved)
{
	struct user_test *t = test->priv;

	put_word(test, 12, saved);
	start_at(test, t->text + TEST_SUM_FUNC, word_addr(t, 10), 1);
	use_table(test);
}

/* As OpenSSL's assembly does: in a function that was interrupted, and in one that calls */
static void user_sframe_cfa_sum(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 14, t->text + TEST_SUM_FUNC + 1);
	put_word(test, 17, word_addr(t, 20));
	put_word(test, 20, t->text + TEST_END_FUNC + 1);
	start_sum(test, word_addr(t, 14));
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SUM_FUNC,
		     t->text + TEST_SUM_FUNC + 1, t->text + TEST_END_FUNC + 1);
	/* Below the stack pointer, at it, and no multiple of a word */
	start_sum(test, word_addr(t, 8));
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_SUM_FUNC);
	start_sum(test, word_addr(t, 9));
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_SUM_FUNC);
	start_sum(test, word_addr(t, 14) + 4);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_SUM_FUNC);
	/* The sum wraps, and where it leads nothing can be read */
	start_sum(test, -16ULL);
	EXPECT_STACK(test, UNWIND_STOP_UNREADABLE, t->text + TEST_SUM_FUNC);
	start_sum(test, -8ULL);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_SUM_FUNC);
}

/* A register says how long the array is, which is known only for an interrupted function */
static void user_sframe_cfa_after_array(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 14, word_addr(t, 16));
	put_word(test, 16, t->text + TEST_ARRAY_FUNC + 1);
	t->regs.TEST_REG10 = 3;
	start_at(test, t->text + TEST_ARRAY_FUNC, word_addr(t, 10), 1);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + TEST_ARRAY_FUNC,
		     t->text + TEST_ARRAY_FUNC + 1);

	t->regs.TEST_REG10 = TASK_SIZE_MAX / 8;
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_UNREADABLE, t->text + TEST_ARRAY_FUNC);
}

/* @func was called by a function whose CFA is in register 10, with the value @reg */
static void start_kept(struct kunit *test, unsigned long func, unsigned long reg)
{
	struct user_test *t = test->priv;

	t->regs.TEST_REG10 = reg;
	start_at(test, t->text + func, word_addr(t, 10), 1);
	use_table(test);
}

/* Only a callee that has nothing on the stack is known to have kept the register */
static void user_sframe_cfa_kept(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* No system call */
	t->regs.orig_ax = -1;
	put_word(test, 10, t->text + TEST_KEPT_FUNC + 4);
	put_word(test, 12, t->text + TEST_KEPT_FUNC + 4);
	put_words(test, 14, t->text + TEST_END_FUNC + 1, t->stack + PAGE_SIZE);
	start_kept(test, TEST_SP_FUNC, word_addr(t, 14));
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC,
		     t->text + TEST_KEPT_FUNC + 4, t->text + TEST_END_FUNC + 1);
	start_kept(test, TEST_SP_FUNC + 4, word_addr(t, 14));
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + TEST_SP_FUNC + 4,
		     t->text + TEST_KEPT_FUNC + 4);
	/* The register is not kept: below the stack pointer, and where no call returns to */
	start_kept(test, TEST_SP_FUNC, word_addr(t, 9));
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + TEST_SP_FUNC,
		     t->text + TEST_KEPT_FUNC + 4);
	start_kept(test, TEST_SP_FUNC, word_addr(t, 15));
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + TEST_SP_FUNC,
		     t->text + TEST_KEPT_FUNC + 4);
	/* If another rule is in force at the return address, the callee may change the register */
	put_word(test, 10, t->text + TEST_KEPT_FUNC + 16);
	start_kept(test, TEST_SP_FUNC, word_addr(t, 14));
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + TEST_SP_FUNC,
		     t->text + TEST_KEPT_FUNC + 16);
	/* Nor may a function that makes a system call */
	put_word(test, 10, t->text + TEST_KEPT_FUNC + 4);
	t->regs.orig_ax = 1;
	start_kept(test, TEST_SP_FUNC, word_addr(t, 14));
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + TEST_SP_FUNC,
		     t->text + TEST_KEPT_FUNC + 4);
}

/* Where the frame pointer is lost, the stack ends only if it is needed */
static void user_sframe_fp_lost(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 10, t->text + TEST_LOST_FUNC + 1);
	put_word(test, 11, t->text + TEST_SP_FUNC + 5);
	put_word(test, 14, t->text + TEST_END_FUNC + 1);
	put_word(test, 20, 0);
	put_word(test, 21, t->text + TEST_END_FUNC + 1);
	set_regs(t, t->text + TEST_SP_FUNC, word_addr(t, 10), word_addr(t, 20));
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC, t->text + TEST_LOST_FUNC + 1,
		     t->text + TEST_SP_FUNC + 5, t->text + TEST_END_FUNC + 1);
	put_word(test, 11, t->text + TEST_FP_FUNC + 1);
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER, t->text + TEST_SP_FUNC,
		     t->text + TEST_LOST_FUNC + 1, t->text + TEST_FP_FUNC + 1);
	/* It is known again where a caller has saved it */
	put_word(test, 11, t->text + TEST_SP_FUNC + 9);
	put_word(test, 13, word_addr(t, 20));
	put_word(test, 14, t->text + TEST_FP_FUNC + 1);
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC, t->text + TEST_LOST_FUNC + 1,
		     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 1,
		     t->text + TEST_END_FUNC + 1);
}

#endif /* CONFIG_X86_64 */

/* A rule must lead further out, and to an aligned frame */
static void user_sframe_backwards(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 30, word_addr(t, 9));
	t->regs.TEST_REG10 = word_addr(t, 31);
	start_at(test, t->text + TEST_FLEX_FUNC, word_addr(t, 10), 1);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_FLEX_FUNC);

	/* A call without a link register takes at least a word */
	put_word(test, 30, word_addr(t, UNWIND_ARCH_CFA_MIN_WORDS ? 10 : 9));
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_FLEX_FUNC);

	put_word(test, 30, word_addr(t, 12) + 4);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_FLEX_FUNC);
}

#ifdef CONFIG_X86_64
/* A 32-bit frame is never described by an SFrame table */
static void user_sframe_not_compat(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 10, t->text + TEST_END_FUNC + 1);
	t->regs.cs = __USER32_CS;
	start_at(test, t->text + TEST_END_FUNC, word_addr(t, 10), 1);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, t->text + TEST_END_FUNC);
}

#endif /* CONFIG_X86_64 */

static void user_nofault(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* The second page of the stack was never touched, but the top of the stack */
	put_word(test, 0, 0);
	start_at(test, 0x1000, t->stack, t->stack + PAGE_SIZE);
	EXPECT_NEED(test, UNWIND_NEED_PAGE, 0x1000);
	KUNIT_EXPECT_EQ(test, t->state.need_addr & PAGE_MASK, t->stack + PAGE_SIZE);

	/* Brought in, it is a frame record that ends the stack */
	EXPECT_STACK(test, UNWIND_STOP_END_FP, 0x1000);
}

/* A frame pointer is a guess: other memory than the stack is not brought in for it */
static void user_fp_elsewhere(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned long other;

	other = kunit_vm_mmap(test, NULL, t->stack + 16 * PAGE_SIZE, PAGE_SIZE, PROT_READ,
			      MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, other, 0);
	if (other < t->stack)
		return;
	start_at(test, 0x1000, t->stack, other);
	EXPECT_STACK(test, UNWIND_STOP_UNREADABLE, 0x1000);
}

/* An address that is not in text is not believed */
static void user_not_text(struct kunit *test)
{
	struct user_test *t = test->priv;

	/* The frame pointer points to no frame */
	put_words(test, 10, word_addr(t, 20), 0x110);
	start_at(test, 0x1000, word_addr(t, 4), word_addr(t, 10));
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, 0x1000);

	/* By a rule, it may be text that can be written just now: the caller is not skipped */
	put_word(test, 12, 0x110);
	put_word(test, 14, 0);
	put_word(test, 15, t->text + 0x220);
	start_at(test, t->text + TEST_SP_FUNC, word_addr(t, 12), word_addr(t, 14));
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_NOT_TEXT, t->text + TEST_SP_FUNC);

	/* Without faults, too, the unwinder can see that nothing is mapped there */
	put_word(test, 11, 0x110);
	start_at(test, 0x1000, word_addr(t, 4), word_addr(t, 10));
	take_stack_nofault(test);
	KUNIT_EXPECT_EQ(test, t->state.stop, UNWIND_STOP_NO_FRAME);
	KUNIT_EXPECT_EQ(test, t->state.need, UNWIND_NEED_NOTHING);
}

static struct kunit_case user_cases[] = {
	KUNIT_CASE(user_fp_chain),
	KUNIT_CASE(user_fp_not_called),
	KUNIT_CASE(user_fp_not_a_frame),
	KUNIT_CASE(user_fp_loop),
	KUNIT_CASE(user_kernel_address),
	KUNIT_CASE(user_limit),
	KUNIT_CASE(user_budget),
	KUNIT_CASE(user_kernel_regs),
	KUNIT_CASE(user_sframe_stack),
	KUNIT_CASE(user_sframe_further_in),
	KUNIT_CASE(user_fp_further_in),
	KUNIT_CASE(user_sframe_ra_minus_one),
	KUNIT_CASE(user_sframe_signal),
	KUNIT_CASE(user_sframe_bad_entry),
	KUNIT_CASE(user_sframe_register),
	KUNIT_CASE(user_sframe_backwards),
	KUNIT_CASE(user_nofault),
	KUNIT_CASE(user_fp_elsewhere),
	KUNIT_CASE(user_not_text),
#ifdef CONFIG_X86_64
	KUNIT_CASE(user_compat),
	KUNIT_CASE(user_sframe_mixed),
	KUNIT_CASE(user_sframe_ra_in_register),
	KUNIT_CASE(user_sframe_cfa_sum),
	KUNIT_CASE(user_sframe_cfa_after_array),
	KUNIT_CASE(user_sframe_cfa_kept),
	KUNIT_CASE(user_sframe_fp_lost),
	KUNIT_CASE(user_sframe_not_compat),
#endif
	{}
};

static struct kunit_suite user_suite = {
	.name = "unwind_user",
	.init = user_test_init,
	.test_cases = user_cases,
};

kunit_test_suite(user_suite);

MODULE_DESCRIPTION("KUnit tests of the user stack iterator");
MODULE_LICENSE("GPL");
