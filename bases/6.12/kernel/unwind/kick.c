// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts on behalf of requests.
 *
 * If interrupts are off outside of an interrupt, a request may come on the exit path, after
 * that last read the task's flags.  An interrupt reads them when it returns, so the request
 * raises one.
 *
 * Some events come each time that a task goes to user space (irq_enable).  If each raised an
 * interrupt, the program would make no step.  So a request is refused if it is the first one
 * of its entry, which is no system call, and the program is where it was when a request last
 * raised an interrupt on this CPU.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/unwind_deferred_types.h>

#include <asm/syscall.h>

#include "deferred.h"

static void kick(struct irq_work *work)
{
	/* Nothing to do: the interrupt's own return path runs the task work */
}

static DEFINE_PER_CPU(struct irq_work, unwind_kick_work) = IRQ_WORK_INIT_HARD(kick);

/* Which program was where when a request last raised an interrupt */
static DEFINE_PER_CPU(unsigned long, unwind_kicked);

static unsigned long program_place(void)
{
	const struct pt_regs *regs = task_pt_regs(current);

	return (unsigned long)current ^ instruction_pointer(regs) ^
	       rol64(user_stack_pointer(regs), 32);
}

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
 * unwind_is_stuck - has the program made no step since a request raised an interrupt?
 * @info: the current task's
 *
 * Context: any, with preemption disabled.
 * Return: whether a request is to be refused.
 */
bool unwind_is_stuck(const struct unwind_task_info *info)
{
	return unwind_needs_kick() && this_cpu_read(unwind_kicked) == program_place() &&
	       syscall_get_nr(current, task_pt_regs(current)) == -1 &&
	       !(atomic_long_read(&info->requests) & UNWIND_NAMED);
}

/**
 * unwind_kick - raise an interrupt, when interrupts are on again
 *
 * Context: interrupts disabled.
 */
void unwind_kick(void)
{
	this_cpu_write(unwind_kicked, program_place());
	irq_work_queue(this_cpu_ptr(&unwind_kick_work));
}
