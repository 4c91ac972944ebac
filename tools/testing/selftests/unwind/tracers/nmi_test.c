// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks that BPF programs request, and that events take, in NMI.
 *
 * The sample client (samples/unwind/client.c) has a trace event that fires in NMI,
 * anywhere. The stack is known where the NMI hits a process that spins (spin.h).
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf.h"
#include "client_events.h"
#include "image.h"
#include "immediate_counts.h"
#include "sampled.h"
#include "spin.h"
#include "../../kselftest_harness.h"

/*
 * BPF programs that request stacks in NMI: the kernel delivers each cookie once; where
 * the process spins, with the known stack.
 */

#define BPF_RATE		1000
#define REQUESTS	4000
/* Room for all events, so that none is lost */
#define RING_SIZE	0x2000000

struct cookies {
	uint64_t	cookie[2 * REQUESTS];
	size_t		nr;
};

FIXTURE(bpf_in_nmi)
{
	struct bpf_ring ring;
	struct bpf_attached asker;
	struct bpf_attached deliver;
	struct notes *notes;
	pid_t child;
	struct cookies asked;
	struct cookies delivered;
	unsigned long right;
	unsigned long wrong;
};

FIXTURE_SETUP(bpf_in_nmi)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "unwind_client_request",
		.flags = BPF_F_USER_STACK | BPF_F_USER_DEFER,
	};

	self->asker = (struct bpf_attached){ -1, -1 };
	if (bpf_ring_open(&self->ring, RING_SIZE) ||
	    bpf_deliver_open(&self->deliver, 0, &self->ring))
		SKIP(return, "no deferred stacks for BPF, or not root");
	/* Another test may have left it loaded */
	client_unload();
	if (client_load(BPF_RATE)) {
		ASSERT_TRUE(errno == ENOENT || errno == EPERM);
		SKIP(return, "no unwind_client.ko (UNWIND_MODULES=?), or not root");
	}
	self->notes = mmap(NULL, sizeof(*self->notes), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->notes);
	self->child = fork();
	if (!self->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		spin_in_chain(self->notes);
		_exit(1);
	}
	ASSERT_LT(0, self->child);
	asker.tgid = self->child;
	ASSERT_EQ(0, bpf_asker_open(&self->asker, &asker, &self->ring));
}

static void end_child(struct _test_data_bpf_in_nmi *self)
{
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
	self->child = 0;
}

FIXTURE_TEARDOWN(bpf_in_nmi)
{
	end_child(self);
	bpf_attached_close(&self->asker);
	bpf_attached_close(&self->deliver);
	bpf_ring_close(&self->ring);
	client_unload();
}

/* Judge the stacks that come from where the process spins */
static void judge_bpf(struct _test_data_bpf_in_nmi *self, const struct bpf_event *event)
{
	struct stack stack, expected;

	/* It has not begun, or its stack was taken in a system call */
	if (!__atomic_load_n(&self->notes->nr_next, __ATOMIC_ACQUIRE) ||
	    !spin_has(event->ips[0]))
		return;
	bpf_event_stack(event, &stack);
	expect_chain(&expected, self->notes);
	/* The exact address is random */
	if (stack.nr > expected.nr &&
	    !memcmp(stack.ip + 1, expected.ip, expected.nr * sizeof(*stack.ip)))
		self->right++;
	else
		self->wrong++;
}

static int told(struct _test_data_bpf_in_nmi *self, const struct bpf_event *event)
{
	struct cookies *cookies = event->kind == BPF_ASKED ? &self->asked :
							     &self->delivered;

	/* A task that is exiting is refused, with its memory or without */
	if (event->kind == BPF_ASKED && event->ret < 0)
		return event->ret == -ESRCH || event->ret == -ENOENT ? 0 : -1;
	if (cookies->nr == ARRAY_SIZE(cookies->cookie))
		return -1;
	cookies->cookie[cookies->nr++] = event->cookie;
	if (event->kind == BPF_DELIVERED)
		judge_bpf(self, event);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort(struct cookies *cookies)
{
	qsort(cookies->cookie, cookies->nr, sizeof(*cookies->cookie), by_value);
}

/* How many of @a are not in @b; both are sorted */
static size_t missing(const struct cookies *a, const struct cookies *b)
{
	size_t i, nr = 0;

	for (i = 0; i < a->nr; i++)
		nr += !bsearch(&a->cookie[i], b->cookie, b->nr,
			       sizeof(*b->cookie), by_value);
	return nr;
}

static size_t twice(const struct cookies *cookies)
{
	size_t i, nr = 0;

	for (i = 1; i < cookies->nr; i++)
		nr += cookies->cookie[i] == cookies->cookie[i - 1];
	return nr;
}

TEST_F_TIMEOUT(bpf_in_nmi, each_cookie_is_delivered_once, 600)
{
	struct bpf_event event;

	while (self->asked.nr < REQUESTS) {
		ASSERT_TRUE(bpf_ring_next(&self->ring, &event, true));
		ASSERT_EQ(0, told(self, &event));
	}
	end_child(self);
	while (bpf_ring_next(&self->ring, &event, false))
		ASSERT_EQ(0, told(self, &event));

	sort(&self->asked);
	sort(&self->delivered);
	TH_LOG("%zu requests, %zu not the first of their entry; %zu stacks, %lu of the loop",
	       self->asked.nr, twice(&self->asked), self->delivered.nr,
	       self->right);
	EXPECT_EQ(0, missing(&self->asked, &self->delivered));
	EXPECT_EQ(0, twice(&self->delivered));
	/*
	 * An NMI that hits the ring buffer's own lock cannot report its request.  The process
	 * itself holds it, for far less than a tenth of what it executes for each stack.
	 */
	EXPECT_GE(REQUESTS / 10, missing(&self->delivered, &self->asked));
	EXPECT_EQ(0, self->wrong);
	/* NMIs count while the process runs, which is nearly always in its loop */
	EXPECT_LE(REQUESTS / 4, self->right);
}

/*
 * Immediate stacks in NMI: of the process that spins, and of one that maps and unmaps text,
 * each time of another file, so that mappings and tables come and go.
 *
 * $UNWIND_IMMEDIATE_SAMPLES is the number of samples, $UNWIND_STRESS_RATE the number of
 * NMIs per second and CPU: fewer where a machine is too slow to write them all.
 */

#define IMMEDIATE_RATE		4000
#define SAMPLES		4000
#define CHILDREN	2

FIXTURE(immediate_in_nmi)
{
	struct sampler sampler[CHILDREN];
	pid_t child[CHILDREN];
	struct notes *notes;
	unsigned long right;
	unsigned long wrong;
};

/* Map a new file each time, and call its chain meanwhile */
static void map_and_unmap(struct notes *unused)
{
	struct image image;
	struct elf elf;
	int i, fd;

	if (elf_read(&elf, "chain_table.so"))
		return;
	for (;;) {
		fd = elf_memfd(&elf);
		if (fd < 0 || image_map(&image, &elf, fd, NULL))
			return;
		for (i = 0; i < 20; i++) {
			struct notes notes = { .nr_next = 1 };

			notes.next[0] = (chain_fn)image.entry;
			notes.next[1] = sampled_call;
			notes.next[0](&notes);
		}
		image_unmap(&image);
		close(fd);
	}
}

static pid_t start_child(void (*part)(struct notes *notes), struct notes *notes)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		part(notes);
		_exit(1);
	}
	return pid;
}

/* An event in NMI that defers nothing; the client is loaded */
static int open_event(struct sampler *sampler, pid_t pid)
{
	struct perf_event_attr attr;

	if (tracepoint_attr(&attr, "unwind_client/unwind_client_request"))
		return -1;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	return sampler_open_attr(sampler, &attr, pid, "in_nmi == 1");
}

FIXTURE_SETUP(immediate_in_nmi)
{
	const char *setting = getenv("UNWIND_STRESS_RATE");
	int rate = setting ? atoi(setting) : 0;
	long counts[NR_COUNTS];
	int i;

	for (i = 0; i < CHILDREN; i++)
		self->sampler[i].fd = -1;
	read_counts(counts);
	if (counts[TAKEN] < 0 || write_text(IMMEDIATE_SYSCTL, "1"))
		SKIP(return, "no immediate stacks, or not root");
	/* Another test may have left it loaded */
	client_unload();
	if (client_load(rate > 0 ? rate : IMMEDIATE_RATE)) {
		ASSERT_TRUE(errno == ENOENT || errno == EPERM);
		SKIP(return, "no unwind_client.ko (UNWIND_MODULES=?), or not root");
	}
	self->notes = mmap(NULL, sizeof(*self->notes), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->notes);
	self->child[0] = start_child(spin_in_chain, self->notes);
	ASSERT_LT(0, self->child[0]);
	self->child[1] = start_child(map_and_unmap, NULL);
	ASSERT_LT(0, self->child[1]);
}

FIXTURE_TEARDOWN(immediate_in_nmi)
{
	int i;

	for (i = 0; i < CHILDREN; i++) {
		sampler_close(&self->sampler[i]);
		if (self->child[i] > 0) {
			kill(self->child[i], SIGKILL);
			waitpid(self->child[i], NULL, 0);
		}
	}
	client_unload();
}

static void judge_immediate(struct _test_data_immediate_in_nmi *self, const struct record *rec)
{
	struct stack stack = {}, expected;

	/* In the kernel without a user, or on the way to the program */
	if (!__atomic_load_n(&self->notes->nr_next, __ATOMIC_ACQUIRE) ||
	    rec->nr < 2 || rec->ips[0] != PERF_CONTEXT_USER ||
	    !spin_has(rec->ips[1]))
		return;
	expect_chain(&expected, self->notes);
	while (stack.nr + 2 < rec->nr && stack.nr < expected.nr) {
		stack.ip[stack.nr] = rec->ips[stack.nr + 2];
		stack.nr++;
	}
	if (stack.nr == expected.nr &&
	    !memcmp(stack.ip, expected.ip, stack.nr * sizeof(*stack.ip)))
		self->right++;
	else
		self->wrong++;
}

/* Read a child's samples, and judge them if it is the one that spins; number, or -1 */
static long drain(struct _test_data_immediate_in_nmi *self, int i)
{
	struct records recs = {};
	long nr = -1;
	size_t j;

	if (!records_read(&recs, &self->sampler[i].ring)) {
		nr = recs.nr;
		for (j = 0; !i && j < recs.nr; j++)
			if (recs.rec[j].type == PERF_RECORD_SAMPLE)
				judge_immediate(self, &recs.rec[j]);
	}
	records_free(&recs);
	return nr;
}

TEST_F_TIMEOUT(immediate_in_nmi, stacks_are_right_or_not_taken, 3600)
{
	const char *samples = getenv("UNWIND_IMMEDIATE_SAMPLES");
	long want = samples ? atol(samples) : SAMPLES, all = 0;
	long before[NR_COUNTS], after[NR_COUNTS];
	struct pollfd polled[CHILDREN];
	int i;

	read_counts(before);
	for (i = 0; i < CHILDREN; i++) {
		ASSERT_EQ(0, open_event(&self->sampler[i], self->child[i]));
		polled[i] = (struct pollfd){
			.fd = self->sampler[i].fd, .events = POLLIN,
		};
	}
	/* The CPU of the one that spins may not run for a while, and the other's does */
	while (all < want || (self->right < want / 4 && all < 100 * want)) {
		ASSERT_LT(0, poll(polled, CHILDREN, 60000));
		for (i = 0; i < CHILDREN; i++) {
			long nr = drain(self, i);

			ASSERT_LE(0, nr);
			all += nr;
		}
	}
	read_counts(after);
	for (i = 0; i < NR_COUNTS; i++)
		after[i] -= before[i];
	TH_LOG("%ld samples: %ld taken, %ld without tables, %ld missing, %ld changing",
	       all, after[TAKEN], after[NO_TABLE], after[MISSING], after[CHANGING]);
	TH_LOG("where it spins: %lu right, %lu not", self->right, self->wrong);
	/* Frame pointers skip the chain, so a stack that was not taken by tables is not right */
	EXPECT_LE(self->wrong, after[MISSING] + after[CHANGING]);
	/* Its own table is loaded on its next return to user space, and then stays */
	EXPECT_GT(self->right / 20, self->wrong);
	EXPECT_LE(want / 4, self->right);
}

TEST_HARNESS_MAIN
