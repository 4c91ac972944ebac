// SPDX-License-Identifier: GPL-2.0
/*
 * Stress for the deferred core: clients that ask from real NMIs, and from every other
 * context, while programs enter and leave the kernel in all ways.
 *
 * The module makes the requests, and logs each of them and each callback
 * (stress_uapi.h). It judges nothing: the test program makes the load, and checks the log
 * at the end. That requires
 *
 *   - that no event is lost: a request is not made if it cannot be logged (stress_log.c);
 *   - that everything logged about a task has an end: requests are about tasks of one
 *     session, for which the test program can wait (stress_client.c);
 *   - NMIs at random points, each sent by the module (stress_fire.c, stress_nmi_*.c).
 *
 * Files in the directory unwind_stress of debugfs:
 *
 *   session, rate, requests	the tasks to ask about; roughly how many NMIs per second
 *				on each CPU; how many requests to make
 *   run			1: new log, fire; 0: stop; a read waits for all requests
 *   clients			a bit for each client that is to be registered
 *   borrow			any: ask from a kernel thread with a user's memory
 *   hold, hold_changes		numbers of other tasks' callbacks, and of changes of the
 *				clients, that the sleeper waits for in its callback
 *   events, counts		the log; NMIs of each CPU
 */
#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

#include "stress.h"

static struct dentry *dir;
static u32 rate = 1000;
static u32 requests = 100000;
static unsigned long client_mask;
static bool running;

/* The rest changes only under this lock */
static DEFINE_MUTEX(control);

static void stop(void)
{
	if (running)
		stress_fire_stop();
	stress_log_stop();
	running = false;
}

static int start(void)
{
	int ret;

	if (running || client_mask)
		return -EBUSY;
	ret = stress_log_start(requests);
	if (ret)
		return ret;
	ret = stress_fire_start(rate);
	running = !ret;
	return ret;
}

static int run_write(void *unused, u64 value)
{
	guard(mutex)(&control);
	if (value)
		return start();
	stop();
	return 0;
}

static int run_read(void *unused, u64 *value)
{
	*value = 0;
	return stress_log_wait();
}

DEFINE_DEBUGFS_ATTRIBUTE(run_fops, run_read, run_write, "%llu\n");

static int clients_write(void *unused, u64 value)
{
	if (value >= BIT(UNWIND_STRESS_CLIENTS))
		return -EINVAL;
	guard(mutex)(&control);
	/* Also if not all could be registered: some may have to be cancelled */
	client_mask = value;
	return stress_set_clients(value);
}

DEFINE_DEBUGFS_ATTRIBUTE(clients_fops, NULL, clients_write, "%llu\n");

static int borrow_write(void *unused, u64 value)
{
	return stress_borrow_mm();
}

DEFINE_DEBUGFS_ATTRIBUTE(borrow_fops, NULL, borrow_write, "%llu\n");

static ssize_t events_read(struct file *file, char __user *buf, size_t size,
			   loff_t *pos)
{
	guard(mutex)(&control);
	if (running || client_mask)
		return -EBUSY;
	return stress_log_read(buf, size, pos);
}

static const struct file_operations events_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= events_read,
	.llseek	= default_llseek,
};

static int counts_show(struct seq_file *m, void *unused)
{
	stress_show_counts(m);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(counts);

static int __init stress_init(void)
{
	dir = debugfs_create_dir("unwind_stress", NULL);
	debugfs_create_u32("session", 0600, dir, &stress_session);
	debugfs_create_u32("hold", 0600, dir, &stress_hold);
	debugfs_create_u32("hold_changes", 0600, dir, &stress_hold_changes);
	debugfs_create_u32("rate", 0600, dir, &rate);
	debugfs_create_u32("requests", 0600, dir, &requests);
	debugfs_create_file_unsafe("run", 0600, dir, NULL, &run_fops);
	debugfs_create_file_unsafe("clients", 0200, dir, NULL, &clients_fops);
	debugfs_create_file_unsafe("borrow", 0200, dir, NULL, &borrow_fops);
	debugfs_create_file("events", 0400, dir, NULL, &events_fops);
	debugfs_create_file("counts", 0400, dir, NULL, &counts_fops);
	return 0;
}

static void __exit stress_exit(void)
{
	/* This waits for users of the files */
	debugfs_remove(dir);
	stop();
	stress_set_clients(0);
	stress_log_free();
}

module_init(stress_init);
module_exit(stress_exit);

MODULE_DESCRIPTION("Stress test of deferred user unwinding");
MODULE_LICENSE("GPL");
