// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred user stacks in the trace: a cookie with the event, the stack later.
 *
 *   event, any context:       user_unwind_cookie  cookie
 *   return to user space:     user_unwind_file    number, path, build-id: where it is missing
 *                             user_unwind_stack   cookie, (number, offset) per frame
 *
 * The option userstacktrace_deferred, or the trigger userstacktrace, writes a cookie
 * after an event, because the user stack can be unwound only where memory may be faulted
 * in.  Events of one entry into the kernel share a cookie and its stack.
 *
 * Each trace array is a client of its own (linux/unwind_deferred.h).  So the deferred
 * core knows which of them asked, in NMIs as well.  It brings one stack per cookie and
 * trace array, also for a killed task, and none to a trace array that did not ask.
 * The core has room for some sixty clients; beyond that, the option or trigger cannot be
 * set.
 *
 * Frames of interpreted languages stand among the others, each before the native frame that
 * executes it; if it belongs to none, it comes last.
 *
 * With tracing_on 0, stacks are lost.  When the last user of a trace array goes, its
 * pending stacks are lost, too.
 *
 * Locks: event_mutex > SRCU of the core, as cancelling a client waits for its
 * callbacks; in these, a mapping's lock > files->lock.
 */

#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sort.h>
#include <linux/unwind_chain.h>
#include <linux/unwind_stack.h>

#include "trace_user_unwind.h"

/* Bytes per frame in the event; and of all frames, as a field's size has 16 bits */
#define USER_FRAME_SIZE	(sizeof(unsigned long) + sizeof(u32) + sizeof(u64))
#define USER_STACK_SIZE	U16_MAX

/* At the limit of its group, a task loses a stack: nobody is killed for it */
#define STACK_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

/*
 * Names of functions that are read for one stack: a process could have new ones all the time,
 * and fill the buffer.
 */
#define MAX_NAMES	64

/*
 * Find the file and offset of an address, so that the stack is of use after its program
 * is gone.  The address of a call at the very end of its text does not lie in it.
 */
static struct vm_area_struct *find_text(struct mm_struct *mm, unsigned long ip)
{
	struct vm_area_struct *vma = vma_lookup(mm, ip);

	if (vma && vma->vm_flags & VM_EXEC)
		return vma;
	return vma_lookup(mm, ip - 1) ?: vma;
}

/* @before: a frame in the same mapping, or NULL */
static void place_frame(struct trace_user_files *files, unsigned long ip,
			struct vm_area_struct *vma, struct trace_user_frame *frame,
			const struct trace_user_frame *before)
{
	enum unwind_text_kind kind = unwind_find_text(vma, ip, &frame->offset);

	frame->ip = ip;
	if (kind != UNWIND_TEXT_FILE)
		frame->id = kind;
	else if (before && before->id >= USER_FILE_FIRST_ID)
		frame->id = before->id;
	else
		frame->id = trace_user_file_id(files, vma);
}

/* The same, if the mapping can be locked at once */
static struct vm_area_struct *lock_text(struct mm_struct *mm, unsigned long ip)
{
	struct vm_area_struct *vma = lock_vma_under_rcu(mm, ip), *before;

	if (vma && vma->vm_flags & VM_EXEC)
		return vma;
	before = lock_vma_under_rcu(mm, ip - 1);
	if (!before)
		return vma;
	if (vma)
		vma_end_read(vma);
	return before;
}

/* Place the frames whose mappings can be locked; return the number of others */
static unsigned int place_locked(struct trace_user_files *files,
				 const struct unwind_stacktrace *trace,
				 struct trace_user_frame *frames)
{
	struct vm_area_struct *vma = NULL;
	unsigned int i, nr = 0;

	for (i = 0; i < trace->nr; i++) {
		unsigned long ip = trace->entries[i];
		bool same = vma && ip >= vma->vm_start && ip < vma->vm_end;

		if (!same) {
			if (vma)
				vma_end_read(vma);
			vma = lock_text(current->mm, ip);
		}
		place_frame(files, ip, vma, &frames[i], same ? &frames[i - 1] : NULL);
		nr += !vma;
	}
	if (vma)
		vma_end_read(vma);
	return nr;
}

/*
 * Find the place of each frame: its mapping, and the offset in that.  If there is none,
 * or it is being changed, look again, provided that this does not wait.  Callbacks
 * read no file, and do not wait for the mmap lock: the traced program may decide how long
 * these take (FUSE), and all of tracing would wait.
 */
static void place_frames(struct trace_user_files *files,
			 const struct unwind_stacktrace *trace,
			 struct trace_user_frame *frames)
{
	struct mm_struct *mm = current->mm;
	unsigned int i;

	if (!place_locked(files, trace, frames) || !mmap_read_trylock(mm))
		return;
	for (i = 0; i < trace->nr; i++) {
		unsigned long ip = trace->entries[i];

		if (frames[i].id == UNWIND_TEXT_NONE)
			place_frame(files, ip, find_text(mm, ip), &frames[i], NULL);
	}
	mmap_read_unlock(mm);
}

/* In the order of their places, and of one place as they are */
static int compare_places(const void *a, const void *b)
{
	const struct unwind_chain_frame *x = *(const void **)a, *y = *(const void **)b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x < y ? -1 : 1;
}

/* The last of frames that were cut is followed by a sign; returns how many were written */
static unsigned int place_function(struct trace_user_files *files,
				   struct unwind_chain_stack *stack,
				   const struct unwind_chain_frame *function,
				   struct trace_user_frame *frame, unsigned int *names)
{
	frame[0] = (struct trace_user_frame){
		.ip = function->function,
		.id = trace_user_function_id(files, stack, function, names),
	};
	if (!stack->cut || function != &stack->frames[stack->nr - 1])
		return 1;
	frame[1] = (struct trace_user_frame){ .id = UNWIND_TEXT_FUNCTION };
	return 2;
}

/* Put the functions of @stack among @nr native frames; returns the number of all */
static unsigned int merge_functions(struct trace_user_files *files,
				    struct unwind_chain_stack *stack,
				    const struct unwind_chain_frame **order,
				    const struct trace_user_frame *frames, unsigned int nr,
				    struct trace_user_frame *to)
{
	unsigned int i, done = 0, next = 0, names = MAX_NAMES;

	for (i = 0; i < stack->nr; i++)
		order[i] = &stack->frames[i];
	sort(order, stack->nr, sizeof(*order), compare_places, NULL);
	for (i = 0; i < nr; i++) {
		while (next < stack->nr && order[next]->place <= i)
			done += place_function(files, stack, order[next++], &to[done], &names);
		to[done++] = frames[i];
	}
	while (next < stack->nr)
		done += place_function(files, stack, order[next++], &to[done], &names);
	return done;
}

/* Add the functions of languages to @frames, which are replaced then */
static void add_functions(struct trace_user_files *files, struct trace_user_frame **frames,
			  unsigned int *nr)
{
	struct unwind_chain_stack *stack = unwind_deferred_chains();
	const struct unwind_chain_frame **order;
	struct trace_user_frame *merged;

	if (!stack)
		return;
	order = kmalloc_array(stack->nr, sizeof(*order), STACK_GFP);
	merged = kvmalloc_array(*nr + stack->nr + 1, sizeof(*merged), STACK_GFP);
	if (order && merged) {
		*nr = merge_functions(files, stack, order, *frames, *nr, merged);
		swap(*frames, merged);
	}
	kvfree(merged);
	kfree(order);
}

static u32 data_loc(const void *entry, const void *data, size_t size)
{
	return size << 16 | (data - entry);
}

static void fill_stack(struct user_unwind_stack_entry *entry,
		       const unsigned long *ips,
		       const struct trace_user_frame *frames, unsigned int nr)
{
	/* The widest field first: then each is aligned as the event is */
	u64 *offset = (void *)entry + sizeof(*entry);
	unsigned long *ip = (void *)(offset + nr);
	u32 *file = (void *)(ip + nr);
	unsigned int i;

	entry->__data_loc_ip = data_loc(entry, ip, nr * sizeof(*ip));
	entry->__data_loc_file = data_loc(entry, file, nr * sizeof(*file));
	entry->__data_loc_offset = data_loc(entry, offset, nr * sizeof(*offset));
	for (i = 0; i < nr; i++) {
		ip[i] = frames ? frames[i].ip : ips[i];
		file[i] = frames ? frames[i].id : UNWIND_TEXT_NONE;
		offset[i] = frames ? frames[i].offset : 0;
	}
}

static bool has_triggers(const struct trace_event_file *file)
{
	return file && !list_empty(&file->triggers);
}

static void commit_stack(struct trace_array *tr, struct trace_buffer *buffer,
			 struct ring_buffer_event *event)
{
	struct trace_event_file *file = tr->user_unwind_file;
	enum event_trigger_type tt = ETT_NONE;

	/* Triggers are called, and removed, as for tracepoints */
	guard(preempt_notrace)();
	if (has_triggers(file))
		tt = event_triggers_call(file, buffer,
					 ring_buffer_event_data(event), event);
	trace_buffer_unlock_commit_nostack(buffer, event);
	if (tt)
		event_triggers_post_call(file, tt);
}

/**
 * struct stack_to_write - an event with a stack
 * @unwind: the trace array's
 * @to: where it is written
 * @cookie: names the stack
 * @stack: the number under which it is counted, or 0
 * @ips: the address of each frame
 * @frames: the places of these, or NULL
 * @nr: number of frames
 * @next: the frame whose number is to be announced next
 */
struct stack_to_write {
	struct trace_user_unwind	*unwind;
	struct trace_user_event		to;
	u64				cookie;
	u32				stack;
	const unsigned long		*ips;
	const struct trace_user_frame	*frames;
	unsigned int			nr;
	unsigned int			next;
};

static struct trace_buffer *buffer_of(const struct stack_to_write *write)
{
	return write->unwind->tr->array_buffer.buffer;
}

/* The number of frames that an event has room for */
static unsigned int frames_to_write(const struct stack_to_write *write)
{
	const size_t size = min(ring_buffer_max_event_size(buffer_of(write)), USER_STACK_SIZE);
	const size_t max = (size - sizeof(struct user_unwind_stack_entry)) / USER_FRAME_SIZE;

	return min(max, write->nr);
}

/* With interrupts disabled, on the CPU of the buffer */
static void write_event(void *info)
{
	struct stack_to_write *write = info;
	const unsigned int nr = frames_to_write(write);
	struct user_unwind_stack_entry *entry;
	struct ring_buffer_event *event;

	write->to.buffer = buffer_of(write);
	event = trace_buffer_lock_reserve(write->to.buffer, TRACE_USER_UNWIND_STACK,
					  sizeof(*entry) + nr * USER_FRAME_SIZE,
					  write->to.trace_ctx);
	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	entry->ent.pid = write->to.task->pid;
	entry->cookie = write->cookie;
	entry->stack = write->stack;
	entry->tgid = write->to.task->tgid;
	entry->omitted = write->nr - nr;
	fill_stack(entry, write->ips, write->frames, nr);
	commit_stack(write->unwind->tr, write->to.buffer, event);
}

/* Likewise: announce the next number that the sub-buffer lacks */
static void announce_next(void *info)
{
	struct stack_to_write *write = info;
	const struct trace_user_frame *frames = write->frames;
	const unsigned int nr = frames_to_write(write);
	unsigned int i = write->next;
	bool wrote = false;

	write->to.buffer = buffer_of(write);
	for (; i < nr && !wrote; i++) {
		if (!i || frames[i].id != frames[i - 1].id)
			wrote = trace_user_file_announce(write->unwind, &write->to, frames[i].id);
	}
	write->next = wrote ? i : write->nr;
}

static void announce_files(struct stack_to_write *write, int cpu)
{
	write->next = write->frames ? 0 : write->nr;
	while (write->next < write->nr) {
		if (smp_call_function_single(cpu, announce_next, write, true))
			break;
	}
}

/*
 * The traced program decides how many files are announced, and how long their paths are.  So
 * interrupts are disabled for one event at a time.
 */
static void write_stack(struct stack_to_write *write, int cpu)
{
	announce_files(write, cpu);
	smp_call_function_single(cpu, write_event, write, true);
	/* Again, for the case that the stack went to another sub-buffer */
	announce_files(write, cpu);
}

/*
 * Write a stack to a buffer that takes it: a task may leave on another CPU than the one on
 * which it was traced, whose buffer takes no events.
 */
static void write_stack_somewhere(struct stack_to_write *write)
{
	struct trace_array *tr = write->unwind->tr;
	int cpu = get_cpu();

	if (!cpumask_test_cpu(cpu, tr->tracing_cpumask))
		cpu = cpumask_any_and(tr->tracing_cpumask, cpu_online_mask);
	if (cpu < nr_cpu_ids)
		write_stack(write, cpu);
	put_cpu();
}

/* Context: task, as unwind_callback_t; for one stack at a time */
static void user_stack_callback(struct unwind_work *work,
				struct unwind_stacktrace *trace, u64 cookie)
{
	struct trace_user_unwind *unwind =
		container_of(work, struct trace_user_unwind, work);
	struct trace_user_frame *frames;
	struct stack_to_write write;
	unsigned int nr = trace->nr;
	u32 stack = 0;

	might_sleep();
	if (!tracer_tracing_is_on(unwind->tr))
		return;

	/* Without memory, the stack has addresses only */
	frames = kvmalloc_array(nr, sizeof(*frames), STACK_GFP);
	if (!ZERO_OR_NULL_PTR(frames)) {
		place_frames(&unwind->files, trace, frames);
		add_functions(&unwind->files, &frames, &nr);
		if (has_triggers(unwind->tr->user_unwind_file))
			stack = trace_user_stack_id(&unwind->stacks, frames, nr);
	}
	write = (struct stack_to_write){
		.unwind = unwind,
		.to.task = current,
		.to.trace_ctx = tracing_gen_ctx(),
		.cookie = cookie,
		.stack = stack,
		.ips = trace->entries,
		.frames = frames,
		.nr = nr,
	};
	write_stack_somewhere(&write);
	kvfree(frames);
}

static bool wants_chains(struct unwind_work *work)
{
	return true;
}

/**
 * trace_user_unwind - ask for the current task's user stack, and write its cookie
 * @tr: the trace array that makes the request
 * @buffer: the buffer with the event
 * @trace_ctx: the event's
 *
 * Writes nothing if there is no user stack: in kernel threads, and in a task
 * that has left its program to exit.
 *
 * Context: any, NMI included.
 */
void trace_user_unwind(struct trace_array *tr, struct trace_buffer *buffer,
		       unsigned int trace_ctx)
{
	struct trace_user_unwind *unwind = READ_ONCE(tr->user_unwind);
	struct user_unwind_cookie_entry *entry;
	struct ring_buffer_event *event;
	u64 cookie;

	/*
	 * An event for triggers is not traced with tracing_on 0, on a CPU that is not traced, or
	 * if the buffer is full: then it is in no buffer of the array, and a stack would have no
	 * cookie.
	 */
	if (!unwind || !tracer_tracing_is_on(tr) ||
	    !cpumask_test_cpu(raw_smp_processor_id(), tr->tracing_cpumask) ||
	    buffer != READ_ONCE(tr->array_buffer.buffer))
		return;
	if (unwind_deferred_request(&unwind->work, &cookie) < 0)
		return;

	event = trace_buffer_lock_reserve(buffer, TRACE_USER_UNWIND_COOKIE,
					  sizeof(*entry), trace_ctx);
	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	entry->cookie = cookie;
	trace_buffer_unlock_commit_nostack(buffer, event);
}

/* A buffer that outlives the kernel may have stacks of another boot */
static u32 first_id(const struct trace_array *tr)
{
	return tr->range_addr_start ? get_random_u32() >> 1 : 0;
}

static struct trace_user_unwind *alloc_unwind(struct trace_array *tr)
{
	struct trace_user_unwind *unwind = kzalloc(sizeof(*unwind), GFP_KERNEL);

	if (!unwind)
		return NULL;
	unwind->tr = tr;
	unwind->work.bit = -1;
	unwind->work.wants_chains = wants_chains;
	unwind->announced = alloc_percpu(struct trace_user_announced);
	if (!unwind->announced || trace_user_files_init(&unwind->files, first_id(tr))) {
		free_percpu(unwind->announced);
		kfree(unwind);
		return NULL;
	}
	trace_user_stacks_init(&unwind->stacks);
	/* Requests read this in any context */
	smp_store_release(&tr->user_unwind, unwind);
	return unwind;
}

/**
 * trace_user_unwind_get - let a trace array make requests
 * @tr: the trace array
 *
 * Context: task, under event_mutex.
 * Return: 0; -ENOMEM; or as unwind_deferred_init(), if there are too many clients.
 */
int trace_user_unwind_get(struct trace_array *tr)
{
	struct trace_user_unwind *unwind = tr->user_unwind;
	int ret = 0;

	lockdep_assert_held(&event_mutex);

	if (!unwind)
		unwind = alloc_unwind(tr);
	if (!unwind)
		return -ENOMEM;
	if (!unwind->is_client)
		ret = unwind_deferred_init(&unwind->work, user_stack_callback);
	if (ret)
		return ret;
	if (!unwind->is_client)
		unwind_chain_add_reader();
	unwind->is_client = true;
	unwind->users++;
	return 0;
}

static void cancel(struct trace_user_unwind *unwind)
{
	lockdep_assert_held(&event_mutex);

	if (!unwind->is_client)
		return;
	unwind_deferred_cancel(&unwind->work);
	unwind_chain_del_reader();
	unwind->is_client = false;
}

/**
 * trace_user_unwind_put - the opposite of trace_user_unwind_get()
 * @tr: the trace array
 *
 * The files stay: the trace may still be read.
 *
 * Context: task, under event_mutex; may sleep.
 */
void trace_user_unwind_put(struct trace_array *tr)
{
	struct trace_user_unwind *unwind = tr->user_unwind;

	lockdep_assert_held(&event_mutex);

	if (!WARN_ON_ONCE(!unwind->users) && !--unwind->users)
		cancel(unwind);
}

/**
 * trace_user_unwind_stop - a trace array is about to lose its events
 * @tr: the trace array; it cannot be found any more, so no new request comes
 *
 * Triggers go with their events, without a trace_user_unwind_put().  Callbacks use the
 * event of user stacks, which goes as well.
 *
 * Context: task, under event_mutex; may sleep.
 */
void trace_user_unwind_stop(struct trace_array *tr)
{
	lockdep_assert_held(&event_mutex);

	if (tr->user_unwind)
		cancel(tr->user_unwind);
	tr->user_unwind_file = NULL;
}

/**
 * trace_user_unwind_free - free the state of a trace array
 * @tr: the trace array, stopped, and without events and triggers
 *
 * Context: task, under event_mutex; may sleep.
 */
void trace_user_unwind_free(struct trace_array *tr)
{
	struct trace_user_unwind *unwind = tr->user_unwind;

	lockdep_assert_held(&event_mutex);

	if (!unwind)
		return;
	tr->user_unwind = NULL;
	trace_user_files_destroy(&unwind->files);
	trace_user_stacks_destroy(&unwind->stacks);
	free_percpu(unwind->announced);
	kfree(unwind);
}

/**
 * trace_user_unwind_reset - the buffer was emptied, or swapped for another
 * @tr: the trace array
 *
 * Context: any.
 */
void trace_user_unwind_reset(struct trace_array *tr)
{
	struct trace_user_unwind *unwind = READ_ONCE(tr->user_unwind);

	if (unwind)
		atomic_inc(&unwind->resets);
}

/**
 * trace_user_unwind_init_file - let the event of user stacks have triggers
 * @tr: trace array that has its events
 */
void trace_user_unwind_init_file(struct trace_array *tr)
{
	tr->user_unwind_file = __find_event_file(tr, "ftrace",
						 "user_unwind_stack");
}
