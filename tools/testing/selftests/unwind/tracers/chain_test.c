// SPDX-License-Identifier: GPL-2.0
/*
 * prctl(PR_UNWIND_CHAIN), and the frames of a language in the trace.  The test is a runtime
 * itself, see lang.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"
#include "ftrace.h"
#include "lang.h"
#include "../../kselftest_harness.h"

/*
 * The call
 */

TEST(version_returns_the_abi_version)
{
	EXPECT_EQ(UNWIND_CHAIN_ABI_VERSION,
		  syscall(SYS_prctl, PR_UNWIND_CHAIN, PR_UNWIND_CHAIN_VERSION, NULL, 0, 0));
}

TEST(version_with_arguments_returns_einval)
{
	struct unwind_chain_attr attr = {};

	EXPECT_EQ(-EINVAL, lang_chain(PR_UNWIND_CHAIN_VERSION, &attr, 0));
	EXPECT_EQ(-EINVAL, lang_chain(PR_UNWIND_CHAIN_VERSION, NULL, sizeof(attr)));
	EXPECT_EQ(-1, syscall(SYS_prctl, PR_UNWIND_CHAIN, PR_UNWIND_CHAIN_VERSION, NULL, 0, 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST(unknown_operation_returns_einval)
{
	const struct unwind_chain_attr attr = lang_chain_attr(2);

	EXPECT_EQ(-EINVAL, lang_chain(0, &attr, sizeof(attr)));
	EXPECT_EQ(-EINVAL, lang_chain(PR_UNWIND_CHAIN_VERSION + 1, &attr, sizeof(attr)));
	EXPECT_EQ(-EINVAL, lang_chain((1UL << 32) | PR_UNWIND_CHAIN_ADD, &attr, sizeof(attr)));
	EXPECT_EQ(-ENOENT, lang_del(LANG_KEY));
}

TEST(attr_layout_is_that_of_version_0)
{
	EXPECT_EQ(UNWIND_CHAIN_ATTR_SIZE_VER0, sizeof(struct unwind_chain_attr));
	EXPECT_EQ(8, offsetof(struct unwind_chain_attr, key));
	EXPECT_EQ(24, offsetof(struct unwind_chain_attr, lists));
	EXPECT_EQ(40, offsetof(struct unwind_chain_attr, thread));
	EXPECT_EQ(48, offsetof(struct unwind_chain_attr, stride));
	EXPECT_EQ(64, offsetof(struct unwind_chain_attr, function_mask));
	EXPECT_EQ(80, offsetof(struct unwind_chain_attr, text));
	EXPECT_EQ(128, offsetof(struct unwind_chain_attr, check));
	EXPECT_EQ(144, offsetof(struct unwind_chain_attr, string));
}

TEST(attr_size_is_checked)
{
	const struct unwind_chain_attr attr = lang_chain_attr(2);
	struct {
		struct unwind_chain_attr	attr;
		char				tail[0x10000];
	} longer = { .attr = attr };

	EXPECT_EQ(-EINVAL, lang_chain(PR_UNWIND_CHAIN_ADD, &attr, 0));
	EXPECT_EQ(-EINVAL, lang_chain(PR_UNWIND_CHAIN_ADD, &attr, sizeof(attr) - 1));
	EXPECT_EQ(-E2BIG, lang_chain(PR_UNWIND_CHAIN_ADD, &longer, sizeof(longer)));
	longer.tail[7] = 1;
	EXPECT_EQ(-E2BIG, lang_chain(PR_UNWIND_CHAIN_ADD, &longer, sizeof(attr) + 8));
	EXPECT_EQ(-ENOENT, lang_del(LANG_KEY));
	EXPECT_EQ(0, lang_chain(PR_UNWIND_CHAIN_ADD, &longer, sizeof(attr) + 7));
	EXPECT_EQ(0, lang_del(LANG_KEY));
}

TEST(unreadable_attr_returns_efault)
{
	EXPECT_EQ(-EFAULT, lang_chain(PR_UNWIND_CHAIN_ADD, NULL, sizeof(struct unwind_chain_attr)));
	EXPECT_EQ(-EFAULT, lang_chain(PR_UNWIND_CHAIN_ADD, (void *)-4096L,
				      sizeof(struct unwind_chain_attr)));
}

/* One field with a value that is refused, which has to be right otherwise */
#define EXPECT_REFUSED(error, field, value) do {			\
	struct unwind_chain_attr __attr = lang_chain_attr(2);		\
									\
	__attr.field = (value);						\
	EXPECT_EQ(error, lang_add(&__attr))					\
		TH_LOG(#field " = " #value);				\
	EXPECT_EQ(-ENOENT, lang_del(LANG_KEY));					\
} while (0)

TEST(attr_that_makes_no_sense_returns_einval)
{
	const uint32_t large = UNWIND_CHAIN_MAX_OFFSET + 1;

	EXPECT_REFUSED(-EINVAL, flags, 8);
	EXPECT_REFUSED(-EINVAL, nr_lists, 3);
	EXPECT_REFUSED(-EINVAL, key, 0);
	EXPECT_REFUSED(-EINVAL, function_mask, 0);
	EXPECT_REFUSED(-EINVAL, reserved, 1);
	EXPECT_REFUSED(-EINVAL, kind_value, 1);
	EXPECT_REFUSED(-EINVAL, stride, 8);
	EXPECT_REFUSED(-EINVAL, entry_value, 0x105);
	EXPECT_REFUSED(-EINVAL, string.check_value, 0x31);
	EXPECT_REFUSED(-EINVAL, lists[0].next, large);
	EXPECT_REFUSED(-EINVAL, lists[0].first, large);
	EXPECT_REFUSED(-EINVAL, lists[1].next, large);
	EXPECT_REFUSED(-EINVAL, lists[1].first, large);
	EXPECT_REFUSED(-EINVAL, thread, large);
	EXPECT_REFUSED(-EINVAL, next, large);
	EXPECT_REFUSED(-EINVAL, function, large);
	EXPECT_REFUSED(-EINVAL, entry, large);
	EXPECT_REFUSED(-EINVAL, check[0], large);
	EXPECT_REFUSED(-EINVAL, check[1], large);
	EXPECT_REFUSED(-EINVAL, name, large);
	EXPECT_REFUSED(-EINVAL, file, large);
	EXPECT_REFUSED(-EINVAL, line, large);
	EXPECT_REFUSED(-EINVAL, string.length, large);
	EXPECT_REFUSED(-EINVAL, string.data, large);
	EXPECT_REFUSED(-EINVAL, string.check, large);
}

TEST(unused_fields_that_are_not_zero_return_einval)
{
	struct unwind_chain_attr attr;

	EXPECT_REFUSED(-EINVAL, nr_lists, 1);
	EXPECT_REFUSED(-EINVAL, entry_mask, 0);
	EXPECT_REFUSED(-EINVAL, text[0].start, 4096);
	EXPECT_REFUSED(-EINVAL, text[1].start, 4096);
	EXPECT_REFUSED(-EINVAL, text[1].size, 4096);
	EXPECT_REFUSED(-EINVAL, kind, 4);
	EXPECT_REFUSED(-EINVAL, string.check_mask, 0);
	EXPECT_REFUSED(-EINVAL, flags, UNWIND_CHAIN_FILE | UNWIND_CHAIN_LINE);
	EXPECT_REFUSED(-EINVAL, flags, UNWIND_CHAIN_NAME);
	EXPECT_REFUSED(-EINVAL, flags, UNWIND_CHAIN_NAME | UNWIND_CHAIN_FILE);
	/* There is no line without a file */
	EXPECT_REFUSED(-EINVAL, flags, UNWIND_CHAIN_NAME | UNWIND_CHAIN_LINE);

	attr = lang_chain_attr(0);
	attr.thread = 4;
	EXPECT_EQ(-EINVAL, lang_add(&attr));
	attr = lang_chain_attr(2);
	attr.flags = 0;
	attr.name = 0;
	attr.file = 0;
	attr.line = 0;
	EXPECT_EQ(-EINVAL, lang_add(&attr));
	memset(&attr.string, 0, sizeof(attr.string));
	EXPECT_EQ(0, lang_add(&attr));
	EXPECT_EQ(0, lang_del(LANG_KEY));
	attr = lang_text_attr();
	attr.entry = 0;
	attr.entry_mask = 0;
	attr.entry_value = 0;
	EXPECT_EQ(-EINVAL, lang_add(&attr));
}

TEST(stride_that_is_too_long_returns_einval)
{
	struct unwind_chain_attr attr = lang_chain_attr(2);

	attr.next = 0;
	attr.stride = UNWIND_CHAIN_MAX_OFFSET + 1LL;
	EXPECT_EQ(-EINVAL, lang_add(&attr));
	attr.stride = -attr.stride;
	EXPECT_EQ(-EINVAL, lang_add(&attr));
	attr.stride = INT64_MIN;
	EXPECT_EQ(-EINVAL, lang_add(&attr));
	attr.stride = INT64_MAX;
	EXPECT_EQ(-EINVAL, lang_add(&attr));
	attr.stride = -(int64_t)UNWIND_CHAIN_MAX_OFFSET;
	EXPECT_EQ(0, lang_add(&attr));
	EXPECT_EQ(0, lang_del(LANG_KEY));
}

TEST(head_outside_of_the_address_space_returns_efault)
{
	EXPECT_REFUSED(-EFAULT, head, 0xffff888000000000ULL);
	EXPECT_REFUSED(-EFAULT, head, -1ULL);
}

TEST(text_outside_of_the_address_space_returns_efault)
{
	struct unwind_chain_attr attr;
	int i;

	for (i = 0; i < 2; i++) {
		attr = lang_text_attr();
		attr.text[1] = attr.text[0];
		EXPECT_EQ(0, lang_add(&attr));
		EXPECT_EQ(0, lang_del(LANG_KEY));
		attr.text[i].size = -1ULL;
		EXPECT_EQ(-EFAULT, lang_add(&attr));
		attr.text[i].start = 0xffff888000000000ULL;
		EXPECT_EQ(-EFAULT, lang_add(&attr));
		attr.text[i].size = 1;
		EXPECT_EQ(-EFAULT, lang_add(&attr));
	}
}

TEST(key_in_use_returns_eexist)
{
	const struct unwind_chain_attr attr = lang_chain_attr(2);

	EXPECT_EQ(0, lang_add(&attr));
	EXPECT_EQ(-EEXIST, lang_add(&attr));
	EXPECT_EQ(0, lang_del(LANG_KEY));
	EXPECT_EQ(-ENOENT, lang_del(LANG_KEY));
	EXPECT_EQ(0, lang_add(&attr));
	EXPECT_EQ(0, lang_del(LANG_KEY));
}

TEST(more_than_the_limit_returns_enospc)
{
	struct unwind_chain_attr attr = lang_chain_attr(2);
	int i;

	for (i = 1; i <= UNWIND_CHAIN_MAX; i++) {
		attr.key = i;
		EXPECT_EQ(0, lang_add(&attr));
	}
	attr.key = i;
	EXPECT_EQ(-ENOSPC, lang_add(&attr));
	EXPECT_EQ(0, lang_del(2));
	EXPECT_EQ(0, lang_add(&attr));
	for (i = 1; i <= UNWIND_CHAIN_MAX + 1; i++)
		EXPECT_EQ(i == 2 ? -ENOENT : 0, lang_del(i));
}

/*
 * In the trace
 */

/* The number of native frames in the text between two functions; -1 if they are not there */
static int natives_between(const char *text, const char *inner, const char *outer)
{
	const char *from = strstr(text, inner), *to = from ? strstr(from, outer) : NULL;
	int nr = 0;

	if (!to)
		return -1;
	for (from = strstr(from, "\n => /"); from && from < to; nr++)
		from = strstr(from + 1, "\n => /");
	return nr;
}

TEST(functions_stand_in_their_places_in_the_trace)
{
	const struct unwind_chain_attr attr = lang_chain_attr(2);
	struct ftrace ft;
	char *text;
	int i;

	if (ftrace_open(&ft, "chain"))
		SKIP(return, "no deferred user stacks in traces");
	lang_init();
	lang_has_entries = true;
	for (i = 0; i < 3; i++)
		lang_frames[i] = (struct lang_frame){ .function = &lang_functions[i] };
	ASSERT_EQ(0, lang_add(&attr));
	ASSERT_EQ(0, ftrace_set(&ft, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_event(&ft, FTRACE_ENTER, getpid()));
	lang_eval(LANG_OUTER, 2, lang_native_eval);
	text = ftrace_get(&ft, "trace");
	ASSERT_NE(NULL, text);
	/* lang_native_eval(), and the lang_eval() that executes leaf, are between leaf and inner */
	EXPECT_EQ(2, natives_between(text, " => leaf (lib.lang:30)",
				     " => inner (lib.lang:20)"))
		TH_LOG("%s", text);
	EXPECT_EQ(0, natives_between(text, " => inner (lib.lang:20)",
				     " => outer (lib.lang:10)"));
	free(text);
	EXPECT_EQ(0, lang_del(LANG_KEY));
	EXPECT_EQ(0, ftrace_close(&ft));
}

/* The trace of two calls, or NULL */
static char *trace_two_stacks(const struct ftrace *ft)
{
	if (ftrace_set(ft, FTRACE_OPTION, "1") || ftrace_event(ft, FTRACE_ENTER, getpid()))
		return NULL;
	syscall(SYS_getppid);
	syscall(SYS_getppid);
	return ftrace_get(ft, "trace");
}

/* A string in memory that has not been touched */
static struct lang_string *untouched_name(void)
{
	struct lang_string *name;
	int fd;

	fd = memfd_create("name", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, sizeof(*name)) ||
	    pwrite(fd, &lang_strings[2], sizeof(*name), 0) != sizeof(*name))
		return MAP_FAILED;
	name = mmap(NULL, sizeof(*name), PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return name;
}

/* A trace waits for no page, but the next stack has it */
TEST(function_whose_name_is_not_resident_has_it_in_the_next_stack_of_the_trace)
{
	const struct unwind_chain_attr attr = lang_chain_attr(2);
	struct lang_function function = lang_functions[2];
	char *text, *first;
	struct ftrace ft;

	if (ftrace_open(&ft, "chain"))
		SKIP(return, "no deferred user stacks in traces");
	lang_init();
	function.file = NULL;
	function.name = untouched_name();
	ASSERT_NE(MAP_FAILED, function.name);
	lang_frames[2] = (struct lang_frame){ .function = &function };
	lang_own.frame = &lang_frames[2];
	ASSERT_EQ(0, lang_add(&attr));
	text = trace_two_stacks(&ft);
	ASSERT_NE(NULL, text);
	first = strstr(text, " => [function]");
	EXPECT_NE(NULL, first)
		TH_LOG("%s", text);
	EXPECT_TRUE(first && !strstr(first + 1, " => [function]") && strstr(first, " => leaf"))
		TH_LOG("%s", text);
	free(text);
	EXPECT_EQ(0, lang_del(LANG_KEY));
	EXPECT_EQ(0, ftrace_close(&ft));
}

/* A process with many functions drives out neither the files, nor its other functions at once */
TEST(stack_names_64_new_functions_in_the_trace)
{
	static struct lang_function many[100];
	static struct lang_frame stack[100];
	const struct unwind_chain_attr attr = lang_chain_attr(2);
	const char *at;
	struct ftrace ft;
	int i, nr = 0;
	char *text;

	if (ftrace_open(&ft, "chain"))
		SKIP(return, "no deferred user stacks in traces");
	lang_init();
	for (i = 0; i < 100; i++) {
		many[i] = lang_functions[1];
		stack[i] = (struct lang_frame){
			.function = &many[i],
			.caller = i < 99 ? &stack[i + 1] : NULL,
		};
	}
	lang_own.frame = stack;
	ASSERT_EQ(0, lang_add(&attr));
	text = trace_two_stacks(&ft);
	ASSERT_NE(NULL, text);
	for (at = text; (at = strstr(at, " => inner (lib.lang:20)")); at++)
		nr++;
	EXPECT_EQ(64 + 100, nr);
	for (nr = 0, at = text; (at = strstr(at, " => [function]")); at++)
		nr++;
	EXPECT_EQ(36, nr);
	free(text);
	EXPECT_EQ(0, lang_del(LANG_KEY));
	EXPECT_EQ(0, ftrace_close(&ft));
}

TEST_HARNESS_MAIN
