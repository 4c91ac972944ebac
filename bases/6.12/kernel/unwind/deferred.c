// SPDX-License-Identifier: GPL-2.0
/*
 * The deferred core: a request returns a cookie at once; the stack is taken on the
 * way back to user space.
 *
 *   sample (any context)                   return to user space (task context)
 *
 *   unwind_deferred_request()              task work: unwind_walk(), once
 *     set the client's bit, queue            call each client that asked, with
 *     the task work, return a cookie         the stack and the same cookie
 *
 * A user stack does not change while its task is in the kernel.  So a tracer need not
 * unwind at the sample.  It writes the cookie, which names the stack, into its sample,
 * and later the stack with the same cookie.  The reader of the trace joins the two.
 * Before the task returns, task work unwinds once, where user memory may be faulted in,
 * and calls each client that asked: perf (kernel/events/core.c), BPF
 * (kernel/bpf/unwind.c), trace instances (kernel/trace/trace_user_unwind.c) and
 * immediate.c.  If the task stays in the kernel, later requests get a new cookie.
 *
 * Only the task changes its struct unwind_task_info, in any context, by single atomic
 * operations; cancelling a client clears that client's bits from outside.  A nested
 * request runs to its end before the interrupted one continues.
 *
 * Documentation/core-api/unwind-deferred.rst says why no request is lost or served
 * twice, and how cancellation works.
 */

#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <linux/task_work.h>
#include <linux/thread_info.h>
#include <linux/unwind_chain.h>
#include <linux/unwind_deferred.h>
#include <linux/unwind_stack.h>

#include "deferred.h"
#include "self.h"
#include "walk.h"

/* Bits of a cookie that hold the CPU's number; the count has the rest */
#define COOKIE_CPU_BITS		14
#define COOKIE_ROUNDS		3

/*
 * Jiffies after a delivery in which requests keep its cookie, so that requests that a
 * delivery causes do not continue without end.  On the way back to user space, they keep it until
 * the entry ends: there, such a request brings the task work back, however long it takes to
 * handle it.
 */
#define COOKIE_LIFE		1
#define COOKIE_LIFE_LEAVES	MAX_JIFFY_OFFSET

static struct unwind_work *unwind_clients[UNWIND_MAX_CLIENTS];
static DEFINE_MUTEX(unwind_clients_lock);

/* Unique number of the client that owns each bit; 0 once cancelled */
static u64 unwind_ids[UNWIND_MAX_CLIENTS];
u64 unwind_last_client;

/* SRCU under which a bit's callback runs: made for the bit's first client, never freed */
static struct srcu_struct *unwind_callbacks[UNWIND_MAX_CLIENTS];
static struct lock_class_key unwind_callbacks_keys[UNWIND_MAX_CLIENTS];

static DEFINE_PER_CPU(unsigned long, unwind_cookie_count);
static u64 unwind_cookie_key[COOKIE_ROUNDS] __ro_after_init;

/* A buffer that no task uses now */
static DEFINE_PER_CPU(struct unwind_cache *, unwind_spare);

static_assert(offsetof(struct unwind_cache, entries[UNWIND_ENTRIES]) <= 1024);
static_assert(U16_MAX / 4 >= UNWIND_MAX_ENTRIES);
static_assert(BIT(COOKIE_CPU_BITS) >= CONFIG_NR_CPUS);

/*
 * Requests
 */

/*
 * A permutation of the 64-bit numbers: each step can be undone with the key, and
 * spreads every bit over the bits above it, or below it.
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

/* Preemption is off: the CPU that counts is the CPU in the cookie */
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

/* Runs before there is a program with a stack */
static int __init unwind_cookie_init(void)
{
	get_random_bytes(unwind_cookie_key, sizeof(unwind_cookie_key));
	return 0;
}
core_initcall(unwind_cookie_init);

/* Has the cookie's stack been delivered, and has its tick passed? */
static __always_inline bool cookie_expired(struct unwind_task_info *info,
					   long requests)
{
	return !(requests & UNWIND_PENDING) &&
	       time_after(jiffies, READ_ONCE(info->expires));
}

/*
 * Record a client's request, in any context with preemption disabled.
 *
 * @info: the current task's
 * @bit: the client's
 * @cookie: set to the cookie of the stack, unless the entry is closed
 * @queue: set to whether the caller has to queue the task work
 *
 * Return: 0 recorded, 1 already pending or done, -ESRCH closed.
 *
 * Inlined, because it is most of a request's cost.
 */
static __always_inline int
info_request(struct unwind_task_info *info, unsigned long bit, u64 *cookie,
	     bool *queue)
{
	bool expired;
	long old, new;
	s64 name;

	*queue = false;
	do {
		/*
		 * Read the name before the requests: if a nested request gives
		 * a new name, one of the exchanges must fail.
		 */
		name = atomic64_read(&info->cookie);
		old = atomic_long_read(&info->requests);
		if (old & UNWIND_CLOSED)
			return -ESRCH;
		new = old | bit | UNWIND_NAMED | UNWIND_PENDING;
		expired = (old & UNWIND_NAMED) && cookie_expired(info, old);
		if (!(old & UNWIND_NAMED) || expired) {
			s64 fresh = new_cookie();

			if (!atomic64_try_cmpxchg(&info->cookie, &name, fresh))
				continue;
			name = fresh;
			/* No client has asked for the stack by this name */
			new &= ~UNWIND_CLIENTS | bit;
		} else {
			name = atomic64_read(&info->cookie);
			if (old & bit)
				new = old;
		}
		if (atomic_long_try_cmpxchg(&info->requests, &old, new))
			break;
	} while (true);

	*cookie = name;
	if (new == old)
		return 1;
	/* The task work, which sets the bits, runs later */
	if (expired)
		atomic_long_set(&info->done, 0);
	*queue = !(old & UNWIND_PENDING);
	return 0;
}

#if IS_ENABLED(CONFIG_UNWIND_USER_KUNIT_TEST)
/* For tests, which have a struct unwind_task_info without a task */
int unwind_info_request(struct unwind_task_info *info, unsigned long bit,
			u64 *cookie, bool *queue)
{
	return info_request(info, bit, cookie, queue);
}
#endif

static int queue_task_work(struct unwind_task_info *info)
{
	int ret;

	set_thread_flag(TIF_UNWIND);
	if (in_nmi())
		return task_work_add(current, &info->work, TWA_NMI_CURRENT);

	ret = task_work_add(current, &info->work, TWA_RESUME | TWAF_NO_ALLOC);
	if (!ret && unwind_needs_kick())
		unwind_kick();
	return ret;
}

/**
 * unwind_deferred_request - ask for the current task's user stack
 * @work: a registered client
 * @cookie: names the stack; 0 on error
 *
 * The client's callback is called with @cookie before the task returns to user
 * space, exits or executes another program; or, if the client wants frames that the task
 * finds itself, when the task has found them.  Requests in one entry into the kernel
 * get the same cookie, and each client gets one callback for it.  A later request gets a
 * new cookie only if the task stays in the kernel for more than a tick after its stack was
 * delivered, and was not on its way back to user space then.
 *
 * Context: any, NMI included. Takes no lock and reads no user memory.
 * Return: 0 the callback will come; 1 the client asked, or was called, before with
 * this cookie; -EINVAL the current task has no user stack, or @work is not
 * registered; -ESRCH the task is exiting, or has just left its program by exec.
 */
int unwind_deferred_request(struct unwind_work *work, u64 *cookie)
{
	struct unwind_task_info *info = &current->unwind_info;
	bool queue;
	int bit, ret;

	*cookie = 0;
	if (!unwind_has_stack(current))
		return -EINVAL;

	guard(preempt_notrace)();

	bit = READ_ONCE(work->bit);
	if (bit < 0 || READ_ONCE(unwind_clients[bit]) != work)
		return -EINVAL;
	if (unlikely(unwind_needs_kick() || in_nmi()) && unwind_entry_ended(info)) {
		if (unwind_kept_entry(BIT(bit), cookie))
			return 1;
		/* An interrupt delivers it before the program makes a step */
		if (unlikely(unwind_self_of(info)))
			unwind_self_stays(info->self);
	}

	ret = info_request(info, BIT(bit), cookie, &queue);
	if (ret || !queue)
		return ret;

	ret = queue_task_work(info);
	if (ret) {
		/*
		 * Nested requests may have relied on this one to queue the work.
		 * This does not happen: a task is closed before its task work ends.
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
 * unwind_info_take - take the clients to call now
 * @info: the current task's
 *
 * Context: task.
 * Return: their bits; from here on, these clients count as called.
 */
unsigned long unwind_info_take(struct unwind_task_info *info)
{
	unsigned long bits;

	/* Cancellation waits until each bit that was read here is in @done */
	guard(rcu)();
	bits = atomic_long_fetch_andnot(UNWIND_PENDING, &info->requests);
	bits &= UNWIND_CLIENTS;
	return bits & ~atomic_long_fetch_or(bits, &info->done);
}

static unsigned int max_entries(void)
{
	int max = UNWIND_ENTRIES;

#ifdef CONFIG_PERF_EVENTS
	max = READ_ONCE(sysctl_perf_event_max_stack);
#endif
	return clamp(max, 1, UNWIND_MAX_ENTRIES);
}

static void free_notes(struct unwind_cache *cache)
{
	struct unwind_walk_notes *notes = unwind_cache_notes(cache);

	if (notes)
		unwind_chain_free_notes(notes);
}

/**
 * unwind_cache_free - free a buffer
 * @cache: the buffer, or NULL
 *
 * Context: any but NMI, as the last reference to a task may go in any.
 */
void unwind_cache_free(struct unwind_cache *cache)
{
	free_notes(cache);
	if (cache)
		kvfree_rcu(cache, rcu);
}

static struct unwind_cache *alloc_cache(unsigned int size, bool notes, bool own)
{
	const size_t more = notes ? struct_size_t(struct unwind_walk_notes, sps, size) : 0;
	const struct unwind_walk_notes empty = { .own = own };
	struct unwind_cache *cache;

	cache = kvmalloc(unwind_cache_size(size) + more, unwind_notes_gfp(&empty));
	if (!cache)
		return NULL;
	cache->size = size;
	cache->has_notes = notes;
	cache->own = own;
	if (notes)
		*unwind_cache_notes(cache) = empty;
	return cache;
}

/* Return @cache, if it has the size and notes that stacks need now; else a new buffer or NULL */
static struct unwind_cache *fit_cache(struct unwind_cache *cache, unsigned int size, bool notes,
				      bool own)
{
	if (cache && cache->size == size && cache->has_notes == notes)
		return cache;
	unwind_cache_free(cache);
	return alloc_cache(size, notes, own);
}

/*
 * Get a buffer for the stack of this entry.  A task that finds its own frames has a separate
 * buffer, as the stack may be held meanwhile.  At the limit of its cgroup, it gets one as other
 * tasks do, which cannot be held.
 */
static struct unwind_cache *get_cache(struct unwind_task_info *info, u64 cookie)
{
	const bool notes = unwind_chain_has_readers();
	const unsigned int size = max_entries();
	struct unwind_cache *cache = NULL;

	if (unlikely(unwind_self_of(info)))
		cache = fit_cache(unwind_self_swap(info->self, NULL), size, notes, true);
	/* The CPU's spare buffer, unless it is taken */
	if (!cache)
		cache = fit_cache(this_cpu_xchg(unwind_spare, NULL), size, notes, false);
	if (!cache)
		return NULL;
	cache->cookie = ~(u32)cookie;
	info->cache = cache;
	return cache;
}

/* The stack is not needed any more */
static void clear_cache(struct unwind_cache *cache)
{
	struct unwind_walk_notes *notes = unwind_cache_notes(cache);

	if (notes)
		unwind_chain_clear_notes(notes);
}

/* The entry ends: a task that is not in the kernel, or exits, has no buffer */
static void put_cache(struct unwind_task_info *info)
{
	struct unwind_cache *cache = info->cache;

	if (!cache)
		return;
	clear_cache(cache);
	if (likely(!cache->own))
		cache = this_cpu_xchg(unwind_spare, cache);
	else if (unwind_self_of(info))
		cache = unwind_self_swap(info->self, cache);
	unwind_cache_free(cache);
	info->cache = NULL;
}

/*
 * Get the stack of this entry; empty if there is no memory or no stack.  With a new cookie it
 * is taken anew: missing pages and tables may have come meanwhile.
 */
static void entry_stack(struct unwind_task_info *info, u64 cookie,
			struct unwind_stacktrace *trace)
{
	struct unwind_cache *cache = info->cache ?: get_cache(info, cookie);

	if (!cache) {
		trace->nr = 0;
		trace->entries = NULL;
		return;
	}
	trace->entries = cache->entries;
	if (cache->cookie != (u32)cookie) {
		clear_cache(cache);
		unwind_walk(trace, cache->size, unwind_cache_notes(cache));
		cache->nr = trace->nr;
		cache->cookie = (u32)cookie;
	}
	trace->nr = cache->nr;
}

/**
 * unwind_deferred_chains - the frames of languages that belong to the stack
 *
 * Context: the callback of a client.
 * Return: the frames, until the callback returns; NULL if there are none, or if no client
 * that is called now wants any.
 */
struct unwind_chain_stack *unwind_deferred_chains(void)
{
	struct unwind_walk_notes *notes = unwind_cache_notes(current->unwind_info.cache);

	return notes && notes->has_stack && notes->stack->nr ? notes->stack : NULL;
}

/*
 * Get a client that was taken, unless it was cancelled meanwhile; valid until end_client().  If
 * @info is NULL, get the client that has the bit now.
 */
static struct unwind_work *begin_client(struct unwind_task_info *info, unsigned int bit, int *idx)
{
	*idx = srcu_read_lock(unwind_callbacks[bit]);
	return !info || atomic_long_read(&info->done) & BIT(bit) ?
	       READ_ONCE(unwind_clients[bit]) : NULL;
}

static void end_client(unsigned int bit, int idx)
{
	srcu_read_unlock(unwind_callbacks[bit], idx);
}

static void call_client(struct unwind_task_info *info, unsigned int bit,
			struct unwind_stacktrace *trace, u64 cookie)
{
	struct unwind_work *work;
	int idx;

	work = begin_client(info, bit, &idx);
	if (work)
		work->func(work, trace, cookie);
	end_client(bit, idx);
}

/**
 * unwind_held_add - let clients that were taken get a held stack
 * @held: the stack
 * @clients: their bits
 *
 * Context: task.
 */
void unwind_held_add(struct unwind_held *held, unsigned long clients)
{
	struct unwind_work *work;
	unsigned int bit;
	int idx;

	for_each_set_bit(bit, &clients, UNWIND_MAX_CLIENTS) {
		work = begin_client(&current->unwind_info, bit, &idx);
		if (work) {
			held->clients |= BIT(bit);
			/* Pairs with the registration of a client */
			held->ids[bit] = smp_load_acquire(&unwind_ids[bit]);
		}
		end_client(bit, idx);
	}
}

/*
 * Call a client of a held stack, unless it was cancelled: another client may have its bit then.
 * If its number is still set, cancelling has yet to wait for this call.
 */
static void call_held(const struct unwind_held *held, unsigned int bit,
		      struct unwind_stacktrace *trace)
{
	struct unwind_work *work;
	int idx;

	work = begin_client(NULL, bit, &idx);
	/* Pairs with the registration of a client */
	if (held->ids[bit] && smp_load_acquire(&unwind_ids[bit]) == held->ids[bit])
		work->func(work, trace, held->cookie);
	end_client(bit, idx);
}

/**
 * unwind_held_deliver - call the clients of a held stack, which is then gone
 * @held: the stack of the current task
 *
 * Context: task, as unwind_callback_t.
 */
void unwind_held_deliver(struct unwind_held *held)
{
	struct unwind_task_info *info = &current->unwind_info;
	struct unwind_cache *cache = info->cache;
	struct unwind_stacktrace trace = {
		.nr = held->cache->nr,
		.entries = held->cache->entries,
	};
	struct unwind_walk_notes *notes = unwind_cache_notes(held->cache);
	unsigned int bit;

	/* This is where clients find the frames of languages */
	info->cache = held->cache;
	for_each_set_bit(bit, &held->clients, UNWIND_MAX_CLIENTS)
		call_held(held, bit, &trace);
	if (notes)
		unwind_chain_settle(notes);
	held->cache = NULL;
	held->clients = 0;
	put_cache(info);
	info->cache = cache;
}

static bool wants_chains(struct unwind_task_info *info, unsigned int bit)
{
	struct unwind_work *work;
	bool wants;
	int idx;

	work = begin_client(info, bit, &idx);
	wants = work && work->wants_chains && work->wants_chains(work);
	end_client(bit, idx);
	return wants;
}

/*
 * Take the frames of languages, if a client wants them.  This is not done in its callback, because
 * it may wait for the mmap lock, and cancelling a client must not wait for that.
 *
 * Return: the clients for which the stack is held, because the task was asked for its own frames.
 * Other clients do not wait for these, unless they request the stack later under the same cookie.
 */
static unsigned long take_chains(struct unwind_task_info *info, unsigned long clients,
				 const struct unwind_stacktrace *trace,
				 struct unwind_walk_notes *notes)
{
	unsigned long wanted = 0;
	unsigned int bit;

	for_each_set_bit(bit, &clients, UNWIND_MAX_CLIENTS) {
		if (wants_chains(info, bit))
			wanted |= BIT(bit);
	}
	if (!wanted)
		return 0;
	unwind_chain_take(trace, notes);
	return unlikely(unwind_self_of(info)) && unwind_self_ask(info, wanted) ? wanted : 0;
}

/* @last: the task has nothing to do after this but to return to user space */
static void deliver(struct unwind_task_info *info, bool last)
{
	struct unwind_walk_notes *notes = NULL;
	unsigned long clients, held = 0;
	struct unwind_stacktrace trace;
	unsigned int bit;
	u64 cookie;

	/* The cookie stays while callbacks run */
	WRITE_ONCE(info->expires, jiffies + MAX_JIFFY_OFFSET);
	cookie = atomic64_read(&info->cookie);
	clients = unwind_info_take(info);
	if (unlikely(unwind_self_of(info)) &&
	    unwind_self_join(info->self, clients, cookie))
		clients = 0;
	/* There are none if all were cancelled meanwhile */
	if (clients) {
		entry_stack(info, cookie, &trace);
		notes = unwind_cache_notes(info->cache);
	}
	if (notes)
		held = take_chains(info, clients, &trace, notes);
	/* The buffer stays where it is, for clients that get it now */
	if (held)
		notes = NULL;
	clients &= ~held;
	for_each_set_bit(bit, &clients, UNWIND_MAX_CLIENTS)
		call_client(info, bit, &trace, cookie);
	if (notes)
		unwind_chain_settle(notes);
	WRITE_ONCE(info->expires, jiffies + (last ? COOKIE_LIFE_LEAVES : COOKIE_LIFE));
}

/* Will the task reclaim memory, or wait, after its work?  See resume_user_mode_work(). */
static bool is_throttled(void)
{
#ifdef CONFIG_MEMCG
	if (current->memcg_nr_pages_over_high)
		return true;
#endif
#ifdef CONFIG_BLK_CGROUP
	if (current->throttle_disk)
		return true;
#endif
	return false;
}

static void unwind_deferred_work(struct callback_head *head)
{
	struct unwind_task_info *info = container_of(head, struct unwind_task_info, work);

	/*
	 * Other work may take long, too: a file is closed.  Look before the stack is taken, which
	 * may be what makes the task reclaim memory: it is delivered again for other memory only.
	 */
	deliver(info, info->leaves && !head->next && !is_throttled());
}

/* Deliver before the task work runs, and take it off the queue */
static void deliver_now(struct unwind_task_info *info)
{
	if (task_work_cancel(current, &info->work))
		deliver(info, false);
}

/*
 * The end of an entry
 */

/**
 * unwind_info_reset - end the entry, unless a request is pending
 * @info: the current task's
 *
 * Context: only NMIs can interrupt the task.
 * Return: whether the entry has ended.
 */
bool unwind_info_reset(struct unwind_task_info *info)
{
	long old = atomic_long_read(&info->requests);

	/* Fails if an NMI makes a request, or if a client is being cancelled */
	do {
		if (old & UNWIND_PENDING)
			return false;
	} while (!atomic_long_try_cmpxchg(&info->requests, &old, 0));
	/* A request that an NMI makes now has a new cookie, and is taken only after this */
	atomic_long_set(&info->done, 0);
	return true;
}

/**
 * unwind_reset_info - the current task is about to return to user space
 *
 * The exit path calls this if the thread flag TIF_UNWIND is set.
 *
 * Context: interrupts disabled, after the last check for work to do.
 */
void unwind_reset_info(void)
{
	struct unwind_task_info *info = &current->unwind_info;

	lockdep_assert_irqs_disabled();

	unwind_keep_entry(info);
	/* First, so that a request by an NMI from here on sets it again */
	clear_thread_flag(TIF_UNWIND);
	/* Before the reset, as a request after it takes this back */
	if (unlikely(unwind_self_of(info)))
		unwind_self_left(info->self);
	if (!unwind_info_reset(info)) {
		set_thread_flag(TIF_UNWIND);
		if (unlikely(unwind_self_of(info)))
			unwind_self_stays(info->self);
		return;
	}
	put_cache(info);
}

/*
 * Refuse further requests in this entry, and deliver pending stacks, also a held one: its request
 * to the task ends with @outcome.
 */
static void close_entry(struct unwind_task_info *info, enum unwind_self_outcome outcome)
{
	long old;

	if (unlikely(unwind_self_of(info)))
		unwind_self_end(info, outcome);
	old = atomic_long_fetch_or(UNWIND_CLOSED, &info->requests);
	/* Brings the task to unwind_reset_info(), should it return to user space */
	set_thread_flag(TIF_UNWIND);
	if (old & UNWIND_PENDING)
		deliver_now(info);
}

/**
 * unwind_deferred_exec - the current task is about to lose its program
 *
 * Delivers pending stacks while the old stack is there, and refuses requests
 * until the new program runs.
 *
 * Context: task, may sleep, the old mm and tid still in place.
 */
void unwind_deferred_exec(void)
{
	close_entry(&current->unwind_info, UNWIND_SELF_EXECED);
}

/**
 * unwind_deferred_task_exit - the current task exits
 * @task: current
 *
 * Delivers pending stacks while the stack and the events still exist, and refuses
 * later requests.
 *
 * Context: task, may sleep, before the mm and perf events are gone.
 */
void unwind_deferred_task_exit(struct task_struct *task)
{
	WARN_ON_ONCE(task != current);
	close_entry(&task->unwind_info, UNWIND_SELF_EXITED);
	/* The exited task may stay for long, until its parent waits for it */
	put_cache(&task->unwind_info);
}

/**
 * unwind_task_init - initialize the state of a new task
 * @task: task that is being created
 */
void unwind_task_init(struct task_struct *task)
{
	struct unwind_task_info *info = &task->unwind_info;

	memset(info, 0, sizeof(*info));
	init_task_work(&info->work, unwind_deferred_work);
}

/**
 * unwind_task_free - free the state of a task
 * @task: task that will not run again
 */
void unwind_task_free(struct task_struct *task)
{
	unwind_cache_free(task->unwind_info.cache);
}

/*
 * Clients
 */

/* Make the SRCU of a bit, which its later clients use, too */
static int make_callbacks(unsigned int bit)
{
	struct srcu_struct *callbacks __free(kfree) = NULL;

	lockdep_assert_held(&unwind_clients_lock);
	if (unwind_callbacks[bit])
		return 0;
	callbacks = kmalloc(sizeof(*callbacks), GFP_KERNEL);
	if (!callbacks || init_srcu_struct(callbacks))
		return -ENOMEM;
	/* A callback may wait for a task that waits for another client's callback */
	lockdep_set_class(callbacks, &unwind_callbacks_keys[bit]);
	unwind_callbacks[bit] = no_free_ptr(callbacks);
	return 0;
}

/**
 * unwind_deferred_init - register a client
 * @work: the client's, not registered
 * @func: called with each stack that the client asked for
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
		WRITE_ONCE(unwind_last_client, unwind_last_client + 1);
		/* Pairs with call_held(), which then finds this client */
		smp_store_release(&unwind_ids[bit], unwind_last_client);
		/* Pairs with the address dependency of a request that reads the bit */
		smp_store_release(&work->bit, bit);
		return 0;
	}
	return -ENOSPC;
}
EXPORT_SYMBOL_GPL(unwind_deferred_init);

/* Hide the client from requests; return its bit, or -1 */
static int hide_client(struct unwind_work *work)
{
	int bit;

	guard(mutex)(&unwind_clients_lock);
	bit = work->bit;
	/* A client that was never registered may be all zeroes */
	if (bit < 0 || unwind_clients[bit] != work)
		return -1;
	WRITE_ONCE(work->bit, -1);
	WRITE_ONCE(unwind_ids[bit], 0);
	return bit;
}

/* Threads between two points at which the walk over all may be interrupted */
#define FORGET_BATCH	256

/*
 * Clear a client's bit, in @done or in @requests, of the next threads: by their numbers,
 * from @nr on.
 *
 * A thread that takes another's number in exec may be missed.  It makes no request until
 * unwind_info_reset() has cleared all its bits.
 *
 * Return: the number to continue with, or 0.
 */
static int forget_some(int nr, unsigned int bit, bool done)
{
	struct unwind_task_info *info;
	struct task_struct *task;
	struct pid *pid;
	unsigned int i;

	guard(rcu)();
	for (i = 0; i < FORGET_BATCH; i++) {
		pid = find_ge_pid(nr, &init_pid_ns);
		if (!pid)
			return 0;
		nr = pid_nr(pid) + 1;
		task = pid_task(pid, PIDTYPE_PID);
		if (!task)
			continue;
		info = &task->unwind_info;
		atomic_long_andnot(BIT(bit), done ? &info->done : &info->requests);
	}
	return nr;
}

static void forget(unsigned int bit, bool done)
{
	int nr = 1;

	while ((nr = forget_some(nr, bit, done)))
		cond_resched();
}

/**
 * unwind_deferred_cancel - unregister a client
 * @work: the client's; nothing happens if it is not registered
 *
 * After this returns, the client's callback does not run and will not be called.  It
 * waits for no other client's callback.  Only one thread cancels a client: if another
 * calls this meanwhile, it returns at once, and the callback may still run.
 *
 * Context: task, may sleep; not from a callback.
 */
void unwind_deferred_cancel(struct unwind_work *work)
{
	const int bit = hide_client(work);

	if (bit < 0)
		return;

	/* No other client gets the bit until it is freed below: no lock is needed here */
	synchronize_rcu();
	forget(bit, false);
	synchronize_rcu();
	forget(bit, true);
	synchronize_srcu(unwind_callbacks[bit]);

	guard(mutex)(&unwind_clients_lock);
	WRITE_ONCE(unwind_clients[bit], NULL);
}
EXPORT_SYMBOL_GPL(unwind_deferred_cancel);
