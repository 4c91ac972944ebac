// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the deferred core's limits: the numbers of cookies and clients, and the
 * tasks that it serves.  They run on the copy of the core and the model of a task (see
 * deferred_model.h), whose counters and flags can be set.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "deferred_copy.h"
#include "deferred_model.h"

#define A	0
#define DRAWS	16

static void no_task(void)
{
}

static const struct model_scenario still = { .name = "still", .task = no_task };

static int limits_init(struct kunit *test)
{
	model.test = test;
	model_reset(&still);
	return 0;
}

/* The name of a new entry, on a CPU that has made @count cookies */
static u64 draw(struct kunit *test, unsigned int cpu, unsigned long count)
{
	struct unwind_task_info info = {};
	u64 cookie = 0;
	bool queue;

	model.cpu = cpu;
	copy_set_count(cpu, count);
	KUNIT_EXPECT_EQ(test, unwind_info_request(&info, BIT(0), &cookie, &queue), 0);
	KUNIT_EXPECT_NE(test, cookie, 0);
	return cookie;
}

/* Two CPUs, if there are two, count from the same @start on: no cookie comes twice */
static void expect_different(struct kunit *test, unsigned long start)
{
	unsigned int last_cpu = nr_cpu_ids - 1, i, j;
	u64 cookies[2 * DRAWS];

	for (i = 0; i < 2 * DRAWS; i++) {
		cookies[i] = draw(test, i & 1 ? last_cpu : 0,
				  start + (last_cpu ? i / 2 : i));
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, cookies[i], cookies[j]);
	}
}

static void deferred_cookies_wrap(struct kunit *test)
{
	const u64 max = copy_max_count();
	unsigned int i;
	u64 first;

	expect_different(test, 0);
	expect_different(test, max - DRAWS / 2);
	expect_different(test, max - 1);
	expect_different(test, ULONG_MAX - DRAWS / 2);

	/* Cookies repeat after the stated number, and not after a smaller power of two */
	first = draw(test, 0, 1);
	for (i = 0; BIT_ULL(i) < max; i++)
		KUNIT_EXPECT_NE(test, draw(test, 0, 1 + BIT_ULL(i)), first);
	KUNIT_EXPECT_EQ(test, draw(test, 0, 1 + max), first);
	copy_set_count(0, 0);
	copy_set_count(nr_cpu_ids - 1, 0);
}

/* Cookies continue across the wrap when the core itself counts */
static void deferred_cookies_count(struct kunit *test)
{
	struct unwind_task_info info;
	u64 cookies[DRAWS];
	unsigned int i, j;
	bool queue;

	model.cpu = 0;
	copy_set_count(0, copy_max_count() - DRAWS / 2);
	for (i = 0; i < DRAWS; i++) {
		info = (struct unwind_task_info){};
		KUNIT_EXPECT_EQ(test, unwind_info_request(&info, BIT(0), &cookies[i], &queue), 0);
		KUNIT_EXPECT_NE(test, cookies[i], 0);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, cookies[i], cookies[j]);
	}
	copy_set_count(0, 0);
}

/*
 * Tasks
 */

static void expect_refused(struct kunit *test, const char *who)
{
	struct unwind_task_info *info = &model.task->unwind_info;
	u64 cookie = ~0ULL;
	int ret;

	ret = unwind_deferred_request(&model.clients[A].work, &cookie);
	KUNIT_EXPECT_EQ_MSG(test, ret, -EINVAL, "%s", who);
	KUNIT_EXPECT_EQ_MSG(test, cookie, 0, "%s", who);
	/* Without a trace */
	KUNIT_EXPECT_EQ_MSG(test, atomic_long_read(&info->requests), 0, "%s", who);
	KUNIT_EXPECT_EQ_MSG(test, model.flags, 0, "%s", who);
	KUNIT_EXPECT_TRUE_MSG(test, !model.work, "%s", who);
}

static void deferred_no_user_stack(struct kunit *test)
{
	static const struct {
		const char	*who;
		unsigned int	flags;
		bool		mm;
	} tasks[] = {
		{ "a kernel thread", PF_KTHREAD, false },
		{ "a kernel thread that uses an mm", PF_KTHREAD, true },
		{ "a user worker", PF_USER_WORKER, true },
		{ "an io_uring worker", PF_USER_WORKER | PF_IO_WORKER, true },
		{ "an idle task", PF_KTHREAD | PF_IDLE, false },
		{ "a task whose mm is gone", 0, false },
	};
	struct mm_struct *mm = model.task->mm;
	struct task_struct *task;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		model.task->flags = tasks[i].flags;
		model.task->mm = tasks[i].mm ? mm : NULL;
		expect_refused(test, tasks[i].who);
	}

	/* The first task of all, which becomes the idle task of the first CPU */
	task = model.task;
	model.task = &init_task;
	expect_refused(test, "init_task");
	model.task = task;
}

/*
 * Clients
 */

struct counted {
	struct unwind_work	work;
	u64			cookie;
	unsigned int		calls;
};

static void count_call(struct unwind_work *work, struct unwind_stacktrace *trace,
		       u64 cookie)
{
	struct counted *client = container_of(work, struct counted, work);

	client->calls += cookie == client->cookie && trace->nr == 1;
}

/* The maximum number of clients; two are the model's own */
#define MANY	(UNWIND_MAX_CLIENTS - 2)

static void deferred_many_clients(struct kunit *test)
{
	struct counted *clients, *extra;
	unsigned int i;
	u64 cookie;

	clients = kunit_kcalloc(test, MANY + 1, sizeof(*clients), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, clients);
	extra = &clients[MANY];

	for (i = 0; i < MANY; i++)
		KUNIT_EXPECT_EQ(test, unwind_deferred_init(&clients[i].work, count_call), 0);
	KUNIT_EXPECT_EQ(test, unwind_deferred_init(&extra->work, count_call), -ENOSPC);
	KUNIT_EXPECT_EQ(test, unwind_deferred_request(&extra->work, &extra->cookie), -EINVAL);
	KUNIT_EXPECT_EQ(test, extra->cookie, 0);

	/* All of them in one entry: no bit affects another */
	for (i = 0; i < MANY; i++) {
		KUNIT_EXPECT_EQ(test, unwind_deferred_request(&clients[i].work,
							      &clients[i].cookie), 0);
		KUNIT_EXPECT_EQ(test, clients[i].cookie, clients[0].cookie);
	}

	/* One goes, the others still wait; another gets its place, and has to ask */
	unwind_deferred_cancel(&clients[0].work);
	unwind_deferred_cancel(&clients[0].work);
	KUNIT_EXPECT_TRUE(test, atomic_long_read(&model.task->unwind_info.requests) &
				UNWIND_PENDING);
	KUNIT_EXPECT_EQ(test, unwind_deferred_request(&clients[0].work, &cookie), -EINVAL);
	KUNIT_EXPECT_EQ(test, unwind_deferred_init(&extra->work, count_call), 0);
	KUNIT_EXPECT_EQ(test, unwind_deferred_request(&clients[0].work, &cookie), -EINVAL);
	KUNIT_EXPECT_EQ(test, unwind_deferred_init(&clients[0].work, count_call), -ENOSPC);

	model_task_work_run();
	KUNIT_EXPECT_EQ(test, clients[0].calls, 0);
	KUNIT_EXPECT_EQ(test, extra->calls, 0);
	for (i = 1; i < MANY; i++)
		KUNIT_EXPECT_EQ(test, clients[i].calls, 1);
	KUNIT_EXPECT_EQ(test, unwind_deferred_request(&extra->work, &extra->cookie), 0);
	KUNIT_EXPECT_EQ(test, extra->cookie, clients[1].cookie);
	model_task_work_run();
	KUNIT_EXPECT_EQ(test, extra->calls, 1);

	for (i = 0; i <= MANY; i++)
		unwind_deferred_cancel(&clients[i].work);
	KUNIT_EXPECT_TRUE_MSG(test, !model.failed, "%s", model.failed);
}

/* All zeroes, like a static variable: that is no client, least of all the first */
static void deferred_never_registered(struct kunit *test)
{
	static struct unwind_work zero;
	u64 cookie = ~0ULL;

	KUNIT_ASSERT_EQ(test, model.clients[A].work.bit, 0);
	KUNIT_EXPECT_EQ(test, unwind_deferred_request(&zero, &cookie), -EINVAL);
	KUNIT_EXPECT_EQ(test, cookie, 0);
	unwind_deferred_cancel(&zero);
	KUNIT_EXPECT_EQ(test, unwind_deferred_request(&model.clients[A].work, &cookie), 0);
	KUNIT_EXPECT_EQ(test, unwind_deferred_init(&zero, count_call), 0);
	KUNIT_EXPECT_NE(test, zero.bit, model.clients[A].work.bit);
	unwind_deferred_cancel(&zero);
}

/* A client that is gone when a held stack comes does not get it, nor does the next in its place */
static void deferred_held(struct kunit *test)
{
	struct unwind_held held = {};
	struct counted *clients, *stays, *goes, *next;
	struct unwind_cache *cache;

	clients = kunit_kcalloc(test, 3, sizeof(*clients), GFP_KERNEL);
	cache = model_alloc(struct_size(cache, entries, 1), GFP_KERNEL | __GFP_NOWARN);
	KUNIT_ASSERT_NOT_NULL(test, clients);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	stays = &clients[0];
	goes = &clients[1];
	next = &clients[2];
	KUNIT_EXPECT_EQ(test, unwind_deferred_init(&stays->work, count_call), 0);
	KUNIT_EXPECT_EQ(test, unwind_deferred_init(&goes->work, count_call), 0);
	KUNIT_EXPECT_EQ(test, unwind_deferred_request(&stays->work, &stays->cookie), 0);
	KUNIT_EXPECT_EQ(test, unwind_deferred_request(&goes->work, &goes->cookie), 0);

	*cache = (struct unwind_cache){ .size = 1, .nr = 1 };
	held.cache = cache;
	held.cookie = stays->cookie;
	unwind_held_add(&held, unwind_info_take(&model.task->unwind_info));
	unwind_deferred_cancel(&goes->work);
	KUNIT_EXPECT_EQ(test, unwind_deferred_init(&next->work, count_call), 0);
	next->cookie = held.cookie;
	unwind_held_deliver(&held);
	KUNIT_EXPECT_EQ(test, stays->calls, 1);
	KUNIT_EXPECT_EQ(test, goes->calls, 0);
	KUNIT_EXPECT_EQ(test, next->calls, 0);
	KUNIT_EXPECT_NULL(test, held.cache);

	model_task_work_run();
	unwind_deferred_cancel(&stays->work);
	unwind_deferred_cancel(&next->work);
	KUNIT_EXPECT_TRUE_MSG(test, !model.failed, "%s", model.failed);
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE(deferred_cookies_wrap),
	KUNIT_CASE(deferred_cookies_count),
	KUNIT_CASE(deferred_no_user_stack),
	KUNIT_CASE(deferred_many_clients),
	KUNIT_CASE(deferred_never_registered),
	KUNIT_CASE(deferred_held),
	{}
};

static int limits_suite_init(struct kunit_suite *suite)
{
	return model_create();
}

static void limits_suite_exit(struct kunit_suite *suite)
{
	model_destroy();
}

static struct kunit_suite limits_suite = {
	.name = "unwind_deferred_limits",
	.suite_init = limits_suite_init,
	.suite_exit = limits_suite_exit,
	.init = limits_init,
	.test_cases = limits_cases,
};

kunit_test_suite(limits_suite);

MODULE_DESCRIPTION("KUnit tests of the limits of deferred unwinding");
MODULE_LICENSE("GPL");
