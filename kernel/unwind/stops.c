// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of stop reasons: /sys/kernel/debug/unwind/stops.
 *
 * Each line is a count and a reason, under the name that the tracepoint
 * unwind:unwind_stop has for it.  If a reason is too frequent, the tracepoint shows where
 * it occurs.  It counts all stacks since boot, or since somebody wrote to the file, but
 * not immediate ones (immediate.c).
 */

#include <linux/array_size.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <trace/events/unwind.h>

#include "stops.h"

DEFINE_PER_CPU(unsigned long [UNWIND_NR_STOPS], unwind_stop_count);

#undef EM
#undef EMe
#define EM(reason, name)	{ reason, name },
#define EMe(reason, name)	{ reason, name }

static const struct {
	enum unwind_stop_reason	reason;
	const char		*name;
} stops[] = { UNWIND_STOPS };

static int stops_show(struct seq_file *m, void *unused)
{
	unsigned int i, cpu;

	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		enum unwind_stop_reason reason = stops[i].reason;
		unsigned long sum = 0;

		if (reason == UNWIND_STOP_NONE)
			continue;
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu(unwind_stop_count, cpu)[reason]);
		seq_printf(m, "%lu %s\n", sum, stops[i].name);
	}
	return 0;
}

/* Any write sets the counts to 0; counts of the same moment may survive or be lost */
static ssize_t stops_write(struct file *file, const char __user *buf, size_t size,
			   loff_t *pos)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&unwind_stop_count, cpu), 0, sizeof(unwind_stop_count));
	return size;
}
DEFINE_SHOW_STORE_ATTRIBUTE(stops);

static int __init unwind_stops_init(void)
{
	struct dentry *dir = debugfs_create_dir("unwind", NULL);

	debugfs_create_file("stops", 0600, dir, NULL, &stops_fops);
	return 0;
}
late_initcall(unwind_stops_init);
