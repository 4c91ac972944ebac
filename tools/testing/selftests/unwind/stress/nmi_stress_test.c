// SPDX-License-Identifier: GPL-2.0
/*
 * Stress of the deferred core: several clients request stacks in NMIs that come at any
 * time, of tasks that enter and leave the kernel in all ways.
 *
 * The module unwind_stress makes the requests and logs them; without it the test is
 * skipped. All tasks of the load are gone before the test reads the log, so the log is
 * complete. The first tests check the checker itself, with wrong logs.
 *
 * UNWIND_STRESS_REQUESTS and UNWIND_STRESS_RATE (NMIs that each CPU sends, per second)
 * set the amount.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stress_check.h"
#include "stress_load.h"
#include "stress_module.h"
#include "stress_where.h"
#include "../../kselftest_harness.h"

#define REQUESTS	1000000
#define RATE		5000

/* Seconds, on a machine that is slow and busy */
#define PATIENCE	1200

#define ALL		((1U << UNWIND_STRESS_CLIENTS) - 1)
/* Clients that come and go in that test; including the sleeper and the slow one */
#define CHANGING	0x0e

static unsigned long setting(const char *name, unsigned long usual)
{
	const char *text = getenv(name);

	return text && atol(text) > 0 ? atol(text) : usual;
}

/*
 * The check itself
 */

#define COOKIE	0x123456001ULL

static const struct unwind_stress_event good_log[] = {
	{ .type = UNWIND_STRESS_REGISTERED, .gen = 1 },
	{ .type = UNWIND_STRESS_REGISTERED, .gen = 1, .client = 1 },
	{ .type = UNWIND_STRESS_REQUEST, .gen = 1, .pid = 7, .ret = 1,
	  .cookie = COOKIE },
	{ .type = UNWIND_STRESS_REQUEST, .gen = 1, .pid = 7, .cookie = COOKIE },
	{ .type = UNWIND_STRESS_REQUEST, .gen = 1, .pid = 7, .cookie = COOKIE,
	  .client = 1 },
	{ .type = UNWIND_STRESS_REQUEST, .gen = 1, .pid = 8, .ret = -EINVAL,
	  .task = UNWIND_STRESS_WORKER },
	{ .type = UNWIND_STRESS_CALLBACK, .gen = 1, .pid = 7, .cookie = COOKIE,
	  .nr = 3, .addr = 0x1000 },
	{ .type = UNWIND_STRESS_REQUEST, .gen = 1, .pid = 7, .ret = 1,
	  .cookie = COOKIE, .context = UNWIND_STRESS_SELF, .addr = COOKIE },
	{ .type = UNWIND_STRESS_CALLBACK, .gen = 1, .pid = 7, .cookie = COOKIE,
	  .nr = 3, .addr = 0x1000, .client = 1 },
	{ .type = UNWIND_STRESS_CANCEL, .gen = 1 },
	{ .type = UNWIND_STRESS_CANCELLED, .gen = 1 },
	{ .type = UNWIND_STRESS_CANCEL, .gen = 1, .client = 1 },
	{ .type = UNWIND_STRESS_CANCELLED, .gen = 1, .client = 1 },
};

#define GOOD	(sizeof(good_log) / sizeof(*good_log))

FIXTURE(checker)
{
	/* One event more than the good log; an empty one is omitted */
	struct unwind_stress_event log[GOOD + 1];
	struct check check;
};

FIXTURE_SETUP(checker)
{
	memcpy(self->log, good_log, sizeof(good_log));
	check_init(&self->check, 0);
}

FIXTURE_TEARDOWN(checker)
{
	check_free(&self->check);
}

/* Does the check find @fault @times times, and nothing else? */
static bool finds(struct check *check, const struct unwind_stress_event *log,
		  enum check_fault fault, size_t times)
{
	size_t i, all = 0;

	for (i = 0; i < GOOD + 1; i++)
		if (log[i].type)
			check_event(check, &log[i]);
	check_finish(check);
	for (i = 0; i < CHECK_FAULTS; i++)
		all += check->faults[i];
	return check->faults[fault] == times && all == times;
}

TEST_F(checker, right_log_passes)
{
	ASSERT_TRUE(finds(&self->check, self->log, LOST, 0));
	EXPECT_EQ(5, self->check.requests);
	EXPECT_EQ(2, self->check.callbacks);
	EXPECT_EQ(1, self->check.shared);
}

TEST_F(checker, lost_callback_is_found)
{
	self->log[8].type = 0;
	EXPECT_TRUE(finds(&self->check, self->log, LOST, 1));
}

TEST_F(checker, dropped_with_its_client)
{
	self->check.may_drop = 2;
	self->log[8].type = 0;
	EXPECT_TRUE(finds(&self->check, self->log, LOST, 0));
	EXPECT_EQ(1, self->check.dropped);
}

TEST_F(checker, doubled_callback_is_found)
{
	self->log[7] = self->log[6];
	EXPECT_TRUE(finds(&self->check, self->log, DOUBLE, 1));
}

TEST_F(checker, foreign_stack_is_found)
{
	self->log[8].cookie++;
	EXPECT_FALSE(finds(&self->check, self->log, FOREIGN, 1));
	/* And the request that it was meant for is lost */
	EXPECT_EQ(1, self->check.faults[FOREIGN]);
	EXPECT_EQ(1, self->check.faults[LOST]);
}

TEST_F(checker, called_before_it_asked)
{
	struct unwind_stress_event request = self->log[4];

	self->log[4] = self->log[8];
	self->log[8] = request;
	EXPECT_TRUE(finds(&self->check, self->log, FOREIGN, 1));
}

TEST_F(checker, callback_asked_twice_is_found)
{
	self->log[2].ret = 0;
	EXPECT_TRUE(finds(&self->check, self->log, TWICE_ASKED, 1));
}

TEST_F(checker, told_1_without_having_asked)
{
	self->log[4].ret = 1;
	self->log[8].type = 0;
	EXPECT_TRUE(finds(&self->check, self->log, NEVER_ASKED, 1));
}

TEST_F(checker, cookie_of_two_tasks)
{
	self->log[8].pid = 9;
	EXPECT_TRUE(finds(&self->check, self->log, SHARED_NAME, 1));
}

TEST_F(checker, cookie_of_an_earlier_entry)
{
	self->log[5] = self->log[4];
	self->log[5].cookie++;
	self->check.may_drop = 2;
	EXPECT_TRUE(finds(&self->check, self->log, OLD_NAME, 1));
}

TEST_F(checker, cookie_of_an_earlier_entry_passes_before_the_newer_was_returned)
{
	self->log[5] = self->log[4];
	self->log[5].cookie++;
	self->log[5].end = GOOD;
	self->check.may_drop = 2;
	EXPECT_TRUE(finds(&self->check, self->log, OLD_NAME, 0));
}

TEST_F(checker, cookie_is_0)
{
	self->log[2].cookie = 0;
	EXPECT_TRUE(finds(&self->check, self->log, ODD_COOKIE, 1));
}

TEST_F(checker, cookie_with_an_error)
{
	self->log[5].cookie = 1;
	EXPECT_TRUE(finds(&self->check, self->log, ODD_COOKIE, 1));
}

TEST_F(checker, error_without_reason)
{
	self->log[5].task = UNWIND_STRESS_USER;
	EXPECT_TRUE(finds(&self->check, self->log, ODD_REFUSAL, 1));
}

TEST_F(checker, served_worker_is_found)
{
	self->log[2].task = UNWIND_STRESS_WORKER;
	EXPECT_TRUE(finds(&self->check, self->log, NOT_REFUSED, 1));
}

TEST_F(checker, second_stack_is_found)
{
	self->log[8].nr = 4;
	EXPECT_TRUE(finds(&self->check, self->log, OTHER_STACK, 1));
}

TEST_F(checker, other_first_frame)
{
	self->log[8].addr++;
	EXPECT_TRUE(finds(&self->check, self->log, OTHER_STACK, 1));
}

TEST_F(checker, own_callback_queues_another)
{
	self->log[7].cookie = COOKIE + 1;
	EXPECT_FALSE(finds(&self->check, self->log, ASKED_AGAIN, 1));
	EXPECT_EQ(1, self->check.faults[ASKED_AGAIN]);
}

TEST_F(checker, called_after_cancel)
{
	self->log[GOOD] = self->log[8];
	self->log[8].type = 0;
	EXPECT_TRUE(finds(&self->check, self->log, AFTER_CANCEL, 1));
}

TEST_F(checker, poisoned_callback_is_found)
{
	self->log[GOOD] = (struct unwind_stress_event){
		.type = UNWIND_STRESS_POISON,
	};
	EXPECT_TRUE(finds(&self->check, self->log, AFTER_CANCEL, 1));
}

TEST_F(checker, event_is_missing)
{
	const struct unwind_stress_event nothing = {};

	check_event(&self->check, &nothing);
	EXPECT_TRUE(finds(&self->check, self->log, MISSING, 1));
}

TEST_F(checker, others_are_served_meanwhile)
{
	self->log[3] = (struct unwind_stress_event){
		.type = UNWIND_STRESS_HELD, .pid = 9,
	};
	self->log[2].ret = 0;
	self->log[GOOD] = (struct unwind_stress_event){
		.type = UNWIND_STRESS_AWAKE, .pid = 9,
	};
	EXPECT_TRUE(finds(&self->check, self->log, HELD_UP, 0));
	EXPECT_EQ(1, self->check.holds);
	EXPECT_EQ(1, self->check.least_served);
}

TEST_F(checker, all_are_held_up)
{
	self->log[5] = (struct unwind_stress_event){
		.type = UNWIND_STRESS_HELD, .pid = 9,
	};
	self->log[GOOD] = (struct unwind_stress_event){
		.type = UNWIND_STRESS_AWAKE, .pid = 9,
	};
	EXPECT_TRUE(finds(&self->check, self->log, HELD_UP, 1));
}

/*
 * The core
 */

FIXTURE(stress)
{
	struct check check;
	struct timespec start;
	pid_t load;
};

FIXTURE_SETUP(stress)
{
	int err = module_load();

	if (err == ENOENT)
		SKIP(return, "there is no module unwind_stress (CONFIG_UNWIND_USER_STRESS_TEST)");
	if (err == EPERM)
		SKIP(return, "not allowed to load modules");
	ASSERT_EQ(0, err);
	self->load = load_start();
	ASSERT_LT(0, self->load);
	clock_gettime(CLOCK_MONOTONIC, &self->start);
}

static void end_load(pid_t *load)
{
	if (*load > 0)
		load_stop(*load);
	*load = 0;
}

FIXTURE_TEARDOWN(stress)
{
	end_load(&self->load);
	EXPECT_EQ(0, module_unload());
	check_free(&self->check);
}

/*
 * Set the session last. Without it only the borrower makes requests. The borrower must
 * make some before all requests are made, however long this task is delayed in between.
 */
static bool start(pid_t session, unsigned long requests)
{
	return module_set("session", 0) &&
	       module_set("rate", setting("UNWIND_STRESS_RATE", RATE)) &&
	       module_set("requests", requests) && module_set("run", 1) &&
	       module_set("clients", ALL) && module_set("borrow", 1) &&
	       module_set("session", session);
}

static bool finish(struct check *check)
{
	return module_set("run", 0) && module_set("clients", 0) &&
	       module_check(check, where_event) && check_finish(check);
}

static void print(const struct check *check, const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	check_print(check);
	module_show("counts");
	where_print();
	ksft_print_msg("%ld s\n", (long)(now.tv_sec - start->tv_sec));
}

TEST_F_TIMEOUT(stress, each_request_one_callback, PATIENCE)
{
	const unsigned long requests = setting("UNWIND_STRESS_REQUESTS", REQUESTS);
	bool good;
	size_t i;

	check_init(&self->check, 0);
	ASSERT_EQ(0, where_init());
	load_go();
	ASSERT_TRUE(start(self->load, requests));
	ASSERT_TRUE(module_wait("run"));
	/* All requests are made. Their last callbacks come before this returns. */
	end_load(&self->load);
	good = finish(&self->check);
	print(&self->check, &self->start);
	EXPECT_TRUE(good);
	EXPECT_TRUE(load_was_good());

	EXPECT_EQ(requests, self->check.requests);
	for (i = 0; i < UNWIND_STRESS_CLIENTS; i++)
		EXPECT_LT(requests / 20, self->check.by_client[i]);
	for (i = 0; i < UNWIND_STRESS_BORROWED; i++)
		EXPECT_LT(0, self->check.by_context[i][RET_0] +
			     self->check.by_context[i][RET_1]);
	EXPECT_EQ(UNWIND_STRESS_CLIENTS,
		  self->check.by_context[UNWIND_STRESS_BORROWED][RET_EINVAL]);
	EXPECT_LT(0, self->check.by_task[UNWIND_STRESS_WORKER][RET_EINVAL]);
	EXPECT_LT(0, self->check.by_task[UNWIND_STRESS_EXITING][RET_ESRCH]);
	EXPECT_LT(0, self->check.shared);
	EXPECT_LT(0, where_in_core());
}

/* No task with a user stack runs: the load waits, and so does this task */
TEST_F_TIMEOUT(stress, idle_and_kernel_threads_are_refused, PATIENCE)
{
	const unsigned long requests = 1000;

	check_init(&self->check, 0);
	ASSERT_TRUE(start(self->load, requests));
	ASSERT_TRUE(module_wait("run"));
	EXPECT_TRUE(finish(&self->check));
	check_print_totals(&self->check);
	EXPECT_EQ(requests, self->check.requests);
	EXPECT_EQ(0, self->check.callbacks);
	EXPECT_LT(0, self->check.by_task[UNWIND_STRESS_IDLE][RET_EINVAL]);
	EXPECT_LE(UNWIND_STRESS_CLIENTS,
		  self->check.by_task[UNWIND_STRESS_KTHREAD][RET_EINVAL]);
}

struct changes {
	pthread_t	thread;
	atomic_bool	end;
	unsigned int	which;
	unsigned int	nr;
};

/* Repeat until all requests are made, and some times at least */
static void *change_clients(void *arg)
{
	struct changes *changes = arg;
	unsigned int seed = 1;

	while (!atomic_load(&changes->end) || changes->nr < 10) {
		if (!module_set("clients", ALL & ~(rand_r(&seed) & changes->which)))
			return NULL;
		changes->nr++;
	}
	return NULL;
}

static bool changes_start(struct changes *changes)
{
	return !pthread_create(&changes->thread, NULL, change_clients, changes);
}

static void changes_end(struct changes *changes)
{
	atomic_store(&changes->end, true);
	pthread_join(changes->thread, NULL);
}

/*
 * The sleeper waits for more callbacks than requests can have been pending when it began:
 * 5 for each of about 60 tasks. So some requests are newer. It also waits until other
 * clients are cancelled.
 */
#define HOLD		400
#define HOLD_CHANGES	2

TEST_F_TIMEOUT(stress, sleeper_delays_its_own_task, PATIENCE)
{
	unsigned long requests = setting("UNWIND_STRESS_REQUESTS", REQUESTS) / 10;
	const unsigned int changing = CHANGING & ~(1U << UNWIND_STRESS_SLEEPER);
	struct changes changes = { .which = changing };

	if (requests < 50 * HOLD)
		requests = 50 * HOLD;
	check_init(&self->check, changing);
	load_go();
	ASSERT_TRUE(module_set("hold", requests / 50));
	ASSERT_TRUE(module_set("hold_changes", HOLD_CHANGES));
	ASSERT_TRUE(start(self->load, requests));
	ASSERT_TRUE(changes_start(&changes));
	ASSERT_TRUE(module_wait("run"));
	changes_end(&changes);
	end_load(&self->load);
	EXPECT_TRUE(finish(&self->check));
	check_print_totals(&self->check);
	ksft_print_msg("%zu waits, in which at least %zu requests of others were served\n",
		       self->check.holds, self->check.least_served);
	EXPECT_LT(0, self->check.holds);
}

/* The number of requests that were dropped with their client at once */
static size_t change_under_load(struct __test_metadata *_metadata,
				struct check *check, pid_t *load)
{
	const unsigned long requests =
		setting("UNWIND_STRESS_REQUESTS", REQUESTS) / 10;
	struct changes changes = { .which = CHANGING };
	size_t dropped;

	check_init(check, CHANGING);
	load_go();
	EXPECT_TRUE(start(*load, requests));
	EXPECT_TRUE(changes_start(&changes));
	EXPECT_TRUE(module_wait("run"));
	changes_end(&changes);
	end_load(load);
	EXPECT_TRUE(finish(check));
	check_print_totals(check);
	ksft_print_msg("%u changes of the clients\n", changes.nr);
	EXPECT_LT(0, changes.nr);
	dropped = check->dropped;
	check_free(check);
	return dropped;
}

/* Repeat until a cancellation has met a pending request: few do */
TEST_F_TIMEOUT(stress, clients_come_and_go, PATIENCE)
{
	unsigned int round = 0;
	size_t dropped;

	for (;;) {
		dropped = change_under_load(_metadata, &self->check, &self->load);
		if (dropped || ++round == 20)
			break;
		self->load = load_start();
		ASSERT_LT(0, self->load);
	}
	EXPECT_LT(0, dropped);
	/* For the teardown */
	check_init(&self->check, ALL);
}

/* All under the same load */
TEST_F_TIMEOUT(stress, module_comes_and_goes, PATIENCE)
{
	const unsigned long requests =
		setting("UNWIND_STRESS_REQUESTS", REQUESTS) / 50;
	unsigned int round;

	load_go();
	for (round = 0; round < 4; round++) {
		/* All clients are cancelled while tasks have their requests */
		check_init(&self->check, ALL);
		ASSERT_TRUE(start(self->load, requests));
		ASSERT_TRUE(module_wait("run"));
		EXPECT_TRUE(finish(&self->check));
		check_print_totals(&self->check);
		EXPECT_EQ(requests, self->check.requests);
		check_free(&self->check);

		/* And is cancelled, next time, in the middle of everything */
		ASSERT_TRUE(start(self->load, requests));
		ASSERT_EQ(0, module_unload());
		ASSERT_EQ(0, module_load());
	}
	check_init(&self->check, ALL);
}

TEST_HARNESS_MAIN
