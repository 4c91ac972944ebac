// SPDX-License-Identifier: GPL-2.0
/*
 * The end of requests to a thread for its own frames.
 *
 * Each has one outcome: the thread is late, opts out, exits, is killed, executes another
 * program. Its native stack is delivered then, to the clients that are still there, and the
 * program sees no difference.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ftrace.h"
#include "../../kselftest_harness.h"
#include "self_request.h"

/*
 * Requests that are not answered
 */

static int wait_until_late(void)
{
	const struct timespec time = { .tv_nsec = 50000000 };

	nanosleep(&time, NULL);
	return self_submit(&handler.answer);
}

TEST_F(request, late_answer_is_refused_and_the_stack_delivered)
{
	ASSERT_EQ(0, self_disable());
	self->asked.attr.timeout = 1;
	ASSERT_EQ(0, self_enable(&self->asked.attr));
	handler.fn = wait_until_late;
	EXPECT_OUTCOME("not in time");
	/* The timer may have ended the request already; otherwise the answer was late */
	EXPECT_TRUE(handler.result == -ESRCH || handler.result == -ETIMEDOUT);
}

static int do_nothing(void)
{
	return 0;
}

/* It needs no further entry into the kernel */
TEST_F(request, timer_ends_a_request_that_is_not_answered)
{
	const unsigned long before = self_count("not in time");
	const __u64 *now = &self->asked.ring.meta->data_head;
	uint64_t head;
	bool waits;

	ASSERT_EQ(0, self_disable());
	self->asked.attr.timeout = 1;
	ASSERT_EQ(0, self_enable(&self->asked.attr));
	handler.fn = do_nothing;
	self_sample();
	head = __atomic_load_n(now, __ATOMIC_ACQUIRE);
	/* The timer may have been there before */
	waits = self_count("not in time") == before;
	while (waits && __atomic_load_n(now, __ATOMIC_ACQUIRE) == head)
		;
	EXPECT_EQ(before + 1, self_count("not in time"));
	ASSERT_EQ(0, records_read(&self->asked.recs, &self->asked.ring));
	EXPECT_TRUE(records_match(&self->asked.recs, NULL));
}

TEST_F(request, disabling_ends_a_request)
{
	const unsigned long before = self_count("not in time");

	handler.fn = self_disable;
	self_sample();
	EXPECT_EQ(before + 1, self_count("not in time"));
	ASSERT_EQ(0, records_read(&self->asked.recs, &self->asked.ring));
	EXPECT_TRUE(records_match(&self->asked.recs, NULL));
	EXPECT_EQ(1, records_count(&self->asked.recs, PERF_RECORD_CALLCHAIN_DEFERRED));
}

static int exit_thread(void)
{
	syscall(SYS_exit, 0);
	return 0;
}

static void *thread_that_exits(void *arg)
{
	struct asked *asked = arg;
	static char stack[SELF_STACK_SIZE];
	struct unwind_self_attr attr = self_attr();

	attr.stack_start = (uintptr_t)stack;
	if (self_set_stack(stack, sizeof(stack)) || self_enable(&attr) ||
	    asked_open(asked, 0, SYS_getppid))
		return NULL;
	handler.fn = exit_thread;
	self_sample();
	return NULL;
}

TEST_F(request, exit_ends_a_request_and_the_stack_is_delivered)
{
	const unsigned long before = self_count("exited");
	pthread_t thread;

	asked_close(&self->asked);
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_that_exits, &self->asked));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(1, handler.nr);
	EXPECT_EQ(before + 1, self_count("exited"));
	ASSERT_EQ(0, records_read(&self->asked.recs, &self->asked.ring));
	EXPECT_TRUE(records_match(&self->asked.recs, NULL));
	EXPECT_EQ(1, records_count(&self->asked.recs, PERF_RECORD_CALLCHAIN_DEFERRED));
}

static int exec_program(void)
{
	execl("/bin/true", "true", NULL);
	return -errno;
}

/* The new program is not asked: it has no handler, and would die of a signal */
TEST_F(request, exec_ends_a_request_and_opting_in)
{
	const unsigned long before = self_count("executed another program");
	int status;
	pid_t pid;

	asked_close(&self->asked);
	pid = fork();
	if (!pid) {
		if (asked_open(&self->asked, 0, SYS_getppid) || self_enable(&self->asked.attr))
			_exit(2);
		handler.fn = exec_program;
		self_sample();
		_exit(3);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(before + 1, self_count("executed another program"));
}

TEST_F(request, child_does_not_inherit)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(self_disable() == -ENOENT ? 0 : 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/*
 * Other threads and processes end the thread
 */

static int waits_in_handler[2];

/* Say that the handler runs, and wait for the end */
static int wait_for_the_end(void)
{
	if (write(waits_in_handler[1], "", 1) != 1)
		_exit(4);
	for (;;)
		pause();
	return 0;
}

/* In a child: wait to be asked, be asked, and wait for the end */
static void child_that_waits(struct asked *asked, int go)
{
	char byte;

	handler.fn = wait_for_the_end;
	if (self_enable(&asked->attr) || read(go, &byte, 1) != 1)
		_exit(2);
	self_sample();
	_exit(3);
}

TEST_F(request, kill_ends_a_request_and_the_stack_is_delivered)
{
	const unsigned long before = self_count("exited");
	int go[2], status;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(go) | pipe(waits_in_handler));
	asked_close(&self->asked);
	pid = fork();
	if (!pid)
		child_that_waits(&self->asked, go[0]);
	ASSERT_EQ(0, asked_open(&self->asked, pid, SYS_getppid));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(1, read(waits_in_handler[0], &byte, 1));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	EXPECT_EQ(before + 1, self_count("exited"));
	EXPECT_TRUE(asked_native_only(&self->asked));
}

static void *thread_that_waits(void *arg)
{
	static char stack[SELF_STACK_SIZE];
	struct unwind_self_attr attr = self_attr();
	struct asked *asked = arg;

	attr.stack_start = (uintptr_t)stack;
	handler.fn = wait_for_the_end;
	if (self_set_stack(stack, sizeof(stack)) || self_enable(&attr) ||
	    asked_open(asked, 0, SYS_getppid))
		_exit(2);
	self_sample();
	return NULL;
}

TEST_F(request, exec_by_another_thread_ends_a_request)
{
	const unsigned long before = self_count("exited");
	pthread_t thread;
	int status;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(waits_in_handler));
	asked_close(&self->asked);
	pid = fork();
	if (!pid) {
		if (pthread_create(&thread, NULL, thread_that_waits, &self->asked) ||
		    read(waits_in_handler[0], &byte, 1) != 1)
			_exit(3);
		execl("/bin/true", "true", NULL);
		_exit(4);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(before + 1, self_count("exited"));
}

/*
 * Clients come and go meanwhile
 */

/* A trace of an event of this thread, with deferred stacks; 0 or -1 */
static int open_trace(struct ftrace *ft, const char *event)
{
	char file[128], value[64];

	if (ftrace_open(ft, "self"))
		return -1;
	snprintf(file, sizeof(file), "%s/filter", event);
	snprintf(value, sizeof(value), "common_pid == %d", getpid());
	if (!ftrace_set(ft, FTRACE_OPTION, "1") && !ftrace_set(ft, file, value)) {
		snprintf(file, sizeof(file), "%s/enable", event);
		if (!ftrace_set(ft, file, "1"))
			return 0;
	}
	ftrace_close(ft);
	return -1;
}

/* Does the trace have this name in a stack? */
static bool trace_has(const struct ftrace *ft, const char *name)
{
	char *text = ftrace_get(ft, "trace");
	bool has = text && strstr(text, name);

	if (!has)
		printf("# %s\n", text ?: "no trace");
	free(text);
	return has;
}

static void name_frames(void)
{
	static const char inner[] = "inner_function", outer[] = "outer_function";

	handler.frames[0].name = (uintptr_t)inner;
	handler.frames[0].name_size = strlen(inner);
	handler.frames[1].name = (uintptr_t)outer;
	handler.frames[1].name_size = strlen(outer);
}

TEST_F(request, trace_has_the_answer)
{
	const unsigned long before = self_count("answered");
	struct ftrace_log log;
	struct ftrace ft;

	asked_close(&self->asked);
	name_frames();
	if (ftrace_open(&ft, "self"))
		SKIP(return, "no deferred user stacks in traces");
	ASSERT_EQ(0, ftrace_set(&ft, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_event(&ft, FTRACE_ENTER, getpid()));
	self_sample();
	EXPECT_EQ(before + 1, self_count("answered"));
	EXPECT_TRUE(trace_has(&ft, "inner_function"));
	EXPECT_TRUE(trace_has(&ft, "outer_function"));
	ASSERT_EQ(0, ftrace_read(&ft, "trace", &log));
	EXPECT_EQ(1, ftrace_count(&log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&log, NULL));
	ftrace_free(&log);
	EXPECT_EQ(0, ftrace_close(&ft));
}

static struct ftrace first, second;

/* The client goes, and another gets its place */
static int change_clients(void)
{
	if (ftrace_close(&first) || ftrace_open(&second, "second") ||
	    ftrace_set(&second, FTRACE_OPTION, "1"))
		return -1;
	return self_submit(&handler.answer);
}

TEST_F(request, client_gets_no_stack_that_another_has_asked_for)
{
	const unsigned long before = self_count("answered") + self_count("not in time");
	struct ftrace_log log;

	asked_close(&self->asked);
	if (ftrace_open(&first, "first"))
		SKIP(return, "no deferred user stacks in traces");
	ASSERT_EQ(0, ftrace_set(&first, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_event(&first, FTRACE_ENTER, getpid()));
	handler.fn = change_clients;
	self_sample();
	/* On a slow machine, all that takes too long */
	EXPECT_EQ(before + 1, self_count("answered") + self_count("not in time"));
	ASSERT_EQ(0, ftrace_read(&second, "trace", &log));
	EXPECT_EQ(0, ftrace_count(&log, FTRACE_STACK));
	ftrace_free(&log);
	/* It gets its own */
	handler.fn = NULL;
	ASSERT_EQ(0, ftrace_event(&second, FTRACE_ENTER, getpid()));
	self_sample();
	ASSERT_EQ(0, ftrace_read(&second, "trace", &log));
	EXPECT_EQ(1, ftrace_count(&log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&log, NULL));
	ftrace_free(&log);
	EXPECT_EQ(0, ftrace_close(&second));
}

#define LATER_EVENT	"unwind_self_later"

/* Its request comes when the thread has just been asked because of another client's */
TEST_F(request, second_client_gets_the_same_answer)
{
	const unsigned long before = self_count("answered");
	const struct record *sample;
	struct ftrace_log log;
	struct ftrace ft;
	uint64_t nr;

	if (ftrace_kprobe("p:" LATER_EVENT " signal_setup_done"))
		SKIP(return, "no kprobe events");
	EXPECT_EQ(0, open_trace(&ft, "events/kprobes/" LATER_EVENT));
	name_frames();
	self_sample();
	EXPECT_EQ(1, handler.nr);
	EXPECT_EQ(before + 1, self_count("answered"));
	EXPECT_NE(NULL, asked_frames(&self->asked, &nr));
	EXPECT_EQ(2, nr);
	sample = records_get(&self->asked.recs, PERF_RECORD_SAMPLE, 0);
	EXPECT_TRUE(trace_has(&ft, "outer_function"));
	EXPECT_EQ(0, ftrace_read(&ft, "trace", &log));
	EXPECT_EQ(1, ftrace_count(&log, FTRACE_STACK));
	EXPECT_NE(NULL, ftrace_stack(&log, sample->cookie));
	ftrace_free(&log);
	EXPECT_EQ(0, ftrace_close(&ft));
	EXPECT_EQ(0, ftrace_kprobe("-:" LATER_EVENT));
}

#define LAST_EVENT	"unwind_self_last"
#define MANY_CALLS	20

static int answer_or_give_up(void)
{
	return handler.nr < MANY_CALLS ? self_submit(&handler.answer) : self_disable();
}

/*
 * One client asks in each sigreturn, the other one after that, on the last steps to user space:
 * there the thread gets back its buffer.  Nobody asks the thread again for these.
 */
TEST_F(request, thread_that_has_answered_goes_on_in_spite_of_two_clients)
{
	const char *enable = "events/kprobes/" LAST_EVENT "/enable";
	char filter[64];
	struct ftrace ft;

	/* A filter cannot be changed */
	asked_close(&self->asked);
	ASSERT_EQ(0, asked_open_event(&self->asked, 0));
	snprintf(filter, sizeof(filter), "id == %d || id == %d", SYS_getppid, SYS_rt_sigreturn);
	ASSERT_EQ(0, ioctl(self->asked.fd, PERF_EVENT_IOC_SET_FILTER, filter));
	ASSERT_EQ(0, event_enable(self->asked.fd));
	if (ftrace_kprobe("p:" LAST_EVENT " unwind_self_swap cache=$arg2:u64"))
		SKIP(return, "no kprobe events");
	EXPECT_EQ(0, ftrace_open(&ft, "last"));
	EXPECT_EQ(0, ftrace_set(&ft, FTRACE_OPTION, "1"));
	snprintf(filter, sizeof(filter), "common_pid == %d && cache != 0", getpid());
	EXPECT_EQ(0, ftrace_set(&ft, "events/kprobes/" LAST_EVENT "/filter", filter));
	EXPECT_EQ(0, ftrace_set(&ft, enable, "1"));
	handler.fn = answer_or_give_up;
	self_sample();
	EXPECT_EQ(1, handler.nr);
	EXPECT_EQ(0, handler.result);
	EXPECT_EQ(0, ftrace_close(&ft));
	EXPECT_EQ(0, ftrace_kprobe("-:" LAST_EVENT));
}

/*
 * The program sees no difference
 */

static sigset_t mask_in_handler;

static int note_mask(void)
{
	sigprocmask(SIG_SETMASK, NULL, &mask_in_handler);
	return self_submit(&handler.answer);
}

TEST_F(request, handler_runs_like_a_signals)
{
	struct sigaction action = {
		.sa_sigaction = self_on_request,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	sigset_t mask, before;

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR2);
	sigaction(SELF_SIGNAL, &action, NULL);
	sigprocmask(SIG_SETMASK, NULL, &before);
	handler.fn = note_mask;
	self_sample();
	sigprocmask(SIG_SETMASK, NULL, &mask);
	EXPECT_EQ(1, sigismember(&mask_in_handler, SELF_SIGNAL));
	EXPECT_EQ(1, sigismember(&mask_in_handler, SIGUSR2));
	EXPECT_EQ(0, memcmp(&before, &mask, 8));
	sigpending(&mask);
	EXPECT_EQ(0, sigismember(&mask, SELF_SIGNAL));
}

#define TURNS		1000000
#define REQUESTS	50

/* A result that depends on all registers that a compiler uses for it */
static double compute(unsigned long *sum)
{
	double a = 1, b = 2, c = 3, d = 5;
	unsigned long v = 1, w = 2, x = 3;
	unsigned int i;

	for (i = 0; i < TURNS; i++) {
		v = v * 6364136223846793005UL + w;
		w ^= v >> 29;
		x += v ^ i;
		a = a * 0.5 + (double)(v & 0xff);
		b = b * 0.25 + a;
		c = c * 0.75 + b;
		d = (d + c) * 0.125;
	}
	*sum = v + w + x;
	return a + b + c + d;
}

/* The handler uses all kinds of registers, too */
static int compute_in_handler(void)
{
	double use = 1;
	int i;

	for (i = 0; i < 100; i++) {
		use = use * 1.5 + i;
		asm volatile("" : "+m"(use));
	}
	return self_submit(&handler.answer);
}

/* A timer's interrupts ask at any instruction; nobody reads their samples */
TEST_F_TIMEOUT(request, interrupted_computation_has_the_same_result, 180)
{
	unsigned long expected, sum;
	const double result = compute(&expected);

	asked_close(&self->asked);
	event_attr(&self->asked.event, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	self->asked.event.sample_period = 100000;
	ASSERT_EQ(0, asked_open_event(&self->asked, 0));
	handler.fn = compute_in_handler;
	ASSERT_EQ(0, event_enable(self->asked.fd));
	while (handler.nr < REQUESTS) {
		ASSERT_EQ(result, compute(&sum));
		ASSERT_EQ(expected, sum);
	}
	event_disable(self->asked.fd);
}

TEST_F(request, result_of_the_system_call_is_kept)
{
	int i;

	for (i = 0; i < 100; i++)
		ASSERT_EQ(getppid(), syscall(SYS_getppid));
	EXPECT_LE(100, handler.nr);
}

/* Stop and continue a child until it exits: its status */
static int stop_and_continue(pid_t pid)
{
	const struct timespec time = { .tv_nsec = 20000000 };
	int status;

	do {
		nanosleep(&time, NULL);
		kill(pid, SIGSTOP);
		if (waitpid(pid, &status, WUNTRACED) != pid)
			return -1;
		kill(pid, SIGCONT);
	} while (WIFSTOPPED(status));
	return status;
}

static long milliseconds(const struct timespec *time)
{
	return time->tv_sec * 1000 + time->tv_nsec / 1000000;
}

/* Sleeps that are started again after each stop: each sends a signal, which is a request */
static int sleep_all_the_time(struct asked *asked)
{
	const struct timespec time = { .tv_nsec = 100000000 };
	struct timespec before, after;
	struct pollfd none;

	if (tracepoint_attr(&asked->event, "signal/signal_generate"))
		return 1;
	if (asked_open_event(asked, 0) || event_enable(asked->fd) || self_enable(&asked->attr))
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &before);
	if (nanosleep(&time, NULL))
		return 3;
	if (poll(&none, 0, 100))
		return 4;
	clock_gettime(CLOCK_MONOTONIC, &after);
	return milliseconds(&after) - milliseconds(&before) < 200 ? 5 : 0;
}

TEST_F(request, sleeps_that_start_again_are_neither_interrupted_nor_shorter)
{
	const unsigned long before = self_count("refused: system call restarts");
	pid_t pid;

	asked_close(&self->asked);
	pid = fork();
	if (!pid)
		_exit(sleep_all_the_time(&self->asked));
	EXPECT_EQ(0, stop_and_continue(pid));
	EXPECT_LT(before, self_count("refused: system call restarts"));
}

TEST_HARNESS_MAIN
