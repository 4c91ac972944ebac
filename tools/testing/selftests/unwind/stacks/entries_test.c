// SPDX-License-Identifier: GPL-2.0
/*
 * Ways into the kernel: for each, the topmost frame is that of the program, at
 * the instruction where it will go on, and its caller is right.
 *
 * Each entry happens in a function that has changed its stack by then, so that
 * the caller is found only with both the right instruction and stack pointer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"
#include "entries_code.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define CLOCK_PERIOD	1000000
#define NO_EVENT	"no such event, or not root"

/* Is the only stack that was sampled that of a function, called by nobody? */
static bool is_at(struct sampler *sampler, const char *at)
{
	struct stack stack, expected = {
		.ip = { (unsigned long)at, (unsigned long)whole_end },
		.nr = 2,
	};

	return !sampler_stack(sampler, &stack) && stack_is(&stack, &expected);
}

/* Is that so while @fn runs?  Closes the sampler. */
static bool goes_on_at(struct sampler *sampler, void (*fn)(void *arg),
		       void *arg, const char *at)
{
	bool right;

	whole_run(fn, arg, NULL);
	right = !event_disable(sampler->fd) && is_at(sampler, at);
	sampler_close(sampler);
	return right;
}

TEST(entry_by_syscall)
{
	unsigned long nr[5] = { SYS_getppid };
	struct sampler sampler;

	if (sampler_open(&sampler, 0))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, system_call, nr, system_call_at));
}

#if defined(__x86_64__)

#define I386_GETPPID	64

TEST(entry_by_int80)
{
	struct sampler sampler;

	/* Without emulation of 32-bit calls, it is a general protection fault */
	if (access("/proc/sys/abi/vsyscall32", F_OK))
		SKIP(return, "no 32-bit system calls");
	if (sampler_open_syscall(&sampler, 0, I386_GETPPID))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, int80, NULL, int80_at));
}

static bool vsyscall_page(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	bool found = false;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "[vsyscall]");
	if (maps)
		fclose(maps);
	return found;
}

/* A fault at an address of the kernel; it then has returned to the caller */
TEST(entry_by_vsyscall)
{
	struct sampler sampler;

	if (!vsyscall_page())
		SKIP(return, "no vsyscall page");
	if (sampler_open_tracepoint(&sampler, 0, "vsyscall/emulate_vsyscall",
				    NULL))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, vsyscall, NULL, vsyscall_at));
}

#endif

TEST(entry_by_page_fault)
{
	struct perf_event_attr attr;
	struct sampler sampler;
	char *page;

	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	/* All else that is used has been touched */
	whole_run(page_fault, &attr, NULL);
	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	/* The unwind itself may have to fault memory in */
	attr.exclude_kernel = 1;
	ASSERT_EQ(0, sampler_open_attr(&sampler, &attr, 0, NULL));
	EXPECT_TRUE(goes_on_at(&sampler, page_fault, page, page_fault_at));
}

/*
 * Exceptions that are signals: the event is that a signal is sent, in the same
 * entry. A handler goes on after the instruction.
 */

static unsigned int skip;

static void skip_handler(int sig, siginfo_t *info, void *context)
{
	skip_bytes(context, skip);
}

/* 0, or -1 without such events */
static int exception_open(struct sampler *sampler, int sig, unsigned int bytes)
{
	struct sigaction action = {
		.sa_sigaction = skip_handler, .sa_flags = SA_SIGINFO,
	};
	char filter[32];

	skip = bytes;
	snprintf(filter, sizeof(filter), "sig == %d", sig);
	return sigaction(sig, &action, NULL) ?:
	       sampler_open_tracepoint(sampler, 0, "signal/signal_generate",
				       filter);
}

TEST(entry_by_invalid_instruction)
{
	struct sampler sampler;

	if (exception_open(&sampler, SIGILL, SKIP_INVALID))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, invalid, NULL, invalid_at));
}

TEST(entry_by_breakpoint)
{
	struct sampler sampler;

	if (exception_open(&sampler, SIGTRAP, SKIP_BREAKPOINT))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, breakpoint, NULL, breakpoint_at));
}

#if defined(__x86_64__)

TEST(entry_by_divide_error)
{
	struct sampler sampler;

	if (exception_open(&sampler, SIGFPE, 2))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, divide, NULL, divide_at));
}

static unsigned int steps;

static void step_handler(int sig)
{
	steps++;
}

/* A trap after each instruction from the first that begins with the flag set */
TEST(entry_by_single_step)
{
	/* nop, pushfq, andl, popfq */
	static const unsigned char offset[] = { 0, 1, 8 };
	struct sigaction action = { .sa_handler = step_handler };
	struct records recs = {};
	struct sampler sampler;
	unsigned int i;

	ASSERT_EQ(0, sigaction(SIGTRAP, &action, NULL));
	if (sampler_open_tracepoint(&sampler, 0, "signal/signal_generate",
				    "sig == 5"))
		SKIP(return, NO_EVENT);
	steps = 0;
	whole_run(step, NULL, NULL);
	ASSERT_EQ(0, records_read(&recs, &sampler.ring));
	EXPECT_TRUE(records_match(&recs, NULL));
	ASSERT_LE(sizeof(offset), steps);
	for (i = 0; i < sizeof(offset); i++) {
		const struct record *rec;

		rec = records_get(&recs, PERF_RECORD_CALLCHAIN_DEFERRED, i);
		ASSERT_NE(NULL, rec);
		ASSERT_EQ(3, rec->nr);
		EXPECT_EQ((unsigned long)step_at + offset[i], rec->ips[1]);
		EXPECT_EQ((unsigned long)whole_end, rec->ips[2]);
	}
	records_free(&recs);
	sampler_close(&sampler);
}

#endif

/* Anywhere in a loop */
TEST(entry_by_timer_interrupt)
{
	struct perf_event_attr attr;
	struct records recs = {};
	struct sampler sampler;
	unsigned int in_loop = 0;
	size_t i;

	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_period = CLOCK_PERIOD;
	ASSERT_EQ(0, sampler_open_attr(&sampler, &attr, 0, NULL));
	whole_run(spin, NULL, NULL);
	ASSERT_EQ(0, event_disable(sampler.fd));
	ASSERT_EQ(0, records_read(&recs, &sampler.ring));
	for (i = 0; i < recs.nr; i++) {
		const struct record *rec = &recs.rec[i];

		if (rec->type != PERF_RECORD_CALLCHAIN_DEFERRED ||
		    rec->nr < 2 || rec->ips[1] < (unsigned long)spin_at ||
		    rec->ips[1] >= (unsigned long)spin_end)
			continue;
		in_loop++;
		ASSERT_EQ(3, rec->nr);
		ASSERT_EQ((unsigned long)whole_end, rec->ips[2]);
	}
	EXPECT_LT(0, in_loop);
	records_free(&recs);
	sampler_close(&sampler);
}

/*
 * A system call that a signal interrupts, and that is then made again: the first
 * time the program would go on after it (where the kernel has not yet made up its
 * mind, as arm64's has when it looks for signals); at the return from the handler, with
 * the instruction itself; then after it again.
 */

static int pipes[2];

static void write_handler(int sig)
{
	if (write(pipes[1], "", 1) != 1)
		abort();
}

TEST(entry_that_is_restarted)
{
	struct sigaction action = {
		.sa_handler = write_handler, .sa_flags = SA_RESTART,
	};
	const unsigned long ip[] = {
		(unsigned long)system_call_at - TAKEN_BACK_BYTES,
		(unsigned long)system_call_at - SYSTEM_CALL_BYTES,
		(unsigned long)system_call_at,
	};
	struct records recs = {};
	struct sampler sampler;
	char filter[64], c;
	unsigned long read_pipe[5] = { SYS_read, (unsigned long)&c, 1 };
	pid_t pid, parent = getpid();
	unsigned int i;
	int status;

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	read_pipe[4] = pipes[0];
	snprintf(filter, sizeof(filter), "id == %d || id == %d", SYS_read,
		 SYS_rt_sigreturn);
	if (sampler_open_tracepoint(&sampler, 0, "raw_syscalls/sys_enter", filter))
		SKIP(return, NO_EVENT);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		int nr;

		do {
			nr = sleeps_in(parent);
			if (nr == -2)
				_exit(1);
		} while (nr != SYS_read);
		_exit(kill(parent, SIGUSR1));
	}
	whole_run(system_call, read_pipe, NULL);
	ASSERT_EQ(0, event_disable(sampler.fd));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, records_read(&recs, &sampler.ring));
	EXPECT_TRUE(records_match(&recs, NULL));
	ASSERT_EQ(3, records_count(&recs, PERF_RECORD_CALLCHAIN_DEFERRED));
	for (i = 0; i < 3; i++) {
		const struct record *rec;

		rec = records_get(&recs, PERF_RECORD_CALLCHAIN_DEFERRED, i);
		ASSERT_EQ(3, rec->nr);
		EXPECT_EQ(ip[i], rec->ips[1]);
		EXPECT_EQ((unsigned long)whole_end, rec->ips[2]);
	}
	records_free(&recs);
	sampler_close(&sampler);
}

/*
 * A tracer stops the program at the end of the system call and moves it elsewhere.
 * The stack has been taken before that: it is of where the call was made.
 */
TEST(entry_that_a_tracer_changes)
{
	unsigned long nr[5] = { SYS_getppid };
	unsigned long ip, in_call;
	struct sampler sampler;
	int status, go[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) ||
		    read(go[0], &c, 1) != 1)
			_exit(1);
		raise(SIGSTOP);
		whole_run(system_call, nr, NULL);
		_exit(0);
	}
	if (sampler_open(&sampler, pid)) {
		kill(pid, SIGKILL);
		SKIP(return, NO_EVENT);
	}
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	/* To the stop before the system call that is known, and after it */
	do {
		ASSERT_EQ(0, ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFSTOPPED(status));
		ASSERT_EQ(0, tracee_ip(pid, &ip, &in_call));
	} while (ip != (unsigned long)system_call_at);
	ASSERT_EQ(SYS_getppid, in_call);
	ASSERT_EQ(0, ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	/* Into a function of the same frame */
	ASSERT_EQ(0, tracee_set_ip(pid, other_at));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, pid, NULL, NULL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(is_at(&sampler, system_call_at));
	sampler_close(&sampler);
}

TEST_HARNESS_MAIN
