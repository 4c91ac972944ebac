// SPDX-License-Identifier: GPL-2.0
/*
 * User stacks as keys of hist triggers.
 *
 * A user stack is not there yet when an event is traced, so it cannot be a key of the
 * event's own hist trigger.  It is a key of the event that brings the stack:
 *
 *	echo 'userstacktrace if prev_state == 2' >events/sched/sched_switch/trigger
 *	echo 'hist:keys=stack.userstack' >events/ftrace/user_unwind_stack/trigger
 *
 * counts where programs wait for their disks: one hit for each entry into the kernel
 * with a request.  A user with several questions gives each a trace instance: an
 * instance counts its own stacks.
 *
 * The key is a number that stands for the whole stack, at any depth; an address list
 * in a histogram has room for 16.  Two stacks are the same if their frames are at the
 * same offsets in the same files, wherever these are mapped.  So the stacks of many
 * processes of one program add up.  Stacks get numbers only while the event has triggers,
 * as they have to be stored.  Once USER_STACK_FRAMES_MAX frames are stored, all new stacks
 * count as one, with number 0, until the event gets its first hist trigger again.  So do
 * stacks that could not be unwound.
 */

#include <linux/cleanup.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "trace_user_unwind.h"

/* About 4 MB */
#define USER_STACK_FRAMES_MAX	(256 * 1024)

/* A line: the longest path, its build-id, and an offset */
#define USER_STACK_LINE		1280

struct user_place {
	u64	offset;
	u32	id;
};

struct user_stack {
	struct hlist_node	by_hash;
	u32			hash;
	u32			id;
	unsigned int		nr;
	struct user_place	place[] __counted_by(nr);
};

static u32 hash_frames(const struct trace_user_stacks *stacks,
		       const struct trace_user_frame *frames, unsigned int nr)
{
	u32 hash = stacks->seed ^ nr;
	unsigned int i;

	for (i = 0; i < nr; i++)
		hash = jhash_3words(lower_32_bits(frames[i].offset),
				    upper_32_bits(frames[i].offset),
				    frames[i].id, hash);
	return hash;
}

static bool is_stack(const struct user_stack *stack,
		     const struct trace_user_frame *frames, unsigned int nr)
{
	unsigned int i;

	if (stack->nr != nr)
		return false;
	for (i = 0; i < nr; i++) {
		if (stack->place[i].id != frames[i].id ||
		    stack->place[i].offset != frames[i].offset)
			return false;
	}
	return true;
}

static struct user_stack *alloc_stack(const struct trace_user_frame *frames,
				      unsigned int nr, u32 hash)
{
	struct user_stack *stack;
	unsigned int i;

	stack = kmalloc(struct_size(stack, place, nr), GFP_KERNEL | __GFP_NOWARN);
	if (!stack)
		return NULL;
	stack->hash = hash;
	stack->nr = nr;
	for (i = 0; i < nr; i++) {
		stack->place[i].id = frames[i].id;
		stack->place[i].offset = frames[i].offset;
	}
	return stack;
}

static u32 add_stack(struct trace_user_stacks *stacks,
		     const struct trace_user_frame *frames, unsigned int nr,
		     u32 hash)
{
	struct user_stack *stack;

	lockdep_assert_held(&stacks->lock);

	/* The other data of a stack count as one more frame */
	if (stacks->nr_frames + nr + 1 > USER_STACK_FRAMES_MAX)
		return 0;
	stack = alloc_stack(frames, nr, hash);
	if (!stack)
		return 0;
	stack->id = stacks->next_id;
	if (xa_err(xa_store(&stacks->by_id, stack->id, stack, GFP_KERNEL | __GFP_NOWARN))) {
		kfree(stack);
		return 0;
	}
	hash_add(stacks->by_hash, &stack->by_hash, hash);
	stacks->next_id++;
	stacks->nr_frames += nr + 1;
	return stack->id;
}

/**
 * trace_user_stack_id - the number under which a stack is counted
 * @stacks: the trace array's
 * @frames: the stack's
 * @nr: number of @frames
 *
 * Context: task; may sleep.
 * Return: the number; 0 if there is no room for another stack.
 */
u32 trace_user_stack_id(struct trace_user_stacks *stacks,
			const struct trace_user_frame *frames, unsigned int nr)
{
	u32 hash = hash_frames(stacks, frames, nr);
	struct user_stack *stack;

	guard(mutex)(&stacks->lock);
	hash_for_each_possible(stacks->by_hash, stack, by_hash, hash) {
		if (stack->hash == hash && is_stack(stack, frames, nr))
			return stack->id;
	}
	return add_stack(stacks, frames, nr, hash);
}

static void show_frames(struct seq_file *m, struct trace_array *tr,
			const struct user_stack *stack, char *line)
{
	unsigned int i;

	for (i = 0; i < stack->nr; i++) {
		const struct user_place *place = &stack->place[i];
		struct seq_buf s;

		seq_buf_init(&s, line, USER_STACK_LINE);
		trace_user_file_print(&s, tr, place->id, place->offset,
				      !i || place->id != place[-1].id);
		seq_printf(m, "         %s\n", seq_buf_str(&s));
	}
}

/**
 * trace_user_stack_show - print the stack that has a number
 * @m: destination
 * @tr: the trace array
 * @id: the number
 *
 * Context: task; may sleep; under event_mutex, so that the stack stays.
 */
void trace_user_stack_show(struct seq_file *m, struct trace_array *tr, u32 id)
{
	struct trace_user_unwind *unwind = READ_ONCE(tr->user_unwind);
	const struct user_stack *stack = NULL;
	char *line;

	if (unwind) {
		guard(mutex)(&unwind->stacks.lock);
		stack = xa_load(&unwind->stacks.by_id, id);
	}
	/* A stored stack does not change */
	line = kmalloc(USER_STACK_LINE, GFP_KERNEL | __GFP_NOWARN);
	if (stack && line)
		show_frames(m, tr, stack, line);
	else
		seq_puts(m, "         [other stacks]\n");
	kfree(line);
}

/**
 * trace_user_stack_is_field - does a field of an event have such a number?
 * @call: the event
 * @name: name of the field
 *
 * Return: true for the field "stack" of user_unwind_stack.
 */
bool trace_user_stack_is_field(const struct trace_event_call *call,
			       const char *name)
{
	return call->event.type == TRACE_USER_UNWIND_STACK &&
	       !strcmp(name, "stack");
}

/**
 * trace_user_stacks_init - start with no stacks
 * @stacks: zeroed
 */
void trace_user_stacks_init(struct trace_user_stacks *stacks)
{
	mutex_init(&stacks->lock);
	xa_init(&stacks->by_id);
	hash_init(stacks->by_hash);
	stacks->seed = get_random_u32();
	stacks->next_id = 1;
}

static void free_stacks(struct trace_user_stacks *stacks)
{
	struct user_stack *stack;
	unsigned long id;

	xa_for_each(&stacks->by_id, id, stack)
		kfree(stack);
	xa_destroy(&stacks->by_id);
}

static bool is_counted(const struct trace_event_file *file)
{
	const struct event_trigger_data *data;

	list_for_each_entry(data, &file->triggers, list) {
		if (data->cmd_ops->trigger_type == ETT_EVENT_HIST)
			return true;
	}
	return false;
}

/**
 * trace_user_stacks_renew - start with no stacks again, unless a histogram has some
 * @file: an event that is about to get a hist trigger
 *
 * A histogram needs its stacks as long as it can be read, also when the buffer is reset.  The
 * next one does not.  Without this, a trace array that was full once would never count a new
 * stack again.  Numbers are not used again: a stack that is being delivered meanwhile may be
 * counted as one of the others, but not as another one.
 *
 * Context: task, under event_mutex, as trace_user_stack_show().
 */
void trace_user_stacks_renew(const struct trace_event_file *file)
{
	struct trace_user_unwind *unwind = file->tr->user_unwind;
	struct trace_user_stacks *stacks;

	lockdep_assert_held(&event_mutex);

	if (!unwind || file != file->tr->user_unwind_file || is_counted(file))
		return;
	stacks = &unwind->stacks;
	guard(mutex)(&stacks->lock);
	free_stacks(stacks);
	hash_init(stacks->by_hash);
	stacks->nr_frames = 0;
}

/**
 * trace_user_stacks_destroy - free all stacks
 * @stacks: without users that add or print
 */
void trace_user_stacks_destroy(struct trace_user_stacks *stacks)
{
	free_stacks(stacks);
	mutex_destroy(&stacks->lock);
}
