// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred user stacks for BPF programs: what is promised, and not yet there.
 *
 * bpf_get_stackid() with BPF_F_USER_DEFER promises an element of a stack map, which
 * is filled when the task leaves the kernel. That may be long after, and meanwhile
 * the task may be killed, the element deleted, and all who asked be gone.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_session.h"
#include "ftrace.h"
#include "waiter.h"
#include "../../kselftest_harness.h"

#define CALLS		100

/*
 * Stack maps
 */

static int map_make(unsigned int max_entries)
{
	return bpf_map_make(BPF_MAP_TYPE_STACK_TRACE, sizeof(uint32_t),
			    SAMPLED_MAX * sizeof(uint64_t), max_entries, 0);
}

/* The stack with an id; 0, or -errno */
static int map_stack(int map, uint32_t id, struct stack *stack)
{
	uint64_t ips[SAMPLED_MAX] = {};
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&id,
		.value = (uintptr_t)ips,
	};

	stack->nr = 0;
	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		return -errno;
	while (stack->nr < SAMPLED_MAX && ips[stack->nr]) {
		stack->ip[stack->nr] = ips[stack->nr];
		stack->nr++;
	}
	return 0;
}

static int map_delete(int map, uint32_t id)
{
	union bpf_attr attr = { .map_fd = map, .key = (uintptr_t)&id };

	return bpf(BPF_MAP_DELETE_ELEM, &attr) ? -errno : 0;
}

static bool map_has_noted(int map, uint32_t id)
{
	struct stack stack, expected;
	int err = map_stack(map, id, &stack);

	if (err) {
		printf("# id %u: %s\n", id, strerror(-err));
		return false;
	}
	expect_chain(&expected, &whole);
	return stack_is(&stack, &expected);
}

FIXTURE(map)
{
	struct session session;
	int map;
};

FIXTURE_SETUP(map)
{
	self->map = -1;
	if (session_open(&self->session))
		SKIP(return, "no deferred stacks for BPF, or not root");
}

FIXTURE_TEARDOWN(map)
{
	session_close(&self->session);
	close(self->map);
}

/* Ask for an id with a map of @max_entries, at getppid() */
static int map_open(struct _test_data_map *self, unsigned int max_entries,
		    uint64_t flags)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter",
		.tgid = getpid(), .syscall = SYS_getppid, .flags = DEFER | flags,
	};

	if (self->map < 0)
		self->map = map_make(max_entries);
	asker.map = self->map;
	bpf_attached_close(&self->session.asker);
	return bpf_asker_open(&self->session.asker, &asker, &self->session.ring);
}

/* Call @fn, in which the program asks; its answer, or 1 */
static long map_call(struct _test_data_map *self, void (*fn)(void *arg))
{
	struct bpf_event event;
	long ret = 1;

	whole_run(fn, NULL, NULL);
	while (bpf_ring_next(&self->session.ring, &event, false))
		if (event.kind == BPF_ASKED)
			ret = event.ret;
	return ret;
}

TEST_F(map, is_filled)
{
	long id;
	int i;

	ASSERT_EQ(0, map_open(self, 16384, 0));
	for (i = 0; i < CALLS; i++) {
		id = map_call(self, call_getppid);
		/* By chance */
		if (id == -EEXIST)
			continue;
		ASSERT_LE(0, id);
		ASSERT_GT(16384, id);
		EXPECT_TRUE(map_has_noted(self->map, id));
	}
}

static void outer_other(void *arg)
{
	char locals[32];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	call_getppid(arg);
	asm volatile("" : : "r"(locals) : "memory");
}

TEST_F(map, has_one_stack_per_id)
{
	struct stack first, stack;

	ASSERT_EQ(0, map_open(self, 1, 0));
	EXPECT_EQ(0, map_call(self, call_getppid));
	EXPECT_TRUE(map_has_noted(self->map, 0));
	ASSERT_EQ(0, map_stack(self->map, 0, &first));

	/* It stays */
	EXPECT_EQ(-EEXIST, map_call(self, outer_other));
	ASSERT_EQ(0, map_stack(self->map, 0, &stack));
	EXPECT_TRUE(stack_is(&stack, &first));

	/* Unless it is to be replaced */
	ASSERT_EQ(0, map_open(self, 1, BPF_F_REUSE_STACKID));
	EXPECT_EQ(0, map_call(self, outer_other));
	EXPECT_TRUE(map_has_noted(self->map, 0));

	ASSERT_EQ(0, map_delete(self->map, 0));
	EXPECT_EQ(-ENOENT, map_delete(self->map, 0));
	EXPECT_EQ(0, map_call(self, call_getppid));
	EXPECT_TRUE(map_has_noted(self->map, 0));
}

static void on_signal(int sig)
{
}

/*
 * A signal is delivered after the stack was: who asks there has the id where the map
 * has the stack, and is told that there will be none in another
 */
TEST_F(map, is_too_late_after_the_delivery)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter", .tgid = getpid(),
		.syscall = SYS_tgkill, .flags = DEFER,
	};
	struct bpf_attached late[2];
	long ret[3] = { 1, 1, 1 };
	struct bpf_event event;
	struct stack stack;
	int map[2], i;

	self->map = map_make(16384);
	map[0] = self->map;
	map[1] = map_make(16384);
	asker.map = self->map;
	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker,
				    &self->session.ring));
	asker.where = "signal_deliver";
	asker.syscall = 0;
	for (i = 0; i < 2; i++) {
		asker.map = map[i];
		asker.tag = i + 1;
		ASSERT_EQ(0, bpf_asker_open(&late[i], &asker, &self->session.ring));
	}
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	while (bpf_ring_next(&self->session.ring, &event, false)) {
		if (event.kind != BPF_ASKED)
			continue;
		EXPECT_EQ(1, ret[event.tag]);
		ret[event.tag] = event.ret;
	}
	EXPECT_LE(0, ret[0]);
	EXPECT_EQ(0, map_stack(map[0], ret[0], &stack));
	EXPECT_EQ(ret[0], ret[1]);
	EXPECT_EQ(-EALREADY, ret[2]);
	for (i = 0; i < 2; i++)
		bpf_attached_close(&late[i]);
	close(map[1]);
}

TEST_F(map, may_be_full)
{
	bool asked[4] = {};
	int i, full = 0;
	struct stack stack;
	long id;

	/* Three elements, four ids */
	ASSERT_EQ(0, map_open(self, 3, 0));
	for (i = 0; i < 1000; i++) {
		id = map_call(self, call_getppid);
		if (id != -EEXIST) {
			ASSERT_LE(0, id);
			ASSERT_GT(4, id);
			asked[id] = true;
		}
	}
	for (i = 0; i < 4; i++) {
		EXPECT_TRUE(asked[i]);
		full += map_stack(self->map, i, &stack) == 0;
	}
	EXPECT_EQ(3, full);
}

/* A map that has no addresses, but what they are in files */
TEST_F(map, may_have_build_ids)
{
	struct bpf_stack_build_id places[SAMPLED_MAX] = {};
	struct stack expected;
	uint32_t id = 0;
	union bpf_attr attr = {
		.key = (uintptr_t)&id,
		.value = (uintptr_t)places,
	};
	unsigned int i;

	self->map = bpf_map_make(BPF_MAP_TYPE_STACK_TRACE, sizeof(id),
				 sizeof(places), 1, BPF_F_STACK_BUILD_ID);
	ASSERT_LE(0, self->map);
	ASSERT_EQ(0, map_open(self, 1, 0));
	EXPECT_EQ(0, map_call(self, call_getppid));
	attr.map_fd = self->map;
	ASSERT_EQ(0, bpf(BPF_MAP_LOOKUP_ELEM, &attr));

	expect_chain(&expected, &whole);
	for (i = 0; i < expected.nr; i++) {
		struct ftrace_frame place;

		ASSERT_EQ(BPF_STACK_BUILD_ID_VALID, places[i].status);
		ASSERT_TRUE(ftrace_place(expected.ip[i], &place));
		EXPECT_EQ(place.offset, places[i].offset);
		EXPECT_EQ(0, memcmp(places[0].build_id, places[i].build_id,
				    sizeof(places[i].build_id)));
	}
	EXPECT_EQ(BPF_STACK_BUILD_ID_EMPTY, places[i].status);
}

/*
 * Tasks that sleep
 */

FIXTURE(asleep)
{
	struct session session;
	struct bpf_attached map_asker;
	struct waiter waiter;
	int pipe[2];
	int map;
};

FIXTURE_VARIANT(asleep)
{
	bool futex;
};

FIXTURE_VARIANT_ADD(asleep, read) {
	.futex = false,
};

FIXTURE_VARIANT_ADD(asleep, futex) {
	.futex = true,
};

static int open_askers(struct _test_data_asleep *self)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sched_switch",
		.tgid = self->waiter.pid, .flags = DEFER,
	};

	if (bpf_asker_open(&self->session.asker, &asker, &self->session.ring))
		return -1;
	asker.map = self->map;
	return bpf_asker_open(&self->map_asker, &asker, &self->session.ring);
}

/* Asked about whenever it is switched away from */
FIXTURE_SETUP(asleep)
{
	struct waiter_call call;
	static char c;

	self->map_asker = (struct bpf_attached){ -1, -1 };
	self->map = map_make(16384);
	ASSERT_EQ(0, waiter_init(&self->waiter));
	ASSERT_EQ(0, pipe(self->pipe));
	if (session_open(&self->session) || self->map < 0)
		SKIP(return, "no deferred stacks for BPF, or not root");
	waiter_futex_call(&self->waiter, &call);
	if (!variant->futex)
		call = (struct waiter_call){
			SYS_read, { self->pipe[0], (long)&c, 1 },
		};
	ASSERT_EQ(0, waiter_start(&self->waiter, &call));
	ASSERT_EQ(0, open_askers(self));
	ASSERT_EQ(0, waiter_sleep(&self->waiter, 'S'));
}

FIXTURE_TEARDOWN(asleep)
{
	waiter_free(&self->waiter);
	bpf_attached_close(&self->map_asker);
	session_close(&self->session);
	close(self->map);
}

static void wake(struct _test_data_asleep *self)
{
	waiter_futex_wake(&self->waiter);
	if (write(self->pipe[1], "", 1) != 1)
		perror("write");
}

/* What was asked last: the cookie and the id of the entry that sleeps */
struct asked {
	uint64_t	cookie;
	long		id;
};

static void last_asked(struct _test_data_asleep *self, struct asked *asked)
{
	struct bpf_event event;

	*asked = (struct asked){ .id = -1 };
	while (bpf_ring_next(&self->session.ring, &event, false)) {
		if (event.kind != BPF_ASKED)
			continue;
		if (event.cookie)
			asked->cookie = event.cookie;
		else
			asked->id = event.ret;
	}
}

/* Deliveries of the cookie, which have to be of the stack */
static int deliveries(struct _test_data_asleep *self, uint64_t cookie)
{
	struct stack stack, expected;
	struct bpf_event event;
	int nr = 0;

	waiter_stack(&self->waiter, &expected);
	while (bpf_ring_next(&self->session.ring, &event, false)) {
		if (event.kind != BPF_DELIVERED || event.cookie != cookie)
			continue;
		bpf_event_stack(&event, &stack);
		if (!stack_is(&stack, &expected))
			return -1;
		nr++;
	}
	return nr;
}

/* Nothing before, all after */
static bool is_complete(struct _test_data_asleep *self, const struct asked *asked)
{
	struct stack stack, expected;

	waiter_stack(&self->waiter, &expected);
	return deliveries(self, asked->cookie) == 1 &&
	       !map_stack(self->map, asked->id, &stack) &&
	       stack_is(&stack, &expected);
}

TEST_F(asleep, stack_comes_when_it_wakes)
{
	struct asked asked;
	struct stack stack;

	last_asked(self, &asked);
	ASSERT_NE(0, asked.cookie);
	ASSERT_LE(0, asked.id);
	EXPECT_EQ(-ENOENT, map_stack(self->map, asked.id, &stack));
	EXPECT_EQ(0, deliveries(self, asked.cookie));
	wake(self);
	waiter_end(&self->waiter);
	EXPECT_TRUE(is_complete(self, &asked));
}

TEST_F(asleep, stack_comes_when_it_is_killed)
{
	struct asked asked;

	last_asked(self, &asked);
	kill(self->waiter.pid, SIGKILL);
	waiter_end(&self->waiter);
	waiter_taken_back(&self->waiter);
	EXPECT_TRUE(is_complete(self, &asked));
}

TEST_F(asleep, deleted_elements_stay_so)
{
	struct asked asked;
	struct stack stack;

	last_asked(self, &asked);
	/* On its way back it may be switched away from once more: that would ask anew */
	bpf_attached_close(&self->map_asker);
	EXPECT_EQ(0, map_delete(self->map, asked.id));
	wake(self);
	waiter_end(&self->waiter);
	EXPECT_EQ(-ENOENT, map_stack(self->map, asked.id, &stack));
	EXPECT_EQ(1, deliveries(self, asked.cookie));
}

/* The map, the programs that asked, and the one that is to be told */
TEST_F(asleep, all_may_be_gone)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter",
		.tgid = getpid(), .syscall = SYS_getppid, .flags = DEFER,
	};

	bpf_attached_close(&self->map_asker);
	close(self->map);
	self->map = -1;
	session_close(&self->session);
	wake(self);
	waiter_end(&self->waiter);

	/* And come again */
	ASSERT_EQ(0, session_open(&self->session));
	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker,
				    &self->session.ring));
	whole_run(call_getppid, NULL, NULL);
	EXPECT_NE(0, asked_once(&self->session));
}

TEST_HARNESS_MAIN
