// SPDX-License-Identifier: GPL-2.0
/*
 * NMIs of the stress module on x86: sent through the local APIC, from timers and
 * callbacks, to some of the CPUs. On other CPUs they come at any point of the code that
 * runs there.
 *
 * An NMI carries no sender. So the sender sets the target's flag @due before, and sends
 * no NMI if it was set: the NMI that is due is not handled yet, and will serve both. The
 * handler clears the flag, and leaves alone an NMI that finds it clear. So there is one
 * NMI for each time that a flag is set. When senders have stopped and all flags are
 * clear, none is under way.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/iopoll.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "stress.h"

#define NMI_NAME	"unwind_stress"

static DEFINE_PER_CPU(atomic_t, due);
static bool sending;

static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!atomic_xchg(this_cpu_ptr(&due), 0))
		return NMI_DONE;
	stress_nmi(regs);
	return NMI_HANDLED;
}

static void send_nmi(int cpu)
{
	if (!atomic_xchg(per_cpu_ptr(&due, cpu), 1))
		__apic_send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
}

/* Send some CPUs an NMI. This one gets it less often, because it always comes right here. */
void stress_send_nmis(void)
{
	u32 random = stress_random();
	int cpu;

	guard(preempt_notrace)();
	if (!READ_ONCE(sending))
		return;
	if (!(random & 3))
		send_nmi(smp_processor_id());
	for_each_online_cpu(cpu)
		if (cpu != smp_processor_id() && random & BIT(2 + cpu % 30))
			send_nmi(cpu);
}

/* @period is not used: the timers determine the rate */
int stress_nmi_start(u32 period)
{
	int cpu, ret;

	for_each_possible_cpu(cpu)
		atomic_set(per_cpu_ptr(&due, cpu), 0);
	ret = register_nmi_handler(NMI_LOCAL, handle_nmi, 0, NMI_NAME);
	if (!ret)
		WRITE_ONCE(sending, true);
	return ret;
}

/* All NMIs that were sent have come; no CPU is taken away meanwhile */
static bool none_due(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (atomic_read(per_cpu_ptr(&due, cpu)))
			return false;
	return true;
}

void stress_nmi_stop(void)
{
	bool none;

	WRITE_ONCE(sending, false);
	synchronize_rcu();
	/* A CPU of a virtual machine may wait long for its turn */
	WARN_ON(read_poll_timeout(none_due, none, none, 10, 60 * USEC_PER_SEC,
				  false));
	unregister_nmi_handler(NMI_LOCAL, NMI_NAME);
}
