/* SPDX-License-Identifier: GPL-2.0 */
/* Samples whose callchain comes later: see struct deferred_callchains below. */
#ifndef __PERF_DEFERRED_CALLCHAIN_H
#define __PERF_DEFERRED_CALLCHAIN_H

#include <stdbool.h>
#include <linux/list.h>
#include <linux/time64.h>
#include <linux/types.h>
#include "sample.h"

struct evlist;
struct hashmap;
struct ip_callchain;
struct runtime_frame;
union perf_event;

/* Two ticks of a kernel with 100 Hz: its clock keeps all CPUs within one tick */
#define DEFERRED_CLOCK_SKEW	(20 * NSEC_PER_MSEC)

/**
 * enum deferred_state - What is known about the user half of a callchain.
 * @DEFERRED_PENDING: Its record may still turn up.
 * @DEFERRED_FOUND: Its record is there.
 * @DEFERRED_MISSING: There is no such record.
 */
enum deferred_state {
	DEFERRED_PENDING,
	DEFERRED_FOUND,
	DEFERRED_MISSING,
};

/**
 * struct deferred_sample - A sample that is waiting for its record.
 */
struct deferred_sample {
	/** @node: Entry in struct deferred_callchains::waiting. */
	struct list_head	node;
	/** @thread_node: Entry in the list of the sampled thread, or stack. */
	struct list_head	thread_node;
	/** @sample: What was parsed from @event, pointing into it. */
	struct perf_sample	sample;
	/** @event: Copy of the event the sample came with. */
	union perf_event	*event;
};

/**
 * struct deferred_callchains - Matches samples with the user half of their
 * callchains.
 *
 * The user half of a chain comes in a PERF_RECORD_CALLCHAIN_DEFERRED when the
 * sampled thread returns to user space. The cookie says which: on one machine
 * it is unique. Records are found by it, however many threads sleep.
 *
 * A thread cannot enter the kernel again before that. So if the first record of
 * a thread after a sample is read and has another cookie, the right one was
 * lost. The same holds for the exec and the exit of the thread. If the kernel's
 * clock is unstable, the times of CPUs differ by at most DEFERRED_CLOCK_SKEW;
 * for as long, records are kept.
 */
struct deferred_callchains {
	/** @evlist: Where the events are whose limits hold; NULL: there are none. */
	struct evlist		*const *evlist;
	/** @threads: struct deferred_thread by machine pid and tid. */
	struct hashmap		*threads;
	/** @chains: Records by cookie and machine pid. */
	struct hashmap		*chains;
	/** @runtimes: Frames of runtimes whose record is yet to be read, by the same. */
	struct hashmap		*runtimes;
	/** @nobodies: Waiting samples of threads without a tid, by the same. */
	struct hashmap		*nobodies;
	/** @waiting: All waiting samples, the longest waiting first. */
	struct list_head	waiting;
	/** @merged: Buffer for the event returned by deferred_callchains__merge(). */
	union perf_event	*merged;
	/**
	 * @head: The event @head_sample was parsed from. Parsing an event of
	 * the other endianness changes it, so it is done once only even if the
	 * event has to be looked at again.
	 */
	const union perf_event	*head;
	/** @head_sample: See @head. */
	struct perf_sample	head_sample;
	/** @nr_missing: Samples that deferred_callchains__process() delivered without. */
	unsigned int		nr_missing;
};

/**
 * typedef deferred_deliver_fn - Takes events whose callchains are whole.
 * @ctx: What was passed along with the function.
 * @event: The event.
 * @sample: What was parsed from @event.
 *
 * Return: 0, or an error, which ends the delivery.
 */
typedef int (*deferred_deliver_fn)(void *ctx, union perf_event *event,
				   struct perf_sample *sample);

struct deferred_callchains *deferred_callchains__new(struct evlist *const *evlist);
void deferred_callchains__delete(struct deferred_callchains *dc);
void deferred_callchains__purge(struct deferred_callchains *dc);

bool deferred_event__size_valid(struct evlist *evlist, const union perf_event *event);
u64 deferred_record__ips(const struct ip_callchain *record, const u64 **ips);
void deferred_chain__set(struct ip_callchain *chain, const u64 *ips, u64 nr,
			 struct runtime_frame *frames, u64 nr_frames);

bool deferred_callchains__is_mark(const union perf_event *event);
int deferred_callchains__add_mark(struct deferred_callchains *dc, union perf_event *event,
				  const struct perf_sample *sample);
int deferred_callchains__pass_mark(struct deferred_callchains *dc, union perf_event *event,
				   const struct perf_sample *sample);

int deferred_callchains__add_runtime(struct deferred_callchains *dc,
				     const union perf_event *event,
				     const struct perf_sample *sample);

enum deferred_state deferred_callchains__find(struct deferred_callchains *dc,
					      const struct perf_sample *sample,
					      u64 complete_until,
					      const struct ip_callchain **user);
union perf_event *deferred_callchains__merge(struct deferred_callchains *dc,
					     union perf_event *event,
					     struct perf_sample *sample,
					     const struct ip_callchain *user);

int deferred_callchains__wait(struct deferred_callchains *dc, union perf_event *event,
			      const struct perf_sample *sample);
struct deferred_sample *deferred_callchains__first_waiting(struct deferred_callchains *dc);
struct deferred_sample *
deferred_callchains__first_waiting_for(struct deferred_callchains *dc,
				       const union perf_event *event,
				       const struct perf_sample *sample);
void deferred_sample__delete(struct deferred_callchains *dc, struct deferred_sample *ds);

int deferred_callchains__process(struct deferred_callchains *dc, union perf_event *event,
				 struct perf_sample *sample,
				 deferred_deliver_fn deliver, void *ctx);
int deferred_callchains__release(struct deferred_callchains *dc, u64 until,
				 deferred_deliver_fn deliver, void *ctx);

#endif /* __PERF_DEFERRED_CALLCHAIN_H */
