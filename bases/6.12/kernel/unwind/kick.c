// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts on behalf of requests.
 *
 * If interrupts are off outside of an interrupt, a request may come on the exit path, after
 * that last read the task's flags.  An interrupt reads them when it returns, so the request
 * raises one.
 *
 * Some events come each time that a task goes to user space (irq_enable).  If each raised an
 * interrupt, the program would make no step.  So a request is refused if it would raise one
 * where the program was interrupted by the last one, a short time ago.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/unwind_deferred_types.h>

#include <asm/irq_regs.h>
#include <asm/syscall.h>

#include "deferred.h"

/* After that, a program has come to the same place again; a way to user space is shorter */
#define STUCK_JIFFIES	(HZ / 5)

/* The program that such an interrupt came from, with its place; and when that was */
static DEFINE_PER_CPU(unsigned long, unwind_kicked);
static DEFINE_PER_CPU(unsigned long, unwind_kicked_at);

static unsigned long program_place(struct pt_regs *regs)
{
	return (unsigned long)current ^ instruction_pointer(regs) ^
	       rol64(user_stack_pointer(regs), 32);
}

/* The interrupt's own return path runs the task work */
static void kick(struct irq_work *work)
{
	struct pt_regs *regs = get_irq_regs();

	/* The kernel may be interrupted, too, before it comes to its last steps */
	if (!regs || !user_mode(regs))
		return;
	this_cpu_write(unwind_kicked, program_place(regs));
	this_cpu_write(unwind_kicked_at, jiffies);
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
 * unwind_is_stuck - would a request interrupt a program that has made no step since the last?
 * @info: the current task's
 *
 * Context: any, with preemption disabled.
 * Return: whether the request is to be refused.
 */
bool unwind_is_stuck(const struct unwind_task_info *info)
{
	struct pt_regs *regs = task_pt_regs(current);

	return unwind_needs_kick() && this_cpu_read(unwind_kicked) == program_place(regs) &&
	       time_before(jiffies, this_cpu_read(unwind_kicked_at) + STUCK_JIFFIES) &&
	       syscall_get_nr(current, regs) == -1 &&
	       !(atomic_long_read(&info->requests) & UNWIND_NAMED);
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
