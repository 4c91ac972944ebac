// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the deferred core's state machine.
 *
 * A test is a kernel thread, which never returns to user space.  So the tests take the
 * steps one by one, on state that belongs to the test.  deferred_points_kunit.c
 * tests interruptions of the steps.
 */

#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/mman.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/task_work.h>
#include <linux/unwind_deferred.h>

#include "../deferred.h"

#define CLIENT_A	BIT(0)
#define CLIENT_B	BIT(1)

static int request(struct unwind_task_info *info, unsigned long bit,
		   u64 *cookie, bool *queue)
{
	guard(preempt)();
	return unwind_info_request(info, bit, cookie, queue);
}

static void deferred_one_entry(struct kunit *test)
{
	struct unwind_task_info info = {};
	u64 first, cookie;
	bool queue;

	/* The first request names the entry and queues the work */
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_A, &first, &queue), 0);
	KUNIT_EXPECT_TRUE(test, queue);
	KUNIT_EXPECT_NE(test, first, 0);

	/* The same client again, and another one: same entry, same work */
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_A, &cookie, &queue), 1);
	KUNIT_EXPECT_FALSE(test, queue);
	KUNIT_EXPECT_EQ(test, cookie, first);
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_B, &cookie, &queue), 0);
	KUNIT_EXPECT_FALSE(test, queue);
	KUNIT_EXPECT_EQ(test, cookie, first);

	/* Each is called once, and the entry cannot end before */
	KUNIT_EXPECT_FALSE(test, unwind_info_reset(&info));
	KUNIT_EXPECT_EQ(test, unwind_info_take(&info), CLIENT_A | CLIENT_B);
	KUNIT_EXPECT_EQ(test, unwind_info_take(&info), 0);
	KUNIT_EXPECT_TRUE(test, unwind_info_reset(&info));
}

static void deferred_after_work(struct kunit *test)
{
	struct unwind_task_info info = {};
	u64 first, cookie;
	bool queue;

	KUNIT_ASSERT_EQ(test, request(&info, CLIENT_A, &first, &queue), 0);
	KUNIT_ASSERT_EQ(test, unwind_info_take(&info), CLIENT_A);
	info.expires = jiffies + MAX_JIFFY_OFFSET;

	/* A client that was called is done for this cookie; no work, so no loop */
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_A, &cookie, &queue), 1);
	KUNIT_EXPECT_FALSE(test, queue);
	KUNIT_EXPECT_EQ(test, cookie, first);

	/* A client that was not called is called in a second run, with the same cookie */
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_B, &cookie, &queue), 0);
	KUNIT_EXPECT_TRUE(test, queue);
	KUNIT_EXPECT_EQ(test, cookie, first);
	KUNIT_EXPECT_EQ(test, unwind_info_take(&info), CLIENT_B);
	KUNIT_EXPECT_TRUE(test, unwind_info_reset(&info));

	/* The next entry has another name */
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_A, &cookie, &queue), 0);
	KUNIT_EXPECT_TRUE(test, queue);
	KUNIT_EXPECT_NE(test, cookie, first);
	KUNIT_EXPECT_EQ(test, unwind_info_take(&info), CLIENT_A);
}

/* The task stays in the kernel: all clients may ask for its stack again */
static void deferred_expired(struct kunit *test)
{
	struct unwind_task_info info = {};
	u64 first, second, cookie;
	bool queue;

	KUNIT_ASSERT_EQ(test, request(&info, CLIENT_A, &first, &queue), 0);
	/* Not while the work is queued */
	info.expires = jiffies - 1;
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_B, &cookie, &queue), 0);
	KUNIT_EXPECT_EQ(test, cookie, first);
	KUNIT_ASSERT_EQ(test, unwind_info_take(&info), CLIENT_A | CLIENT_B);

	info.expires = jiffies - 1;
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_B, &second, &queue), 0);
	KUNIT_EXPECT_TRUE(test, queue);
	KUNIT_EXPECT_NE(test, second, first);
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_B, &cookie, &queue), 1);
	KUNIT_EXPECT_EQ(test, cookie, second);
	KUNIT_EXPECT_EQ(test, unwind_info_take(&info), CLIENT_B);
	KUNIT_EXPECT_TRUE(test, unwind_info_reset(&info));
}

static void deferred_closed(struct kunit *test)
{
	struct unwind_task_info info = {};
	u64 cookie;
	bool queue;

	KUNIT_ASSERT_EQ(test, request(&info, CLIENT_A, &cookie, &queue), 0);
	atomic_long_or(UNWIND_CLOSED, &info.requests);
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_B, &cookie, &queue), -ESRCH);
	KUNIT_EXPECT_FALSE(test, queue);
	/* Earlier requests are still served */
	KUNIT_EXPECT_EQ(test, unwind_info_take(&info), CLIENT_A);
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_A, &cookie, &queue), -ESRCH);
	/* This closes only the entry, not the task */
	KUNIT_EXPECT_TRUE(test, unwind_info_reset(&info));
	KUNIT_EXPECT_EQ(test, request(&info, CLIENT_B, &cookie, &queue), 0);
	KUNIT_EXPECT_EQ(test, unwind_info_take(&info), CLIENT_B);
}

static void deferred_cookies_differ(struct kunit *test)
{
	u64 last = 0, cookie;
	unsigned int i;
	bool queue;

	for (i = 0; i < 10000; i++) {
		struct unwind_task_info info = {};

		KUNIT_ASSERT_EQ(test, request(&info, CLIENT_A, &cookie, &queue), 0);
		KUNIT_ASSERT_NE(test, cookie, 0);
		KUNIT_ASSERT_NE(test, cookie, last);
		last = cookie;
	}
}

static void never_called(struct unwind_work *work,
			 struct unwind_stacktrace *trace, u64 cookie)
{
	WARN_ON_ONCE(1);
}

static void deferred_clients(struct kunit *test)
{
	struct unwind_work *works;
	unsigned int nr = 0, i;
	u64 cookie = 1;
	int ret;

	works = kunit_kcalloc(test, UNWIND_MAX_CLIENTS + 1, sizeof(*works), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, works);

	do {
		ret = unwind_deferred_init(&works[nr], never_called);
	} while (!ret && ++nr <= UNWIND_MAX_CLIENTS);
	KUNIT_EXPECT_EQ(test, ret, -ENOSPC);
	KUNIT_EXPECT_GT(test, nr, 0);
	for (i = 1; i < nr; i++)
		KUNIT_EXPECT_NE(test, works[i].bit, works[i - 1].bit);

	/* A client that was refused, and a thread that has no user stack */
	KUNIT_EXPECT_EQ(test, unwind_deferred_request(&works[nr], &cookie), -EINVAL);
	KUNIT_EXPECT_EQ(test, cookie, 0);
	KUNIT_EXPECT_EQ(test, unwind_deferred_request(&works[0], &cookie), -EINVAL);

	/* A place that was given back is free for the next client, and only once */
	unwind_deferred_cancel(&works[0]);
	unwind_deferred_cancel(&works[0]);
	KUNIT_EXPECT_EQ(test, unwind_deferred_init(&works[nr], never_called), 0);
	KUNIT_EXPECT_EQ(test, unwind_deferred_init(&works[0], never_called), -ENOSPC);

	for (i = 0; i <= nr; i++)
		unwind_deferred_cancel(&works[i]);
}

/* A kernel thread that works on an mm has not come from user space, either */
static void deferred_borrowed_mm(struct kunit *test)
{
	struct unwind_work work;
	u64 cookie = 1;

	KUNIT_ASSERT_NE(test, kunit_vm_mmap(test, NULL, 0, PAGE_SIZE,
					    PROT_READ | PROT_WRITE,
					    MAP_ANONYMOUS | MAP_PRIVATE, 0), 0);
	KUNIT_ASSERT_NOT_NULL(test, current->mm);

	KUNIT_ASSERT_EQ(test, unwind_deferred_init(&work, never_called), 0);
	KUNIT_EXPECT_EQ(test, unwind_deferred_request(&work, &cookie), -EINVAL);
	KUNIT_EXPECT_EQ(test, cookie, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&current->unwind_info.requests), 0);
	unwind_deferred_cancel(&work);
}

/* A request of this thread as a user task: nobody else may take it for one */
static int request_as_user(struct unwind_work *work, u64 *cookie, bool nmi)
{
	int ret;

	lockdep_assert_irqs_disabled();
	if (nmi)
		nmi_enter();
	current->flags ^= PF_KTHREAD;
	ret = unwind_deferred_request(work, cookie);
	current->flags ^= PF_KTHREAD;
	if (nmi)
		nmi_exit();
	return ret;
}

/* Deliver to nobody, and end the entry */
static void end_entry(void)
{
	struct unwind_task_info *info = &current->unwind_info;

	task_work_cancel(current, &info->work);
	unwind_info_take(info);
	unwind_reset_info();
}

/*
 * An event on the last steps to user space, or the breakpoint of a kprobe, which is like an NMI.
 * If it began another entry, that would end in the same event.
 */
static void deferred_last_steps(struct kunit *test)
{
	struct pt_regs *regs = task_pt_regs(current), saved;
	u64 first, event, probe, next;
	struct unwind_work work;
	int ret[4];

	KUNIT_ASSERT_NE(test, kunit_vm_mmap(test, NULL, 0, PAGE_SIZE,
					    PROT_READ | PROT_WRITE,
					    MAP_ANONYMOUS | MAP_PRIVATE, 0), 0);
	KUNIT_ASSERT_EQ(test, unwind_deferred_init(&work, never_called), 0);
	scoped_guard(irqsave) {
		saved = *regs;
		ret[0] = request_as_user(&work, &first, false);
		end_entry();
		ret[1] = request_as_user(&work, &event, false);
		ret[2] = request_as_user(&work, &probe, true);
		/* Not if it has begun another entry, so that there is work now */
		if (!ret[2])
			end_entry();
		/* As the next entry does */
		*regs = saved;
		ret[3] = request_as_user(&work, &next, true);
		end_entry();
		*regs = saved;
	}
	unwind_deferred_cancel(&work);
	KUNIT_EXPECT_EQ(test, ret[0], 0);
	KUNIT_EXPECT_EQ(test, ret[1], 1);
	KUNIT_EXPECT_EQ(test, event, first);
	KUNIT_EXPECT_EQ(test, ret[2], 1);
	KUNIT_EXPECT_EQ(test, probe, first);
	KUNIT_EXPECT_EQ(test, ret[3], 0);
	KUNIT_EXPECT_NE(test, next, first);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&current->unwind_info.requests), 0);
}

/* When its cookie expires, in jiffies from now, after task work on the way out; @next: more work */
static long life_of_cookie(struct kunit *test, struct callback_head *next)
{
	struct unwind_task_info *info = &current->unwind_info;
	struct unwind_work work;
	int ret = -EINVAL;
	u64 cookie;

	KUNIT_EXPECT_EQ(test, unwind_deferred_init(&work, never_called), 0);
	scoped_guard(irqsave) {
		ret = request_as_user(&work, &cookie, false);
		task_work_cancel(current, &info->work);
	}
	/* So the delivery is to nobody */
	unwind_deferred_cancel(&work);
	KUNIT_EXPECT_EQ(test, ret, 0);
	info->work.next = next;
	unwind_task_work(true);
	info->work.func(&info->work);
	unwind_task_work(false);
	info->work.next = NULL;
	unwind_info_reset(info);
	clear_thread_flag(TIF_UNWIND);
	return info->expires - jiffies;
}

/* Such as a file that is closed: this may take hours */
static void deferred_work_after_it(struct kunit *test)
{
	KUNIT_ASSERT_NE(test, kunit_vm_mmap(test, NULL, 0, PAGE_SIZE,
					    PROT_READ | PROT_WRITE,
					    MAP_ANONYMOUS | MAP_PRIVATE, 0), 0);
	KUNIT_EXPECT_GT(test, life_of_cookie(test, NULL), HZ);
	KUNIT_EXPECT_LE(test, life_of_cookie(test, &current->unwind_info.work), 1);
}

static struct kunit_case deferred_cases[] = {
	KUNIT_CASE(deferred_one_entry),
	KUNIT_CASE(deferred_after_work),
	KUNIT_CASE(deferred_expired),
	KUNIT_CASE(deferred_closed),
	KUNIT_CASE(deferred_cookies_differ),
	KUNIT_CASE(deferred_clients),
	KUNIT_CASE(deferred_borrowed_mm),
	KUNIT_CASE(deferred_last_steps),
	KUNIT_CASE(deferred_work_after_it),
	{}
};

static struct kunit_suite deferred_suite = {
	.name = "unwind_deferred",
	.test_cases = deferred_cases,
};

kunit_test_suite(deferred_suite);

MODULE_DESCRIPTION("KUnit tests of deferred unwinding");
MODULE_LICENSE("GPL");
