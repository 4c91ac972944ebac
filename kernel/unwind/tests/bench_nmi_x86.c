// SPDX-License-Identifier: GPL-2.0
/* NMIs of the benchmark module on x86: sent through the local APIC. */
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/smp.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "bench.h"

#define NMI_NAME	"unwind_bench"

/* Is an NMI on its way to the CPU?  One at a time; this function measures in it */
static DEFINE_PER_CPU(bool, on_its_way);
static void (*to_measure)(void);
static bool only_user, missed;

static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!this_cpu_read(on_its_way))
		return NMI_DONE;
	missed = only_user && !user_mode(regs);
	if (!missed)
		to_measure();
	this_cpu_write(on_its_way, false);
	return NMI_HANDLED;
}

static void send_nmi(unsigned int cpu)
{
	/* The variables that the handler reads are set before this */
	smp_store_release(per_cpu_ptr(&on_its_way, cpu), true);
	__apic_send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
	while (READ_ONCE(per_cpu(on_its_way, cpu)))
		cpu_relax();
}

bool bench_in_nmi(bool in_user, void (*measure)(void))
{
	unsigned int cpu = get_cpu();

	to_measure = measure;
	only_user = in_user;
	missed = true;
	if (in_user)
		cpu = cpumask_any_but(cpu_online_mask, cpu);
	if (cpu < nr_cpu_ids)
		send_nmi(cpu);
	put_cpu();
	return !missed;
}

int bench_nmi_start(void)
{
	return register_nmi_handler(NMI_LOCAL, handle_nmi, 0, NMI_NAME);
}

void bench_nmi_stop(void)
{
	unregister_nmi_handler(NMI_LOCAL, NMI_NAME);
}
