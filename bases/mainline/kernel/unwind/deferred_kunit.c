// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of deferred unwinding.
 *
 * A test is a kernel thread, which has no user stack and never goes to user space.  So it
 * poses as a task in a system call while it makes a request, and takes the work back.
 */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/task_work.h>
#include <linux/unwind_deferred.h>

#if defined(CONFIG_X86_64)
static const struct pt_regs user_regs = { .cs = __USER_CS, .ss = __USER_DS };
#elif defined(CONFIG_ARM64)
static const struct pt_regs user_regs = { .pstate = PSR_MODE_EL0t };
#endif

static int request_as(unsigned int flags, struct unwind_work *work, u64 *cookie)
{
	struct pt_regs *regs = task_pt_regs(current);
	const struct pt_regs saved = *regs;
	int ret;

	/* Nobody else may take it for a user task */
	guard(irqsave)();
	*regs = user_regs;
	current->flags ^= PF_KTHREAD | flags;
	ret = unwind_deferred_request(work, cookie);
	current->flags ^= PF_KTHREAD | flags;
	*regs = saved;
	return ret;
}

static int request(struct unwind_work *work, u64 *cookie)
{
	return request_as(0, work, cookie);
}

static void run_work(void)
{
	struct unwind_task_info *info = &current->unwind_info;

	if (task_work_cancel(current, &info->work))
		info->work.func(&info->work);
}

static void take_back(void)
{
	struct unwind_task_info *info = &current->unwind_info;

	task_work_cancel(current, &info->work);
	atomic_long_andnot(UNWIND_PENDING, &info->unwind_mask);
	unwind_reset_info();
}

static void callback(struct unwind_work *work, struct unwind_stacktrace *trace, u64 cookie)
{
}

static void cancelled_client_is_refused(struct kunit *test)
{
	struct unwind_task_info *info = &current->unwind_info;
	struct unwind_work work = {};
	u64 cookie;
	int ret;

	KUNIT_ASSERT_EQ(test, unwind_deferred_init(&work, callback), 0);
	ret = request(&work, &cookie);
	take_back();
	unwind_deferred_cancel(&work);
	/* Else it would be refused for another reason */
	KUNIT_ASSERT_EQ(test, ret, 0);

	KUNIT_EXPECT_EQ(test, request(&work, &cookie), -EINVAL);
	KUNIT_EXPECT_EQ(test, cookie, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&info->unwind_mask), 0);
	take_back();
}

/* It may have the registers of its creator, and never goes to user space */
static void user_worker_is_refused(struct kunit *test)
{
	struct unwind_work work = {};
	u64 cookie;

	KUNIT_ASSERT_EQ(test, unwind_deferred_init(&work, callback), 0);
	KUNIT_EXPECT_EQ(test, request_as(PF_USER_WORKER, &work, &cookie), -EINVAL);
	take_back();
	unwind_deferred_cancel(&work);
}

/* For all clients, until the task leaves the kernel */
static void entry_has_one_cookie(struct kunit *test)
{
	struct unwind_work works[2] = {};
	u64 first, again, other, next;

	KUNIT_ASSERT_EQ(test, unwind_deferred_init(&works[0], callback), 0);
	KUNIT_ASSERT_EQ(test, unwind_deferred_init(&works[1], callback), 0);
	KUNIT_EXPECT_EQ(test, request(&works[0], &first), 0);
	KUNIT_EXPECT_EQ(test, request(&works[0], &again), 1);
	KUNIT_EXPECT_EQ(test, request(&works[1], &other), 0);
	take_back();
	KUNIT_EXPECT_EQ(test, request(&works[1], &next), 0);
	take_back();
	unwind_deferred_cancel(&works[0]);
	unwind_deferred_cancel(&works[1]);
	KUNIT_EXPECT_NE(test, first, 0);
	KUNIT_EXPECT_EQ(test, again, first);
	KUNIT_EXPECT_EQ(test, other, first);
	KUNIT_EXPECT_NE(test, next, 0);
	KUNIT_EXPECT_NE(test, next, first);
}

/* Each event on the way out may take more than a tick, and have the work done again */
static void task_that_leaves_has_one_stack(struct kunit *test)
{
	struct unwind_task_info *info = &current->unwind_info;
	struct unwind_work works[2] = {};
	u64 first, again, other;

	KUNIT_ASSERT_EQ(test, unwind_deferred_init(&works[0], callback), 0);
	KUNIT_ASSERT_EQ(test, unwind_deferred_init(&works[1], callback), 0);
	KUNIT_EXPECT_EQ(test, request(&works[0], &first), 0);
	unwind_task_work(true);
	run_work();
	unwind_task_work(false);
	KUNIT_EXPECT_EQ(test, info->expires, 0);
	KUNIT_EXPECT_EQ(test, request(&works[0], &again), 1);
	/* A client that was not called gets it, by the same cookie */
	KUNIT_EXPECT_EQ(test, request(&works[1], &other), 0);
	take_back();
	unwind_deferred_cancel(&works[0]);
	unwind_deferred_cancel(&works[1]);
	KUNIT_EXPECT_EQ(test, again, first);
	KUNIT_EXPECT_EQ(test, other, first);
}

/* A guest may run for hours; nobody is called for the first cookie again */
static void task_that_stays_has_more(struct kunit *test)
{
	struct unwind_task_info *info = &current->unwind_info;
	struct unwind_work work = {};
	u64 first, again, next;

	KUNIT_ASSERT_EQ(test, unwind_deferred_init(&work, callback), 0);
	KUNIT_EXPECT_EQ(test, request(&work, &first), 0);
	run_work();
	KUNIT_EXPECT_NE(test, info->expires, 0);
	info->expires = jiffies + HZ;
	KUNIT_EXPECT_EQ(test, request(&work, &again), 1);
	info->expires = jiffies - 1;
	KUNIT_EXPECT_EQ(test, request(&work, &next), 0);
	take_back();
	unwind_deferred_cancel(&work);
	KUNIT_EXPECT_EQ(test, again, first);
	KUNIT_EXPECT_NE(test, next, first);
}

static struct unwind_work replaced, successor;
static int calls;

static void count(struct unwind_work *work, struct unwind_stacktrace *trace, u64 cookie)
{
	calls++;
}

static void replace(struct unwind_work *work, struct unwind_stacktrace *trace, u64 cookie)
{
	unwind_deferred_cancel(&replaced);
	if (unwind_deferred_init(&successor, count))
		calls = -1;
}

/* While one client is called, another's bit gets a new owner, which did not ask */
static void successor_is_not_called(struct kunit *test)
{
	struct unwind_work work = {};
	unsigned int bit;
	u64 cookie;

	calls = 0;
	KUNIT_ASSERT_EQ(test, unwind_deferred_init(&work, replace), 0);
	KUNIT_ASSERT_EQ(test, unwind_deferred_init(&replaced, count), 0);
	bit = replaced.bit;
	KUNIT_EXPECT_GT(test, bit, work.bit);
	KUNIT_EXPECT_EQ(test, request(&work, &cookie), 0);
	KUNIT_EXPECT_EQ(test, request(&replaced, &cookie), 0);
	/* Calls the clients: a kernel thread has no stack for them */
	unwind_deferred_task_exit(current);
	take_back();
	KUNIT_EXPECT_EQ(test, successor.bit, bit);
	KUNIT_EXPECT_EQ(test, calls, 0);
	unwind_deferred_cancel(&successor);
	unwind_deferred_cancel(&work);
}

static struct kunit_case deferred_cases[] = {
	KUNIT_CASE(cancelled_client_is_refused),
	KUNIT_CASE(user_worker_is_refused),
	KUNIT_CASE(entry_has_one_cookie),
	KUNIT_CASE(task_that_leaves_has_one_stack),
	KUNIT_CASE(task_that_stays_has_more),
	KUNIT_CASE(successor_is_not_called),
	{}
};

static struct kunit_suite deferred_suite = {
	.name = "unwind_deferred",
	.test_cases = deferred_cases,
};

kunit_test_suite(deferred_suite);
