// SPDX-License-Identifier: GPL-2.0
/*
 * The ABI of deferred callchains: attribute bits, layout of samples and of
 * PERF_RECORD_CALLCHAIN_DEFERRED, and which record goes to which buffer, when.
 *
 * The samples come from system call tracepoints that are filtered for getppid(), which
 * nothing else here calls. So a test knows all samples, and compares the whole contents
 * of the buffer.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "call.h"
#include "perf.h"
#include "put.h"
#include "../../kselftest_harness.h"

#define PAGES	64

/* Enough to show that the first is not special, and few enough to print */
#define CALLS	16

/*
 * Attributes
 */

#define FIRST_RESERVED_BIT	41

/* The 64-bit word of attribute bits, which follows read_format */
static uint64_t *attr_bits(struct perf_event_attr *attr)
{
	return (uint64_t *)((char *)attr +
			    offsetof(struct perf_event_attr, read_format)) + 1;
}

/* 0, or the error for a refused event */
static int try_open(const struct perf_event_attr *attr)
{
	int fd = event_open(attr, 0, -1);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

TEST(attr_bit_positions)
{
	struct perf_event_attr attr = { .defer_callchain = 1 };

	EXPECT_EQ(1ULL << 38, *attr_bits(&attr));
	attr = (struct perf_event_attr){ .defer_output = 1 };
	EXPECT_EQ(1ULL << 39, *attr_bits(&attr));
	attr = (struct perf_event_attr){ .defer_runtime = 1 };
	EXPECT_EQ(1ULL << 40, *attr_bits(&attr));
	EXPECT_EQ(22, PERF_RECORD_CALLCHAIN_DEFERRED);
	EXPECT_EQ(23, PERF_RECORD_CALLCHAIN_RUNTIME);
	EXPECT_EQ(24, PERF_RECORD_RUNTIME_NAME);
	EXPECT_EQ(-640ULL, PERF_CONTEXT_USER_DEFERRED);
}

TEST(attr_bits_are_accepted)
{
	struct perf_event_attr attr;
	int bits;

	for (bits = 0; bits < 4; bits++) {
		event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
		attr.defer_callchain = bits & 1;
		attr.defer_output = bits >> 1;
		EXPECT_EQ(0, try_open(&attr))
			TH_LOG("defer_callchain=%d defer_output=%d", bits & 1,
			       bits >> 1);
	}
}

TEST(attr_reserved_bits_return_einval)
{
	struct perf_event_attr attr;
	int bit;

	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	ASSERT_EQ(0, try_open(&attr));
	for (bit = FIRST_RESERVED_BIT; bit < 64; bit++) {
		event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
		*attr_bits(&attr) |= 1ULL << bit;
		EXPECT_EQ(EINVAL, try_open(&attr))
			TH_LOG("bit %d", bit);
	}
}

/*
 * Samples of getppid()
 */

FIXTURE(calls)
{
	struct perf_event_attr enter;
	struct perf_event_attr exit;
	struct ring ring;
	struct records recs;
};

FIXTURE_SETUP(calls)
{
	if (tracepoint_attr(&self->enter, "raw_syscalls/sys_enter") ||
	    tracepoint_attr(&self->exit, "raw_syscalls/sys_exit"))
		SKIP(return, "no raw_syscalls tracepoints, or not root");
	if (try_open(&self->enter) == EACCES)
		SKIP(return, "not allowed to open tracepoint events");
}

FIXTURE_TEARDOWN(calls)
{
	records_free(&self->recs);
	ring_unmap(&self->ring);
}

static int open_calls(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = event_open(attr, pid, cpu);

	if (fd >= 0 && event_filter_syscall(fd, SYS_getppid)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Make one call from user space; return its return address */
static unsigned long call(void)
{
	unsigned long ip;

	syscall0_at(SYS_getppid, &ip);
	return ip;
}

/* Open, map, sample @calls calls, read */
#define SAMPLE_CALLS(attr, calls) do {					\
	int __fd = open_calls(attr, 0, -1), __i;			\
									\
	ASSERT_LE(0, __fd);						\
	ASSERT_EQ(0, ring_map(&self->ring, __fd, PAGES));		\
	ASSERT_EQ(0, event_enable(__fd));				\
	for (__i = 0; __i < (calls); __i++)				\
		call();							\
	ASSERT_EQ(0, event_disable(__fd));				\
	ASSERT_EQ(0, records_read(&self->recs, &self->ring));		\
	close(__fd);							\
} while (0)

TEST_F(calls, sample_is_followed_by_its_record)
{
	const struct record *sample, *stack;
	uint64_t i;

	SAMPLE_CALLS(&self->enter, 1);
	/* records_read() has checked that sizes are exact */
	ASSERT_EQ(2, self->recs.nr);
	sample = &self->recs.rec[0];
	stack = &self->recs.rec[1];
	ASSERT_EQ(PERF_RECORD_SAMPLE, sample->type);
	ASSERT_EQ(PERF_RECORD_CALLCHAIN_DEFERRED, stack->type);

	/* Kernel part, marker, cookie; nothing of user space */
	ASSERT_LE(4, sample->nr);
	EXPECT_EQ(PERF_CONTEXT_KERNEL, sample->ips[0]);
	for (i = 1; i < sample->nr - 2; i++)
		EXPECT_GT((int64_t)0, (int64_t)sample->ips[i]);
	EXPECT_EQ(PERF_CONTEXT_USER_DEFERRED, sample->ips[sample->nr - 2]);
	EXPECT_NE(0, sample->cookie);

	EXPECT_EQ(sample->cookie, stack->cookie);
	EXPECT_EQ(PERF_RECORD_MISC_USER, stack->misc);
	/* Addresses alone, as in the kernel's mainline */
	ASSERT_LE(1, stack->nr);
	EXPECT_EQ(call(), stack->ips[0]);
	for (i = 0; i < stack->nr; i++)
		EXPECT_GT((uint64_t)PERF_CONTEXT_MAX, stack->ips[i]);
	EXPECT_EQ(getpid(), stack->pid);
	EXPECT_EQ(gettid(), stack->tid);
	EXPECT_LE(sample->time, stack->time);
	EXPECT_EQ(sample->id, stack->id);
}

TEST_F(calls, exclude_kernel_leaves_the_cookie)
{
	const struct record *sample;

	self->enter.exclude_callchain_kernel = 1;
	SAMPLE_CALLS(&self->enter, 1);
	ASSERT_EQ(2, self->recs.nr);
	sample = &self->recs.rec[0];
	ASSERT_EQ(2, sample->nr);
	EXPECT_EQ(PERF_CONTEXT_USER_DEFERRED, sample->ips[0]);
	EXPECT_EQ(self->recs.rec[1].cookie, sample->ips[1]);
}

TEST_F(calls, exclude_user_leaves_no_cookie)
{
	const struct record *sample;

	self->enter.exclude_callchain_user = 1;
	SAMPLE_CALLS(&self->enter, CALLS);
	/* No marker, and no stack without a sample */
	ASSERT_EQ(CALLS, self->recs.nr);
	sample = &self->recs.rec[0];
	EXPECT_EQ(PERF_RECORD_SAMPLE, sample->type);
	EXPECT_EQ(0, sample->cookie);
	ASSERT_LE(2, sample->nr);
	EXPECT_EQ(PERF_CONTEXT_KERNEL, sample->ips[0]);
	EXPECT_GT((int64_t)0, (int64_t)sample->ips[sample->nr - 1]);
}

/* Without defer_callchain, the user part stands in the sample as always */
TEST_F(calls, without_defer_callchain_sample_has_user_part)
{
	const struct record *sample;
	unsigned long ip = call();
	uint64_t i;

	self->enter.defer_callchain = 0;
	SAMPLE_CALLS(&self->enter, CALLS);
	ASSERT_EQ(CALLS, self->recs.nr);
	sample = &self->recs.rec[0];
	EXPECT_EQ(PERF_RECORD_SAMPLE, sample->type);
	EXPECT_EQ(0, sample->cookie);
	for (i = 0; i < sample->nr; i++)
		if (sample->ips[i] == PERF_CONTEXT_USER)
			break;
	ASSERT_LT(i + 1, sample->nr);
	EXPECT_EQ(ip, sample->ips[i + 1]);
}

TEST_F(calls, without_defer_output_no_record)
{
	self->enter.defer_output = 0;
	SAMPLE_CALLS(&self->enter, CALLS);
	ASSERT_EQ(CALLS, self->recs.nr);
	EXPECT_EQ(CALLS, records_count(&self->recs, PERF_RECORD_SAMPLE));
	EXPECT_NE(0, self->recs.rec[0].cookie);
}

/* A sample without a callchain asks for no stack */
TEST_F(calls, without_callchain_no_record)
{
	struct perf_event_header *raw;
	int fd, i;

	self->enter.sample_type &= ~PERF_SAMPLE_CALLCHAIN;
	fd = open_calls(&self->enter, 0, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ring_map(&self->ring, fd, PAGES));
	ASSERT_EQ(0, event_enable(fd));
	call();
	call();
	ASSERT_EQ(0, event_disable(fd));
	for (i = 0; i < 2; i++) {
		raw = ring_next(&self->ring);
		ASSERT_NE(NULL, raw);
		EXPECT_EQ(PERF_RECORD_SAMPLE, raw->type);
		free(raw);
	}
	EXPECT_TRUE(ring_empty(&self->ring));
}

/*
 * Cookies
 */

TEST_F(calls, entries_have_their_own_cookies)
{
	const struct record *rec = self->recs.rec;
	int i, j;

	SAMPLE_CALLS(&self->enter, CALLS);
	rec = self->recs.rec;
	ASSERT_EQ(2 * CALLS, self->recs.nr);
	for (i = 0; i < 2 * CALLS; i += 2) {
		EXPECT_EQ(PERF_RECORD_SAMPLE, rec[i].type);
		EXPECT_EQ(PERF_RECORD_CALLCHAIN_DEFERRED, rec[i + 1].type);
		EXPECT_EQ(rec[i].cookie, rec[i + 1].cookie);
		for (j = 0; j < i; j += 2)
			EXPECT_NE(rec[i].cookie, rec[j].cookie);
	}
}

/*
 * Two events in each entry, into one buffer: the second sample has the cookie of the
 * first. One record serves both; it follows them and precedes the next entry's samples.
 */
TEST_F(calls, samples_of_an_entry_share_the_cookie)
{
	const struct record *rec;
	uint64_t enter_id, exit_id;
	int enter, exit, i;

	self->exit.defer_output = 0;
	enter = open_calls(&self->enter, 0, -1);
	ASSERT_LE(0, enter);
	exit = open_calls(&self->exit, 0, -1);
	ASSERT_LE(0, exit);
	enter_id = event_id(enter);
	exit_id = event_id(exit);
	ASSERT_NE(enter_id, exit_id);
	ASSERT_EQ(0, ring_map(&self->ring, enter, PAGES));
	ASSERT_EQ(0, ioctl(exit, PERF_EVENT_IOC_SET_OUTPUT, enter));
	ASSERT_EQ(0, event_enable(exit));
	ASSERT_EQ(0, event_enable(enter));
	for (i = 0; i < CALLS; i++)
		call();
	ASSERT_EQ(0, event_disable(enter));
	ASSERT_EQ(0, event_disable(exit));

	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	ASSERT_EQ(3 * CALLS, self->recs.nr);
	for (i = 0; i < CALLS; i++) {
		rec = &self->recs.rec[3 * i];
		EXPECT_EQ(PERF_RECORD_SAMPLE, rec[0].type);
		EXPECT_EQ(enter_id, rec[0].id);
		EXPECT_EQ(PERF_RECORD_SAMPLE, rec[1].type);
		EXPECT_EQ(exit_id, rec[1].id);
		EXPECT_EQ(rec[0].cookie, rec[1].cookie);
		EXPECT_EQ(PERF_RECORD_CALLCHAIN_DEFERRED, rec[2].type);
		EXPECT_EQ(rec[0].cookie, rec[2].cookie);
		EXPECT_EQ(enter_id, rec[2].id);
	}
	EXPECT_TRUE(records_match(&self->recs, NULL));
}

/* The same event many times in one entry: page faults of one read() */
TEST(faults_of_an_entry_share_the_cookie)
{
	const size_t page = sysconf(_SC_PAGESIZE), pages = 8;
	const struct record *stack = NULL, *rec;
	struct perf_event_attr attr;
	struct records recs = {};
	unsigned long ip;
	struct ring ring;
	size_t i, seen = 0;
	int fd, zero;
	char *buf;

	zero = open("/dev/zero", O_RDONLY);
	ASSERT_LE(0, zero);
	buf = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, buf);
	madvise(buf, pages * page, MADV_NOHUGEPAGE);

	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	fd = event_open(&attr, 0, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ring_map(&ring, fd, PAGES));
	ASSERT_EQ(0, event_enable(fd));
	ASSERT_EQ(pages * page, syscall3_at(SYS_read, zero, (long)buf,
					    pages * page, &ip));
	ASSERT_EQ(0, event_disable(fd));
	ASSERT_EQ(0, records_read(&recs, &ring));

	/* The program may fault elsewhere, too: look at this call only */
	for (i = 0; i < recs.nr; i++) {
		rec = &recs.rec[i];
		if (rec->type != PERF_RECORD_CALLCHAIN_DEFERRED ||
		    rec->nr < 1 || rec->ips[0] != ip)
			continue;
		EXPECT_EQ(NULL, stack);
		stack = rec;
	}
	ASSERT_NE(NULL, stack);
	for (i = 0; i < recs.nr; i++) {
		rec = &recs.rec[i];
		if (rec->type != PERF_RECORD_SAMPLE ||
		    rec->cookie != stack->cookie)
			continue;
		EXPECT_LT(rec, stack);
		seen++;
	}
	EXPECT_LE(pages, seen);
	EXPECT_TRUE(records_match(&recs, NULL));
}

/*
 * Buffers
 */

/* Like perf does: an event that counts nothing gets all records */
TEST_F(calls, record_goes_to_another_buffer)
{
	struct perf_event_attr attr;
	struct records stacks = {};
	struct ring ring;
	int fd, dummy, i;

	self->enter.defer_output = 0;
	fd = open_calls(&self->enter, 0, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ring_map(&self->ring, fd, PAGES));
	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.defer_callchain = 0;
	dummy = event_open(&attr, 0, -1);
	ASSERT_LE(0, dummy);
	ASSERT_EQ(0, ring_map(&ring, dummy, PAGES));
	ASSERT_EQ(0, event_enable(dummy));
	ASSERT_EQ(0, event_enable(fd));
	for (i = 0; i < CALLS; i++)
		call();
	ASSERT_EQ(0, event_disable(fd));
	ASSERT_EQ(0, event_disable(dummy));

	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	ASSERT_EQ(0, records_read(&stacks, &ring));
	ASSERT_EQ(CALLS, self->recs.nr);
	ASSERT_EQ(CALLS, stacks.nr);
	for (i = 0; i < CALLS; i++) {
		EXPECT_EQ(PERF_RECORD_SAMPLE, self->recs.rec[i].type);
		EXPECT_EQ(PERF_RECORD_CALLCHAIN_DEFERRED, stacks.rec[i].type);
		EXPECT_EQ(self->recs.rec[i].cookie, stacks.rec[i].cookie);
		EXPECT_EQ(event_id(dummy), stacks.rec[i].id);
	}
}

/* An event that gets records but requests none causes none */
TEST_F(calls, output_alone_makes_no_records)
{
	struct perf_event_attr attr;
	struct ring ring;
	int dummy;

	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	dummy = event_open(&attr, 0, -1);
	ASSERT_LE(0, dummy);
	ASSERT_EQ(0, ring_map(&ring, dummy, PAGES));
	ASSERT_EQ(0, event_enable(dummy));

	self->enter.defer_callchain = 0;
	SAMPLE_CALLS(&self->enter, CALLS);
	EXPECT_EQ(CALLS, self->recs.nr);
	EXPECT_EQ(0, records_count(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED));
	EXPECT_TRUE(ring_empty(&ring));
}

/* Each buffer that requested gets its own copy, whatever the limit of its event */
TEST_F(calls, each_buffer_has_its_record)
{
	struct perf_event_attr attr;
	struct records stacks = {};
	struct ring ring;
	int dummy, i;

	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.sample_max_stack = 1;
	dummy = event_open(&attr, 0, -1);
	ASSERT_LE(0, dummy);
	ASSERT_EQ(0, ring_map(&ring, dummy, PAGES));
	ASSERT_EQ(0, event_enable(dummy));
	SAMPLE_CALLS(&self->enter, CALLS);
	ASSERT_EQ(0, records_read(&stacks, &ring));
	ASSERT_EQ(2 * CALLS, self->recs.nr);
	ASSERT_EQ(CALLS, stacks.nr);
	for (i = 0; i < CALLS; i++) {
		const struct record *rec = &self->recs.rec[2 * i + 1];

		EXPECT_EQ(PERF_RECORD_CALLCHAIN_DEFERRED, rec->type);
		EXPECT_EQ(rec->cookie, stacks.rec[i].cookie);
		EXPECT_LT(1, rec->nr);
		ASSERT_EQ(rec->nr, stacks.rec[i].nr);
		EXPECT_EQ(0, memcmp(rec->ips, stacks.rec[i].ips,
				    rec->nr * sizeof(*rec->ips)));
	}
}

/*
 * The trailer
 */

FIXTURE(sample_id)
{
	struct ring ring;
};

FIXTURE_VARIANT(sample_id)
{
	bool		all;
	uint64_t	sample_type;
};

FIXTURE_VARIANT_ADD(sample_id, none) {
	.all = false, .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
};

FIXTURE_VARIANT_ADD(sample_id, empty) {
	.all = true, .sample_type = 0,
};

FIXTURE_VARIANT_ADD(sample_id, tid) {
	.all = true, .sample_type = PERF_SAMPLE_TID,
};

FIXTURE_VARIANT_ADD(sample_id, time) {
	.all = true, .sample_type = PERF_SAMPLE_TIME,
};

FIXTURE_VARIANT_ADD(sample_id, id) {
	.all = true, .sample_type = PERF_SAMPLE_ID,
};

FIXTURE_VARIANT_ADD(sample_id, stream_id) {
	.all = true, .sample_type = PERF_SAMPLE_STREAM_ID,
};

FIXTURE_VARIANT_ADD(sample_id, cpu) {
	.all = true, .sample_type = PERF_SAMPLE_CPU,
};

FIXTURE_VARIANT_ADD(sample_id, identifier) {
	.all = true, .sample_type = PERF_SAMPLE_IDENTIFIER,
};

FIXTURE_VARIANT_ADD(sample_id, everything) {
	.all = true,
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
		       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
		       PERF_SAMPLE_IDENTIFIER,
};

FIXTURE_SETUP(sample_id) {}

FIXTURE_TEARDOWN(sample_id)
{
	ring_unmap(&self->ring);
}

/* A callchain, then a word for each bit that sample_id has, and no more */
TEST_F(sample_id, follows_the_callchain)
{
	const uint64_t type = variant->all ? variant->sample_type : 0;
	struct perf_event_header *raw;
	struct perf_event_attr attr;
	const uint64_t *word;
	uint64_t id, nr, ip;
	int fd;

	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
		SKIP(return, "no raw_syscalls tracepoints, or not root");
	attr.sample_type = variant->sample_type | PERF_SAMPLE_CALLCHAIN;
	attr.sample_id_all = variant->all;
	fd = open_calls(&attr, 0, -1);
	ASSERT_LE(0, fd);
	id = event_id(fd);
	ASSERT_EQ(0, ring_map(&self->ring, fd, PAGES));
	ASSERT_EQ(0, event_enable(fd));
	ip = call();
	ASSERT_EQ(0, event_disable(fd));
	close(fd);

	raw = ring_next(&self->ring);
	ASSERT_NE(NULL, raw);
	ASSERT_EQ(PERF_RECORD_SAMPLE, raw->type);
	free(raw);
	raw = ring_next(&self->ring);
	ASSERT_NE(NULL, raw);
	ASSERT_EQ(PERF_RECORD_CALLCHAIN_DEFERRED, raw->type);
	ASSERT_TRUE(ring_empty(&self->ring));

	word = (const uint64_t *)(raw + 1);
	nr = word[1];
	ASSERT_LE(1, nr);
	ASSERT_EQ(sizeof(*raw) + 8 * (2 + nr + __builtin_popcountll(type)),
		  raw->size);
	EXPECT_EQ(ip, word[2]);
	word += 2 + nr;
	if (type & PERF_SAMPLE_TID) {
		EXPECT_EQ(getpid(), ((const uint32_t *)word)[0]);
		EXPECT_EQ(gettid(), ((const uint32_t *)word)[1]);
		word++;
	}
	if (type & PERF_SAMPLE_TIME)
		EXPECT_NE(0, *word++);
	if (type & PERF_SAMPLE_ID)
		EXPECT_EQ(id, *word++);
	if (type & PERF_SAMPLE_STREAM_ID)
		EXPECT_NE(0, *word++);
	if (type & PERF_SAMPLE_CPU)
		EXPECT_GT(sysconf(_SC_NPROCESSORS_CONF), (long)*word++);
	if (type & PERF_SAMPLE_IDENTIFIER)
		EXPECT_EQ(id, *word++);
}

/*
 * Limits
 */

#define DEEP	1200
/* Frames that mainline's core has room for: one page, or one less with frames of languages */
#define MAINLINE_MAX	510

static unsigned long return_to[DEEP + 1];

/* Call itself @depth times; return_to[i] is the return address of level i */
void descend(unsigned int depth)
{
	return_to[depth] = (unsigned long)__builtin_return_address(0);
	if (depth)
		descend(depth - 1);
	else
		call();
	/* Not a tail call */
	asm volatile("");
}

/* Frames that a deferred stack has room for */
static unsigned int max_stack(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_max_stack", "r");
	unsigned int max = 0;

	if (file && !has_own_core()) {
		fclose(file);
		return MAINLINE_MAX;
	}
	if (file && fscanf(file, "%u", &max) != 1)
		max = 0;
	if (file)
		fclose(file);
	return max;
}

/* Not while callchains are in use */
static int set_max_stack(unsigned int max)
{
	char word[16];

	snprintf(word, sizeof(word), "%u", max);
	return put_word("/proc/sys/kernel", "perf_event_max_stack", word);
}

FIXTURE(max_stack)
{
	unsigned int before;
	struct ring ring;
	struct records recs;
};

FIXTURE_VARIANT(max_stack)
{
	unsigned int	max;
	unsigned int	system;
};

/* Default: the system's limit */
FIXTURE_VARIANT_ADD(max_stack, unset) {
	.max = 0,
};

FIXTURE_VARIANT_ADD(max_stack, one) {
	.max = 1,
};

FIXTURE_VARIANT_ADD(max_stack, five) {
	.max = 5,
};

/* More than there is room for in a page */
FIXTURE_VARIANT_ADD(max_stack, unset_raised_system) {
	.system = 1000,
};

FIXTURE_SETUP(max_stack)
{
	self->before = max_stack();
	if (!variant->system)
		return;
	if (!has_own_core())
		SKIP(return, "the core has room for %d frames", MAINLINE_MAX);
	if (set_max_stack(variant->system))
		SKIP(return, "not root, or callchains are in use");
	ASSERT_EQ(variant->system, max_stack());
}

FIXTURE_TEARDOWN(max_stack)
{
	records_free(&self->recs);
	ring_unmap(&self->ring);
	if (variant->system)
		EXPECT_EQ(0, set_max_stack(self->before));
}

TEST_F(max_stack, of_writer_does_not_limit_record)
{
	unsigned int max = max_stack(), i;
	struct perf_event_attr attr;
	const struct record *stack;
	int fd;

	ASSERT_NE(0, max);
	if (max >= DEEP)
		SKIP(return, "perf_event_max_stack is %u", max);
	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
		SKIP(return, "no raw_syscalls tracepoints, or not root");
	attr.sample_max_stack = variant->max;
	fd = open_calls(&attr, 0, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ring_map(&self->ring, fd, PAGES));
	ASSERT_EQ(0, event_enable(fd));
	descend(DEEP);
	ASSERT_EQ(0, event_disable(fd));
	close(fd);

	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	ASSERT_EQ(2, self->recs.nr);
	stack = &self->recs.rec[1];
	/* Its reader cuts it: the record may serve an event with a higher limit */
	ASSERT_GE(max, stack->nr);
	ASSERT_LE(has_own_core() ? max : max - 1, stack->nr);
	EXPECT_EQ(call(), stack->ips[0]);
	/* Below call() is level 0, which returns to level 1, and so on */
	for (i = 2; i < stack->nr && i < DEEP; i++)
		EXPECT_EQ(return_to[i - 2], stack->ips[i]);
}

/*
 * Interrupts
 */

/* Interrupts for irq_work so far, of all CPUs; -1 if this kernel does not count them */
static long irq_works(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	long total = -1, count;
	char *line = NULL, *at, *end;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		at = strstr(line, "IWI:");
		if (!at)
			continue;
		total = 0;
		for (at += 4; count = strtol(at, &end, 10), end != at; at = end)
			total += count;
	}
	free(line);
	if (file)
		fclose(file);
	return total;
}

#define SWITCHES	500

/*
 * A request in the scheduler, with interrupts off, does not interrupt the CPU: the task
 * takes its stack when it runs again.
 */
TEST_F(calls, samples_of_task_switches_raise_no_interrupt)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct perf_event_attr attr;
	long before;
	int fd, i;

	if (tracepoint_attr(&attr, "sched/sched_switch"))
		SKIP(return, "no sched tracepoints");
	before = irq_works();
	if (before < 0)
		SKIP(return, "irq_work's interrupts are not counted");
	fd = event_open(&attr, 0, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ring_map(&self->ring, fd, PAGES));
	ASSERT_EQ(0, event_enable(fd));
	before = irq_works();
	for (i = 0; i < SWITCHES; i++)
		nanosleep(&nap, NULL);
	before = irq_works() - before;
	ASSERT_EQ(0, event_disable(fd));
	close(fd);
	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	/* A nap may be over before the task sleeps; not so half of them: it is a short path */
	EXPECT_LE(SWITCHES / 2, records_count(&self->recs, PERF_RECORD_SAMPLE));
	EXPECT_LE(SWITCHES / 2, records_count(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED));
	EXPECT_TRUE(records_match(&self->recs, NULL));
	/* Others use it as well */
	EXPECT_GT(SWITCHES / 5, before);
}

/*
 * Other tasks
 */

/* Start a child that waits for a byte, then makes its calls and exits */
static pid_t start_child(int go[2], int calls)
{
	pid_t pid;
	char c;

	if (pipe2(go, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid)
		return pid;
	close(go[1]);
	if (read(go[0], &c, 1) != 1)
		_exit(1);
	while (calls--)
		call();
	_exit(0);
}

/* Release it; return its exit status */
static int finish_child(pid_t pid, int go[2])
{
	int status;

	if (write(go[1], "", 1) != 1 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

TEST_F(calls, another_process_has_its_stacks)
{
	const struct record *rec;
	int go[2], fd, i;
	pid_t pid;

	pid = start_child(go, CALLS);
	ASSERT_LE(0, pid);
	fd = open_calls(&self->enter, pid, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ring_map(&self->ring, fd, PAGES));
	/* Only now: before, the child may have made other calls */
	ASSERT_EQ(0, event_enable(fd));
	/* Not the child's, so not in the buffer */
	call();
	ASSERT_EQ(0, finish_child(pid, go));

	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	ASSERT_EQ(2 * CALLS, self->recs.nr);
	for (i = 0; i < 2 * CALLS; i++) {
		rec = &self->recs.rec[i];
		EXPECT_EQ(pid, rec->pid);
		EXPECT_EQ(pid, rec->tid);
	}
	EXPECT_TRUE(records_match(&self->recs, NULL));
}

/* Children of a task with an inherited event, on all CPUs */
TEST_F(calls, inherited_events_have_their_stacks)
{
	const int children = 4;
	struct ring ring[64] = {};
	size_t i, calls = 0;
	int cpus, cpu, n;

	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ASSERT_GE(64, cpus);
	self->enter.inherit = 1;
	self->enter.disabled = 0;
	for (cpu = 0; cpu < cpus; cpu++) {
		int fd = open_calls(&self->enter, 0, cpu);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, ring_map(&ring[cpu], fd, PAGES));
	}
	for (n = 0; n < children; n++) {
		int go[2];
		pid_t pid = start_child(go, CALLS);

		ASSERT_LE(0, pid);
		ASSERT_EQ(0, finish_child(pid, go));
	}
	for (cpu = 0; cpu < cpus; cpu++)
		ASSERT_EQ(0, records_read(&self->recs, &ring[cpu]));
	for (i = 0; i < self->recs.nr; i++) {
		const struct record *rec = &self->recs.rec[i];

		EXPECT_NE(getpid(), rec->pid);
		calls += rec->type == PERF_RECORD_SAMPLE && rec->cookie;
	}
	EXPECT_EQ(children * CALLS, calls);
	EXPECT_TRUE(records_match(&self->recs, NULL));
	for (cpu = 0; cpu < cpus; cpu++)
		ring_unmap(&ring[cpu]);
}

/*
 * Interrupts
 */

/* The interrupted address is at the top of the stack */
TEST(interrupt_in_user_space_is_topmost_frame)
{
	const size_t want = 20;
	struct perf_event_attr attr;
	struct records recs = {};
	struct ring ring;
	uint64_t last = 0, last_ip = 0;
	size_t i, user = 0, entries = 0;
	int fd;

	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_period = 500000;
	fd = event_open(&attr, 0, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ring_map(&ring, fd, PAGES));
	ASSERT_EQ(0, event_enable(fd));
	while (user < want) {
		while (ring_empty(&ring))
			;
		ASSERT_EQ(0, records_read(&recs, &ring));
		for (i = 0, user = 0; i < recs.nr; i++)
			user += recs.rec[i].type == PERF_RECORD_SAMPLE &&
				recs.rec[i].misc == PERF_RECORD_MISC_USER;
	}
	ASSERT_EQ(0, event_disable(fd));
	ASSERT_EQ(0, records_read(&recs, &ring));

	user = 0;
	for (i = 0; i < recs.nr; i++) {
		const struct record *rec = &recs.rec[i], *stack;

		if (rec->type != PERF_RECORD_SAMPLE ||
		    rec->misc != PERF_RECORD_MISC_USER)
			continue;
		user++;
		/* No kernel part */
		ASSERT_EQ(2, rec->nr);
		EXPECT_EQ(PERF_CONTEXT_USER_DEFERRED, rec->ips[0]);
		stack = records_stack(&recs, rec->cookie);
		ASSERT_NE(NULL, stack);
		/*
		 * The next sample in user space is in another entry, unless the machine
		 * is so slow that the timer fires again in its own interrupt: then
		 * nothing has moved.
		 */
		EXPECT_TRUE(last != rec->cookie || last_ip == rec->ip);
		entries += last != rec->cookie;
		last = rec->cookie;
		last_ip = rec->ip;
		ASSERT_LE(1, stack->nr);
		EXPECT_EQ(rec->ip, stack->ips[0]);
	}
	EXPECT_LE(want, user);
	EXPECT_LE(2, entries);
}

TEST_HARNESS_MAIN
