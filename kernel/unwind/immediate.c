// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate stacks: the user stack at the sample itself, for tools that cannot wait.
 *
 * Without tables, a tool that wants the user stack in the sample (perf record -g, a BPF
 * program's bpf_get_stack(), the trace option userstacktrace) gets frame pointers or nothing.
 * Here, the frame loop of deferred stacks (walk.c) unwinds by tables at the sample, as far as
 * that needs no page fault, no lock and no table that is not loaded.  The result is the stack
 * that a deferred unwind of the same moment would have; or nothing, and the caller follows
 * frame pointers as it always did:
 *
 *   no table	described a frame.  So processes without tables have the stacks that they
 *		had, unchanged, including their faults, at the same cost.
 *   missing	a table is not loaded, or memory is not resident.  A client that wants
 *		no stack requests a deferred unwind: on the way back to user space, the
 *		task loads the tables and brings in the pages that the same stack needs.
 *   changing	a writer has the mmap lock, or a table may change (UNWIND_TABLE_JIT).
 *   uprobes	return addresses are hidden, and this is an interrupt, which cannot look
 *		at the list of them.
 *
 * A sample may come in NMI, and the stack is hostile: work is limited by BUDGET.  A stack
 * that exceeds it is cut there.
 */

#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/rcupdate.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>
#include <linux/unwind_deferred.h>
#include <linux/unwind_stack.h>
#include <linux/unwind_tables.h>
#include <asm/unwind_arch.h>

#include "counts.h"
#include "file.h"
#include "mapping.h"
#include "memory.h"
#include "uprobe.h"
#include "walk.h"

/*
 * Work for one sample, in ordinary frames of about 100 instructions: a sample takes at
 * most 50,000, or the cost of kernel.perf_event_max_stack frames if that is more.
 */
#define BUDGET		500

enum outcome {
	TAKEN,
	NO_TABLE,
	MISSING,
	CHANGING,
	UPROBE,
	SIGRETURN,
	ASKED,
	NR_OUTCOMES
};

static DEFINE_PER_CPU(unsigned long [NR_OUTCOMES], outcomes);

static unsigned int enabled __read_mostly = 1;

/*
 * The unwind
 */

static enum outcome follow(struct unwind_walk_state *state,
			   struct unwind_stacktrace *trace, unsigned int max)
{
	state->budget = max(BUDGET, max);
	unwind_walk_frames(state, trace, max);
	switch (state->need) {
	case UNWIND_NEED_NOTHING:
		break;
	case UNWIND_NEED_PAGE:
	case UNWIND_NEED_CODE:
	case UNWIND_NEED_TABLE:
		return MISSING;
	default:
		return CHANGING;
	}
	return state->by_table || state->stop == UNWIND_STOP_END ? TAKEN : NO_TABLE;
}

static enum outcome unwind(struct pt_regs *regs, struct unwind_stacktrace *trace,
			   unsigned int max)
{
	struct unwind_walk_state state;
	enum outcome outcome;
	u32 rights;

	if (unwind_uretprobes_hidden())
		return UPROBE;
	if (!unwind_arch_uaccess_okay())
		return CHANGING;
	guard(rcu)();
	pagefault_disable();
	rights = unwind_arch_keys_open();
	if (unwind_walk_start(&state, regs) || state.word_size != sizeof(u64))
		outcome = NO_TABLE;
	else if (unwind_arch_restores_regs(regs))
		outcome = SIGRETURN;
	else
		outcome = follow(&state, trace, max);
	unwind_arch_keys_close(rights);
	pagefault_enable();
	return outcome;
}

/*
 * Processes without tables
 *
 * Most processes have no table, and should not pay for the search.  When all files that such a
 * process has mapped as text are known to have none, mm->unwind_bare is set to survey_key() and
 * BARE.  The key is the number of pages of text, and the generation of all files' tables.  (So
 * text that is replaced by as much other text goes unnoticed until something becomes known about
 * another file.)  Without the bit BARE, some file has a table, or may have one.
 */

#define BARE		BIT_ULL(0)

/* Limits of one survey: mappings that are visited, and files that are loaded */
#define MAX_SURVEYED	4096
#define MAX_LOADED	256

static u64 survey_key(const struct mm_struct *mm)
{
	return (u64)unwind_file_generation() << 32 | (u32)READ_ONCE(mm->exec_vm) << 1;
}

static bool is_surveyed(const struct mm_struct *mm)
{
	return (READ_ONCE(mm->unwind_bare) & ~BARE) == survey_key(mm);
}

static bool unwind_mm_bare(const struct mm_struct *mm)
{
	return READ_ONCE(mm->unwind_bare) == (survey_key(mm) | BARE) &&
	       !unwind_tables_any(mm);
}

/*
 * Find the first file from @addr on that is mapped as text and has, or may have, a table: then
 * -EEXIST.  0 if there is none; -ENODATA if that is not known, with @addr set to the mapping of
 * the file in question.
 */
static int find_table(struct mm_struct *mm, unsigned long *addr)
{
	VMA_ITERATOR(vmi, mm, *addr);
	const struct sframe_table *table;
	unsigned int left = MAX_SURVEYED;
	struct vm_area_struct *vma;
	struct file *file;
	int state, ret = 0;
	u64 origin;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	for_each_vma(vmi, vma) {
		if (!left--) {
			ret = -E2BIG;
			break;
		}
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		*addr = vma->vm_start;
		scoped_guard(rcu) {
			file = unwind_text_file(vma, &origin);
			state = file ? unwind_file_find(file_inode(file), NULL, &table) :
				       UNWIND_FILE_NONE;
		}
		if (state == UNWIND_FILE_NONE)
			continue;
		ret = state < 0 ? state : -EEXIST;
		break;
	}
	mmap_read_unlock(mm);
	return ret;
}

/* Is the process bare?  Files that are not known yet are loaded. */
static void survey(struct mm_struct *mm)
{
	unsigned long addr = 0, last = ULONG_MAX;
	unsigned int left = MAX_LOADED;
	u64 key;
	int ret;

	for (;;) {
		key = survey_key(mm);
		ret = find_table(mm, &addr);
		if (ret != -ENODATA || addr == last || !left--)
			break;
		if (fatal_signal_pending(current) || unwind_file_load(addr))
			break;
		last = addr;
	}
	WRITE_ONCE(mm->unwind_bare, ret ? key : key | BARE);
}

/*
 * Asking
 */

static struct unwind_work asker = { .bit = -1 };

static void ask(void)
{
	u64 cookie;

	if (!unwind_deferred_request(&asker, &cookie))
		this_cpu_inc(outcomes[ASKED]);
}

/*
 * An immediate stack reads text that is mapped.  Where the task has not run yet, like a child
 * in the functions that called fork(), a deferred one reads the page cache instead.
 */
static void map_text(const struct unwind_stacktrace *trace)
{
	unsigned int i;

	for (i = 1; i < trace->nr && unwind_may_wait(); i++) {
		const unsigned long before = trace->entries[i] - sizeof(u64);
		u64 code;
		int ret;

		pagefault_disable();
		ret = unwind_get_user(code, (const u64 __user *)before);
		pagefault_enable();
		if (ret)
			unwind_bring_in(before, sizeof(code), 0);
	}
}

/* Called after a deferred unwind, which has brought in all that this stack needs */
static void asked(struct unwind_work *work, struct unwind_stacktrace *trace, u64 cookie)
{
	struct mm_struct *mm = current->mm;

	if (!mm || current->flags & PF_EXITING || current->in_execve)
		return;
	if (!is_surveyed(mm))
		survey(mm);
	map_text(trace);
}

/*
 * The interface
 */

/**
 * unwind_immediate - take the current task's user stack by tables, now
 * @regs: registers of the program
 * @entries: filled in; undefined if nothing is returned
 * @max: room in @entries
 *
 * If this returns 0, the caller takes the stack as it would without tables.
 *
 * Context: any.
 * Return: the number of entries; 0 if no table describes a frame of the stack, if something
 * that it needs is missing or is being changed, or if kernel.unwind_immediate is 0.
 */
unsigned int unwind_immediate(struct pt_regs *regs, unsigned long *entries,
			      unsigned int max)
{
	struct unwind_stacktrace trace = { .entries = entries };
	enum outcome outcome;

	if (!READ_ONCE(enabled) || !max || !user_mode(regs) ||
	    !unwind_has_stack(current) || current->flags & PF_EXITING)
		return 0;

	outcome = unwind_mm_bare(current->mm) ? NO_TABLE : unwind(regs, &trace, max);
	this_cpu_inc(outcomes[outcome]);
	if (outcome == MISSING || (outcome == NO_TABLE && !is_surveyed(current->mm)))
		ask();
	return outcome == TAKEN ? trace.nr : 0;
}
EXPORT_SYMBOL_IF_KUNIT(unwind_immediate);

/*
 * Setting up
 */

static int __init unwind_immediate_init(void)
{
	return unwind_deferred_init(&asker, asked);
}
core_initcall(unwind_immediate_init);

static struct ctl_table immediate_sysctls[] = {
	{
		.procname	= "unwind_immediate",
		.data		= &enabled,
		.maxlen		= sizeof(enabled),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

static const struct trace_print_flags outcome_names[] = {
	{ TAKEN, "taken" },
	{ NO_TABLE, "no table had a say" },
	{ MISSING, "not known or not resident" },
	{ CHANGING, "being changed" },
	{ UPROBE, "return addresses hidden by uretprobes" },
	{ SIGRETURN, "while a signal returns" },
	{ ASKED, "asked for" },
};

/* Outcomes of immediate stacks, counted */
static const struct unwind_counts outcome_counts = {
	.file = "immediate",
	.names = outcome_names,
	.nr = ARRAY_SIZE(outcome_names),
	.counts = outcomes,
};

static int __init unwind_immediate_late_init(void)
{
	register_sysctl_init("kernel", immediate_sysctls);
	unwind_show_counts(&outcome_counts);
	return 0;
}
late_initcall(unwind_immediate_late_init);
