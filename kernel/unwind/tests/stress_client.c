// SPDX-License-Identifier: GPL-2.0
/*
 * The clients of the stress module: their requests, and the results.
 *
 * A client can be registered again while something of its last registration
 * might, by a fault of the core, still be in use. So it has two structures, which it
 * uses in turn. The one that is not registered has another function, which logs that it
 * should not have been called. Registering the other one has waited for all requests and
 * callbacks in between.
 *
 * The clients ask about the tasks of one session, whose end the test program can wait
 * for; and, at times, about tasks that have no user stack, to be refused.
 */
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pid_namespace.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/unwind_deferred.h>
#include <linux/wait.h>

#include "stress.h"

struct stress_client {
	struct unwind_work	work;
	u16			gen;
	u8			id;
};

static struct stress_client clients[UNWIND_STRESS_CLIENTS][2];
static struct stress_client *live[UNWIND_STRESS_CLIENTS];
static u16 generation[UNWIND_STRESS_CLIENTS];
static DEFINE_MUTEX(clients_lock);

/* The clients ask about the tasks of this session */
u32 stress_session;

/* The number of other tasks' callbacks that the sleeper waits for; 0: none */
u32 stress_hold;
static atomic_t holder;
static atomic_t others;

/* And the number of changes of the clients; 0: none */
u32 stress_hold_changes;
static atomic_t changes;
static DECLARE_WAIT_QUEUE_HEAD(hold_wait);

static DEFINE_PER_CPU(unsigned long, random_count);

/* Pseudo-random numbers, for any context */
u32 stress_random(void)
{
	unsigned long count = this_cpu_inc_return(random_count);

	count = count * num_possible_cpus() + raw_smp_processor_id();
	return hash_64(hash_64(count, 64) ^ (count >> 3), 32);
}

/*
 * Requests
 */

static void request(struct stress_client *client, u8 context, u64 addr)
{
	struct unwind_stress_event *event = stress_log_request();
	u64 cookie = U64_MAX;
	int ret;

	if (!event)
		return;
	ret = unwind_deferred_request(&client->work, &cookie);
	event->end = stress_log_used();
	event->cookie = cookie;
	event->addr = addr;
	event->ret = ret;
	event->gen = client->gen;
	event->client = client->id;
	event->context = context;
}

/*
 * The client is not registered a second time meanwhile: that would take a
 * cancellation first. A cancellation waits for code with preemption off, and for
 * callbacks, from which request() is called with preemption on.
 */
static void ask(unsigned int id, u8 context, u64 addr)
{
	struct stress_client *client = READ_ONCE(live[id]);

	if (client)
		request(client, context, addr);
}

static bool is_wanted(void)
{
	/* Only some: all of them are refused */
	if (data_race(current->flags) & PF_KTHREAD)
		return !(stress_random() % 8);
	return task_session_nr_ns(current, &init_pid_ns) == stress_session;
}

/* Some clients ask, and some of them once more */
void stress_ask_some(u8 context, u64 addr)
{
	u32 random, id;

	guard(preempt_notrace)();
	if (!READ_ONCE(stress_session) || !is_wanted())
		return;
	random = stress_random();
	for (id = 0; id < UNWIND_STRESS_CLIENTS; id++, random >>= 3) {
		if (random & 1)
			ask(id, context, addr);
		if ((random & 7) == 7)
			ask(id, context, addr);
	}
}

/*
 * Callbacks
 */

static void log_wait(struct stress_client *client, u8 type, u64 cookie, int ret)
{
	struct unwind_stress_event *event = stress_log_event(type);

	if (!event)
		return;
	event->cookie = cookie;
	event->client = client->id;
	event->gen = client->gen;
	event->ret = ret;
}

static bool held_enough(void)
{
	return atomic_read(&others) >= READ_ONCE(stress_hold) &&
	       atomic_read(&changes) >= READ_ONCE(stress_hold_changes);
}

void stress_wake_holder(void)
{
	wake_up_all(&hold_wait);
}

/*
 * Wait until other tasks have been served, and other clients cancelled: neither may depend on
 * the waiting callback.  The wait also ends when all requests are made, because there may be no
 * other task from then on.
 */
static void hold_on(struct stress_client *client, u64 cookie)
{
	int ret;

	atomic_set(&others, 0);
	atomic_set(&changes, 0);
	log_wait(client, UNWIND_STRESS_HELD, cookie, 0);
	ret = wait_event_killable(hold_wait, held_enough() || stress_log_complete());
	if (!ret && !held_enough())
		ret = -ECANCELED;
	log_wait(client, UNWIND_STRESS_AWAKE, cookie, ret);
	atomic_set(&holder, 0);
}

/*
 * Will the signal that ends the load end the wait, too?  Not if the task is about to exit: it
 * has had its fatal signal, and another one would not wake it.
 */
static bool can_be_killed(void)
{
	return !(current->flags & PF_EXITING) &&
	       !(READ_ONCE(current->signal->flags) & SIGNAL_GROUP_EXIT);
}

/* Not in the session's leader: without it there may be no other tasks */
static void sleep_at_times(struct stress_client *client, u64 cookie)
{
	int pid = task_pid_nr(current);

	if (READ_ONCE(stress_hold)) {
		if (pid != stress_session && can_be_killed() &&
		    !atomic_cmpxchg(&holder, 0, pid))
			hold_on(client, cookie);
	} else if (!(stress_random() % 64)) {
		schedule_timeout_uninterruptible(1);
	}
}

static void take_long(void)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		udelay(5);
		cond_resched();
	}
}

static void tell_holder(void)
{
	int pid = atomic_read(&holder);

	if (!pid || pid == task_pid_nr(current))
		return;
	atomic_inc(&others);
	if (held_enough())
		stress_wake_holder();
}

static void called(struct unwind_work *work, struct unwind_stacktrace *trace,
		   u64 cookie)
{
	struct stress_client *client =
		container_of(work, struct stress_client, work);
	struct unwind_stress_event *event =
		stress_log_event(UNWIND_STRESS_CALLBACK);
	u32 random = stress_random();

	might_sleep();
	if (event) {
		event->cookie = cookie;
		event->nr = trace->nr;
		event->addr = trace->nr ? trace->entries[0] : 0;
		event->client = client->id;
		event->gen = client->gen;
	}
	tell_holder();

	if (!(random & 0x3))
		request(client, UNWIND_STRESS_SELF, cookie);
	if (!(random & 0x7c))
		stress_send_nmis();
	if (!(random & 0x380)) {
		guard(preempt_notrace)();
		ask((random >> 16) % UNWIND_STRESS_CLIENTS, UNWIND_STRESS_OTHER,
		    cookie);
	}
	if (client->id == UNWIND_STRESS_SLEEPER)
		sleep_at_times(client, cookie);
	if (client->id == UNWIND_STRESS_SLOW)
		take_long();
}

/*
 * Registration and cancellation
 */

static void log_client(struct stress_client *client, u8 type)
{
	struct unwind_stress_event *event = stress_log_event(type);

	if (!event)
		return;
	event->client = client->id;
	event->gen = client->gen;
}

static void poisoned(struct unwind_work *work, struct unwind_stacktrace *trace,
		     u64 cookie)
{
	log_client(container_of(work, struct stress_client, work),
		   UNWIND_STRESS_POISON);
}

static int register_client(unsigned int id)
{
	u16 gen = ++generation[id];
	struct stress_client *client = &clients[id][gen % 2];
	int ret;

	client->id = id;
	client->gen = gen;
	log_client(client, UNWIND_STRESS_REGISTERED);
	ret = unwind_deferred_init(&client->work, called);
	if (ret)
		return ret;
	/* Pairs with the address dependency in ask() */
	smp_store_release(&live[id], client);
	return 0;
}

static void cancel_client(unsigned int id)
{
	struct stress_client *client = live[id];

	WRITE_ONCE(live[id], NULL);
	log_client(client, UNWIND_STRESS_CANCEL);
	unwind_deferred_cancel(&client->work);
	client->work.func = poisoned;
	log_client(client, UNWIND_STRESS_CANCELLED);
}

/* Register the clients with their bit in @mask, cancel all others */
int stress_set_clients(unsigned long mask)
{
	unsigned int id;
	int ret;

	guard(mutex)(&clients_lock);
	for (id = 0; id < UNWIND_STRESS_CLIENTS; id++) {
		if (!(mask & BIT(id)) == !live[id])
			continue;
		if (live[id]) {
			cancel_client(id);
			continue;
		}
		ret = register_client(id);
		if (ret)
			return ret;
	}
	atomic_inc(&changes);
	stress_wake_holder();
	return 0;
}

/*
 * A kernel thread that uses a program's memory
 */

struct borrower {
	struct mm_struct	*mm;
	struct completion	done;
};

static int borrow(void *data)
{
	struct borrower *borrower = data;
	unsigned int id;

	kthread_use_mm(borrower->mm);
	for (id = 0; id < UNWIND_STRESS_CLIENTS; id++) {
		guard(preempt_notrace)();
		ask(id, UNWIND_STRESS_BORROWED, 0);
	}
	kthread_unuse_mm(borrower->mm);
	kthread_complete_and_exit(&borrower->done, 0);
}

/* Let every client ask from a kernel thread that uses the caller's memory */
int stress_borrow_mm(void)
{
	struct borrower borrower = { .mm = current->mm };
	struct task_struct *task;

	init_completion(&borrower.done);
	task = kthread_run(borrow, &borrower, "unwind_stress");
	if (IS_ERR(task))
		return PTR_ERR(task);
	wait_for_completion(&borrower.done);
	return 0;
}
