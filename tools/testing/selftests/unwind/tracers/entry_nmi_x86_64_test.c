// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate stacks of NMIs that hit the kernel's entry code, where the program's registers
 * are not saved yet. The kernel's stack then has the registers of the last entry, or some
 * of each.
 *
 * Two functions make the same system call in turn. The kernel's part of a callchain shows
 * where the NMI hit: its outermost address is in entry_SYSCALL_64(), before that has saved
 * the program's instruction pointer, or after it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client_events.h"
#include "immediate_counts.h"
#include "sampled.h"
#include "../../kselftest_harness.h"

#define RATE		4000
#define PAGES		512
/* NMIs that have to hit entry code, and the number of samples after which the test gives up */
#define WANTED		20
#define MAX_SAMPLES	20000

FIXTURE(entry)
{
	struct sampler sampler;
	pid_t child;
	/* The registers that an interrupt saves are not complete at these addresses */
	uint64_t begin;
	uint64_t end;
	unsigned long in_entry;
	unsigned long made_up;
	unsigned long in_call;
	unsigned long whole;
};

/* Each has its return address on the stack, and there is nothing else of this program */
static void call(void)
{
	long ret = SYS_getppid;

	asm volatile("syscall" : "+a"(ret) : : "rcx", "r11", "memory");
}

static void first(void)
{
	call();
	/* Not a tail call */
	asm volatile("");
}

static void second(void)
{
	call();
	asm volatile("");
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			first();
			second();
		}
	}
	return pid;
}

static uint64_t kernel_symbol(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	uint64_t address = 0, at;
	char line[256], symbol[200];

	while (file && !address && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx %*c %199s", &at, symbol) == 2 && !strcmp(symbol, name))
			address = at;
	if (file)
		fclose(file);
	return address;
}

/* Immediate callchains, with the kernel's part; 0 or -1 */
static int open_event(struct sampler *sampler, pid_t pid)
{
	struct perf_event_attr attr;

	if (tracepoint_attr(&attr, "unwind_client/unwind_client_request"))
		return -1;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	sampler->fd = event_open(&attr, pid, -1);
	if (sampler->fd < 0 ||
	    ioctl(sampler->fd, PERF_EVENT_IOC_SET_FILTER, "in_nmi == 1") ||
	    ring_map(&sampler->ring, sampler->fd, PAGES))
		return -1;
	return event_enable(sampler->fd);
}

FIXTURE_SETUP(entry)
{
	self->sampler.fd = -1;
	self->begin = kernel_symbol("entry_SYSCALL_64");
	self->end = kernel_symbol("entry_SYSCALL_64_after_hwframe");
	if (!self->begin || !self->end)
		SKIP(return, "no addresses in /proc/kallsyms, or not root");
	/* Another test may have left it loaded */
	client_unload();
	if (client_load(RATE)) {
		ASSERT_TRUE(errno == ENOENT || errno == EPERM);
		SKIP(return, "no unwind_client.ko (UNWIND_MODULES=?), or not root");
	}
	self->child = start_child();
	ASSERT_LT(0, self->child);
	ASSERT_EQ(0, open_event(&self->sampler, self->child));
}

FIXTURE_TEARDOWN(entry)
{
	sampler_close(&self->sampler);
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
	client_unload();
}

/* Judge a callchain: the kernel's part comes first */
static void judge(struct _test_data_entry *self, const struct record *rec)
{
	uint64_t outermost = 0;
	size_t i = 0;

	/* The NMI hit the program */
	if (!rec->nr || rec->ips[0] != (uint64_t)PERF_CONTEXT_KERNEL)
		return;
	while (++i < rec->nr && rec->ips[i] != (uint64_t)PERF_CONTEXT_USER)
		outermost = rec->ips[i];
	if (outermost < self->begin)
		return;
	if (outermost <= self->end) {
		self->in_entry++;
		self->made_up += i < rec->nr;
		return;
	}
	self->in_call++;
	self->whole += i + 1 < rec->nr;
}

TEST_F_TIMEOUT(entry, that_is_interrupted_has_no_user_stack, 600)
{
	struct pollfd polled = { .fd = self->sampler.fd, .events = POLLIN };
	struct records recs = {};
	size_t all = 0, i;

	while (self->in_entry < WANTED && all < MAX_SAMPLES) {
		ASSERT_LT(0, poll(&polled, 1, 60000));
		ASSERT_EQ(0, records_read(&recs, &self->sampler.ring));
		for (i = 0; i < recs.nr; i++)
			if (recs.rec[i].type == PERF_RECORD_SAMPLE)
				judge(self, &recs.rec[i]);
		all += recs.nr;
		records_free(&recs);
		recs = (struct records){};
	}
	TH_LOG("%zu samples, %lu of them in entry code; %lu later in a call, %lu with a stack",
	       all, self->in_entry, self->in_call, self->whole);
	EXPECT_LE(WANTED, self->in_entry);
	EXPECT_EQ(0, self->made_up);
	/* All but those on the last steps back to the program */
	EXPECT_LT(0, self->in_call);
	EXPECT_LE(self->in_call / 2, self->whole);
}

TEST_HARNESS_MAIN
