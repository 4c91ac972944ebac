/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of an unwind.  walk.c has the frame loop, frame.c the step from one frame to
 * the next, immediate stacks are in immediate.c.
 */
#ifndef _KERNEL_UNWIND_WALK_H
#define _KERNEL_UNWIND_WALK_H

#include <linux/gfp_types.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/unwind_chain.h>
#include <linux/unwind_stack_types.h>
#include <linux/unwind_user_types.h>
#include <asm/unwind_arch.h>

#include "chain.h"
#include "mapping.h"
#include "rule.h"

/**
 * enum unwind_need - needs of the next step, for which the unwind has to wait
 * @UNWIND_NEED_NOTHING: nothing
 * @UNWIND_NEED_PAGE: memory at an address that is not resident
 * @UNWIND_NEED_CODE: the same, but instructions
 * @UNWIND_NEED_TABLE: the table for an address, which is not loaded
 * @UNWIND_NEED_RULE: the rule of an address, from a table that changes
 * @UNWIND_NEED_LOCK: the mapping of an address, while a writer has the mmap lock
 */
enum unwind_need {
	UNWIND_NEED_NOTHING,
	UNWIND_NEED_PAGE,
	UNWIND_NEED_CODE,
	UNWIND_NEED_TABLE,
	UNWIND_NEED_RULE,
	UNWIND_NEED_LOCK,
};

/**
 * struct unwind_walk_notes - notes of a walk, with which chain.c finds frames of languages
 * @nr: number of frames in @sps
 * @nr_found: number of chains in @found
 * @has_stack: @stack is valid
 * @own: this buffer belongs to one task; otherwise it is a CPU's, and tasks use it in turn
 * @stack: memory for the frames of languages that belong to the stack, or NULL
 * @found: chains of the files that the walk has met, with references
 * @sps: the stack pointer of each frame; 0 if it is not known
 */
struct unwind_walk_notes {
	unsigned int			nr;
	unsigned int			nr_found;
	bool				has_stack;
	bool				own;
	struct unwind_chain_stack	*stack;
	struct unwind_chain_found	found[UNWIND_CHAIN_FILES];
	unsigned long			sps[];
};

/*
 * A buffer of one task is charged to its cgroup.  If that is full, or if memory is short, the
 * stack is lost: no process is killed to make room.
 */
static inline gfp_t unwind_notes_gfp(const struct unwind_walk_notes *notes)
{
	return GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY | (notes->own ? __GFP_ACCOUNT : 0);
}

/**
 * struct unwind_places - stack pointers of the native frames, to find the frame of an address
 * @sps: stack pointer of each frame, as noted by the walk
 * @nr: number of frames
 * @from: where the next search starts; addresses are looked up from the innermost outwards
 * @visits: number of frames that may still be examined
 */
struct unwind_places {
	const unsigned long	*sps;
	unsigned int		nr;
	unsigned int		from;
	unsigned int		visits;
};

/* The native frame around an address, or UNWIND_CHAIN_APART */
static __always_inline u16 unwind_walk_place(struct unwind_places *places, unsigned long addr)
{
	unsigned int i;

	for (i = places->from; i + 1 < places->nr && places->visits; i++) {
		places->visits--;
		if (places->sps[i] && addr >= places->sps[i] && addr < places->sps[i + 1]) {
			places->from = i;
			return i;
		}
	}
	return UNWIND_CHAIN_APART;
}

/* Mappings that an unwind remembers: stacks alternate between few objects */
#define UNWIND_MAPPINGS		4

/**
 * struct unwind_walk_state - the current frame of an unwind
 * @regs: registers with which the program entered the kernel
 * @saved_regs: address of the registers that a signal saved, if the signal interrupted
 *	the current frame; else 0
 * @ip: the current frame's instruction pointer, or its return address
 * @sp: its stack pointer
 * @fp: its frame pointer
 * @lowest: the lowest stack pointer of all frames since the last signal
 * @maps: the mappings that were looked up last; @next_map is replaced next
 * @map: index of the mapping that was used last
 * @notes: notes of the walk; NULL if it takes none
 * @code: text that is not mapped; NULL if there is none
 * @rule: the current frame's rule, if @has_rule
 * @need: what the next step needs
 * @need_addr: the address for @need
 * @need_beside: for UNWIND_NEED_PAGE, an address that must be in the same mapping, or 0
 * @budget: remaining work, in ordinary frames
 * @method: how the current frame was found
 * @stop: why there is no next frame
 * @word_size: 8 or 4 bytes; 0: frames of this program cannot be found
 * @next_map: which of @maps is replaced next
 * @locked: the mmap lock is held
 * @probed: uprobes may have changed the stack, and this is task context
 * @topmost: @ip, @sp and @fp are from @regs
 * @interrupted: @ip is an interrupted instruction, not the one after a call
 * @sp_is_bound: the stack pointer is not known; it is @sp or further out
 * @by_table: a table has described at least one frame
 * @guessed: a frame was found by instructions or frame pointer, while its table was not loaded
 * @has_rule: the rule, from a section that changes, was looked up: @rule is valid, or
 *	@rule_error says why not
 * @no_pages: do not bring in missing pages for the current frame
 * @no_tables: do not load missing tables for the rest of the stack
 * @rule_error: from the lookup of @rule
 */
struct unwind_walk_state {
	struct pt_regs			*regs;
	unsigned long			saved_regs;
	unsigned long			ip;
	unsigned long			sp;
	unsigned long			fp;
	unsigned long			lowest;
	struct unwind_mapping		maps[UNWIND_MAPPINGS];
	struct unwind_walk_notes	*notes;
	struct unwind_code		*code;
	struct unwind_frame_rule	rule;
	unsigned long			need_addr;
	unsigned long			need_beside;
	u32				budget;
	int				rule_error;
	enum unwind_need		need;
	enum unwind_method		method;
	enum unwind_stop_reason		stop;
	u8				word_size;
	u8				map;
	u8				next_map;
	bool				locked;
	bool				probed;
	bool				topmost;
	bool				interrupted;
	bool				sp_is_bound;
	bool				by_table;
	bool				guessed;
	bool				has_rule;
	bool				no_pages;
	bool				no_tables;
};

/* The cost of the most expensive lookup of a mapping, in ordinary frames (mapping.c) */
#define LOOKUP_COST_MAX		42

int unwind_walk_start(struct unwind_walk_state *state, struct pt_regs *regs);
const struct unwind_mapping *unwind_walk_map(struct unwind_walk_state *state,
					     unsigned long addr);
const struct unwind_mapping *unwind_walk_add_map(struct unwind_walk_state *state,
						 unsigned long addr);
void unwind_walk_forget(struct unwind_walk_state *state);
int unwind_walk_dropped_word(struct unwind_walk_state *state);
int unwind_walk_next(struct unwind_walk_state *state);
void unwind_walk_frames(struct unwind_walk_state *state,
			struct unwind_stacktrace *trace, unsigned int max);
void unwind_walk_all_frames(struct unwind_walk_state *state,
			    struct unwind_stacktrace *trace, unsigned int max);
int unwind_code_add(struct unwind_code *code, unsigned long addr);
void unwind_code_release(struct unwind_code *code);

/* Notes are taken with CONFIG_UNWIND_USER_LANGUAGES only */
void unwind_chain_note(struct unwind_walk_notes *notes, const struct sframe_table *table,
		       unsigned long base);
struct unwind_chain_stack *unwind_chain_get_stack(struct unwind_walk_notes *notes);
void unwind_chain_clear_notes(struct unwind_walk_notes *notes);
void unwind_chain_free_notes(struct unwind_walk_notes *notes);
void unwind_chain_take(const struct unwind_stacktrace *trace, struct unwind_walk_notes *notes);
void unwind_chain_settle(struct unwind_walk_notes *notes);

/**
 * unwind_has_stack - does the task have a user stack to return to?
 * @task: the task
 *
 * Context: any.
 * Return: whether it has; an exiting task has one until its mm is gone.
 */
static inline bool unwind_has_stack(const struct task_struct *task)
{
	/* The task may be changing its other flags at this moment */
	const unsigned int flags = data_race(task->flags);

	return task->mm && !(flags & (PF_KTHREAD | PF_USER_WORKER));
}

/**
 * unwind_may_wait - may the current task wait for memory, tables and locks?
 *
 * Context: task.
 * Return: false if the task is exiting, executing another program, or was killed.
 */
static inline bool unwind_may_wait(void)
{
	return !(current->flags & PF_EXITING) && !current->in_execve &&
	       !fatal_signal_pending(current);
}

/**
 * unwind_walk_need - note what the next step needs
 * @state: the current frame
 * @need: the need
 * @addr: its address
 */
static inline void unwind_walk_need(struct unwind_walk_state *state,
				    enum unwind_need need, unsigned long addr)
{
	if (state->need)
		return;
	state->need = need;
	state->need_addr = addr;
}

/**
 * unwind_walk_lookup_ip - the address whose rule describes the current frame
 * @state: the current frame
 *
 * Return: the interrupted instruction's address; for a caller, the last byte of its call.
 */
static inline unsigned long
unwind_walk_lookup_ip(const struct unwind_walk_state *state)
{
	return state->interrupted ? state->ip : state->ip - 1;
}

#endif /* _KERNEL_UNWIND_WALK_H */
