// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs that ask for user stacks in NMIs.
 *
 * The sample client (samples/unwind/client.c) has a trace event that fires in NMI,
 * wherever that hits. A program on it asks, too, about a process that spins where
 * its stack is known, see spin.h. Each cookie that it was given is to be delivered
 * once; and where the process spun, with that stack.
 */
#include <errno.h>
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
#include "spin.h"
#include "../../kselftest_harness.h"

#define RATE		1000
#define REQUESTS	4000
/* Room for all that is told, so that nothing is lost for lack of it */
#define RING_SIZE	0x2000000

struct cookies {
	uint64_t	cookie[2 * REQUESTS];
	size_t		nr;
};

FIXTURE(nmi)
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

FIXTURE_SETUP(nmi)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "unwind_client_request",
		.flags = BPF_F_USER_STACK | BPF_F_USER_DEFER,
	};

	self->asker = (struct bpf_attached){ -1, -1 };
	if (bpf_ring_open(&self->ring, RING_SIZE) ||
	    bpf_deliver_open(&self->deliver, 0, &self->ring))
		SKIP(return, "no deferred stacks for BPF, or not root");
	/* Not left behind by another test */
	client_unload();
	if (client_load(RATE)) {
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

static void end_child(struct _test_data_nmi *self)
{
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
	self->child = 0;
}

FIXTURE_TEARDOWN(nmi)
{
	end_child(self);
	bpf_attached_close(&self->asker);
	bpf_attached_close(&self->deliver);
	bpf_ring_close(&self->ring);
	client_unload();
}

/* Of those that say where the process spins */
static void judge(struct _test_data_nmi *self, const struct bpf_event *event)
{
	struct stack stack, expected;

	/* It has not begun, or its stack was taken in a system call */
	if (!__atomic_load_n(&self->notes->nr_next, __ATOMIC_ACQUIRE) ||
	    !spin_has(event->ips[0]))
		return;
	bpf_event_stack(event, &stack);
	expect_chain(&expected, self->notes);
	/* Where exactly is for chance to say */
	if (stack.nr > expected.nr &&
	    !memcmp(stack.ip + 1, expected.ip, expected.nr * sizeof(*stack.ip)))
		self->right++;
	else
		self->wrong++;
}

static int told(struct _test_data_nmi *self, const struct bpf_event *event)
{
	struct cookies *cookies = event->kind == BPF_ASKED ? &self->asked :
							     &self->delivered;

	/* On its way to exit, with its memory or without */
	if (event->kind == BPF_ASKED && event->ret < 0)
		return event->ret == -ESRCH || event->ret == -ENOENT ? 0 : -1;
	if (cookies->nr == ARRAY_SIZE(cookies->cookie))
		return -1;
	cookies->cookie[cookies->nr++] = event->cookie;
	if (event->kind == BPF_DELIVERED)
		judge(self, event);
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

TEST_F_TIMEOUT(nmi, each_cookie_is_delivered_once, 600)
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
	/* In an NMI that hits the ring buffer's own lock, the request is not told */
	EXPECT_GE(REQUESTS / 100, missing(&self->delivered, &self->asked));
	EXPECT_EQ(0, self->wrong);
	EXPECT_LE(REQUESTS / 4, self->right);
}

TEST_HARNESS_MAIN
