// SPDX-License-Identifier: GPL-2.0
/*
 * Find the user half of a callchain in a mapped file, while the reader of the file is still
 * far from it. No sample has to wait then, however long its thread sleeps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "deferred-callchain.h"
#include "deferred-index.h"
#include "event.h"
#include "evlist.h"
#include "runtime-frames.h"
#include "session.h"
#include "symbol_conf.h"

#define MIN_BITS	10
/* Entries refer to each other with 32 bits */
#define MAX_BITS	31

/**
 * struct deferred_entry - Where a record is.
 */
struct deferred_entry {
	/** @cookie: Of the record. */
	u64			cookie;
	/** @event: The record, in the file. */
	union perf_event	*event;
	/** @machine_pid: Of the machine on which the cookie is unique. */
	u32			machine_pid;
	/** @next: One more than the number of the next entry in the chain, 0 at its end. */
	u32			next;
};

/**
 * struct deferred_index - The records in a mapped file.
 *
 * The index visits each event once, and none after the record that a sample
 * needs. It notes the place of each record of a callchain that it meets on the way,
 * both PERF_RECORD_CALLCHAIN_DEFERRED and PERF_RECORD_CALLCHAIN_RUNTIME. It copies none.
 *
 * The author of a file can choose the cookies, but does not know the factors of
 * the hash. So no choice makes long chains.
 */
struct deferred_index {
	/** @evlist: The events that wrote the file. */
	struct evlist		*evlist;
	/** @pos: The next event to look at. */
	void			*pos;
	/** @end: The end of the events. */
	void			*end;
	/** @entries: The records, as they were found. There is room for 1 << @bits. */
	struct deferred_entry	*entries;
	/** @nr: Number of @entries. */
	u32			nr;
	/** @bits: Width of the hash. */
	u32			bits;
	/** @heads: By hash, like struct deferred_entry::next. */
	u32			*heads;
	/** @factors: Odd, of cookie and machine. */
	u64			factors[2];
	/** @chain: Result of deferred_index__find(), with room for the largest records. */
	struct ip_callchain	*chain;
};

/**
 * deferred_index__new - For the records in a mapped file.
 * @evlist: The events that wrote the file.
 * @start: Address of the first event.
 * @size: Of all events.
 *
 * Return: the index, to be deleted before the file is unmapped; NULL without memory.
 */
struct deferred_index *deferred_index__new(struct evlist *evlist, void *start, u64 size)
{
	struct deferred_index *index = zalloc(sizeof(*index));
	unsigned long random = getauxval(AT_RANDOM);

	if (!index)
		return NULL;

	index->evlist = evlist;
	index->pos = start;
	index->end = start + size;
	if (random)
		memcpy(index->factors, (void *)random, sizeof(index->factors));
	index->factors[0] |= 1;
	index->factors[1] |= 1;
	/* Frames of a runtime are in a record of their own */
	index->chain = malloc(2 * PERF_SAMPLE_MAX_SIZE);
	if (!index->chain)
		zfree(&index);
	return index;
}

void deferred_index__delete(struct deferred_index *index)
{
	if (!index)
		return;

	free(index->entries);
	free(index->heads);
	free(index->chain);
	free(index);
}

static u32 *deferred_index__head(struct deferred_index *index, u64 cookie, u32 machine_pid)
{
	u64 hash = cookie * index->factors[0] + machine_pid * index->factors[1];

	return &index->heads[hash >> (64 - index->bits)];
}

static union perf_event *deferred_index__lookup(struct deferred_index *index, u32 type,
						u64 cookie, u32 machine_pid)
{
	struct deferred_entry *entry;
	u32 next;

	if (!index->nr)
		return NULL;

	for (next = *deferred_index__head(index, cookie, machine_pid); next; next = entry->next) {
		entry = &index->entries[next - 1];
		if (entry->cookie == cookie && entry->machine_pid == machine_pid &&
		    entry->event->header.type == type)
			return entry->event;
	}
	return NULL;
}

static void deferred_index__link(struct deferred_index *index, u32 i)
{
	struct deferred_entry *entry = &index->entries[i];
	u32 *head = deferred_index__head(index, entry->cookie, entry->machine_pid);

	entry->next = *head;
	*head = i + 1;
}

static int deferred_index__grow(struct deferred_index *index)
{
	u32 bits = index->heads ? index->bits + 1 : MIN_BITS;
	struct deferred_entry *entries;
	u32 *heads, i;

	if (bits > MAX_BITS)
		return -ENOMEM;

	entries = realloc(index->entries, sizeof(*entries) << bits);
	if (!entries)
		return -ENOMEM;
	index->entries = entries;

	heads = calloc(1UL << bits, sizeof(*heads));
	if (!heads)
		return -ENOMEM;
	free(index->heads);
	index->heads = heads;
	index->bits = bits;

	for (i = 0; i < index->nr; i++)
		deferred_index__link(index, i);
	return 0;
}

static bool is_wanted(const union perf_event *event)
{
	switch (event->header.type) {
	case PERF_RECORD_CALLCHAIN_DEFERRED:
	case PERF_RECORD_RUNTIME_NAME:
		return true;
	case PERF_RECORD_CALLCHAIN_RUNTIME:
		return !symbol_conf.no_runtime;
	default:
		return false;
	}
}

/* Return: 1 if a record was noted, 0 if there was nothing to note, or an error */
static int deferred_index__add(struct deferred_index *index, union perf_event *event)
{
	struct perf_sample sample;
	u64 cookie;
	int err;

	/* The reader refuses invalid events when it comes to them */
	if (!is_wanted(event) || !deferred_event__size_valid(index->evlist, event) ||
	    evlist__parse_sample(index->evlist, event, &sample))
		return 0;

	if (event->header.type == PERF_RECORD_RUNTIME_NAME)
		return runtime_frames__add_name(event, &sample);

	/* Both kinds have it in the same place */
	cookie = event->callchain_deferred.cookie;
	/* A record that is written to several buffers is there more than once */
	if (deferred_index__lookup(index, event->header.type, cookie, sample.machine_pid))
		return 0;

	if (!index->heads || index->nr >> index->bits) {
		err = deferred_index__grow(index);
		if (err)
			return err;
	}

	index->entries[index->nr] = (struct deferred_entry) {
		.cookie = cookie,
		.event = event,
		.machine_pid = sample.machine_pid,
	};
	deferred_index__link(index, index->nr++);
	return 1;
}

/* The next event, NULL at the end of the file or where it makes no sense any more */
static union perf_event *deferred_index__next_event(struct deferred_index *index)
{
	u64 size, left = index->end - index->pos;
	union perf_event *event = index->pos;

	if (left < sizeof(event->header))
		return NULL;

	size = event->header.size;
	if (size < sizeof(event->header) || size > left)
		return NULL;

	/* Trace data follows, which is no event */
	left -= size;
	if (event->header.type == PERF_RECORD_AUXTRACE && size >= sizeof(event->auxtrace))
		size += min_t(u64, event->auxtrace.size, left);
	index->pos += size;
	return event;
}

/* Return: 1 if a record was noted, 0 if there is none before @end, or an error */
static int deferred_index__read_on(struct deferred_index *index, const void *end)
{
	union perf_event *event;
	int ret = 0;

	while (!ret && index->pos < end && !session_done()) {
		event = deferred_index__next_event(index);
		if (!event)
			break;
		ret = deferred_index__add(index, event);
	}
	return ret;
}

/**
 * deferred_index__catch_up - Note all records up to an event that the reader has read.
 * @index: Where to note them.
 * @event: The event.
 *
 * Names of functions can be recorded after their frames. So as many names are known
 * as without an index.
 *
 * Return: 0, or -ENOMEM.
 */
int deferred_index__catch_up(struct deferred_index *index, const union perf_event *event)
{
	const void *end = (const void *)event + event->header.size;
	int ret;

	do {
		ret = deferred_index__read_on(index, end);
	} while (ret > 0);
	return ret;
}

/* Return: the number of frames of a runtime that belong to a chain, or an error */
static s64 deferred_index__find_frames(struct deferred_index *index,
				       const struct perf_sample *sample,
				       struct runtime_frame **frames)
{
	union perf_event *event;
	s64 nr;

	event = deferred_index__lookup(index, PERF_RECORD_CALLCHAIN_RUNTIME,
				       sample->deferred_cookie, sample->machine_pid);
	if (!event)
		return 0;

	nr = runtime_frames__parse(event, sample, frames);
	return nr == -EINVAL ? 0 : nr;
}

/**
 * deferred_index__find - Look for the user half of a callchain.
 * @index: Where to look.
 * @sample: A sample with deferred_callchain set.
 * @user: Set to the user half, which is valid until the next call, or to NULL if
 *	  the file has none.
 *
 * Return: 0, or -ENOMEM.
 */
int deferred_index__find(struct deferred_index *index, const struct perf_sample *sample,
			 const struct ip_callchain **user)
{
	struct runtime_frame *frames = NULL;
	union perf_event *event;
	const u64 *ips;
	s64 nr_frames;
	int ret;
	u64 nr;

	*user = NULL;
	while (!(event = deferred_index__lookup(index, PERF_RECORD_CALLCHAIN_DEFERRED,
						sample->deferred_cookie,
						sample->machine_pid))) {
		ret = deferred_index__read_on(index, index->end);
		if (ret <= 0)
			return ret;
	}

	nr_frames = deferred_index__find_frames(index, sample, &frames);
	if (nr_frames < 0)
		return nr_frames;

	nr = deferred_record__ips((struct ip_callchain *)&event->callchain_deferred.nr, &ips);
	deferred_chain__set(index->chain, ips, nr, frames, nr_frames);
	free(frames);
	*user = index->chain;
	return 0;
}
