// SPDX-License-Identifier: GPL-2.0
/*
 * NMIs of the stress module on machines that cannot send any: each CPU has a counter
 * of its cycles, whose overflow is an NMI. (On arm64 it is one if the kernel was
 * booted with irqchip.gicv3_pseudo_nmi=1; if it is an interrupt, no client asks.)
 *
 * The counter gets another number of cycles each time, so that the next NMI comes at
 * any point of the code that runs then. Cycles are taken for nanoseconds: only a rate
 * depends on that. They are not counted while the NMI is handled, and its cost is added,
 * so the load has most of the time, on slow machines, too.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/sched/clock.h>
#include <linux/time64.h>

#include "stress.h"

static DEFINE_PER_CPU(struct perf_event *, counter);
static u32 usual;

static void overflow(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	u64 start = local_clock(), cost;

	if (in_nmi())
		stress_nmi(regs);
	cost = min_t(u64, local_clock() - start, 20 * NSEC_PER_MSEC);
	/* For the time after the next, which is set already */
	event->hw.sample_period = usual / 2 + stress_random() % usual + cost;
}

/* They come by themselves */
void stress_send_nmis(void)
{
}

int stress_nmi_start(u32 period)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.config		= PERF_COUNT_HW_CPU_CYCLES,
		.size		= sizeof(attr),
		.sample_period	= period,
		.pinned		= 1,
	};
	struct perf_event *event;
	int cpu;

	usual = period;
	for_each_online_cpu(cpu) {
		event = perf_event_create_kernel_counter(&attr, cpu, NULL,
							 overflow, NULL);
		if (IS_ERR(event)) {
			stress_nmi_stop();
			return PTR_ERR(event);
		}
		per_cpu(counter, cpu) = event;
	}
	return 0;
}

/* An interrupt on its CPU disables a counter: then no NMI is under way */
void stress_nmi_stop(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (per_cpu(counter, cpu))
			perf_event_release_kernel(per_cpu(counter, cpu));
		per_cpu(counter, cpu) = NULL;
	}
}
