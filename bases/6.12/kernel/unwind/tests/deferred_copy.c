// SPDX-License-Identifier: GPL-2.0
/*
 * The deferred core, compiled for the model of a task (see deferred_model.h).
 *
 * The code under test is ../deferred.c, unchanged.  This file replaces the kernel
 * functions that it uses before it includes it.  Each access to data that contexts share
 * becomes an access with a point before and after it, at which the model may run
 * something nested.  Functions that ask for the context or change it (locks, interrupts,
 * task work, memory) become the model's.  Nested events differ only in the accesses
 * between which they fall, so these points stand for every instruction.
 *
 * Each access leaves the address of its description in a table.  So the tests notice an
 * access that no run reaches.  If ../deferred.c comes to use a primitive that
 * is not here, add it: with an unknown guard(), this does not compile.
 */

#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/init.h>
#include <linux/jiffies.h>
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

#include "deferred_copy.h"
#include "deferred_model.h"

/*
 * The table: after the data of this file, between two labels.  A function that
 * is inlined twice is in it twice, with the same description.
 */
extern struct model_site *copy_sites[], *copy_sites_end[];

#define PUSH(subsection)	".pushsection .data, " #subsection ", \"aw\"\n"
#define POP			".popsection\n"

asm(PUSH(8001) ".balign 8\ncopy_sites:\n" POP);
asm(PUSH(8003) "copy_sites_end:\n" POP);

#define ADD_SITE(site) \
	({ asm volatile(PUSH(8002) ".quad %c0\n" POP : : "i" (site)); })

#define VALUE(op, expr)							\
({									\
	MODEL_SITE(op, true);						\
	ADD_SITE(&__site);						\
	model_point(&__site, false);					\
	__auto_type __value = (expr);					\
	model_accessed();						\
	model_point(&__site, true);					\
	__value;							\
})

#define DO(op, expr)							\
do {									\
	MODEL_SITE(op, true);						\
	ADD_SITE(&__site);						\
	model_point(&__site, false);					\
	expr;								\
	model_accessed();						\
	model_point(&__site, true);					\
} while (0)

/* Atomic operations */
#define atomic64_read(v)		VALUE("read", atomic64_read(v))
#define atomic64_try_cmpxchg(v, o, n)	VALUE("cmpxchg", atomic64_try_cmpxchg(v, o, n))
#define atomic_long_read(v)		VALUE("read", atomic_long_read(v))
#define atomic_long_set(v, i)		DO("set", atomic_long_set(v, i))
#define atomic_long_andnot(i, v)	DO("andnot", atomic_long_andnot(i, v))
#define atomic_long_fetch_or(i, v)	VALUE("fetch_or", atomic_long_fetch_or(i, v))
#define atomic_long_fetch_andnot(i, v)	VALUE("fetch_andnot", atomic_long_fetch_andnot(i, v))
#define atomic_long_try_cmpxchg(v, o, n) \
	VALUE("cmpxchg", atomic_long_try_cmpxchg(v, o, n))

/* Variables */
#undef READ_ONCE
#define READ_ONCE(x)		VALUE("READ_ONCE", __READ_ONCE(x))
#undef WRITE_ONCE
#define WRITE_ONCE(x, val)	DO("WRITE_ONCE", __WRITE_ONCE(x, val))
#undef smp_store_release
/* Contexts and CPUs of the model take turns, so order does not matter */
#define smp_store_release(p, val)	DO("store_release", __WRITE_ONCE(*(p), val))
#undef smp_load_acquire
/* Only stacks that are held need it; the model delivers none */
#define smp_load_acquire(p)	__READ_ONCE(*(p))

/* The CPU */
#undef this_cpu_ptr
#define this_cpu_ptr(p)		per_cpu_ptr(p, model.cpu)
#undef this_cpu_inc_return
#define this_cpu_inc_return(v)	VALUE("inc_return", ++*per_cpu_ptr(&(v), model.cpu))
#undef this_cpu_xchg
#define this_cpu_xchg(v, n)	VALUE("xchg", xchg(per_cpu_ptr(&(v), model.cpu), n))
#undef smp_processor_id
#define smp_processor_id()	(model.cpu)
#define unwind_kick()		DO("irq_work_queue", model_raise_irq())

/* The context */
#undef current
#define current			(model.task)
#undef in_nmi
#define in_nmi()		(model.nmi)
/* Its program makes steps */
#define unwind_needs_kick()	(model_irqs_disabled() && !model.hardirq)
#define unwind_keep_entry(info)	((void)(info))
#define unwind_entry_ended(info)	((void)(info), false)
#define unwind_kept_entry(...)	false
#undef lockdep_assert_irqs_disabled
#define lockdep_assert_irqs_disabled() \
	model_expect(model_irqs_disabled(), "interrupts are on")

/* Locks */
#undef lockdep_assert_held
#define lockdep_assert_held(lock) \
	model_expect(((void)(lock), model.locked), "the lock is not held")
#undef guard
#define guard(name)		CLASS(model_##name, __UNIQUE_ID(guard))
#define synchronize_rcu()	DO("synchronize_rcu", model_sync(&model.rcu))
#define synchronize_srcu(s)	DO("synchronize_srcu", ((void)(s), model_sync(&model.srcu)))
#define srcu_read_lock(s)	VALUE("srcu_read_lock", ((void)(s), model_enter(&model.srcu)))
#define srcu_read_unlock(s, idx) \
	DO("srcu_read_unlock", ((void)(s), (void)(idx), model_leave(&model.srcu)))

DEFINE_LOCK_GUARD_0(model_preempt_notrace, model_enter(&model.rcu), model_leave(&model.rcu))
DEFINE_LOCK_GUARD_0(model_rcu, model_enter(&model.rcu), model_leave(&model.rcu))
DEFINE_LOCK_GUARD_1(model_mutex, struct mutex, ((void)_T->lock, model_lock()), model_unlock())

/* The task */
#undef set_thread_flag
#define set_thread_flag(flag)	DO("set_flag", __set_bit(flag, &model.flags))
#undef clear_thread_flag
#define clear_thread_flag(flag)	DO("clear_flag", __clear_bit(flag, &model.flags))
#define task_work_add(task, work, mode) \
	VALUE("task_work_add", model_task_work_add(task, work, mode))
#define task_work_cancel(task, work) \
	VALUE("task_work_cancel", model_task_work_cancel(task, work))
#define unwind_walk(trace, max, notes) \
	VALUE("unwind_walk", ((void)(notes), model_unwind_walk(trace, max)))
#define unwind_chain_has_readers()	false
#undef kvmalloc
#define kvmalloc(size, gfp)	VALUE("kvmalloc", model_alloc(size, gfp))
#undef kvfree_rcu
#define kvfree_rcu(p, ...)	DO("kvfree_rcu", model_free(p))
#define jiffies			(model.jiffies)
/* There is one thread; a number stands for it */
#define find_ge_pid(nr, ns) \
	((void)(ns), (struct pid *)((nr) == 1 ? model.task : NULL))
#define pid_nr(pid)		((void)(pid), 1)
#define pid_task(pid, type)	((void)(type), (struct task_struct *)(pid))
#undef cond_resched
#define cond_resched()		do { } while (0)

#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(sym)	static_assert(__same_type(sym, sym))

#include "../deferred.c"

void copy_set_count(unsigned int cpu, unsigned long count)
{
	*per_cpu_ptr(&unwind_cookie_count, cpu) = count;
}

unsigned int copy_spares(bool forget)
{
	struct unwind_cache **spare;
	unsigned int cpu, nr = 0;

	for_each_possible_cpu(cpu) {
		spare = per_cpu_ptr(&unwind_spare, cpu);
		nr += !!*spare;
		if (forget)
			*spare = NULL;
	}
	return nr;
}

void copy_leave_spare(void)
{
	*this_cpu_ptr(&unwind_spare) = alloc_cache(max_entries(), false, false);
}

u64 copy_max_count(void)
{
	return BIT_ULL(64 - COOKIE_CPU_BITS);
}

void copy_add_sites(void)
{
	struct model_site **site;

	for (site = copy_sites; site < copy_sites_end; site++)
		model_add_site(*site);
}
