// SPDX-License-Identifier: GPL-2.0
/*
 * The frame loop: from one frame of the current task's user stack to the next.
 *
 *   deferred.c, in_place.c
 *        |
 *        v
 *   unwind_user_frames() ---> walk.c: ordinary frames, by cached rules (rows.c)
 *        ^    |               or rules that it looks up (tables.c, sframe.c)
 *        |    v
 *        '-- step(): one frame, by the first method that finds its caller:
 *              1. the rule of a table, struct unwind_row
 *              2. a signal's frame: before 1 if the address may be a trampoline
 *              3. the link register, for an interrupted function (arm64)
 *              4. the frame pointer
 *
 * A frame is an instruction pointer, a stack pointer and a frame pointer.  The topmost
 * frame has the values with which the program entered the kernel.  The method is chosen
 * per frame: one stack can mix objects with and without tables.
 *
 * A return address may already belong to the next function or rule.  So the lookup
 * takes ip - 1, except for interrupted frames, whose addresses are exact.
 *
 * The stack is hostile.  Documentation/core-api/unwind-user.rst describes each method,
 * and lists the guarantees that hold all the same.
 */

#include <linux/export.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/unwind_user.h>
#include <asm/unwind_user.h>
#include <trace/events/unwind.h>

#include "row.h"
#include "rows.h"
#include "stops.h"
#include "tables.h"
#include "text.h"
#include "unwind_mem.h"
#include "uprobe.h"
#include "user.h"

/* Room for the name of the file in which an unwind ended */
#define OBJECT_NAME_MAX		64

/**
 * struct unwind_user_frame - a caller's frame, as a method finds it
 * @ip: its return address, or the interrupted instruction
 * @sp: its stack pointer
 * @fp: its frame pointer
 * @saved_regs: as in &struct unwind_user_state
 * @word_size: as in &struct unwind_user_state
 * @method: how it was found
 * @interrupted: @ip is exact
 * @sp_is_bound: the stack pointer is not known; it is @sp or further out
 */
struct unwind_user_frame {
	unsigned long			ip;
	unsigned long			sp;
	unsigned long			fp;
	unsigned long			saved_regs;
	unsigned int			word_size;
	enum unwind_user_method		method;
	bool				interrupted;
	bool				sp_is_bound;
};

/* Read an address; its tag is removed */
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
		*word = unwind_user_untag(val64);
	}
	return ret;
}

/* Is @sp the current frame's stack pointer, not only a bound of it? */
static bool sp_known(const struct unwind_user_state *state)
{
	return UNWIND_USER_FP_CFA_EXACT || !state->sp_is_bound;
}

/*
 * Can @cfa be the CFA of the current frame, which is not a signal frame?  The frame holds
 * at least one word, and more if a call has pushed its return address.  Only an interrupted
 * function may have that address in a register (@ra_in_reg): vfork() of C libraries, for
 * example, pops it first.
 */
static bool cfa_valid(const struct unwind_user_state *state, unsigned long cfa,
		      bool ra_in_reg)
{
	unsigned long min = 1;

	if (state->exact_ip)
		min = ra_in_reg ? 0 : UNWIND_USER_CFA_MIN_WORDS;

	min *= state->word_size;
	return cfa >= state->sp && cfa - state->sp >= min &&
	       IS_ALIGNED(cfa, state->word_size);
}

/* The table of the address stays in @state: the next step needs it */
static int lookup_table(struct unwind_user_state *state, unsigned long ip)
{
	int ret;

	if (unwind_table_covers(&state->table, ip))
		return 0;
	ret = unwind_table_lookup(ip, unwind_user_table_access(state), &state->table);
	if (ret && ret != -EFAULT)
		state->unsure = true;
	return ret;
}

/* Is a return address in text? */
static bool is_text(struct unwind_user_state *state, unsigned long ip)
{
	return lookup_table(state, ip) != -EFAULT;
}

/* Replace the return address by the true one, if a uretprobe has changed it */
static bool undo_uretprobe(struct unwind_user_frame *frame)
{
	if (UNWIND_USER_FP_CFA_EXACT || !frame->sp_is_bound)
		return unwind_uretprobe_ra(&frame->ip, frame->sp,
					   frame->word_size);
	return unwind_uretprobe_record_ra(&frame->ip, &frame->sp,
					  unwind_user_untag(frame->fp));
}

/* Can this be the caller's frame? */
static enum unwind_user_stop check_frame(struct unwind_user_state *state,
					 struct unwind_user_frame *frame)
{
	frame->ip = unwind_user_strip_ra(frame->ip);
	if (state->task && !undo_uretprobe(frame))
		return UNWIND_STOP_BAD_FRAME;
	if (!frame->ip)
		return UNWIND_STOP_END_FP;
	if (frame->ip >= TASK_SIZE_MAX)
		return UNWIND_STOP_BAD_FRAME;
	if (!is_text(state, frame->ip - 1))
		return UNWIND_STOP_NOT_TEXT;
	return UNWIND_STOP_NONE;
}

/*
 * Can this be the frame that a signal interrupted?  Its address need not be text: a jump
 * to nowhere may be what caused the signal.
 */
static enum unwind_user_stop check_interrupted(struct unwind_user_state *state,
					       struct unwind_user_frame *frame)
{
	/* The address may be the rest of a signed one that failed authentication */
	frame->ip = unwind_user_strip_ra(frame->ip);
	/* A uretprobe's trampoline can be interrupted anywhere */
	if (state->task)
		unwind_uretprobe_leave(&frame->ip, &frame->sp,
				       frame->word_size);
	return frame->ip < TASK_SIZE_MAX ? UNWIND_STOP_NONE :
					   UNWIND_STOP_BAD_FRAME;
}

/*
 * Without faults, reads of pages that are not resident fail: a trampoline's code, a word
 * that a rule points to, a signal frame, a frame record.  With faults the stack might be
 * another, unless nothing is mapped there.  A second read would not help to decide: a page
 * that is being moved is back soon.
 */
static void note_unread(struct unwind_user_state *state, unsigned long addr)
{
	if (state->access == UNWIND_USER_NOFAULT && unwind_may_be_mapped(addr))
		state->unsure = true;
}

static int read_stack(struct unwind_user_state *state, unsigned long addr,
		      unsigned long *word)
{
	int ret = read_word(state, addr, word);

	if (ret)
		note_unread(state, addr);
	return ret;
}

/*
 * By table
 */

/* A register of an interrupted frame */
static bool known_reg(struct unwind_user_state *state, unsigned int reg,
		      unsigned long *val)
{
	if (state->topmost)
		return unwind_user_reg(state->regs, reg, val);
	if (!state->saved_regs)
		return false;
	switch (unwind_user_saved_reg(state->saved_regs, reg, val)) {
	case 0:
		return true;
	case -EFAULT:
		note_unread(state, state->saved_regs);
		fallthrough;
	default:
		return false;
	}
}

static enum unwind_user_stop rule_base(struct unwind_user_state *state,
				       const struct unwind_rule *rule,
				       unsigned long cfa, unsigned long *base)
{
	switch (rule->base) {
	case UNWIND_RULE_SP:
		*base = state->sp;
		return sp_known(state) ? UNWIND_STOP_NONE :
					 UNWIND_STOP_NO_REGISTER;
	case UNWIND_RULE_FP:
		*base = state->fp;
		return UNWIND_STOP_NONE;
	case UNWIND_RULE_CFA:
		*base = cfa;
		return UNWIND_STOP_NONE;
	case UNWIND_RULE_REG:
		if (!known_reg(state, rule->reg, base))
			return UNWIND_STOP_NO_REGISTER;
		*base = unwind_user_untag(*base);
		return UNWIND_STOP_NONE;
	default:
		return UNWIND_STOP_BAD_TABLE;
	}
}

static enum unwind_user_stop apply_rule(struct unwind_user_state *state,
					const struct unwind_rule *rule,
					unsigned long cfa, unsigned long *val)
{
	enum unwind_user_stop stop;
	unsigned long base, addr;

	stop = rule_base(state, rule, cfa, &base);
	if (stop)
		return stop;

	addr = base + rule->offset;
	if (!rule->deref) {
		*val = addr;
		return UNWIND_STOP_NONE;
	}
	return read_stack(state, addr, val) ? UNWIND_STOP_UNREADABLE :
					      UNWIND_STOP_NONE;
}

/* Does the row place RA and FP as a frame record does? */
static bool row_has_record(const struct unwind_user_state *state,
			   const struct unwind_row *row)
{
	const s64 words = UNWIND_USER_FP_RA_WORDS - UNWIND_USER_FP_FP_WORDS;

	return row->ra.base == UNWIND_RULE_CFA && row->ra.deref &&
	       row->fp.base == UNWIND_RULE_CFA && row->fp.deref &&
	       (s64)row->ra.offset - row->fp.offset == words * state->word_size;
}

static enum unwind_user_stop apply_cfa(struct unwind_user_state *state,
				       const struct unwind_row *row,
				       unsigned long *cfa)
{
	/*
	 * If the stack pointer is not known, use the frame record: the frame
	 * pointer points to it, because this frame made a call, and the row
	 * gives its place in the frame.
	 */
	if (!sp_known(state) && row->cfa.base == UNWIND_RULE_SP &&
	    !row->cfa.deref && row_has_record(state, row)) {
		*cfa = state->fp - UNWIND_USER_FP_FP_WORDS * state->word_size -
		       row->fp.offset;
		return UNWIND_STOP_NONE;
	}
	return apply_rule(state, &row->cfa, 0, cfa);
}

static enum unwind_user_stop apply_ra(struct unwind_user_state *state,
				      const struct unwind_rule *rule,
				      unsigned long cfa, unsigned long *ra)
{
	if (rule->base != UNWIND_RULE_SAME)
		return apply_rule(state, rule, cfa, ra);
	/* Still in the link register */
	if (UNWIND_USER_LINK_REG >= 0 &&
	    known_reg(state, UNWIND_USER_LINK_REG, ra))
		return UNWIND_STOP_NONE;
	return UNWIND_STOP_NO_REGISTER;
}

static enum unwind_user_stop apply_row(struct unwind_user_state *state,
				       const struct unwind_row *row,
				       struct unwind_user_frame *next)
{
	enum unwind_user_stop stop;

	if (row->outermost)
		return UNWIND_STOP_END;

	stop = apply_cfa(state, row, &next->sp);
	if (stop)
		return stop;
	if (!row->signal && !cfa_valid(state, next->sp, !row->ra.deref))
		return UNWIND_STOP_BAD_FRAME;

	stop = apply_ra(state, &row->ra, next->sp, &next->ip);
	if (stop)
		return stop;

	next->fp = state->fp;
	if (row->fp.base != UNWIND_RULE_SAME)
		stop = apply_rule(state, &row->fp, next->sp, &next->fp);
	return stop;
}

/**
 * unwind_user_correct_cfa - correct a row that ignores words pushed before the function
 * @row: as decoded; changed if it is such a row
 *
 * A function saves its return address in its own frame, below the CFA.  If a row places
 * it above, the row counts from the function's entry, and ignores words that were pushed
 * before.  glibc's _dl_runtime_resolve() on arm64 has such rows: the PLT pushes two
 * registers and jumps there when a function is called for the first time.  The caller's
 * stack is above these.  A signal's row describes no call, so it is left alone.
 *
 * Context: any.
 */
void unwind_user_correct_cfa(struct unwind_row *row)
{
	const s32 pushed = 2 * sizeof(u64);

	if (row->outermost || row->signal)
		return;
	if (row->ra.base != UNWIND_RULE_CFA || !row->ra.deref ||
	    row->ra.offset < 0 || row->ra.offset >= pushed)
		return;
	if (row->cfa.deref || row->cfa.offset > S32_MAX - pushed ||
	    row->fp.offset < S32_MIN + pushed)
		return;

	row->cfa.offset += pushed;
	row->ra.offset -= pushed;
	if (row->fp.base == UNWIND_RULE_CFA)
		row->fp.offset -= pushed;
}

static int lookup_row(struct unwind_user_state *state,
		      const struct unwind_kept_row *kept,
		      struct unwind_row *row)
{
	unsigned long ip = unwind_user_lookup_ip(state);
	int ret;

	/* SFrame describes 64-bit programs only */
	if (state->word_size != sizeof(u64) || kept->how & UNWIND_KEPT_NONE)
		return -ENOENT;
	if (kept->how) {
		unwind_rows_unpack(row, kept);
		return 0;
	}

	if (lookup_table(state, ip))
		return -ENOENT;
	if (state->table.format == UNWIND_TABLE_NONE)
		return -ENOENT;
	ret = unwind_user_find_row(state, ip, row);
	/* A row that makes no sense with faults disabled makes none with faults either */
	if (ret && ret != -ENOENT && ret != -EINVAL)
		state->unsure = true;
	if (ret && ret != -ENOENT)
		trace_unwind_entry_invalid(ip, state->table.sframe.start, ret);
	return ret;
}

static enum unwind_user_stop find_row(struct unwind_user_state *state,
				      const struct unwind_kept_row *kept,
				      struct unwind_row *row)
{
	if (!IS_ENABLED(CONFIG_UNWIND_USER_SFRAME))
		return UNWIND_STOP_NO_FRAME;

	switch (lookup_row(state, kept, row)) {
	case 0:
		return UNWIND_STOP_NONE;
	case -EINVAL:
	case -E2BIG:
		return UNWIND_STOP_BAD_TABLE;
	case -EFAULT:
		return UNWIND_STOP_UNREADABLE;
	default:
		return UNWIND_STOP_NO_FRAME;
	}
}

static enum unwind_user_stop next_by_row(struct unwind_user_state *state,
					 const struct unwind_row *row,
					 struct unwind_user_frame *next)
{
	enum unwind_user_stop stop;

	*next = (struct unwind_user_frame){
		.word_size = state->word_size,
		.method = UNWIND_USER_SFRAME,
		.interrupted = row->signal,
	};
	stop = apply_row(state, row, next);
	if (stop)
		return stop;
	return row->signal ? check_interrupted(state, next) :
			     check_frame(state, next);
}

/*
 * By signal frame
 */

static enum unwind_user_stop next_by_signal(struct unwind_user_state *state,
					    struct unwind_user_frame *next)
{
	const struct pt_regs *topmost = state->topmost ? state->regs : NULL;
	struct unwind_user_interrupted to;
	unsigned long sp = state->sp;
	bool found;

	if (UNWIND_USER_SIGNAL_RECORD && !sp_known(state))
		sp = state->fp - UNWIND_USER_SIGNAL_RECORD;
	found = unwind_user_signal_frame(state->ip, sp, topmost,
					 state->saved_regs, state->word_size, &to);
	if (to.unread)
		note_unread(state, to.unread);
	if (!found)
		return UNWIND_STOP_NO_FRAME;
	if (!to.word_size)
		return UNWIND_STOP_UNREADABLE;
	*next = (struct unwind_user_frame){
		.ip = to.ip,
		.sp = to.sp,
		.fp = to.fp,
		.saved_regs = to.regs,
		.word_size = to.word_size,
		.method = UNWIND_USER_SIGNAL,
		.interrupted = true,
	};
	return check_interrupted(state, next);
}

/*
 * By link register
 */

/* Note how many instructions were visited, and which could not be read */
static void note_link(struct unwind_user_state *state,
		      const struct unwind_user_link *link)
{
	state->looked += link->looked;
	if (link->unread)
		note_unread(state, link->unread);
}

/*
 * The function's instructions do not show whether it has a frame record, or has its
 * return address in the link register.  If the link register is right, there is a call
 * before that address that calls the function: check that.
 */
static enum unwind_user_stop find_call(struct unwind_user_state *state,
				       struct unwind_user_link *link)
{
	struct unwind_user_frame caller = {
		.sp = state->sp,
		.fp = state->fp,
		.word_size = state->word_size,
		.sp_is_bound = true,
	};
	int ret;

	if (!known_reg(state, UNWIND_USER_LINK_REG, &caller.ip) ||
	    check_frame(state, &caller))
		return UNWIND_STOP_AMBIGUOUS;
	ret = unwind_user_link_called(state->ip, caller.ip, link);
	note_link(state, link);
	return ret ? UNWIND_STOP_AMBIGUOUS : UNWIND_STOP_NONE;
}

static enum unwind_user_stop look_at_insns(struct unwind_user_state *state,
					   struct unwind_user_link *link)
{
	int ret = unwind_user_link_holds_ra(state->ip, link);

	note_link(state, link);
	if (!ret)
		return UNWIND_STOP_NONE;
	return link->ambiguous ? find_call(state, link) : UNWIND_STOP_NO_FRAME;
}

/*
 * There is no instruction at this address: a mistaken call or jump went there.  The link
 * register has the return address.  A mistaken return is recognized by a link register
 * with the same address; then the frame pointer finds the next frame.
 */
static enum unwind_user_stop find_stray(struct unwind_user_state *state,
					struct unwind_user_link *link)
{
	unsigned long ra;

	*link = (struct unwind_user_link){
		.reg = UNWIND_USER_LINK_REG,
		.sp_known = true,
	};
	if (!known_reg(state, UNWIND_USER_LINK_REG, &ra))
		return UNWIND_STOP_NO_REGISTER;
	return ra && unwind_user_strip_ra(ra) != state->ip ? UNWIND_STOP_NONE :
							     UNWIND_STOP_NO_FRAME;
}

/*
 * Is the return address in the link register?  UNWIND_STOP_NO_FRAME: no, there is a frame
 * record.
 */
static enum unwind_user_stop find_link(struct unwind_user_state *state,
				       const struct unwind_kept_row *kept,
				       struct unwind_user_link *link)
{
	/* The instructions' answer is cached; whether there was a call depends on the register */
	if (kept->how & UNWIND_KEPT_NONE && kept->how & UNWIND_KEPT_NO_LINK)
		return kept->how & UNWIND_KEPT_AMBIGUOUS ? find_call(state, link) :
							   UNWIND_STOP_NO_FRAME;
	if (kept->how & UNWIND_KEPT_NONE && unwind_rows_unpack_link(link, kept->how))
		return UNWIND_STOP_NONE;
	if (!IS_ALIGNED(state->ip, UNWIND_USER_INSN_ALIGN) || !is_text(state, state->ip))
		return find_stray(state, link);
	return look_at_insns(state, link);
}

static enum unwind_user_stop next_by_link(struct unwind_user_state *state,
					  const struct unwind_kept_row *kept,
					  struct unwind_user_frame *next)
{
	struct unwind_user_link link;
	enum unwind_user_stop stop;

	stop = find_link(state, kept, &link);
	if (stop)
		return stop;
	*next = (struct unwind_user_frame){
		.sp = state->sp + link.pushed,
		.fp = state->fp,
		.word_size = state->word_size,
		/* Counts as FP, which is the next method and has found no frame yet */
		.method = UNWIND_USER_FP,
		.sp_is_bound = !link.sp_known,
	};
	if (!known_reg(state, link.reg, &next->ip))
		return UNWIND_STOP_NO_REGISTER;
	if (!cfa_valid(state, next->sp, true))
		return UNWIND_STOP_BAD_FRAME;
	/* If the check fails, the caller is not known: the frame pointer would skip it */
	return check_frame(state, next);
}

/*
 * By frame pointer
 */

static enum unwind_user_stop next_by_fp(struct unwind_user_state *state,
					struct unwind_user_frame *next)
{
	const unsigned int word = state->word_size;
	unsigned long fp = state->fp;
	enum unwind_user_stop stop;

	*next = (struct unwind_user_frame){
		.word_size = word,
		.method = UNWIND_USER_FP,
		.sp_is_bound = !UNWIND_USER_FP_CFA_EXACT,
	};
	if (!fp)
		return UNWIND_STOP_END_FP;
	if (fp < state->sp || !IS_ALIGNED(fp, word))
		return UNWIND_STOP_NO_FRAME;

	next->sp = fp + UNWIND_USER_FP_CFA_WORDS * word;
	if (!cfa_valid(state, next->sp, false))
		return UNWIND_STOP_NO_FRAME;
	if (read_stack(state, fp + UNWIND_USER_FP_RA_WORDS * word, &next->ip) ||
	    read_stack(state, fp + UNWIND_USER_FP_FP_WORDS * word, &next->fp))
		return UNWIND_STOP_UNREADABLE;
	stop = check_frame(state, next);
	/* Then it is no frame record: the register had some other use */
	return stop == UNWIND_STOP_NOT_TEXT || stop == UNWIND_STOP_BAD_FRAME ?
	       UNWIND_STOP_NO_FRAME : stop;
}

/*
 * The frame loop
 */

/* Set instruction and stack pointer to their values without uprobes */
static void undo_uprobes(struct unwind_user_state *state)
{
	state->ip = unwind_uprobe_ip(state->ip);
	unwind_uretprobe_leave(&state->ip, &state->sp, state->word_size);
}

/**
 * unwind_user_start - begin with the topmost frame
 * @state: initialized
 * @regs: registers with which the current task left user space
 * @access: how user memory may be read; with UNWIND_USER_NOFAULT the caller has
 *	disabled page faults
 *
 * Context: any with UNWIND_USER_NOFAULT; else task context that may sleep.
 * Return: 0, or -EINVAL if no stack can start with these registers.
 */
int unwind_user_start(struct unwind_user_state *state, struct pt_regs *regs,
		      enum unwind_user_access access)
{
	int word_size;

	*state = (struct unwind_user_state){
		.regs = regs,
		.access = access,
		/* In other contexts, the list of uretprobes may be halfway changed */
		.task = in_task(),
		.topmost = true,
		.exact_ip = true,
	};
	if (!user_mode(regs))
		return -EINVAL;
	word_size = unwind_user_word_size(regs);
	if (word_size < 0)
		return word_size;
	state->word_size = word_size;

	state->rows = unwind_table_rows(current->mm);
	state->ip = unwind_user_strip_ra(instruction_pointer(regs));
	state->sp = unwind_user_untag(user_stack_pointer(regs));
	state->fp = unwind_user_untag(frame_pointer(regs));
	if (state->task && word_size)
		undo_uprobes(state);
	state->probed = state->task && unwind_uprobed();
	return 0;
}

/*
 * Does the function return to code that begins like a signal's trampoline?  A trampoline
 * right after a function gets the function's last row, because the lookup takes ip - 1.
 */
static bool may_be_trampoline(struct unwind_user_state *state,
			      const struct unwind_row *row)
{
	u32 insns;

	if (!row->at_end || state->exact_ip)
		return false;
	if (!unwind_read_u32(&insns, state->ip))
		return unwind_user_maybe_trampoline(insns);
	note_unread(state, state->ip);
	return false;
}

/* Try a signal's frame if there can be one; UNWIND_STOP_NO_FRAME if there is none */
static enum unwind_user_stop try_signal(struct unwind_user_state *state,
					const struct unwind_row *row,
					struct unwind_user_frame *next)
{
	enum unwind_user_stop stop;

	if (row && !row->signal && !may_be_trampoline(state, row))
		return UNWIND_STOP_NO_FRAME;
	stop = next_by_signal(state, next);
	/* The row's function may have made the call that returns there */
	if (row && !row->signal)
		return stop == UNWIND_STOP_UNREADABLE ? UNWIND_STOP_NO_FRAME : stop;
	/* If a signal frame has a frame record, that record skips the interrupted frame */
	return UNWIND_USER_SIGNAL_RECORD || !stop ? stop : UNWIND_STOP_NO_FRAME;
}

static enum unwind_user_stop next_frame(struct unwind_user_state *state,
					const struct unwind_kept_row *kept,
					struct unwind_user_frame *next)
{
	enum unwind_user_stop stop, other;
	struct unwind_row row;

	/* Frames of this kind of program cannot be found */
	if (!state->word_size)
		return UNWIND_STOP_NO_FRAME;
	stop = find_row(state, kept, &row);
	if (!stop || stop == UNWIND_STOP_NO_FRAME) {
		other = try_signal(state, stop ? NULL : &row, next);
		if (other != UNWIND_STOP_NO_FRAME)
			return other;
	}
	if (!stop) {
		stop = next_by_row(state, &row, next);
		/*
		 * A function whose frame is found by another register aligns
		 * its stack.  Its frame pointer leads to a copy of the return
		 * address, and the caller's stack is not there.
		 */
		if (!stop || stop == UNWIND_STOP_END ||
		    stop == UNWIND_STOP_END_FP ||
		    stop == UNWIND_STOP_NO_REGISTER)
			return stop;
	}
	/* Before its function has a frame record, the frame pointer would skip the caller */
	other = UNWIND_STOP_NO_FRAME;
	if (UNWIND_USER_LINK_REG >= 0 && state->exact_ip)
		other = next_by_link(state, kept, next);
	if (other == UNWIND_STOP_NO_FRAME)
		other = next_by_fp(state, next);
	/* A fault of the table is a better reason than a missing frame pointer */
	return other && stop != UNWIND_STOP_NO_FRAME ? stop : other;
}

/* Move to the caller's frame; @kept is the current frame's cached rule, if known */
static int step(struct unwind_user_state *state,
		const struct unwind_kept_row *kept)
{
	struct unwind_user_frame next;

	state->stop = next_frame(state, kept, &next);
	if (state->stop)
		return -ENOENT;

	state->ip = next.ip;
	state->sp = next.sp;
	state->fp = next.fp;
	state->saved_regs = next.saved_regs;
	state->word_size = next.word_size;
	state->method = next.method;
	state->by_table |= next.method == UNWIND_USER_SFRAME;
	state->topmost = false;
	state->exact_ip = next.interrupted;
	if (!UNWIND_USER_FP_CFA_EXACT)
		state->sp_is_bound = next.sp_is_bound;
	return 0;
}

/**
 * unwind_user_next - move to the caller's frame
 * @state: the current frame
 *
 * Context: as unwind_user_start().
 * Return: 0, or -ENOENT if there is no further frame; @state->stop then has the reason.
 */
int unwind_user_next(struct unwind_user_state *state)
{
	struct unwind_kept_row kept;

	if (state->stop)
		return -ENOENT;
	/* Without room, this finds the rule of the current frame and takes no step */
	unwind_user_walk(state, &kept, NULL, 0);
	return step(state, &kept);
}

/**
 * unwind_user_next_frames - move through all ordinary frames, and one more
 * @state: the current frame
 * @ips: filled in: the addresses of the frames after the current one
 * @room: for how many of them, at least 1
 *
 * Context: as unwind_user_start().
 * Return: the number of addresses; 0 only if the stack has ended, and @state->stop has
 * the reason.  A number below @room does not mean that it has.
 */
unsigned int unwind_user_next_frames(struct unwind_user_state *state,
				     unsigned long *ips, unsigned int room)
{
	struct unwind_kept_row kept;
	unsigned int nr;

	if (state->stop)
		return 0;
	nr = unwind_user_walk(state, &kept, ips, room);
	if (nr == room || step(state, &kept))
		return nr;
	ips[nr] = state->ip;
	return nr + 1;
}

static noinline void trace_stop(const struct unwind_user_state *state,
				unsigned int nr)
{
	/* A return address may lie after the end of its object: look up the call */
	const unsigned int back = state->exact_ip ? 0 : 1;
	char object[OBJECT_NAME_MAX] = "";
	u64 offset = 0;

	if (state->access == UNWIND_USER_FAULTABLE)
		offset = unwind_text_name(state->ip - back, object,
					  sizeof(object)) + back;
	trace_unwind_stop(state->ip, nr, state->method, state->stop, object,
			  offset);
}

static void report_stop(const struct unwind_user_state *state, unsigned int nr)
{
	unwind_count_stop(state->stop);
	unwind_count_frames(nr);
	if (trace_unwind_stop_enabled())
		trace_stop(state, nr);
}

/**
 * unwind_user_frames - unwind from the current frame to the end
 * @state: set up by unwind_user_start()
 * @trace: filled in
 * @max: room in @trace, at least 1
 *
 * Context: as unwind_user_start().
 */
void unwind_user_frames(struct unwind_user_state *state,
			struct unwind_stacktrace *trace, unsigned int max)
{
	struct unwind_kept_row kept;
	unsigned int nr = 0;

	do {
		if (nr == max) {
			state->stop = UNWIND_STOP_LIMIT;
			break;
		}
		trace->entries[nr++] = state->ip;
		nr += unwind_user_walk(state, &kept, &trace->entries[nr],
				       max - nr);
		unwind_user_resched(state);
	} while (!step(state, &kept));

	trace->nr = nr;
	report_stop(state, trace->nr);
}

/**
 * unwind_user - take the current task's user stack
 * @trace: @trace->entries has room for @max addresses; @trace->nr is set
 * @max: limit on the number of frames
 * @access: UNWIND_USER_FAULTABLE or UNWIND_USER_NOFAULT, no other
 *
 * The stack is the program's as it entered the kernel, or, if the task is on its way
 * out, as it will continue.  The tracepoint unwind:unwind_stop reports where and why
 * the stack ends.
 *
 * Outside of task context, the return addresses that uretprobes have replaced are not
 * looked up: such an address is their trampoline's.
 *
 * Context: any with UNWIND_USER_NOFAULT; else task context that may sleep,
 * without the mmap lock.
 * Return: 0, with at least one frame; -EINVAL if the current task has no user
 * stack, or @access is neither of the two; -EFAULT if its memory cannot be reached
 * from here.
 */
int unwind_user(struct unwind_stacktrace *trace, unsigned int max,
		enum unwind_user_access access)
{
	struct unwind_user_state state;
	int ret;

	trace->nr = 0;
	if (!max || !unwind_user_has_stack(current) ||
	    access > UNWIND_USER_NOFAULT)
		return -EINVAL;

	if (access == UNWIND_USER_FAULTABLE) {
		might_fault();
		if (unwind_user_start(&state, task_pt_regs(current), access))
			return -EINVAL;
		unwind_user_frames(&state, trace, max);
		return 0;
	}

	if (!unwind_user_uaccess_okay())
		return -EFAULT;
	pagefault_disable();
	ret = unwind_user_start(&state, task_pt_regs(current), access);
	if (!ret)
		unwind_user_frames(&state, trace, max);
	pagefault_enable();
	return ret;
}
EXPORT_SYMBOL_GPL(unwind_user);
