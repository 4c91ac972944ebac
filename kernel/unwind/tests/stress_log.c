// SPDX-License-Identifier: GPL-2.0
/*
 * The log of the stress module, for events from any context, NMI included.
 *
 * An event takes its place by one atomic increment, so that places are in the
 * order in which events began. Nothing is lost silently: the log has room for
 * all events that the given number of requests can cause: a callback for
 * each, and the end of a wait in it. If the core called a client more often than it
 * asked, the log would overflow, and then it cannot be read.
 *
 * It is read when nothing can write to it any more: the firing has stopped, and
 * no client is registered.
 */
#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include "stress.h"

/* For clients that come and go */
#define SPARE	65536

static struct unwind_stress_event *events;
static unsigned int capacity;
static atomic_t used;
static atomic_t requests_left;

static DECLARE_WAIT_QUEUE_HEAD(requests_made);

static void all_made(struct irq_work *work)
{
	wake_up_all(&requests_made);
	stress_wake_holder();
}

static DEFINE_IRQ_WORK(all_made_work, all_made);

void stress_log_free(void)
{
	irq_work_sync(&all_made_work);
	vfree(events);
	events = NULL;
	capacity = 0;
}

/* An empty log for this many requests */
int stress_log_start(u32 requests)
{
	u32 nr;

	if (!requests || check_mul_overflow(requests, 3, &nr) ||
	    check_add_overflow(nr, SPARE, &nr) || nr > INT_MAX / 2)
		return -EINVAL;
	stress_log_free();
	events = vzalloc(array_size(nr, sizeof(*events)));
	if (!events)
		return -ENOMEM;
	capacity = nr;
	atomic_set(&used, 0);
	atomic_set(&requests_left, requests);
	return 0;
}

static u8 task_kind(void)
{
	/* The task may be changing them just now */
	const unsigned int flags = data_race(current->flags);

	if (flags & PF_IDLE)
		return UNWIND_STRESS_IDLE;
	if (flags & PF_KTHREAD)
		return UNWIND_STRESS_KTHREAD;
	if (flags & PF_USER_WORKER)
		return UNWIND_STRESS_WORKER;
	if (flags & PF_EXITING)
		return UNWIND_STRESS_EXITING;
	return UNWIND_STRESS_USER;
}

/* A place in the log; NULL if there is none, which stress_log_read() reports */
struct unwind_stress_event *stress_log_event(u8 type)
{
	unsigned int i = atomic_inc_return(&used) - 1;
	struct unwind_stress_event *event;

	if (i >= capacity)
		return NULL;
	event = &events[i];
	event->type = type;
	event->task = task_kind();
	event->pid = task_pid_nr(current);
	event->cpu = raw_smp_processor_id();
	return event;
}

/* A place for a request, until the given number of them is made */
struct unwind_stress_event *stress_log_request(void)
{
	int left = atomic_dec_if_positive(&requests_left);

	if (left < 0)
		return NULL;
	if (!left)
		irq_work_queue(&all_made_work);
	return stress_log_event(UNWIND_STRESS_REQUEST);
}

/* The number of events so far */
u32 stress_log_used(void)
{
	return atomic_read(&used);
}

/* Are all requests made, so that only their callbacks are left to wait for? */
bool stress_log_complete(void)
{
	return !atomic_read(&requests_left);
}

/* Make no more of them */
void stress_log_stop(void)
{
	atomic_set(&requests_left, 0);
	irq_work_queue(&all_made_work);
}

/* Until all requests are made */
int stress_log_wait(void)
{
	return wait_event_interruptible(requests_made, stress_log_complete());
}

ssize_t stress_log_read(char __user *buf, size_t size, loff_t *pos)
{
	unsigned int nr = atomic_read(&used);

	if (nr > capacity)
		return -EOVERFLOW;
	return simple_read_from_buffer(buf, size, pos, events,
				       nr * sizeof(*events));
}
