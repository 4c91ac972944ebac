// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred user stacks for BPF programs: what is promised, and not yet there.
 *
 * bpf_get_stackid() with BPF_F_USER_DEFER promises an element of a stack map, which
 * is filled when the task leaves the kernel. That may be long after, and meanwhile
 * the task may be killed, the element deleted, and all who asked be gone.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf_session.h"
#include "../kselftest_harness.h"

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

/*
 * Tasks that sleep
 */

struct shared {
	/* What the child noted, and where it returns to from its system call */
	struct notes	notes;
	unsigned long	ip;
	int		turn;
	int		futex;
};

static struct shared *shared;

static void sleeps(int fd)
{
	char c;

	whole_note_ra();
	shared->notes = whole;
	__atomic_add_fetch(&shared->turn, 1, __ATOMIC_RELEASE);
	if (fd >= 0)
		syscall4_at(SYS_read, fd, (long)&c, 1, 0, &shared->ip);
	else
		syscall4_at(SYS_futex, (long)&shared->futex, FUTEX_WAIT, 0, 0,
			    &shared->ip);
}

static void outer_sleeps(void *fd)
{
	char locals[80];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	sleeps(*(int *)fd);
	asm volatile("" : : "r"(locals) : "memory");
}

FIXTURE(asleep)
{
	struct session session;
	struct bpf_attached map_asker;
	int pipe[2];
	int map;
	pid_t child;
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

/*
 * To one CPU, and the child as well: then what is asleep, for who looks at it, has
 * been switched away from.
 */
static int pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* Is it blocked? There is no other place where it could be. */
static bool is_asleep(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (file)
		fclose(file);
	return state == 'S';
}

static int open_askers(struct _test_data_asleep *self)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sched_switch",
		.tgid = self->child, .flags = DEFER,
	};

	if (bpf_asker_open(&self->session.asker, &asker, &self->session.ring))
		return -1;
	asker.map = self->map;
	return bpf_asker_open(&self->map_asker, &asker, &self->session.ring);
}

/*
 * The child sleeps three times, and is asked about whenever it is switched away
 * from: in the third sleep, and in the second, so that its tables are known. (A
 * task that is killed takes its last stack with what there is.)
 */
FIXTURE_SETUP(asleep)
{
	int start[2], fd, i;

	self->map_asker = (struct bpf_attached){ -1, -1 };
	self->map = map_make(16384);
	if (session_open(&self->session) || self->map < 0)
		SKIP(return, "no deferred stacks for BPF, or not root");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	ASSERT_EQ(0, pipe(self->pipe));
	ASSERT_EQ(0, pipe(start));
	ASSERT_EQ(0, pin());
	fd = variant->futex ? -1 : self->pipe[0];
	self->child = fork();
	if (!self->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (i = 0; i < 2; i++)
			whole_run(outer_sleeps, &start[0], NULL);
		whole_run(outer_sleeps, &fd, NULL);
		_exit(0);
	}
	ASSERT_LT(0, self->child);
	ASSERT_EQ(0, open_askers(self));
	for (i = 0; i < 3; i++) {
		while (__atomic_load_n(&shared->turn, __ATOMIC_ACQUIRE) <= i ||
		       !is_asleep(self->child))
			sched_yield();
		if (i < 2)
			ASSERT_EQ(1, write(start[1], "", 1));
	}
	close(start[0]);
	close(start[1]);
}

FIXTURE_TEARDOWN(asleep)
{
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
	bpf_attached_close(&self->map_asker);
	session_close(&self->session);
	close(self->map);
}

static void wake(struct _test_data_asleep *self)
{
	__atomic_store_n(&shared->futex, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &shared->futex, FUTEX_WAKE, 1, NULL, NULL, 0);
	if (write(self->pipe[1], "", 1) != 1)
		perror("write");
}

static void expect_asleep(struct stack *expected)
{
	struct notes notes = shared->notes;

	notes.ra[notes.nr++] = shared->ip;
	expect_chain(expected, &notes);
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

	expect_asleep(&expected);
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

static void end_of_child(struct _test_data_asleep *self)
{
	waitpid(self->child, NULL, 0);
	self->child = 0;
}

/* Nothing before, all after */
static bool is_complete(struct _test_data_asleep *self, const struct asked *asked)
{
	struct stack stack, expected;

	expect_asleep(&expected);
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
	end_of_child(self);
	EXPECT_TRUE(is_complete(self, &asked));
}

TEST_F(asleep, stack_comes_when_it_is_killed)
{
	struct asked asked;

	last_asked(self, &asked);
	kill(self->child, SIGKILL);
	end_of_child(self);
	EXPECT_TRUE(is_complete(self, &asked));
}

TEST_F(asleep, deleted_elements_stay_so)
{
	struct asked asked;
	struct stack stack;

	last_asked(self, &asked);
	EXPECT_EQ(0, map_delete(self->map, asked.id));
	wake(self);
	end_of_child(self);
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
	end_of_child(self);

	/* And come again */
	ASSERT_EQ(0, session_open(&self->session));
	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker,
				    &self->session.ring));
	whole_run(call_getppid, NULL, NULL);
	EXPECT_NE(0, asked_once(&self->session));
}

TEST_HARNESS_MAIN
