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
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/unwind_chain.h>
#include <linux/unwind_stack.h>
#include <linux/unwind_user_types.h>
#include <asm/unwind_arch.h>

#include "chain.h"
#include "file.h"
#include "tables.h"
#include "unwind_mem.h"
#include "walk.h"

/* Nodes that are visited for one stack, in all lists */
#define MAX_NODES	4096
/* Pages that are waited for on behalf of one stack */
#define MAX_WAITS	32

/*
 * Reads of the task's memory
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
 * unwind_chain_read_u64 - read a word of the task's memory
 * @reader: what may still be done
 * @addr: its address, which may be anything
 * @val: set on success
 *
 * Context: task; may sleep; without the mmap lock.
 * Return: whether it was read.
 */
bool unwind_chain_read_u64(struct unwind_chain_reader *reader, u64 addr, u64 *val)
{
	int ret;

	addr = unwind_arch_untag(addr);
	do {
		pagefault_disable();
		ret = unwind_read_u64(val, addr);
		pagefault_enable();
	} while (unlikely(ret) && bring_in(reader, addr, sizeof(*val)));
	return !ret;
}

/**
 * unwind_chain_read_u32 - read 32 bits of the task's memory
 * @reader: as for unwind_chain_read_u64()
 * @addr: likewise
 * @val: likewise
 *
 * Context: task; may sleep; without the mmap lock.
 * Return: whether it was read.
 */
bool unwind_chain_read_u32(struct unwind_chain_reader *reader, u64 addr, u32 *val)
{
	int ret;

	addr = unwind_arch_untag(addr);
	do {
		pagefault_disable();
		ret = unwind_read_u32(val, addr);
		pagefault_enable();
	} while (unlikely(ret) && bring_in(reader, addr, sizeof(*val)));
	return !ret;
}

/**
 * unwind_chain_read - read some bytes of the task's memory
 * @reader: as for unwind_chain_read_u64()
 * @addr: likewise
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

static bool take_node(struct unwind_chain_reader *reader)
{
	if (!reader->nodes)
		return false;
	reader->nodes--;
	return true;
}

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
	u64		frame[UNWIND_CHAIN_MAX];
};

static void add_head(struct heads *heads, u64 frame)
{
	if (frame && heads->nr < ARRAY_SIZE(heads->frame))
		heads->frame[heads->nr++] = frame;
}

/* Find the current task in a list of threads */
static void find_thread(struct unwind_chain_reader *reader, const struct unwind_chain_attr *attr,
			u64 node, struct heads *heads)
{
	const struct unwind_chain_list *threads = &attr->lists[attr->nr_lists - 1];
	const pid_t self = task_pid_vnr(current);
	u64 frame;
	u32 tid;

	while (node && take_node(reader)) {
		if (!unwind_chain_read_u32(reader, node + attr->thread, &tid))
			return;
		if (tid == self) {
			if (unwind_chain_read_u64(reader, node + threads->first, &frame))
				add_head(heads, frame);
			return;
		}
		if (!unwind_chain_read_u64(reader, node + threads->next, &node))
			return;
	}
}

static void find_heads(struct unwind_chain_reader *reader, const struct unwind_chain_attr *attr,
		       unsigned long head, struct heads *heads)
{
	u64 node, first;

	if (!unwind_chain_read_u64(reader, head, &node))
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
		if (!unwind_chain_read_u64(reader, node + attr->lists[0].first, &first))
			return;
		find_thread(reader, attr, first, heads);
		if (!unwind_chain_read_u64(reader, node + attr->lists[0].next, &node))
			return;
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
static u16 place_of(struct natives *natives, unsigned long addr)
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

static bool is_entry(struct unwind_chain_reader *reader, const struct unwind_chain_attr *attr,
		     u64 frame, bool *entry)
{
	u32 bits;

	*entry = false;
	if (!attr->entry_mask)
		return true;
	if (!unwind_chain_read_u32(reader, frame + attr->entry, &bits))
		return false;
	*entry = (bits & attr->entry_mask) == attr->entry_value;
	return true;
}

/* The frame's function; 0 if it has none */
static bool read_function(struct unwind_chain_reader *reader,
			  const struct unwind_chain_attr *attr, u64 frame,
			  struct unwind_chain_frame *to)
{
	u64 function, check[2];

	if (!unwind_chain_read_u64(reader, frame + attr->function, &function))
		return false;
	to->function = function & attr->function_mask;
	to->check = 0;
	if (to->function &&
	    unwind_chain_read_u64(reader, to->function + attr->check[0], &check[0]) &&
	    unwind_chain_read_u64(reader, to->function + attr->check[1], &check[1]))
		to->check = hash_64(check[0] * GOLDEN_RATIO_64 ^ check[1], 32);
	return true;
}

static void set_place(struct unwind_chain_stack *stack, unsigned int first, u16 place)
{
	for (; first < stack->nr; first++)
		stack->frames[first].place = place;
}

static bool next_frame(struct unwind_chain_reader *reader, const struct unwind_chain_attr *attr,
		       u64 *frame)
{
	if (attr->stride) {
		*frame += attr->stride;
		return true;
	}
	return unwind_chain_read_u64(reader, *frame + attr->next, frame);
}

/*
 * Add the frames from @frame outwards; false if it is not known what follows.  A frame that
 * was met before is found as Brent did: the mark is set anew at each power of two.
 */
static bool add_frames(struct unwind_chain_reader *reader, struct unwind_chain_stack *stack,
		       u64 frame, struct natives *natives)
{
	const unsigned int chain = stack->nr_chains - 1;
	const struct unwind_chain_attr *attr = &stack->chains[chain]->attr;
	unsigned int first = stack->nr, steps = 0, mark_at = 1;
	u64 mark = 0;
	bool entry;

	while (frame && frame != mark) {
		struct unwind_chain_frame *to = &stack->frames[stack->nr];

		if (++steps == mark_at) {
			mark = frame;
			mark_at *= 2;
		}
		if (!take_node(reader) || !is_entry(reader, attr, frame, &entry))
			break;
		if (entry) {
			set_place(stack, first, place_of(natives, unwind_arch_untag(frame)));
			first = stack->nr;
		} else {
			if (stack->nr == UNWIND_CHAIN_FRAMES ||
			    !read_function(reader, attr, frame, to))
				break;
			if (attr->stride && !to->function) {
				frame = 0;
				break;
			}
			to->chain = chain;
			stack->nr++;
		}
		if (!next_frame(reader, attr, &frame))
			break;
	}
	set_place(stack, first, UNWIND_CHAIN_APART);
	return !frame;
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
	words = kmalloc_array(trace->nr, 2 * sizeof(*words), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (words) {
		notes.sps = words + trace->nr;
		nr = walk_again(trace, words, &notes);
		if (!notes.nr_found)
			return NULL;
		stack = kmalloc(sizeof(*stack), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
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
