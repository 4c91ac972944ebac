// SPDX-License-Identifier: GPL-2.0
/*
 * Match samples with the user half of their callchains, which comes later, in a separate
 * record. See struct deferred_callchains.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "deferred-callchain.h"
#include "event.h"
#include "evlist.h"
#include "evsel.h"
#include "hashmap.h"
#include "runtime-frames.h"
#include "symbol_conf.h"

/**
 * struct deferred_stack - Names a stack.
 */
struct deferred_stack {
	/** @cookie: Of its record and its samples. */
	u64			cookie;
	/** @machine_pid: Of the machine on which the cookie is unique. */
	u32			machine_pid;
};

/**
 * struct deferred_mark - The end of a stay of a thread in the kernel.
 */
struct deferred_mark {
	/** @node: Entry in struct deferred_thread::marks. */
	struct list_head	node;
	/** @time: When the thread left the kernel. */
	u64			time;
	/** @stack: The one of the samples taken before. */
	struct deferred_stack	stack;
	/** @has_chain: False for exec and exit, they only end what was before. */
	bool			has_chain;
	/** @chain: The user half of the callchain of these samples. */
	struct ip_callchain	chain;
};

/* Frames of languages whose native stack is yet to come: more have lost theirs */
#define MAX_RUNTIMES	1024

/**
 * struct deferred_runtime - Frames of a language that belong to a native stack.
 */
struct deferred_runtime {
	/** @stack: The native stack. */
	struct deferred_stack	stack;
	/** @nr: Number of @frames. */
	u64			nr;
	/** @frames: The frames. */
	struct runtime_frame	*frames;
};

/**
 * struct deferred_thread - Samples and records of one thread.
 */
struct deferred_thread {
	/** @key: See deferred_key(). */
	u64			key;
	/** @marks: Marks not passed yet, in the order of time. */
	struct list_head	marks;
	/** @recent: The one of @marks that was added last, if it is still there. */
	struct deferred_mark	*recent;
	/**
	 * @passed: Marks passed not long before the last of them. That was written
	 * just before the thread got back to user space, and may be needed by samples
	 * taken between these two moments; the others, where clocks differ.
	 */
	struct list_head	passed;
	/** @waiting: Samples waiting for the next mark. */
	struct list_head	waiting;
};

/**
 * struct deferred_nobody - Waiting samples of one stack of a thread without a tid.
 */
struct deferred_nobody {
	/** @stack: The stack. */
	struct deferred_stack	stack;
	/** @waiting: The samples. */
	struct list_head	waiting;
};

static u64 deferred_key(const struct perf_sample *sample, u32 tid)
{
	return (u64)sample->machine_pid << 32 | tid;
}

static size_t deferred_key_hash(long key, void *ctx __maybe_unused)
{
	u64 val = *(u64 *)key;

	return val ^ (val >> 32);
}

/* On one machine, no other record has the cookie of a record */
static bool deferred_stack_equal(long key1, long key2, void *ctx __maybe_unused)
{
	const struct deferred_stack *a = (void *)key1, *b = (void *)key2;

	return a->cookie == b->cookie && a->machine_pid == b->machine_pid;
}

static struct deferred_stack deferred_stack(const struct perf_sample *sample)
{
	return (struct deferred_stack) {
		.cookie = sample->deferred_cookie,
		.machine_pid = sample->machine_pid,
	};
}

static void deferred_runtime__delete(struct deferred_runtime *runtime)
{
	free(runtime->frames);
	free(runtime);
}

static bool deferred_key_equal(long key1, long key2, void *ctx __maybe_unused)
{
	return *(u64 *)key1 == *(u64 *)key2;
}

static struct deferred_thread *deferred_thread__find(struct deferred_callchains *dc, u64 key)
{
	struct deferred_thread *thread;

	if (!hashmap__find(dc->threads, &key, &thread))
		return NULL;

	return thread;
}

static struct deferred_thread *deferred_thread__findnew(struct deferred_callchains *dc, u64 key)
{
	struct deferred_thread *thread = deferred_thread__find(dc, key);

	if (thread)
		return thread;

	thread = zalloc(sizeof(*thread));
	if (!thread)
		return NULL;

	thread->key = key;
	INIT_LIST_HEAD(&thread->marks);
	INIT_LIST_HEAD(&thread->passed);
	INIT_LIST_HEAD(&thread->waiting);

	if (hashmap__add(dc->threads, &thread->key, thread)) {
		free(thread);
		return NULL;
	}

	return thread;
}

/* A record that is written to several buffers is there more than once */
static void deferred_mark__delete(struct deferred_callchains *dc, struct deferred_mark *mark)
{
	struct deferred_mark *found;

	list_del(&mark->node);
	if (mark->has_chain && hashmap__find(dc->chains, &mark->stack, &found) && found == mark)
		hashmap__delete(dc->chains, &mark->stack, NULL, NULL);
	free(mark);
}

static void deferred_thread__delete(struct deferred_callchains *dc,
				    struct deferred_thread *thread)
{
	struct deferred_mark *mark, *tmp;

	list_for_each_entry_safe(mark, tmp, &thread->marks, node)
		deferred_mark__delete(dc, mark);
	list_for_each_entry_safe(mark, tmp, &thread->passed, node)
		deferred_mark__delete(dc, mark);
	free(thread);
}

/* A thread is not seen again after its exit, unless its tid is used again. */
static void deferred_thread__forget(struct deferred_callchains *dc,
				    struct deferred_thread *thread)
{
	if (!list_empty(&thread->marks) || !list_empty(&thread->waiting))
		return;

	hashmap__delete(dc->threads, &thread->key, NULL, NULL);
	deferred_thread__delete(dc, thread);
}

/* Maps that could not be made are errors, which hashmap__free() ignores */
static void deferred_callchains__free(struct deferred_callchains *dc)
{
	hashmap__free(dc->threads);
	hashmap__free(dc->chains);
	hashmap__free(dc->runtimes);
	hashmap__free(dc->nobodies);
	free(dc->merged);
	free(dc);
}

/**
 * deferred_callchains__new - For the samples and records of one reader.
 * @evlist: Where the reader has its events, or NULL.
 *
 * Return: what deferred_callchains__delete() frees; NULL without memory.
 */
struct deferred_callchains *deferred_callchains__new(struct evlist *const *evlist)
{
	struct deferred_callchains *dc = zalloc(sizeof(*dc));

	if (!dc)
		return NULL;

	dc->evlist = evlist;
	INIT_LIST_HEAD(&dc->waiting);
	dc->merged = malloc(PERF_SAMPLE_MAX_SIZE);
	dc->threads = hashmap__new(deferred_key_hash, deferred_key_equal, NULL);
	dc->chains = hashmap__new(deferred_key_hash, deferred_stack_equal, NULL);
	dc->runtimes = hashmap__new(deferred_key_hash, deferred_stack_equal, NULL);
	dc->nobodies = hashmap__new(deferred_key_hash, deferred_stack_equal, NULL);
	if (dc->merged && !IS_ERR(dc->threads) && !IS_ERR(dc->chains) &&
	    !IS_ERR(dc->runtimes) && !IS_ERR(dc->nobodies))
		return dc;

	deferred_callchains__free(dc);
	return NULL;
}

static void deferred_callchains__drop_runtimes(struct deferred_callchains *dc)
{
	struct hashmap_entry *cur;
	size_t bkt;

	hashmap__for_each_entry(dc->runtimes, cur, bkt)
		deferred_runtime__delete(cur->pvalue);
	hashmap__clear(dc->runtimes);
}

/**
 * deferred_callchains__purge - Forget all samples and records.
 * @dc: Where they are kept.
 */
void deferred_callchains__purge(struct deferred_callchains *dc)
{
	struct deferred_sample *ds;
	struct hashmap_entry *cur;
	size_t bkt;

	while ((ds = deferred_callchains__first_waiting(dc)) != NULL)
		deferred_sample__delete(dc, ds);

	hashmap__for_each_entry(dc->threads, cur, bkt)
		deferred_thread__delete(dc, cur->pvalue);
	hashmap__clear(dc->threads);
	deferred_callchains__drop_runtimes(dc);

	dc->head = NULL;
}

void deferred_callchains__delete(struct deferred_callchains *dc)
{
	if (!dc)
		return;

	deferred_callchains__purge(dc);
	deferred_callchains__free(dc);
}

/**
 * deferred_event__size_valid - Does an event have room for what it consists of?
 * @evlist: The events that wrote it.
 * @event: The event.
 *
 * The sample_id of the smallest events is used before any other check.
 *
 * Return: false if a record of a callchain, or one that belongs to it, has no such room.
 */
bool deferred_event__size_valid(struct evlist *evlist, const union perf_event *event)
{
	size_t size = sizeof(event->callchain_deferred);

	if (event->header.type == PERF_RECORD_RUNTIME_NAME)
		size = sizeof(event->runtime_name);
	else if (event->header.type != PERF_RECORD_CALLCHAIN_DEFERRED &&
		 event->header.type != PERF_RECORD_CALLCHAIN_RUNTIME)
		return true;

	if (evlist__sample_id_all(evlist))
		size += evlist__id_hdr_size(evlist);

	return event->header.size >= size && !(event->header.size % sizeof(u64));
}

/**
 * deferred_record__ips - The user addresses in a PERF_RECORD_CALLCHAIN_DEFERRED.
 * @record: The callchain as it is in the record.
 * @ips: Set to the first address.
 *
 * Return: the number of addresses.
 */
u64 deferred_record__ips(const struct ip_callchain *record, const u64 **ips)
{
	/* Some kernels wrote it before records had addresses alone */
	bool context = record->nr && record->ips[0] == PERF_CONTEXT_USER;

	*ips = record->ips + context;
	return record->nr - context;
}

/**
 * deferred_chain__set - Put together the user half of a callchain.
 * @chain: Has room for all of it.
 * @ips: The native addresses.
 * @nr: Their number.
 * @frames: Frames of a runtime, which are sorted.
 * @nr_frames: Their number; they are shown only where there is a native stack.
 */
void deferred_chain__set(struct ip_callchain *chain, const u64 *ips, u64 nr,
			 struct runtime_frame *frames, u64 nr_frames)
{
	chain->nr = nr;
	if (nr && nr_frames)
		chain->nr = runtime_frames__merge(chain->ips, ips, nr, frames, nr_frames);
	else if (nr)
		memcpy(chain->ips, ips, nr * sizeof(u64));
}

/**
 * deferred_callchains__is_mark - Does an event end the wait of samples?
 * @event: The event.
 *
 * Return: true if it does: a callchain, or the end of the thread or its program.
 */
bool deferred_callchains__is_mark(const union perf_event *event)
{
	switch (event->header.type) {
	case PERF_RECORD_CALLCHAIN_DEFERRED:
	case PERF_RECORD_EXIT:
		return true;
	case PERF_RECORD_COMM:
		return event->header.misc & PERF_RECORD_MISC_COMM_EXEC;
	default:
		return false;
	}
}

/*
 * Threads of another pid namespace have no tid here, so their ends say nothing of other
 * such threads
 */
static bool is_nobodys(const union perf_event *event, u64 key)
{
	return !(u32)key && event->header.type != PERF_RECORD_CALLCHAIN_DEFERRED;
}

static u64 mark_key(const union perf_event *event, const struct perf_sample *sample)
{
	switch (event->header.type) {
	case PERF_RECORD_EXIT:
		return deferred_key(sample, event->fork.tid);
	case PERF_RECORD_COMM:
		return deferred_key(sample, event->comm.tid);
	default:
		return deferred_key(sample, sample->tid);
	}
}

/* The frames that came before the record of a native stack; NULL if there are none */
static struct deferred_runtime *deferred_runtime__take(struct deferred_callchains *dc,
						       const struct perf_sample *sample)
{
	const struct deferred_stack stack = deferred_stack(sample);
	struct deferred_runtime *runtime = NULL;

	hashmap__delete(dc->runtimes, &stack, NULL, &runtime);
	return runtime;
}

/**
 * deferred_callchains__add_runtime - Note an event about frames of a language.
 * @dc: Where to note it.
 * @event: Any event; others are ignored.
 * @sample: What was parsed from @event.
 *
 * Such events belong to the next PERF_RECORD_CALLCHAIN_DEFERRED of the same cookie.
 *
 * Return: 0, or -ENOMEM.
 */
int deferred_callchains__add_runtime(struct deferred_callchains *dc,
				     const union perf_event *event,
				     const struct perf_sample *sample)
{
	struct deferred_stack stack = { .machine_pid = sample->machine_pid };
	struct deferred_runtime *runtime, *old = NULL;
	s64 nr;

	if (event->header.type == PERF_RECORD_RUNTIME_NAME)
		return runtime_frames__add_name(event, sample);
	if (event->header.type != PERF_RECORD_CALLCHAIN_RUNTIME || symbol_conf.no_runtime)
		return 0;

	/* They were merged, if this event was noted when it was read, and is due now */
	stack.cookie = event->callchain_runtime.cookie;
	if (hashmap__find(dc->chains, &stack, NULL))
		return 0;

	runtime = zalloc(sizeof(*runtime));
	if (!runtime)
		return -ENOMEM;
	runtime->stack = stack;
	nr = runtime_frames__parse(event, sample, &runtime->frames);
	if (nr < 0) {
		free(runtime);
		return nr == -EINVAL ? 0 : nr;
	}
	runtime->nr = nr;
	/* Their records follow them, unless they are lost */
	if (hashmap__size(dc->runtimes) >= MAX_RUNTIMES)
		deferred_callchains__drop_runtimes(dc);
	if (hashmap__set(dc->runtimes, &runtime->stack, runtime, NULL, &old)) {
		deferred_runtime__delete(runtime);
		return -ENOMEM;
	}
	/* A record that is written to several buffers is there more than once */
	if (old)
		deferred_runtime__delete(old);
	return 0;
}

static struct deferred_mark *deferred_mark__new(struct deferred_callchains *dc,
						const union perf_event *event,
						const struct perf_sample *sample)
{
	bool has_chain = event->header.type == PERF_RECORD_CALLCHAIN_DEFERRED;
	struct deferred_runtime *runtime = NULL;
	struct deferred_mark *mark;
	const u64 *ips = NULL;
	u64 nr = 0;

	if (has_chain)
		nr = deferred_record__ips(sample->callchain, &ips);
	if (nr)
		runtime = deferred_runtime__take(dc, sample);
	mark = malloc(sizeof(*mark) + (nr + (runtime ? runtime->nr : 0)) * sizeof(u64));
	if (!mark) {
		if (runtime)
			deferred_runtime__delete(runtime);
		return NULL;
	}

	INIT_LIST_HEAD(&mark->node);
	mark->time = sample->time;
	mark->stack = deferred_stack(sample);
	mark->has_chain = has_chain;
	deferred_chain__set(&mark->chain, ips, nr, runtime ? runtime->frames : NULL,
			    runtime ? runtime->nr : 0);
	if (runtime)
		deferred_runtime__delete(runtime);
	if (has_chain && hashmap__set(dc->chains, &mark->stack, mark, NULL, NULL)) {
		free(mark);
		return NULL;
	}

	return mark;
}

static bool deferred_mark__is(const struct deferred_mark *mark,
			      const union perf_event *event,
			      const struct perf_sample *sample)
{
	if (mark->time != sample->time)
		return false;

	if (event->header.type != PERF_RECORD_CALLCHAIN_DEFERRED)
		return !mark->has_chain;

	return mark->has_chain && mark->stack.cookie == sample->deferred_cookie;
}

/*
 * Find the position of a time among a thread's marks. Mostly it is next to the last added
 * mark: buffers are read in order, overwritten buffers in reverse, and a thread that
 * migrates sometimes changes from one buffer to the other.
 */
static struct list_head *mark_position(struct deferred_thread *thread, u64 time)
{
	struct list_head *head = &thread->marks, *pos = head->prev;

	if (thread->recent)
		pos = &thread->recent->node;
	while (pos != head && list_entry(pos, struct deferred_mark, node)->time > time)
		pos = pos->prev;
	while (pos->next != head &&
	       list_entry(pos->next, struct deferred_mark, node)->time <= time)
		pos = pos->next;
	return pos;
}

/**
 * deferred_callchains__add_mark - Note an event that was read but is not due.
 * @dc: Where to note it.
 * @event: An event for which deferred_callchains__is_mark() is true.
 * @sample: What was parsed from @event.
 *
 * Samples from before @event can find it from now on.
 *
 * Return: 0, or -ENOMEM.
 */
int deferred_callchains__add_mark(struct deferred_callchains *dc, union perf_event *event,
				  const struct perf_sample *sample)
{
	u64 key = mark_key(event, sample);
	struct deferred_thread *thread;
	struct deferred_mark *mark;

	if (is_nobodys(event, key))
		return 0;

	thread = deferred_thread__findnew(dc, key);
	if (!thread)
		return -ENOMEM;

	mark = deferred_mark__new(dc, event, sample);
	if (!mark)
		return -ENOMEM;

	list_add(&mark->node, mark_position(thread, mark->time));
	thread->recent = mark;

	return 0;
}

/* Drop marks that cannot belong to a sample after the last mark passed */
static void deferred_thread__trim(struct deferred_callchains *dc,
				  struct deferred_thread *thread)
{
	struct deferred_mark *last = list_last_entry(&thread->passed, struct deferred_mark, node);
	struct deferred_mark *mark, *tmp;

	list_for_each_entry_safe(mark, tmp, &thread->passed, node) {
		if (mark == last ||
		    (last->has_chain && mark->time + DEFERRED_CLOCK_SKEW >= last->time))
			break;
		deferred_mark__delete(dc, mark);
	}
}

/**
 * deferred_callchains__pass_mark - Note an event that is due.
 * @dc: Where to note it.
 * @event: An event for which deferred_callchains__is_mark() is true.
 * @sample: What was parsed from @event.
 *
 * Whether @event was passed to deferred_callchains__add_mark() before makes no
 * difference. All samples in deferred_callchains__first_waiting_for() either
 * find what they waited for now, or never.
 *
 * Return: 0, or -ENOMEM.
 */
int deferred_callchains__pass_mark(struct deferred_callchains *dc, union perf_event *event,
				   const struct perf_sample *sample)
{
	struct deferred_mark *mark, *tmp, *found = NULL;
	u64 key = mark_key(event, sample);
	struct deferred_thread *thread;

	if (is_nobodys(event, key))
		return 0;

	thread = deferred_thread__findnew(dc, key);
	if (!thread)
		return -ENOMEM;

	list_for_each_entry_safe(mark, tmp, &thread->marks, node) {
		if (found || mark->time > sample->time)
			break;
		list_move_tail(&mark->node, &thread->passed);
		if (thread->recent == mark)
			thread->recent = NULL;
		if (deferred_mark__is(mark, event, sample))
			found = mark;
	}

	if (!found) {
		found = deferred_mark__new(dc, event, sample);
		if (!found)
			return -ENOMEM;
		list_add_tail(&found->node, &thread->passed);
	}
	deferred_thread__trim(dc, thread);

	if (event->header.type == PERF_RECORD_EXIT)
		deferred_thread__forget(dc, thread);

	return 0;
}

/**
 * deferred_callchains__find - Look for the user half of a callchain.
 * @dc: Where to look.
 * @sample: A sample with deferred_callchain set.
 * @complete_until: All events before this point of time were read.
 * @user: Set to the user half if DEFERRED_FOUND is returned.
 *
 * Return: DEFERRED_FOUND, or whether it may still come or is missing.
 */
enum deferred_state deferred_callchains__find(struct deferred_callchains *dc,
					      const struct perf_sample *sample,
					      u64 complete_until,
					      const struct ip_callchain **user)
{
	const struct deferred_stack stack = deferred_stack(sample);
	struct deferred_thread *thread;
	struct deferred_mark *mark;

	if (hashmap__find(dc->chains, &stack, &mark)) {
		*user = &mark->chain;
		return DEFERRED_FOUND;
	}

	/* Threads of other pid namespaces have no tid, so the next record may be another's */
	thread = deferred_thread__find(dc, deferred_key(sample, sample->tid));
	if (!thread || !sample->tid)
		return complete_until == UINT64_MAX ? DEFERRED_MISSING : DEFERRED_PENDING;

	mark = list_first_entry_or_null(&thread->marks, struct deferred_mark, node);
	return (mark ? mark->time : UINT64_MAX) <= complete_until ? DEFERRED_MISSING :
								    DEFERRED_PENDING;
}

/*
 * Without its record, a sample of the program itself still has the address where it was.
 * There is room for that in a callchain.
 */
static const struct ip_callchain *own_address(const struct perf_sample *sample,
					      struct ip_callchain *chain)
{
	if (sample->callchain->nr > 2 || sample->cpumode != PERF_RECORD_MISC_USER)
		return NULL;

	chain->nr = 1;
	chain->ips[0] = sample->ip;
	return chain;
}

/* The maximum number of native user addresses in a sample. Its event's limit covers both halves. */
static u64 max_user_nr(struct deferred_callchains *dc, const struct perf_sample *sample,
		       u64 kernel_nr)
{
	struct evsel *evsel = dc->evlist && *dc->evlist ?
			      evlist__id2evsel(*dc->evlist, sample->id) : NULL;
	u64 max = evsel ? evsel->core.attr.sample_max_stack : 0;
	u64 kernel_ips = kernel_nr ? kernel_nr - 1 : 0;

	if (!max)
		return UINT64_MAX;
	return max - min(max, kernel_ips);
}

/* The number of addresses in a chain up to its first @max native ones */
static u64 limited_nr(const struct ip_callchain *chain, u64 max)
{
	u64 i;

	for (i = 0; i < chain->nr && (max || runtime_frames__is_ip(chain->ips[i])); i++)
		max -= !runtime_frames__is_ip(chain->ips[i]);
	return i;
}

/**
 * deferred_callchains__merge - Complete the callchain of a sample.
 * @dc: Provides the memory for the result, until the next call.
 * @event: The event of the sample.
 * @sample: What was parsed from @event, changed to have the whole callchain.
 * @user: The user half of the callchain, NULL if it is missing.
 *
 * Return: a copy of @event that has the whole callchain, too. Parts of @event
 * after the callchain are copied unchanged. The pointers to them in @sample
 * stay as valid as @event. Only the pointer to AUX area data points into the
 * copy, because users cut the data out of the event.
 */
union perf_event *deferred_callchains__merge(struct deferred_callchains *dc,
					     union perf_event *event,
					     struct perf_sample *sample,
					     const struct ip_callchain *user)
{
	const struct ip_callchain *chain = sample->callchain;
	size_t head = (void *)chain - (void *)event;
	const void *tail = &chain->ips[chain->nr];
	size_t tail_size = (void *)event + event->header.size - tail;
	u64 kernel_nr = chain->nr - 2;
	u64 own[2];
	struct ip_callchain *merged;
	u64 user_nr = 0, user_words;
	size_t size;

	if (!user || !user->nr)
		user = own_address(sample, (struct ip_callchain *)own);
	/*
	 * In place of marker and cookie there is a context, if any address follows. The
	 * size of an event is a u16, so drop the outermost callers if need be.
	 */
	size = event->header.size - 2 * sizeof(u64);
	if (user)
		user_nr = min(limited_nr(user, max_user_nr(dc, sample, kernel_nr)),
			      (u64)(USHRT_MAX - size) / sizeof(u64) - 1);
	user_words = user_nr ? user_nr + 1 : 0;

	memcpy(dc->merged, event, head);
	merged = (void *)dc->merged + head;
	merged->nr = kernel_nr + user_words;
	memcpy(merged->ips, chain->ips, kernel_nr * sizeof(u64));
	if (user_nr) {
		merged->ips[kernel_nr] = PERF_CONTEXT_USER;
		memcpy(&merged->ips[kernel_nr + 1], user->ips, user_nr * sizeof(u64));
	}
	memcpy(&merged->ips[merged->nr], tail, tail_size);
	dc->merged->header.size = size + user_words * sizeof(u64);

	sample->callchain = merged;
	sample->deferred_callchain = false;
	if (sample->user_stack.offset)
		sample->user_stack.offset += (user_words - 2) * sizeof(u64);
	if (sample->aux_sample.data)
		sample->aux_sample.data += (void *)&merged->ips[merged->nr] - tail;

	return dc->merged;
}

static void *relocate(void *ptr, const union perf_event *from, union perf_event *to)
{
	size_t offset = ptr - (void *)from;

	/* NULL, or one of the values that share a union with a pointer */
	if (offset >= from->header.size)
		return ptr;

	return (void *)to + offset;
}

static void perf_sample__relocate(struct perf_sample *sample, const union perf_event *from,
				  union perf_event *to)
{
	sample->raw_data = relocate(sample->raw_data, from, to);
	sample->callchain = relocate(sample->callchain, from, to);
	sample->branch_stack = relocate(sample->branch_stack, from, to);
	sample->branch_stack_cntr = relocate(sample->branch_stack_cntr, from, to);
	sample->user_regs.regs = relocate(sample->user_regs.regs, from, to);
	sample->intr_regs.regs = relocate(sample->intr_regs.regs, from, to);
	sample->user_stack.data = relocate(sample->user_stack.data, from, to);
	sample->aux_sample.data = relocate(sample->aux_sample.data, from, to);
	sample->read.group.values = relocate(sample->read.group.values, from, to);
}

static struct deferred_nobody *deferred_nobody__find(struct deferred_callchains *dc,
						     const struct perf_sample *sample)
{
	const struct deferred_stack stack = deferred_stack(sample);
	struct deferred_nobody *nobody;

	return hashmap__find(dc->nobodies, &stack, &nobody) ? nobody : NULL;
}

static struct deferred_nobody *deferred_nobody__findnew(struct deferred_callchains *dc,
							const struct perf_sample *sample)
{
	struct deferred_nobody *nobody = deferred_nobody__find(dc, sample);

	if (nobody)
		return nobody;

	nobody = zalloc(sizeof(*nobody));
	if (!nobody)
		return NULL;

	nobody->stack = deferred_stack(sample);
	INIT_LIST_HEAD(&nobody->waiting);
	if (hashmap__add(dc->nobodies, &nobody->stack, nobody))
		zfree(&nobody);
	return nobody;
}

/* Samples wait in one list per thread, or per stack if there is no tid */
static struct list_head *deferred_callchains__waiting_with(struct deferred_callchains *dc,
							   const struct perf_sample *sample)
{
	struct deferred_thread *thread;
	struct deferred_nobody *nobody;

	if (!sample->tid) {
		nobody = deferred_nobody__findnew(dc, sample);
		return nobody ? &nobody->waiting : NULL;
	}

	thread = deferred_thread__findnew(dc, deferred_key(sample, sample->tid));
	return thread ? &thread->waiting : NULL;
}

/**
 * deferred_callchains__wait - Keep a sample until the next mark of its thread.
 * @dc: Where to keep it.
 * @event: The event of the sample.
 * @sample: What was parsed from @event.
 *
 * Return: 0, or -ENOMEM.
 */
int deferred_callchains__wait(struct deferred_callchains *dc, union perf_event *event,
			      const struct perf_sample *sample)
{
	struct deferred_sample *ds = zalloc(sizeof(*ds));
	struct list_head *waiting;

	if (!ds)
		return -ENOMEM;

	ds->event = memdup(event, event->header.size);
	if (!ds->event)
		goto out_free;

	waiting = deferred_callchains__waiting_with(dc, sample);
	if (!waiting)
		goto out_free;

	ds->sample = *sample;
	perf_sample__relocate(&ds->sample, event, ds->event);
	list_add_tail(&ds->node, &dc->waiting);
	list_add_tail(&ds->thread_node, waiting);

	return 0;

out_free:
	free(ds->event);
	free(ds);
	return -ENOMEM;
}

/**
 * deferred_sample__delete - Forget a sample that waited.
 * @dc: Where it is kept.
 * @ds: The sample.
 */
void deferred_sample__delete(struct deferred_callchains *dc, struct deferred_sample *ds)
{
	struct deferred_nobody *nobody = NULL;

	list_del(&ds->node);
	list_del(&ds->thread_node);
	if (!ds->sample.tid)
		nobody = deferred_nobody__find(dc, &ds->sample);
	if (nobody && list_empty(&nobody->waiting)) {
		hashmap__delete(dc->nobodies, &nobody->stack, NULL, NULL);
		free(nobody);
	}
	free(ds->event);
	free(ds);
}

/**
 * deferred_callchains__first_waiting - The sample that has waited the longest.
 * @dc: Where it is kept.
 *
 * Return: the sample, NULL if none waits.
 */
struct deferred_sample *deferred_callchains__first_waiting(struct deferred_callchains *dc)
{
	return list_first_entry_or_null(&dc->waiting, struct deferred_sample, node);
}

/**
 * deferred_callchains__first_waiting_for - The sample that has waited the longest
 * for an event.
 * @dc: Where it is kept.
 * @event: An event for which deferred_callchains__is_mark() is true.
 * @sample: What was parsed from @event.
 *
 * Return: the sample, NULL if none waits.
 */
struct deferred_sample *
deferred_callchains__first_waiting_for(struct deferred_callchains *dc,
				       const union perf_event *event,
				       const struct perf_sample *sample)
{
	u64 key = mark_key(event, sample);
	struct list_head *waiting = NULL;
	struct deferred_thread *thread;
	struct deferred_nobody *nobody;

	if (is_nobodys(event, key))
		return NULL;

	/* Without a tid, the record may be another thread's */
	if ((u32)key) {
		thread = deferred_thread__find(dc, key);
		if (thread)
			waiting = &thread->waiting;
	} else {
		nobody = deferred_nobody__find(dc, sample);
		if (nobody)
			waiting = &nobody->waiting;
	}

	return waiting ? list_first_entry_or_null(waiting, struct deferred_sample, thread_node) :
			 NULL;
}

static int deferred_sample__deliver(struct deferred_callchains *dc, union perf_event *event,
				    struct perf_sample *sample,
				    const struct ip_callchain *user,
				    deferred_deliver_fn deliver, void *ctx)
{
	if (!user)
		++dc->nr_missing;

	return deliver(ctx, deferred_callchains__merge(dc, event, sample, user), sample);
}

/* Deliver and free a sample that waited, and that has no reason to any more */
static int deferred_sample__release(struct deferred_callchains *dc, struct deferred_sample *ds,
				    deferred_deliver_fn deliver, void *ctx)
{
	const struct ip_callchain *user = NULL;
	int ret;

	deferred_callchains__find(dc, &ds->sample, UINT64_MAX, &user);
	ret = deferred_sample__deliver(dc, ds->event, &ds->sample, user, deliver, ctx);
	deferred_sample__delete(dc, ds);

	return ret;
}

/**
 * deferred_callchains__process - Deliver an event, or keep it until it is whole.
 * @dc: Where to keep it.
 * @event: An event, from buffers that are read while they are written.
 * @sample: What was parsed from @event.
 * @deliver: Called with @event, or with samples that were waiting for it, before.
 * @ctx: Its first argument.
 *
 * For tools that show samples as they come and do not go through a session.
 * They cannot tell whether a record that is not there yet was lost, hence they
 * have to bound the time that samples wait, see deferred_callchains__release().
 *
 * Return: 0, -ENOMEM, or what @deliver returned.
 */
int deferred_callchains__process(struct deferred_callchains *dc, union perf_event *event,
				 struct perf_sample *sample,
				 deferred_deliver_fn deliver, void *ctx)
{
	const struct ip_callchain *user = NULL;
	struct deferred_sample *ds;
	int ret;

	ret = deferred_callchains__add_runtime(dc, event, sample);
	if (ret)
		return ret;

	if (sample->deferred_callchain) {
		if (deferred_callchains__find(dc, sample, 0, &user) == DEFERRED_PENDING)
			return deferred_callchains__wait(dc, event, sample);
		return deferred_sample__deliver(dc, event, sample, user, deliver, ctx);
	}

	if (!deferred_callchains__is_mark(event))
		return deliver(ctx, event, sample);

	ret = deferred_callchains__pass_mark(dc, event, sample);
	if (ret)
		return ret;

	/* Before the thread changes its maps and its name, or goes away */
	while ((ds = deferred_callchains__first_waiting_for(dc, event, sample)) != NULL) {
		ret = deferred_sample__release(dc, ds, deliver, ctx);
		if (ret)
			return ret;
	}

	if (event->header.type == PERF_RECORD_CALLCHAIN_DEFERRED)
		return 0;

	return deliver(ctx, event, sample);
}

/**
 * deferred_callchains__release - Deliver what has waited for too long.
 * @dc: Where it is kept.
 * @until: Samples from before this point of time have.
 * @deliver: Called with each of them.
 * @ctx: Its first argument.
 *
 * Return: 0, or what @deliver returned.
 */
int deferred_callchains__release(struct deferred_callchains *dc, u64 until,
				 deferred_deliver_fn deliver, void *ctx)
{
	struct deferred_sample *ds;
	int ret;

	while ((ds = deferred_callchains__first_waiting(dc)) != NULL) {
		if (ds->sample.time >= until)
			break;
		ret = deferred_sample__release(dc, ds, deliver, ctx);
		if (ret)
			return ret;
	}

	return 0;
}
