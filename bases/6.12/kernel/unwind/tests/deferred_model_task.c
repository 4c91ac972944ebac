// SPDX-License-Identifier: GPL-2.0
/*
 * The model of a task: its work, memory and stack, and how it leaves the kernel.
 *
 * The exit path is like the one in kernel/entry/common.c: as long as the flags show
 * work, do it with interrupts on.  When there is none any more, end the entry with
 * interrupts off.  Then comes user space, or an interrupt that was raised meanwhile.
 */

#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/thread_info.h>

#include "deferred_copy.h"
#include "deferred_model.h"

/* The value of the model's own access to data that contexts share */
#define STEP(op, expr)							\
({									\
	MODEL_SITE(op, false);						\
	model_point(&__site, false);					\
	__auto_type __value = (expr);					\
	model_point(&__site, true);					\
	__value;							\
})

int model_task_work_add(struct task_struct *task, struct callback_head *work,
			int mode)
{
	int notify = mode & ~TWA_FLAGS;

	model_expect(task == model.task, "work is queued to another task");
	model_expect((notify == TWA_NMI_CURRENT) == !!model.nmi,
		     "TWA_NMI_CURRENT is for NMIs, and nothing else is");
	if (model.work_exited)
		return -ESRCH;

	model_expect(!model.work, "work is queued that is queued");
	model.work = work;
	MODEL_STEP("queued");
	__set_bit(TIF_NOTIFY_RESUME, &model.flags);
	MODEL_STEP("notified");
	if (notify == TWA_NMI_CURRENT)
		model_raise_irq();
	return 0;
}

bool model_task_work_cancel(struct task_struct *task, struct callback_head *work)
{
	if (model.work != work)
		return false;
	model.work = NULL;
	return true;
}

static struct callback_head *take_work(bool exiting)
{
	struct callback_head *work = model.work;

	model.work = NULL;
	if (!work && exiting)
		model.work_exited = true;
	return work;
}

static void run_work(bool exiting)
{
	struct callback_head *work;

	while ((work = STEP("take", take_work(exiting)))) {
		model.delivering = true;
		work->func(work);
		model.delivering = false;
		model.worked = model.jiffies;
		if (model.task->unwind_info.leaves)
			model.worked += MAX_JIFFY_OFFSET;
	}
}

void model_task_work_run(void)
{
	run_work(false);
}

/* Code that sleeps or faults must be where that is possible */
static void expect_may_sleep(void)
{
	model_expect(!model_irqs_disabled() && !model.rcu.depth, "sleeps where it must not");
}

void *model_alloc(size_t size, gfp_t gfp)
{
	unsigned int nr = ffz(model.allocated);

	model_expect(size <= PAGE_SIZE / MODEL_BUFFERS, "allocates more than is needed");
	model_expect(gfpflags_allow_blocking(gfp), "allocates as if it could not sleep");
	expect_may_sleep();
	if (model.scenario->no_memory || nr >= MODEL_BUFFERS)
		return NULL;
	__set_bit(nr, &model.allocated);
	return memset(model.memory + nr * PAGE_SIZE / MODEL_BUFFERS, 0xa5, size);
}

void model_free(void *p)
{
	unsigned int nr = (p - model.memory) / (PAGE_SIZE / MODEL_BUFFERS);

	model_expect(nr < MODEL_BUFFERS && __test_and_clear_bit(nr, &model.allocated),
		     "frees what was not allocated");
}

/* The stack shows how often the program has run, and no more */
int model_unwind_walk(struct unwind_stacktrace *trace, unsigned int max)
{
	expect_may_sleep();
	model_expect(!model.dead, "unwinds without a stack");
	MODEL_STEP("unwind");
	model_expect(!model.unwound, "unwinds twice for one cookie");
	model.unwound = true;
	trace->nr = 0;
	if (model.scenario->no_stack)
		return -EFAULT;
	trace->entries[trace->nr++] = model.user_runs;
	/* It may have slept, and be on another CPU */
	model.cpu = model.cpu ? 0 : nr_cpu_ids - 1;
	return 0;
}

static unsigned long read_flags(void)
{
	return STEP("read flags", model.flags);
}

static void exit_loop(bool first)
{
	unsigned long flags = read_flags();

	while (flags & _TIF_NOTIFY_RESUME) {
		model_irqs_on();
		MODEL_STEP("interrupts on");
		__clear_bit(TIF_NOTIFY_RESUME, &model.flags);
		/* As in resume_user_mode_work() */
		model.task->unwind_info.leaves = true;
		model_task_work_run();
		model.task->unwind_info.leaves = false;
		if (model.scenario->slow)
			model.scenario->slow();
		model.irqs_off = true;
		flags = read_flags();
	}
	MODEL_STEP("last look");
	if (first && model.scenario->late)
		model.scenario->late();
	if (flags & UNWIND_EXIT_WORK)
		unwind_reset_info();
}

void model_to_user(void)
{
	unsigned int loops = 0;

	do {
		model.irq_pending = false;
		model.irqs_off = true;
		exit_loop(!loops);
		MODEL_STEP("leave");
		model_expect(!atomic_long_read(&model.task->unwind_info.requests) ||
			     test_bit(TIF_UNWIND, &model.flags),
			     "leaves with state, without TIF_UNWIND");
		model.irqs_off = false;
		model.in_user = true;
		MODEL_STEP("user");
		model.in_user = false;
		model_expect(++loops <= model.nr_events + 2,
			     "goes round the exit path again and again");
	} while (model.irq_pending && !model.failed);

	model_check_user();
	/* Now the program runs, and its stack is another */
	model.user_runs++;
}

void model_exec(void)
{
	MODEL_STEP("before exec");
	model.closing = true;
	unwind_deferred_exec();
	model.closed = true;
	model_expect(!model.work, "work is left queued for a program that is gone");
	MODEL_STEP("after exec");
}

void model_exit(void)
{
	MODEL_STEP("before exit");
	model.closing = true;
	unwind_deferred_task_exit(model.task);
	model.closed = true;
	model_expect(!model.work, "work is left queued for a program that is gone");
	MODEL_STEP("after exit");
	model.dead = true;
	model.task->mm = NULL;
	MODEL_STEP("without mm");
	run_work(true);
	MODEL_STEP("without work");
	model_check_dead();
	unwind_task_free(model.task);
	model_expect(hweight_long(model.allocated) == copy_spares(false), "keeps a buffer");
}
