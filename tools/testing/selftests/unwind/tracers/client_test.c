// SPDX-License-Identifier: GPL-2.0
/*
 * The sample client of deferred stacks, samples/unwind/client.c: requests that are made
 * in NMI, their stacks, and a module that is unloaded while tasks have pending requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client_events.h"
#include "put.h"
#include "sampled.h"
#include "spin.h"
#include "trace.h"
#include "../../kselftest_harness.h"

#define RATE		200
#define STACKS		300
#define EVENTS_MAX	100000

#define RATE_FAST	2000
#define ROUNDS		25
#define ROUND_REQUESTS	10

/* Memory that children share with the test */
static struct shared {
	struct notes	notes;
	unsigned long	turns[16];
} *shared;

FIXTURE(client)
{
	struct client_events events;
	struct client_event event;
	pid_t child[16];
	unsigned int children;
	int klog;
};

FIXTURE_SETUP(client)
{
	int ret;

	self->klog = -1;
	self->events.fd = -1;
	/* Another test may have left it loaded */
	client_unload();
	ret = client_load(RATE);
	if (ret && (errno == ENOENT || errno == EPERM))
		SKIP(return, "no unwind_client.ko (UNWIND_MODULES=?), or not root");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, client_unload());
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	self->klog = klog_open();
	ASSERT_NE(-1, self->klog);
	ASSERT_EQ(0, client_events_open(&self->events));
}

static void stop_children(struct _test_data_client *self)
{
	unsigned int i;

	for (i = 0; i < self->children; i++)
		kill(self->child[i], SIGKILL);
	for (i = 0; i < self->children; i++)
		waitpid(self->child[i], NULL, 0);
	self->children = 0;
}

FIXTURE_TEARDOWN(client)
{
	stop_children(self);
	client_unload();
	client_events_close(&self->events);
	if (self->klog >= 0)
		close(self->klog);
}

static pid_t start_child(struct _test_data_client *self,
			 void (*part)(unsigned int i))
{
	unsigned int i = self->children;
	pid_t pid = fork();

	if (!pid) {
		/* Its own children do not outlive it, nor does it outlive the test */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		part(i);
		_exit(1);
	}
	if (pid > 0)
		self->child[self->children++] = pid;
	return pid;
}

/*
 * A program that spends its time at the end of a chain, see spin.h
 */

static void spin(unsigned int i)
{
	spin_in_chain(&shared->notes);
}

static bool in_spin(const struct client_event *event)
{
	return event->nr_ip && spin_has(event->ip[0]);
}

/* Is it the whole chain, under spin()? */
static bool stack_is_right(const struct client_event *event)
{
	struct stack stack, expected;

	expect_chain(&expected, &shared->notes);
	stack.nr = 0;
	while (stack.nr < SAMPLED_MAX && stack.nr + 1 < event->nr_ip) {
		stack.ip[stack.nr] = event->ip[stack.nr + 1];
		stack.nr++;
	}
	return event->nr == event->nr_ip && stack_begins_with(&stack, &expected);
}

/* The result of each cookie */

struct cookie {
	uint64_t	cookie;
	unsigned int	accepted;
	unsigned int	again;
	unsigned int	stacks;
};

struct tally {
	unsigned int	nr;
	unsigned int	requests;
	unsigned int	refused;
	unsigned int	not_in_nmi;
	unsigned int	odd;
	unsigned int	right;
	unsigned int	wrong;
	struct cookie	cookie[EVENTS_MAX];
};

/* Search the latest first: they come again */
static struct cookie *tally_cookie(struct tally *tally, uint64_t cookie)
{
	unsigned int i;

	for (i = tally->nr; i; i--)
		if (tally->cookie[i - 1].cookie == cookie)
			return &tally->cookie[i - 1];
	if (tally->nr == EVENTS_MAX)
		return NULL;
	tally->cookie[tally->nr] = (struct cookie){ .cookie = cookie };
	return &tally->cookie[tally->nr++];
}

static void tally_stack(struct tally *tally, struct cookie *cookie,
			const struct client_event *event)
{
	cookie->stacks++;
	if (!in_spin(event))
		return;
	if (stack_is_right(event))
		tally->right++;
	else
		tally->wrong++;
}

static void tally_event(struct tally *tally, const struct client_event *event)
{
	struct cookie *cookie = NULL;

	if (event->is_stack || event->ret >= 0)
		cookie = tally_cookie(tally, event->cookie);
	if (event->is_stack && cookie) {
		tally_stack(tally, cookie, event);
		return;
	}
	tally->requests++;
	tally->not_in_nmi += !event->in_nmi;
	if (event->ret < 0 && !event->cookie)
		tally->refused++;
	else if (event->ret == 0 && event->cookie && cookie)
		cookie->accepted++;
	else if (event->ret == 1 && event->cookie && cookie)
		cookie->again++;
	else
		tally->odd++;
}

TEST_F_TIMEOUT(client, gets_right_stacks, 300)
{
	unsigned int i, unanswered = 0, again = 0;
	struct tally *tally;
	pid_t pid;
	int ret;

	tally = calloc(1, sizeof(*tally));
	ASSERT_NE(NULL, tally);
	ASSERT_EQ(0, client_load(RATE));
	ASSERT_EQ(0, client_events_enable(&self->events, true));
	pid = start_child(self, spin);
	ASSERT_LT(0, pid);

	while (tally->right + tally->wrong < STACKS && tally->nr < EVENTS_MAX) {
		ASSERT_EQ(1, client_events_next(&self->events, &self->event, true));
		if (self->event.pid == pid)
			tally_event(tally, &self->event);
	}
	/* The client gets its pending stacks before it is gone */
	stop_children(self);
	ASSERT_EQ(0, client_events_enable(&self->events, false));
	while ((ret = client_events_next(&self->events, &self->event, false)) == 1)
		if (self->event.pid == pid)
			tally_event(tally, &self->event);
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, client_unload());

	for (i = 0; i < tally->nr; i++) {
		const struct cookie *cookie = &tally->cookie[i];

		again += cookie->again;
		if (cookie->accepted == 1 && cookie->stacks == 1)
			continue;
		if (!unanswered++)
			TH_LOG("cookie %#lx: accepted %u times, %u again, %u stacks",
			       cookie->cookie, cookie->accepted, cookie->again,
			       cookie->stacks);
	}
	TH_LOG("%u requests: %u cookies, %u again, %u refused; %u stacks of the program",
	       tally->requests, tally->nr, again, tally->refused, tally->right);
	EXPECT_EQ(0, tally->not_in_nmi);
	EXPECT_EQ(0, tally->odd);
	EXPECT_EQ(0, unanswered);
	EXPECT_EQ(0, tally->wrong);
	EXPECT_LE(STACKS, tally->right);
	EXPECT_TRUE(klog_silent(self->klog));
}

/*
 * Programs that are hit everywhere: in their code, in short and long system calls, on the
 * return to user space, and while they wait for the CPU with a pending request.
 */

static void compute(unsigned int i)
{
	unsigned int j;

	for (;;) {
		/* Other processes see this count */
		for (j = 0; j < 10000; j++)
			asm volatile("" : : : "memory");
		shared->turns[i]++;
	}
}

static void call(unsigned int i)
{
	for (;;) {
		syscall(SYS_getppid);
		shared->turns[i]++;
	}
}

static void read_maps(unsigned int i)
{
	char buf[4096];
	int fd;

	for (;;) {
		fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
		shared->turns[i]++;
	}
}

static void fork_and_exit(unsigned int i)
{
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		shared->turns[i]++;
	}
}

static void exec(unsigned int i)
{
	char *const argv[] = { "true", NULL };
	pid_t pid;

	for (;;) {
		pid = vfork();
		if (!pid) {
			execv("/bin/true", argv);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
		shared->turns[i]++;
	}
}

static void (*const parts[])(unsigned int i) = {
	compute, call, read_maps, fork_and_exit, exec, compute, call, read_maps,
};

#define PARTS	(sizeof(parts) / sizeof(*parts))

/* Load, wait for some accepted requests, unload; return 0, or the failed line */
static int load_and_unload(struct _test_data_client *self)
{
	unsigned int accepted = 0;

	if (client_load(RATE_FAST) || client_events_enable(&self->events, true))
		return __LINE__;
	while (accepted < ROUND_REQUESTS) {
		if (client_events_next(&self->events, &self->event, true) != 1)
			return __LINE__;
		accepted += !self->event.is_stack && self->event.ret == 0;
	}
	if (client_unload())
		return __LINE__;
	/* The events went with the module */
	self->events.used = 0;
	while (read(self->events.fd, self->events.text, sizeof(self->events.text)) > 0)
		;
	return 0;
}

/* Has each program made progress? On a slow machine that takes several rounds. */
static bool all_have_turned(void)
{
	unsigned int i;

	for (i = 0; i < PARTS; i++)
		if (!shared->turns[i])
			return false;
	return true;
}

TEST_F_TIMEOUT(client, unloads_under_load, 600)
{
	unsigned int i, round;

	for (i = 0; i < PARTS; i++)
		ASSERT_LT(0, start_child(self, parts[i]));
	for (round = 0; round < ROUNDS || !all_have_turned(); round++)
		ASSERT_EQ(0, load_and_unload(self)) {
			TH_LOG("round %u: %s", round, strerror(errno));
		}
	for (i = 0; i < PARTS; i++)
		EXPECT_EQ(0, waitpid(self->child[i], NULL, WNOHANG));
	stop_children(self);
	EXPECT_TRUE(klog_silent(self->klog));
}

/* A trigger that went with the module would leave its instance among those who ask for stacks */
TEST_F(client, event_with_a_stack_trigger_keeps_its_module)
{
	char dir[192];
	int i;

	snprintf(dir, sizeof(dir), "%s/events/unwind_client/unwind_client_request",
		 self->events.dir);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, client_load(1));
		if (put_word(dir, "trigger", "userstacktrace"))
			SKIP(return, "no trigger for deferred user stacks");
		EXPECT_GT(0, put_word(dir, "trigger", "userstacktrace"));
		EXPECT_EQ(-1, client_unload());
		EXPECT_EQ(EWOULDBLOCK, errno);
		ASSERT_EQ(0, put_word(dir, "trigger", "!userstacktrace"));
		ASSERT_EQ(0, client_unload());
	}
	/* So does the trigger of an instance that is removed */
	ASSERT_EQ(0, client_load(1));
	ASSERT_EQ(0, put_word(dir, "trigger", "userstacktrace"));
	client_events_close(&self->events);
	EXPECT_EQ(0, client_unload());
	EXPECT_TRUE(klog_silent(self->klog));
}

TEST_F(client, bad_rate_returns_einval)
{
	EXPECT_EQ(-1, client_load(0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, client_load(10001));
	EXPECT_EQ(EINVAL, errno);
	/* Nothing of it is left */
	EXPECT_EQ(0, client_load(10000));
	EXPECT_EQ(0, client_unload());
	EXPECT_TRUE(klog_silent(self->klog));
}

TEST_HARNESS_MAIN
