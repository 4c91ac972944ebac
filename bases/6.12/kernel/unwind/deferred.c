// SPDX-License-Identifier: GPL-2.0
/*
 * The deferred core: a cookie now, the stack on the way back to user space.
 *
 * A user stack does not change while its task is in the kernel.  So a tracer
 * that fires there, in whatever context, need not unwind at once: it asks for
 * the stack and gets a cookie, which names this entry of this task into the
 * kernel.  Before the task returns to user space, task work unwinds once, where
 * memory may be faulted in (unwind_user() in user.c, one frame after another), and
 * calls every client that asked: perf (kernel/events/core.c), BPF programs
 * (kernel/bpf/unwind.c), each trace instance (kernel/trace/trace_user_unwind.c), and
 * in_place.c.  A tracer writes the cookie into its sample, and later the stack
 * beside the same cookie; who reads the trace joins the two.
 *
 * (Some things do change it.  Task work runs before a signal is delivered, so that
 * only what is asked for after that, by an interrupt, gets the stack of the handler's
 * first instruction; and what is asked for in sigreturn gets that of the program which
 * the signal had interrupted.  ptrace may set registers, uprobes work on both, and
 * threads may write to each other's stacks.  What is seen is the stack with which the
 * task goes on, or nearly: rseq may still send it to the start of its sequence.)
 *
 * What a task knows is &struct unwind_task_info:
 *
 *   requests	a bit for each client that asked during this entry, kept until
 *		the entry ends; UNWIND_NAMED from the first of them on;
 *		UNWIND_PENDING while the task work is queued; UNWIND_CLOSED when
 *		no more are taken during this entry
 *   done	a bit for each client that was taken to be called in this entry;
 *		its cancellation clears it, and so forbids the call
 *   cookie	the entry's name, as long as @requests has UNWIND_NAMED
 *   cache	the stack, for as many frames as there is room for, once it was taken
 *   work	the task work that takes it
 *
 * Who changes it.  Only the task itself, in any of its contexts, save that the
 * cancellation of a client clears that client's bits from outside.  Contexts
 * nest: a request can be interrupted, between any two instructions, by another
 * one of the same task, which runs to its end before the first goes on.
 *
 * Request (any context).  A compare-and-exchange on @requests adds the client's
 * bit and UNWIND_PENDING.  Whoever set UNWIND_PENDING queues the task work; who
 * finds it set need not.  The first request of an entry names it first: it
 * exchanges @cookie, then @requests; if something nested in between and was the
 * first, one of the two exchanges fails and all is read again.  Each retry means
 * that a nested request succeeded, and a client's second request does nothing; or
 * that a client was cancelled just then.
 *
 * An interrupt that would lead back here is needed where a request is made after
 * the exit path's last look at the flags: task_work_add() raises it for NMIs, and
 * queue_task_work() for tracers that run there with interrupts off.
 *
 * Task work.  It unwinds, and then takes UNWIND_PENDING away together with the
 * clients that have their bit in @requests and not in @done.  A request that
 * comes later sets it again and queues the work again, so none is lost.  A client
 * is called once per entry, because its bit in @done stays; so the work runs at
 * most once per client and entry, and a client that asks from its own callback is
 * told that it was served.  The stack is unwound for the first of them and kept
 * for the rest.
 *
 * End of the entry.  With interrupts off, after the last check for work, a
 * compare-and-exchange clears @requests unless it has UNWIND_PENDING.  An NMI may
 * still ask before that, or fail it: then the entry goes on and the work runs on
 * the interrupt that was raised, before the program does anything.
 * TIF_UNWIND, a thread flag that the first request sets, brings a task here, and
 * nothing but this clears it: task work may also run in the middle of a system call,
 * or before a guest is entered.
 *
 * Exit and exec.  Both end the use of the old stack early: UNWIND_CLOSED refuses
 * further requests, and what is pending is delivered while its memory is still
 * there.  After exec, the new program has no stack worth asking for before it has
 * run; its first return to user space ends this entry as any other.
 *
 * Cookies.  Each CPU counts the entries that it names; the count and the number
 * of the CPU make one value, which is unique in the system until the count wraps:
 * after 2^50 entries, which at a million per second takes 35 years.  Then the
 * values come again in the same order, so that one could be mistaken for another
 * only if that entry were still open.  The value itself would tell who gets a
 * cookie how often others are profiled, and where they run.  So it goes through a
 * permutation that is drawn at boot: it stays unique, and reveals neither to whoever
 * sees it.  It is no encryption; clients decide who may see cookies.
 *
 * Cancellation.  After it has made the client unknown and waited for requests
 * under way (they run with preemption off), it clears the client's bit in the
 * requests of every task.  Work that has seen it there before sets it in @done, in a
 * read-side section of RCU; after that was waited for, it is cleared in @done, too.
 * A callback is called under SRCU, one of each bit, if the bit is still in @done by
 * then.  So whoever waits for that SRCU at last has seen the end of the callback that
 * is cancelled, and waits for no other client's, however long that takes.  Only then
 * is the bit free for another client.
 */

#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <linux/task_work.h>
#include <linux/thread_info.h>
#include <linux/unwind_deferred.h>

#include "deferred.h"
#include "user.h"

/* Bits of a cookie that tell the CPU; the count has the rest */
#define COOKIE_CPU_BITS		14
#define COOKIE_ROUNDS		3

static struct unwind_work *unwind_clients[UNWIND_MAX_CLIENTS];
static DEFINE_MUTEX(unwind_clients_lock);

/* What the callback of a bit runs under: made for its first client, and kept */
static struct srcu_struct *unwind_callbacks[UNWIND_MAX_CLIENTS];
static struct lock_class_key unwind_callbacks_keys[UNWIND_MAX_CLIENTS];

static DEFINE_PER_CPU(unsigned long, unwind_cookie_count);
static u64 unwind_cookie_key[COOKIE_ROUNDS] __ro_after_init;

static_assert(sizeof(struct unwind_cache) <= 4096);
static_assert(BIT(COOKIE_CPU_BITS) >= CONFIG_NR_CPUS);

/*
 * Requests
 */

/*
 * A permutation of the 64-bit numbers: each step can be undone by who has the
 * key, and spreads every bit over those above it, or below.
 */
static u64 permute_cookie(u64 val)
{
	unsigned int i;

	for (i = 0; i < COOKIE_ROUNDS; i++) {
		val ^= unwind_cookie_key[i];
		val *= GOLDEN_RATIO_64;
		val ^= val >> 32;
	}
	return val;
}

/* Preemption is off: the CPU that counts is the one that signs */
static u64 new_cookie(void)
{
	u64 count, cookie;

	do {
		count = this_cpu_inc_return(unwind_cookie_count);
		cookie = permute_cookie(count << COOKIE_CPU_BITS |
					smp_processor_id());
	} while (unlikely(!cookie));
	return cookie;
}

/* Before there is a program that could be asked about */
static int __init unwind_cookie_init(void)
{
	get_random_bytes(unwind_cookie_key, sizeof(unwind_cookie_key));
	return 0;
}
core_initcall(unwind_cookie_init);

/*
 * Record a client's request, in any context with preemption disabled.
 *
 * @info: the current task's; @bit: the client's; @cookie: set to that of this entry,
 * on success; @queue: set when the caller has to queue the task work.
 *
 * Return: 0 recorded, 1 already pending or done, -ESRCH closed.
 *
 * In line, as it is most of what a request costs.
 */
static __always_inline int
info_request(struct unwind_task_info *info, unsigned long bit, u64 *cookie,
	     bool *queue)
{
	s64 name;
	long old;

	*queue = false;
	do {
		/*
		 * The name before the requests: if a nested request is the
		 * first of the entry, one of the two exchanges must fail.
		 */
		name = atomic64_read(&info->cookie);
		old = atomic_long_read(&info->requests);
		if (old & UNWIND_CLOSED)
			return -ESRCH;
		if (old & UNWIND_NAMED) {
			/* It stays until the entry ends; read it again */
			name = atomic64_read(&info->cookie);
		} else {
			s64 fresh = new_cookie();

			if (!atomic64_try_cmpxchg(&info->cookie, &name, fresh))
				continue;
			name = fresh;
		}
		if (old & bit) {
			*cookie = name;
			return 1;
		}
		if (atomic_long_try_cmpxchg(&info->requests, &old,
					    old | bit | UNWIND_NAMED |
					    UNWIND_PENDING))
			break;
	} while (true);

	*cookie = name;
	*queue = !(old & UNWIND_PENDING);
	return 0;
}

#if IS_ENABLED(CONFIG_UNWIND_USER_KUNIT_TEST)
/* For tests, of tasks that are none */
int unwind_info_request(struct unwind_task_info *info, unsigned long bit,
			u64 *cookie, bool *queue)
{
	return info_request(info, bit, cookie, queue);
}
#endif

static void kick(struct irq_work *work)
{
	/* The interrupt itself, on its way back, is all that is wanted */
}

static DEFINE_PER_CPU(struct irq_work, unwind_kick) = IRQ_WORK_INIT_HARD(kick);

static int queue_task_work(struct unwind_task_info *info)
{
	int ret;

	set_thread_flag(TIF_UNWIND);
	if (in_nmi())
		return task_work_add(current, &info->work, TWA_NMI_CURRENT);

	ret = task_work_add(current, &info->work, TWA_RESUME | TWAF_NO_ALLOC);
	/*
	 * With interrupts off and not in one, this may be the exit path after
	 * its last look at the flags. An interrupt looks at its own end.
	 */
	if (!ret && irqs_disabled() && !in_hardirq())
		irq_work_queue(this_cpu_ptr(&unwind_kick));
	return ret;
}

/**
 * unwind_deferred_request - ask for the current task's user stack
 * @work: a registered client
 * @cookie: names the stack; 0 on error
 *
 * The client's callback is called with @cookie before the task returns to user
 * space, exits or executes another program.  All requests of one entry into the
 * kernel get the same cookie, and each client one callback for it.
 *
 * Context: any, NMI included. Takes no lock and reads no user memory.
 * Return: 0 the callback will come; 1 it was asked for or called before in this
 * entry; -EINVAL the current task has no user stack, or @work is not
 * registered; -ESRCH it is exiting, or has just left its program by exec.
 */
int unwind_deferred_request(struct unwind_work *work, u64 *cookie)
{
	struct unwind_task_info *info = &current->unwind_info;
	bool queue;
	int bit, ret;

	*cookie = 0;
	if (!unwind_user_has_stack(current))
		return -EINVAL;

	guard(preempt_notrace)();

	bit = READ_ONCE(work->bit);
	if (bit < 0 || READ_ONCE(unwind_clients[bit]) != work)
		return -EINVAL;

	ret = info_request(info, BIT(bit), cookie, &queue);
	if (ret || !queue)
		return ret;

	ret = queue_task_work(info);
	if (ret) {
		/*
		 * Others may have relied on this one to queue the work. It does
		 * not happen: a task is closed before its task work ends.
		 */
		atomic_long_andnot(UNWIND_CLIENTS | UNWIND_PENDING, &info->requests);
		*cookie = 0;
	}
	return ret;
}
EXPORT_SYMBOL_GPL(unwind_deferred_request);

/*
 * Delivery
 */

/**
 * unwind_info_take - which clients are to be called now?
 * @info: the current task's
 *
 * Context: task.
 * Return: their bits; they count as called from here on.
 */
unsigned long unwind_info_take(struct unwind_task_info *info)
{
	unsigned long bits;

	/* For cancellation, which waits until what was seen here is in @done */
	guard(rcu)();
	bits = atomic_long_fetch_andnot(UNWIND_PENDING, &info->requests);
	bits &= UNWIND_CLIENTS;
	return bits & ~atomic_long_fetch_or(bits, &info->done);
}

/* The task's buffer, which it gets at its first unwind */
static struct unwind_cache *get_cache(struct unwind_task_info *info)
{
	if (!info->cache)
		info->cache = kzalloc(sizeof(*info->cache),
				      GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return info->cache;
}

/* The stack of this entry; empty if there is no memory or no stack */
static void entry_stack(struct unwind_task_info *info, u64 cookie,
			struct unwind_stacktrace *trace)
{
	struct unwind_cache *cache = get_cache(info);

	trace->nr = 0;
	trace->entries = NULL;
	if (!cache)
		return;

	trace->entries = cache->entries;
	if (cache->cookie == cookie) {
		trace->nr = cache->nr;
		return;
	}
	unwind_user(trace, UNWIND_MAX_ENTRIES, UNWIND_USER_FAULTABLE);
	cache->nr = trace->nr;
	cache->cookie = cookie;
}

/* Call a client that was taken, unless it was cancelled meanwhile */
static void call_client(struct unwind_task_info *info, unsigned int bit,
			struct unwind_stacktrace *trace, u64 cookie)
{
	struct srcu_struct *callbacks = unwind_callbacks[bit];
	struct unwind_work *work;
	int idx;

	idx = srcu_read_lock(callbacks);
	if (atomic_long_read(&info->done) & BIT(bit)) {
		work = READ_ONCE(unwind_clients[bit]);
		work->func(work, trace, cookie);
	}
	srcu_read_unlock(callbacks, idx);
}

static void deliver(struct unwind_task_info *info)
{
	struct unwind_stacktrace trace;
	unsigned long clients;
	unsigned int bit;
	u64 cookie;

	cookie = atomic64_read(&info->cookie);
	entry_stack(info, cookie, &trace);

	clients = unwind_info_take(info);
	for_each_set_bit(bit, &clients, UNWIND_MAX_CLIENTS)
		call_client(info, bit, &trace, cookie);
}

static void unwind_deferred_work(struct callback_head *head)
{
	deliver(container_of(head, struct unwind_task_info, work));
}

/* Deliver ahead of the task work, which then must not stay queued */
static void deliver_now(struct unwind_task_info *info)
{
	if (task_work_cancel(current, &info->work))
		deliver(info);
}

/**
 * unwind_user_faultable - take the current task's user stack now
 * @trace: the stack, in the task's own buffer
 *
 * Context: task, may sleep, without the mmap lock; not from a client's callback,
 * which has the stack already.
 * Return: 0; -ENOMEM; or as unwind_user().
 */
int unwind_user_faultable(struct unwind_stacktrace *trace)
{
	struct unwind_cache *cache;

	trace->nr = 0;
	trace->entries = NULL;
	if (!unwind_user_has_stack(current))
		return -EINVAL;

	cache = get_cache(&current->unwind_info);
	if (!cache)
		return -ENOMEM;
	/* The buffer is overwritten: it is nobody's entry any more */
	cache->cookie = 0;
	trace->entries = cache->entries;
	return unwind_user(trace, UNWIND_MAX_ENTRIES, UNWIND_USER_FAULTABLE);
}

/*
 * The end of an entry
 */

/**
 * unwind_info_reset - end the entry, unless a request is pending
 * @info: the current task's
 *
 * Context: nothing of the task but NMIs can run.
 * Return: whether the entry has ended.
 */
bool unwind_info_reset(struct unwind_task_info *info)
{
	long old = atomic_long_read(&info->requests);

	/* Fails for an NMI's request, or because a client is being cancelled */
	do {
		if (old & UNWIND_PENDING)
			return false;
	} while (!atomic_long_try_cmpxchg(&info->requests, &old, 0));
	/* A request that comes now has a new cookie, and is not done either way */
	atomic_long_set(&info->done, 0);
	return true;
}

/**
 * unwind_reset_info - the current task is about to return to user space
 *
 * Called from the exit path where the thread flag TIF_UNWIND was set.
 *
 * Context: interrupts disabled, after the last check for work to do.
 */
void unwind_reset_info(void)
{
	lockdep_assert_irqs_disabled();

	/* First: a request that an NMI makes from here on sets it again */
	clear_thread_flag(TIF_UNWIND);
	if (!unwind_info_reset(&current->unwind_info))
		set_thread_flag(TIF_UNWIND);
}

/* Take no more requests in this entry, and deliver what is pending */
static void close_entry(struct unwind_task_info *info)
{
	long old = atomic_long_fetch_or(UNWIND_CLOSED, &info->requests);

	/* Leads to unwind_reset_info(), should the task see user space again */
	set_thread_flag(TIF_UNWIND);
	if (old & UNWIND_PENDING)
		deliver_now(info);
}

/**
 * unwind_deferred_exec - the current task is about to lose its program
 *
 * Delivers what is pending while the old stack is there, and refuses requests
 * until the new program runs.
 *
 * Context: task, may sleep, the old mm and tid still in place.
 */
void unwind_deferred_exec(void)
{
	close_entry(&current->unwind_info);
}

/**
 * unwind_deferred_task_exit - the current task exits
 * @task: current
 *
 * Delivers what is pending while there are still a stack and events to deliver
 * to, and refuses what comes later.
 *
 * Context: task, may sleep, before the mm and perf events are gone.
 */
void unwind_deferred_task_exit(struct task_struct *task)
{
	WARN_ON_ONCE(task != current);
	close_entry(&task->unwind_info);
}

/**
 * unwind_task_init - a new task has no requests
 * @task: task that is being created
 */
void unwind_task_init(struct task_struct *task)
{
	struct unwind_task_info *info = &task->unwind_info;

	memset(info, 0, sizeof(*info));
	init_task_work(&info->work, unwind_deferred_work);
}

/**
 * unwind_task_free - a task is gone
 * @task: task that will not run again
 */
void unwind_task_free(struct task_struct *task)
{
	kfree(task->unwind_info.cache);
}

/*
 * Clients
 */

/* What callbacks of a bit run under, also those of later clients */
static int make_callbacks(unsigned int bit)
{
	struct srcu_struct *callbacks __free(kfree) = NULL;

	lockdep_assert_held(&unwind_clients_lock);
	if (unwind_callbacks[bit])
		return 0;
	callbacks = kmalloc(sizeof(*callbacks), GFP_KERNEL);
	if (!callbacks || init_srcu_struct(callbacks))
		return -ENOMEM;
	/* A callback may wait for who waits for another client's */
	lockdep_set_class(callbacks, &unwind_callbacks_keys[bit]);
	unwind_callbacks[bit] = no_free_ptr(callbacks);
	return 0;
}

/**
 * unwind_deferred_init - register a client
 * @work: the client's, not registered
 * @func: called with each stack that it asks for
 *
 * Context: task, may sleep.
 * Return: 0; -ENOSPC there are UNWIND_MAX_CLIENTS clients already; -ENOMEM.
 */
int unwind_deferred_init(struct unwind_work *work, unwind_callback_t func)
{
	unsigned int bit;
	int ret;

	work->func = func;
	WRITE_ONCE(work->bit, -1);

	guard(mutex)(&unwind_clients_lock);
	for (bit = 0; bit < UNWIND_MAX_CLIENTS; bit++) {
		if (unwind_clients[bit])
			continue;
		ret = make_callbacks(bit);
		if (ret)
			return ret;
		WRITE_ONCE(unwind_clients[bit], work);
		/* Pairs with the address dependency of who reads the bit */
		smp_store_release(&work->bit, bit);
		return 0;
	}
	return -ENOSPC;
}
EXPORT_SYMBOL_GPL(unwind_deferred_init);

/* Make the client unknown to requests; its bit, or -1 */
static int hide_client(struct unwind_work *work)
{
	int bit;

	guard(mutex)(&unwind_clients_lock);
	bit = work->bit;
	/* One that was never registered may be all zeroes */
	if (bit < 0 || unwind_clients[bit] != work)
		return -1;
	WRITE_ONCE(work->bit, -1);
	return bit;
}

static void forget_requests(unsigned int bit)
{
	struct task_struct *group, *task;

	guard(rcu)();
	for_each_process_thread(group, task)
		atomic_long_andnot(BIT(bit), &task->unwind_info.requests);
}

static void forget_done(unsigned int bit)
{
	struct task_struct *group, *task;

	guard(rcu)();
	for_each_process_thread(group, task)
		atomic_long_andnot(BIT(bit), &task->unwind_info.done);
}

/**
 * unwind_deferred_cancel - unregister a client
 * @work: the client's; one that is not registered is left alone
 *
 * After this returns, its callback does not run and will not be called. It waits
 * for no other client's callback.  Only one thread cancels a client: another that
 * does meanwhile returns at once, while the callback may still run.
 *
 * Context: task, may sleep; not from a callback.
 */
void unwind_deferred_cancel(struct unwind_work *work)
{
	const int bit = hide_client(work);

	if (bit < 0)
		return;

	/* Until it is free, nobody else takes the bit: the lock need not be held */
	synchronize_rcu();
	forget_requests(bit);
	synchronize_rcu();
	forget_done(bit);
	synchronize_srcu(unwind_callbacks[bit]);

	guard(mutex)(&unwind_clients_lock);
	WRITE_ONCE(unwind_clients[bit], NULL);
}
EXPORT_SYMBOL_GPL(unwind_deferred_cancel);
