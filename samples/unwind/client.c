// SPDX-License-Identifier: GPL-2.0
/*
 * The smallest client of deferred user stacks (linux/unwind_deferred.h).
 *
 * A tracer that fires while a task is in the kernel, in an interrupt or even an
 * NMI, cannot follow the task's user stack there: that reads user memory, which
 * may have to be faulted in.  It asks for the stack instead, and gets a cookie, a
 * number that it notes where it would have noted the stack.  The stack comes
 * later, with the same cookie, when the task is about to return to user space.
 *
 * This one asks at a rate, from NMI, for the stack of whatever task is hit, and
 * notes cookies and stacks in the trace:
 *
 *	insmod unwind_client.ko rate=100
 *	echo 1 >/sys/kernel/tracing/events/unwind_client/enable
 *	cat /sys/kernel/tracing/trace_pipe
 *
 *	perl-71 [001] d.Z.. 16.39: unwind_client_request: cookie=0x9c1d42 ret=0 in_nmi=1
 *	perl-71 [001] ..... 16.40: unwind_client_stack: cookie=0x9c1d42 nr=3 stack={...}
 *
 * When it asks is the concern of another file: see client.h.
 */

#include <linux/module.h>
#include <linux/unwind_deferred.h>

#include "client.h"

#define CREATE_TRACE_POINTS
#include "client_trace.h"

#define RATE_MAX	10000

static unsigned int rate = 100;
module_param(rate, uint, 0444);
MODULE_PARM_DESC(rate, "Requests per second and CPU, at most " __stringify(RATE_MAX));

/*
 * The stack that was asked for.  This is called in the task itself, in the
 * context of a system call: it may sleep, and what it takes is time of that task
 * alone.  @trace is the task's own buffer, good until the callback returns.
 *
 * An empty stack is an answer, too: none could be taken.  So whatever is kept for
 * a cookie until its stack comes need not be kept for ever.
 */
static void client_callback(struct unwind_work *work,
			    struct unwind_stacktrace *trace, u64 cookie)
{
	trace_unwind_client_stack(cookie, trace->nr, trace->entries);
}

static struct unwind_work client;

/*
 * Ask.  The answer is one of three:
 *
 *  0	the callback will be called with this cookie, once;
 *  1	the same, but on account of an earlier request of this client: the task
 *	has not returned to user space since, so the stack is the same and comes
 *	only once.  (Its callback may have been called already.)  To the one who
 *	notes cookies there is no difference;
 * <0	there will be no stack, as the task has none: it is a kernel thread, or
 *	idle, or has lost its memory on its way to exit.  The cookie is 0.
 */
void client_request(void)
{
	u64 cookie;
	int ret;

	ret = unwind_deferred_request(&client, &cookie);
	trace_unwind_client_request(cookie, ret);
}

/* Register first, then ask: a client that is not registered gets no cookies */
static int __init client_init(void)
{
	int ret;

	if (!rate || rate > RATE_MAX)
		return -EINVAL;

	ret = unwind_deferred_init(&client, client_callback);
	if (ret)
		return ret;

	ret = trigger_start(rate);
	if (ret)
		unwind_deferred_cancel(&client);
	return ret;
}

/*
 * The other way round: when nobody asks any more, cancel.  That waits for
 * callbacks that run and drops requests that are pending, in whatever tasks.  When
 * it returns nothing leads into this module, and its memory may go.
 */
static void __exit client_exit(void)
{
	trigger_stop();
	unwind_deferred_cancel(&client);
}

module_init(client_init);
module_exit(client_exit);

MODULE_DESCRIPTION("Sample client of deferred user stacks");
MODULE_LICENSE("GPL");
