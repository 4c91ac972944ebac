// SPDX-License-Identifier: GPL-2.0
/*
 * The frames of a language in PERF_RECORD_CALLCHAIN_RUNTIME.  The test is a runtime itself, see
 * lang.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/init.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "lang.h"
#include "perf.h"
#include "../../kselftest_harness.h"

#define PAGES		64
#define FRAMES_MAX	500
#define NAME_MAX_LEN	127
#define APART		0xffff

/*
 * Attribute bit
 */

TEST(defer_runtime_needs_defer_output)
{
	struct perf_event_attr attr;
	int fd;

	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	attr.defer_runtime = 1;
	fd = event_open(&attr, 0, -1);
	ASSERT_LE(0, fd);
	close(fd);
	attr.defer_output = 0;
	EXPECT_EQ(-1, event_open(&attr, 0, -1));
	EXPECT_EQ(EINVAL, errno);
}

/*
 * Stacks
 */

/* A native function that is one of the language, too, is executed by itself */
static noinline void native_function(void)
{
	lang_return_addresses[lang_nr_calls++] = (unsigned long)__builtin_return_address(0);
	LANG_LEAF->caller = lang_own.frame;
	LANG_LEAF->kind = LANG_KIND_FIRST;
	lang_runtime.frame = LANG_LEAF;
	lang_native_sample();
	lang_runtime.frame = lang_own.frame;
}

/* The frame whose bit LANG_KIND_FIRST is changed while the stack is built */
static struct lang_frame *changed;

static noinline void native_change(void)
{
	changed->kind ^= LANG_KIND_FIRST;
	lang_native_eval();
}

struct runtime_frame {
	uint64_t	function;
	uint32_t	check;
	uint16_t	place;
	uint16_t	runtime;
};

/* Each test is a process of its own: its chains and memory go with it */
FIXTURE(stack)
{
	struct unwind_chain_attr attr;
	struct perf_event_attr event;
	struct ring ring;
	struct records recs;
	int fd;
};

/* Count getppid() of the calling thread */
static int open_event(struct _test_data_stack *data)
{
	data->fd = event_open(&data->event, 0, -1);
	if (data->fd < 0)
		return -errno;
	return event_filter_syscall(data->fd, SYS_getppid) ?:
	       ring_map(&data->ring, data->fd, PAGES) ?: event_enable(data->fd);
}

FIXTURE_SETUP(stack)
{
	int i;

	lang_init();
	lang_has_entries = true;
	lang_nr_calls = 0;
	for (i = 0; i < 3; i++)
		lang_frames[i] = (struct lang_frame){ .function = &lang_functions[i] };
	self->attr = lang_chain_attr(2);
	self->fd = -1;
	if (tracepoint_attr(&self->event, "raw_syscalls/sys_enter"))
		SKIP(return, "no raw_syscalls tracepoints, or not root");
	self->event.defer_runtime = 1;
	ASSERT_EQ(0, open_event(self));
}

FIXTURE_TEARDOWN(stack)
{
	records_free(&self->recs);
	ring_unmap(&self->ring);
	if (self->fd >= 0)
		close(self->fd);
}

/* The frames of the only record of them; NULL if there is none, or it is not right */
static const struct runtime_frame *read_any_frames(struct _test_data_stack *data, uint64_t *nr)
{
	const struct record *rec;
	const uint64_t *words;

	*nr = 0;
	if (records_read(&data->recs, &data->ring) ||
	    records_count(&data->recs, PERF_RECORD_CALLCHAIN_RUNTIME) != 1)
		return NULL;
	rec = records_get(&data->recs, PERF_RECORD_CALLCHAIN_RUNTIME, 0);
	words = (const uint64_t *)(rec->raw + 1);
	/* And the sample_id, of four words */
	if (rec->raw->size != 24 + words[1] * sizeof(struct runtime_frame) + 32 ||
	    !records_stack(&data->recs, words[0])) {
		printf("# size %u, %llu frames\n", rec->raw->size, (unsigned long long)words[1]);
		return NULL;
	}
	*nr = words[1];
	return (const struct runtime_frame *)&words[2];
}

/* The same, if there are @nr */
static const struct runtime_frame *read_frames(struct _test_data_stack *data, uint64_t nr)
{
	uint64_t found;
	const struct runtime_frame *frames = read_any_frames(data, &found);

	if (frames && found != nr)
		printf("# %llu frames\n", (unsigned long long)found);
	return found == nr ? frames : NULL;
}

static bool has_no_record(struct _test_data_stack *data)
{
	uint64_t nr;

	return !read_any_frames(data, &nr) && data->recs.nr == 2;
}

static bool is_cut(const struct _test_data_stack *data)
{
	return records_get(&data->recs, PERF_RECORD_CALLCHAIN_RUNTIME, 0)->misc &
	       PERF_RECORD_MISC_RUNTIME_CUT;
}

static unsigned long address_at(const struct _test_data_stack *data, uint16_t place)
{
	const struct record *stack = records_get(&data->recs, PERF_RECORD_CALLCHAIN_DEFERRED, 0);

	return place < stack->nr ? stack->ips[place] : 0;
}

/* The name record of a function, or NULL */
static const struct record *name_of(const struct _test_data_stack *data,
				    const struct lang_function *function)
{
	const struct record *rec;
	size_t i;

	for (i = 0; (rec = records_get(&data->recs, PERF_RECORD_RUNTIME_NAME, i)); i++) {
		if (((const uint64_t *)(rec->raw + 1))[1] == (uintptr_t)function)
			return rec;
	}
	return NULL;
}

/* Name and file, each with its end, from where the record has them */
static const char *names(const struct record *rec)
{
	return (const char *)(rec->raw + 1) + 24;
}

static uint32_t line(const struct record *rec)
{
	return ((const uint32_t *)(rec->raw + 1))[5];
}

/* leaf was called by lang_native_eval(), and that by inner, which outer has called */
#define EXPECT_RIGHT() do {						\
	const struct runtime_frame *__frames;				\
									\
	lang_eval(LANG_OUTER, 2, lang_native_eval);					\
	__frames = read_frames(self, 3);				\
	ASSERT_NE(NULL, __frames);					\
	ASSERT_EQ(2, lang_nr_calls);						\
	EXPECT_EQ((uintptr_t)&lang_functions[2], __frames[0].function);	\
	EXPECT_EQ((uintptr_t)&lang_functions[1], __frames[1].function);	\
	EXPECT_EQ((uintptr_t)&lang_functions[0], __frames[2].function);	\
	EXPECT_EQ(lang_return_addresses[1], address_at(self, __frames[0].place)); \
	EXPECT_EQ(lang_return_addresses[0], address_at(self, __frames[1].place)); \
	EXPECT_EQ(lang_return_addresses[0], address_at(self, __frames[2].place)); \
	EXPECT_FALSE(is_cut(self));					\
} while (0)

TEST_F(stack, thread_in_a_group_has_its_frames_in_their_places)
{
	ASSERT_EQ(0, lang_add(&self->attr));
	EXPECT_RIGHT();
}

TEST_F(stack, thread_in_a_list_has_its_frames_in_their_places)
{
	self->attr = lang_chain_attr(1);
	ASSERT_EQ(0, lang_add(&self->attr));
	EXPECT_RIGHT();
}

TEST_F(stack, single_thread_has_its_frames_in_their_places)
{
	self->attr = lang_chain_attr(0);
	ASSERT_EQ(0, lang_add(&self->attr));
	EXPECT_RIGHT();
}

static void *other_thread(void *arg)
{
	struct _test_data_stack *data = arg;

	ring_unmap(&data->ring);
	close(data->fd);
	if (!open_event(data))
		lang_eval(LANG_OUTER, 2, lang_native_eval);
	return NULL;
}

/* Without a list of threads, the frames are the first one's */
TEST_F(stack, other_thread_without_a_list_has_no_record)
{
	pthread_t thread;

	self->attr = lang_chain_attr(0);
	ASSERT_EQ(0, lang_add(&self->attr));
	ASSERT_EQ(0, pthread_create(&thread, NULL, other_thread, self));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_TRUE(has_no_record(self));
}

/*
 * Without entry frames
 */

TEST_F(stack, groups_of_frames_belong_to_the_frames_of_a_native_function)
{
	lang_has_entries = false;
	self->attr = lang_text_attr();
	ASSERT_EQ(0, lang_add(&self->attr));
	EXPECT_RIGHT();
}

/* A compiler may have moved away what is seldom executed */
TEST_F(stack, native_function_in_two_parts_is_one)
{
	lang_has_entries = false;
	self->attr = lang_text_attr();
	self->attr.text[1] = self->attr.text[0];
	self->attr.text[0].size = 1;
	ASSERT_EQ(0, lang_add(&self->attr));
	EXPECT_RIGHT();
}

/* With the bit of @frame changed, all frames are there, but none has a place */
#define EXPECT_APART(frame) do {					\
	const struct runtime_frame *__frames;				\
	int __i;							\
									\
	lang_has_entries = false;						\
	changed = (frame);						\
	self->attr = lang_text_attr();					\
	ASSERT_EQ(0, lang_add(&self->attr));					\
	lang_eval(LANG_OUTER, 2, native_change);					\
	__frames = read_frames(self, 3);				\
	ASSERT_NE(NULL, __frames);					\
	for (__i = 0; __i < 3; __i++)					\
		EXPECT_EQ(APART, __frames[__i].place);			\
} while (0)

TEST_F(stack, more_groups_than_native_frames_stand_apart)
{
	EXPECT_APART(LANG_INNER);
}

TEST_F(stack, fewer_groups_than_native_frames_stand_apart)
{
	EXPECT_APART(LANG_OUTER);
}

/* lang_eval() does not execute this frame, so it is placed with its caller's; it has no file */
TEST_F(stack, function_without_code_belongs_to_its_callers_frame)
{
	const struct runtime_frame *found;
	const struct record *rec;

	lang_has_entries = false;
	self->attr = lang_text_attr();
	lang_functions[2].has_code = 0;
	lang_functions[2].line = 0;
	ASSERT_EQ(0, lang_add(&self->attr));
	lang_eval(LANG_OUTER, 2, native_function);
	found = read_frames(self, 3);
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&lang_functions[2], found[0].function);
	EXPECT_EQ(lang_return_addresses[0], address_at(self, found[0].place));
	EXPECT_EQ(lang_return_addresses[0], address_at(self, found[2].place));
	rec = name_of(self, &lang_functions[2]);
	ASSERT_NE(NULL, rec);
	EXPECT_STREQ("leaf", names(rec));
	EXPECT_STREQ("", names(rec) + strlen(names(rec)) + 1);
	EXPECT_EQ(0, line(rec));
}

/* A function that is in no line is the runtime's own */
TEST_F(stack, function_without_a_line_is_not_reported)
{
	const struct runtime_frame *found;

	lang_functions[1].line = 0;
	ASSERT_EQ(0, lang_add(&self->attr));
	lang_eval(LANG_OUTER, 2, lang_native_eval);
	found = read_frames(self, 2);
	lang_functions[1].line = 20;
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&lang_functions[2], found[0].function);
	EXPECT_EQ((uintptr_t)&lang_functions[0], found[1].function);
	EXPECT_EQ(lang_return_addresses[0], address_at(self, found[1].place));
}

TEST_F(stack, frame_without_a_function_is_not_reported)
{
	const struct runtime_frame *found;

	LANG_INNER->function = NULL;
	ASSERT_EQ(0, lang_add(&self->attr));
	lang_eval(LANG_OUTER, 2, lang_native_eval);
	found = read_frames(self, 2);
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&lang_functions[2], found[0].function);
	EXPECT_EQ((uintptr_t)&lang_functions[0], found[1].function);
}

/* Bits outside of function_mask are not part of the address */
TEST_F(stack, tags_of_functions_are_removed)
{
	LANG_INNER->function = (void *)((uintptr_t)LANG_INNER->function | 5);
	ASSERT_EQ(0, lang_add(&self->attr));
	EXPECT_RIGHT();
}

TEST_F(stack, stride_leads_to_the_caller)
{
	struct lang_frame array[4] = {
		{ .function = &lang_functions[2] }, { .function = &lang_functions[1] },
		{ .function = &lang_functions[0] }, { .function = NULL },
	};
	const struct runtime_frame *found;

	self->attr.next = 0;
	self->attr.stride = sizeof(struct lang_frame);
	ASSERT_EQ(0, lang_add(&self->attr));
	/* The array is not linked; its frames are executed by no native frame that is known */
	lang_own.frame = array;
	lang_native_sample();
	found = read_frames(self, 3);
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&lang_functions[0], found[2].function);
	EXPECT_EQ(APART, found[0].place);
	EXPECT_FALSE(is_cut(self));
}

TEST_F(stack, child_inherits_the_chain)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, lang_add(&self->attr));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		/* It has another number, and its own events */
		lang_own.tid = gettid();
		ring_unmap(&self->ring);
		close(self->fd);
		ASSERT_EQ(0, open_event(self));
		EXPECT_RIGHT();
		EXPECT_EQ(0, lang_del(LANG_KEY));
		_exit(_metadata->exit_code);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	/* The parent has its chain all the same */
	EXPECT_EQ(0, lang_del(LANG_KEY));
}

TEST_F(stack, without_a_chain_no_record)
{
	ASSERT_EQ(0, lang_add(&self->attr));
	ASSERT_EQ(0, lang_del(LANG_KEY));
	lang_eval(LANG_OUTER, 2, lang_native_eval);
	EXPECT_TRUE(has_no_record(self));
}

TEST_F(stack, without_defer_runtime_no_record)
{
	ring_unmap(&self->ring);
	close(self->fd);
	self->event.defer_runtime = 0;
	ASSERT_EQ(0, open_event(self));
	ASSERT_EQ(0, lang_add(&self->attr));
	lang_eval(LANG_OUTER, 2, lang_native_eval);
	EXPECT_TRUE(has_no_record(self));
}

TEST_F(stack, thread_that_is_not_listed_has_no_record)
{
	ASSERT_EQ(0, lang_add(&self->attr));
	lang_own.tid = 1;
	lang_eval(LANG_OUTER, 2, lang_native_eval);
	EXPECT_TRUE(has_no_record(self));
}

/*
 * Names
 */

TEST_F(stack, names_are_announced_once)
{
	const struct record *rec;
	int i;

	ASSERT_EQ(0, lang_add(&self->attr));
	EXPECT_RIGHT();
	ASSERT_EQ(3, records_count(&self->recs, PERF_RECORD_RUNTIME_NAME));
	for (i = 0; i < 3; i++) {
		rec = name_of(self, &lang_functions[i]);
		ASSERT_NE(NULL, rec);
		EXPECT_STREQ(lang_strings[i].data, names(rec));
		EXPECT_STREQ("lib.lang", names(rec) + strlen(names(rec)) + 1);
		EXPECT_EQ(lang_functions[i].line, line(rec));
		EXPECT_EQ(getpid(), ((const uint32_t *)(rec->raw + 1))[0]);
	}
}

/* The name of another function in the same place is announced at once */
TEST_F(stack, function_in_the_place_of_another_has_another_check)
{
	const struct runtime_frame *found;
	uint32_t check;

	ASSERT_EQ(0, lang_add(&self->attr));
	lang_eval(LANG_OUTER, 1, lang_native_sample);
	found = read_frames(self, 1);
	ASSERT_NE(NULL, found);
	check = found[0].check;
	records_free(&self->recs);

	lang_functions[0].id++;
	lang_functions[0].line++;
	lang_eval(LANG_OUTER, 1, lang_native_sample);
	found = read_frames(self, 1);
	lang_functions[0].id--;
	lang_functions[0].line--;
	ASSERT_NE(NULL, found);
	EXPECT_NE(check, found[0].check);
	ASSERT_NE(NULL, name_of(self, &lang_functions[0]));
	EXPECT_EQ(lang_functions[0].line + 1, line(name_of(self, &lang_functions[0])));
}

#define EXPECT_NAME(expected) do {					\
	const struct record *__rec;					\
									\
	ASSERT_EQ(0, lang_add(&self->attr));					\
	function.line = 1;						\
	lang_frames[0].function = &function;					\
	lang_eval(LANG_OUTER, 1, lang_native_sample);					\
	ASSERT_NE(NULL, read_frames(self, 1));				\
	__rec = name_of(self, &function);				\
	ASSERT_NE(NULL, __rec);						\
	EXPECT_STREQ(expected, names(__rec));				\
} while (0)

TEST_F(stack, names_are_printable)
{
	struct lang_string string = { .length = 10, .kind = LANG_STRING_PLAIN,
				 .data = "a\033[31m\x9b\x7f\nb" };
	struct lang_function function = { .name = &string };

	EXPECT_NAME("a?[31m???b");
}

TEST_F(stack, name_that_is_too_long_has_its_end)
{
	struct lang_string string = { .length = 300, .kind = LANG_STRING_PLAIN };
	struct lang_function function = { .name = &string };
	char expected[NAME_MAX_LEN + 1] = {};
	int i;

	for (i = 0; i < 300; i++)
		string.data[i] = 'a' + i % 26;
	memcpy(expected, string.data + 300 - NAME_MAX_LEN, NAME_MAX_LEN);
	EXPECT_NAME(expected);
}

TEST_F(stack, name_that_is_stored_in_another_way_is_empty)
{
	struct lang_string string = { .length = 4, .kind = 0x40, .data = "name" };
	struct lang_function function = { .name = &string };

	EXPECT_NAME("");
}

TEST_F(stack, name_of_absurd_length_is_empty)
{
	struct lang_string string = { .length = 1ULL << 63, .kind = LANG_STRING_PLAIN };
	struct lang_function function = { .name = &string };

	EXPECT_NAME("");
}

TEST_F(stack, name_that_cannot_be_read_is_empty)
{
	struct lang_function function = { .name = (void *)0x10 };

	EXPECT_NAME("");
}

/*
 * Hostile chains
 */

TEST_F(stack, loop_of_frames_ends)
{
	const struct runtime_frame *found;
	uint64_t nr;

	ASSERT_EQ(0, lang_add(&self->attr));
	lang_frames[0].caller = &lang_frames[2];
	lang_frames[1].caller = &lang_frames[0];
	lang_frames[2].caller = &lang_frames[1];
	lang_own.frame = &lang_frames[2];
	lang_native_sample();
	found = read_any_frames(self, &nr);
	ASSERT_NE(NULL, found);
	EXPECT_LE(3, nr);
	EXPECT_GE(16, nr);
	EXPECT_TRUE(is_cut(self));
}

TEST_F(stack, more_frames_than_the_limit_are_cut)
{
	struct lang_frame *many = calloc(3000, sizeof(*many));
	const struct runtime_frame *found;
	uint64_t i;

	ASSERT_NE(NULL, many);
	for (i = 0; i < 3000; i++)
		many[i].function = &lang_functions[i % 3];
	ASSERT_EQ(0, lang_add(&self->attr));
	lang_eval(many, 3000, lang_native_sample);
	found = read_frames(self, FRAMES_MAX);
	ASSERT_NE(NULL, found);
	EXPECT_TRUE(is_cut(self));
	EXPECT_EQ((uintptr_t)&lang_functions[2999 % 3], found[0].function);
}

static struct lang_frame many_frames[FRAMES_MAX];

static noinline void native_many(void)
{
	lang_return_addresses[lang_nr_calls++] = (unsigned long)__builtin_return_address(0);
	lang_eval(many_frames, FRAMES_MAX, lang_native_sample);
	asm volatile("");
}

/* Only another frame shows that there are more */
TEST_F(stack, as_many_frames_as_the_limit_are_all)
{
	const struct runtime_frame *found;
	unsigned int i;

	for (i = 0; i < FRAMES_MAX; i++)
		many_frames[i].function = &lang_functions[i % 3];
	ASSERT_EQ(0, lang_add(&self->attr));
	native_many();
	found = read_frames(self, FRAMES_MAX);
	ASSERT_NE(NULL, found);
	EXPECT_FALSE(is_cut(self));
	EXPECT_EQ(lang_return_addresses[1], address_at(self, found[FRAMES_MAX - 1].place));
	records_free(&self->recs);

	/* Executed by another native frame */
	lang_nr_calls = 0;
	lang_eval(LANG_OUTER, 1, native_many);
	found = read_frames(self, FRAMES_MAX);
	ASSERT_NE(NULL, found);
	EXPECT_TRUE(is_cut(self));
	EXPECT_EQ(lang_return_addresses[1], address_at(self, found[FRAMES_MAX - 1].place));
}

/* The thread may have more frames in a group that is not found */
TEST_F(stack, group_that_cannot_be_read_cuts_the_chain)
{
	ASSERT_EQ(0, lang_add(&self->attr));
	lang_group.next = (void *)8;
	lang_eval(LANG_OUTER, 1, lang_native_sample);
	ASSERT_NE(NULL, read_frames(self, 1));
	EXPECT_TRUE(is_cut(self));
}

TEST_F(stack, thread_in_more_groups_than_the_limit_is_cut)
{
	struct lang_group groups[UNWIND_CHAIN_MAX + 1];
	unsigned int i;

	ASSERT_EQ(0, lang_add(&self->attr));
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		groups[i] = (struct lang_group){
			.next = i < UNWIND_CHAIN_MAX ? &groups[i + 1] : NULL,
			.threads = &lang_own,
		};
	lang_runtime.groups = &groups[1];
	lang_eval(LANG_OUTER, 1, lang_native_sample);
	ASSERT_NE(NULL, read_frames(self, UNWIND_CHAIN_MAX));
	EXPECT_FALSE(is_cut(self));
	records_free(&self->recs);

	lang_runtime.groups = &groups[0];
	lang_eval(LANG_OUTER, 1, lang_native_sample);
	ASSERT_NE(NULL, read_frames(self, UNWIND_CHAIN_MAX));
	EXPECT_TRUE(is_cut(self));
}

TEST_F(stack, loop_of_threads_ends)
{
	ASSERT_EQ(0, lang_add(&self->attr));
	lang_others[2].next = &lang_others[0];
	lang_native_sample();
	EXPECT_TRUE(has_no_record(self));
}

TEST_F(stack, frame_that_cannot_be_read_cuts_the_chain)
{
	static void * const bad[] = {
		(void *)8, (void *)0xffff888000000000UL, (void *)-16L, (void *)0x1000000000000000UL,
	};
	const struct runtime_frame *found;
	unsigned int i;

	ASSERT_EQ(0, lang_add(&self->attr));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		lang_frames[2].caller = bad[i];
		lang_own.frame = &lang_frames[2];
		lang_native_sample();
		found = read_frames(self, 1);
		ASSERT_NE(NULL, found);
		EXPECT_TRUE(is_cut(self));
		EXPECT_EQ(APART, found[0].place);
		records_free(&self->recs);
	}
}

/* The program's handler of faults, which never comes, is not waited for */
TEST_F(stack, frame_in_memory_of_a_userfaultfd_cuts_the_chain)
{
	struct uffdio_api api = { .api = UFFD_API };
	const struct runtime_frame *found;
	struct uffdio_register range = {};
	void *page;
	int fd;

	fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, UFFDIO_API, &api));
	page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	range.range.start = (uintptr_t)page;
	range.range.len = getpagesize();
	range.mode = UFFDIO_REGISTER_MODE_MISSING;
	ASSERT_EQ(0, ioctl(fd, UFFDIO_REGISTER, &range));

	ASSERT_EQ(0, lang_add(&self->attr));
	LANG_LEAF->caller = page;
	lang_own.frame = LANG_LEAF;
	lang_native_sample();
	found = read_frames(self, 1);
	ASSERT_NE(NULL, found);
	EXPECT_TRUE(is_cut(self));
}

/* A chain may lead into a file: no page of it is allocated, and none is read */
TEST_F(stack, frame_in_a_hole_of_a_shared_file_allocates_no_page)
{
	const size_t size = 16 * getpagesize();
	const struct runtime_frame *found;
	struct stat st;
	char *map;
	int fd;

	fd = memfd_create("frames", MFD_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, size));
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, lang_add(&self->attr));
	LANG_LEAF->caller = (void *)(map + 3 * getpagesize());
	lang_own.frame = LANG_LEAF;
	lang_native_sample();
	found = read_frames(self, 1);
	ASSERT_NE(NULL, found);
	EXPECT_TRUE(is_cut(self));
	ASSERT_EQ(0, fstat(fd, &st));
	EXPECT_EQ(0, st.st_blocks);
}

/* Without randomization, the stack is there, and with it the entry frames */
TEST_F(stack, frame_at_the_end_of_the_address_space_is_read)
{
	/* Where it is depends on the processor, too */
	const unsigned long ends[] = { 1UL << 56, 1UL << 52, 1UL << 48, 1UL << 47 };
	const size_t size = getpagesize();
	const struct runtime_frame *found;
	void *map = MAP_FAILED;
	struct lang_frame *frame;
	int i;

	/* The last page below the end may have to stay free */
	for (i = 0; i < 8 && map == MAP_FAILED; i++)
		map = mmap((void *)(ends[i / 2] - (1 + i % 2) * size), size,
			   PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (map == MAP_FAILED)
		SKIP(return, "something is mapped there");
	frame = (struct lang_frame *)((char *)map + size) - 1;
	*frame = (struct lang_frame){ .function = &lang_functions[1] };
	ASSERT_EQ(0, lang_add(&self->attr));
	LANG_LEAF->caller = frame;
	lang_own.frame = LANG_LEAF;
	lang_native_sample();
	found = read_frames(self, 2);
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&lang_functions[1], found[1].function);
	EXPECT_FALSE(is_cut(self));
}

/* Memory of the program's own that is not resident is brought in: it may be swapped out */
TEST_F(stack, frame_in_memory_that_is_not_resident_is_read)
{
	const size_t size = getpagesize();
	const struct runtime_frame *found;
	struct lang_frame *frame;
	int fd;

	fd = memfd_create("frames", MFD_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, size));
	frame = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, frame);
	*frame = (struct lang_frame){ .function = &lang_functions[1] };
	/* In the page cache, and in no page table */
	ASSERT_EQ(0, madvise(frame, size, MADV_DONTNEED));
	ASSERT_EQ(0, lang_add(&self->attr));
	LANG_LEAF->caller = frame;
	lang_own.frame = LANG_LEAF;
	lang_native_sample();
	found = read_frames(self, 2);
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&lang_functions[1], found[1].function);
	EXPECT_FALSE(is_cut(self));
}

/* Rounds of random pointers in an arena: whatever comes, it comes whole, and ends */
#define ROUNDS		3000
#define WORDS		512

static void fill_at_random(uint64_t *arena, unsigned int *seed)
{
	uint64_t *word;

	for (word = arena; word < arena + WORDS; word++) {
		switch (rand_r(seed) % 8) {
		case 0:
			*word = gettid();
			break;
		case 1:
			*word = (uint64_t)rand_r(seed) << 40 | rand_r(seed);
			break;
		case 2:
			*word = 0;
			break;
		default:
			*word = (uintptr_t)(arena + rand_r(seed) % WORDS) + rand_r(seed) % 8;
			break;
		}
	}
}

/* Number of frames of the only record, or -1 if it or one of its places is not right */
static int count_frames(struct _test_data_stack *data)
{
	const struct runtime_frame *found;
	uint64_t nr, i;
	int ret = -1;

	found = read_any_frames(data, &nr);
	if (records_count(&data->recs, PERF_RECORD_CALLCHAIN_DEFERRED) &&
	    records_count(&data->recs, PERF_RECORD_CALLCHAIN_RUNTIME) == !!found)
		ret = nr;
	for (i = 0; i < nr; i++) {
		if (found[i].place != APART && !address_at(data, found[i].place))
			ret = -1;
	}
	records_free(&data->recs);
	return ret;
}

TEST_F(stack, random_memory_makes_records_that_are_whole)
{
	uint64_t *arena = aligned_alloc(64, WORDS * sizeof(*arena));
	struct unwind_chain_attr direct = lang_chain_attr(0), text = lang_text_attr();
	unsigned int seed = 1, i, with_frames = 0;
	int nr;

	ASSERT_NE(NULL, arena);
	printf("# seed %u\n", seed);
	self->attr.head = (uintptr_t)arena;
	ASSERT_EQ(0, lang_add(&self->attr));
	/* Few rounds find the thread in such lists */
	direct.key++;
	direct.head = (uintptr_t)(arena + 1);
	ASSERT_EQ(0, lang_add(&direct));
	text.key += 2;
	text.head = (uintptr_t)(arena + 2);
	ASSERT_EQ(0, lang_add(&text));
	for (i = 0; i < ROUNDS; i++) {
		fill_at_random(arena, &seed);
		lang_nr_calls = 0;
		lang_eval(LANG_LEAF, 1, lang_native_sample);
		nr = count_frames(self);
		ASSERT_LE(0, nr);
		with_frames += !!nr;
	}
	EXPECT_LT(ROUNDS / 100, with_frames);
}

static uint32_t small(unsigned int *seed)
{
	return rand_r(seed) % 3 ? rand_r(seed) % 64 : 0;
}

static void attr_at_random(struct unwind_chain_attr *attr, unsigned int *seed)
{
	uint32_t *word = (uint32_t *)attr, *end = (uint32_t *)(attr + 1);
	const uint64_t head = attr->head;

	*attr = rand_r(seed) % 2 ? lang_chain_attr(rand_r(seed) % 3) : lang_text_attr();
	attr->head = head;
	/* Another value in one field of eight */
	for (word += 6; word < end; word++) {
		if (rand_r(seed) % 8 == 0)
			*word = small(seed);
	}
	if (rand_r(seed) % 4 == 0)
		attr->function_mask = ~0ULL;
}

TEST_F(stack, random_attrs_make_records_that_are_whole)
{
	uint64_t *arena = aligned_alloc(64, WORDS * sizeof(*arena));
	unsigned int seed = 3, i, accepted = 0, with_frames = 0;
	int nr, ret;

	ASSERT_NE(NULL, arena);
	printf("# seed %u\n", seed);
	self->attr.head = (uintptr_t)arena;
	for (i = 0; i < ROUNDS; i++) {
		attr_at_random(&self->attr, &seed);
		ret = lang_add(&self->attr);
		if (ret) {
			ASSERT_EQ(-EINVAL, ret);
			continue;
		}
		accepted++;
		fill_at_random(arena, &seed);
		lang_nr_calls = 0;
		lang_eval(LANG_LEAF, 1, lang_native_sample);
		nr = count_frames(self);
		ASSERT_LE(0, nr);
		with_frames += !!nr;
		ASSERT_EQ(0, lang_del(LANG_KEY));
	}
	EXPECT_LT(ROUNDS / 100, accepted);
	EXPECT_LT(0, with_frames);
}

/* The lists change while they are read */
static bool stop;

static void *change(void *unused)
{
	unsigned int seed = 2;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		lang_others[0].next = rand_r(&seed) % 2 ? &lang_others[1] :
							  (void *)(uintptr_t)rand_r(&seed);
		lang_others[1].next = rand_r(&seed) % 2 ? &lang_others[2] : &lang_others[0];
		lang_others[2].next = rand_r(&seed) % 2 ? &lang_others[0] : NULL;
	}
	return unused;
}

TEST_F(stack, lists_that_change_make_no_wrong_frames)
{
	const struct runtime_frame *found;
	unsigned int i, with_frames = 0;
	pthread_t thread;
	uint64_t nr;

	ASSERT_EQ(0, lang_add(&self->attr));
	stop = false;
	lang_group.threads = &lang_others[0];
	ASSERT_EQ(0, pthread_create(&thread, NULL, change, NULL));
	for (i = 0; i < ROUNDS; i++) {
		/* Found at once in every second round, else by chance */
		lang_group.threads = i % 2 ? &lang_own : &lang_others[0];
		lang_nr_calls = 0;
		lang_eval(LANG_OUTER, 1, lang_native_sample);
		found = read_any_frames(self, &nr);
		with_frames += !!nr;
		if (nr) {
			EXPECT_EQ(1, nr);
			EXPECT_EQ((uintptr_t)&lang_functions[0], found[0].function);
		}
		records_free(&self->recs);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	EXPECT_LE(ROUNDS / 2, with_frames);
}

/* The memory at a frame's address changes while the frame is read */
static void *hole;
static int hole_fd;

static void *remap(void *unused)
{
	const int prot = PROT_READ | PROT_WRITE;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		mmap(hole, getpagesize(), prot, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mmap(hole, getpagesize(), prot, MAP_FIXED | MAP_SHARED, hole_fd, 0);
	}
	return unused;
}

/* Memory is brought in, and no file that another thread maps in its place just then */
TEST_F_TIMEOUT(stack, hole_that_is_mapped_meanwhile_gets_no_page, 180)
{
	pthread_t thread;
	unsigned int i;
	struct stat st;

	hole_fd = memfd_create("frames", MFD_CLOEXEC);
	ASSERT_LE(0, hole_fd);
	ASSERT_EQ(0, ftruncate(hole_fd, getpagesize()));
	hole = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, hole_fd, 0);
	ASSERT_NE(MAP_FAILED, hole);
	ASSERT_EQ(0, lang_add(&self->attr));
	LANG_LEAF->caller = hole;
	lang_own.frame = LANG_LEAF;
	stop = false;
	ASSERT_EQ(0, pthread_create(&thread, NULL, remap, NULL));
	/* With two CPUs, one of some thousand rounds has hit it */
	for (i = 0; i < 20000; i++) {
		lang_nr_calls = 0;
		lang_native_sample();
		ASSERT_EQ(0, records_read(&self->recs, &self->ring));
		records_free(&self->recs);
		ASSERT_EQ(0, fstat(hole_fd, &st));
		if (st.st_blocks)
			break;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, st.st_blocks)
		TH_LOG("round %u", i);
}

TEST_HARNESS_MAIN
