// SPDX-License-Identifier: GPL-2.0
/*
 * prctl(PR_UNWIND_CHAIN), and the frames of a language in PERF_RECORD_CALLCHAIN_RUNTIME.
 *
 * The test is a runtime itself: eval() executes frames of a language, as interpreters do,
 * and calls native functions, which call eval() again. So a test knows which frames there
 * are, and which native frame executes each.
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
#include <linux/unwind.h>

#include "call.h"
#include "ftrace.h"
#include "perf.h"
#include "../../kselftest_harness.h"

#define PAGES		64
#define KEY		7
#define FRAMES_MAX	500
#define NAME_MAX_LEN	127
#define APART		0xffff

/*
 * The runtime
 */

#define KIND_FUNCTION	0
#define KIND_ENTRY	5
/* The first one that eval() executes, if there are no entry frames */
#define KIND_FIRST	0x100
#define STRING_PLAIN	0x30

struct string {
	uint64_t	length;
	uint32_t	kind;
	char		data[300];
};

struct function {
	uint64_t	id;
	struct string	*name;
	struct string	*file;
	uint32_t	line;
	uint32_t	has_code;
};

struct frame {
	struct function	*function;
	struct frame	*caller;
	uint32_t	kind;
};

struct thread {
	struct thread	*next;
	struct frame	*frame;
	uint32_t	tid;
};

struct group {
	struct group	*next;
	struct thread	*threads;
};

struct runtime {
	struct group	*groups;
	struct thread	*threads;
	struct frame	*frame;
};

static struct thread own, others[3];
static struct group group, empty_group;
static struct runtime runtime;

static void runtime_init(void)
{
	int i;

	own = (struct thread){ .tid = gettid() };
	/* Three others, the task itself, and the end; the first group has none of them */
	for (i = 0; i < 3; i++)
		others[i] = (struct thread){
			.next = i < 2 ? &others[i + 1] : &own,
			.tid = 1 + i,
		};
	group = (struct group){ .threads = &others[0] };
	empty_group = (struct group){ .next = &group };
	runtime = (struct runtime){ .groups = &empty_group, .threads = &others[0] };
}

/* As an interpreter would describe it: @lists on the way to the frames */
static struct unwind_chain_attr chain_attr(unsigned int lists)
{
	const struct unwind_chain_list threads = {
		.next = offsetof(struct thread, next),
		.first = offsetof(struct thread, frame),
	};
	struct unwind_chain_attr attr = {
		.flags = UNWIND_CHAIN_NAME | UNWIND_CHAIN_FILE | UNWIND_CHAIN_LINE,
		.nr_lists = lists,
		.key = KEY,
		.thread = lists ? offsetof(struct thread, tid) : 0,
		.next = offsetof(struct frame, caller),
		.function = offsetof(struct frame, function),
		.function_mask = ~7ULL,
		.entry = offsetof(struct frame, kind),
		.entry_mask = 0xff,
		.entry_value = KIND_ENTRY,
		.check = { offsetof(struct function, id), offsetof(struct function, name) },
		.name = offsetof(struct function, name),
		.file = offsetof(struct function, file),
		.line = offsetof(struct function, line),
		.string = {
			.length = offsetof(struct string, length),
			.data = offsetof(struct string, data),
			.check = offsetof(struct string, kind),
			.check_mask = 0xf0,
			.check_value = STRING_PLAIN,
		},
	};

	switch (lists) {
	case 0:
		attr.head = (uintptr_t)&runtime.frame;
		break;
	case 1:
		attr.head = (uintptr_t)&runtime.threads;
		attr.lists[0] = threads;
		break;
	default:
		attr.head = (uintptr_t)&runtime.groups;
		attr.lists[0].next = offsetof(struct group, next);
		attr.lists[0].first = offsetof(struct group, threads);
		attr.lists[1] = threads;
		break;
	}
	return attr;
}

/* The text of eval() */
extern const char __start_eval_text[], __stop_eval_text[];

/* As a runtime without entry frames would describe it */
static struct unwind_chain_attr text_attr(void)
{
	struct unwind_chain_attr attr = chain_attr(0);

	attr.entry_mask = KIND_FIRST;
	attr.entry_value = KIND_FIRST;
	attr.text[0].start = (uintptr_t)__start_eval_text;
	attr.text[0].size = __stop_eval_text - __start_eval_text;
	attr.kind = offsetof(struct function, has_code);
	attr.kind_mask = 1;
	attr.kind_value = 1;
	return attr;
}

static int chain(unsigned long op, const void *attr, size_t size)
{
	return syscall(SYS_prctl, PR_UNWIND_CHAIN, op, attr, size, 0) < 0 ? -errno : 0;
}

static int add(const struct unwind_chain_attr *attr)
{
	return chain(PR_UNWIND_CHAIN_ADD, attr, sizeof(*attr));
}

static int del(uint64_t key)
{
	const struct unwind_chain_attr attr = { .key = key };

	return chain(PR_UNWIND_CHAIN_DEL, &attr, sizeof(attr));
}

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

	EXPECT_EQ(-EINVAL, chain(PR_UNWIND_CHAIN_VERSION, &attr, 0));
	EXPECT_EQ(-EINVAL, chain(PR_UNWIND_CHAIN_VERSION, NULL, sizeof(attr)));
	EXPECT_EQ(-1, syscall(SYS_prctl, PR_UNWIND_CHAIN, PR_UNWIND_CHAIN_VERSION, NULL, 0, 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST(unknown_operation_returns_einval)
{
	const struct unwind_chain_attr attr = chain_attr(2);

	EXPECT_EQ(-EINVAL, chain(0, &attr, sizeof(attr)));
	EXPECT_EQ(-EINVAL, chain(PR_UNWIND_CHAIN_VERSION + 1, &attr, sizeof(attr)));
	EXPECT_EQ(-EINVAL, chain((1UL << 32) | PR_UNWIND_CHAIN_ADD, &attr, sizeof(attr)));
	EXPECT_EQ(-ENOENT, del(KEY));
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
	const struct unwind_chain_attr attr = chain_attr(2);
	struct {
		struct unwind_chain_attr	attr;
		char				tail[5000];
	} longer = { .attr = attr };

	EXPECT_EQ(-EINVAL, chain(PR_UNWIND_CHAIN_ADD, &attr, 0));
	EXPECT_EQ(-EINVAL, chain(PR_UNWIND_CHAIN_ADD, &attr, sizeof(attr) - 1));
	EXPECT_EQ(-E2BIG, chain(PR_UNWIND_CHAIN_ADD, &longer, sizeof(longer)));
	longer.tail[7] = 1;
	EXPECT_EQ(-E2BIG, chain(PR_UNWIND_CHAIN_ADD, &longer, sizeof(attr) + 8));
	EXPECT_EQ(-ENOENT, del(KEY));
	EXPECT_EQ(0, chain(PR_UNWIND_CHAIN_ADD, &longer, sizeof(attr) + 7));
	EXPECT_EQ(0, del(KEY));
}

TEST(unreadable_attr_returns_efault)
{
	EXPECT_EQ(-EFAULT, chain(PR_UNWIND_CHAIN_ADD, NULL, sizeof(struct unwind_chain_attr)));
	EXPECT_EQ(-EFAULT, chain(PR_UNWIND_CHAIN_ADD, (void *)-4096L,
				 sizeof(struct unwind_chain_attr)));
}

/* One field with a value that is refused, which has to be right otherwise */
#define EXPECT_REFUSED(error, field, value) do {			\
	struct unwind_chain_attr __attr = chain_attr(2);		\
									\
	__attr.field = (value);						\
	EXPECT_EQ(error, add(&__attr))					\
		TH_LOG(#field " = " #value);				\
	EXPECT_EQ(-ENOENT, del(KEY));					\
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

	attr = chain_attr(0);
	attr.thread = 4;
	EXPECT_EQ(-EINVAL, add(&attr));
	attr = chain_attr(2);
	attr.flags = 0;
	attr.name = 0;
	attr.file = 0;
	attr.line = 0;
	EXPECT_EQ(-EINVAL, add(&attr));
	memset(&attr.string, 0, sizeof(attr.string));
	EXPECT_EQ(0, add(&attr));
	EXPECT_EQ(0, del(KEY));
	attr = text_attr();
	attr.entry = 0;
	attr.entry_mask = 0;
	attr.entry_value = 0;
	EXPECT_EQ(-EINVAL, add(&attr));
}

TEST(stride_that_is_too_long_returns_einval)
{
	struct unwind_chain_attr attr = chain_attr(2);

	attr.next = 0;
	attr.stride = UNWIND_CHAIN_MAX_OFFSET + 1LL;
	EXPECT_EQ(-EINVAL, add(&attr));
	attr.stride = -attr.stride;
	EXPECT_EQ(-EINVAL, add(&attr));
	attr.stride = INT64_MIN;
	EXPECT_EQ(-EINVAL, add(&attr));
	attr.stride = INT64_MAX;
	EXPECT_EQ(-EINVAL, add(&attr));
	attr.stride = -(int64_t)UNWIND_CHAIN_MAX_OFFSET;
	EXPECT_EQ(0, add(&attr));
	EXPECT_EQ(0, del(KEY));
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
		attr = text_attr();
		attr.text[1] = attr.text[0];
		EXPECT_EQ(0, add(&attr));
		EXPECT_EQ(0, del(KEY));
		attr.text[i].size = -1ULL;
		EXPECT_EQ(-EFAULT, add(&attr));
		attr.text[i].start = 0xffff888000000000ULL;
		EXPECT_EQ(-EFAULT, add(&attr));
		attr.text[i].size = 1;
		EXPECT_EQ(-EFAULT, add(&attr));
	}
}

TEST(key_in_use_returns_eexist)
{
	const struct unwind_chain_attr attr = chain_attr(2);

	EXPECT_EQ(0, add(&attr));
	EXPECT_EQ(-EEXIST, add(&attr));
	EXPECT_EQ(0, del(KEY));
	EXPECT_EQ(-ENOENT, del(KEY));
	EXPECT_EQ(0, add(&attr));
	EXPECT_EQ(0, del(KEY));
}

TEST(more_than_the_limit_returns_enospc)
{
	struct unwind_chain_attr attr = chain_attr(2);
	int i;

	for (i = 1; i <= UNWIND_CHAIN_MAX; i++) {
		attr.key = i;
		EXPECT_EQ(0, add(&attr));
	}
	attr.key = i;
	EXPECT_EQ(-ENOSPC, add(&attr));
	EXPECT_EQ(0, del(2));
	EXPECT_EQ(0, add(&attr));
	for (i = 1; i <= UNWIND_CHAIN_MAX + 1; i++)
		EXPECT_EQ(i == 2 ? -ENOENT : 0, del(i));
}

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

/* The native functions that eval() has called, the outermost first */
static unsigned long return_addresses[8];
static int nr_calls;

static struct string strings[4] = {
	{ .length = 5, .kind = STRING_PLAIN, .data = "outer" },
	{ .length = 5, .kind = STRING_PLAIN, .data = "inner" },
	{ .length = 4, .kind = STRING_PLAIN, .data = "leaf" },
	{ .length = 8, .kind = STRING_PLAIN, .data = "lib.lang" },
};

static struct function functions[3] = {
	{ .id = 100, .name = &strings[0], .file = &strings[3], .line = 10,
	  .has_code = 1 },
	{ .id = 101, .name = &strings[1], .file = &strings[3], .line = 20,
	  .has_code = 1 },
	{ .id = 102, .name = &strings[2], .file = &strings[3], .line = 30,
	  .has_code = 1 },
};

static struct frame frames[3];
#define OUTER	(&frames[0])
#define INNER	(&frames[1])
#define LEAF	(&frames[2])

typedef void (*native_fn)(void);

/* Does eval() have entry frames, which the fixture says? */
static bool has_entries;

/* Execute @nr frames from @first on, each called by the one before; the last calls @fn */
static noinline __section("eval_text")
void eval(struct frame *first, int nr, native_fn fn)
{
	struct frame entry = { .caller = own.frame, .kind = KIND_ENTRY };
	int i;

	for (i = 0; i < nr; i++)
		first[i].caller = i ? &first[i - 1] : has_entries ? &entry : own.frame;
	first[0].kind = has_entries ? KIND_FUNCTION : KIND_FIRST;
	own.frame = &first[nr - 1];
	runtime.frame = own.frame;
	asm volatile("" : : "r"(&entry) : "memory");
	fn();
	own.frame = entry.caller;
	runtime.frame = own.frame;
	asm volatile("" : : "r"(&entry) : "memory");
}

static noinline void native_sample(void)
{
	unsigned long ip;

	return_addresses[nr_calls++] = (unsigned long)__builtin_return_address(0);
	syscall0_at(SYS_getppid, &ip);
	asm volatile("");
}

static noinline void native_eval(void)
{
	return_addresses[nr_calls++] = (unsigned long)__builtin_return_address(0);
	eval(LEAF, 1, native_sample);
	asm volatile("");
}

/* A native function that is one of the language, too, is executed by itself */
static noinline void native_function(void)
{
	return_addresses[nr_calls++] = (unsigned long)__builtin_return_address(0);
	LEAF->caller = own.frame;
	LEAF->kind = KIND_FIRST;
	runtime.frame = LEAF;
	native_sample();
	runtime.frame = own.frame;
}

/* The frame whose bit KIND_FIRST is changed while the stack is built */
static struct frame *changed;

static noinline void native_change(void)
{
	changed->kind ^= KIND_FIRST;
	native_eval();
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

	runtime_init();
	has_entries = true;
	nr_calls = 0;
	for (i = 0; i < 3; i++)
		frames[i] = (struct frame){ .function = &functions[i] };
	self->attr = chain_attr(2);
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
				    const struct function *function)
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

/* leaf was called by native_eval(), and that by inner, which outer has called */
#define EXPECT_RIGHT() do {						\
	const struct runtime_frame *__frames;				\
									\
	eval(OUTER, 2, native_eval);					\
	__frames = read_frames(self, 3);				\
	ASSERT_NE(NULL, __frames);					\
	ASSERT_EQ(2, nr_calls);						\
	EXPECT_EQ((uintptr_t)&functions[2], __frames[0].function);	\
	EXPECT_EQ((uintptr_t)&functions[1], __frames[1].function);	\
	EXPECT_EQ((uintptr_t)&functions[0], __frames[2].function);	\
	EXPECT_EQ(return_addresses[1], address_at(self, __frames[0].place)); \
	EXPECT_EQ(return_addresses[0], address_at(self, __frames[1].place)); \
	EXPECT_EQ(return_addresses[0], address_at(self, __frames[2].place)); \
	EXPECT_FALSE(is_cut(self));					\
} while (0)

TEST_F(stack, thread_in_a_group_has_its_frames_in_their_places)
{
	ASSERT_EQ(0, add(&self->attr));
	EXPECT_RIGHT();
}

TEST_F(stack, thread_in_a_list_has_its_frames_in_their_places)
{
	self->attr = chain_attr(1);
	ASSERT_EQ(0, add(&self->attr));
	EXPECT_RIGHT();
}

TEST_F(stack, single_thread_has_its_frames_in_their_places)
{
	self->attr = chain_attr(0);
	ASSERT_EQ(0, add(&self->attr));
	EXPECT_RIGHT();
}

static void *other_thread(void *arg)
{
	struct _test_data_stack *data = arg;

	ring_unmap(&data->ring);
	close(data->fd);
	if (!open_event(data))
		eval(OUTER, 2, native_eval);
	return NULL;
}

/* Without a list of threads, the frames are the first one's */
TEST_F(stack, other_thread_without_a_list_has_no_record)
{
	pthread_t thread;

	self->attr = chain_attr(0);
	ASSERT_EQ(0, add(&self->attr));
	ASSERT_EQ(0, pthread_create(&thread, NULL, other_thread, self));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_TRUE(has_no_record(self));
}

/*
 * Without entry frames
 */

TEST_F(stack, groups_of_frames_belong_to_the_frames_of_a_native_function)
{
	has_entries = false;
	self->attr = text_attr();
	ASSERT_EQ(0, add(&self->attr));
	EXPECT_RIGHT();
}

/* A compiler may have moved away what is seldom executed */
TEST_F(stack, native_function_in_two_parts_is_one)
{
	has_entries = false;
	self->attr = text_attr();
	self->attr.text[1] = self->attr.text[0];
	self->attr.text[0].size = 1;
	ASSERT_EQ(0, add(&self->attr));
	EXPECT_RIGHT();
}

/* With the bit of @frame changed, all frames are there, but none has a place */
#define EXPECT_APART(frame) do {					\
	const struct runtime_frame *__frames;				\
	int __i;							\
									\
	has_entries = false;						\
	changed = (frame);						\
	self->attr = text_attr();					\
	ASSERT_EQ(0, add(&self->attr));					\
	eval(OUTER, 2, native_change);					\
	__frames = read_frames(self, 3);				\
	ASSERT_NE(NULL, __frames);					\
	for (__i = 0; __i < 3; __i++)					\
		EXPECT_EQ(APART, __frames[__i].place);			\
} while (0)

TEST_F(stack, more_groups_than_native_frames_stand_apart)
{
	EXPECT_APART(INNER);
}

TEST_F(stack, fewer_groups_than_native_frames_stand_apart)
{
	EXPECT_APART(OUTER);
}

/* eval() does not execute this frame, so it is placed with its caller's; it has no file */
TEST_F(stack, function_without_code_belongs_to_its_callers_frame)
{
	const struct runtime_frame *found;
	const struct record *rec;

	has_entries = false;
	self->attr = text_attr();
	functions[2].has_code = 0;
	functions[2].line = 0;
	ASSERT_EQ(0, add(&self->attr));
	eval(OUTER, 2, native_function);
	found = read_frames(self, 3);
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&functions[2], found[0].function);
	EXPECT_EQ(return_addresses[0], address_at(self, found[0].place));
	EXPECT_EQ(return_addresses[0], address_at(self, found[2].place));
	rec = name_of(self, &functions[2]);
	ASSERT_NE(NULL, rec);
	EXPECT_STREQ("leaf", names(rec));
	EXPECT_STREQ("", names(rec) + strlen(names(rec)) + 1);
	EXPECT_EQ(0, line(rec));
}

/* A function that is in no line is the runtime's own */
TEST_F(stack, function_without_a_line_is_not_reported)
{
	const struct runtime_frame *found;

	functions[1].line = 0;
	ASSERT_EQ(0, add(&self->attr));
	eval(OUTER, 2, native_eval);
	found = read_frames(self, 2);
	functions[1].line = 20;
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&functions[2], found[0].function);
	EXPECT_EQ((uintptr_t)&functions[0], found[1].function);
	EXPECT_EQ(return_addresses[0], address_at(self, found[1].place));
}

TEST_F(stack, frame_without_a_function_is_not_reported)
{
	const struct runtime_frame *found;

	INNER->function = NULL;
	ASSERT_EQ(0, add(&self->attr));
	eval(OUTER, 2, native_eval);
	found = read_frames(self, 2);
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&functions[2], found[0].function);
	EXPECT_EQ((uintptr_t)&functions[0], found[1].function);
}

/* Bits outside of function_mask are not part of the address */
TEST_F(stack, tags_of_functions_are_removed)
{
	INNER->function = (void *)((uintptr_t)INNER->function | 5);
	ASSERT_EQ(0, add(&self->attr));
	EXPECT_RIGHT();
}

TEST_F(stack, stride_leads_to_the_caller)
{
	struct frame array[4] = {
		{ .function = &functions[2] }, { .function = &functions[1] },
		{ .function = &functions[0] }, { .function = NULL },
	};
	const struct runtime_frame *found;

	self->attr.next = 0;
	self->attr.stride = sizeof(struct frame);
	ASSERT_EQ(0, add(&self->attr));
	/* The array is not linked; its frames are executed by no native frame that is known */
	own.frame = array;
	native_sample();
	found = read_frames(self, 3);
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&functions[0], found[2].function);
	EXPECT_EQ(APART, found[0].place);
	EXPECT_FALSE(is_cut(self));
}

TEST_F(stack, child_inherits_the_chain)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, add(&self->attr));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		/* It has another number, and its own events */
		own.tid = gettid();
		ring_unmap(&self->ring);
		close(self->fd);
		ASSERT_EQ(0, open_event(self));
		EXPECT_RIGHT();
		EXPECT_EQ(0, del(KEY));
		_exit(_metadata->exit_code);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	/* The parent has its chain all the same */
	EXPECT_EQ(0, del(KEY));
}

TEST_F(stack, without_a_chain_no_record)
{
	ASSERT_EQ(0, add(&self->attr));
	ASSERT_EQ(0, del(KEY));
	eval(OUTER, 2, native_eval);
	EXPECT_TRUE(has_no_record(self));
}

TEST_F(stack, without_defer_runtime_no_record)
{
	ring_unmap(&self->ring);
	close(self->fd);
	self->event.defer_runtime = 0;
	ASSERT_EQ(0, open_event(self));
	ASSERT_EQ(0, add(&self->attr));
	eval(OUTER, 2, native_eval);
	EXPECT_TRUE(has_no_record(self));
}

TEST_F(stack, thread_that_is_not_listed_has_no_record)
{
	ASSERT_EQ(0, add(&self->attr));
	own.tid = 1;
	eval(OUTER, 2, native_eval);
	EXPECT_TRUE(has_no_record(self));
}

/*
 * Names
 */

TEST_F(stack, names_are_announced_once)
{
	const struct record *rec;
	int i;

	ASSERT_EQ(0, add(&self->attr));
	EXPECT_RIGHT();
	ASSERT_EQ(3, records_count(&self->recs, PERF_RECORD_RUNTIME_NAME));
	for (i = 0; i < 3; i++) {
		rec = name_of(self, &functions[i]);
		ASSERT_NE(NULL, rec);
		EXPECT_STREQ(strings[i].data, names(rec));
		EXPECT_STREQ("lib.lang", names(rec) + strlen(names(rec)) + 1);
		EXPECT_EQ(functions[i].line, line(rec));
		EXPECT_EQ(getpid(), ((const uint32_t *)(rec->raw + 1))[0]);
	}
}

/* The name of another function in the same place is announced at once */
TEST_F(stack, function_in_the_place_of_another_has_another_check)
{
	const struct runtime_frame *found;
	uint32_t check;

	ASSERT_EQ(0, add(&self->attr));
	eval(OUTER, 1, native_sample);
	found = read_frames(self, 1);
	ASSERT_NE(NULL, found);
	check = found[0].check;
	records_free(&self->recs);

	functions[0].id++;
	functions[0].line++;
	eval(OUTER, 1, native_sample);
	found = read_frames(self, 1);
	functions[0].id--;
	functions[0].line--;
	ASSERT_NE(NULL, found);
	EXPECT_NE(check, found[0].check);
	ASSERT_NE(NULL, name_of(self, &functions[0]));
	EXPECT_EQ(functions[0].line + 1, line(name_of(self, &functions[0])));
}

#define EXPECT_NAME(expected) do {					\
	const struct record *__rec;					\
									\
	ASSERT_EQ(0, add(&self->attr));					\
	function.line = 1;						\
	frames[0].function = &function;					\
	eval(OUTER, 1, native_sample);					\
	ASSERT_NE(NULL, read_frames(self, 1));				\
	__rec = name_of(self, &function);				\
	ASSERT_NE(NULL, __rec);						\
	EXPECT_STREQ(expected, names(__rec));				\
} while (0)

TEST_F(stack, names_are_printable)
{
	struct string string = { .length = 10, .kind = STRING_PLAIN,
				 .data = "a\033[31m\x9b\x7f\nb" };
	struct function function = { .name = &string };

	EXPECT_NAME("a?[31m???b");
}

TEST_F(stack, name_that_is_too_long_has_its_end)
{
	struct string string = { .length = 300, .kind = STRING_PLAIN };
	struct function function = { .name = &string };
	char expected[NAME_MAX_LEN + 1] = {};
	int i;

	for (i = 0; i < 300; i++)
		string.data[i] = 'a' + i % 26;
	memcpy(expected, string.data + 300 - NAME_MAX_LEN, NAME_MAX_LEN);
	EXPECT_NAME(expected);
}

TEST_F(stack, name_that_is_stored_in_another_way_is_empty)
{
	struct string string = { .length = 4, .kind = 0x40, .data = "name" };
	struct function function = { .name = &string };

	EXPECT_NAME("");
}

TEST_F(stack, name_of_absurd_length_is_empty)
{
	struct string string = { .length = 1ULL << 63, .kind = STRING_PLAIN };
	struct function function = { .name = &string };

	EXPECT_NAME("");
}

TEST_F(stack, name_that_cannot_be_read_is_empty)
{
	struct function function = { .name = (void *)0x10 };

	EXPECT_NAME("");
}

/*
 * Hostile chains
 */

TEST_F(stack, loop_of_frames_ends)
{
	const struct runtime_frame *found;
	uint64_t nr;

	ASSERT_EQ(0, add(&self->attr));
	frames[0].caller = &frames[2];
	frames[1].caller = &frames[0];
	frames[2].caller = &frames[1];
	own.frame = &frames[2];
	native_sample();
	found = read_any_frames(self, &nr);
	ASSERT_NE(NULL, found);
	EXPECT_LE(3, nr);
	EXPECT_GE(16, nr);
	EXPECT_TRUE(is_cut(self));
}

TEST_F(stack, more_frames_than_the_limit_are_cut)
{
	struct frame *many = calloc(3000, sizeof(*many));
	const struct runtime_frame *found;
	uint64_t i;

	ASSERT_NE(NULL, many);
	for (i = 0; i < 3000; i++)
		many[i].function = &functions[i % 3];
	ASSERT_EQ(0, add(&self->attr));
	eval(many, 3000, native_sample);
	found = read_frames(self, FRAMES_MAX);
	ASSERT_NE(NULL, found);
	EXPECT_TRUE(is_cut(self));
	EXPECT_EQ((uintptr_t)&functions[2999 % 3], found[0].function);
}

TEST_F(stack, loop_of_threads_ends)
{
	ASSERT_EQ(0, add(&self->attr));
	others[2].next = &others[0];
	native_sample();
	EXPECT_TRUE(has_no_record(self));
}

TEST_F(stack, frame_that_cannot_be_read_cuts_the_chain)
{
	static void * const bad[] = {
		(void *)8, (void *)0xffff888000000000UL, (void *)-16L, (void *)0x1000000000000000UL,
	};
	const struct runtime_frame *found;
	unsigned int i;

	ASSERT_EQ(0, add(&self->attr));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		frames[2].caller = bad[i];
		own.frame = &frames[2];
		native_sample();
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

	ASSERT_EQ(0, add(&self->attr));
	LEAF->caller = page;
	own.frame = LEAF;
	native_sample();
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
	ASSERT_EQ(0, add(&self->attr));
	LEAF->caller = (void *)(map + 3 * getpagesize());
	own.frame = LEAF;
	native_sample();
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
	struct frame *frame;
	int i;

	/* The last page below the end may have to stay free */
	for (i = 0; i < 8 && map == MAP_FAILED; i++)
		map = mmap((void *)(ends[i / 2] - (1 + i % 2) * size), size,
			   PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (map == MAP_FAILED)
		SKIP(return, "something is mapped there");
	frame = (struct frame *)((char *)map + size) - 1;
	*frame = (struct frame){ .function = &functions[1] };
	ASSERT_EQ(0, add(&self->attr));
	LEAF->caller = frame;
	own.frame = LEAF;
	native_sample();
	found = read_frames(self, 2);
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&functions[1], found[1].function);
	EXPECT_FALSE(is_cut(self));
}

/* Memory of the program's own that is not resident is brought in: it may be swapped out */
TEST_F(stack, frame_in_memory_that_is_not_resident_is_read)
{
	const size_t size = getpagesize();
	const struct runtime_frame *found;
	struct frame *frame;
	int fd;

	fd = memfd_create("frames", MFD_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, size));
	frame = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, frame);
	*frame = (struct frame){ .function = &functions[1] };
	/* In the page cache, and in no page table */
	ASSERT_EQ(0, madvise(frame, size, MADV_DONTNEED));
	ASSERT_EQ(0, add(&self->attr));
	LEAF->caller = frame;
	own.frame = LEAF;
	native_sample();
	found = read_frames(self, 2);
	ASSERT_NE(NULL, found);
	EXPECT_EQ((uintptr_t)&functions[1], found[1].function);
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
	struct unwind_chain_attr direct = chain_attr(0), text = text_attr();
	unsigned int seed = 1, i, with_frames = 0;
	int nr;

	ASSERT_NE(NULL, arena);
	printf("# seed %u\n", seed);
	self->attr.head = (uintptr_t)arena;
	ASSERT_EQ(0, add(&self->attr));
	/* Few rounds find the thread in such lists */
	direct.key++;
	direct.head = (uintptr_t)(arena + 1);
	ASSERT_EQ(0, add(&direct));
	text.key += 2;
	text.head = (uintptr_t)(arena + 2);
	ASSERT_EQ(0, add(&text));
	for (i = 0; i < ROUNDS; i++) {
		fill_at_random(arena, &seed);
		nr_calls = 0;
		eval(LEAF, 1, native_sample);
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

	*attr = rand_r(seed) % 2 ? chain_attr(rand_r(seed) % 3) : text_attr();
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
		ret = add(&self->attr);
		if (ret) {
			ASSERT_EQ(-EINVAL, ret);
			continue;
		}
		accepted++;
		fill_at_random(arena, &seed);
		nr_calls = 0;
		eval(LEAF, 1, native_sample);
		nr = count_frames(self);
		ASSERT_LE(0, nr);
		with_frames += !!nr;
		ASSERT_EQ(0, del(KEY));
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
		others[0].next = rand_r(&seed) % 2 ? &others[1] : (void *)(uintptr_t)rand_r(&seed);
		others[1].next = rand_r(&seed) % 2 ? &others[2] : &others[0];
		others[2].next = rand_r(&seed) % 2 ? &others[0] : NULL;
	}
	return unused;
}

TEST_F(stack, lists_that_change_make_no_wrong_frames)
{
	const struct runtime_frame *found;
	unsigned int i, with_frames = 0;
	pthread_t thread;
	uint64_t nr;

	ASSERT_EQ(0, add(&self->attr));
	stop = false;
	group.threads = &others[0];
	ASSERT_EQ(0, pthread_create(&thread, NULL, change, NULL));
	for (i = 0; i < ROUNDS; i++) {
		/* Found at once in every second round, else by chance */
		group.threads = i % 2 ? &own : &others[0];
		nr_calls = 0;
		eval(OUTER, 1, native_sample);
		found = read_any_frames(self, &nr);
		with_frames += !!nr;
		if (nr) {
			EXPECT_EQ(1, nr);
			EXPECT_EQ((uintptr_t)&functions[0], found[0].function);
		}
		records_free(&self->recs);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	EXPECT_LE(ROUNDS / 2, with_frames);
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
	const struct unwind_chain_attr attr = chain_attr(2);
	struct ftrace ft;
	char *text;
	int i;

	if (ftrace_open(&ft, "chain"))
		SKIP(return, "no deferred user stacks in traces");
	runtime_init();
	has_entries = true;
	for (i = 0; i < 3; i++)
		frames[i] = (struct frame){ .function = &functions[i] };
	ASSERT_EQ(0, add(&attr));
	ASSERT_EQ(0, ftrace_set(&ft, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_event(&ft, FTRACE_ENTER, getpid()));
	eval(OUTER, 2, native_eval);
	text = ftrace_get(&ft, "trace");
	ASSERT_NE(NULL, text);
	/* native_eval(), and the eval() that executes leaf, are between leaf and inner */
	EXPECT_EQ(2, natives_between(text, " => leaf (lib.lang:30)",
				     " => inner (lib.lang:20)"))
		TH_LOG("%s", text);
	EXPECT_EQ(0, natives_between(text, " => inner (lib.lang:20)",
				     " => outer (lib.lang:10)"));
	free(text);
	EXPECT_EQ(0, del(KEY));
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
static struct string *untouched_name(void)
{
	struct string *name;
	int fd;

	fd = memfd_create("name", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, sizeof(*name)) ||
	    pwrite(fd, &strings[2], sizeof(*name), 0) != sizeof(*name))
		return MAP_FAILED;
	name = mmap(NULL, sizeof(*name), PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return name;
}

/* A trace waits for no page, but the next stack has it */
TEST(function_whose_name_is_not_resident_has_it_in_the_next_stack_of_the_trace)
{
	const struct unwind_chain_attr attr = chain_attr(2);
	struct function function = functions[2];
	char *text, *first;
	struct ftrace ft;

	if (ftrace_open(&ft, "chain"))
		SKIP(return, "no deferred user stacks in traces");
	runtime_init();
	function.file = NULL;
	function.name = untouched_name();
	ASSERT_NE(MAP_FAILED, function.name);
	frames[2] = (struct frame){ .function = &function };
	own.frame = &frames[2];
	ASSERT_EQ(0, add(&attr));
	text = trace_two_stacks(&ft);
	ASSERT_NE(NULL, text);
	first = strstr(text, " => [function]");
	EXPECT_NE(NULL, first)
		TH_LOG("%s", text);
	EXPECT_TRUE(first && !strstr(first + 1, " => [function]") && strstr(first, " => leaf"))
		TH_LOG("%s", text);
	free(text);
	EXPECT_EQ(0, del(KEY));
	EXPECT_EQ(0, ftrace_close(&ft));
}

/* A process with many functions drives out neither the files, nor its other functions at once */
TEST(stack_names_64_new_functions_in_the_trace)
{
	static struct function many[100];
	static struct frame stack[100];
	const struct unwind_chain_attr attr = chain_attr(2);
	const char *at;
	struct ftrace ft;
	int i, nr = 0;
	char *text;

	if (ftrace_open(&ft, "chain"))
		SKIP(return, "no deferred user stacks in traces");
	runtime_init();
	for (i = 0; i < 100; i++) {
		many[i] = functions[1];
		stack[i] = (struct frame){
			.function = &many[i],
			.caller = i < 99 ? &stack[i + 1] : NULL,
		};
	}
	own.frame = stack;
	ASSERT_EQ(0, add(&attr));
	text = trace_two_stacks(&ft);
	ASSERT_NE(NULL, text);
	for (at = text; (at = strstr(at, " => inner (lib.lang:20)")); at++)
		nr++;
	EXPECT_EQ(64 + 100, nr);
	for (nr = 0, at = text; (at = strstr(at, " => [function]")); at++)
		nr++;
	EXPECT_EQ(36, nr);
	free(text);
	EXPECT_EQ(0, del(KEY));
	EXPECT_EQ(0, ftrace_close(&ft));
}

TEST_HARNESS_MAIN
