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
 * clients that were called get its cookie.  That goes for requests in NMIs, too, for which
 * task_work_add() raises the interrupt: a kprobe's breakpoint is like an NMI, and comes each time.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/unwind_deferred_types.h>
#include <linux/unwind_stack.h>

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

/* Only used by its CPU, with interrupts disabled; NMIs read it */
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
	/* An NMI that comes in the middle finds no entry */
	WRITE_ONCE(ended->task, NULL);
	barrier();
	ended->cookie = atomic64_read(&info->cookie);
	ended->called = atomic_long_read(&info->done);
	ended->last_client = READ_ONCE(unwind_last_client);
	barrier();
	if (!(atomic_long_read(&info->requests) & UNWIND_CLOSED))
		WRITE_ONCE(ended->task, current);
	ENTRY_NUMBER(task_pt_regs(current)) = ENTRY_ENDED;
}

/**
 * unwind_entry_ended - is the current task on its last steps, after the end of its entry?
 * @info: the current task's
 *
 * Context: unwind_needs_kick(), or an NMI.
 * Return: whether it is, and has no request yet.
 */
bool unwind_entry_ended(const struct unwind_task_info *info)
{
	return (int)ENTRY_NUMBER(task_pt_regs(current)) == ENTRY_ENDED &&
	       this_cpu_read(unwind_ended.task) == current &&
	       /*
		* The program may make a call of this number, and this may be a task that is gone,
		* or another program: only the name that the task has had last is its own
		*/
	       this_cpu_read(unwind_ended.cookie) == atomic64_read(&info->cookie) &&
	       /* An NMI's request has begun another */
	       !(atomic_long_read(&info->requests) & UNWIND_NAMED) &&
	       /* An NMI has interrupted the next one before that has written the number */
	       unwind_regs_saved();
}

/**
 * unwind_kept_entry - has a client got the stack of the entry that has just ended?
 * @client: the client's bit
 * @cookie: then set to the stack's
 *
 * Context: unwind_entry_ended().
 * Return: whether the request needs nothing more.
 */
bool unwind_kept_entry(unsigned long client, u64 *cookie)
{
	const struct ended_entry *ended = this_cpu_ptr(&unwind_ended);

	if (!(ended->called & client) ||
	    /* It may have got the bit of a client that was called */
	    ended->last_client != READ_ONCE(unwind_last_client))
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
