// SPDX-License-Identifier: GPL-2.0
/*
 * The frames of a language, in the memory of its runtime.
 *
 *   head ──> interpreter ──> interpreter         native stack    frames of the language
 *                 │
 *                 v                              malloc
 *              thread ──> thread: mine           eval            f <── g
 *                             │                    entry frame <─┘
 *                             v                  sort
 *               frame ──> frame ──> entry frame  eval            h
 *                                                  entry frame <─┘
 *
 * A chain (uapi/linux/unwind.h) says how to follow the pointers.  They are followed where a
 * deferred stack is delivered, in the task itself: its own frames do not change meanwhile.
 * Lists of threads may.  Then the thread is not found, or not found any more, and the
 * stack has no frames of the language.
 *
 * Nothing there is believed.  Each value is read once, by a read that may fail; the number
 * of nodes is bounded, whatever they are; a list that comes back to where it was is cut.
 *
 * A frame belongs to the native frame that executes it.  This is the one around the next
 * entry frame, from its stack pointer up to its caller's.  So the native stack is walked a
 * second time, for the stack pointers; this walk finds the chains of files, too.  Where an
 * entry frame is in no native frame that is known, its frames stand apart.
 */

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/unwind_chain.h>
#include <linux/unwind_stack.h>
#include <linux/unwind_user_types.h>
#include <asm/unwind_arch.h>

#include "chain.h"
#include "file.h"
#include "tables.h"
#include "walk.h"
#include "words.h"

/* Nodes that are visited for one stack, in all lists */
#define MAX_NODES	4096
/* Pages that are waited for on behalf of one stack */
#define MAX_WAITS	32

/*
 * Reads of the task's memory
 *
 * The loops over nodes have user memory open, so they call nothing.  Where a word is not
 * there, they stop, and go on at the same node once it was brought in.
 */

/* May the read be tried again? */
static noinline bool bring_in(struct unwind_chain_reader *reader, unsigned long addr, size_t size)
{
	if (!reader->waits || !unwind_may_wait())
		return false;
	reader->waits--;
	return unwind_bring_in(addr, size, 0);
}

/**
 * unwind_chain_read - read some bytes of the task's memory
 * @reader: what may still be done
 * @addr: their address, which may be anything
 * @buf: set on success
 * @size: number of bytes, less than a page
 *
 * Context: task; may sleep; without the mmap lock.
 * Return: whether they were read.
 */
bool unwind_chain_read(struct unwind_chain_reader *reader, u64 addr, void *buf, size_t size)
{
	long ret;

	addr = unwind_arch_untag(addr);
	do {
		unwind_arch_tags_off();
		ret = copy_from_user_nofault(buf, (const void __user *)(unsigned long)addr, size);
		unwind_arch_tags_on();
	} while (unlikely(ret) && bring_in(reader, addr, size));
	return !ret;
}

/* User memory is open; if it is not there, note where */
static __always_inline bool get_word(struct unwind_chain_reader *reader, unsigned long addr,
				     unsigned long *word)
{
	addr = unwind_arch_untag(addr);
	if (likely(read_word(addr, word)))
		return true;
	reader->missing = addr;
	return false;
}

static __always_inline bool get_half(struct unwind_chain_reader *reader, unsigned long addr,
				     u32 *half)
{
	addr = unwind_arch_untag(addr);
	if (likely(read_half(addr, half)))
		return true;
	reader->missing = addr;
	return false;
}

static __always_inline bool take_node(struct unwind_chain_reader *reader)
{
	if (!reader->nodes)
		return false;
	reader->nodes--;
	return true;
}

/* Repeat @step, which reads, until it has all that it needs, or cannot get it: false */
#define read_all(reader, step) ({						\
	struct unwind_chain_reader *__reader = (reader);			\
	bool __all = false;							\
										\
	do {									\
		__reader->missing = 0;						\
		pagefault_disable();						\
		if (words_begin()) {						\
			__all = (step);						\
			words_end();						\
		}								\
		pagefault_enable();						\
	} while (!__all && __reader->missing &&					\
		 bring_in(__reader, __reader->missing, sizeof(u64)));		\
	__all;									\
})

/*
 * The way to the thread's frames
 */

/**
 * struct heads - the innermost frames of a thread, one for each interpreter that it runs
 * @nr: how many
 * @frame: their addresses
 */
struct heads {
	unsigned int	nr;
	unsigned long	frame[UNWIND_CHAIN_MAX];
};

static void add_head(struct heads *heads, unsigned long frame)
{
	if (frame && heads->nr < ARRAY_SIZE(heads->frame))
		heads->frame[heads->nr++] = frame;
}

/* Look for the current task in the list of threads from @node on; @frame is 0 without it */
static __always_inline bool step_threads(struct unwind_chain_reader *reader,
					 const struct unwind_chain_attr *attr, u32 self,
					 unsigned long *node, unsigned long *frame)
{
	const struct unwind_chain_list *threads = &attr->lists[attr->nr_lists - 1];
	u32 tid;

	while (*node) {
		if (!get_half(reader, *node + attr->thread, &tid))
			return false;
		if (tid == self)
			return get_word(reader, *node + threads->first, frame);
		if (!take_node(reader) || !get_word(reader, *node + threads->next, node))
			return false;
	}
	return true;
}

static void find_thread(struct unwind_chain_reader *reader, const struct unwind_chain_attr *attr,
			unsigned long node, struct heads *heads)
{
	const u32 self = task_pid_vnr(current);
	unsigned long frame = 0;

	if (read_all(reader, step_threads(reader, attr, self, &node, &frame)))
		add_head(heads, frame);
}

static void find_heads(struct unwind_chain_reader *reader, const struct unwind_chain_attr *attr,
		       unsigned long head, struct heads *heads)
{
	const struct unwind_chain_list *groups = &attr->lists[0];
	unsigned long node, first;

	if (!read_all(reader, get_word(reader, head, &node)))
		return;
	if (!attr->nr_lists) {
		add_head(heads, node);
		return;
	}
	if (attr->nr_lists == 1) {
		find_thread(reader, attr, node, heads);
		return;
	}
	while (node && take_node(reader)) {
		if (!read_all(reader, get_word(reader, node + groups->first, &first)) ||
		    !read_all(reader, get_word(reader, node + groups->next, &node)))
			return;
		find_thread(reader, attr, first, heads);
	}
}

/*
 * Frames
 */

/**
 * struct natives - the native stack
 * @sps: the stack pointer of each frame; 0 if it is not known
 * @nr: number of frames
 * @from: the entry frames from here on lie in this frame, or further out
 */
struct natives {
	const unsigned long	*sps;
	unsigned int		nr;
	unsigned int		from;
};

/* The native frame around an address, or UNWIND_CHAIN_APART */
static __always_inline u16 place_of(struct natives *natives, unsigned long addr)
{
	const unsigned long *sps = natives->sps;
	unsigned int i;

	for (i = natives->from; i + 1 < natives->nr; i++) {
		if (sps[i] && addr >= sps[i] && addr < sps[i + 1]) {
			natives->from = i;
			return i;
		}
	}
	return UNWIND_CHAIN_APART;
}

static __always_inline void set_place(struct unwind_chain_stack *stack, unsigned int first,
				      u16 place)
{
	for (; first < stack->nr; first++)
		stack->frames[first].place = place;
}

/**
 * struct position - how far a list of frames was followed
 * @frame: the next frame; 0 at the end
 * @mark: a frame that was met before
 * @steps: number of frames so far
 * @mark_at: the number at which the mark is set anew
 * @first: the first frame in the stack whose place is not known yet
 */
struct position {
	unsigned long	frame;
	unsigned long	mark;
	unsigned int	steps;
	unsigned int	mark_at;
	unsigned int	first;
};

static __always_inline bool next_frame(struct unwind_chain_reader *reader,
				       const struct unwind_chain_attr *attr,
				       unsigned long frame, unsigned long *next)
{
	if (attr->stride) {
		*next = frame + attr->stride;
		return true;
	}
	return get_word(reader, frame + attr->next, next);
}

static __always_inline bool read_check(struct unwind_chain_reader *reader,
				       const struct unwind_chain_attr *attr,
				       unsigned long function, u32 *hash)
{
	unsigned long check[2];

	*hash = 0;
	if (!function)
		return true;
	if (!get_word(reader, function + attr->check[0], &check[0]) ||
	    !get_word(reader, function + attr->check[1], &check[1]))
		return false;
	*hash = hash_64(check[0] * GOLDEN_RATIO_64 ^ check[1], 32);
	return true;
}

/*
 * Add the frames from @at outwards: false if it is not known what follows.  A list that
 * comes back to where it was is found as Brent did: the mark is set anew at each power of two.
 * When there is no more room, the next entry frame still says where the last ones belong.
 */
static __always_inline bool step_frames(struct unwind_chain_reader *reader,
					struct unwind_chain_stack *stack,
					const struct unwind_chain_attr *attr,
					struct natives *natives, struct position *at)
{
	unsigned long function, next;
	u32 bits = 0, line = 1;

	while (at->frame && at->frame != at->mark) {
		struct unwind_chain_frame *to = &stack->frames[stack->nr];

		if ((attr->entry_mask && !get_half(reader, at->frame + attr->entry, &bits)) ||
		    !next_frame(reader, attr, at->frame, &next))
			return false;
		if (attr->entry_mask && (bits & attr->entry_mask) == attr->entry_value) {
			set_place(stack, at->first,
				  place_of(natives, unwind_arch_untag(at->frame)));
			at->first = stack->nr;
			if (stack->nr == UNWIND_CHAIN_FRAMES)
				return false;
		} else if (stack->nr < UNWIND_CHAIN_FRAMES) {
			line = 1;
			if (!get_word(reader, at->frame + attr->function, &function))
				return false;
			function &= attr->function_mask;
			if (attr->stride && !function) {
				at->frame = 0;
				break;
			}
			if (!read_check(reader, attr, function, &to->check))
				return false;
			if (function && attr->flags & UNWIND_CHAIN_LINE &&
			    !get_half(reader, function + attr->line, &line))
				return false;
			/* The runtime made this function for itself, if it is in no line */
			if (line) {
				to->function = function;
				to->chain = stack->nr_chains - 1;
				stack->nr++;
			}
		}
		if (!take_node(reader))
			return false;
		if (++at->steps == at->mark_at) {
			at->mark = at->frame;
			at->mark_at *= 2;
		}
		at->frame = next;
	}
	return !at->frame;
}

static bool add_frames(struct unwind_chain_reader *reader, struct unwind_chain_stack *stack,
		       unsigned long frame, struct natives *natives)
{
	const struct unwind_chain_attr *attr = &stack->chains[stack->nr_chains - 1]->attr;
	struct position at = { .frame = frame, .mark_at = 1, .first = stack->nr };
	bool all;

	all = read_all(reader, step_frames(reader, stack, attr, natives, &at));
	set_place(stack, at.first, UNWIND_CHAIN_APART);
	return all;
}

static void add_chain(struct unwind_chain_reader *reader, struct unwind_chain_stack *stack,
		      const struct unwind_chain_found *found, struct natives *natives)
{
	struct heads heads = {};
	unsigned int i;

	stack->chains[stack->nr_chains++] = found->chain;
	find_heads(reader, &found->chain->attr, found->head, &heads);
	for (i = 0; i < heads.nr; i++) {
		natives->from = 0;
		stack->cut |= !add_frames(reader, stack, heads.frame[i], natives);
	}
}

/*
 * The native stack
 */

/* Walk the stack of @trace again; how many frames are the same */
static unsigned int walk_again(const struct unwind_stacktrace *trace, unsigned long *ips,
			       struct unwind_walk_notes *notes)
{
	struct unwind_stacktrace again = { .entries = ips };
	struct unwind_walk_state state;
	unsigned int i;
	u32 rights;

	if (unwind_walk_start(&state, task_pt_regs(current)))
		return 0;
	state.notes = notes;
	notes->sps[0] = state.sp;
	rights = unwind_arch_keys_open();
	unwind_walk_all_frames(&state, &again, trace->nr);
	unwind_arch_keys_close(rights);
	for (i = 0; i < again.nr && ips[i] == trace->entries[i]; i++)
		;
	return i;
}

/**
 * unwind_chain_note - note that a file with a chain was met on the stack
 * @notes: of the walk
 * @table: the file's table, which has a chain
 * @start: where the file would begin
 *
 * Context: any, in an RCU read-side critical section.
 */
void unwind_chain_note(struct unwind_walk_notes *notes, const struct sframe_table *table,
		       unsigned long start)
{
	const unsigned long head = start + table->chain->attr.head;
	struct unwind_chain_found *found = notes->found;
	unsigned int i;

	for (i = 0; i < notes->nr_found; i++) {
		if (found[i].head == head)
			return;
	}
	if (i == UNWIND_CHAINS || !refcount_inc_not_zero(&table->chain->users))
		return;
	found[i].chain = table->chain;
	found[i].head = head;
	notes->nr_found++;
}

static void put_found(struct unwind_walk_notes *notes)
{
	while (notes->nr_found)
		unwind_chain_put(notes->found[--notes->nr_found].chain);
}

static void read_chains(struct unwind_chain_stack *stack, const struct unwind_walk_notes *notes,
			unsigned int nr_natives)
{
	struct unwind_chain_reader reader = { .nodes = MAX_NODES, .waits = MAX_WAITS };
	struct natives natives = { .sps = notes->sps, .nr = nr_natives };
	unsigned int i;
	u32 rights;

	stack->nr = 0;
	stack->nr_chains = 0;
	stack->cut = false;
	rights = unwind_arch_keys_open();
	for (i = 0; i < notes->nr_found; i++)
		add_chain(&reader, stack, &notes->found[i], &natives);
	unwind_arch_keys_close(rights);
}

/**
 * unwind_chain_take - take the frames of languages that belong to a native stack
 * @trace: the current task's stack, as it was taken for this return to user space
 *
 * Context: the callback of a client of deferred unwinding.
 * Return: the frames, to be freed with unwind_chain_free(); NULL if there are none.
 */
struct unwind_chain_stack *unwind_chain_take(const struct unwind_stacktrace *trace)
{
	unsigned long *words __free(kfree) = NULL;
	struct unwind_walk_notes notes = {};
	struct unwind_chain_stack *stack = NULL;
	unsigned int nr = 0;

	if (!trace->nr || !unwind_has_stack(current))
		return NULL;
	notes.nr_found = unwind_tables_get_chains(current->mm, notes.found);
	if (!notes.nr_found && !atomic_read(&unwind_file_chains))
		return NULL;
	/* The largest objects that come from slabs: pages would take longer than all the rest */
	BUILD_BUG_ON(sizeof(*stack) > SZ_8K);
	/* Not accounted: it is freed before the task returns */
	words = kmalloc_array(trace->nr, 2 * sizeof(*words), GFP_KERNEL | __GFP_NOWARN);
	if (words) {
		notes.sps = words + trace->nr;
		nr = walk_again(trace, words, &notes);
		if (!notes.nr_found)
			return NULL;
		stack = kmalloc(sizeof(*stack), GFP_KERNEL | __GFP_NOWARN);
	}
	if (!stack) {
		put_found(&notes);
		return NULL;
	}
	read_chains(stack, &notes, nr);
	if (stack->nr)
		return stack;
	unwind_chain_free(stack);
	return NULL;
}

/**
 * unwind_chain_free - free what unwind_chain_take() returned
 * @stack: the frames, or NULL
 *
 * Context: any but NMI.
 */
void unwind_chain_free(struct unwind_chain_stack *stack)
{
	unsigned int i;

	if (!stack)
		return;
	for (i = 0; i < stack->nr_chains; i++)
		unwind_chain_put(stack->chains[i]);
	kfree(stack);
}
