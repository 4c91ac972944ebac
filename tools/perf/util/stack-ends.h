/* SPDX-License-Identifier: GPL-2.0 */
/* Where deferred user stacks end that are not complete: see stack-ends.c. */
#ifndef __PERF_STACK_ENDS_H
#define __PERF_STACK_ENDS_H

#include <stdio.h>
#include <linux/list.h>
#include <linux/types.h>

struct evsel;
struct machine;
struct perf_sample;

/**
 * struct stack_ends - Counts of all user stacks, and of incomplete ones.
 */
struct stack_ends {
	/** @objects: Where stacks end early: struct stack_ends_object. */
	struct list_head	objects;
	/** @total: All user stacks. */
	u64			total;
	/** @early: Those that end early. */
	u64			early;
	/** @max_frames: The limit of events that have none of their own. */
	u64			max_frames;
};

void stack_ends__init(struct stack_ends *ends);
void stack_ends__exit(struct stack_ends *ends);
bool stack_ends__count(struct stack_ends *ends, struct evsel *evsel,
		       struct perf_sample *sample, struct machine *machine);
void stack_ends__sort(struct stack_ends *ends);
void stack_ends__fprintf_line(const struct stack_ends *ends, FILE *fp);
void stack_ends__fprintf(const struct stack_ends *ends, FILE *fp);

#endif /* __PERF_STACK_ENDS_H */
