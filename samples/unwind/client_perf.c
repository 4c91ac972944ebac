// SPDX-License-Identifier: GPL-2.0
/*
 * The trigger of the sample client, for machines without NMIs that can be sent: each CPU
 * has a counter of its cycles, and its overflow is an NMI. (On arm64 it is one if the
 * kernel was booted with irqchip.gicv3_pseudo_nmi=1; else it is an ordinary interrupt, and
 * the client asks from that.)
 *
 * Perf finds the number of cycles that makes the rate. CPUs that come later have no
 * counter.
 */

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include "client.h"

static DEFINE_PER_CPU(struct perf_event *, trigger_counter);

static void on_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	client_request();
}

int trigger_start(unsigned int rate)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.config		= PERF_COUNT_HW_CPU_CYCLES,
		.size		= sizeof(attr),
		.freq		= 1,
		.sample_freq	= rate,
		.pinned		= 1,
	};
	struct perf_event *event;
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		event = perf_event_create_kernel_counter(&attr, cpu, NULL,
							 on_overflow, NULL);
		if (IS_ERR(event)) {
			trigger_stop();
			return PTR_ERR(event);
		}
		per_cpu(trigger_counter, cpu) = event;
	}
	return 0;
}

/* An interrupt on its CPU disables a counter: then no overflow handler runs any more */
void trigger_stop(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (per_cpu(trigger_counter, cpu))
			perf_event_release_kernel(per_cpu(trigger_counter, cpu));
		per_cpu(trigger_counter, cpu) = NULL;
	}
}
