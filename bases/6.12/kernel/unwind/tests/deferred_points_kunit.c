// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the deferred core: an event nested at each point.
 *
 * Each test is one path through the kernel.  It runs once as it is, then once for
 * each point and each kind of event that is possible there, then for each two of
 * them.  The model (deferred_model.h) checks each run; the last test checks that
 * no access of the core was left out.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/sched.h>

#include "deferred_copy.h"
#include "deferred_model.h"

#define A	0
#define B	1
#define C	2

#define NMI	BIT(MODEL_NMI)
#define IRQ	BIT(MODEL_IRQ)
#define TRACE	BIT(MODEL_TRACE)
#define OTHER	BIT(MODEL_OTHER)
#define NESTED	(NMI | IRQ | TRACE)

static struct model_counts total;

/*
 * Paths through the kernel
 */

static void no_request(void)
{
	MODEL_STEP("entry");
	model_to_user();
}

static void one_request(void)
{
	MODEL_STEP("entry");
	model_ask(A);
	MODEL_STEP("asked");
	model_to_user();
}

static void several_requests(void)
{
	model_ask(A);
	model_ask(B);
	MODEL_STEP("asked");
	model_ask(A);
	model_to_user();
}

static void from_irq(void)
{
	model_in_irq(BIT(A));
	MODEL_STEP("asked");
	model_to_user();
}

static void from_nmi(void)
{
	model_in_nmi(BIT(A) | BIT(B));
	MODEL_STEP("asked");
	model_to_user();
}

/* A system call, and an interrupt that hits the program */
static void two_entries(void)
{
	model_ask(A);
	model_to_user();
	model.cpu = nr_cpu_ids - 1;
	model_in_irq(BIT(A) | BIT(B));
	model_to_user();
}

static void irqs_off(void)
{
	model.irqs_off = true;
	MODEL_STEP("interrupts off");
	model_ask(A);
	MODEL_STEP("asked");
	model_irqs_on();
	model_to_user();
}

static void late_request(void)
{
	model_ask(B);
}

/* A tracer takes more than a tick to handle an event, each time */
static void slow_request(void)
{
	model_later(2);
	model_ask(A);
}

/* Task work may run before the end of a system call, and with a signal */
static void work_in_the_middle(void)
{
	model_ask(A);
	model_task_work_run();
	MODEL_STEP("after the work");
	model_ask(A);
	model_ask(B);
	model_to_user();
}

static void asks_itself(unsigned int client)
{
	model_ask(client);
	model_ask(B);
}

/* The task stays in the kernel: its stack gets another name, not more than once a tick */
static void stays(void)
{
	model_ask(A);
	model_task_work_run();
	model_later(1);
	model_ask(A);
	MODEL_STEP("within a tick");
	model_later(1);
	model_ask(B);
	model_task_work_run();
	model_later(2);
	model_ask(A);
	model_ask(B);
	model_task_work_run();
	model_to_user();
}

/* Time passes before each event, too */
static void stays_for_events(void)
{
	model_ask(A);
	model_task_work_run();
	model_ask(A);
	MODEL_STEP("after the work");
	model_ask(B);
	model_to_user();
}

static void exec(void)
{
	model_ask(A);
	model_exec();
	model_ask(B);
	model_to_user();
	model_ask(A);
	model_to_user();
}

static void exec_idle(void)
{
	model_exec();
	model_to_user();
	model_ask(A);
	model_to_user();
}

static void exit_pending(void)
{
	model_ask(A);
	model_exit();
	model_ask(B);
}

/* The CPU keeps one buffer, so the task's own is freed: in all other runs it is kept */
static void exit_after_other(void)
{
	model_ask(A);
	model_task_work_run();
	copy_leave_spare();
	MODEL_STEP("two buffers");
	model_exit();
}

static void exit_idle(void)
{
	model_exit();
}

/* A program is executed, and the task killed before it runs */
static void exec_and_exit(void)
{
	model_ask(A);
	model_exec();
	model_exit();
}

/*
 * Work cannot be queued any more.  So it is for a task that has exited, and that is
 * closed before.  A client whose request is nested in one that fails waits in vain,
 * but nothing of it may be left.
 */
static void cannot_queue(void)
{
	model.work_exited = true;
	model_ask(A);
	MODEL_STEP("refused");
	model_to_user();
}

/* A client goes in the middle of its request, another takes its bit */
static void cancels_itself(void)
{
	int bit = model.clients[A].work.bit;

	model_ask(A);
	MODEL_STEP("before the cancellation");
	model_cancel(A);
	MODEL_STEP("cancelled");
	model_register(C);
	model_expect(model.clients[C].work.bit == bit, "the bit is not free again");
	model_ask(C);
	model_ask(A);
	model_to_user();
}

static void cancels_when_done(void)
{
	model_ask(A);
	model_task_work_run();
	model_cancel(A);
	model_register(C);
	model_ask(C);
	model_to_user();
	model_cancel(C);
	model_cancel(C);
	model_to_user();
}

static void cancel_and_register(void)
{
	model_cancel(A);
	model_register(C);
}

static void asks_all_the_time(void)
{
	model_ask(A);
	model_ask(C);
	model_task_work_run();
	model_ask(C);
	model_ask(A);
	model_to_user();
}

static void asks_then_late(void)
{
	model_ask(A);
	model_task_work_run();
	MODEL_STEP("after the work");
	model_ask(C);
	model_to_user();
}

static void two_cancelled(void)
{
	model_ask(A);
	model_ask(B);
	model_ask(C);
	model_to_user();
}

static void cancel_both(void)
{
	model_cancel(B);
	model_cancel(A);
	model_register(C);
}

static const struct model_scenario scenarios[] = {
	{ "no request", no_request, .kinds = { NESTED, NESTED }, .each_side = true },
	{ "one request", one_request, .kinds = { NESTED, NMI | TRACE } },
	{ "several requests", several_requests, .kinds = { NMI | TRACE, NMI } },
	{ "from an interrupt", from_irq, .kinds = { NESTED, NMI } },
	{ "from an NMI", from_nmi, .kinds = { NESTED, NMI } },
	{ "two entries", two_entries, .kinds = { NMI, NMI } },
	{ "interrupts off", irqs_off, .kinds = { NESTED, NMI } },
	{ "at the last moment", no_request, .late = late_request, .kinds = { NESTED, NMI } },
	{ "once more at the last moment", one_request, .late = late_request,
	  .kinds = { NESTED } },
	{ "slow tracer on the exit path", one_request, .slow = slow_request,
	  .kinds = { NESTED, NMI } },
	{ "work in the middle", work_in_the_middle, .kinds = { NMI | IRQ, NMI } },
	{ "callback asks", one_request, .called = asks_itself, .kinds = { NMI, NMI } },
	{ "stays in the kernel", stays, .kinds = { NMI, NMI } },
	{ "ticks", stays_for_events, .kinds = { NESTED, NMI | TRACE }, .ticks = 2 },
	{ "ticks, callback asks", one_request, .called = asks_itself,
	  .kinds = { NESTED, NMI }, .ticks = 2 },
	{ "exec", exec, .kinds = { NMI, NMI } },
	{ "exec without", exec_idle, .kinds = { NESTED } },
	{ "exit with a request", exit_pending, .kinds = { NESTED, NMI } },
	{ "exit after another task", exit_after_other, .kinds = { NESTED } },
	{ "exit without", exit_idle, .kinds = { NESTED, NESTED } },
	{ "exec, then exit", exec_and_exit, .kinds = { NESTED, NMI } },
	{ "no memory", work_in_the_middle, .kinds = { NESTED }, .no_memory = true },
	{ "no stack", work_in_the_middle, .kinds = { NESTED }, .no_stack = true },
	{ "no task work", cannot_queue, .kinds = { NESTED, NESTED }, .no_work = true },
	{ "client cancels", cancels_itself, .kinds = { NMI, NMI },
	  .sets = { BIT(A), BIT(B), BIT(C) } },
	{ "client cancels when done", cancels_when_done, .kinds = { NMI, NMI },
	  .sets = { BIT(A), BIT(C) } },
	{ "cancelled by another CPU", asks_all_the_time, cancel_and_register,
	  .kinds = { OTHER | NMI, OTHER }, .sets = { BIT(A), BIT(C) } },
	{ "cancelled while it is called", asks_then_late, cancel_and_register,
	  .kinds = { OTHER | NMI, OTHER | NMI }, .sets = { BIT(C) } },
	{ "two clients cancelled", two_cancelled, cancel_both,
	  .kinds = { OTHER | NMI }, .sets = { BIT(B), BIT(C) } },
};

KUNIT_ARRAY_PARAM_DESC(scenario, scenarios, name);

static void deferred_every_point(struct kunit *test)
{
	struct model_counts counts = {};
	ktime_t start = ktime_get();
	unsigned int kind;

	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	model_explore(test, test->param_value, &counts);
	kunit_info(test, "%lu runs, %lu points, events: %lu NMI, %lu irq, %lu tracer, %lu turns of the other CPU; %lld ms\n",
		   counts.runs, counts.points, counts.events[MODEL_NMI],
		   counts.events[MODEL_IRQ], counts.events[MODEL_TRACE],
		   counts.events[MODEL_OTHER], ktime_ms_delta(ktime_get(), start));

	total.runs += counts.runs;
	total.points += counts.points;
	for (kind = 0; kind < MODEL_KINDS; kind++)
		total.events[kind] += counts.events[kind];
}

/*
 * Was there an access that no event hit?
 */

struct coverage {
	unsigned int	points;		/* before and after each access */
	unsigned int	open;		/* where an NMI could hit */
	unsigned int	nmi;		/* where one did */
	unsigned int	nested;		/* where any event did */
};

static void cover(struct coverage *sum, const struct model_site *site)
{
	unsigned int after;

	for (after = 0; after < 2; after++) {
		sum->points++;
		sum->open += !!site->open[after];
		sum->nmi += !!site->nmi[after];
		sum->nested += !!site->hit[after];
	}
}

static void cover_function(struct kunit *test, const char *func)
{
	const struct model_site *site;
	struct coverage sum = {};

	list_for_each_entry(site, &model_sites, list)
		if (site->core && !strcmp(site->func, func))
			cover(&sum, site);
	kunit_info(test, "%s: %u points, %u of %u hit by NMIs, %u by something\n",
		   func, sum.points, sum.nmi, sum.open, sum.nested);
	KUNIT_EXPECT_EQ(test, sum.nmi, sum.open);
	KUNIT_EXPECT_EQ(test, sum.nested, sum.points);
}

static bool first_of_function(const struct model_site *site)
{
	const struct model_site *first;

	list_for_each_entry(first, &model_sites, list)
		if (first->core && !strcmp(first->func, site->func))
			break;
	return first == site;
}

/* Inside of an NMI only a tracer can fire; everywhere else an NMI must have hit */
static void deferred_all_covered(struct kunit *test)
{
	const struct model_site *site;
	struct coverage all = {};

	list_for_each_entry(site, &model_sites, list) {
		if (!site->core)
			continue;
		KUNIT_EXPECT_GT_MSG(test, site->seen, 0, "no run came by %s:%u (%s)",
				    site->func, site->line, site->op);
		cover(&all, site);
		if (first_of_function(site))
			cover_function(test, site->func);
	}
	kunit_info(test, "all: %u points, %u of %u hit by NMIs, %u by something\n",
		   all.points, all.nmi, all.open, all.nested);
	kunit_info(test, "all: %lu runs, %lu points in them, events: %lu NMI, %lu irq, %lu tracer, %lu turns of the other CPU\n",
		   total.runs, total.points, total.events[MODEL_NMI],
		   total.events[MODEL_IRQ], total.events[MODEL_TRACE],
		   total.events[MODEL_OTHER]);
	KUNIT_EXPECT_GT(test, all.points, 0);
}

/* A minute or two where every access is checked, or emulated */
static struct kunit_case points_cases[] = {
	KUNIT_CASE_PARAM_ATTR(deferred_every_point, scenario_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_SLOW(deferred_all_covered),
	{}
};

static int points_suite_init(struct kunit_suite *suite)
{
	return model_create();
}

static void points_suite_exit(struct kunit_suite *suite)
{
	model_destroy();
}

static struct kunit_suite points_suite = {
	.name = "unwind_deferred_points",
	.suite_init = points_suite_init,
	.suite_exit = points_suite_exit,
	.test_cases = points_cases,
};

kunit_test_suite(points_suite);

MODULE_DESCRIPTION("KUnit tests of deferred unwinding with something nested at each point");
MODULE_LICENSE("GPL");
