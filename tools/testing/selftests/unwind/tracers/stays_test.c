// SPDX-License-Identifier: GPL-2.0
/*
 * A thread stays in one system call, in which its work is run many times, as in KVM_RUN: here it
 * waits for io_uring.  Each sample's stack is delivered after the sample, or right before it,
 * although the thread has not returned to user space.  So a trace that has lost the first ones has
 * the others.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "perf.h"
#include "../../kselftest_harness.h"

#define PAGES	64
#define WAKES	5
#define ENTRIES	8

/* A tick or more: the lowest rate is 100 Hz */
#define TICK_NS		20000000

/* The thread sleeps until an event; not as it does when it is preempted, or waits for a page */
#define SLEEPS	"prev_state == 1"

struct uring {
	struct io_uring_params	params;
	int			fd;
	char			*rings;
	struct io_uring_sqe	*sqes;
};

/* For the thread that wakes the other one */
struct wakes {
	int	event;
	int	pipes[WAKES][2];
};

FIXTURE(stays)
{
	struct uring uring;
	struct ring ring;
	struct records recs;
	struct wakes wakes;
	pthread_t waker;
};

/* 0, or -1 without io_uring */
static int uring_open(struct uring *uring)
{
	struct io_uring_params *params = &uring->params;

	uring->fd = syscall(SYS_io_uring_setup, ENTRIES, params);
	if (uring->fd < 0 || !(params->features & IORING_FEAT_SINGLE_MMAP))
		return -1;
	uring->rings = mmap(NULL, params->cq_off.cqes +
			    params->cq_entries * sizeof(struct io_uring_cqe),
			    PROT_READ | PROT_WRITE, MAP_SHARED, uring->fd, IORING_OFF_SQ_RING);
	uring->sqes = mmap(NULL, ENTRIES * sizeof(*uring->sqes), PROT_READ | PROT_WRITE,
			   MAP_SHARED, uring->fd, IORING_OFF_SQES);
	return uring->rings == MAP_FAILED || uring->sqes == MAP_FAILED ? -1 : 0;
}

/* Wait until each of the @nr files can be read */
static long uring_wait(struct uring *uring, int (*pipes)[2], unsigned int nr)
{
	unsigned int *array = (unsigned int *)(uring->rings + uring->params.sq_off.array);
	unsigned int *tail = (unsigned int *)(uring->rings + uring->params.sq_off.tail);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		uring->sqes[i] = (struct io_uring_sqe){
			.opcode = IORING_OP_POLL_ADD,
			.fd = pipes[i][0],
			.poll32_events = POLLIN,
		};
		array[i] = i;
	}
	__atomic_store_n(tail, nr, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, uring->fd, nr, nr, IORING_ENTER_GETEVENTS, NULL, 0);
}

/* Once it sleeps, wake the thread that waits, and again, each time some ticks later */
static void *wake(void *data)
{
	const struct timespec ticks = { .tv_nsec = 2 * TICK_NS };
	struct wakes *wakes = data;
	uint64_t sleeps;
	unsigned int i;

	for (i = 0; i < WAKES; i++) {
		do {
			if (read(wakes->event, &sleeps, sizeof(sleeps)) != sizeof(sleeps))
				return NULL;
		} while (sleeps <= i);
		nanosleep(&ticks, NULL);
		if (write(wakes->pipes[i][1], "", 1) != 1)
			return NULL;
	}
	return NULL;
}

FIXTURE_SETUP(stays)
{
	struct perf_event_attr attr;
	unsigned int i;

	if (tracepoint_attr(&attr, "sched/sched_switch"))
		SKIP(return, "no sched_switch tracepoint, or not root");
	if (uring_open(&self->uring))
		SKIP(return, "no io_uring: errno %d", errno);
	self->wakes.event = event_open(&attr, 0, -1);
	ASSERT_GE(self->wakes.event, 0);
	ASSERT_EQ(0, ioctl(self->wakes.event, PERF_EVENT_IOC_SET_FILTER, SLEEPS));
	ASSERT_EQ(0, ring_map(&self->ring, self->wakes.event, PAGES));
	for (i = 0; i < WAKES; i++)
		ASSERT_EQ(0, pipe(self->wakes.pipes[i]));
}

FIXTURE_TEARDOWN(stays)
{
	records_free(&self->recs);
	ring_unmap(&self->ring);
}

/*
 * Is there a stack with the sample's cookie after the sample?  A sample right after a delivery
 * has the same cookie, and the series for 6.12 does not deliver it again for that.
 */
static bool has_stack(const struct records *recs, size_t i)
{
	const struct record *sample = &recs->rec[i], *rec;

	for (rec = recs->rec; rec < recs->rec + recs->nr; rec++)
		if (rec->type == PERF_RECORD_CALLCHAIN_DEFERRED && rec->cookie == sample->cookie &&
		    (rec > sample || rec->time + TICK_NS > sample->time))
			return true;
	return false;
}

TEST_F(stays, each_sample_has_a_stack)
{
	unsigned int samples = 0;
	size_t i;

	ASSERT_EQ(0, pthread_create(&self->waker, NULL, wake, &self->wakes));
	ASSERT_EQ(0, event_enable(self->wakes.event));
	ASSERT_EQ(WAKES, uring_wait(&self->uring, self->wakes.pipes, WAKES));
	ASSERT_EQ(0, event_disable(self->wakes.event));
	ASSERT_EQ(0, pthread_join(self->waker, NULL));
	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	for (i = 0; i < self->recs.nr; i++) {
		if (self->recs.rec[i].type != PERF_RECORD_SAMPLE)
			continue;
		samples++;
		EXPECT_NE(0, self->recs.rec[i].cookie);
		EXPECT_TRUE(has_stack(&self->recs, i))
			TH_LOG("sample %u has none", samples);
	}
	EXPECT_GE(samples, WAKES);
}

TEST_HARNESS_MAIN
