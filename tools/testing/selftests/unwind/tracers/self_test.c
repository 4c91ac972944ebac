// SPDX-License-Identifier: GPL-2.0
/*
 * prctl(PR_UNWIND_SELF): a thread is asked for its own frames, and answers.
 *
 * The calls of the interface, and what becomes of answers. self_refused_test.c has requests
 * that are not made, self_ends_test.c has requests without an answer.
 */
#include <errno.h>
#include <linux/compiler.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "self_request.h"

#define APART		0xffff

/*
 * The call
 */

TEST(version_returns_the_abi_version)
{
	EXPECT_EQ(UNWIND_SELF_ABI_VERSION,
		  syscall(SYS_prctl, PR_UNWIND_SELF, PR_UNWIND_SELF_VERSION, NULL, 0, 0));
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_VERSION, NULL, 1));
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_VERSION, self_stack, 0));
}

TEST(unknown_operation_returns_einval)
{
	const struct unwind_self_attr attr = self_attr();

	EXPECT_EQ(-EINVAL, self_call(0, &attr, sizeof(attr)));
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_VERSION + 1, &attr, sizeof(attr)));
	EXPECT_EQ(-1, syscall(SYS_prctl, PR_UNWIND_SELF, PR_UNWIND_SELF_ENABLE, &attr,
			      sizeof(attr), 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-ENOENT, self_disable());
}

TEST(layout_is_that_of_version_0)
{
	EXPECT_EQ(UNWIND_SELF_ATTR_SIZE_VER0, sizeof(struct unwind_self_attr));
	EXPECT_EQ(8, offsetof(struct unwind_self_attr, stack_start));
	EXPECT_EQ(24, offsetof(struct unwind_self_attr, interval));
	EXPECT_EQ(UNWIND_SELF_ANSWER_SIZE_VER0, sizeof(struct unwind_self_answer));
	EXPECT_EQ(16, offsetof(struct unwind_self_answer, nr));
	EXPECT_EQ(48, sizeof(struct unwind_self_frame));
	EXPECT_EQ(32, offsetof(struct unwind_self_frame, check));
}

TEST(size_is_checked)
{
	struct {
		union {
			struct unwind_self_attr		attr;
			struct unwind_self_answer	answer;
		};
		char	tail[0x10000];
	} longer = { .attr = self_attr() };
	const size_t size = sizeof(longer.attr);

	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_ENABLE, &longer, size - 1));
	EXPECT_EQ(-E2BIG, self_call(PR_UNWIND_SELF_ENABLE, &longer, sizeof(longer)));
	longer.tail[7] = 1;
	EXPECT_EQ(-E2BIG, self_call(PR_UNWIND_SELF_ENABLE, &longer, size + 8));
	EXPECT_EQ(0, self_call(PR_UNWIND_SELF_ENABLE, &longer, size + 7));
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_ANSWER, &longer, size - 1));
	EXPECT_EQ(-E2BIG, self_call(PR_UNWIND_SELF_ANSWER, &longer, sizeof(longer)));
	EXPECT_EQ(-E2BIG, self_call(PR_UNWIND_SELF_ANSWER, &longer, size + 8));
	EXPECT_EQ(0, self_disable());
}

TEST(unreadable_structure_returns_efault)
{
	const struct unwind_self_attr attr = self_attr();

	EXPECT_EQ(-EFAULT, self_call(PR_UNWIND_SELF_ENABLE, NULL, sizeof(attr)));
	EXPECT_EQ(0, self_enable(&attr));
	EXPECT_EQ(-EFAULT, self_call(PR_UNWIND_SELF_ANSWER, NULL,
				     sizeof(struct unwind_self_answer)));
	EXPECT_EQ(0, self_disable());
}

#define EXPECT_REFUSED(error, field, value) do {			\
	struct unwind_self_attr __attr = self_attr();		\
									\
	__attr.field = (value);						\
	EXPECT_EQ(error, self_enable(&__attr))				\
		TH_LOG(#field " = " #value);				\
	EXPECT_EQ(-ENOENT, self_disable());					\
} while (0)

TEST(attr_that_makes_no_sense_is_refused)
{
	EXPECT_REFUSED(-EINVAL, signal, 0);
	EXPECT_REFUSED(-EINVAL, signal, SIGUSR1);
	EXPECT_REFUSED(-EINVAL, signal, 65);
	EXPECT_REFUSED(-EINVAL, flags, 1);
	EXPECT_REFUSED(-EINVAL, timeout, 0);
	EXPECT_REFUSED(-EINVAL, timeout, UNWIND_SELF_TIMEOUT_MAX + 1);
	EXPECT_REFUSED(-EFAULT, stack_start, 0xffff888000000000ULL);
	EXPECT_REFUSED(-EFAULT, stack_size, -1ULL);
	EXPECT_REFUSED(-ENOSPC, stack_size, 0);
	EXPECT_REFUSED(-ENOSPC, stack_size, getauxval(AT_MINSIGSTKSZ));
}

TEST(second_enable_returns_eexist)
{
	const struct unwind_self_attr attr = self_attr();

	EXPECT_EQ(0, self_enable(&attr));
	EXPECT_EQ(-EEXIST, self_enable(&attr));
	EXPECT_EQ(0, self_disable());
	EXPECT_EQ(-ENOENT, self_disable());
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_DISABLE, &attr, 0));
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_DISABLE, NULL, 1));
}

TEST(answer_without_a_request_returns_esrch)
{
	const struct unwind_self_attr attr = self_attr();
	const struct unwind_self_answer answer = { .nonce = 1, .format = UNWIND_SELF_NAMES };

	EXPECT_EQ(-ENOENT, self_submit(&answer));
	EXPECT_EQ(0, self_enable(&attr));
	EXPECT_EQ(-ESRCH, self_submit(&answer));
	EXPECT_EQ(0, self_disable());
}

/*
 * Answers
 */

static unsigned long in_outer, in_inner;

/* Each notes an address in its own frame */
static noinline void inner(void)
{
	char here = 0;

	in_inner = (uintptr_t)&here;
	self_sample();
	asm volatile("" : : "r"(&here) : "memory");
}

static noinline void outer(void)
{
	char here = 0;

	in_outer = (uintptr_t)&here;
	inner();
	asm volatile("" : : "r"(&here) : "memory");
}

static int answer_with_places(void)
{
	handler.frames[0].sp = in_inner;
	handler.frames[1].sp = in_outer;
	return self_submit(&handler.answer);
}

TEST_F(request, answer_has_its_native_frames)
{
	const unsigned long before = self_count("answered");
	const struct asked_frame *found;
	const struct record *stack;
	uint64_t nr;

	handler.fn = answer_with_places;
	outer();
	EXPECT_EQ(1, handler.nr);
	EXPECT_EQ(0, handler.result);
	EXPECT_EQ(SI_KERNEL, handler.code);
	EXPECT_EQ(before + 1, self_count("answered"));
	found = asked_frames(&self->asked, &nr);
	ASSERT_NE(NULL, found);
	ASSERT_EQ(2, nr);
	EXPECT_EQ(1000, found[0].function);
	EXPECT_EQ(1001, found[1].function);
	/* self_sample() is first: inner() and outer() called it */
	stack = records_get(&self->asked.recs, PERF_RECORD_CALLCHAIN_DEFERRED, 0);
	EXPECT_EQ(handler.ip, stack->ips[0]);
	EXPECT_EQ(1, found[0].place);
	EXPECT_EQ(2, found[1].place);
}

TEST_F(request, frames_without_an_address_stand_apart)
{
	const struct asked_frame *found;
	uint64_t nr;

	self_sample();
	found = asked_frames(&self->asked, &nr);
	ASSERT_EQ(2, nr);
	EXPECT_EQ(APART, found[0].place);
	EXPECT_EQ(APART, found[1].place);
}

TEST_F(request, names_and_files_are_announced)
{
	static const char name[] = "fun\xff", file[] = "lib.lang";
	const struct record *rec;
	const char *names;
	uint64_t nr;

	handler.frames[0].name = (uintptr_t)name;
	handler.frames[0].name_size = 4;
	handler.frames[0].file = (uintptr_t)file;
	handler.frames[0].file_size = 8;
	handler.frames[0].line = 17;
	self_sample();
	ASSERT_NE(NULL, asked_frames(&self->asked, &nr));
	names = asked_name(&self->asked, 1000);
	ASSERT_NE(NULL, names);
	EXPECT_STREQ("fun?", names);
	EXPECT_STREQ("lib.lang", names + strlen(names) + 1);
	rec = records_get(&self->asked.recs, PERF_RECORD_RUNTIME_NAME, 0);
	EXPECT_EQ(17, ((const uint32_t *)(rec->raw + 1))[5]);
	/* A function without a name */
	names = asked_name(&self->asked, 1001);
	ASSERT_NE(NULL, names);
	EXPECT_STREQ("", names);
}

TEST_F(request, bytes_are_shown_with_their_tag)
{
	static const unsigned char bytes[200] = { 0x01, 0xab };
	char expected[128] = "ABCD:";
	const char *names;
	uint64_t nr;

	handler.answer.format = UNWIND_SELF_BYTES;
	handler.answer.tag = 'A' | 'B' << 8 | 'C' << 16 | 'D' << 24;
	handler.frames[0].name = (uintptr_t)bytes;
	handler.frames[0].name_size = 2;
	handler.frames[1].name = (uintptr_t)bytes;
	handler.frames[1].name_size = sizeof(bytes);
	self_sample();
	ASSERT_NE(NULL, asked_frames(&self->asked, &nr));
	names = asked_name(&self->asked, 1000);
	ASSERT_NE(NULL, names);
	EXPECT_STREQ("ABCD:01ab", names);
	names = asked_name(&self->asked, 1001);
	ASSERT_NE(NULL, names);
	memset(expected + 5, '0', 122);
	EXPECT_EQ(0, strncmp(expected, names, 5));
	EXPECT_EQ(127, strlen(names));
}

/* A runtime beside this one, with a chain */
struct chained {
	uint64_t	function[2];
	struct chained	*next;
};

static uint64_t chained_functions[2][2];
static struct chained chained[2] = {
	{ .function = { (uintptr_t)&chained_functions[0] }, .next = &chained[1] },
	{ .function = { (uintptr_t)&chained_functions[1] } },
};

static struct chained *chained_head = chained;

static int add_chain(void)
{
	const struct unwind_chain_attr attr = {
		.key = 1,
		.head = (uintptr_t)&chained_head,
		.next = offsetof(struct chained, next),
		.function = offsetof(struct chained, function),
		.function_mask = ~7ULL,
		.check = { 0, 8 },
	};

	return syscall(SYS_prctl, PR_UNWIND_CHAIN, PR_UNWIND_CHAIN_ADD, &attr, sizeof(attr), 0);
}

TEST_F(request, answer_follows_the_frames_of_chains)
{
	const struct asked_frame *found;
	uint64_t nr;

	ASSERT_EQ(0, add_chain());
	self_sample();
	found = asked_frames(&self->asked, &nr);
	ASSERT_EQ(4, nr);
	EXPECT_EQ((uintptr_t)chained_functions[0], found[0].function);
	EXPECT_EQ(1000, found[2].function);
	EXPECT_NE(found[0].runtime, found[2].runtime);
}

TEST_F(request, answer_takes_the_place_of_the_frames_of_chains)
{
	const struct asked_frame *found;
	uint64_t nr;

	ASSERT_EQ(0, add_chain());
	handler.answer.flags = UNWIND_SELF_ALL;
	self_sample();
	found = asked_frames(&self->asked, &nr);
	ASSERT_EQ(2, nr);
	EXPECT_EQ(1000, found[0].function);
}

TEST_F(request, answer_that_is_cut_says_so)
{
	uint64_t nr;

	handler.answer.flags = UNWIND_SELF_CUT;
	handler.answer.nr = UNWIND_SELF_FRAMES;
	self_sample();
	ASSERT_NE(NULL, asked_frames(&self->asked, &nr));
	EXPECT_EQ(UNWIND_SELF_FRAMES, nr);
	EXPECT_TRUE(records_get(&self->asked.recs, PERF_RECORD_CALLCHAIN_RUNTIME, 0)->misc &
		    PERF_RECORD_MISC_RUNTIME_CUT);
}

/* The right answer but for one field */
#define SUBMIT(field, value) ({						\
	struct unwind_self_answer __bad = handler.answer;			\
									\
	__bad.field = (value);						\
	self_submit(&__bad);							\
})

static int submit_tag(uint32_t tag)
{
	struct unwind_self_answer bytes = handler.answer;

	bytes.format = UNWIND_SELF_BYTES;
	bytes.tag = tag;
	return self_submit(&bytes);
}

static int bad_answers(void)
{
	if (SUBMIT(nonce, handler.answer.nonce + 1) != -ESRCH ||
	    SUBMIT(flags, UNWIND_SELF_ALL << 1) != -EINVAL ||
	    SUBMIT(format, 0) != -EINVAL ||
	    SUBMIT(format, UNWIND_SELF_BYTES) != -EINVAL ||
	    SUBMIT(tag, 1) != -EINVAL ||
	    submit_tag('A' | 'B' << 8 | 'C' << 16) != -EINVAL ||
	    submit_tag('A' | 'B' << 8 | ':' << 16 | 'D' << 24) != -EINVAL ||
	    SUBMIT(nr, UNWIND_SELF_FRAMES + 1) != -E2BIG ||
	    SUBMIT(frames, 8) != -EFAULT)
		return -1;
	handler.frames[1].function = 0;
	if (self_submit(&handler.answer) != -EINVAL)
		return -1;
	handler.frames[1].function = 1001;
	return self_submit(&handler.answer);
}

TEST_F(request, bad_answer_leaves_the_request_outstanding)
{
	uint64_t nr;

	handler.fn = bad_answers;
	self_sample();
	EXPECT_EQ(0, handler.result);
	ASSERT_NE(NULL, asked_frames(&self->asked, &nr));
	EXPECT_EQ(2, nr);
}

static int answer_twice(void)
{
	return self_submit(&handler.answer) ?: self_submit(&handler.answer);
}

TEST_F(request, second_answer_returns_esrch)
{
	uint64_t nr;

	handler.fn = answer_twice;
	self_sample();
	EXPECT_EQ(-ESRCH, handler.result);
	ASSERT_NE(NULL, asked_frames(&self->asked, &nr));
}

TEST_F(request, answer_without_frames_is_an_answer)
{
	handler.answer.nr = 0;
	EXPECT_OUTCOME("answered");
	EXPECT_EQ(0, handler.result);
}

static void *submit_other(void *arg)
{
	const struct unwind_self_attr attr = self_attr();
	long ret = self_submit(&handler.answer);

	if (ret == -ENOENT && !self_enable(&attr))
		ret = self_submit(&handler.answer);
	return (void *)ret;
}

static int answer_from_other_thread(void)
{
	pthread_t thread;
	void *ret;

	if (pthread_create(&thread, NULL, submit_other, NULL) || pthread_join(thread, &ret))
		return -1;
	return (long)ret == -ESRCH ? self_submit(&handler.answer) : -1;
}

TEST_F(request, only_the_thread_itself_may_answer)
{
	handler.fn = answer_from_other_thread;
	self_sample();
	EXPECT_EQ(0, handler.result);
}

TEST_HARNESS_MAIN
