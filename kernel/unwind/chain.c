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
 * A chain (uapi/linux/unwind.h) says how to follow the pointers.  The task itself does that,
 * when a deferred stack is delivered: its own frames do not change meanwhile.  Lists of
 * threads may.  If that hides the thread, the stack has no frames of the language.
 *
 * The memory is not trusted.  Each value is read once, by a read that may fail; the number
 * of nodes is bounded; a list with a loop is cut.
 *
 * A frame belongs to the native frame that executes it.  If the runtime has entry frames, this
 * is the native frame around the next entry frame, from its stack pointer up to its caller's.
 * Otherwise, it is the next native frame of the function that executes frames.  If the two
 * stacks do not fit, the frames stand apart.  The walk of the native stack has noted the stack
 * pointers and the chains of files in struct unwind_walk_notes; the frames of languages are
 * put there, too, for all clients.
 */

#include <linux/hash.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/unwind_chain.h>
#include <linux/unwind_user_types.h>
#include <asm/unwind_arch.h>

#include "chain.h"
#include "memory.h"
#include "file.h"
#include "tables.h"
#include "walk.h"
#include "words.h"

/* Nodes that are visited for one stack, in all lists */
#define MAX_NODES	4096
/* Missing pages that may be brought in for one stack */
#define MAX_WAITS	32

/*
 * Reads of the task's memory
 *
 * User access is enabled while a loop visits nodes, so it calls no functions.  If a word is
 * not resident, the loop stops, and continues at the same node after it was brought in.
 */

/* Bring in memory that a read has missed; true if the read may be tried again */
static noinline bool bring_in(struct unwind_chain_reader *reader, unsigned long addr, size_t size)
{
	if (!reader->waits || !unwind_may_wait())
		return false;
	reader->waits--;
	return unwind_bring_in(addr, size, 0);
}

/**
 * unwind_chain_read - read some bytes of the task's memory
 * @reader: limits of the remaining work
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
	if (unlikely(ret)) {
		reader->missing = addr;
		reader->missing_size = size;
	}
	return !ret;
}

/* Called with user access enabled; notes the address of a word that is not resident */
static __always_inline bool get_word(struct unwind_chain_reader *reader, unsigned long addr,
				     unsigned long *word)
{
	addr = unwind_arch_untag(addr);
	if (likely(read_word(addr, word)))
		return true;
	reader->missing = addr;
	reader->missing_size = sizeof(*word);
	return false;
}

static __always_inline bool get_half(struct unwind_chain_reader *reader, unsigned long addr,
				     u32 *half)
{
	addr = unwind_arch_untag(addr);
	if (likely(read_half(addr, half)))
		return true;
	reader->missing = addr;
	reader->missing_size = sizeof(*half);
	return false;
}

static __always_inline bool take_node(struct unwind_chain_reader *reader)
{
	if (!reader->nodes)
		return false;
	reader->nodes--;
	return true;
}

/* Evaluate @step, and repeat it after each missing page was brought in; false if it failed */
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
		 bring_in(__reader, __reader->missing, __reader->missing_size));		\
	__all;									\
})

/*
 * The path to the thread's frames
 */

/**
 * struct heads - the innermost frames of a thread, one for each interpreter that it runs
 * @nr: number of frames
 * @cut: there may be more: for lack of room, or because a list could not be read to its end
 * @frame: their addresses
 */
struct heads {
	unsigned int	nr;
	bool		cut;
	unsigned long	frame[UNWIND_CHAIN_MAX];
};

static void add_head(struct heads *heads, unsigned long frame)
{
	if (frame && heads->nr < ARRAY_SIZE(heads->frame))
		heads->frame[heads->nr++] = frame;
	else
		heads->cut |= !!frame;
}

/* Search the list of threads from @node on for the current task; without it, @frame stays 0 */
static __always_inline bool step_threads(struct unwind_chain_reader *reader,
					 const struct unwind_chain_attr *attr,
					 const struct unwind_chain_list *threads, u32 self,
					 unsigned long *node, unsigned long *frame)
{
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
	const struct unwind_chain_list *threads = &attr->lists[attr->nr_lists - 1];
	const u32 self = task_pid_vnr(current);
	unsigned long frame = 0;

	if (read_all(reader, step_threads(reader, attr, threads, self, &node, &frame)))
		add_head(heads, frame);
	else
		heads->cut = true;
}

static void find_heads(struct unwind_chain_reader *reader, const struct unwind_chain_attr *attr,
		       unsigned long head, struct heads *heads)
{
	const struct unwind_chain_list *groups = &attr->lists[0];
	unsigned long node, first;

	/* Without a list of threads, only the process's first thread has frames */
	if (!attr->nr_lists && !thread_group_leader(current))
		return;
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
	while (node) {
		if (!take_node(reader) ||
		    !read_all(reader, get_word(reader, node + groups->first, &first)) ||
		    !read_all(reader, get_word(reader, node + groups->next, &node))) {
			heads->cut = true;
			return;
		}
		find_thread(reader, attr, first, heads);
	}
}

/*
 * Places
 */

/**
 * struct natives - the native stack
 * @ips: the address of each frame
 * @places: where each frame lies
 * @attr: the chain whose frames are placed
 * @base: the base of its addresses
 * @missed: there was no frame of this function where one was expected
 */
struct natives {
	const unsigned long	*ips;
	struct unwind_places	places;
	const struct unwind_chain_attr *attr;
	unsigned long		base;
	bool			missed;
};

/* Are frames placed by entry frames, and not by the text that executes them? */
static __always_inline bool has_entry_frames(const struct unwind_chain_attr *attr)
{
	return !attr->text[0].size;
}

static __always_inline bool in_text(const struct natives *natives, unsigned long ip)
{
	const struct unwind_chain_text *text = natives->attr->text;

	ip -= natives->base;
	return ip - text[0].start < text[0].size || ip - text[1].start < text[1].size;
}

/* The next native frame of the function that executes frames, or UNWIND_CHAIN_APART */
static __always_inline u16 next_executor(struct natives *natives)
{
	unsigned int i;

	while (natives->places.from < natives->places.nr) {
		i = natives->places.from++;
		/* Look up the call; only the topmost frame has an exact address */
		if (in_text(natives, natives->ips[i] - !!i))
			return i;
	}
	natives->missed = true;
	return UNWIND_CHAIN_APART;
}

/* Were all groups of frames placed, and has each executing native frame got one? */
static bool fits(struct natives *natives, bool all_placed)
{
	return all_placed && !natives->missed && next_executor(natives) == UNWIND_CHAIN_APART;
}

static __always_inline void set_place(struct unwind_chain_stack *stack, unsigned int first,
				      u16 place)
{
	struct unwind_chain_frame *frame = stack->frames + first;

	for (; frame < stack->frames + stack->nr; frame++)
		frame->place = place;
}

/*
 * Frames
 */

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

/**
 * struct node - the contents of a frame
 * @next: the caller's frame
 * @function: its function; 0 if it has none
 * @check: tells the function from others at its address
 * @entry: it matches attr->entry_mask
 * @executed: native frames execute its function
 * @hidden: the runtime made this function for itself
 */
struct node {
	unsigned long	next;
	unsigned long	function;
	u32		check;
	bool		entry;
	bool		executed;
	bool		hidden;
};

static __always_inline bool read_next(struct unwind_chain_reader *reader,
				      const struct unwind_chain_attr *attr,
				      unsigned long frame, struct node *node)
{
	u32 bits;

	node->entry = false;
	if (attr->entry_mask) {
		if (!get_half(reader, frame + attr->entry, &bits))
			return false;
		node->entry = (bits & attr->entry_mask) == attr->entry_value;
	}
	if (attr->stride) {
		node->next = frame + attr->stride;
		return true;
	}
	return get_word(reader, frame + attr->next, &node->next);
}

static __always_inline bool read_function(struct unwind_chain_reader *reader,
					  const struct unwind_chain_attr *attr,
					  unsigned long frame, struct node *node)
{
	unsigned long check[2];
	u32 kind = 0, line;

	node->executed = false;
	if (!get_word(reader, frame + attr->function, &node->function))
		return false;
	node->function &= attr->function_mask;
	node->hidden = !node->function;
	if (node->hidden)
		return true;
	if (!get_word(reader, node->function + attr->check[0], &check[0]) ||
	    !get_word(reader, node->function + attr->check[1], &check[1]))
		return false;
	node->check = hash_64(check[0] * GOLDEN_RATIO_64 ^ check[1], 32);
	if (attr->kind_mask && !get_half(reader, node->function + attr->kind, &kind))
		return false;
	node->executed = (kind & attr->kind_mask) == attr->kind_value;
	if (!node->executed || !(attr->flags & UNWIND_CHAIN_LINE))
		return true;
	if (!get_half(reader, node->function + attr->line, &line))
		return false;
	node->hidden = !line;
	return true;
}

static __always_inline void add_frame(struct unwind_chain_stack *stack, const struct node *node)
{
	struct unwind_chain_frame *to = stack->frames + stack->nr;

	if (stack->nr == UNWIND_CHAIN_FRAMES) {
		stack->cut = true;
		return;
	}
	to->function = node->function;
	to->check = node->check;
	to->chain = stack->nr_chains - 1;
	stack->nr++;
}

/*
 * Read a frame, and add it unless it is hidden, or is an entry frame and not a frame of the
 * language.  Return false if it cannot be read.  Frames for which there is no room are read, too:
 * they show to which native frame the last recorded ones belong.
 */
static __always_inline bool step_frame(struct unwind_chain_reader *reader,
				       struct unwind_chain_stack *stack,
				       const struct unwind_chain_attr *attr,
				       struct natives *natives, struct position *at,
				       struct node *node)
{
	if (!read_next(reader, attr, at->frame, node))
		return false;
	if (node->entry && has_entry_frames(attr)) {
		set_place(stack, at->first,
			  unwind_walk_place(&natives->places, unwind_arch_untag(at->frame)));
		at->first = stack->nr;
		/* If there is no more room, it is enough to know whether there is another frame */
		return stack->nr < UNWIND_CHAIN_FRAMES || !stack->cut;
	}
	if (!read_function(reader, attr, at->frame, node))
		return false;
	if (attr->stride && !node->function)
		node->next = 0;
	if (!node->hidden)
		add_frame(stack, node);
	if (node->entry && node->executed) {
		set_place(stack, at->first, next_executor(natives));
		at->first = stack->nr;
	}
	return true;
}

/*
 * Add the frames from @at outwards; return false if the rest is not known.  Brent's algorithm
 * detects a list with a loop: the mark moves at each power of two.
 */
static __always_inline bool step_frames(struct unwind_chain_reader *reader,
					struct unwind_chain_stack *stack,
					const struct unwind_chain_attr *attr,
					struct natives *natives, struct position *at)
{
	struct node node;

	while (at->frame && at->frame != at->mark) {
		if (!step_frame(reader, stack, attr, natives, at, &node) || !take_node(reader))
			return false;
		if (++at->steps == at->mark_at) {
			at->mark = at->frame;
			at->mark_at *= 2;
		}
		at->frame = node.next;
	}
	return !at->frame;
}

static bool add_frames(struct unwind_chain_reader *reader, struct unwind_chain_stack *stack,
		       unsigned long frame, struct natives *natives)
{
	const struct unwind_chain_attr *attr = &stack->chains[stack->nr_chains - 1]->attr;
	struct position at = { .frame = frame, .mark_at = 1, .first = stack->nr };
	const unsigned int first = stack->nr;
	bool all;

	natives->places.from = 0;
	natives->missed = false;
	all = read_all(reader, step_frames(reader, stack, attr, natives, &at));
	/* Without entry frames, frames are counted: if the counts differ, no place is right */
	if (!has_entry_frames(attr) && !fits(natives, all && at.first == stack->nr))
		at.first = first;
	set_place(stack, at.first, UNWIND_CHAIN_APART);
	return all;
}

static unsigned long head_of(const struct unwind_chain_found *found)
{
	return found->base + found->chain->attr.head;
}

static void add_chain(struct unwind_chain_reader *reader, struct unwind_chain_stack *stack,
		      const struct unwind_chain_found *found, struct natives *natives)
{
	const struct unwind_chain_attr *attr = &found->chain->attr;
	struct heads heads = {};
	unsigned int i;

	stack->chains[stack->nr_chains++] = found->chain;
	natives->attr = attr;
	natives->base = found->base;
	find_heads(reader, attr, head_of(found), &heads);
	stack->cut |= heads.cut;
	for (i = 0; i < heads.nr; i++)
		stack->cut |= !add_frames(reader, stack, heads.frame[i], natives);
}

/*
 * The native stack
 */

/* Number of clients that want frames; while it is 0, walks take no notes */
static atomic_t readers = ATOMIC_INIT(0);

/**
 * unwind_chain_add_reader - a client will want frames: &struct unwind_work.wants_chains
 *
 * Context: any.
 */
void unwind_chain_add_reader(void)
{
	atomic_inc(&readers);
}

/**
 * unwind_chain_del_reader - a client does not want frames any more
 *
 * Context: any.
 */
void unwind_chain_del_reader(void)
{
	atomic_dec(&readers);
}

/**
 * unwind_chain_has_readers - may any client want frames?
 *
 * Context: any.
 * Return: whether there is a reader.
 */
bool unwind_chain_has_readers(void)
{
	return atomic_read(&readers);
}

static bool is_known(const struct unwind_chain_found *known, unsigned int nr,
		     const struct unwind_chain_found *found)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (head_of(&known[i]) == head_of(found))
			return true;
	}
	return false;
}

/**
 * unwind_chain_note - note that a file with a chain was met on the stack
 * @notes: notes of the walk
 * @table: the file's table, which has a chain
 * @base: the address at which the file would begin
 *
 * Context: any, in an RCU read-side critical section.
 */
void unwind_chain_note(struct unwind_walk_notes *notes, const struct sframe_table *table,
		       unsigned long base)
{
	const struct unwind_chain_found found = { .chain = table->chain, .base = base };

	if (notes->nr_found < ARRAY_SIZE(notes->found) &&
	    !is_known(notes->found, notes->nr_found, &found) &&
	    refcount_inc_not_zero(&table->chain->users))
		notes->found[notes->nr_found++] = found;
}

/**
 * unwind_chain_clear_notes - drop the notes, but keep their memory
 * @notes: of a walk
 *
 * Context: any but NMI.
 */
void unwind_chain_clear_notes(struct unwind_walk_notes *notes)
{
	struct unwind_chain_stack *stack = notes->stack;

	while (notes->nr_found)
		unwind_chain_put(notes->found[--notes->nr_found].chain);
	while (stack && stack->nr_chains)
		unwind_chain_put(stack->chains[--stack->nr_chains]);
	notes->nr = 0;
	notes->has_stack = false;
}

/**
 * unwind_chain_free_notes - drop the notes, and free their memory
 * @notes: of a walk
 *
 * Context: any but NMI.
 */
void unwind_chain_free_notes(struct unwind_walk_notes *notes)
{
	unwind_chain_clear_notes(notes);
	if (notes->stack)
		kfree_rcu(notes->stack, rcu);
	notes->stack = NULL;
}

/* The chains that the process registered, and the chains of files on the stack */
static unsigned int find_chains(const struct unwind_walk_notes *notes,
				struct unwind_chain_found *found)
{
	unsigned int i, nr = unwind_chains_get(current->mm, found);

	BUILD_BUG_ON(UNWIND_CHAIN_MAX + ARRAY_SIZE(notes->found) >= UNWIND_CHAINS);
	for (i = 0; i < notes->nr_found; i++) {
		if (is_known(found, nr, &notes->found[i]))
			continue;
		refcount_inc(&notes->found[i].chain->users);
		found[nr++] = notes->found[i];
	}
	return nr;
}

static void read_chains(struct unwind_chain_stack *stack, const struct unwind_chain_found *found,
			unsigned int nr_found, struct natives *natives)
{
	struct unwind_chain_reader reader = { .nodes = MAX_NODES, .waits = MAX_WAITS };
	unsigned int i;
	u32 rights;

	rights = unwind_arch_keys_open();
	for (i = 0; i < nr_found; i++)
		add_chain(&reader, stack, &found[i], natives);
	unwind_arch_keys_close(rights);
	stack->waits = reader.waits;
}

/**
 * unwind_chain_get_stack - get memory for frames of languages
 * @notes: notes of the walk
 *
 * Context: task; may sleep.
 * Return: the memory, which may contain frames already; NULL if there is none.
 */
struct unwind_chain_stack *unwind_chain_get_stack(struct unwind_walk_notes *notes)
{
	struct unwind_chain_stack *stack = notes->stack;

	/* Fits into a slab object: to allocate pages would take longer than everything else */
	BUILD_BUG_ON(sizeof(*stack) > SZ_8K);
	if (!stack)
		stack = kmalloc(sizeof(*stack), unwind_notes_gfp(notes));
	notes->stack = stack;
	if (!stack || notes->has_stack)
		return stack;
	stack->nr = 0;
	stack->nr_chains = 0;
	stack->cut = false;
	stack->nr_missing = 0;
	stack->waits = 0;
	notes->has_stack = true;
	return stack;
}

/**
 * unwind_chain_take - take the frames of languages that belong to a native stack
 * @trace: the current task's stack, as it was taken for this return to user space
 * @notes: notes of the walk; their @stack is set, if there are such frames
 *
 * Context: task; may sleep, and wait for the mmap lock and for pages.
 */
void unwind_chain_take(const struct unwind_stacktrace *trace, struct unwind_walk_notes *notes)
{
	struct unwind_chain_found found[UNWIND_CHAINS];
	struct natives natives = {
		.ips = trace->entries,
		.places.sps = notes->sps,
		.places.nr = min(trace->nr, notes->nr),
	};
	unsigned int nr;

	if (notes->has_stack || !unwind_has_stack(current))
		return;
	nr = find_chains(notes, found);
	if (!nr)
		return;
	if (!unwind_chain_get_stack(notes)) {
		while (nr)
			unwind_chain_put(found[--nr].chain);
		return;
	}
	natives.places.visits = natives.places.nr + MAX_NODES;
	read_chains(notes->stack, found, nr, &natives);
}

/**
 * unwind_chain_settle - bring in memory that was missing for names
 * @notes: notes of the walk, after the clients were called
 *
 * A client that may not wait has skipped these names, and finds them with the next stack.
 *
 * Context: as unwind_chain_take().
 */
void unwind_chain_settle(struct unwind_walk_notes *notes)
{
	struct unwind_chain_stack *stack = notes->stack;
	struct unwind_chain_reader reader;
	u32 rights;

	if (!notes->has_stack || !stack->nr_missing)
		return;
	reader = (struct unwind_chain_reader){ .waits = stack->waits };
	rights = unwind_arch_keys_open();
	while (stack->nr_missing) {
		const struct unwind_chain_missing *missing = &stack->missing[--stack->nr_missing];

		bring_in(&reader, missing->addr, missing->size);
	}
	unwind_arch_keys_close(rights);
	stack->waits = reader.waits;
}
