// SPDX-License-Identifier: GPL-2.0
/*
 * From one frame of the current task's user stack to its caller's, by the first method
 * that finds it:
 *
 *   1. the rule of a table, struct unwind_frame_rule
 *   2. a signal's frame: before 1 if the address may be a trampoline
 *   3. for an interrupted function, its instructions: they show that the return address is
 *	in the link register (arm64), or how far up the stack it is (x86)
 *   4. the frame pointer, after a call
 *
 * A frame is an instruction pointer, a stack pointer and a frame pointer.  The method is
 * chosen per frame: one stack can mix objects with and without tables.
 *
 * A return address may already belong to the next function or rule.  So the lookup
 * takes ip - 1, except for interrupted frames, whose addresses are exact.
 *
 * Nothing here waits.  A step that needs a page, a table or a lock notes that in the state
 * (unwind_walk_need()) and is not taken; it can be tried again.
 *
 * The stack is hostile.  Documentation/core-api/unwind-walk.rst describes each method,
 * and lists the guarantees that hold nevertheless.
 */

#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/unwind_stack.h>
#include <asm/syscall.h>
#include <asm/unwind_arch.h>
#include <trace/events/unwind.h>

#include "mapping.h"
#include "memory.h"
#include "record.h"
#include "rule.h"
#include "sframe_table.h"
#include "uprobe.h"
#include "walk.h"

/**
 * struct unwind_walk_frame - a caller's frame, as a method finds it
 * @ip: its return address, or the interrupted instruction
 * @sp: its stack pointer
 * @fp: its frame pointer
 * @saved_regs: as in &struct unwind_walk_state
 * @word_size: as in &struct unwind_walk_state
 * @method: how it was found
 * @interrupted: @ip is exact
 * @sp_is_bound: the stack pointer is not known; it is @sp or further out
 */
struct unwind_walk_frame {
	unsigned long			ip;
	unsigned long			sp;
	unsigned long			fp;
	unsigned long			saved_regs;
	unsigned int			word_size;
	enum unwind_method		method;
	bool				interrupted;
	bool				sp_is_bound;
};

/* Is @sp the current frame's stack pointer, not only a bound of it? */
static bool sp_known(const struct unwind_walk_state *state)
{
	return UNWIND_ARCH_FP_CFA_EXACT || !state->sp_is_bound;
}

/*
 * Can @cfa be the CFA of the current frame, which is not a signal frame?  The frame holds
 * at least one word, and more if a call has pushed its return address.  Only an interrupted
 * function may have that address in a register (@ra_in_reg): vfork() of C libraries, for
 * example, pops it first.
 *
 * A program may have its stack at any address, but calls and frames move it by words.
 *
 * A function may also make its call on another stack, which lies above its own.  Then the
 * CFA by its rule is further in.  It has to be below all frames since the last signal: without
 * one, the unwind cannot go round in a circle.  check_frame() asks for more.  An interrupted
 * function's CFA is never further in: __builtin_longjmp() sets the stack pointer first, and
 * the old frame pointer would lead to a frame that has ended.
 */
static bool cfa_valid(const struct unwind_walk_state *state, unsigned long cfa,
		      bool ra_in_reg)
{
	unsigned long min = 1;

	if (state->interrupted)
		min = ra_in_reg ? 0 : UNWIND_ARCH_CFA_MIN_WORDS;

	if (!IS_ALIGNED(cfa, state->word_size) && !IS_ALIGNED(cfa - state->sp, state->word_size))
		return false;
	return (cfa < state->lowest && !state->interrupted) ||
	       (cfa >= state->sp && cfa - state->sp >= min * state->word_size);
}

/*
 * Is a return address in text?  If a writer holds the mmap lock, this is not known yet: return
 * true and note the need for the lock, so that the step is not taken.
 */
static bool is_text(struct unwind_walk_state *state, unsigned long ip)
{
	const struct unwind_mapping *map = unwind_walk_map(state, ip);

	if (map == ERR_PTR(-EBUSY))
		unwind_walk_need(state, UNWIND_NEED_LOCK, ip);
	return map != ERR_PTR(-EFAULT);
}

/*
 * A word at @addr could not be read: @need is UNWIND_NEED_PAGE, or UNWIND_NEED_CODE for
 * instructions, which may be in the page cache without being mapped.  If its page can be
 * brought in, note that need, and do not take the step: without the word it could find another
 * stack, or none.  @beside is 0, or an address that must be in the same mapping.
 *
 * If it cannot, the step goes on without the word: each read that fails is charged.
 */
static void note_unread(struct unwind_walk_state *state, enum unwind_need need,
			unsigned long addr, unsigned long beside)
{
	int may;

	state->budget -= min(state->budget, UNWIND_UNREAD_COST);
	if (state->no_pages || state->need)
		return;
	may = unwind_may_fault_in(addr, beside, state->locked);
	if (!may)
		return;
	unwind_walk_need(state, may < 0 ? UNWIND_NEED_LOCK : need, addr);
	state->need_beside = beside;
}

/* Replace the return address by the true one, if a uretprobe has changed it */
static bool undo_uretprobe(struct unwind_walk_frame *frame)
{
	if (UNWIND_ARCH_FP_CFA_EXACT || !frame->sp_is_bound)
		return unwind_uretprobe_ra(&frame->ip, frame->sp,
					   frame->word_size);
	return unwind_uretprobe_record_ra(&frame->ip, &frame->sp,
					  unwind_arch_untag(frame->fp));
}

/*
 * Is there a call before a return address?  A coroutine's first function, for example, was
 * never called: its return address is made up, and the frame pointer belongs to another
 * stack.  -EFAULT means that the code cannot be read, so there may be a call.
 */
static int call_before(struct unwind_walk_state *state, unsigned long ra)
{
	const unsigned long before = ra - sizeof(u64);
	u64 code;

	if (unwind_read_code(code, (const u64 __user *)before, state->code))
		return unwind_arch_follows_call(code);
	note_unread(state, UNWIND_NEED_CODE, before, 0);
	return -EFAULT;
}

/* Can this be the caller's frame? */
static enum unwind_stop_reason check_frame(struct unwind_walk_state *state,
					   struct unwind_walk_frame *frame)
{
	const bool further_in = frame->sp < state->sp;

	frame->ip = unwind_arch_strip_ra(frame->ip);
	if (IS_ENABLED(CONFIG_UPROBES) && state->probed && !undo_uretprobe(frame))
		return UNWIND_STOP_BAD_FRAME;
	if (!frame->ip)
		return further_in ? UNWIND_STOP_BAD_FRAME : UNWIND_STOP_END_FP;
	/* A coroutine's first function does not return, so the value there may be anything */
	if (frame->ip >= TASK_SIZE_MAX || !is_text(state, frame->ip - 1))
		return further_in ? UNWIND_STOP_BAD_FRAME : UNWIND_STOP_NOT_TEXT;
	/* A frame further in is on another stack, or is not a frame: require a call */
	if (further_in && call_before(state, frame->ip) <= 0)
		return UNWIND_STOP_BAD_FRAME;
	return UNWIND_STOP_NONE;
}

/*
 * Can this be the frame that a signal interrupted?  Its address need not be text: a jump
 * to nowhere may be what caused the signal.
 */
static enum unwind_stop_reason check_interrupted(struct unwind_walk_state *state,
						 struct unwind_walk_frame *frame)
{
	const u32 cost = UNWIND_UPROBE_LEAVE_READS * UNWIND_UNREAD_COST;
	unsigned long unread;

	state->budget -= min(state->budget, cost);
	/* The address may be the rest of a signed one that failed authentication */
	frame->ip = unwind_arch_strip_ra(frame->ip);
	/* The code of uprobes and uretprobes can be interrupted anywhere */
	unread = unwind_uprobe_leave(&frame->ip, &frame->sp, frame->word_size);
	if (IS_ENABLED(CONFIG_UPROBES) && state->probed && !unread)
		unread = unwind_uretprobe_leave(&frame->ip, &frame->sp, frame->word_size);
	if (unread)
		note_unread(state, UNWIND_NEED_PAGE, unread, 0);
	return frame->ip < TASK_SIZE_MAX ? UNWIND_STOP_NONE :
					   UNWIND_STOP_BAD_FRAME;
}

/* Read an address, without its tag, from memory; @beside as for note_unread() */
static int read_memory(struct unwind_walk_state *state, unsigned long addr,
		       unsigned long beside, unsigned long *word)
{
	u64 val64 = 0;
	u32 val32 = 0;
	int ret;

	if (state->word_size == sizeof(u32)) {
		ret = unwind_get_user(val32, (const u32 __user *)addr);
		*word = val32;
	} else {
		ret = unwind_get_user(val64, (const u64 __user *)addr);
		*word = unwind_arch_untag(val64);
	}
	if (ret)
		note_unread(state, UNWIND_NEED_PAGE, addr, beside);
	return ret;
}

/*
 * By table
 */

/* The value of a lost frame pointer: not aligned, so it never points to a record */
#define FP_LOST		1UL

/* A register of an interrupted frame */
static bool known_reg(struct unwind_walk_state *state, unsigned int reg,
		      unsigned long *val)
{
	unsigned long at;

	if (state->topmost)
		return unwind_arch_reg(state->regs, reg, val);
	if (!state->saved_regs)
		return false;
	switch (unwind_arch_saved_reg(state->saved_regs, reg, val, &at)) {
	case 0:
		return true;
	case -EFAULT:
		note_unread(state, UNWIND_NEED_PAGE, at, 0);
		fallthrough;
	default:
		return false;
	}
}

static enum unwind_stop_reason rule_base(struct unwind_walk_state *state,
					 const struct unwind_reg_rule *rule,
					 unsigned long cfa, unsigned long *base)
{
	switch (rule->base) {
	case UNWIND_RULE_SP:
		*base = state->sp;
		return sp_known(state) ? UNWIND_STOP_NONE :
					 UNWIND_STOP_NO_REGISTER;
	case UNWIND_RULE_FP:
		*base = state->fp;
		return state->fp == FP_LOST ? UNWIND_STOP_NO_REGISTER : UNWIND_STOP_NONE;
	case UNWIND_RULE_CFA:
		*base = cfa;
		return UNWIND_STOP_NONE;
	case UNWIND_RULE_REG:
		if (!known_reg(state, rule->reg, base))
			return UNWIND_STOP_NO_REGISTER;
		*base = unwind_arch_untag(*base);
		return UNWIND_STOP_NONE;
	default:
		return UNWIND_STOP_BAD_TABLE;
	}
}

static enum unwind_stop_reason apply_rule(struct unwind_walk_state *state,
					  const struct unwind_reg_rule *rule,
					  unsigned long cfa, unsigned long *val)
{
	enum unwind_stop_reason stop;
	unsigned long base, addr;

	stop = rule_base(state, rule, cfa, &base);
	if (stop)
		return stop;

	addr = base + rule->offset;
	if (!rule->deref) {
		*val = addr;
		return UNWIND_STOP_NONE;
	}
	return read_memory(state, addr, 0, val) ? UNWIND_STOP_UNREADABLE :
						  UNWIND_STOP_NONE;
}

/* Does the rule place RA and FP as a frame record does? */
static bool rule_has_record(const struct unwind_walk_state *state,
			    const struct unwind_frame_rule *rule)
{
	const s64 words = UNWIND_ARCH_FP_RA_WORDS - UNWIND_ARCH_FP_FP_WORDS;

	return rule->ra.base == UNWIND_RULE_CFA && rule->ra.deref &&
	       rule->fp.base == UNWIND_RULE_CFA && rule->fp.deref &&
	       (s64)rule->ra.offset - rule->fp.offset == words * state->word_size;
}

/*
 * The stack pointer is not known, but the rule gives the place of a frame record in the frame.
 * If the frame pointer points to that, the CFA is known.
 */
static enum unwind_stop_reason cfa_by_record(struct unwind_walk_state *state,
					     const struct unwind_frame_rule *rule,
					     unsigned long *cfa)
{
	const unsigned long addr = unwind_walk_lookup_ip(state);
	const struct unwind_mapping *map = unwind_walk_map(state, addr);
	struct unwind_arch_caller insns = {
		.left = state->budget,
		.code = state->code,
	};
	bool own;

	if (IS_ERR(map) || !map->table)
		return UNWIND_STOP_NO_REGISTER;
	own = unwind_record_is_own(map->table, map->origin, addr, &insns);
	state->budget = insns.left;
	if (!own && insns.unread)
		note_unread(state, UNWIND_NEED_CODE, insns.unread, 0);
	else if (!own && !insns.left)
		return UNWIND_STOP_LIMIT;
	*cfa = state->fp - UNWIND_ARCH_FP_FP_WORDS * state->word_size - rule->fp.offset;
	return own ? UNWIND_STOP_NONE : UNWIND_STOP_NO_REGISTER;
}

/*
 * The CFA, or an address near it, was saved in the frame, as OpenSSL's assembly does: in a
 * fixed slot, or after an array whose length is in a register.
 */
static enum unwind_stop_reason apply_cfa_sum(struct unwind_walk_state *state,
					     const struct unwind_frame_rule *rule,
					     unsigned long *cfa)
{
	enum unwind_stop_reason stop;
	unsigned long addr, index;

	stop = rule_base(state, &rule->cfa, 0, &addr);
	if (stop)
		return stop;
	addr += rule->cfa.offset;
	if (rule->cfa_scale) {
		if (!known_reg(state, rule->cfa_index, &index))
			return UNWIND_STOP_NO_REGISTER;
		addr += index * rule->cfa_scale;
	}
	if (read_memory(state, addr, 0, cfa))
		return UNWIND_STOP_UNREADABLE;
	*cfa += rule->cfa_addend;
	return UNWIND_STOP_NONE;
}

/*
 * Can the CFA be taken from a register, although the function has called another one?  The
 * rule is in force at the return address, too, so the callee must preserve the register;
 * OpenSSL's assembly relies on that with functions of its own.  If the callee is the topmost
 * frame, and has only its return address on the stack, it cannot have saved the register
 * there: the register still has its value.  This requires that the callee was interrupted,
 * because a system call may use the register for an argument.  next_by_rule() also requires a
 * call before the return address.
 */
static bool cfa_kept(const struct unwind_walk_state *state,
		     const struct unwind_frame_rule *rule)
{
	const unsigned long top = unwind_arch_untag(user_stack_pointer(state->regs));

	return UNWIND_ARCH_LINK_REG < 0 && rule->cfa.base == UNWIND_RULE_REG &&
	       !rule->cfa.deref && !rule->signal && !rule->outermost && !rule->at_end &&
	       !state->topmost && !state->interrupted && !state->has_rule &&
	       state->sp == top + sizeof(u64) && syscall_get_nr(current, state->regs) == -1;
}

static enum unwind_stop_reason apply_cfa(struct unwind_walk_state *state,
					 const struct unwind_frame_rule *rule,
					 unsigned long *cfa)
{
	unsigned long reg;

	if (rule->cfa_scale || rule->cfa_addend)
		return apply_cfa_sum(state, rule, cfa);
	if (cfa_kept(state, rule) && unwind_arch_reg(state->regs, rule->cfa.reg, &reg)) {
		*cfa = unwind_arch_untag(reg) + rule->cfa.offset;
		return *cfa > state->sp ? UNWIND_STOP_NONE : UNWIND_STOP_NO_REGISTER;
	}
	if (!sp_known(state) && rule->cfa.base == UNWIND_RULE_SP &&
	    !rule->cfa.deref && rule_has_record(state, rule))
		return cfa_by_record(state, rule, cfa);
	return apply_rule(state, &rule->cfa, 0, cfa);
}

static enum unwind_stop_reason apply_ra(struct unwind_walk_state *state,
					const struct unwind_reg_rule *rule,
					unsigned long cfa, unsigned long *ra)
{
	if (rule->base != UNWIND_RULE_SAME)
		return apply_rule(state, rule, cfa, ra);
	/* Still in the link register */
	if (UNWIND_ARCH_LINK_REG >= 0 &&
	    known_reg(state, UNWIND_ARCH_LINK_REG, ra))
		return UNWIND_STOP_NONE;
	return UNWIND_STOP_NO_REGISTER;
}

static enum unwind_stop_reason apply_frame_rule(struct unwind_walk_state *state,
						const struct unwind_frame_rule *rule,
						struct unwind_walk_frame *next)
{
	enum unwind_stop_reason stop;

	if (rule->outermost)
		return UNWIND_STOP_END;

	stop = apply_cfa(state, rule, &next->sp);
	if (stop)
		return stop;
	if (!rule->signal && !cfa_valid(state, next->sp, !rule->ra.deref))
		return UNWIND_STOP_BAD_FRAME;

	stop = apply_ra(state, &rule->ra, next->sp, &next->ip);
	if (stop)
		return stop;

	next->fp = state->fp;
	if (rule->fp.base == UNWIND_RULE_SAME)
		return UNWIND_STOP_NONE;
	stop = apply_rule(state, &rule->fp, next->sp, &next->fp);
	if (stop != UNWIND_STOP_NO_REGISTER || state->need)
		return stop;
	/* The caller's rule may not need it */
	next->fp = FP_LOST;
	return UNWIND_STOP_NONE;
}

/*
 * A function saves its return address in its own frame, below the CFA.  If a rule places
 * it above, the rule counts from the function's entry, and ignores words that were pushed
 * before.  glibc's _dl_runtime_resolve() on arm64 has such rules: the PLT pushes two
 * registers and jumps there when a function is called for the first time.  The caller's
 * stack is above these.  A signal's rule describes no call, so it is left alone.
 */
static void correct_cfa(struct unwind_frame_rule *rule)
{
	const s32 pushed = 2 * sizeof(u64);

	if (rule->outermost || rule->signal)
		return;
	if (rule->ra.base != UNWIND_RULE_CFA || !rule->ra.deref ||
	    rule->ra.offset < 0 || rule->ra.offset >= pushed)
		return;
	if (rule->cfa.deref || rule->cfa.offset > S32_MAX - pushed ||
	    rule->fp.offset < S32_MIN + pushed)
		return;

	rule->cfa.offset += pushed;
	rule->ra.offset -= pushed;
	if (rule->fp.base == UNWIND_RULE_CFA)
		rule->fp.offset -= pushed;
}

/**
 * unwind_walk_dropped_word - is a rule wrong that counts one word on the stack?
 * @state: the current frame, which was interrupted
 *
 * gcc's return thunk (-mfunction-return=thunk) calls its own end, which drops the return
 * address of that call, and returns.  The unwind information of its last instruction still
 * counts the dropped word.  It would lead past the return address to a word of the caller.
 *
 * Context: as unwind_walk_frames().
 * Return: 1 or 0; -EFAULT the instructions cannot be read.
 */
int unwind_walk_dropped_word(struct unwind_walk_state *state)
{
	const unsigned long from = state->ip + 1 - sizeof(u64);
	u64 code;

	if (unwind_read_code(code, (const u64 __user *)from, state->code))
		return unwind_arch_dropped_word(code);
	return -EFAULT;
}

/*
 * gcc's thunk of indirect branches has the same instructions and a right rule: there, the first
 * word is the target of the branch, which need not follow a call; a return address does.
 */
static void correct_dropped(struct unwind_walk_state *state, struct unwind_frame_rule *rule)
{
	const s32 word = sizeof(u64);
	unsigned long ra;
	int dropped;

	if (rule->outermost || rule->signal || rule->cfa.base != UNWIND_RULE_SP ||
	    rule->cfa.deref || rule->cfa.offset != 2 * word)
		return;
	if (rule->fp.base != UNWIND_RULE_SAME)
		return;
	dropped = unwind_walk_dropped_word(state);
	if (dropped < 0)
		note_unread(state, UNWIND_NEED_CODE, state->ip + 1 - sizeof(u64), 0);
	if (dropped > 0 && !read_memory(state, state->sp, 0, &ra) && call_before(state, ra) > 0)
		rule->cfa.offset = word;
}

/*
 * The rule from the table of the address; @rule->at_end is set if it may end there.  -ENXIO:
 * the table has none; -ENOENT: there is no table.
 */
static int lookup_rule(struct unwind_walk_state *state, struct unwind_frame_rule *rule)
{
	const unsigned long ip = unwind_walk_lookup_ip(state);
	const struct unwind_mapping *map;
	bool edge;
	u64 packed;
	int ret;

	/* SFrame describes 64-bit programs only */
	if (state->word_size != sizeof(u64))
		return -ENOENT;

	map = unwind_walk_map(state, ip);
	ret = PTR_ERR_OR_ZERO(map);
	switch (ret) {
	case 0:
		break;
	case -ENODATA:
		unwind_walk_need(state, UNWIND_NEED_TABLE, ip);
		return ret;
	case -EBUSY:
		unwind_walk_need(state, UNWIND_NEED_LOCK, ip);
		return ret;
	case -EREMOTE:
		if (!state->has_rule)
			unwind_walk_need(state, UNWIND_NEED_RULE, ip);
		*rule = state->rule;
		return state->has_rule ? state->rule_error : ret;
	default:
		return -ENOENT;
	}
	if (!map->table)
		return map->pending ? -EINPROGRESS : -ENOENT;
	packed = sframe_table_find_edge(map->table, ip - map->origin, &edge);
	ret = sframe_table_rule(map->table, packed, rule);
	rule->at_end = edge;
	if (ret == -ENOENT && sframe_table_describes_around(map->table, ip - map->origin))
		return -ENXIO;
	return ret;
}

static enum unwind_stop_reason find_rule(struct unwind_walk_state *state,
					 struct unwind_frame_rule *rule)
{
	int ret;

	if (!IS_ENABLED(CONFIG_UNWIND_USER_SFRAME))
		return UNWIND_STOP_NO_FRAME;

	ret = lookup_rule(state, rule);
	switch (ret) {
	case 0:
		if (UNWIND_ARCH_LINK_REG >= 0)
			correct_cfa(rule);
		else if (state->interrupted)
			correct_dropped(state, rule);
		return UNWIND_STOP_NONE;
	case -ENOENT:
		return UNWIND_STOP_NO_FRAME;
	case -ENXIO:
		return UNWIND_STOP_NO_RULE;
	case -EINPROGRESS:
		return UNWIND_STOP_NOT_LOADED;
	default:
		if (!state->need)
			trace_unwind_entry_invalid(unwind_walk_lookup_ip(state), ret);
		return ret == -EFAULT ? UNWIND_STOP_UNREADABLE : UNWIND_STOP_BAD_TABLE;
	}
}

static enum unwind_stop_reason next_by_rule(struct unwind_walk_state *state,
					    const struct unwind_frame_rule *rule,
					    struct unwind_walk_frame *next)
{
	enum unwind_stop_reason stop;

	*next = (struct unwind_walk_frame){
		.word_size = state->word_size,
		.method = UNWIND_METHOD_SFRAME,
		.interrupted = rule->signal,
	};
	stop = apply_frame_rule(state, rule, next);
	/* A frame further in must be readable: the rule was wrong */
	if (stop == UNWIND_STOP_UNREADABLE && next->sp && next->sp < state->sp)
		return UNWIND_STOP_BAD_FRAME;
	if (stop)
		return stop;
	if (rule->signal)
		return check_interrupted(state, next);
	stop = check_frame(state, next);
	if (!stop && cfa_kept(state, rule) && call_before(state, next->ip) <= 0)
		return UNWIND_STOP_NO_REGISTER;
	return stop;
}

/*
 * By signal frame
 */

/* Upper bound of the size of a trampoline; reads beyond it are reads of the signal frame */
#define TRAMPOLINE_MAX	16

static enum unwind_stop_reason next_by_signal(struct unwind_walk_state *state,
					      struct unwind_walk_frame *next)
{
	const struct pt_regs *topmost = state->topmost ? state->regs : NULL;
	struct unwind_arch_interrupted to = { .code = state->code };
	unsigned long sp = state->sp;
	bool found;

	if (UNWIND_ARCH_SIGNAL_RECORD && !sp_known(state))
		sp = state->fp - UNWIND_ARCH_SIGNAL_RECORD;
	found = unwind_arch_signal_frame(state->ip, sp, topmost,
					 state->saved_regs, state->word_size, &to);
	if (to.unread)
		note_unread(state, to.unread - state->ip < TRAMPOLINE_MAX ? UNWIND_NEED_CODE :
			    UNWIND_NEED_PAGE, to.unread, 0);
	if (!found)
		return UNWIND_STOP_NO_FRAME;
	if (!to.word_size)
		return UNWIND_STOP_UNREADABLE;
	*next = (struct unwind_walk_frame){
		.ip = to.ip,
		.sp = to.sp,
		.fp = to.fp,
		.saved_regs = to.regs,
		.word_size = to.word_size,
		.method = UNWIND_METHOD_SIGNAL,
		.interrupted = true,
	};
	return check_interrupted(state, next);
}

/*
 * By instructions
 */

/*
 * @described: the object has a table, but no rule for this function.  Then it is probably
 * assembly: a frame record is assumed only if its instructions prove one.
 */
static enum unwind_stop_reason next_by_insns(struct unwind_walk_state *state, bool described,
					     struct unwind_walk_frame *next)
{
	const enum unwind_stop_reason unknown = described ? UNWIND_STOP_NO_RULE :
							  UNWIND_STOP_NO_FRAME;
	/* If @ip is not text, a stray call has led there: only that call has changed the stack */
	struct unwind_arch_caller at = {
		.cfa = UNWIND_ARCH_CFA_MIN_WORDS * sizeof(u64),
		.ra_in_link = UNWIND_ARCH_LINK_REG >= 0,
		.sp_known = true,
		.left = state->budget,
		.code = state->code,
	};
	enum unwind_stop_reason stop;
	bool stray;
	int ret = 0;

	if (state->word_size != sizeof(u64))
		return UNWIND_STOP_NO_FRAME;
	stray = !IS_ALIGNED(state->ip, UNWIND_ARCH_INSN_ALIGN) || !is_text(state, state->ip);
	if (!stray)
		ret = unwind_arch_find_caller(state->ip, &at);
	state->budget = at.left;
	if (!at.left)
		return UNWIND_STOP_LIMIT;
	if (at.unread)
		note_unread(state, UNWIND_NEED_CODE, at.unread, 0);
	if (ret)
		return ret == -EEXIST ? UNWIND_STOP_NO_FRAME : unknown;

	*next = (struct unwind_walk_frame){
		.sp = state->sp + at.cfa,
		.fp = state->fp,
		.word_size = state->word_size,
		/* Reported as FP: instructions have no method of their own */
		.method = UNWIND_METHOD_FP,
		.sp_is_bound = !at.sp_known,
	};
	if (!cfa_valid(state, next->sp, at.ra_in_link))
		return UNWIND_STOP_BAD_FRAME;
	if (at.ra_in_link && !known_reg(state, UNWIND_ARCH_LINK_REG, &next->ip))
		return UNWIND_STOP_NO_REGISTER;
	if ((!at.ra_in_link && read_memory(state, state->sp + at.ra, 0, &next->ip)) ||
	    (at.fp_saved && read_memory(state, state->sp + at.fp, 0, &next->fp)))
		return UNWIND_STOP_UNREADABLE;
	stop = check_frame(state, next);
	if (!stop && call_before(state, next->ip))
		return UNWIND_STOP_NONE;
	/* No call is before the return address: a stray jump, or a coroutine that just started */
	return stop && !stray ? stop : unknown;
}

/*
 * By frame pointer
 */

/*
 * Does a frame pointer below the stack pointer belong to another stack, from which the
 * current function was called?  In the same mapping, it leads to frames that have ended.
 * @end is set to the end of the other stack's mapping.
 */
static bool on_other_stack(struct unwind_walk_state *state, unsigned long *end)
{
	int ret;

	if (state->interrupted)
		return false;
	/* The stack pointer may be the end of its mapping; the byte below is on the stack */
	ret = unwind_other_stack(state->fp, state->sp - 1, end, state->locked);
	if (ret == -EBUSY)
		unwind_walk_need(state, UNWIND_NEED_LOCK, state->fp);
	return ret == 1;
}

static enum unwind_stop_reason next_by_fp(struct unwind_walk_state *state,
					  struct unwind_walk_frame *next)
{
	const unsigned int word = state->word_size;
	unsigned long fp = state->fp, end = 0;
	enum unwind_stop_reason stop;

	*next = (struct unwind_walk_frame){
		.word_size = word,
		.method = UNWIND_METHOD_FP,
		.sp_is_bound = !UNWIND_ARCH_FP_CFA_EXACT,
	};
	if (!fp)
		return UNWIND_STOP_END_FP;
	if (!state->interrupted && !call_before(state, state->ip))
		return UNWIND_STOP_NO_CALL;
	if (!IS_ALIGNED(fp, word) || (fp < state->sp && !on_other_stack(state, &end)))
		return UNWIND_STOP_NO_FRAME;

	next->sp = fp + UNWIND_ARCH_FP_CFA_WORDS * word;
	if (next->sp < fp || !cfa_valid(state, next->sp, false))
		return UNWIND_STOP_NO_FRAME;
	/* The frame pointer is a guess: no memory but the stack is brought in for it */
	if (read_memory(state, fp + UNWIND_ARCH_FP_RA_WORDS * word, state->sp, &next->ip) ||
	    read_memory(state, fp + UNWIND_ARCH_FP_FP_WORDS * word, state->sp, &next->fp))
		return UNWIND_STOP_UNREADABLE;
	/* On another stack, require that the caller's record lies further out in it, or is 0 */
	if (end && next->fp && (next->fp <= fp || next->fp >= end))
		return UNWIND_STOP_NO_FRAME;
	stop = check_frame(state, next);
	/* Then it is no frame record: the register had some other use */
	return stop == UNWIND_STOP_NOT_TEXT || stop == UNWIND_STOP_BAD_FRAME ?
	       UNWIND_STOP_NO_FRAME : stop;
}

/*
 * The step
 */

/*
 * Does the function return to code that begins like a signal's trampoline?  A trampoline
 * right after a function gets the function's last rule, because the lookup takes ip - 1.
 */
static bool may_be_trampoline(struct unwind_walk_state *state,
			      const struct unwind_frame_rule *rule)
{
	u32 insns;

	if (!rule->at_end || state->interrupted)
		return false;
	if (unwind_read_code(insns, (const u32 __user *)state->ip, state->code))
		return unwind_arch_maybe_trampoline(insns);
	note_unread(state, UNWIND_NEED_CODE, state->ip, 0);
	return false;
}

/* Try a signal's frame if there can be one; UNWIND_STOP_NO_FRAME if there is none */
static enum unwind_stop_reason try_signal(struct unwind_walk_state *state,
					  const struct unwind_frame_rule *rule,
					  struct unwind_walk_frame *next)
{
	enum unwind_stop_reason stop;

	if (rule && !rule->signal && !may_be_trampoline(state, rule))
		return UNWIND_STOP_NO_FRAME;
	stop = next_by_signal(state, next);
	/* This may be ordinary code after a call, and no trampoline: then the rule applies */
	if (rule && !rule->signal)
		return stop == UNWIND_STOP_UNREADABLE ? UNWIND_STOP_NO_FRAME : stop;
	/* If a signal frame has a frame record, that record skips the interrupted frame */
	return UNWIND_ARCH_SIGNAL_RECORD || !stop ? stop : UNWIND_STOP_NO_FRAME;
}

static enum unwind_stop_reason next_frame(struct unwind_walk_state *state,
					  struct unwind_walk_frame *next)
{
	enum unwind_stop_reason stop, other;
	struct unwind_frame_rule rule;
	bool described;

	/* Frames of this kind of program cannot be found */
	if (!state->word_size)
		return UNWIND_STOP_NO_FRAME;
	stop = find_rule(state, &rule);
	if (state->need)
		return stop;
	described = stop == UNWIND_STOP_NO_RULE;
	if (described)
		stop = UNWIND_STOP_NO_FRAME;
	if (!stop || stop == UNWIND_STOP_NO_FRAME || stop == UNWIND_STOP_NOT_LOADED) {
		other = try_signal(state, stop ? NULL : &rule, next);
		if (other != UNWIND_STOP_NO_FRAME)
			return other;
	}
	if (!stop) {
		stop = next_by_rule(state, &rule, next);
		/*
		 * Do not try the frame pointer after these.  If the rule needs another register,
		 * the function aligns its stack: its frame pointer leads to a copy of the return
		 * address, and not to the caller's stack.  If just the stack cannot be read, or the
		 * caller's text is not executable now, the frame pointer may skip callers.
		 */
		if (!stop || stop == UNWIND_STOP_END ||
		    stop == UNWIND_STOP_END_FP ||
		    stop == UNWIND_STOP_LIMIT ||
		    stop == UNWIND_STOP_NO_REGISTER ||
		    stop == UNWIND_STOP_NOT_TEXT ||
		    stop == UNWIND_STOP_UNREADABLE)
			return stop;
	}
	/* An interrupted function may have no frame record yet: try its instructions first */
	other = UNWIND_STOP_NO_FRAME;
	if (state->interrupted)
		other = next_by_insns(state, described, next);
	if (other == UNWIND_STOP_NO_FRAME)
		other = next_by_fp(state, next);
	if (!other && stop == UNWIND_STOP_NOT_LOADED)
		state->guessed = true;
	/* A fault of the table is a better reason than a missing frame pointer */
	return other && stop != UNWIND_STOP_NO_FRAME ? stop : other;
}

/**
 * unwind_walk_next - move to the caller's frame
 * @state: the current frame
 *
 * Context: as unwind_walk_frames().
 * Return: 0, or -ENOENT if there is no further frame: @state->stop has the reason; or if
 * something is needed first: @state->need.
 */
int unwind_walk_next(struct unwind_walk_state *state)
{
	struct unwind_walk_frame next;
	enum unwind_stop_reason stop;

	if (state->stop)
		return -ENOENT;
	state->need = UNWIND_NEED_NOTHING;
	stop = next_frame(state, &next);
	if (state->need)
		return -ENOENT;
	/* A guessed frame pointer may have skipped callers: report that instead */
	state->stop = stop && state->guessed ? UNWIND_STOP_NOT_LOADED : stop;
	if (stop)
		return -ENOENT;

	state->ip = next.ip;
	state->sp = next.sp;
	state->fp = next.fp;
	/* A signal may have a stack anywhere */
	state->lowest = next.interrupted ? next.sp : min(state->lowest, next.sp);
	state->saved_regs = next.saved_regs;
	state->word_size = next.word_size;
	state->method = next.method;
	state->by_table |= next.method == UNWIND_METHOD_SFRAME;
	state->topmost = false;
	state->interrupted = next.interrupted;
	state->has_rule = false;
	state->no_pages = false;
	if (!UNWIND_ARCH_FP_CFA_EXACT)
		state->sp_is_bound = next.sp_is_bound;
	return 0;
}
