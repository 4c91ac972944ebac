// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to a thread for its own frames that are refused.
 *
 * Where a handler could change what the program does, or could not run, it is not called.
 * The native stack is delivered all the same, and an outcome says why there is no more.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "put.h"
#include "self_request.h"

/*
 * The handler cannot run
 */

TEST_F(request, blocked_signal_is_refused)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SELF_SIGNAL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	EXPECT_OUTCOME("refused: blocked");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	EXPECT_EQ(0, handler.nr);
}

TEST_F(request, signal_without_a_handler_is_refused)
{
	signal(SELF_SIGNAL, SIG_DFL);
	EXPECT_OUTCOME("refused: no handler");
	EXPECT_EQ(0, handler.nr);
}

TEST_F(request, handler_with_other_flags_is_refused)
{
	const unsigned long before = self_count("refused: no handler");

	self_install(SA_SIGINFO);
	self_sample();
	self_install(SA_ONSTACK);
	self_sample();
	self_install(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND);
	self_sample();
	EXPECT_EQ(before + 3, self_count("refused: no handler"));
	EXPECT_EQ(0, handler.nr);
}

TEST_F(request, other_alternate_stack_is_refused)
{
	static char other[SELF_STACK_SIZE];

	self_set_stack(other, sizeof(other));
	EXPECT_OUTCOME("refused: alternate stack");
	EXPECT_EQ(0, handler.nr);
}

/* Its frame cannot be written, which would kill the program if a signal were sent */
TEST_F(request, alternate_stack_that_is_not_mapped_is_refused)
{
	void *stack = mmap(NULL, SELF_STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, stack);
	ASSERT_EQ(0, self_disable());
	ASSERT_EQ(0, self_set_stack(stack, SELF_STACK_SIZE));
	self->asked.attr.stack_start = (uintptr_t)stack;
	ASSERT_EQ(0, self_enable(&self->asked.attr));
	mprotect(stack, SELF_STACK_SIZE, PROT_READ);
	EXPECT_OUTCOME("refused: alternate stack");
	munmap(stack, SELF_STACK_SIZE);
	EXPECT_EQ(0, handler.nr);
}

static void sample_in_handler(int signal)
{
	self_sample();
}

TEST_F(request, thread_on_its_alternate_stack_is_refused)
{
	const unsigned long before = self_count("refused: alternate stack");
	struct sigaction action = {
		.sa_handler = sample_in_handler,
		.sa_flags = SA_ONSTACK,
	};

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	EXPECT_EQ(before + 1, self_count("refused: alternate stack"));
	EXPECT_EQ(0, handler.nr);
}

static int sample_then_answer(void)
{
	self_sample();
	return self_submit(&handler.answer);
}

TEST_F(request, request_while_one_is_outstanding_is_refused)
{
	const unsigned long before = self_count("refused: one is outstanding");
	const struct record *rec;
	size_t i;

	handler.fn = sample_then_answer;
	self_sample();
	EXPECT_EQ(1, handler.nr);
	EXPECT_EQ(before + 1, self_count("refused: one is outstanding"));
	ASSERT_EQ(0, records_read(&self->asked.recs, &self->asked.ring));
	EXPECT_EQ(2, records_count(&self->asked.recs, PERF_RECORD_CALLCHAIN_DEFERRED));
	EXPECT_EQ(1, records_count(&self->asked.recs, PERF_RECORD_CALLCHAIN_RUNTIME));
	for (i = 0; (rec = records_get(&self->asked.recs, PERF_RECORD_SAMPLE, i)); i++)
		EXPECT_EQ(1, records_with_cookie(&self->asked.recs, PERF_RECORD_CALLCHAIN_DEFERRED,
						 rec->cookie));
	/* The first one's is held meanwhile */
	rec = records_get(&self->asked.recs, PERF_RECORD_SAMPLE, 0);
	EXPECT_EQ(rec->cookie,
		  ((const uint64_t *)(records_get(&self->asked.recs, PERF_RECORD_CALLCHAIN_DEFERRED,
						  1)->raw + 1))[0]);
}

TEST_F(request, request_that_comes_too_soon_is_refused)
{
	ASSERT_EQ(0, self_disable());
	self->asked.attr.interval = UINT32_MAX;
	ASSERT_EQ(0, self_enable(&self->asked.attr));
	self_sample();
	EXPECT_EQ(1, handler.nr);
	records_free(&self->asked.recs);
	ASSERT_EQ(0, records_read(&self->asked.recs, &self->asked.ring));
	records_free(&self->asked.recs);
	EXPECT_OUTCOME("refused: too soon");
	EXPECT_EQ(1, handler.nr);
}

/* A ring for one request that is only a timeout */
static int open_ring(struct io_uring_params *params, unsigned int **sq, unsigned int **cq)
{
	struct io_uring_sqe *sqe;
	static struct timespec time = { .tv_nsec = 20000000 };
	int fd = syscall(SYS_io_uring_setup, 1, params);

	if (fd < 0)
		return -1;
	*sq = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	*cq = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_CQ_RING);
	sqe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	if (*sq == MAP_FAILED || *cq == MAP_FAILED || sqe == MAP_FAILED)
		return -1;
	*sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_TIMEOUT,
		.addr = (uintptr_t)&time,
		.len = 1,
	};
	(*sq)[params->sq_off.array / 4] = 0;
	__atomic_store_n(&(*sq)[params->sq_off.tail / 4], 1, __ATOMIC_RELEASE);
	return fd;
}

/* Its task work runs in the middle of the call, which then waits on, and returns 1 */
TEST_F(request, request_in_the_middle_of_a_system_call_is_refused)
{
	const unsigned long before = self_count("refused: in a system call");
	struct io_uring_params params = {};
	sigset_t set, old;
	unsigned int *sq, *cq;
	int fd = open_ring(&params, &sq, &cq);

	if (fd < 0)
		SKIP(return, "no io_uring");
	sigprocmask(SIG_SETMASK, NULL, &old);
	asked_close(&self->asked);
	ASSERT_EQ(0, asked_open(&self->asked, 0, SYS_io_uring_enter));
	EXPECT_EQ(1, syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));
	EXPECT_EQ(1, __atomic_load_n(&cq[params.cq_off.tail / 4], __ATOMIC_ACQUIRE));
	sigprocmask(SIG_SETMASK, NULL, &set);
	EXPECT_EQ(0, memcmp(&set, &old, 8));
	EXPECT_EQ(before + 1, self_count("refused: in a system call"));
	EXPECT_EQ(0, handler.nr);
	ASSERT_EQ(0, records_read(&self->asked.recs, &self->asked.ring));
	EXPECT_TRUE(records_match(&self->asked.recs, NULL));
}

/*
 * Somebody else has the thread
 */

TEST_F(request, traced_thread_is_refused)
{
	ASSERT_EQ(0, ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	EXPECT_OUTCOME("refused: traced");
	EXPECT_EQ(0, handler.nr);
}

/* Ask at a probe, in place of getppid(); 0 or -1 */
static int ask_at(struct asked *asked, void (*fn)(void))
{
	asked_close(asked);
	if (uprobe_attr(&asked->event, (unsigned long)fn, 0) || asked_open_event(asked, 0))
		return -1;
	return event_enable(asked->fd);
}

/* It returns to a copy of the instruction, which its handler must not see */
TEST_F(request, thread_that_steps_over_a_probe_is_refused)
{
	const unsigned long before = self_count("refused: traced");

	if (ask_at(&self->asked, self_probed_other))
		SKIP(return, "no uprobes");
	self_probed_other();
	EXPECT_EQ(before + 1, self_count("refused: traced"));
	EXPECT_EQ(0, handler.nr);
	ASSERT_EQ(0, records_read(&self->asked.recs, &self->asked.ring));
	EXPECT_TRUE(records_match(&self->asked.recs, NULL));
}

TEST_F(request, thread_after_a_probe_is_asked)
{
	const unsigned long before = self_count("answered");

	if (ask_at(&self->asked, self_probed_jump))
		SKIP(return, "no uprobes");
	self_probed_jump();
	EXPECT_EQ(before + 1, self_count("answered"));
	EXPECT_LE((unsigned long)self_probed_jump, handler.ip);
	EXPECT_GT((unsigned long)self_probed_other, handler.ip);
}

/*
 * The thread's own system calls have to be possible
 */

/* Allow all system calls; 0 or -1 */
static int filter_system_calls(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = { .len = 1, .filter = &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

TEST_F(request, thread_with_a_new_filter_of_system_calls_is_refused)
{
	if (filter_system_calls())
		SKIP(return, "no seccomp");
	EXPECT_OUTCOME("refused: filtered");
	EXPECT_EQ(0, handler.nr);
}

/* It could make system calls of the handler's kind then */
TEST_F(request, thread_that_opted_in_with_a_filter_is_asked)
{
	const unsigned long before = self_count("answered");

	if (filter_system_calls())
		SKIP(return, "no seccomp");
	ASSERT_EQ(0, self_disable());
	ASSERT_EQ(0, self_enable(&self->asked.attr));
	self_sample();
	EXPECT_EQ(before + 1, self_count("answered"));
}

TEST_F(request, thread_whose_system_calls_are_dispatched_is_refused)
{
	static char selector = SYSCALL_DISPATCH_FILTER_ALLOW;

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector))
		SKIP(return, "no dispatch of system calls");
	EXPECT_OUTCOME("refused: filtered");
	EXPECT_EQ(0, handler.nr);
	ASSERT_EQ(0, prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0));
	self_sample();
	EXPECT_EQ(1, handler.nr);
}

static int nr_signals;

static void count_signal(int signal)
{
	__atomic_fetch_add(&nr_signals, 1, __ATOMIC_RELAXED);
}

/* Its handler runs first, and finds the thread as if there had been no request */
TEST_F(request, thread_with_a_signal_is_refused)
{
	unsigned long before = self_count("refused: in a system call") +
			       self_count("refused: signal pending");

	asked_close(&self->asked);
	ASSERT_EQ(0, asked_open(&self->asked, 0, SYS_kill));
	signal(SIGUSR1, count_signal);
	EXPECT_EQ(0, kill(getpid(), SIGUSR1));
	EXPECT_EQ(1, __atomic_load_n(&nr_signals, __ATOMIC_RELAXED));
	EXPECT_EQ(0, handler.nr);
	EXPECT_EQ(before + 1, self_count("refused: in a system call") +
			      self_count("refused: signal pending"));
	ASSERT_EQ(0, records_read(&self->asked.recs, &self->asked.ring));
	EXPECT_TRUE(records_match(&self->asked.recs, NULL));
}

static int signal_in_handler(void)
{
	kill(getpid(), SIGUSR1);
	if (__atomic_load_n(&nr_signals, __ATOMIC_RELAXED))
		return -EBUSY;
	return self_submit(&handler.answer);
}

/* The smallest stack may have no room for their handlers */
TEST_F(request, other_signals_wait_for_the_handlers_return)
{
	const struct sigaction action = {
		.sa_handler = count_signal,
		.sa_flags = SA_ONSTACK,
	};

	ASSERT_EQ(0, self_disable());
	self->asked.attr.stack_size = 0;
	while (self_enable(&self->asked.attr)) {
		self->asked.attr.stack_size += 16;
		ASSERT_GT(SELF_STACK_SIZE, self->asked.attr.stack_size);
	}
	ASSERT_EQ(0, self_set_stack(self_stack, self->asked.attr.stack_size));
	sigaction(SIGUSR1, &action, NULL);
	handler.fn = signal_in_handler;
	self_sample();
	EXPECT_EQ(1, handler.nr);
	EXPECT_EQ(0, handler.result);
	EXPECT_EQ(1, __atomic_load_n(&nr_signals, __ATOMIC_RELAXED));
}

/*
 * Memory
 */

#define CGROUPS		"/sys/fs/cgroup/"
#define CGROUP		CGROUPS "unwind-self/"
#define SAMPLES		20000

/* In a child: be sampled where the group may have no more memory */
static int sample_at_the_limit(struct asked *asked)
{
	const size_t size = 8 << 20;
	char text[32] = "";
	int fd, i;

	snprintf(text, sizeof(text), "%d", getpid());
	if (put_word(CGROUP, "cgroup.procs", text) ||
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		 -1, 0) == MAP_FAILED)
		return 1;
	if (asked_open(asked, 0, SYS_getppid) || self_enable(&asked->attr))
		return 2;
	fd = open(CGROUP "memory.current", O_RDONLY | O_CLOEXEC);
	if (read(fd, text, sizeof(text) - 1) <= 0 || put_word(CGROUP, "memory.max", text))
		return 3;
	for (i = 0; i < SAMPLES; i++)
		self_sample();
	return 0;
}

TEST_F_TIMEOUT(request, thread_at_the_limit_of_its_group_is_not_killed, 120)
{
	const unsigned long before = self_count(NULL);
	int status;
	pid_t pid;

	if (access(CGROUPS "cgroup.controllers", F_OK) ||
	    put_word(CGROUPS, "cgroup.subtree_control", "+memory") || mkdir(CGROUP, 0700))
		SKIP(return, "no groups with limits of memory");
	asked_close(&self->asked);
	pid = fork();
	if (!pid)
		_exit(sample_at_the_limit(&self->asked));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_LE(before + SAMPLES, self_count(NULL));
	EXPECT_EQ(0, rmdir(CGROUP));
}

/*
 * All of it
 */

static int do_nothing(void)
{
	return 0;
}

#define TURNS		300

/* Change one of the conditions that decide what becomes of a request */
static void change(int what)
{
	static char other[SELF_STACK_SIZE];
	sigset_t set;

	sigemptyset(&set);
	if (what == 1)
		sigaddset(&set, SELF_SIGNAL);
	sigprocmask(SIG_SETMASK, &set, NULL);
	if (what == 2)
		signal(SELF_SIGNAL, SIG_IGN);
	else
		self_install(SA_SIGINFO | SA_ONSTACK);
	self_set_stack(what == 3 ? other : self_stack, SELF_STACK_SIZE);
	handler.fn = what == 4 ? do_nothing : NULL;
}

TEST_F(request, each_request_has_one_outcome)
{
	const struct record *rec;
	unsigned long before;
	int i;

	ASSERT_EQ(0, self_disable());
	self->asked.attr.timeout = 1;
	ASSERT_EQ(0, self_enable(&self->asked.attr));
	before = self_count(NULL);
	srand(1);
	for (i = 0; i < TURNS; i++) {
		change(rand() % 8);
		self_sample();
		ASSERT_EQ(0, records_read(&self->asked.recs, &self->asked.ring));
	}
	/* Ends the last one */
	ASSERT_EQ(0, self_disable());
	ASSERT_EQ(0, records_read(&self->asked.recs, &self->asked.ring));
	EXPECT_EQ(before + TURNS, self_count(NULL));
	/* A stack that is held comes after others */
	for (i = 0; (rec = records_get(&self->asked.recs, PERF_RECORD_SAMPLE, i)); i++)
		EXPECT_EQ(1, records_with_cookie(&self->asked.recs, PERF_RECORD_CALLCHAIN_DEFERRED,
						 rec->cookie));
	EXPECT_EQ(TURNS, i);
	EXPECT_EQ(TURNS, records_count(&self->asked.recs, PERF_RECORD_CALLCHAIN_DEFERRED));
}

TEST_HARNESS_MAIN
