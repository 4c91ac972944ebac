// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred callchains: each sample that has a cookie is followed by one record with this
 * cookie, which has the stack that the program had at the sample.
 *
 * The event is a tracepoint: at the entry of one system call, as a rule.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#if defined(__x86_64__)
#include <asm/perf_regs.h>
#endif
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define PAGES	8
#define EVENTS	"/sys/kernel/tracing/events/"

FIXTURE(deferred)
{
	struct perf_event_attr attr;
	struct perf_event_mmap_page *page;
	int fd;
	pid_t child;
	int go[2];
};

static int tracepoint_id(const char *name)
{
	char text[32] = "", path[128];
	int fd;

	snprintf(path, sizeof(path), EVENTS "%s/id", name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	close(fd);
	return *text ? atoi(text) : -1;
}

FIXTURE_SETUP(deferred)
{
	const int id = tracepoint_id("raw_syscalls/sys_enter");

	self->page = MAP_FAILED;
	self->child = -1;
	if (id < 0)
		SKIP(return, "no raw_syscalls:sys_enter, or not root");
	self->attr = (struct perf_event_attr){
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(self->attr),
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_kernel = 1,
		.disabled = 1,
		.defer_callchain = 1,
		.defer_output = 1,
	};
	ASSERT_EQ(0, pipe(self->go));
}

FIXTURE_TEARDOWN(deferred)
{
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
	if (self->page != MAP_FAILED)
		munmap(self->page, (1 + PAGES) * getpagesize());
	if (self->fd > 0)
		close(self->fd);
	close(self->go[0]);
	close(self->go[1]);
}

/* Sample a process, or a CPU; one system call, or all that the event has */
static int open_event(struct _test_data_deferred *data, pid_t pid, int cpu, int syscall_nr)
{
	char filter[32];

	data->fd = syscall(SYS_perf_event_open, &data->attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (data->fd < 0)
		return -errno;
	snprintf(filter, sizeof(filter), "id == %d", syscall_nr);
	data->page = mmap(NULL, (1 + PAGES) * getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED,
			  data->fd, 0);
	if (data->page == MAP_FAILED ||
	    (syscall_nr >= 0 && ioctl(data->fd, PERF_EVENT_IOC_SET_FILTER, filter)) ||
	    ioctl(data->fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	return 0;
}

/* The only record of this type, which has not wrapped; NULL if there are more, or none */
static const uint64_t *only_record(const struct _test_data_deferred *data, uint32_t type)
{
	const char *base = (const char *)data->page + getpagesize();
	const uint64_t *found = NULL;
	uint64_t at;

	for (at = 0; at < data->page->data_head;) {
		const struct perf_event_header *header = (const void *)(base + at);

		if (header->type == type) {
			if (found)
				return NULL;
			found = (const uint64_t *)(header + 1);
		}
		at += header->size;
	}
	return found;
}

/* The cookie of the only sample; 0 if it has none */
static uint64_t sample_cookie(const struct _test_data_deferred *data)
{
	const uint64_t *sample = only_record(data, PERF_RECORD_SAMPLE);
	uint64_t i;

	for (i = 0; sample && i + 1 < sample[0]; i++) {
		if (sample[1 + i] == PERF_CONTEXT_USER_DEFERRED)
			return sample[2 + i];
	}
	return 0;
}

/* Start a child that runs @fn once there is an event */
static int start_child(struct _test_data_deferred *data, void (*fn)(void))
{
	char c;

	data->child = fork();
	if (data->child)
		return data->child < 0 ? -errno : 0;
	if (read(data->go[0], &c, 1) == 1)
		fn();
	_exit(1);
}

static int finish_child(struct _test_data_deferred *data)
{
	int status;

	if (write(data->go[1], "", 1) != 1 || waitpid(data->child, &status, 0) != data->child)
		return -errno;
	data->child = -1;
	return status;
}

/* The only record of a callchain, which has the cookie of the only sample; else NULL */
static const uint64_t *stack_of_sample(const struct _test_data_deferred *data)
{
	const uint64_t *record = only_record(data, PERF_RECORD_CALLCHAIN_DEFERRED);
	const uint64_t cookie = sample_cookie(data);

	return record && cookie && record[0] == cookie ? record : NULL;
}

static void leave(void)
{
	syscall(SYS_exit_group, 0);
}

/* A task that exits has its stack as long as it has its events */
TEST_F(deferred, stack_of_a_task_that_exits_is_delivered)
{
	const uint64_t *record;

	ASSERT_EQ(0, start_child(self, leave));
	ASSERT_EQ(0, open_event(self, self->child, -1, SYS_exit_group));
	ASSERT_EQ(0, finish_child(self));
	record = stack_of_sample(self);
	ASSERT_NE(NULL, record);
	EXPECT_LT(0, record[1]);
}

/* Its address is the same in the child, and is none in the program that the child executes */
static void __attribute__((noinline)) execute(void)
{
	char *const argv[] = { "true", NULL }, *const envp[] = { NULL };

	syscall(SYS_execve, "/bin/true", argv, envp);
	asm volatile("");
}

TEST_F(deferred, stack_of_a_task_that_execs_is_that_of_the_old_program)
{
	const uint64_t *record;
	uint64_t i;
	bool found = false;

	ASSERT_EQ(0, start_child(self, execute));
	ASSERT_EQ(0, open_event(self, self->child, -1, SYS_execve));
	ASSERT_EQ(0, finish_child(self));
	record = stack_of_sample(self);
	ASSERT_NE(NULL, record);
	for (i = 0; i < record[1]; i++)
		found |= record[2 + i] - (uintptr_t)execute < 256;
	EXPECT_TRUE(found);
}

/* Such an event needs no other record that is not a sample */
TEST_F(deferred, event_of_a_cpu_has_the_stacks_without_other_records)
{
	const uint64_t *record;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpus), &cpus));
	/* A system call that nothing else makes here */
	ASSERT_EQ(0, open_event(self, -1, 0, SYS_getsid));
	syscall(SYS_getsid, 0);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
	record = stack_of_sample(self);
	ASSERT_NE(NULL, record);
	EXPECT_LT(0, record[1]);
}

#define CALLS	20

static void call_often(void)
{
	int i;

	/* It ends in any case */
	alarm(10);
	for (i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	_exit(0);
}

/* The first CPU of nohz_full=, or -1 */
static int cpu_without_tick(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/nohz_full", "r");
	int cpu;

	if (!file || fscanf(file, "%d", &cpu) != 1)
		cpu = -1;
	if (file)
		fclose(file);
	return cpu;
}

/*
 * The last event on the way out.  Without a stack yet, it has an interrupt deliver it, on whose way
 * out it comes again.
 */
TEST_F(deferred, program_goes_on_with_the_last_event_on_the_way_out)
{
	const int cpu = cpu_without_tick();
	cpu_set_t cpus;

	self->attr.config = tracepoint_id("context_tracking/user_enter");
	if (cpu < 0 || (int)self->attr.config < 0)
		SKIP(return, "no nohz_full=, or no context_tracking:user_enter");
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpus), &cpus));
	ASSERT_EQ(0, start_child(self, call_often));
	ASSERT_EQ(0, open_event(self, self->child, -1, -1));
	EXPECT_EQ(0, finish_child(self));
	EXPECT_LT(0, self->page->data_head);
}

#if defined(__x86_64__)

#define ROUNDS	50

/* Give way to other tasks, so that this one has to have its registers loaded again */
static void give_way(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		sched_yield();
		syscall(SYS_getppid);
	}
	_exit(0);
}

/* How many records have a cookie, and a stack that begins with this address? */
static int count_stacks(const struct _test_data_deferred *data, uint64_t cookie, uint64_t ip)
{
	const char *base = (const char *)data->page + getpagesize();
	int nr = 0;
	uint64_t at;

	for (at = 0; at < data->page->data_head;) {
		const struct perf_event_header *header = (const void *)(base + at);
		const uint64_t *record = (const uint64_t *)(header + 1);

		if (header->type == PERF_RECORD_CALLCHAIN_DEFERRED && record[0] == cookie)
			nr += record[1] && record[2] == ip;
		at += header->size;
	}
	return nr;
}

/*
 * The registers of the FPU are loaded on the way out, with interrupts off, after the last look
 * for work.  A sample there has the address that the program goes on at.
 */
TEST_F(deferred, stack_of_a_sample_on_the_way_out_is_that_of_its_entry)
{
	const char *base;
	int samples = 0, right = 0;
	cpu_set_t cpus;
	pid_t other;
	uint64_t at;

	self->attr.config = tracepoint_id("x86_fpu/x86_fpu_regs_activated");
	if ((int)self->attr.config < 0)
		SKIP(return, "no x86_fpu:x86_fpu_regs_activated");
	self->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	self->attr.sample_regs_user = 1 << PERF_REG_X86_IP;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpus), &cpus));
	ASSERT_EQ(0, start_child(self, give_way));
	other = fork();
	if (!other) {
		while (1)
			sched_yield();
	}
	ASSERT_EQ(0, open_event(self, self->child, -1, -1));
	EXPECT_EQ(0, finish_child(self));
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);

	/* Nothing was overwritten or lost */
	ASSERT_GT(PAGES * getpagesize(), self->page->data_head);
	base = (const char *)self->page + getpagesize();
	for (at = 0; at < self->page->data_head;) {
		const struct perf_event_header *header = (const void *)(base + at);
		const uint64_t *sample = (const uint64_t *)(header + 1);

		/* The marker and the cookie; then what kind of registers, and the address */
		if (header->type == PERF_RECORD_SAMPLE && sample[0] == 2 &&
		    sample[1] == PERF_CONTEXT_USER_DEFERRED) {
			samples++;
			right += count_stacks(self, sample[2], sample[4]) == 1;
		}
		at += header->size;
	}
	EXPECT_LT(0, samples);
	EXPECT_EQ(samples, right);
}

#endif

TEST_HARNESS_MAIN
