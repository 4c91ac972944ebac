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

#include "../walk.h"

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
 * @steps: the same, without the loop for ordinary frames
 * @trace: its result
 * @entries: the result's addresses
 */
struct user_test {
	unsigned long			text;
	unsigned long			section;
	unsigned long			stack;
	struct pt_regs			regs;
	struct unwind_walk_state	state;
	struct unwind_walk_state	steps;
	struct unwind_stacktrace	trace;
	unsigned long			entries[MAX_FRAMES];
};

int user_test_init(struct kunit *test);
void put_word(struct kunit *test, unsigned int index, u64 val);
/* At @index and after it, as in a frame record */
void put_words(struct kunit *test, unsigned int index, u64 val, u64 after);
unsigned long word_addr(struct user_test *t, unsigned int index);
void set_regs(struct user_test *t, unsigned long ip, unsigned long sp,
	      unsigned long fp);
void set_kernel_regs(struct user_test *t);
void start(struct kunit *test);
void start_at(struct kunit *test, unsigned long ip, unsigned long sp, unsigned long fp);
/* The whole stack, with page faults and all tables */
void take_stack(struct kunit *test);
/* As far as that is possible without page faults */
void take_stack_nofault(struct kunit *test);
/* Unwind again, step by step, without the loop for ordinary frames: the result is the same */
void expect_steps(struct kunit *test);

/* Maps a copy of the text, which has a mapping of its own; @file is NULL if it is of no file */
unsigned long map_text(struct kunit *test, struct file *file, unsigned long addr,
		       unsigned long flags);
/* Maps the text from a file, which has the table of sframe_data.h */
void use_table(struct kunit *test);
/* The same with a table of @size bytes that the test has written to @section */
void use_table_of(struct kunit *test, size_t size);

#define EXPECT_FRAMES(test, ...)						\
do {										\
	const unsigned long expected[] = { __VA_ARGS__ };			\
	struct user_test *_t = (test)->priv;					\
	unsigned int _i;							\
										\
	KUNIT_ASSERT_EQ(test, _t->trace.nr, ARRAY_SIZE(expected));		\
	for (_i = 0; _i < ARRAY_SIZE(expected); _i++)				\
		KUNIT_EXPECT_EQ(test, _t->entries[_i], expected[_i]);		\
} while (0)

#define EXPECT_STACK(test, reason, ...)						\
do {										\
	struct user_test *_s = (test)->priv;					\
										\
	_s->steps = _s->state;							\
	take_stack(test);							\
	KUNIT_EXPECT_EQ(test, _s->state.stop, reason);				\
	EXPECT_FRAMES(test, __VA_ARGS__);					\
	expect_steps(test);							\
} while (0)

/* Without faults, the unwind gets no further than to these frames, and needs something */
#define EXPECT_NEED(test, what, ...)						\
do {										\
	struct user_test *_s = (test)->priv;					\
										\
	take_stack_nofault(test);						\
	KUNIT_EXPECT_EQ(test, _s->state.need, what);				\
	KUNIT_EXPECT_EQ(test, _s->state.stop, UNWIND_STOP_NONE);		\
	EXPECT_FRAMES(test, __VA_ARGS__);					\
} while (0)

#endif /* _KERNEL_UNWIND_TESTS_USER_FIXTURE_H */
