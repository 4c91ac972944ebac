// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of the deferred core, measured from within: a module for "make bench".
 *
 * It is made for a guest of "qemu -icount shift=0", where the counter of bench_insns()
 * counts instructions. Everywhere else its figures are cycles of no meaning.
 *
 * A program writes to debugfs unwind_bench what to measure, and in which context:
 *
 *	task | irqs_off | irq | nmi | user	and
 *	requests | latency | deliver1 | deliver4 | faultable | inplace
 *
 * One write makes one measurement, in this entry of the task into the kernel. So
 * the first request is the first of an entry, and its callback comes when the
 * write returns. For "user", the module measures not the writer but the program on
 * another CPU, if the NMI hits that in user space. A read, in a system call of its own,
 * then returns lines of a name and a number of instructions. Nothing is stored or
 * computed from more than one measurement.
 */

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>
#include <linux/unwind_deferred.h>
#include <linux/unwind_stack.h>

#include "bench.h"
#include "bench_known.h"

#define DELIVER_MAX	4

/* Clients whose callbacks note the time, and those whose callbacks do nothing */
static struct unwind_work timed_clients[2];
static struct unwind_work idle_clients[2 * DELIVER_MAX];

static struct {
	const char	*name;
	s64		insns;
} figures[16];

static unsigned int nr_figures;
/* A request did not return what it should have */
static bool failed;
static DEFINE_MUTEX(bench_lock);

/* In any context, but one after the other */
static void figure(const char *name, s64 insns)
{
	if (nr_figures == ARRAY_SIZE(figures)) {
		failed = true;
		return;
	}
	figures[nr_figures].name = name;
	figures[nr_figures++].insns = insns;
}

/*
 * Measurement of requests
 *
 * The cost of a function, from its first instruction to its return, is the cost of its
 * call, less the cost of calling a function with known instructions from the same
 * place. To verify the unit, the first line is the same figure of another known function,
 * which has BENCH_NOPS instructions (see bench_known.h).
 */

typedef int (*request_fn)(struct unwind_work *work, u64 *cookie);

/* One place for all calls: the compiler makes no copy of it for a known @fn */
static noinline __noclone s64 timed(request_fn fn, struct unwind_work *work, int want)
{
	u64 cookie, start, end;
	int ret;

	start = bench_insns();
	ret = fn(work, &cookie);
	end = bench_insns();
	if (ret != want)
		failed = true;
	return end - start;
}

static void requests(void)
{
	s64 none = timed(bench_nothing, NULL, 0) - BENCH_NOTHING;

	figure("known", timed(bench_nops, NULL, 0) - none);
	figure("first", timed(unwind_deferred_request, &timed_clients[0], 0) - none);
	figure("again", timed(unwind_deferred_request, &timed_clients[0], 1) - none);
	figure("other", timed(unwind_deferred_request, &timed_clients[1], 0) - none);
	figure("other_again", timed(unwind_deferred_request, &timed_clients[1], 1) - none);
}

/* From the only request to its callback: 0 while none is measured */
static u64 asked;
static DECLARE_COMPLETION(called);

static void latency(void)
{
	u64 cookie;

	if (unwind_deferred_request(&timed_clients[0], &cookie))
		failed = true;
	asked = bench_insns();
}

static void timed_callback(struct unwind_work *work,
			   struct unwind_stacktrace *trace, u64 cookie)
{
	u64 now = bench_insns();

	if (asked)
		figure("latency", now - asked);
	asked = 0;
	complete(&called);
}

/*
 * Measurement of the task work
 *
 * Works run last in, first out. So a work queued before the core's, and one queued after
 * it, enclose it. Its cost is the time between the two, less the time between them around
 * a work that returns at once. This is repeated for clients that ask when the first have
 * been served: the stack is cached then, and the figure is the core's own work without
 * the unwind. The callbacks return at once.
 */

enum { DELIVER_NONE, DELIVER_FIRST, DELIVER_CACHED, DELIVER_STEPS };

static const char * const deliver_names[] = { "work", "deliver", "deliver_cached" };

static struct {
	struct callback_head	before, between, after;
	unsigned int		step;
	unsigned int		clients;
	u64			start;
	s64			none;
	/* From the write to the last task work, which comes after it */
	bool			running;
} deliver;

static void idle_callback(struct unwind_work *work,
			  struct unwind_stacktrace *trace, u64 cookie)
{
}

static void idle_task_work(struct callback_head *head)
{
}

static void before_task_work(struct callback_head *head)
{
	deliver.start = bench_insns();
}

/* The second step has other clients than the first */
static void deliver_request(void)
{
	struct unwind_work *client = idle_clients;
	unsigned int i;
	u64 cookie;

	if (deliver.step == DELIVER_CACHED)
		client += DELIVER_MAX;
	for (i = 0; i < deliver.clients; i++)
		if (unwind_deferred_request(&client[i], &cookie))
			failed = true;
}

static void deliver_step(void)
{
	task_work_add(current, &deliver.after, TWA_RESUME);
	if (deliver.step == DELIVER_NONE)
		task_work_add(current, &deliver.between, TWA_RESUME);
	else
		deliver_request();
	task_work_add(current, &deliver.before, TWA_RESUME);
}

static void after_task_work(struct callback_head *head)
{
	s64 insns = bench_insns() - deliver.start;

	if (deliver.step == DELIVER_NONE)
		deliver.none = insns;
	else
		insns -= deliver.none;
	figure(deliver_names[deliver.step], insns);
	if (++deliver.step < DELIVER_STEPS)
		deliver_step();
	else	/* Pairs with measure(): its figures are complete */
		smp_store_release(&deliver.running, false);
}

static void deliver_to(unsigned int clients)
{
	init_task_work(&deliver.before, before_task_work);
	init_task_work(&deliver.between, idle_task_work);
	init_task_work(&deliver.after, after_task_work);
	deliver.clients = clients;
	deliver.running = true;
	deliver.step = DELIVER_NONE;
	deliver_step();
}

static void deliver_to_1(void)
{
	deliver_to(1);
}

static void deliver_to_4(void)
{
	deliver_to(DELIVER_MAX);
}

/*
 * Measurement of the unwind
 *
 * unwind_user() alone, of the task's own stack: the number of frames, and its cost,
 * with the reads of the counter.
 */

static void faultable(void)
{
	static unsigned long entries[510];
	struct unwind_stacktrace trace = { .entries = entries };
	u64 start, end;
	int ret;

	start = bench_insns();
	ret = unwind_user(&trace, ARRAY_SIZE(entries));
	end = bench_insns();
	if (ret)
		failed = true;
	figure("frames", trace.nr);
	figure("unwind", end - start);
}

static void inplace(void)
{
	static unsigned long entries[510];
	unsigned int nr;
	u64 start, end;

	start = bench_insns();
	nr = unwind_immediate(task_pt_regs(current), entries, ARRAY_SIZE(entries));
	end = bench_insns();
	figure("frames", nr);
	figure("unwind", end - start);
}

static const struct {
	const char	*name;
	void		(*measure)(void);
	bool		only_in_task;
} whats[] = {
	{ "requests",	requests },
	{ "latency",	latency },
	{ "deliver1",	deliver_to_1,	true },
	{ "deliver4",	deliver_to_4,	true },
	{ "faultable",	faultable,	true },
	{ "inplace",	inplace,	true },
};

/*
 * Contexts
 */

static void in_this_task(void (*measure)(void))
{
	measure();
}

static void in_task_irqs_off(void (*measure)(void))
{
	local_irq_disable();
	measure();
	local_irq_enable();
}

static void (*measure_in_irq)(void);

static void on_irq(struct irq_work *work)
{
	measure_in_irq();
}

static struct irq_work bench_irq = IRQ_WORK_INIT_HARD(on_irq);

static void in_hard_irq(void (*measure)(void))
{
	measure_in_irq = measure;
	irq_work_queue(&bench_irq);
	irq_work_sync(&bench_irq);
}

static void in_own_nmi(void (*measure)(void))
{
	if (!bench_in_nmi(false, measure))
		failed = true;
}

/* If it did not hit user space, there is no measurement */
static void in_nmi_of_user(void (*measure)(void))
{
	reinit_completion(&called);
	/* A failure is better than a guest that hangs */
	if (bench_in_nmi(true, measure) &&
	    !wait_for_completion_timeout(&called, 10 * HZ))
		failed = true;
}

static const struct {
	const char	*name;
	void		(*enter)(void (*measure)(void));
} contexts[] = {
	{ "task",	in_this_task },
	{ "irqs_off",	in_task_irqs_off },
	{ "irq",	in_hard_irq },
	{ "nmi",	in_own_nmi },
	{ "user",	in_nmi_of_user },
};

/*
 * The file
 */

static int measure(const char *where, const char *what)
{
	unsigned int c, w;

	for (c = 0; c < ARRAY_SIZE(contexts); c++)
		if (!strcmp(contexts[c].name, where))
			break;
	for (w = 0; w < ARRAY_SIZE(whats); w++)
		if (!strcmp(whats[w].name, what))
			break;
	if (c == ARRAY_SIZE(contexts) || w == ARRAY_SIZE(whats) ||
	    (whats[w].only_in_task && contexts[c].enter != in_this_task))
		return -EINVAL;

	guard(mutex)(&bench_lock);
	/* Pairs with after_task_work() */
	if (smp_load_acquire(&deliver.running))
		return -EBUSY;
	nr_figures = 0;
	failed = false;
	asked = 0;
	contexts[c].enter(whats[w].measure);
	return 0;
}

static ssize_t bench_write(struct file *file, const char __user *buf,
			   size_t size, loff_t *pos)
{
	char line[32], where[16], what[16];
	int ret;

	if (size >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, size))
		return -EFAULT;
	line[size] = 0;
	if (sscanf(line, "%15s %15s", where, what) != 2)
		return -EINVAL;
	ret = measure(where, what);
	return ret ? : size;
}

static int bench_show(struct seq_file *seq, void *unused)
{
	unsigned int i;

	guard(mutex)(&bench_lock);
	if (failed)
		return -EIO;
	for (i = 0; i < nr_figures; i++)
		seq_printf(seq, "%s %lld\n", figures[i].name, figures[i].insns);
	return 0;
}

static int bench_open(struct inode *inode, struct file *file)
{
	return single_open(file, bench_show, NULL);
}

static const struct file_operations bench_fops = {
	.owner		= THIS_MODULE,
	.open		= bench_open,
	.read		= seq_read,
	.write		= bench_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static struct dentry *bench_file;

static void cancel_clients(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(timed_clients); i++)
		unwind_deferred_cancel(&timed_clients[i]);
	for (i = 0; i < ARRAY_SIZE(idle_clients); i++)
		unwind_deferred_cancel(&idle_clients[i]);
}

static int register_clients(void)
{
	unsigned int i;
	int ret = 0;

	/* No client is registered yet, so all can be cancelled */
	for (i = 0; i < ARRAY_SIZE(timed_clients); i++)
		timed_clients[i].bit = -1;
	for (i = 0; i < ARRAY_SIZE(idle_clients); i++)
		idle_clients[i].bit = -1;

	for (i = 0; i < ARRAY_SIZE(timed_clients) && !ret; i++)
		ret = unwind_deferred_init(&timed_clients[i], timed_callback);
	for (i = 0; i < ARRAY_SIZE(idle_clients) && !ret; i++)
		ret = unwind_deferred_init(&idle_clients[i], idle_callback);
	return ret;
}

static int __init bench_init(void)
{
	int ret;

	ret = register_clients();
	if (!ret)
		ret = bench_nmi_start();
	if (ret) {
		cancel_clients();
		return ret;
	}
	bench_file = debugfs_create_file("unwind_bench", 0600, NULL, NULL, &bench_fops);
	return 0;
}

static void __exit bench_exit(void)
{
	debugfs_remove(bench_file);
	bench_nmi_stop();
	cancel_clients();
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("Cost of deferred unwinding, in instructions");
MODULE_LICENSE("GPL");
