// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that find their own frames, with a request in each system call that they make.
 *
 * They sleep in every way, block the signal, change their alternate stack, are in handlers of
 * other signals, fork, exit and execute programs. No call fails or ends early that would not
 * have without requests. Each request has one outcome, and each stack is delivered once, with
 * the thread's frames if it has answered.
 *
 * The handlers are called for a tenth of UNWIND_STRESS_REQUESTS.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "perf.h"
#include "../../kselftest_harness.h"

#define THREADS		4
#define PAGES		512
#define STACK_SIZE	65536
#define REQUESTS	50000
#define SHARE		10
#define FRAMES		20
/* Actions between two looks at the records */
#define TURN		64
#define OUTCOMES	"/sys/kernel/debug/unwind/self"

#define REQUEST		(SIGRTMIN + 3)
#define OTHER		(SIGRTMIN + 4)

struct shared {
	/* Nobody stops the program any more */
	atomic_bool	stops_end;
	/* Calls of the handler, in all threads and children */
	atomic_ulong	handled;
	atomic_ulong	answered;
	/* Of children, whose records nobody reads */
	atomic_ulong	answered_by_children;
};

static struct shared *shared;
static unsigned long wanted;
/* Is the program stopped and continued all the time? */
static bool stops;

struct worker {
	struct perf_event_attr	event;
	struct ring		ring;
	struct records		recs;
	pthread_t		thread;
	unsigned int		seed;
	unsigned int		children;
	int			fd;
	int			pipe[2];
	int			epoll;
	char			*stack;
	unsigned long		runtime;
	/* The first failure */
	char			failed[128];
};

static __thread struct worker *self;
/* The end of the handler */
enum end { ANSWER, IGNORE, EXIT, EXEC };
static __thread enum end in_handler;
static bool is_child;

/* syscall() is declared as a leaf: the compiler may assume that no handler runs during it */
static void set_end(enum end end)
{
	in_handler = end;
	asm volatile("" : : : "memory");
}

static int self_call(unsigned long op, const void *attr, size_t size)
{
	return syscall(SYS_prctl, PR_UNWIND_SELF, op, attr, size, 0) < 0 ? -errno : 0;
}

static void on_request(int signal, siginfo_t *info, void *context)
{
	struct unwind_self_frame frames[FRAMES];
	struct unwind_self_answer answer = {
		.nonce = (uintptr_t)info->si_value.sival_ptr,
		.frames = (uintptr_t)frames,
		.nr = FRAMES,
		.format = UNWIND_SELF_NAMES,
	};
	const int saved = errno;
	int i;

	atomic_fetch_add(&shared->handled, 1);
	switch (in_handler) {
	case EXIT:
		syscall(SYS_exit, 0);
		break;
	case EXEC:
		execl("/bin/true", "true", NULL);
		_exit(1);
	case IGNORE:
		return;
	case ANSWER:
		break;
	}
	for (i = 0; i < FRAMES; i++)
		frames[i] = (struct unwind_self_frame){
			.function = 4096 + i,
			.name = (uintptr_t)"function",
			.name_size = 8,
		};
	if (!self_call(PR_UNWIND_SELF_ANSWER, &answer, sizeof(answer)))
		atomic_fetch_add(is_child ? &shared->answered_by_children :
				 &shared->answered, 1);
	errno = saved;
}

static void on_other(int signal)
{
	const int saved = errno;

	syscall(SYS_getppid);
	errno = saved;
}

/*
 * The actions of a thread.  A failure is a string.
 */

#define FAILED(what, value) ({						\
	snprintf(self->failed, sizeof(self->failed), "%s: %ld, %s", what, (long)(value), \
		 strerror(errno));					\
	false;								\
})

/* Some calls are not started again after a stop, see signal(7) */
static bool was_stopped(void)
{
	return stops && errno == EINTR;
}

static const struct timespec moment = { .tv_nsec = 100000 };

static bool sleeps(void)
{
	struct timespec time = moment;

	if (nanosleep(&time, NULL))
		return FAILED("nanosleep", 0);
	if (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL))
		return FAILED("clock_nanosleep", 0);
	return true;
}

static bool polls(void)
{
	struct pollfd fd = { .fd = self->pipe[0], .events = POLLIN };
	struct timespec time = moment;
	struct epoll_event event;
	sigset_t set;
	int ret;

	ret = poll(&fd, 1, 1);
	if (ret)
		return FAILED("poll", ret);
	/* With a mask that is restored on the way out */
	sigemptyset(&set);
	ret = ppoll(&fd, 1, &time, &set);
	if (ret)
		return FAILED("ppoll", ret);
	ret = pselect(0, NULL, NULL, NULL, &time, &set);
	if (ret)
		return FAILED("pselect", ret);
	ret = epoll_wait(self->epoll, &event, 1, 1);
	if (ret && !was_stopped())
		return FAILED("epoll_wait", ret);
	return true;
}

static bool waits_for_futex(void)
{
	unsigned int word = 1;
	struct timespec time = moment;

	if (!syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &time, NULL, 0) ||
	    errno != ETIMEDOUT)
		return FAILED("futex", 0);
	return true;
}

static bool waits_for_signal(void)
{
	struct timespec time = moment;
	sigset_t set, old;
	bool right = true;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	if (sigtimedwait(&set, NULL, &time) >= 0 || (errno != EAGAIN && !was_stopped()))
		right = FAILED("sigtimedwait", 0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return right;
}

static bool reads(void)
{
	char byte = 17, got = 0;

	if (write(self->pipe[1], &byte, 1) != 1)
		return FAILED("write", 0);
	if (read(self->pipe[0], &got, 1) != 1 || got != byte)
		return FAILED("read", got);
	if (syscall(SYS_getppid) != getppid())
		return FAILED("getppid", 0);
	return true;
}

static bool blocks(void)
{
	sigset_t set, old, now;

	sigemptyset(&set);
	sigaddset(&set, REQUEST);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	syscall(SYS_getppid);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	return !memcmp(&old, &now, 8) || FAILED("mask", 0);
}

/* A handler on the alternate stack, and one that is not */
static bool handles(void)
{
	raise(OTHER);
	return true;
}

static bool changes_stack(void)
{
	static __thread char other[STACK_SIZE];
	stack_t stack = { .ss_sp = other, .ss_size = STACK_SIZE }, old, now;

	if (sigaltstack(&stack, &old))
		return FAILED("sigaltstack", 0);
	syscall(SYS_getppid);
	/* Its pages go and come back */
	if (madvise(self->stack, STACK_SIZE, MADV_DONTNEED))
		return FAILED("madvise", 0);
	if (sigaltstack(&old, &now) || now.ss_sp != other)
		return FAILED("sigaltstack", 1);
	return true;
}

static bool does_not_answer(void)
{
	set_end(IGNORE);
	syscall(SYS_getppid);
	set_end(ANSWER);
	return true;
}

static int enable(void)
{
	const struct unwind_self_attr attr = {
		.signal = REQUEST,
		.stack_start = (uintptr_t)self->stack,
		.stack_size = STACK_SIZE,
		.timeout = 3,
	};

	return self_call(PR_UNWIND_SELF_ENABLE, &attr, sizeof(attr));
}

static int open_event(void)
{
	self->fd = event_open(&self->event, 0, -1);
	if (self->fd < 0)
		return -errno;
	return ring_map(&self->ring, self->fd, PAGES) ?: event_enable(self->fd);
}

static void close_event(void)
{
	ring_unmap(&self->ring);
	close(self->fd);
}

/* The child of a thread has no event, and has not opted in: it does both, and is gone */
static bool has_child(void)
{
	const unsigned int end = self->children++ % 3;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		is_child = true;
		close_event();
		if (open_event() || enable())
			_exit(1);
		syscall(SYS_getppid);
		set_end(end == 0 ? EXIT : end == 1 ? EXEC : ANSWER);
		syscall(SYS_getppid);
		if (end)
			execl("/bin/true", "true", NULL);
		_exit(0);
	}
	if (pid < 0)
		return FAILED("fork", 0);
	if (waitpid(pid, &status, 0) != pid)
		return FAILED("waitpid", 0);
	return !status || FAILED("child", status);
}

static bool opts_out_and_in(void)
{
	int ret = self_call(PR_UNWIND_SELF_DISABLE, NULL, 0);

	ret = ret ?: enable();
	return !ret || FAILED("enable", ret);
}

static bool (* const actions[])(void) = {
	sleeps, polls, waits_for_futex, waits_for_signal, reads, blocks, handles, changes_stack,
	does_not_answer, opts_out_and_in,
};

/*
 * With no request outstanding, each stack has come once.  Records are counted, and forgotten:
 * the next ones are of system calls that come.
 */
static bool count_records(bool go_on)
{
	const struct record *rec;
	size_t i;

	if (self_call(PR_UNWIND_SELF_DISABLE, NULL, 0))
		return FAILED("disable", 0);
	if (records_read(&self->recs, &self->ring))
		return FAILED("records", 0);
	for (i = 0; (rec = records_get(&self->recs, PERF_RECORD_SAMPLE, i)); i++) {
		if (records_with_cookie(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED,
					rec->cookie) != 1)
			return FAILED("stacks of one cookie", i);
	}
	self->runtime += records_count(&self->recs, PERF_RECORD_CALLCHAIN_RUNTIME);
	records_free(&self->recs);
	return !go_on || !enable() || FAILED("enable", 0);
}

static void *work(void *arg)
{
	stack_t stack = { .ss_size = STACK_SIZE };
	unsigned int i = 0;
	bool right = true;

	self = arg;
	stack.ss_sp = self->stack;
	if (sigaltstack(&stack, NULL) || open_event() || enable()) {
		FAILED("start", 0);
		return NULL;
	}
	while (right && atomic_load(&shared->handled) < wanted) {
		right = actions[rand_r(&self->seed) % ARRAY_SIZE(actions)]();
		if (right && !(++i % TURN))
			right = has_child() && count_records(true);
	}
	if (right)
		count_records(false);
	close_event();
	return NULL;
}

static unsigned long count(const char *begin)
{
	FILE *file = fopen(OUTCOMES, "r");
	unsigned long nr, sum = 0;
	char name[64];

	while (file && fscanf(file, "%lu %63[^\n]", &nr, name) == 2) {
		if (!strncmp(name, begin, strlen(begin)))
			sum += nr;
	}
	if (file)
		fclose(file);
	return sum;
}

struct outcomes {
	unsigned long	answered, late, exited, execed, refused;
};

static struct outcomes read_outcomes(void)
{
	return (struct outcomes){
		.answered = count("answered"), .late = count("not in time"),
		.exited = count("exited"), .execed = count("executed"),
		.refused = count("refused"),
	};
}

static int start(struct worker *worker, const struct perf_event_attr *event)
{
	worker->event = *event;
	worker->stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	worker->epoll = epoll_create1(EPOLL_CLOEXEC);
	worker->seed = worker->epoll;
	if (worker->stack == MAP_FAILED || worker->epoll < 0 ||
	    pipe2(worker->pipe, O_CLOEXEC))
		return -1;
	return pthread_create(&worker->thread, NULL, work, worker);
}

static int install(void)
{
	struct sigaction action = {
		.sa_sigaction = on_request,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};

	if (sigaction(REQUEST, &action, NULL))
		return -1;
	action = (struct sigaction){ .sa_handler = on_other, .sa_flags = SA_ONSTACK };
	return sigaction(OTHER, &action, NULL);
}

/*
 * Stop and continue the program, so that its sleeps are started again.  The parent of the
 * test's process is the harness, which is not to see that: a child does it.
 */
static pid_t stop_all_the_time(void)
{
	const struct timespec time = { .tv_nsec = 5000000 };
	const pid_t pid = getpid(), child = fork();

	if (child)
		return child;
	/* It must not end between the two signals */
	while (!atomic_load(&shared->stops_end) && getppid() == pid) {
		nanosleep(&time, NULL);
		kill(pid, SIGSTOP);
		kill(pid, SIGCONT);
	}
	_exit(0);
}

FIXTURE(requests)
{
};

FIXTURE_VARIANT(requests)
{
	bool stops;
};

FIXTURE_VARIANT_ADD(requests, running)
{
};

FIXTURE_VARIANT_ADD(requests, stopped_and_continued)
{
	.stops = true,
};

FIXTURE_SETUP(requests)
{
	stops = variant->stops;
}

FIXTURE_TEARDOWN(requests)
{
}

TEST_F_TIMEOUT(requests, each_has_one_outcome_and_no_call_differs, 7200)
{
	const char *setting = getenv("UNWIND_STRESS_REQUESTS");
	static struct worker workers[THREADS];
	struct outcomes before, after;
	unsigned long runtime = 0;
	struct perf_event_attr event;
	unsigned int i;
	pid_t stopper = 0;

	wanted = (setting ? strtoul(setting, NULL, 0) : REQUESTS) / SHARE;
	if (tracepoint_attr(&event, "raw_syscalls/sys_enter") || access(OUTCOMES, R_OK))
		SKIP(return, "no raw_syscalls tracepoints, or not root");
	event.sample_period = 1;
	event.defer_runtime = 1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	ASSERT_EQ(0, install());
	before = read_outcomes();
	if (stops)
		stopper = stop_all_the_time();
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, start(&workers[i], &event));
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(workers[i].thread, NULL));
		EXPECT_STREQ("", workers[i].failed);
		runtime += workers[i].runtime;
	}
	if (stopper) {
		atomic_store(&shared->stops_end, true);
		waitpid(stopper, NULL, 0);
	}
	after = read_outcomes();

	/* The handler was called once for each request that was not refused */
	EXPECT_EQ(shared->handled, after.answered - before.answered + after.late - before.late +
		  after.exited - before.exited + after.execed - before.execed);
	EXPECT_EQ(shared->answered + shared->answered_by_children,
		  after.answered - before.answered);
	EXPECT_EQ(shared->answered, runtime);
	EXPECT_LT(0, after.late - before.late);
	EXPECT_LT(0, after.refused - before.refused);
	TH_LOG("%lu requests: %lu answered, %lu not in time, %lu exited, %lu executed; %lu refused",
	       shared->handled, after.answered - before.answered, after.late - before.late,
	       after.exited - before.exited, after.execed - before.execed,
	       after.refused - before.refused);
}

TEST_HARNESS_MAIN
