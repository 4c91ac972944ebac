/* SPDX-License-Identifier: GPL-2.0 */
/* The user halves of callchains in a mapped file: see struct deferred_index. */
#ifndef __PERF_DEFERRED_INDEX_H
#define __PERF_DEFERRED_INDEX_H

#include <linux/types.h>

struct deferred_index;
struct evlist;
struct ip_callchain;
struct perf_sample;
union perf_event;

struct deferred_index *deferred_index__new(struct evlist *evlist, void *start, u64 size);
void deferred_index__delete(struct deferred_index *index);
int deferred_index__catch_up(struct deferred_index *index, const union perf_event *event);
int deferred_index__find(struct deferred_index *index, const struct perf_sample *sample,
			 const struct ip_callchain **user);

#endif /* __PERF_DEFERRED_INDEX_H */
