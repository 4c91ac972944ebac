// SPDX-License-Identifier: GPL-2.0
/*
 * Requests on the last steps to user space.
 *
 *   exit path: look for work --> the entry ends --> events --> user space
 *                   ^                                 |
 *                   `-- an interrupt looks again <----' request
 *
 * If interrupts are off outside of an interrupt, a request may come on the exit path, after
 * that last read the task's flags.  An interrupt reads them when it returns, so the request
 * raises one.
 *
 * Some events come each time that a task goes to user space (irq_enable), also after such an
 * interrupt.  If each raised the next one, the program would make no step.  So each CPU keeps
 * the entry that has last ended there.  Until the next one begins, requests still belong to it:
 * clients that were called get its cookie.
 */
#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/unwind_deferred_types.h>

#include "deferred.h"

/*
 * The number of the system call shows whether an entry has begun since: each kind of entry writes
 * it, and the program does not get it.  A program that makes a call of this number finds no
 * more than an entry of its own.
 */
#define ENTRY_ENDED		(-0x756e77)
#ifdef CONFIG_X86
#define ENTRY_NUMBER(regs)	((regs)->orig_ax)
#else
#define ENTRY_NUMBER(regs)	((regs)->syscallno)
#endif

/*
 * An entry that has ended
 *
 * @task: whose it was; NULL if its stack is another program's
 * @cookie: of its stack
 * @called: clients that got the stack
 * @last_client: number of the client that was registered last
 */
struct ended_entry {
	struct task_struct	*task;
	u64			cookie;
	unsigned long		called;
	u64			last_client;
};

/* Only used by its CPU, with interrupts disabled, and not by NMIs */
static DEFINE_PER_CPU(struct ended_entry, unwind_ended);

/**
 * unwind_keep_entry - the current task's entry is about to end
 * @info: the current task's
 *
 * Context: interrupts disabled, on the exit path.
 */
void unwind_keep_entry(const struct unwind_task_info *info)
{
	struct ended_entry *ended = this_cpu_ptr(&unwind_ended);

	lockdep_assert_irqs_disabled();
	ended->task = atomic_long_read(&info->requests) & UNWIND_CLOSED ? NULL : current;
	ended->cookie = atomic64_read(&info->cookie);
	ended->called = atomic_long_read(&info->done);
	ended->last_client = READ_ONCE(unwind_last_client);
	ENTRY_NUMBER(task_pt_regs(current)) = ENTRY_ENDED;
}

/**
 * unwind_kept_entry - has a client got the stack of the entry that has just ended?
 * @info: the current task's
 * @client: the client's bit
 * @cookie: then set to the stack's
 *
 * Context: unwind_needs_kick().
 * Return: whether the request needs nothing more, as the task is still on its last steps.
 */
bool unwind_kept_entry(const struct unwind_task_info *info, unsigned long client, u64 *cookie)
{
	const struct ended_entry *ended = this_cpu_ptr(&unwind_ended);

	if ((int)ENTRY_NUMBER(task_pt_regs(current)) != ENTRY_ENDED ||
	    ended->task != current || !(ended->called & client) ||
	    /* It may have got the bit of a client that was called */
	    ended->last_client != READ_ONCE(unwind_last_client) ||
	    /* An NMI's request has begun another */
	    atomic_long_read(&info->requests) & UNWIND_NAMED)
		return false;
	*cookie = ended->cookie;
	return true;
}

/* The interrupt's own return path runs the task work */
static void kick(struct irq_work *work)
{
}

static DEFINE_PER_CPU(struct irq_work, unwind_kick_work) = IRQ_WORK_INIT_HARD(kick);

/**
 * unwind_needs_kick - may the exit path not look for work any more?
 *
 * A task that is being switched away from is not on the exit path.
 *
 * Context: any.
 * Return: whether a request has to raise an interrupt.
 */
bool unwind_needs_kick(void)
{
	return irqs_disabled() && !in_hardirq() && !in_nmi() && task_curr(current);
}

/**
 * unwind_kick - raise an interrupt, when interrupts are on again
 *
 * Context: interrupts disabled.
 */
void unwind_kick(void)
{
	irq_work_queue(this_cpu_ptr(&unwind_kick_work));
}
