// SPDX-License-Identifier: GPL-2.0
/*
 * The frame loop: the current task's user stack, from the topmost frame outwards.
 *
 *   unwind_user() ─> unwind_walk() ────────┐      immediate.c
 *                    │  faults, loads,     │          │
 *                    │  then goes on       v          v
 *                    └──────────────── unwind_walk_frames()
 *                                         │        no faults, under RCU
 *                                         ├──> ordinary frames, in a loop of few
 *                                         │    instructions
 *                                         └──> frame.c: the rest, step by step
 *
 * An ordinary frame has a rule of the usual shape, or a frame record and no rule.  Moving to
 * its caller takes two reads of the stack, and a lookup of the caller's rule in one of the
 * kernel's own tables (sframe_table.h).  The inner loop handles such frames.  It leaves all
 * others to unwind_walk_next(): rules of another shape, the end of the stack, signal
 * trampolines, stacks that uprobes have changed, memory that cannot be read, and callers that
 * do not lie further out.
 *
 * While user memory is open, no function may be called: the code that reads is inlined.
 */

#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pagemap.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <linux/unwind_stack.h>
#include <linux/unwind_tables.h>
#include <asm/irq_regs.h>
#include <asm/unwind_arch.h>
#include <trace/events/unwind.h>

#include "counts.h"
#include "file.h"
#include "mapping.h"
#include "memory.h"
#include "sframe_table.h"
#include "tables.h"
#include "uprobe.h"
#include "walk.h"
#include "words.h"

/* Cost of a step of frame.c, in ordinary frames */
#define STEP_COST		6

/* A step makes up to three lookups */
#define STEP_COST_MAX		(STEP_COST + 3 * LOOKUP_COST_MAX)

/* Pages, tables and locks that are waited for on behalf of one stack */
#define MAX_NEEDS		128
/* Limit of the work for a deferred stack, in units of ordinary frames */
#define MAX_BUDGET		65536

/*
 * Ordinary frames
 */

/* A frame record, as a rule */
#define RULE_RECORD	(SFRAME_RULE_CFA_FP | SFRAME_RULE_FP_SAVED |			\
			 (u64)(u16)UNWIND_ARCH_FP_CFA_WORDS << 16 |			\
			 (u64)(u16)(UNWIND_ARCH_FP_RA_WORDS - UNWIND_ARCH_FP_CFA_WORDS) << 32 | \
			 (u64)(u16)(UNWIND_ARCH_FP_FP_WORDS - UNWIND_ARCH_FP_CFA_WORDS) << 48)

/*
 * Replaces SFRAME_RULE_ORDINARY if the rule may end right after the call: a signal trampoline
 * may follow there.  A single test of SFRAME_RULE_ORDINARY then finds all special cases.
 */
#define RULE_EDGE	BIT(6)

/* One of these is set in each ordinary rule of a table, and in no frame record without a rule */
#define RULES_OF_TABLES	(SFRAME_RULE_ORDINARY | RULE_EDGE)

/**
 * struct ordinary - the loop's current frame, but for its address
 * @sp: as in &struct unwind_walk_state; aligned
 * @fp: as in &struct unwind_walk_state
 * @rule: of the frame, with RULE_EDGE instead of SFRAME_RULE_ORDINARY if that applies;
 *	SFRAME_RULE_NONE if there is none
 * @interrupted: as in &struct unwind_walk_state
 * @sp_is_bound: as in &struct unwind_walk_state
 */
struct ordinary {
	unsigned long	sp;
	unsigned long	fp;
	u64		rule;
	bool		interrupted;
	bool		sp_is_bound;
};

/**
 * struct passed - the frames that the loop has passed
 * @ips: place of the next frame's address, right after the current frame's
 * @end: end of the room for addresses
 * @sps: place of the next frame's stack pointer, or NULL
 * @map: of the current address
 * @maps: all mappings that were looked up
 * @rule: rule of the last frame
 * @by_table: a table has described a frame before the last one
 * @guessed: as in &struct unwind_walk_state
 * @unread: instructions of the last frame cannot be read
 */
struct passed {
	unsigned long			*ips;
	unsigned long			*end;
	unsigned long			*sps;
	const struct unwind_mapping	*map;
	const struct unwind_mapping	*maps;
	u64				rule;
	bool				by_table;
	bool				guessed;
	bool				unread;
};

static __always_inline bool is_inside(const struct unwind_mapping *map, unsigned long addr)
{
	return addr - map->start < map->size;
}

/* Objects alternate: is the address in another mapping that was looked up? */
static __always_inline bool is_known(struct passed *passed, unsigned long addr)
{
	const struct unwind_mapping *map;

	for (map = passed->maps; map < passed->maps + UNWIND_MAPPINGS; map++) {
		if (is_inside(map, addr)) {
			passed->map = map;
			return true;
		}
	}
	return false;
}

/* Look up the rule of @at, whose address is in @map */
static __always_inline void find_rule(struct ordinary *at, unsigned long ip,
				      const struct unwind_mapping *map)
{
	bool edge;

	at->rule = SFRAME_RULE_NONE;
	if (unlikely(!map->inside))
		return;
	ip -= !at->interrupted;
	at->rule = sframe_table_find_inside(map->inside, ip - map->origin, &edge);
	/* Only a return address can be the start of other code that follows the rule's */
	if (unlikely(edge) && !at->interrupted && at->rule & SFRAME_RULE_ORDINARY)
		at->rule ^= SFRAME_RULE_ORDINARY | RULE_EDGE;
}

/*
 * The rule to apply if the frame is not marked as ordinary: its rule at an edge, or a frame
 * record.  SFRAME_RULE_NONE if another method has to be tried first.
 */
static __always_inline u64 other_rule(struct passed *passed, const struct ordinary *at)
{
	const unsigned long ip = passed->ips[-1];
	unsigned long code;
	u64 rule;
	u32 insns;

	if (at->rule & RULE_EDGE) {
		rule = at->rule ^ (SFRAME_RULE_ORDINARY | RULE_EDGE);
	} else {
		if (at->rule != SFRAME_RULE_NONE || at->interrupted || at->fp < at->sp)
			return SFRAME_RULE_NONE;
		if (!read_word(ip - sizeof(code), &code))
			goto unread;
		if (!unwind_arch_follows_call(code))
			return SFRAME_RULE_NONE;
		rule = RULE_RECORD;
		passed->by_table |= !!(passed->rule & RULES_OF_TABLES);
		passed->guessed |= passed->map->pending;
	}
	if (!read_half(ip, &insns))
		goto unread;
	return unwind_arch_maybe_trampoline(insns) ? SFRAME_RULE_NONE : rule;
unread:
	passed->unread = true;
	return SFRAME_RULE_NONE;
}

/*
 * Find the CFA.  If a frame record may lie anywhere in its frame, the stack pointer is not
 * known after one was followed: then the rule has to count from the frame pointer.  The stack
 * pointer is aligned.
 */
static __always_inline bool find_cfa(const struct ordinary *at, u64 rule, unsigned long *cfa)
{
	if (rule & SFRAME_RULE_CFA_FP) {
		*cfa = at->fp + sframe_rule_cfa(rule);
		return IS_ALIGNED(at->fp, sizeof(at->fp));
	}
	*cfa = at->sp + sframe_rule_cfa(rule);
	return UNWIND_ARCH_FP_CFA_EXACT || !at->sp_is_bound;
}

/* If calls push the return address, it is always right below the CFA */
static __always_inline long rule_ra(u64 rule)
{
	return UNWIND_ARCH_CFA_MIN_WORDS ? -(long)sizeof(unsigned long) : sframe_rule_ra(rule);
}

/* Find the caller's frame, but not its rule */
static __always_inline bool next_ordinary(struct passed *passed, const struct ordinary *at,
					  struct ordinary *next, unsigned long *ip)
{
	const unsigned int min = at->interrupted ? UNWIND_ARCH_CFA_MIN_WORDS : 1;
	const unsigned long word = sizeof(unsigned long);
	unsigned long cfa;
	u64 rule = at->rule;

	if (unlikely(!(rule & SFRAME_RULE_ORDINARY))) {
		rule = other_rule(passed, at);
		if (rule == SFRAME_RULE_NONE)
			return false;
	}
	if (!find_cfa(at, rule, &cfa))
		return false;
	/* The caller lies at least a word further out; reads fail if @cfa is no user address */
	if ((long)(cfa - at->sp) < (long)(min * word))
		return false;

	next->sp = cfa;
	next->fp = at->fp;
	next->interrupted = false;
	if (!UNWIND_ARCH_FP_CFA_EXACT)
		next->sp_is_bound = !(rule & SFRAME_RULE_ORDINARY);
	if (!read_word(cfa + rule_ra(rule), ip))
		return false;
	*ip = unwind_arch_strip_ra(*ip);
	if (!(rule & SFRAME_RULE_FP_SAVED))
		return true;
	if (!read_word(cfa + sframe_rule_fp(rule), &next->fp))
		return false;
	next->fp = unwind_arch_untag(next->fp);
	return true;
}

static __always_inline unsigned long known_sp(const struct ordinary *at)
{
	return UNWIND_ARCH_FP_CFA_EXACT || !at->sp_is_bound ? at->sp : 0;
}

/* Add the frame; return whether there is room for more */
static __always_inline bool add_frame(struct passed *passed, const struct ordinary *at,
				      const struct ordinary *next)
{
	passed->rule = at->rule;
	if (passed->sps)
		*passed->sps++ = known_sp(next);
	return ++passed->ips != passed->end;
}

/* Lookups cost frames, so the budget may allow fewer of them than there is room for */
static bool has_budget(struct passed *passed, unsigned int nr, unsigned int budget)
{
	passed->end = min(passed->end, passed->ips - nr + budget);
	return passed->ips < passed->end && (!nr || budget >= nr + STEP_COST_MAX);
}

/* The result of a step: it has found a caller, the last caller that fits, or none */
enum step {
	STEP_DONE,
	STEP_LAST,
	STEP_MAP,	/* the caller's mapping is not known; its address is in @passed */
	STEP_NONE,
};

static __always_inline enum step step(struct passed *passed, const struct ordinary *at,
				      struct ordinary *next)
{
	unsigned long ip;

	if (!next_ordinary(passed, at, next, &ip))
		return STEP_NONE;
	*passed->ips = ip;
	if (unlikely(!is_inside(passed->map, ip - 1)) && !is_known(passed, ip - 1))
		return STEP_MAP;
	find_rule(next, ip, passed->map);
	return add_frame(passed, at, next) ? STEP_DONE : STEP_LAST;
}

/* Follow ordinary frames; for STEP_MAP, @next is the last frame's caller */
static __always_inline enum step steps(struct passed *passed, struct ordinary *at,
				       struct ordinary *next)
{
	for (;;) {
		enum step ret = step(passed, at, next);

		if (ret == STEP_MAP || ret == STEP_NONE)
			return ret;
		*at = *next;
		if (ret == STEP_LAST)
			return ret;
	}
}

/* The rule of a function with one word on the stack, besides its return address */
#define RULE_ONE_WORD	(SFRAME_RULE_ORDINARY | 2 << 16)

/* May the code say otherwise?  Then frame.c corrects the rule. */
static bool is_wrong(struct unwind_walk_state *state, const struct ordinary *at)
{
	return UNWIND_ARCH_LINK_REG < 0 && at->interrupted && (u32)at->rule == RULE_ONE_WORD &&
	       unwind_walk_dropped_word(state) != 0;
}

/*
 * Move through frames as long as they are ordinary.  A step is taken only if the caller's
 * mapping is known: that shows that its address is text.  If @sps is not NULL, it gets the
 * frames' stack pointers.
 */
static __always_inline unsigned int ordinary_frames(struct unwind_walk_state *state,
						    unsigned long *ips, unsigned long *sps,
						    unsigned int room)
{
	struct ordinary at = {
		.sp = state->sp,
		.fp = state->fp,
		.interrupted = state->interrupted,
		.sp_is_bound = state->sp_is_bound,
	}, next;
	struct passed passed = {
		.ips = ips,
		.end = ips + room,
		.sps = sps,
		.map = &state->maps[state->map],
		.maps = state->maps,
	};
	unsigned long addr = state->ip - !state->interrupted;
	unsigned int nr = 0;
	enum step ret;

	if (!IS_ALIGNED(at.sp, sizeof(at.sp)) || at.sp >= TASK_SIZE_MAX)
		return 0;
	if (!is_inside(passed.map, addr) && !is_known(&passed, addr))
		passed.map = unwind_walk_add_map(state, addr);
	if (IS_ERR(passed.map))
		return 0;
	find_rule(&at, state->ip, passed.map);
	if (is_wrong(state, &at))
		return 0;
	while (has_budget(&passed, nr, state->budget)) {
		if (!words_begin())
			break;
		ret = steps(&passed, &at, &next);
		words_end();
		if (ret != STEP_MAP)
			break;
		passed.map = unwind_walk_add_map(state, *passed.ips - 1);
		if (IS_ERR(passed.map))
			break;
		find_rule(&next, *passed.ips, passed.map);
		add_frame(&passed, &at, &next);
		at = next;
		nr = passed.ips - ips;
	}

	if (passed.unread)
		state->budget -= min(state->budget, UNWIND_UNREAD_COST);
	nr = passed.ips - ips;
	if (!nr)
		return 0;
	state->ip = passed.ips[-1];
	state->sp = at.sp;
	state->fp = at.fp;
	state->saved_regs = 0;
	state->method = passed.rule & RULES_OF_TABLES ? UNWIND_METHOD_SFRAME : UNWIND_METHOD_FP;
	state->by_table |= passed.by_table || state->method == UNWIND_METHOD_SFRAME;
	state->guessed |= passed.guessed;
	state->topmost = false;
	state->interrupted = false;
	state->has_rule = false;
	state->no_pages = false;
	if (!UNWIND_ARCH_FP_CFA_EXACT)
		state->sp_is_bound = at.sp_is_bound;
	return nr;
}

/* Separate functions, because the loop needs all registers */
static noinline unsigned int frames_only(struct unwind_walk_state *state, unsigned long *ips,
					 unsigned int room)
{
	return ordinary_frames(state, ips, NULL, room);
}

static noinline unsigned int frames_and_sps(struct unwind_walk_state *state, unsigned long *ips,
					    unsigned long *sps, unsigned int room)
{
	return ordinary_frames(state, ips, sps, room);
}

/*
 * All frames
 */

/* Set instruction and stack pointer to their values without uprobes */
static void undo_uprobes(struct unwind_walk_state *state)
{
	state->ip = unwind_uprobe_ip(state->ip);
	unwind_uretprobe_leave(&state->ip, &state->sp, state->word_size);
}

/**
 * unwind_walk_start - begin with the topmost frame
 * @state: initialized
 * @regs: registers with which the current task left user space
 *
 * Context: any, with page faults disabled and unwind_arch_keys_open().
 * Return: 0, or -EINVAL if no stack can start with these registers.
 */
int unwind_walk_start(struct unwind_walk_state *state, struct pt_regs *regs)
{
	/* In other contexts, the list of uretprobes may be halfway changed */
	const bool probed = in_task() && unwind_uprobed();
	int word_size;

	*state = (struct unwind_walk_state){
		.regs = regs,
		.topmost = true,
		.interrupted = true,
		.budget = MAX_BUDGET,
	};
	if (!user_mode(regs))
		return -EINVAL;
	word_size = unwind_arch_word_size(regs);
	if (word_size < 0)
		return word_size;
	state->word_size = word_size;

	state->ip = unwind_arch_strip_ra(instruction_pointer(regs));
	state->sp = unwind_arch_untag(user_stack_pointer(regs));
	state->fp = unwind_arch_untag(frame_pointer(regs));
	state->lowest = state->sp;
	unwind_uprobe_leave(&state->ip, &state->sp, word_size);
	if (probed && word_size)
		undo_uprobes(state);
	state->probed = probed;
	return 0;
}

/**
 * unwind_walk_frames - move outwards to the end of the stack, or until something is needed
 * @state: the current frame; begun by unwind_walk_start()
 * @trace: the frames before it; the others are added
 * @max: room in @trace, at least 1
 *
 * Sets @state->stop or @state->need.  In the latter case, the unwind can go on with the
 * same frame.
 *
 * Context: any, in an RCU read-side critical section, page faults disabled.
 */
void unwind_walk_frames(struct unwind_walk_state *state,
			struct unwind_stacktrace *trace, unsigned int max)
{
	/* Tables describe 64-bit programs only */
	const bool ordinary = state->word_size == sizeof(u64) && !state->probed;
	unsigned long *sps = state->notes ? state->notes->sps : NULL;

	state->need = UNWIND_NEED_NOTHING;
	if (!trace->nr) {
		if (sps)
			sps[0] = state->sp;
		trace->entries[trace->nr++] = state->ip;
	}
	for (;;) {
		unsigned int room = min(max - trace->nr, state->budget), nr;

		if (ordinary && room) {
			if (likely(!sps))
				nr = frames_only(state, &trace->entries[trace->nr], room);
			else
				nr = frames_and_sps(state, &trace->entries[trace->nr],
						    &sps[trace->nr], room);
			trace->nr += nr;
			state->budget -= min(state->budget, nr);
		}
		if (state->budget < STEP_COST_MAX) {
			state->stop = UNWIND_STOP_LIMIT;
			return;
		}
		if (unwind_walk_next(state)) {
			/* Do not wait for a frame that there is no room for */
			if (state->need && trace->nr == max)
				break;
			return;
		}
		if (trace->nr == max)
			break;
		state->budget -= min(state->budget, STEP_COST);
		if (sps)
			sps[trace->nr] = state->sp_is_bound ? 0 : state->sp;
		trace->entries[trace->nr++] = state->ip;
	}
	state->need = UNWIND_NEED_NOTHING;
	state->stop = UNWIND_STOP_LIMIT;
}

/*
 * With faults
 */

static void get_table(struct unwind_walk_state *state)
{
	int ret = -ENOENT;

	if (unwind_tables_any(current->mm))
		ret = unwind_tables_build(current->mm, state->need_addr);
	if (ret == -ENOENT)
		ret = unwind_file_load(state->need_addr);
	if (ret)
		state->no_tables = true;
}

static void get_rule(struct unwind_walk_state *state)
{
	state->rule_error = unwind_tables_find_rule(current->mm, state->need_addr, &state->rule);
	state->has_rule = true;
}

static void get_page_at(struct unwind_walk_state *state)
{
	state->no_pages = !unwind_bring_in(state->need_addr, sizeof(u64), state->need_beside);
}

static void get_code(struct unwind_walk_state *state)
{
	int ret = unwind_code_add(state->code, state->need_addr);

	if (ret == -ENOENT)
		get_page_at(state);
	else
		state->no_pages = ret;
}

/* Get what the next step needs; the lock is taken when the unwind goes on */
static void get_need(struct unwind_walk_state *state)
{
	if (state->need == UNWIND_NEED_PAGE)
		get_page_at(state);
	else if (state->need == UNWIND_NEED_CODE)
		get_code(state);
	else if (!IS_ENABLED(CONFIG_UNWIND_USER_SFRAME))
		return;
	else if (state->need == UNWIND_NEED_TABLE)
		get_table(state);
	else if (IS_ENABLED(CONFIG_UNWIND_USER_REGISTER) && state->need == UNWIND_NEED_RULE)
		get_rule(state);
}

/* Go on without what the next step needs */
static void do_without(struct unwind_walk_state *state)
{
	switch (state->need) {
	case UNWIND_NEED_PAGE:
	case UNWIND_NEED_CODE:
		state->no_pages = true;
		break;
	case UNWIND_NEED_TABLE:
		state->no_tables = true;
		break;
	case UNWIND_NEED_RULE:
		state->rule_error = -EFAULT;
		state->has_rule = true;
		break;
	default:
		state->stop = UNWIND_STOP_BUSY;
		break;
	}
}

/* Unwind until the stack ends or something is needed */
static void frames_without_faults(struct unwind_walk_state *state,
				  struct unwind_stacktrace *trace, unsigned int max)
{
	struct mm_struct *mm = current->mm;
	const bool lock = state->need == UNWIND_NEED_LOCK;

	if (lock && mmap_read_lock_killable(mm)) {
		do_without(state);
		return;
	}
	state->locked = lock;
	scoped_guard(rcu) {
		pagefault_disable();
		unwind_walk_frames(state, trace, max);
		pagefault_enable();
		unwind_walk_forget(state);
	}
	state->locked = false;
	if (lock)
		mmap_read_unlock(mm);
}

/**
 * unwind_walk_all_frames - move outwards to the end of the stack
 * @state: the current frame; begun by unwind_walk_start()
 * @trace: the frames before it; the others are added
 * @max: room in @trace, at least 1
 *
 * Context: task context that may sleep, without the mmap lock.
 */
void unwind_walk_all_frames(struct unwind_walk_state *state,
			    struct unwind_stacktrace *trace, unsigned int max)
{
	struct unwind_code code = {};
	unsigned int needs = 0;

	state->code = &code;
	for (;;) {
		frames_without_faults(state, trace, max);
		if (state->stop)
			break;
		cond_resched();
		/* Looking up a rule in a section that changes is no wait; once per frame */
		needs += state->need != UNWIND_NEED_RULE;
		if (needs <= MAX_NEEDS && unwind_may_wait())
			get_need(state);
		else
			do_without(state);
		if (state->stop)
			break;
	}
	unwind_code_release(&code);
	state->code = NULL;
}

static noinline void trace_stop(const struct unwind_walk_state *state,
				unsigned int nr)
{
	/* A return address may lie after the end of its object: look up the call */
	const unsigned int back = state->interrupted ? 0 : 1;
	char object[UNWIND_NAME_MAX];
	u64 offset;

	offset = unwind_text_name(state->ip - back, object, sizeof(object)) + back;
	trace_unwind_stop(state->ip, nr, state->method, state->stop, object,
			  offset);
}

/**
 * unwind_regs_saved - does task_pt_regs() have the current program's registers?
 *
 * They are not saved yet if an NMI interrupts the start of the entry code: then the stack
 * has registers of the previous entry, or a mix of both.
 *
 * Context: any.
 * Return: whether it does.
 */
bool unwind_regs_saved(void)
{
	struct pt_regs *regs = in_nmi() ? get_irq_regs() : NULL;

	return !regs || user_mode(regs) || unwind_arch_entry_saved(regs);
}

/**
 * unwind_walk - take the current task's user stack, with page faults
 * @trace: @trace->entries has room for @max addresses; @trace->nr is set
 * @max: limit on the number of frames
 * @notes: NULL, or cleared and with room for @max frames: filled in for unwind_chain_take()
 *
 * Starts at the registers with which the task entered the kernel or, on its way back to user
 * space, at those with which it will continue.  The tracepoint unwind:unwind_stop reports
 * where and why the stack ends.
 *
 * Brings in pages of the stack and loads the tables of files, but not for a task that
 * exits, executes another program or was killed.
 *
 * Context: task context that may sleep, without the mmap lock.
 * Return: 0, with at least one frame; -EINVAL if the current task has no user stack.
 */
int unwind_walk(struct unwind_stacktrace *trace, unsigned int max,
		struct unwind_walk_notes *notes)
{
	struct unwind_walk_state state;
	u32 rights;
	int ret;

	trace->nr = 0;
	if (!max || !unwind_has_stack(current))
		return -EINVAL;
	might_fault();
	rights = unwind_arch_keys_open();
	pagefault_disable();
	ret = unwind_walk_start(&state, task_pt_regs(current));
	pagefault_enable();
	state.notes = notes;
	if (!ret)
		unwind_walk_all_frames(&state, trace, max);
	unwind_arch_keys_close(rights);
	if (ret)
		return -EINVAL;
	if (notes)
		notes->nr = trace->nr;
	unwind_count_stop(state.stop);
	if (trace_unwind_stop_enabled())
		trace_stop(&state, trace->nr);
	return 0;
}
