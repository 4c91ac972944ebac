// SPDX-License-Identifier: GPL-2.0
/*
 * The trigger of the sample client on x86-64: NMIs that CPUs send each other.
 *
 * A timer on each CPU sends an NMI to the next CPU, through the local APIC.  It
 * hits any code that runs there, with interrupts off or on.  (A CPU's NMI to itself
 * would always hit the timer's interrupt; with a single CPU, it does.)
 *
 * An NMI does not name its sender, and several that come while one is handled are
 * one.  So a CPU has a mark for the NMI that is sent to it: the sender sets the mark
 * first, and the handler takes the mark.  An NMI without a mark has another sender.
 * (If another sender's NMI comes just between, it takes the mark, and the kernel may
 * report this file's NMI as unknown.)
 *
 * CPUs may come and go.  New ones get NMIs, but send none.
 */

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "client.h"

static DEFINE_PER_CPU(struct hrtimer, trigger_timer);
static DEFINE_PER_CPU(int, nmi_on_its_way);
static ktime_t period;

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	/* Other CPUs set it: this_cpu_xchg() would not do */
	if (!xchg(this_cpu_ptr(&nmi_on_its_way), 0))
		return NMI_DONE;
	client_request();
	return NMI_HANDLED;
}

static unsigned int next_online_cpu(void)
{
	unsigned int cpu = cpumask_next(smp_processor_id(), cpu_online_mask);

	return cpu < nr_cpu_ids ? cpu : cpumask_first(cpu_online_mask);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	unsigned int cpu = next_online_cpu();

	if (!xchg(per_cpu_ptr(&nmi_on_its_way, cpu), 1))
		__apic_send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
	hrtimer_forward_now(timer, period);
	return HRTIMER_RESTART;
}

static void start_timer(void *unused)
{
	hrtimer_start(this_cpu_ptr(&trigger_timer), period,
		      HRTIMER_MODE_REL_PINNED_HARD);
}

int trigger_start(unsigned int rate)
{
	unsigned int cpu;
	int ret;

	period = ns_to_ktime(NSEC_PER_SEC / rate);
	ret = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "unwind_client");
	if (ret)
		return ret;

	for_each_possible_cpu(cpu) {
		struct hrtimer *timer = per_cpu_ptr(&trigger_timer, cpu);

		hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		timer->function = on_timer;
	}
	on_each_cpu(start_timer, NULL, true);
	return 0;
}

void trigger_stop(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		hrtimer_cancel(per_cpu_ptr(&trigger_timer, cpu));

	/* Each NMI must be received before its handler goes: it would be unknown */
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		while (READ_ONCE(per_cpu(nmi_on_its_way, cpu)))
			cpu_relax();
	}
	cpus_read_unlock();
	/* Waits for handlers that run */
	unregister_nmi_handler(NMI_LOCAL, "unwind_client");
}
