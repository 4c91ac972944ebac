// SPDX-License-Identifier: GPL-2.0
/*
 * Thousands of samples under load: each cookie has exactly one stack.
 *
 * Threads that mix user code, system calls and page faults migrate between the CPUs. Each
 * CPU has a clock that interrupts them anywhere, and software events that fire in the
 * middle of a system call. The clock is a timer, or a counter of the CPU, whose
 * interrupts may be NMIs. All events of a CPU write to one buffer. When the threads have
 * exited, all their stacks must be there: one for each cookie, after its samples, from
 * the same task.
 *
 * UNWIND_PERF_SAMPLES (2000) is the required number of samples of the clock.  With STRICT=1
 * few samples may follow their stack, which a busy machine can miss.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf.h"
#include "../../kselftest_harness.h"

#define MAX_CPUS	64
#define THREADS		4
/* More than this test writes while it is kept from reading for seconds */
#define PAGES		2048
#define SAMPLES		2000

/* A period shorter than a slow machine's sample would never let the program run */
#define CLOCK_PERIOD	1000000

static atomic_bool *stop;

static unsigned long user_work(unsigned long x)
{
	int i;

	for (i = 0; i < 20000; i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	return x;
}

static void fault_work(void)
{
	const size_t len = 4 * sysconf(_SC_PAGESIZE);
	char *buf = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/dev/zero", O_RDONLY);

	/* Faults in the kernel, then one from user space */
	if (read(fd, buf, len / 2) > 0)
		buf[len - 1] = 1;
	close(fd);
	munmap(buf, len);
}

static void migrate(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *worker(void *arg)
{
	const int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long x = (unsigned long)arg, round;

	for (round = x; !atomic_load(stop); round++) {
		x = user_work(x);
		fault_work();
		migrate(round % cpus);
		sched_yield();
	}
	return (void *)x;
}

/* A child that waits for a byte before it starts its threads */
static pid_t start_load(int go[2])
{
	pthread_t thread[THREADS];
	unsigned long i;
	pid_t pid;
	char c;

	if (pipe(go))
		return -1;
	pid = fork();
	if (pid)
		return pid;
	close(go[1]);
	if (read(go[0], &c, 1) != 1)
		_exit(1);
	for (i = 1; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, worker, (void *)i))
			_exit(1);
	worker(NULL);
	for (i = 1; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}

FIXTURE(load)
{
	struct ring ring[MAX_CPUS];
	uint64_t clock[MAX_CPUS];
	struct records recs;
	int cpus;
	int go[2];
	pid_t pid;
};

FIXTURE_VARIANT(load)
{
	uint32_t type;
	uint64_t config;
};

FIXTURE_VARIANT_ADD(load, timer) {
	.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
};

FIXTURE_VARIANT_ADD(load, cycles) {
	.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
};

FIXTURE_SETUP(load)
{
	struct perf_event_attr attr;
	int fd;

	event_attr(&attr, variant->type, variant->config);
	fd = event_open(&attr, 0, -1);
	if (fd < 0)
		SKIP(return, "no such counter");
	close(fd);
	self->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ASSERT_GE(MAX_CPUS, self->cpus);
	stop = mmap(NULL, sizeof(*stop), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, stop);
	self->pid = start_load(self->go);
	ASSERT_LE(0, self->pid);
}

FIXTURE_TEARDOWN(load)
{
	int cpu;

	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
	for (cpu = 0; cpu < self->cpus; cpu++)
		ring_unmap(&self->ring[cpu]);
	records_free(&self->recs);
}

/*
 * Open one more event of the child on a CPU; all use the buffer of @first. None is
 * enabled before it has a buffer, because it would request stacks without samples.
 */
static int add_event(struct perf_event_attr *attr, pid_t pid, int cpu, int first)
{
	int fd;

	attr->inherit = 1;
	attr->defer_output = first < 0;
	fd = event_open(attr, pid, cpu);
	if (fd >= 0 && first >= 0 &&
	    (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first) || event_enable(fd)))
		return -1;
	return fd;
}

static bool read_all(struct ring *ring, int cpus, struct records *recs)
{
	int cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		if (records_read(recs, &ring[cpu]))
			return false;
	return true;
}

static bool is_clock(const uint64_t *clock, int cpus, const struct record *rec)
{
	int cpu;

	if (rec->type != PERF_RECORD_SAMPLE)
		return false;
	for (cpu = 0; cpu < cpus; cpu++)
		if (rec->id == clock[cpu])
			return true;
	return false;
}

/* CPUs with samples, and tasks with samples on more than one */
static void spread(const struct records *recs, size_t *cpus, size_t *migrated)
{
	uint64_t all = 0, task[32] = {};
	uint32_t tid[32];
	size_t i, t, tasks = 0;

	for (i = 0; i < recs->nr; i++) {
		const struct record *rec = &recs->rec[i];

		if (rec->type != PERF_RECORD_SAMPLE)
			continue;
		for (t = 0; t < tasks && tid[t] != rec->tid; t++)
			;
		if (t == 32)
			continue;
		if (t == tasks)
			tid[tasks++] = rec->tid;
		task[t] |= 1ULL << rec->cpu;
		all |= 1ULL << rec->cpu;
	}
	*cpus = __builtin_popcountll(all);
	*migrated = 0;
	for (t = 0; t < tasks; t++)
		*migrated += __builtin_popcountll(task[t]) > 1;
}

/* Does no sample with a cookie follow a task's sample without one? */
static bool none_after(const struct records *recs, const struct record *without)
{
	size_t i;

	for (i = 0; i < recs->nr; i++) {
		const struct record *rec = &recs->rec[i];

		if (rec->type == PERF_RECORD_SAMPLE && rec->cookie &&
		    rec->tid == without->tid && rec->time > without->time)
			return false;
	}
	return true;
}

TEST_F_TIMEOUT(load, each_cookie_has_one_stack, 900)
{
	const char *setting = getenv("UNWIND_PERF_SAMPLES"), *strict = getenv("STRICT");
	size_t want = setting ? atol(setting) : SAMPLES, from_clock = 0;
	size_t samples, stacks, late, cpus, migrated, i, no_cookie = 0;
	struct perf_event_attr attr;
	int cpu, status;

	for (cpu = 0; cpu < self->cpus; cpu++) {
		int first;

		event_attr(&attr, variant->type, variant->config);
		attr.sample_period = CLOCK_PERIOD;
		first = add_event(&attr, self->pid, cpu, -1);
		ASSERT_LE(0, first);
		ASSERT_EQ(0, ring_map(&self->ring[cpu], first, PAGES));
		ASSERT_EQ(0, ioctl(first, PERF_EVENT_IOC_ID, &self->clock[cpu]));
		ASSERT_EQ(0, event_enable(first));

		event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		ASSERT_LE(0, add_event(&attr, self->pid, cpu, first));
		event_attr(&attr, PERF_TYPE_SOFTWARE,
			   PERF_COUNT_SW_CONTEXT_SWITCHES);
		ASSERT_LE(0, add_event(&attr, self->pid, cpu, first));
	}
	ASSERT_EQ(1, write(self->go[1], "", 1));
	for (i = 0; from_clock < want; ) {
		ASSERT_TRUE(read_all(self->ring, self->cpus, &self->recs));
		for (; i < self->recs.nr; i++)
			from_clock += is_clock(self->clock, self->cpus,
					       &self->recs.rec[i]);
	}
	atomic_store(stop, true);
	ASSERT_EQ(self->pid, waitpid(self->pid, &status, 0));
	self->pid = 0;
	EXPECT_EQ(0, status);
	ASSERT_TRUE(read_all(self->ring, self->cpus, &self->recs));

	EXPECT_TRUE(records_match(&self->recs, &late));

	/* The load was as intended */
	spread(&self->recs, &cpus, &migrated);
	EXPECT_EQ(self->cpus, cpus);
	if (self->cpus > 1)
		EXPECT_LE(THREADS, migrated);
	/* It included entries with several samples */
	samples = records_count(&self->recs, PERF_RECORD_SAMPLE);
	stacks = records_count(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED);
	EXPECT_LT(stacks, samples);

	for (i = 0; i < self->recs.nr; i++) {
		const struct record *rec = &self->recs.rec[i];

		if (rec->type != PERF_RECORD_SAMPLE || rec->cookie)
			continue;
		/* Only a task's exit, which a slow machine prolongs: no user code runs then */
		EXPECT_TRUE(none_after(&self->recs, rec));
		EXPECT_NE(PERF_RECORD_MISC_USER, rec->misc);
		no_cookie++;
	}
	TH_LOG("%zu samples of the clock, %zu in all, %zu without a cookie",
	       from_clock, samples, no_cookie);
	TH_LOG("%zu stacks, %zu samples after theirs", stacks, late);
	/*
	 * records_match() has seen that they are on the path from the stack to user space.  It
	 * is short, but not beside the period of the clock if the machine is slow.
	 */
	if (strict && *strict)
		EXPECT_GT(samples / 4, late);
}

TEST_HARNESS_MAIN
