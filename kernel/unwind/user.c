// SPDX-License-Identifier: GPL-2.0
/*
 * The iterator: from one frame of the current task's user stack to the next.
 *
 * A frame is its instruction pointer, stack pointer and frame pointer; the
 * topmost one is what the program had when it entered the kernel.  To get to the
 * caller's frame, each method is tried in turn, for each frame anew, because
 * stacks are mixed: the program may have a table, a plugin frame pointers only.
 *
 *   1. A table describes the address: apply its row (see row.h).
 *   2. The frame pointer points to a frame record.
 *
 * A return address is that of the instruction after a call, which may already
 * belong to another function or row.  So it is ip - 1 that is looked up, except
 * for the topmost frame and for one that a signal interrupted: those addresses
 * are exact.
 *
 * The stack is hostile.  What holds all the same:
 *
 * - The caller's frame lies further out than this one, by at least what a call
 *   takes, so the walk makes progress and cannot turn back.  A signal frame is
 *   the exception, it may lead from one stack to another; the number of frames
 *   is bounded in any case.
 * - Registers other than stack and frame pointer are known for the topmost frame
 *   only, and never guessed.
 * - When no method leads on, the reason is recorded.
 */

#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/unwind_user.h>
#include <asm/unwind_user.h>
#include <trace/events/unwind.h>

#include "row.h"
#include "tables.h"
#include "unwind_mem.h"
#include "user.h"

struct unwind_user_frame {
	unsigned long	ip;
	unsigned long	sp;
	unsigned long	fp;
};

static int read_word(const struct unwind_user_state *state, unsigned long addr,
		     unsigned long *word)
{
	u64 val64 = 0;
	u32 val32 = 0;
	int ret;

	if (state->word_size == sizeof(u32)) {
		ret = unwind_read_u32(&val32, addr);
		*word = val32;
	} else {
		ret = unwind_read_u64(&val64, addr);
		*word = val64;
	}
	return ret;
}

/* May @cfa be the CFA of the current frame, which is not a signal frame? */
static bool cfa_valid(const struct unwind_user_state *state, unsigned long cfa)
{
	unsigned long min = UNWIND_USER_CFA_MIN_WORDS * state->word_size;

	return cfa >= state->sp && cfa - state->sp >= min &&
	       IS_ALIGNED(cfa, state->word_size);
}

/*
 * By table
 */

static enum unwind_user_stop rule_base(const struct unwind_user_state *state,
				       const struct unwind_rule *rule,
				       unsigned long cfa, unsigned long *base)
{
	switch (rule->base) {
	case UNWIND_RULE_SP:
		*base = state->sp;
		return UNWIND_STOP_NONE;
	case UNWIND_RULE_FP:
		*base = state->fp;
		return UNWIND_STOP_NONE;
	case UNWIND_RULE_CFA:
		*base = cfa;
		return UNWIND_STOP_NONE;
	case UNWIND_RULE_REG:
		if (state->topmost &&
		    unwind_user_reg(state->regs, rule->reg, base))
			return UNWIND_STOP_NONE;
		return UNWIND_STOP_NO_REGISTER;
	default:
		return UNWIND_STOP_BAD_TABLE;
	}
}

static enum unwind_user_stop apply_rule(const struct unwind_user_state *state,
					const struct unwind_rule *rule,
					unsigned long cfa, unsigned long *val)
{
	enum unwind_user_stop stop;
	unsigned long base;

	stop = rule_base(state, rule, cfa, &base);
	if (stop)
		return stop;

	*val = base + rule->offset;
	if (rule->deref && read_word(state, *val, val))
		return UNWIND_STOP_UNREADABLE;
	return UNWIND_STOP_NONE;
}

static enum unwind_user_stop apply_ra(const struct unwind_user_state *state,
				      const struct unwind_rule *rule,
				      unsigned long cfa, unsigned long *ra)
{
	if (rule->base != UNWIND_RULE_SAME)
		return apply_rule(state, rule, cfa, ra);
	/* Still in the link register, which is known for the topmost frame only */
	if (state->topmost && unwind_user_link_register(state->regs, ra))
		return UNWIND_STOP_NONE;
	return UNWIND_STOP_NO_REGISTER;
}

static enum unwind_user_stop apply_row(const struct unwind_user_state *state,
				       const struct unwind_row *row,
				       struct unwind_user_frame *next)
{
	enum unwind_user_stop stop;

	if (row->outermost)
		return UNWIND_STOP_END;

	stop = apply_rule(state, &row->cfa, 0, &next->sp);
	if (stop)
		return stop;
	if (!row->signal && !cfa_valid(state, next->sp))
		return UNWIND_STOP_BAD_FRAME;

	stop = apply_ra(state, &row->ra, next->sp, &next->ip);
	if (stop)
		return stop;

	next->fp = state->fp;
	if (row->fp.base != UNWIND_RULE_SAME)
		stop = apply_rule(state, &row->fp, next->sp, &next->fp);
	return stop;
}

static int lookup_row(struct unwind_user_state *state, struct unwind_row *row)
{
	unsigned long ip = state->exact_ip ? state->ip : state->ip - 1;
	int ret;

	/* SFrame describes 64-bit programs only */
	if (state->word_size != sizeof(u64))
		return -ENOENT;

	if (!unwind_table_covers(&state->table, ip)) {
		ret = unwind_table_lookup(ip, state->access, &state->table);
		if (ret) {
			state->table = (struct unwind_table){};
			return ret;
		}
	}
	ret = sframe_find_row(&state->table.sframe, ip, state->access, row);
	if (ret && ret != -ENOENT)
		trace_unwind_entry_invalid(ip, state->table.sframe.start, ret);
	return ret;
}

static enum unwind_user_stop next_by_table(struct unwind_user_state *state,
					   struct unwind_user_frame *next,
					   bool *signal)
{
	struct unwind_row row;

	if (!IS_ENABLED(CONFIG_UNWIND_USER_SFRAME))
		return UNWIND_STOP_NO_FRAME;

	switch (lookup_row(state, &row)) {
	case 0:
		*signal = row.signal;
		return apply_row(state, &row, next);
	case -EINVAL:
	case -E2BIG:
		return UNWIND_STOP_BAD_TABLE;
	case -EFAULT:
		return UNWIND_STOP_UNREADABLE;
	default:
		return UNWIND_STOP_NO_FRAME;
	}
}

/*
 * By frame pointer
 */

static enum unwind_user_stop next_by_fp(const struct unwind_user_state *state,
					struct unwind_user_frame *next)
{
	const unsigned int word = state->word_size;
	unsigned long fp = state->fp;

	if (!fp)
		return UNWIND_STOP_END_FP;
	if (fp < state->sp || !IS_ALIGNED(fp, word))
		return UNWIND_STOP_NO_FRAME;

	next->sp = fp + UNWIND_USER_FP_CFA_WORDS * word;
	if (!cfa_valid(state, next->sp))
		return UNWIND_STOP_NO_FRAME;
	if (read_word(state, fp + UNWIND_USER_FP_RA_WORDS * word, &next->ip) ||
	    read_word(state, fp + UNWIND_USER_FP_FP_WORDS * word, &next->fp))
		return UNWIND_STOP_UNREADABLE;
	return UNWIND_STOP_NONE;
}

/*
 * The iterator
 */

/**
 * unwind_user_start - begin with the topmost frame
 * @state: set up
 * @regs: registers with which the current task left user space
 * @access: how user memory may be read; with UNWIND_USER_NOFAULT the caller has
 *	disabled page faults
 *
 * Context: any with UNWIND_USER_NOFAULT; else task context that may sleep.
 * Return: 0, or -EINVAL when these registers are no start of a stack.
 */
int unwind_user_start(struct unwind_user_state *state, struct pt_regs *regs,
		      enum unwind_user_access access)
{
	*state = (struct unwind_user_state){
		.regs = regs,
		.access = access,
		.topmost = true,
		.exact_ip = true,
	};
	if (!user_mode(regs))
		return -EINVAL;
	state->word_size = unwind_user_word_size(regs);
	if (!state->word_size)
		return -EINVAL;

	state->ip = instruction_pointer(regs);
	state->sp = user_stack_pointer(regs);
	state->fp = frame_pointer(regs);
	return 0;
}

static int stop_at(struct unwind_user_state *state, enum unwind_user_stop stop)
{
	state->stop = stop;
	return -ENOENT;
}

/**
 * unwind_user_next - go on to the caller's frame
 * @state: where the unwind is
 *
 * Context: as unwind_user_start().
 * Return: 0, or -ENOENT when there is no further frame; @state then says why.
 */
int unwind_user_next(struct unwind_user_state *state)
{
	enum unwind_user_method method = UNWIND_USER_SFRAME;
	struct unwind_user_frame next = {};
	enum unwind_user_stop stop, fp_stop;
	bool signal = false;

	if (state->stop)
		return -ENOENT;

	stop = next_by_table(state, &next, &signal);
	if (stop == UNWIND_STOP_END)
		return stop_at(state, stop);
	if (stop) {
		signal = false;
		method = UNWIND_USER_FP;
		fp_stop = next_by_fp(state, &next);
		/* What was wrong with the table says more than that no FP is kept */
		if (fp_stop)
			return stop_at(state, stop == UNWIND_STOP_NO_FRAME ?
					      fp_stop : stop);
	}
	if (!next.ip)
		return stop_at(state, UNWIND_STOP_END_FP);
	if (next.ip >= TASK_SIZE_MAX)
		return stop_at(state, UNWIND_STOP_BAD_FRAME);

	state->ip = next.ip;
	state->sp = next.sp;
	state->fp = next.fp;
	state->method = method;
	state->topmost = false;
	state->exact_ip = signal;
	return 0;
}

/**
 * unwind_user_frames - from where the unwind is to where it stops
 * @state: set up by unwind_user_start()
 * @trace: filled in
 * @max: room in @trace, at least 1
 *
 * Context: as unwind_user_start().
 */
void unwind_user_frames(struct unwind_user_state *state,
			struct unwind_stacktrace *trace, unsigned int max)
{
	trace->nr = 0;
	do {
		if (trace->nr == max) {
			state->stop = UNWIND_STOP_LIMIT;
			break;
		}
		trace->entries[trace->nr++] = state->ip;

		if (state->access == UNWIND_USER_FAULTABLE) {
			cond_resched();
			/*
			 * A killed task still gets its last stack, but with the
			 * bounds of a context that cannot wait.
			 */
			if (fatal_signal_pending(current))
				state->access = UNWIND_USER_NOFAULT;
		}
	} while (!unwind_user_next(state));

	trace_unwind_stop(state->ip, trace->nr, state->method, state->stop);
}

/**
 * unwind_user - take the current task's user stack
 * @trace: @trace->entries has room for @max addresses; @trace->nr is set
 * @max: limit on the number of frames
 * @access: UNWIND_USER_FAULTABLE or UNWIND_USER_NOFAULT
 *
 * The stack is that of the program as it entered the kernel. Where it ends and
 * why is told by the tracepoint unwind:unwind_stop.
 *
 * Context: any with UNWIND_USER_NOFAULT; else task context that may sleep,
 * without the mmap lock.
 * Return: 0, with at least one frame; -EINVAL when the current task has no user
 * stack; -EFAULT when its memory cannot be reached from here.
 */
int unwind_user(struct unwind_stacktrace *trace, unsigned int max,
		enum unwind_user_access access)
{
	struct unwind_user_state state;

	trace->nr = 0;
	if (!max || !current->mm ||
	    current->flags & (PF_KTHREAD | PF_USER_WORKER))
		return -EINVAL;
	if (unwind_user_start(&state, task_pt_regs(current), access))
		return -EINVAL;

	if (access == UNWIND_USER_FAULTABLE) {
		might_fault();
		unwind_user_frames(&state, trace, max);
		return 0;
	}

	if (!unwind_user_uaccess_okay())
		return -EFAULT;
	pagefault_disable();
	unwind_user_frames(&state, trace, max);
	pagefault_enable();
	return 0;
}
