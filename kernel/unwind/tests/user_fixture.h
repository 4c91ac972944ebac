/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stack in user memory, laid out word by word, and registers that point to it: the
 * start of each test of the frame loop.
 *
 * All memory that the tests map is executable, so any address in it can be returned
 * to.  Addresses that are to be no text lie outside.
 */
#ifndef _KERNEL_UNWIND_TESTS_USER_FIXTURE_H
#define _KERNEL_UNWIND_TESTS_USER_FIXTURE_H

#include <kunit/test.h>
#include <linux/ptrace.h>

#include "../user.h"

#define MAX_FRAMES	64

/* In struct pt_regs: the one whose number in DWARF is 10 */
#if defined(CONFIG_X86_64)
#define TEST_REG10	r10
#elif defined(CONFIG_ARM64)
#define TEST_REG10	regs[10]
#endif

/**
 * struct user_test - a test's user memory and the unwind of it
 * @text: start of the text that the table describes
 * @section: the table
 * @stack: two pages
 * @regs: registers to start from
 * @state: the unwind
 * @steps: the same, frame by frame
 * @trace: its result
 * @entries: the result's addresses
 */
struct user_test {
	unsigned long			text;
	unsigned long			section;
	unsigned long			stack;
	struct pt_regs			regs;
	struct unwind_user_state	state;
	struct unwind_user_state	steps;
	struct unwind_stacktrace	trace;
	unsigned long			entries[MAX_FRAMES];
};

int user_test_init(struct kunit *test);
void put_word(struct kunit *test, unsigned int index, u64 val);
unsigned long word_addr(struct user_test *t, unsigned int index);
void set_regs(struct user_test *t, unsigned long ip, unsigned long sp,
	      unsigned long fp);
void set_kernel_regs(struct user_test *t);
void start(struct kunit *test);
/* Frame by frame, the loop finds the frames that it found by its fast path (walk.c) */
void expect_steps(struct kunit *test);

/* The table of sframe_data.h, which is an x86-64 table on any architecture */
void use_table(struct kunit *test);
/* A table of @size bytes that the test has written to @section */
void use_table_of(struct kunit *test, size_t size, u8 abi);

#define EXPECT_STACK(test, reason, ...)						\
do {										\
	const unsigned long expected[] = { __VA_ARGS__ };			\
	struct user_test *_t = (test)->priv;					\
	unsigned int _i;							\
										\
	_t->steps = _t->state;							\
	unwind_user_frames(&_t->state, &_t->trace, MAX_FRAMES);			\
	KUNIT_EXPECT_EQ(test, _t->state.stop, reason);				\
	KUNIT_ASSERT_EQ(test, _t->trace.nr, ARRAY_SIZE(expected));		\
	for (_i = 0; _i < ARRAY_SIZE(expected); _i++)				\
		KUNIT_EXPECT_EQ(test, _t->entries[_i], expected[_i]);		\
	expect_steps(test);							\
} while (0)

#endif /* _KERNEL_UNWIND_TESTS_USER_FIXTURE_H */
