// SPDX-License-Identifier: GPL-2.0
/*
 * User stacks in place, in NMIs.
 *
 * The sample client (samples/unwind/client.c) has a trace event that fires in
 * NMI, wherever that hits. An event on it that defers nothing takes the user stack
 * there. What is hit is a program whose stack is known, see spin.h; and others
 * whose is not, which map and unmap the text, so that tables come and go.
 *
 * $UNWIND_IN_PLACE_SAMPLES says how many there are to be, $UNWIND_STRESS_RATE how many
 * NMIs per second and CPU: fewer, where a machine is too slow to write them all.
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

#include "client_events.h"
#include "image.h"
#include "in_place_counts.h"
#include "sampled.h"
#include "spin.h"
#include "../../kselftest_harness.h"

#define RATE		4000
#define SAMPLES		4000
#define CHILDREN	2

FIXTURE(nmi)
{
	struct sampler sampler[CHILDREN];
	pid_t child[CHILDREN];
	struct notes *notes;
	unsigned long right;
	unsigned long wrong;
};

/* Tables that come and go, under chains that are called meanwhile */
static void map_and_unmap(struct notes *unused)
{
	struct image image;
	struct elf elf;
	int fd;

	if (elf_read(&elf, "chain_table.so"))
		return;
	fd = elf_memfd(&elf);
	while (fd >= 0 && !image_map(&image, &elf, fd, NULL)) {
		int i;

		for (i = 0; i < 20; i++) {
			struct notes notes = { .nr_next = 1 };

			notes.next[0] = (chain_fn)image.entry;
			notes.next[1] = sampled_call;
			notes.next[0](&notes);
		}
		image_unmap(&image);
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

/* An event in NMI that defers nothing; with the client loaded */
static int open_event(struct sampler *sampler, pid_t pid)
{
	struct perf_event_attr attr;

	if (tracepoint_attr(&attr, "unwind_client/unwind_client_request"))
		return -1;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	return sampler_open_attr(sampler, &attr, pid, "in_nmi == 1");
}

FIXTURE_SETUP(nmi)
{
	const char *setting = getenv("UNWIND_STRESS_RATE");
	int rate = setting ? atoi(setting) : 0;
	long counts[NR_COUNTS];
	int i;

	for (i = 0; i < CHILDREN; i++)
		self->sampler[i].fd = -1;
	read_counts(counts);
	if (counts[TAKEN] < 0 || write_text(IN_PLACE_SYSCTL, "1"))
		SKIP(return, "no stacks in place, or not root");
	/* Not left behind by another test */
	client_unload();
	if (client_load(rate > 0 ? rate : RATE)) {
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

FIXTURE_TEARDOWN(nmi)
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

static void judge(struct _test_data_nmi *self, const struct record *rec)
{
	struct stack stack = {}, expected;

	/* In the kernel on behalf of nobody, or on the way to the program */
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

/* Samples of one child, which are judged if it is the one that spins; or -1 */
static long drain(struct _test_data_nmi *self, int i)
{
	struct records recs = {};
	long nr = -1;
	size_t j;

	if (!records_read(&recs, &self->sampler[i].ring)) {
		nr = recs.nr;
		for (j = 0; !i && j < recs.nr; j++)
			if (recs.rec[j].type == PERF_RECORD_SAMPLE)
				judge(self, &recs.rec[j]);
	}
	records_free(&recs);
	return nr;
}

TEST_F_TIMEOUT(nmi, stacks_are_right_or_not_taken, 3600)
{
	const char *samples = getenv("UNWIND_IN_PLACE_SAMPLES");
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
	while (all < want) {
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
	TH_LOG("%ld samples: %ld taken, %ld without tables, %ld not sure; %lu right, %lu not",
	       all, after[TAKEN], after[NO_TABLE], after[UNSURE], self->right,
	       self->wrong);
	/* Frame pointers lead past the chain, so what was not taken is not right */
	EXPECT_LE(self->wrong, after[UNSURE]);
	EXPECT_GT(self->right / 20, self->wrong);
	EXPECT_LE(want / 4, self->right);
}

TEST_HARNESS_MAIN
