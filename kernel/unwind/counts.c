// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of outcomes: files in /sys/kernel/debug/unwind.
 *
 * Each line is a count and a name.  It counts since boot, or since somebody wrote to the
 * file.
 *
 * "stops" has the stop reasons of all stacks but immediate ones (immediate.c), under the
 * names that the tracepoint unwind:unwind_stop has for them.  If a reason is too frequent,
 * the tracepoint shows where it occurs.
 */

#include <linux/array_size.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <trace/events/unwind.h>

#include "counts.h"

static int counts_show(struct seq_file *m, void *unused)
{
	const struct unwind_counts *counts = m->private;
	unsigned int i, cpu;

	for (i = 0; i < counts->nr; i++) {
		unsigned long sum = 0;

		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(counts->counts, cpu)[counts->names[i].mask]);
		seq_printf(m, "%lu %s\n", sum, counts->names[i].name);
	}
	return 0;
}

/* Any write sets the counts to 0; concurrent increments may survive or be lost */
static ssize_t counts_write(struct file *file, const char __user *buf, size_t size,
			    loff_t *pos)
{
	const struct unwind_counts *counts = file_inode(file)->i_private;
	unsigned int i, cpu;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < counts->nr; i++)
			WRITE_ONCE(per_cpu_ptr(counts->counts, cpu)[counts->names[i].mask], 0);
	}
	return size;
}
DEFINE_SHOW_STORE_ATTRIBUTE(counts);

/**
 * unwind_show_counts - make the file of some counts
 * @counts: the counts
 *
 * Context: late initcall: one after the other.
 */
void __init unwind_show_counts(const struct unwind_counts *counts)
{
	static struct dentry *dir __initdata;

	if (!dir)
		dir = debugfs_create_dir("unwind", NULL);
	debugfs_create_file(counts->file, 0600, dir, (void *)counts, &counts_fops);
}

/*
 * Stop reasons
 */

DEFINE_PER_CPU(unsigned long [UNWIND_NR_STOPS], unwind_stop_count);

static const struct trace_print_flags stop_names[] = { UNWIND_STOPS };

static int __init unwind_stops_init(void)
{
	static const struct unwind_counts stops = {
		.file = "stops",
		/* Without UNWIND_STOP_NONE */
		.names = stop_names + 1,
		.nr = ARRAY_SIZE(stop_names) - 1,
		.counts = unwind_stop_count,
	};

	unwind_show_counts(&stops);
	return 0;
}
late_initcall(unwind_stops_init);
