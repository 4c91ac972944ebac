// SPDX-License-Identifier: GPL-2.0
/*
 * The model's other CPU: a thread that takes turns with the task's.
 *
 * One of the two always waits.  The task's thread gives the other one a number of
 * accesses to make.  The turn ends when they are made, when it would have to wait
 * for something that the task holds, or when the other thread is done.  Both threads are
 * bound to one CPU, where a turn costs no more than two switches.
 */

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "deferred_model.h"

static struct {
	struct task_struct	*thread;
	struct completion	turn;
	struct completion	back;
	struct completion	gone;
	unsigned int		accesses;	/* left in this turn */
	unsigned int		made;		/* in this run */
	bool			running;	/* it has the turn */
	bool			started;
	bool			done;
	bool			finish;		/* it must not wait any more */
	bool			quit;
} other;

bool model_other_running(void)
{
	return other.running;
}

bool model_other_done(void)
{
	return !model.scenario->other || other.done;
}

/* The number of its accesses in the last run */
unsigned int model_other_made(void)
{
	return other.made;
}

static void give_back(void)
{
	complete(&other.back);
	wait_for_completion(&other.turn);
}

/* Called on the other CPU: one access is about to be made, or was */
void model_other_point(bool after)
{
	if (after)
		return;
	other.made++;
	if (other.finish)
		return;
	while (!other.accesses && !other.finish)
		give_back();
	other.accesses--;
}

/* Wait for the task, if this is the other CPU and there is a task to wait for */
bool model_other_waits(void)
{
	if (!other.running || other.finish)
		return false;
	give_back();
	return true;
}

static void turn(void)
{
	other.running = true;
	complete(&other.turn);
	wait_for_completion(&other.back);
	other.running = false;
}

void model_other_run(unsigned int accesses)
{
	if (model_other_done())
		return;
	other.started = true;
	other.accesses = accesses;
	turn();
}

/* The task has come to rest: it holds nothing any more that the other CPU waits for */
void model_other_finish(void)
{
	if (model_other_done())
		return;
	other.started = true;
	other.finish = true;
	turn();
}

void model_other_reset(void)
{
	/* A run that was given up may have left it unfinished */
	if (other.started && !other.done)
		model_other_finish();
	other.started = false;
	other.made = 0;
	other.done = false;
	other.finish = false;
}

static int other_main(void *unused)
{
	for (;;) {
		wait_for_completion(&other.turn);
		if (other.quit)
			kthread_complete_and_exit(&other.gone, 0);
		model.scenario->other();
		other.done = true;
		complete(&other.back);
	}
}

int model_other_start(void)
{
	unsigned int cpu = cpumask_first(cpu_online_mask);
	struct task_struct *thread;

	init_completion(&other.turn);
	init_completion(&other.back);
	init_completion(&other.gone);
	other.quit = false;
	thread = kthread_create(other_main, NULL, "unwind_other");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kthread_bind(thread, cpu);
	wake_up_process(thread);
	other.thread = thread;
	return 0;
}

void model_other_stop(void)
{
	if (!other.thread)
		return;
	other.quit = true;
	complete(&other.turn);
	wait_for_completion(&other.gone);
	other.thread = NULL;
}
