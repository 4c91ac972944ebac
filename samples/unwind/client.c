// SPDX-License-Identifier: GPL-2.0
/*
 * The smallest client of deferred user stacks (linux/unwind_deferred.h).
 *
 * A tracer that fires while a task is in the kernel, in an interrupt or even an
 * NMI, cannot unwind the task's user stack there: that reads user memory, which
 * may have to be faulted in.  So it asks for the stack, and stores the cookie that it
 * gets in place of the stack.  The stack comes later, with the same cookie, when the
 * task is about to return to user space.
 *
 * This client asks at a fixed rate, from NMIs, for the stack of the task that each hits.
 * It writes cookies and stacks to the trace:
 *
 *	insmod unwind_client.ko rate=100
 *	echo 1 >/sys/kernel/tracing/events/unwind_client/enable
 *	cat /sys/kernel/tracing/trace_pipe
 *
 *	perl-71 [001] d.Z.. 16.39: unwind_client_request: cookie=0x9c1d42 ret=0 in_nmi=1
 *	perl-71 [001] ..... 16.40: unwind_client_stack: cookie=0x9c1d42 nr=3 stack={...}
 *
 * Another file decides when to ask: see client.h.
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
 * The deferred core calls this with a stack that the client asked for, in the task itself,
 * in the context of a system call: it may sleep, and takes time of that task
 * alone.  @trace is the task's own buffer, valid until the callback returns.
 *
 * An empty stack is an answer, too: none could be taken.  So data that a client stores for
 * a cookie until its stack comes do not stay for ever.
 */
static void client_callback(struct unwind_work *work,
			    struct unwind_stacktrace *trace, u64 cookie)
{
	trace_unwind_client_stack(cookie, trace->nr, trace->entries);
}

static struct unwind_work client;

/*
 * Ask for a stack.  There are three answers:
 *
 *  0	the callback will be called with this cookie, once;
 *  1	the same, because of an earlier request of this client: the task
 *	has not returned to user space since, so the stack is the same and comes
 *	only once.  (The callback may have been called already.)  To a client that
 *	stores cookies there is no difference;
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
 * In the opposite order: stop asking, then cancel.  Cancelling waits for callbacks
 * that run, and drops pending requests of all tasks.  When it returns, nothing calls
 * this module any more, and its memory may go.
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
