/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Check the stress module's log, event by event, against the deferred core's guarantees;
 * see stress_check.c.
 */
#ifndef SELFTEST_UNWIND_STRESS_CHECK_H
#define SELFTEST_UNWIND_STRESS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../../../kernel/unwind/tests/stress_uapi.h"

enum check_fault {
	LOST,			/* requested, but never called */
	DOUBLE,			/* called more than once */
	FOREIGN,		/* called without a request */
	TWICE_ASKED,		/* a second request returned 0 */
	NEVER_ASKED,		/* a request returned 1, but none returned 0 */
	SHARED_NAME,		/* two tasks have the same cookie */
	OLD_NAME,		/* a task has used a newer cookie since */
	ODD_COOKIE,		/* 0 with success, or another value without */
	ODD_REFUSAL,		/* an error without a reason */
	NOT_REFUSED,		/* served without a user stack */
	OTHER_STACK,		/* two stacks for one cookie */
	ASKED_AGAIN,		/* a new request in the client's own callback */
	AFTER_CANCEL,		/* a request or callback when it was no client */
	HELD_UP,		/* nobody was served while a callback waited */
	MISSING,		/* an event that was not written */
	CHECK_FAULTS
};

extern const char * const check_fault_names[CHECK_FAULTS];

/* A request's return value */
enum check_ret { RET_0, RET_1, RET_EINVAL, RET_ESRCH, RET_OTHER, CHECK_RETS };

struct check_latest;
struct check_pair;
struct check_entry;

struct check {
	/* Clients that may be cancelled while tasks have their requests */
	unsigned int		may_drop;

	size_t			faults[CHECK_FAULTS];
	size_t			requests, callbacks, dropped, shared, frames;
	size_t			by_context[UNWIND_STRESS_CONTEXTS][CHECK_RETS];
	size_t			by_task[UNWIND_STRESS_TASKS][CHECK_RETS];
	size_t			by_client[UNWIND_STRESS_CLIENTS];
	size_t			holds, least_served;

	/* private */
	struct check_pair	*pair;
	size_t			nr_pairs, max_pairs;
	struct check_entry	*entry;
	size_t			nr_entries, max_entries;
	/* The latest cookie of each task, by its number, and the one before it */
	struct check_latest	*latest;
	struct {
		uint16_t	gen;
		enum { GONE, LIVE, GOING } state;
	}			client[UNWIND_STRESS_CLIENTS];
	/* The task whose callback waits, and the number of that wait */
	uint32_t		holder, hold;
	size_t			served;
	size_t			nr_events;
};

void check_init(struct check *check, unsigned int may_drop);
void check_event(struct check *check, const struct unwind_stress_event *event);

/* After the last event: is everything right? Print the faults. */
bool check_finish(struct check *check);
void check_print_totals(const struct check *check);
void check_print(const struct check *check);
void check_free(struct check *check);

#endif /* SELFTEST_UNWIND_STRESS_CHECK_H */
