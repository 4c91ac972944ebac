// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what drops the rows that are kept: each change of what describes an
 * address. Stacks are taken before and after it, and must be what they would be if
 * nothing was kept. That something was kept is checked first, or nothing is tested.
 *
 * Rows are also kept of what changes nothing, and not at all of what may change.
 */

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/unwind_user.h>

#include "../ranges.h"
#include "../rows.h"
#include "sframe_data.h"
#include "user_fixture.h"

#ifdef CONFIG_X86_64

#include <asm/sigframe.h>
#include <asm/ucontext.h>

#define KEY		0x2001
#define KEY_OTHER	0x2002
#define MAX_RANGES	16

/* Where the text has no function: there is no row */
#define NO_FUNC		0x400

static bool is_kept(unsigned long addr)
{
	struct unwind_rows *rows = unwind_table_rows(current->mm);
	struct unwind_kept_row row;

	return rows && rows->entries &&
	       unwind_rows_find(rows, rows->entries, addr, &row);
}

/*
 * A stack that ends in sp_func's caller, fp_func and end_func if the table is used,
 * and where it begins if not: the frame pointer leads nowhere.
 */
static void lay_out(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, 10, t->text + TEST_SP_FUNC + 9);
	put_word(test, 12, word_addr(t, 20));
	put_word(test, 13, t->text + TEST_FP_FUNC + 4);
	put_word(test, 20, 0x5555);
	put_word(test, 21, t->text + TEST_END_FUNC + 1);
	set_regs(t, t->text + TEST_SP_FUNC, word_addr(t, 10), 0x77);
}

static void expect_by_table(struct kunit *test)
{
	struct user_test *t = test->priv;

	start(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC,
		     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 4,
		     t->text + TEST_END_FUNC + 1);
}

static void expect_no_table(struct kunit *test)
{
	struct user_test *t = test->priv;

	start(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, t->text + TEST_SP_FUNC);
}

/* The fixture's table, or none, for its text */
static struct unwind_range *range_of(struct kunit *test, enum unwind_format format,
				     u64 key)
{
	struct user_test *t = test->priv;
	struct unwind_table table = {
		.format = format,
		.text_start = t->text,
		.text_end = t->text + PAGE_SIZE,
	};
	struct unwind_range *range;

	if (format == UNWIND_TABLE_SFRAME)
		KUNIT_ASSERT_EQ(test,
				sframe_read_header(&table.sframe, t->section,
						   sizeof(struct test_sframe),
						   SFRAME_ABI_AMD64_ENDIAN_LITTLE), 0);
	range = unwind_range_alloc(&table, key);
	KUNIT_ASSERT_NOT_NULL(test, range);
	return range;
}

static void use_registered(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test,
			unwind_tables_register(current->mm,
					       range_of(test, UNWIND_TABLE_SFRAME,
							KEY), MAX_RANGES), 0);
}

static void use_found(struct kunit *test, enum unwind_format format)
{
	struct mm_struct *mm = current->mm;
	struct unwind_range *range = range_of(test, format, 0);

	mmap_read_lock(mm);
	KUNIT_EXPECT_EQ(test, unwind_tables_remember(mm, range), 0);
	mmap_read_unlock(mm);
}

/* Registered, and every row of the stack kept */
static void begin_registered(struct kunit *test)
{
	struct user_test *t = test->priv;

	lay_out(test);
	use_registered(test);
	expect_by_table(test);
	KUNIT_ASSERT_TRUE(test, is_kept(t->text + TEST_SP_FUNC));
	KUNIT_ASSERT_TRUE(test, is_kept(t->text + TEST_SP_FUNC + 8));
	KUNIT_ASSERT_TRUE(test, is_kept(t->text + TEST_FP_FUNC + 3));
	KUNIT_ASSERT_TRUE(test, is_kept(t->text + TEST_END_FUNC));
	expect_by_table(test);
}

/*
 * Dropped
 */

static void drop_unregistered(struct kunit *test)
{
	begin_registered(test);
	KUNIT_ASSERT_EQ(test, unwind_tables_unregister(current->mm, KEY), 0);
	expect_no_table(test);
	/* And there again */
	use_registered(test);
	expect_by_table(test);
}

static void drop_table_unmapped(struct kunit *test)
{
	struct user_test *t = test->priv;

	begin_registered(test);
	KUNIT_ASSERT_EQ(test, vm_munmap(t->section, PAGE_SIZE), 0);
	expect_no_table(test);
}

/* The text's contents do not matter, only that it was gone */
static void drop_text_replaced(struct kunit *test)
{
	struct user_test *t = test->priv;

	begin_registered(test);
	KUNIT_ASSERT_EQ(test, vm_mmap(NULL, t->text, PAGE_SIZE,
				      PROT_READ | PROT_EXEC,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0),
			t->text);
	expect_no_table(test);
}

static void drop_text_unmapped(struct kunit *test)
{
	struct user_test *t = test->priv;

	begin_registered(test);
	KUNIT_ASSERT_EQ(test, vm_munmap(t->text, PAGE_SIZE), 0);
	KUNIT_EXPECT_FALSE(test, is_kept(t->text + TEST_SP_FUNC));
	expect_no_table(test);
}

/* What was found goes likewise, and is found anew */
static void drop_found_unmapped(struct kunit *test)
{
	struct user_test *t = test->priv;

	lay_out(test);
	use_found(test, UNWIND_TABLE_SFRAME);
	expect_by_table(test);
	KUNIT_ASSERT_TRUE(test, is_kept(t->text + TEST_SP_FUNC));
	KUNIT_ASSERT_EQ(test, vm_munmap(t->section, PAGE_SIZE), 0);
	KUNIT_EXPECT_FALSE(test, is_kept(t->text + TEST_SP_FUNC));
	expect_no_table(test);
}

/* That there is no table was found; then one is, for a mapping that has grown */
static void drop_found_anew(struct kunit *test)
{
	struct user_test *t = test->priv;

	lay_out(test);
	use_found(test, UNWIND_TABLE_NONE);
	/* The second time; the first one was not to be kept, had it been found */
	expect_no_table(test);
	KUNIT_ASSERT_TRUE(test, is_kept(t->text + TEST_SP_FUNC));
	use_found(test, UNWIND_TABLE_SFRAME);
	expect_by_table(test);
	use_found(test, UNWIND_TABLE_NONE);
	expect_no_table(test);
}

/* What is registered wins over what was found */
static void drop_registered_over(struct kunit *test)
{
	struct user_test *t = test->priv;

	lay_out(test);
	use_found(test, UNWIND_TABLE_NONE);
	expect_no_table(test);
	KUNIT_ASSERT_TRUE(test, is_kept(t->text + TEST_SP_FUNC));
	use_registered(test);
	expect_by_table(test);
	KUNIT_ASSERT_EQ(test, unwind_tables_unregister(current->mm, KEY), 0);
	expect_no_table(test);
}

/*
 * Not dropped, not kept
 */

/* Memory that has nothing to do with it comes and goes: malloc() does that often */
static void drop_nothing(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned long other;

	begin_registered(test);
	other = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(other));
	KUNIT_ASSERT_EQ(test, vm_munmap(other, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, unwind_tables_unregister(current->mm, KEY_OTHER),
			-ENOENT);
	KUNIT_EXPECT_TRUE(test, is_kept(t->text + TEST_SP_FUNC));
	expect_by_table(test);
}

/* A table that may change is asked each time */
static void keep_not_changing(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct unwind_range *range = range_of(test, UNWIND_TABLE_SFRAME, KEY);
	unsigned int i;

	range->table.sframe.changes = true;
	KUNIT_ASSERT_EQ(test, unwind_tables_register(current->mm, range,
						     MAX_RANGES), 0);
	lay_out(test);
	for (i = 0; i < 2; i++) {
		expect_by_table(test);
		KUNIT_EXPECT_FALSE(test, is_kept(t->text + TEST_SP_FUNC));
	}
}

/* Nor is what the unwind knows, but the address space does not */
static void keep_not_unknown(struct kunit *test)
{
	struct user_test *t = test->priv;

	lay_out(test);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC,
		     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 4,
		     t->text + TEST_END_FUNC + 1);
	KUNIT_EXPECT_FALSE(test, is_kept(t->text + TEST_SP_FUNC));
}

/* A bad entry is a bad entry each time, and no other is hit by that */
static void keep_not_bad(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned int i;

	begin_registered(test);
	set_regs(t, t->text + TEST_BAD_FUNC, word_addr(t, 10), 1);
	for (i = 0; i < 2; i++) {
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_BAD_TABLE, t->text + TEST_BAD_FUNC);
		KUNIT_EXPECT_FALSE(test, is_kept(t->text + TEST_BAD_FUNC));
	}
}

/*
 * The same as without
 */

/* Where nothing may fault, rows are kept as well, and used */
static void kept_in_place(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned int i;

	begin_registered(test);
	unwind_rows_drop(unwind_table_rows(current->mm));
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, unwind_user_start(&t->state, &t->regs,
							UNWIND_USER_NOFAULT), 0);
		pagefault_disable();
		unwind_user_frames(&t->state, &t->trace, MAX_FRAMES);
		pagefault_enable();
		KUNIT_EXPECT_EQ(test, t->trace.nr, 4);
		KUNIT_EXPECT_EQ(test, t->state.stop, UNWIND_STOP_END);
		KUNIT_EXPECT_TRUE(test, is_kept(t->text + TEST_FP_FUNC + 3));
	}
}

/* Rows of every shape, and frames without: each stack twice */
static void kept_shapes(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned int i;

	use_registered(test);
	for (i = 0; i < 2; i++) {
		/* A signal's row: what it interrupted is an exact address */
		put_word(test, 10, t->text + TEST_END_FUNC);
		set_regs(t, t->text + TEST_SIG_FUNC, word_addr(t, 10), 0);
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SIG_FUNC,
			     t->text + TEST_END_FUNC);

		/* Another register, which is not known for long */
		put_word(test, 30, word_addr(t, 12));
		put_word(test, 11, t->text + TEST_FLEX_FUNC + 1);
		t->regs.r10 = word_addr(t, 31);
		set_regs(t, t->text + TEST_FLEX_FUNC, word_addr(t, 10), 1);
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_NO_REGISTER,
			     t->text + TEST_FLEX_FUNC,
			     t->text + TEST_FLEX_FUNC + 1);

		/* A frame record below a row, and above one */
		put_word(test, 10, t->text + NO_FUNC + 8);
		put_word(test, 14, word_addr(t, 18));
		put_word(test, 15, t->text + NO_FUNC + 24);
		put_word(test, 18, 0x99);
		put_word(test, 19, t->text + TEST_SP_FUNC + 4);
		put_word(test, 20, t->text + TEST_END_FUNC + 1);
		set_regs(t, t->text + TEST_SP_FUNC, word_addr(t, 10),
			 word_addr(t, 14));
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SP_FUNC,
			     t->text + NO_FUNC + 8, t->text + NO_FUNC + 24,
			     t->text + TEST_SP_FUNC + 4,
			     t->text + TEST_END_FUNC + 1);
		KUNIT_EXPECT_TRUE(test, is_kept(t->text + NO_FUNC + 23));
	}
}

/* What ends a stack in the middle of what is kept, each in its way */
static void kept_ends(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned int i;

	begin_registered(test);
	for (i = 0; i < 2; i++) {
		/* Not outwards: FP of fp_func lies where SP already is */
		put_word(test, 12, word_addr(t, 10));
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_SP_FUNC,
			     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 4);
		/* Not aligned */
		put_word(test, 12, word_addr(t, 20) + 4);
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_SP_FUNC,
			     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 4);
		/* The kernel's, and the hole below it */
		put_word(test, 12, (unsigned long)kept_ends & -8UL);
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_UNREADABLE, t->text + TEST_SP_FUNC,
			     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 4);
		put_word(test, 12, TASK_SIZE_MAX - 8);
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_UNREADABLE, t->text + TEST_SP_FUNC,
			     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 4);
		put_word(test, 12, word_addr(t, 20));

		/* No text, kernel text, and zero */
		put_word(test, 21, 0x111);
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_NOT_TEXT, t->text + TEST_SP_FUNC,
			     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 4);
		put_word(test, 21, (unsigned long)kept_ends);
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + TEST_SP_FUNC,
			     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 4);
		put_word(test, 21, 0);
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + TEST_SP_FUNC,
			     t->text + TEST_SP_FUNC + 9, t->text + TEST_FP_FUNC + 4);
		put_word(test, 21, t->text + TEST_END_FUNC + 1);
	}
	expect_by_table(test);
}

/* A caller without a row, found by its frame pointer: once, and by what is kept then */
static void kept_record(struct kunit *test)
{
	struct unwind_range *range = range_of(test, UNWIND_TABLE_NONE, 0);
	struct user_test *t = test->priv;
	struct unwind_kept_row row;
	struct unwind_rows *rows;
	unsigned int i;

	put_word(test, 10, word_addr(t, 60));
	put_word(test, 11, t->text + NO_FUNC);
	put_word(test, 60, 0);
	put_word(test, 61, t->text + 0x900);
	set_regs(t, t->text + 0x800, word_addr(t, 4), word_addr(t, 10));
	range->table.from_file = true;
	mmap_read_lock(current->mm);
	KUNIT_EXPECT_EQ(test, unwind_tables_remember(current->mm, range), 0);
	mmap_read_unlock(current->mm);
	for (i = 0; i < 3; i++) {
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
			     t->text + NO_FUNC, t->text + 0x900);
	}
	rows = unwind_table_rows(current->mm);
	KUNIT_ASSERT_TRUE(test, rows && rows->entries);
	KUNIT_ASSERT_TRUE(test, unwind_rows_find(rows, rows->entries,
						 t->text + NO_FUNC - 1, &row));
	KUNIT_EXPECT_TRUE(test, row.how & UNWIND_KEPT_CALL);
}

/* Code that was made at run time is made anew, and is a signal's trampoline then */
static void kept_trampoline(struct kunit *test)
{
	static const u8 movl[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };
	struct user_test *t = test->priv;
	const struct sigcontext_64 sc = {
		.ip = t->text + 0xa00,
		.sp = word_addr(t, 200),
		.cs = __USER_CS,
	};
	unsigned int i;

	put_word(test, 10, word_addr(t, 60));
	put_word(test, 11, t->text + NO_FUNC);
	put_word(test, 60, 0);
	put_word(test, 61, t->text + 0x900);
	set_regs(t, t->text + 0x800, word_addr(t, 4), word_addr(t, 10));
	use_found(test, UNWIND_TABLE_NONE);
	for (i = 0; i < 2; i++) {
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
			     t->text + NO_FUNC, t->text + 0x900);
	}
	KUNIT_ASSERT_TRUE(test, is_kept(t->text + NO_FUNC - 1));

	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)(t->text + NO_FUNC),
					   movl, sizeof(movl)), 0);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)word_addr(t, 12) +
					   offsetof(struct ucontext, uc_mcontext),
					   &sc, sizeof(sc)), 0);
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
		     t->text + NO_FUNC, t->text + 0xa00);
}

/* As many frames as there is room for, and not one more */
static void kept_limit(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned int max, guard = MAX_FRAMES - 1;

	begin_registered(test);
	for (max = 1; max <= 4; max++) {
		t->entries[max] = guard;
		start(test);
		unwind_user_frames(&t->state, &t->trace, max);
		KUNIT_EXPECT_EQ(test, t->trace.nr, max);
		KUNIT_EXPECT_EQ(test, t->entries[max], guard);
		KUNIT_EXPECT_EQ(test, t->state.stop,
				max < 4 ? UNWIND_STOP_LIMIT : UNWIND_STOP_END);
	}
}

static struct kunit_case rows_drop_cases[] = {
	KUNIT_CASE(drop_unregistered),
	KUNIT_CASE(drop_table_unmapped),
	KUNIT_CASE(drop_text_replaced),
	KUNIT_CASE(drop_text_unmapped),
	KUNIT_CASE(drop_found_unmapped),
	KUNIT_CASE(drop_found_anew),
	KUNIT_CASE(drop_registered_over),
	KUNIT_CASE(drop_nothing),
	KUNIT_CASE(keep_not_changing),
	KUNIT_CASE(keep_not_unknown),
	KUNIT_CASE(keep_not_bad),
	KUNIT_CASE(kept_in_place),
	KUNIT_CASE(kept_shapes),
	KUNIT_CASE(kept_ends),
	KUNIT_CASE(kept_record),
	KUNIT_CASE(kept_trampoline),
	KUNIT_CASE(kept_limit),
	{}
};

static struct kunit_suite rows_drop_suite = {
	.name = "unwind_rows_drop",
	.init = user_test_init,
	.test_cases = rows_drop_cases,
};

kunit_test_suite(rows_drop_suite);

#endif /* CONFIG_X86_64 */

MODULE_DESCRIPTION("KUnit tests of what drops rows that are kept");
MODULE_LICENSE("GPL");
