// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred user stacks for BPF programs: BPF_F_USER_DEFER.
 *
 * A program that may be anywhere asks, and tells the cookie that it was given.
 * Another one gets the stacks, as struct bpf_unwind_ops. Each cookie that was given
 * away is to be delivered once, with the stack that the task had, and nothing else
 * is. (See bpf_pending.c for stack maps, and for tasks that sleep meanwhile.)
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_session.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define CALLS		100

#ifdef __x86_64__
#define SYSCALL(name)	"__x64_sys_" name
#else
#define SYSCALL(name)	"__arm64_sys_" name
#endif

/*
 * What is asked about
 */

ASM_LABEL(touches_at);

/* A page fault, at a label */
static void touch(char *page)
{
	whole_note_ra();
	whole_note((unsigned long)touches_at);
#ifdef __x86_64__
	asm volatile("touches_at: movb $1, (%0)" : : "r"(page) : "memory");
#else
	asm volatile("touches_at: strb wzr, [%0]" : : "r"(page) : "memory");
#endif
}

static void outer_touch(void *page)
{
	char locals[48];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	touch(page);
	asm volatile("" : : "r"(locals) : "memory");
}

/* What the bpf system call runs programs at, which may be sleepable */
static union bpf_attr run_attr;

static void run(void)
{
	unsigned long ip;

	whole_note_ra();
	syscall3_at(SYS_bpf, BPF_PROG_TEST_RUN, (long)&run_attr,
		    sizeof(run_attr), &ip);
	whole_note(ip);
}

static void outer_run(void *arg)
{
	char locals[64];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	run();
	asm volatile("" : : "r"(locals) : "memory");
}

/*
 * From each type of program
 */

FIXTURE(asks)
{
	struct session session;
	struct perf_event_attr faults;
	char *pages;
};

FIXTURE_VARIANT(asks)
{
	struct bpf_asker asker;
	void (*fn)(void *arg);
};

FIXTURE_VARIANT_ADD(asks, kprobe) {
	.asker = { .at = BPF_AT_KPROBE, .where = SYSCALL("getppid") },
	.fn = call_getppid,
};

FIXTURE_VARIANT_ADD(asks, tracepoint) {
	.asker = { .at = BPF_AT_TRACEPOINT, .where = "raw_syscalls/sys_enter",
		   .syscall = SYS_getppid },
	.fn = call_getppid,
};

FIXTURE_VARIANT_ADD(asks, raw_tp) {
	.asker = { .at = BPF_AT_RAW_TP, .where = "sys_enter",
		   .syscall = SYS_getppid },
	.fn = call_getppid,
};

/* Nobody sees when it is loaded that it will ask */
FIXTURE_VARIANT_ADD(asks, flags_not_known) {
	.asker = { .at = BPF_AT_RAW_TP, .where = "sys_enter",
		   .syscall = SYS_getppid, .hide_flags = true },
	.fn = call_getppid,
};

FIXTURE_VARIANT_ADD(asks, fentry) {
	.asker = { .at = BPF_AT_FENTRY, .where = "bpf_fentry_test1" },
	.fn = outer_run,
};

FIXTURE_VARIANT_ADD(asks, fentry_sleepable) {
	.asker = { .at = BPF_AT_FENTRY_SLEEPABLE, .where = "bpf_fentry_test1" },
	.fn = outer_run,
};

FIXTURE_VARIANT_ADD(asks, perf_event) {
	.asker = { .at = BPF_AT_PERF_EVENT },
	.fn = outer_touch,
};

FIXTURE_SETUP(asks)
{
	const size_t bytes = CALLS * getpagesize();
	struct bpf_asker asker = variant->asker;

	if (session_open(&self->session)) {
		ASSERT_EQ(true, errno == ENOENT || errno == EPERM);
		SKIP(return, "no deferred stacks for BPF, or not root");
	}
	self->pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	madvise(self->pages, bytes, MADV_NOHUGEPAGE);

	self->faults = (struct perf_event_attr){
		.size = sizeof(self->faults),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	if (asker.at == BPF_AT_PERF_EVENT) {
		asker.event = &self->faults;
		asker.about = self->pages;
		asker.about_bytes = bytes;
	}
	asker.tgid = getpid();
	asker.flags = DEFER;
	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker,
				    &self->session.ring));
	memset(&run_attr, 0, sizeof(run_attr));
	run_attr.test.prog_fd = self->session.asker.prog;
}

FIXTURE_TEARDOWN(asks)
{
	session_close(&self->session);
}

/* Requests and stacks that are not of the test's own call */
static void forget(struct session *session)
{
	struct bpf_event event;

	while (bpf_ring_next(&session->ring, &event, false))
		continue;
}

TEST_F(asks, and_each_cookie_is_delivered_once)
{
	uint64_t cookie, last = 0;
	int i;

	for (i = 0; i < CALLS; i++) {
		forget(&self->session);
		whole_run(variant->fn, self->pages + i * getpagesize(), NULL);
		cookie = asked_once(&self->session);
		ASSERT_NE(0, cookie);
		EXPECT_NE(last, cookie);
		last = cookie;
	}
}

/*
 * Programs that may sleep need not defer anything, and need not be twice there. Tables
 * have to be known: the first stack asks for that.
 */
TEST(sleepable_fentry_has_the_stack_at_once)
{
	struct bpf_asker asker = {
		.at = BPF_AT_FENTRY_SLEEPABLE,
		.where = "bpf_fentry_test1",
		.tgid = getpid(),
		.flags = BPF_F_USER_STACK,
		.take = true,
	};
	struct bpf_attached attached;
	struct bpf_event event = {};
	struct bpf_ring ring;

	if (bpf_ring_open(&ring, RING_SIZE) ||
	    bpf_asker_open(&attached, &asker, &ring))
		SKIP(return, "no BPF, or not root");
	memset(&run_attr, 0, sizeof(run_attr));
	run_attr.test.prog_fd = attached.prog;
	whole_run(outer_run, NULL, NULL);
	ASSERT_TRUE(bpf_ring_next(&ring, &event, false));
	whole_run(outer_run, NULL, NULL);
	ASSERT_TRUE(bpf_ring_next(&ring, &event, false));
	EXPECT_EQ(BPF_TAKEN, event.kind);
	EXPECT_TRUE(is_noted(&event));
	bpf_attached_close(&attached);
	bpf_ring_close(&ring);
}

/*
 * What is refused
 */

FIXTURE(refused)
{
	struct session session;
	int map;
};

FIXTURE_SETUP(refused)
{
	self->map = bpf_map_make(BPF_MAP_TYPE_STACK_TRACE, sizeof(uint32_t),
				 SAMPLED_MAX * sizeof(uint64_t), 64, 0);
	if (session_open(&self->session) || self->map < 0)
		SKIP(return, "no deferred stacks for BPF, or not root");
}

FIXTURE_TEARDOWN(refused)
{
	session_close(&self->session);
	close(self->map);
}

/* What a program is told that asks at a system call of this process, or 1 */
static long answer(struct session *session, int map, uint64_t flags)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter",
		.tgid = getpid(), .syscall = SYS_getppid,
		.flags = flags, .map = map,
	};
	struct bpf_event event;
	long ret = 1;

	if (!bpf_asker_open(&session->asker, &asker, &session->ring)) {
		syscall(SYS_getppid);
		if (bpf_ring_next(&session->ring, &event, false))
			ret = event.ret;
	}
	bpf_attached_close(&session->asker);
	return ret;
}

TEST_F(refused, other_flags)
{
	static const uint64_t both[] = {
		BPF_F_USER_DEFER,
		DEFER | 1,
		DEFER | BPF_F_SKIP_FIELD_MASK,
		DEFER | BPF_F_USER_BUILD_ID,
		DEFER | BPF_F_FAST_STACK_CMP,
		DEFER | BPF_F_USER_DEFER << 1,
	};
	struct bpf_event event;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(both); i++) {
		EXPECT_EQ(-EINVAL, answer(&self->session, 0, both[i]));
		EXPECT_EQ(-EINVAL, answer(&self->session, self->map, both[i]));
	}
	EXPECT_EQ(-EINVAL, answer(&self->session, 0, DEFER | BPF_F_REUSE_STACKID));
	EXPECT_FALSE(bpf_ring_next(&self->session.ring, &event, false));
	/* And what is not */
	EXPECT_EQ(sizeof(uint64_t), answer(&self->session, 0, DEFER));
	ASSERT_TRUE(bpf_ring_next(&self->session.ring, &event, false));
	EXPECT_EQ(BPF_DELIVERED, event.kind);
}

/* The idle task */
TEST_F(refused, tasks_without_a_user_stack)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sched_switch", .flags = DEFER,
	};
	struct bpf_event event = {};
	int i;

	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker,
				    &self->session.ring));
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(bpf_ring_next(&self->session.ring, &event, true));
		EXPECT_EQ(BPF_ASKED, event.kind);
		EXPECT_EQ(-ENOENT, event.ret);
		EXPECT_EQ(0, event.cookie);
	}
}

/* Beside perf, each has what it asked for */
#define A	SYS_getppid
#define B	SYS_getuid
#define C	SYS_getgid

FIXTURE(two)
{
	struct session session;
	struct bpf_attached more;
	struct sampler sampler;
};

FIXTURE_SETUP(two)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter", .tgid = getpid(),
		.flags = DEFER,
	};
	char filter[64];

	self->sampler.fd = -1;
	self->more = (struct bpf_attached){ -1, -1 };
	if (session_open(&self->session))
		SKIP(return, "no deferred stacks for BPF, or not root");
	asker.syscall = B;
	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker,
				    &self->session.ring));
	asker.syscall = C;
	ASSERT_EQ(0, bpf_asker_open(&self->more, &asker, &self->session.ring));
	snprintf(filter, sizeof(filter), "id == %d || id == %d", A, C);
	ASSERT_EQ(0, sampler_open_tracepoint(&self->sampler, 0,
					     "raw_syscalls/sys_enter", filter));
}

FIXTURE_TEARDOWN(two)
{
	sampler_close(&self->sampler);
	bpf_attached_close(&self->more);
	session_close(&self->session);
}

/* Is it the stack of perf's with this cookie, to the last address? */
static bool perf_has(const struct records *recs, const struct bpf_event *event)
{
	const struct record *rec = records_stack(recs, event->cookie);
	int64_t size;

	if (!rec)
		return false;
	/* Without the marker */
	size = (rec->nr - 1) * sizeof(*rec->ips);
	return rec->nr && size == event->ret &&
	       !memcmp(rec->ips + 1, event->ips, size);
}

TEST_F(two, have_what_they_asked_for)
{
	static const long calls[] = { A, B, C, C, B, A, A, C };
	uint64_t asked[2 * ARRAY_SIZE(calls)];
	int i, j, of_both, nr_asked = 0, nr_delivered = 0;
	struct records recs = {};
	struct bpf_event event;

	for (i = 0; i < CALLS; i++) {
		of_both = 0;
		nr_asked = 0;
		nr_delivered = 0;
		for (j = 0; j < ARRAY_SIZE(calls); j++)
			syscall(calls[j]);
		ASSERT_EQ(0, records_read(&recs, &self->sampler.ring));
		EXPECT_EQ(6, records_count(&recs, PERF_RECORD_SAMPLE));
		EXPECT_EQ(6, records_count(&recs, PERF_RECORD_CALLCHAIN_DEFERRED));
		EXPECT_TRUE(records_match(&recs, NULL));
		while (bpf_ring_next(&self->session.ring, &event, false)) {
			if (event.kind == BPF_ASKED) {
				ASSERT_GT(ARRAY_SIZE(asked), nr_asked);
				asked[nr_asked++] = event.cookie;
				continue;
			}
			/* In the order of their entries */
			ASSERT_LT(nr_delivered, nr_asked);
			EXPECT_EQ(asked[nr_delivered], event.cookie);
			nr_delivered++;
			of_both += perf_has(&recs, &event);
		}
		EXPECT_EQ(5, nr_asked);
		EXPECT_EQ(5, nr_delivered);
		EXPECT_EQ(3, of_both);
		records_free(&recs);
	}
}

TEST_HARNESS_MAIN
