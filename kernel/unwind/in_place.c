// SPDX-License-Identifier: GPL-2.0
/*
 * In place: the user stack at the sample itself, for tools that cannot wait.
 *
 * A tool that wants the user stack in the sample (perf record -g, a BPF program's
 * bpf_get_stack(), the trace option userstacktrace) had frame pointers or nothing.
 * Here it is taken by tables, frame by frame (user.c), where that is possible without
 * a fault: tables are known, their pages and those of the stack are resident.  What
 * comes out is the stack that a deferred unwind of the same moment would have; or
 * nothing, and the caller follows frame pointers as it always did.  That is so when:
 *
 *   no table	had a say.  So processes without tables have the stacks that they
 *		had, to the byte, with all that is peculiar to them.  (The vDSO
 *		may have a table: a sample in it then has the function's caller,
 *		which frame pointers miss.)
 *   unsure	something was not known, or not resident.
 *   budget	the work that one sample may make is used up, and asking is of no use.
 *   uprobe	return addresses were put aside, and this is an interrupt, which
 *		cannot look at the list of them.
 *
 * Asking.  Where something was missing, the task is asked for a deferred unwind,
 * by a client whose callback wants no stack: on the way back to user space, that
 * finds the tables and brings in the pages which the same stack needs, and those
 * of the next ones are mostly among them.  The cost is that of one stack of
 * deferred profiling, and is paid once in an entry into the kernel at most.  The
 * callback tries in place once more: where that still fails, the next sample that is
 * unsure does not ask, after a second failure the next three do not, then seven, up to
 * PATIENCE_MAX.  Success ends that.  So a process pays for what helps, and
 * where nothing does, for one stack in PATIENCE_MAX + 1 samples.
 *
 * Work.  A sample may come in NMI, and tables are hostile.  Reads of user memory
 * are estimated, of each lookup and of every CHUNK frames, and end the unwind at
 * UNWIND_IN_PLACE_READS.
 *
 * With faults.  BPF programs that may sleep get here as well, and take the page faults
 * that are needed; if they may hold locks that reading a file would take, tables that
 * are not known are not looked for (UNWIND_USER_KNOWN).
 *
 * Context.  All that is used without faults is fit for NMIs: they are disabled,
 * so that reads of what is not there fail; tables and mappings are looked up
 * under RCU; requests take no lock.
 */

#include <kunit/visibility.h>
#include <linux/dcache.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>
#include <linux/unwind_deferred.h>
#include <linux/unwind_user.h>
#include <asm/unwind_user.h>

#include "stops.h"
#include "tables.h"
#include "uprobe.h"
#include "user.h"

/*
 * Reads of user memory that one sample may make, plus those of one frame and of the
 * stack of some: 41,000 in all.  A stack of 127 frames, none of whose rows is kept, may
 * so have 92 rows in each function, and one of 20 frames 782; one whose rows are kept
 * may have 2,048 frames.
 */
#define UNWIND_IN_PLACE_READS	32768

/* Of one frame: of the stack, of registers that a signal saved, and of instructions */
#define FRAME_READS		16

/* Of an entry or row of the table, or of an instruction where there is none (arm64) */
#define LOOKED_READS		2

/* Frames that are gone on by before it is seen what there is left */
#define CHUNK			64U

enum outcome {
	TAKEN,
	NO_TABLE,
	UNSURE,
	BUDGET,
	UPROBE,
	SIGRETURN,
	ASKED,
	HELPED,
	NR_OUTCOMES
};

static DEFINE_PER_CPU(unsigned long [NR_OUTCOMES], outcomes);

static unsigned int enabled __read_mostly = 1;

/*
 * The unwind
 */

static bool over_budget(const struct unwind_user_state *state, unsigned int nr)
{
	return nr * FRAME_READS + state->looked * LOOKED_READS >
	       UNWIND_IN_PLACE_READS;
}

/* What the tables' share of the budget is after so many frames; not 0, which is all */
static u32 looked_max(unsigned int nr)
{
	return max((UNWIND_IN_PLACE_READS - (int)(nr * FRAME_READS)) / LOOKED_READS, 1);
}

/* @entries may be NULL, to try */
static enum outcome follow(struct unwind_user_state *state,
			   unsigned long *entries, unsigned int max,
			   unsigned int *nr)
{
	/* Might more be known the next time?  Where all was looked for, this is all */
	const bool may_help = state->known_only || state->access == UNWIND_USER_NOFAULT;

	if (entries)
		entries[0] = state->ip;
	for (*nr = 1; *nr < max && !state->stop; ) {
		if (state->access == UNWIND_USER_NOFAULT)
			state->looked_max = looked_max(*nr);
		if (entries)
			*nr += unwind_user_next_frames(state, &entries[*nr],
						       min(max - *nr, CHUNK));
		else
			*nr += !unwind_user_next(state);

		unwind_user_resched(state);
		if (state->access == UNWIND_USER_NOFAULT && over_budget(state, *nr))
			return BUDGET;
		if (state->unsure && may_help)
			return UNSURE;
	}
	return state->by_table || state->stop == UNWIND_STOP_END ? TAKEN : NO_TABLE;
}

static enum outcome start_and_follow(struct pt_regs *regs,
				     unsigned long *entries, unsigned int max,
				     unsigned int *nr,
				     enum unwind_user_access access)
{
	const bool known_only = access == UNWIND_USER_KNOWN;
	struct unwind_user_state state;
	enum outcome outcome;

	*nr = 0;
	if (known_only)
		access = UNWIND_USER_FAULTABLE;
	if (unwind_user_start(&state, regs, access) ||
	    state.word_size != sizeof(u64))
		return NO_TABLE;
	if (unwind_user_restores_regs(regs))
		return SIGRETURN;
	state.known_only = known_only;
	outcome = follow(&state, entries, max, nr);
	unwind_count_frames(*nr);
	return outcome;
}

static enum outcome unwind(struct pt_regs *regs, unsigned long *entries,
			   unsigned int max, unsigned int *nr,
			   enum unwind_user_access access)
{
	enum outcome outcome;

	if (access != UNWIND_USER_NOFAULT) {
		might_fault();
		return start_and_follow(regs, entries, max, nr, access);
	}
	if (!unwind_user_uaccess_okay())
		return UNSURE;
	pagefault_disable();
	outcome = start_and_follow(regs, entries, max, nr, access);
	pagefault_enable();
	return outcome;
}

/*
 * Asking
 */

#define PATIENCE_MAX	63

static struct unwind_work asker = { .bit = -1 };

static void ask(void)
{
	struct unwind_patience *patience = unwind_table_patience(current->mm);
	u16 left = patience ? READ_ONCE(patience->left) : 0;
	u64 cookie;

	if (left)
		WRITE_ONCE(patience->left, left - 1);
	else if (!unwind_deferred_request(&asker, &cookie))
		this_cpu_inc(outcomes[ASKED]);
}

/* All has been found and brought in that could be: did it help? */
static void asked(struct unwind_work *work, struct unwind_stacktrace *trace,
		  u64 cookie)
{
	struct unwind_patience *patience;
	unsigned int nr;
	u16 all = 0;

	/* The task exits, or there was no memory */
	if (!current->mm || !trace->nr)
		return;
	patience = unwind_table_patience(current->mm);
	/* One more than there are: what was missing may be behind the last of them */
	if (unwind(task_pt_regs(current), NULL, trace->nr + 1, &nr,
		   UNWIND_USER_NOFAULT) != UNSURE)
		this_cpu_inc(outcomes[HELPED]);
	else if (patience)
		all = min(2 * READ_ONCE(patience->all) + 1, PATIENCE_MAX);
	if (!patience)
		return;
	WRITE_ONCE(patience->all, all);
	WRITE_ONCE(patience->left, all);
}

/*
 * The interface
 */

/**
 * unwind_user_in_place - take the current task's user stack by tables, now
 * @regs: registers of the program
 * @entries: where to; undefined if nothing is returned
 * @max: room there
 * @access: UNWIND_USER_FAULTABLE or UNWIND_USER_KNOWN if page faults are allowed, and
 *	@regs are those with which the task entered the kernel; the latter if reading
 *	a file is not
 *
 * Where this finds nothing, the caller does what it would do without tables.
 *
 * Context: any with UNWIND_USER_NOFAULT; else task context that may sleep,
 * without the mmap lock.
 * Return: the number of entries; 0 where no table had a say, where without faults,
 * or tables that are not known yet, the stack would not be sure to be right, or
 * kernel.unwind_in_place is off.
 */
unsigned int unwind_user_in_place(struct pt_regs *regs, unsigned long *entries,
				  unsigned int max,
				  enum unwind_user_access access)
{
	enum outcome outcome;
	unsigned int nr = 0;

	if (!READ_ONCE(enabled) || !max || !user_mode(regs) ||
	    !unwind_user_has_stack(current) || current->flags & PF_EXITING)
		return 0;

	outcome = unwind_uretprobes_hidden() ? UPROBE :
		  unwind(regs, entries, max, &nr, access);
	this_cpu_inc(outcomes[outcome]);
	if (outcome == UNSURE)
		ask();
	return outcome == TAKEN ? nr : 0;
}
EXPORT_SYMBOL_IF_KUNIT(unwind_user_in_place);

/*
 * Setting up
 */

static int __init unwind_in_place_init(void)
{
	return unwind_deferred_init(&asker, asked);
}
core_initcall(unwind_in_place_init);

#ifdef CONFIG_SYSCTL
static struct ctl_table in_place_sysctls[] = {
	{
		.procname	= "unwind_in_place",
		.data		= &enabled,
		.maxlen		= sizeof(enabled),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

static int __init unwind_in_place_sysctl_init(void)
{
	register_sysctl_init("kernel", in_place_sysctls);
	return 0;
}
late_initcall(unwind_in_place_sysctl_init);
#endif

#ifdef CONFIG_DEBUG_FS
static const char * const outcome_names[NR_OUTCOMES] = {
	[TAKEN]		= "taken",
	[NO_TABLE]	= "no table had a say",
	[UNSURE]	= "not known or not resident",
	[BUDGET]	= "too much work",
	[UPROBE]	= "return addresses hidden by uretprobes",
	[SIGRETURN]	= "while a signal returns",
	[ASKED]		= "asked for",
	[HELPED]	= "asked for, and it helped",
};

static int in_place_show(struct seq_file *m, void *unused)
{
	unsigned int i, cpu;

	for (i = 0; i < NR_OUTCOMES; i++) {
		unsigned long sum = 0;

		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu(outcomes, cpu)[i]);
		seq_printf(m, "%lu %s\n", sum, outcome_names[i]);
	}
	return 0;
}

/* Any write sets the counts to 0; counts of the same moment may survive or be lost */
static ssize_t in_place_write(struct file *file, const char __user *buf, size_t size,
			      loff_t *pos)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&outcomes, cpu), 0, sizeof(outcomes));
	return size;
}
DEFINE_SHOW_STORE_ATTRIBUTE(in_place);

/* /sys/kernel/debug/unwind/in_place: what became of stacks that were wanted */
static int __init unwind_in_place_debugfs_init(void)
{
	struct dentry *dir = debugfs_lookup("unwind", NULL);

	debugfs_create_file("in_place", 0600, dir, NULL, &in_place_fops);
	dput(dir);
	return 0;
}
late_initcall_sync(unwind_in_place_debugfs_init);
#endif
