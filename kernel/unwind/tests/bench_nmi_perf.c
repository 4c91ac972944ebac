// SPDX-License-Identifier: GPL-2.0
/*
 * NMIs of the benchmark module on machines that cannot send any: the overflow of a
 * counter of cycles, made for one NMI and released after it. (On arm64 that is an
 * NMI if the kernel was booted with irqchip.gicv3_pseudo_nmi=1; if it is an
 * interrupt, there is no measurement.)
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "bench.h"

/* Cycles until the overflow: enough to enable the event and set all variables before */
#define PERIOD		100000

/* One measurement at a time: its function, and the task that asked for it */
static void (*to_measure)(void);
static struct task_struct *asker;
static bool only_user, missed, done;

static void overflow(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	/* The counter overflows again until it is released: the asker may sleep meanwhile */
	if (done || (!only_user && current != asker))
		return;
	missed = !in_nmi() || (only_user && !user_mode(regs));
	if (!missed)
		to_measure();
	/* Pairs with wait_for_nmi(): the measurement is visible there */
	smp_store_release(&done, true);
}

static void wait_for_nmi(int cpu)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.config		= PERF_COUNT_HW_CPU_CYCLES,
		.size		= sizeof(attr),
		.sample_period	= PERIOD,
		.pinned		= 1,
		.exclude_kernel	= only_user,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL, overflow, NULL);
	if (IS_ERR(event))
		return;
	/* Pairs with overflow() */
	while (!smp_load_acquire(&done))
		cpu_relax();
	perf_event_release_kernel(event);
}

bool bench_in_nmi(bool in_user, void (*measure)(void))
{
	unsigned int cpu;

	migrate_disable();
	cpu = smp_processor_id();
	to_measure = measure;
	asker = current;
	only_user = in_user;
	missed = true;
	done = false;
	if (in_user)
		cpu = cpumask_any_but(cpu_online_mask, cpu);
	if (cpu < nr_cpu_ids)
		wait_for_nmi(cpu);
	migrate_enable();
	return !missed;
}

/* The counter exists only while an NMI is wanted */
int bench_nmi_start(void)
{
	return 0;
}

void bench_nmi_stop(void)
{
}
