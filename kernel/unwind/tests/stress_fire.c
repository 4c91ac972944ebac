// SPDX-License-Identifier: GPL-2.0
/*
 * The sources of the stress module's requests: NMIs, timers and tracepoints.
 *
 * Each CPU has a timer that asks, and may send NMIs, at random intervals. The source of
 * NMIs depends on the machine: stress_nmi_x86.c, stress_nmi_perf.c.
 */
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <asm/irq_regs.h>

#include "stress.h"

struct stress_cpu {
	struct hrtimer	hard;
	struct hrtimer	soft;
	unsigned long	hit_user;
	unsigned long	hit_kernel;
};

static DEFINE_PER_CPU(struct stress_cpu, stress_cpus);
static u32 period;

/* An NMI has come, here and now */
void stress_nmi(struct pt_regs *regs)
{
	const unsigned long ip = instruction_pointer(regs);

	if (user_mode(regs)) {
		this_cpu_inc(stress_cpus.hit_user);
		stress_ask_some(UNWIND_STRESS_NMI_USER, ip);
	} else {
		this_cpu_inc(stress_cpus.hit_kernel);
		stress_ask_some(UNWIND_STRESS_NMI_KERNEL, ip);
	}
}

/*
 * Timers
 */

/*
 * The time until a timer expires again whose function has run since @start. The load must
 * have most of the time, on slow machines, too. Each of the CPUs sends NMIs to this one; they
 * cost about as much as this CPU's timer.
 */
static u64 interval(u64 start)
{
	u64 cost = min_t(u64, ktime_get_ns() - start, 20 * NSEC_PER_MSEC);

	return period / 2 + stress_random() % period + cost * num_online_cpus();
}

static u64 interrupted(void)
{
	struct pt_regs *regs = get_irq_regs();

	return regs ? instruction_pointer(regs) : 0;
}

static enum hrtimer_restart fire_hard(struct hrtimer *timer)
{
	u64 start = ktime_get_ns();

	stress_send_nmis();
	if (!(stress_random() % 4))
		stress_ask_some(UNWIND_STRESS_HARDIRQ, interrupted());
	hrtimer_forward_now(timer, interval(start));
	return HRTIMER_RESTART;
}

static enum hrtimer_restart fire_soft(struct hrtimer *timer)
{
	u64 start = ktime_get_ns();

	stress_ask_some(UNWIND_STRESS_SOFTIRQ, 0);
	hrtimer_forward_now(timer, 4 * interval(start));
	return HRTIMER_RESTART;
}

static void start_timers(void *unused)
{
	struct stress_cpu *this = this_cpu_ptr(&stress_cpus);

	hrtimer_start(&this->hard, period, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&this->soft, period, HRTIMER_MODE_REL_PINNED_SOFT);
}

static void init_cpu(struct stress_cpu *cpu)
{
	memset(cpu, 0, sizeof(*cpu));
	hrtimer_init(&cpu->hard, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_init(&cpu->soft, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	cpu->hard.function = fire_hard;
	cpu->soft.function = fire_soft;
}

/*
 * Tracepoints
 */

static void at_enter(void *data, struct pt_regs *regs, long id)
{
	if (!(stress_random() % 256))
		stress_ask_some(UNWIND_STRESS_ENTER,
				instruction_pointer(regs));
}

static void at_exit(void *data, struct pt_regs *regs, long ret)
{
	if (!(stress_random() % 256))
		stress_ask_some(UNWIND_STRESS_EXIT,
				instruction_pointer(regs));
}

static void at_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	/* Mostly when the task goes to sleep: then its request stays pending */
	if (!(stress_random() % (prev_state ? 4 : 32)))
		stress_ask_some(UNWIND_STRESS_SWITCH, 0);
}

static struct stress_probe {
	const char		*name;
	void			*func;
	struct tracepoint	*tp;
} probes[] = {
	{ "sys_enter", at_enter },
	{ "sys_exit", at_exit },
	{ "sched_switch", at_switch },
};

static void find_probe(struct tracepoint *tp, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tp = tp;
}

static void stop_probes(unsigned int nr)
{
	while (nr--)
		tracepoint_probe_unregister(probes[nr].tp, probes[nr].func,
					    NULL);
	tracepoint_synchronize_unregister();
}

static int start_probes(void)
{
	unsigned int i;
	int ret;

	for_each_kernel_tracepoint(find_probe, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		ret = -ENOENT;
		if (probes[i].tp)
			ret = tracepoint_probe_register(probes[i].tp,
							probes[i].func, NULL);
		if (ret) {
			stop_probes(i);
			return ret;
		}
	}
	return 0;
}

/*
 * Starting and stopping
 */

int stress_fire_start(u32 rate)
{
	int cpu, ret;

	if (!rate || rate > NSEC_PER_SEC / 10000)
		return -EINVAL;
	period = NSEC_PER_SEC / rate;
	for_each_possible_cpu(cpu)
		init_cpu(per_cpu_ptr(&stress_cpus, cpu));
	ret = start_probes();
	if (ret)
		return ret;
	ret = stress_nmi_start(period);
	if (ret) {
		stop_probes(ARRAY_SIZE(probes));
		return ret;
	}
	on_each_cpu(start_timers, NULL, 1);
	return 0;
}

/* After this, only callbacks make requests, and no NMI comes */
void stress_fire_stop(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		hrtimer_cancel(per_cpu_ptr(&stress_cpus.hard, cpu));
		hrtimer_cancel(per_cpu_ptr(&stress_cpus.soft, cpu));
	}
	stop_probes(ARRAY_SIZE(probes));
	/* Callbacks send some too */
	stress_nmi_stop();
}

void stress_show_counts(struct seq_file *m)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct stress_cpu *this = per_cpu_ptr(&stress_cpus, cpu);

		seq_printf(m, "CPU %d: NMIs hit user mode %lu, the kernel %lu\n",
			   cpu, this->hit_user, this->hit_kernel);
	}
}
