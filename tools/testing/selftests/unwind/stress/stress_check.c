// SPDX-License-Identifier: GPL-2.0
/*
 * Check the deferred core's guarantees, on a log of all events.
 *
 * The checker has two tables. For each cookie, which stands for an entry into the kernel:
 * its task and its stack, and the place of the event from which on the entry is over, because
 * the task has a newer cookie. And for each cookie and client (in one of its registrations):
 * how often a request returned 0 or 1, and how often the callback was called.
 *
 * Events are sorted by the time when they began. So a request precedes its callback. But
 * a request that returned 1 may precede the one that returned 0, if that one interrupted
 * it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stress_check.h"
#include "../../kselftest.h"

#define SAY_AT_MOST	5
#define MAX_PID		0x400000

struct check_latest {
	uint64_t	cookie;
	uint64_t	before;
};

struct check_pair {
	uint64_t	cookie;
	uint32_t	zeros;
	uint32_t	ones;
	uint32_t	calls;
	uint32_t	hold;
	uint16_t	gen;
	uint8_t		client;
};

struct check_entry {
	uint64_t	cookie;
	uint64_t	addr;
	uint32_t	pid;
	uint16_t	nr;
	uint8_t		clients;
	bool		called;
	size_t		over;
};

const char * const check_fault_names[CHECK_FAULTS] = {
	"lost", "double", "foreign", "asked twice", "never asked", "shared name",
	"old name", "odd cookie", "odd refusal", "not refused", "other stack", "asked again",
	"after cancel", "held up", "missing",
};

static const char * const context_names[UNWIND_STRESS_CONTEXTS] = {
	"NMI in user mode", "NMI in the kernel", "hard interrupt", "softirq",
	"syscall entry", "syscall exit", "scheduler", "own callback",
	"other's callback", "borrowed memory",
};

static const char * const task_names[UNWIND_STRESS_TASKS] = {
	"user task", "exiting task", "io_uring worker", "kernel thread", "idle task",
};

static void fault(struct check *check, enum check_fault fault,
		  const struct unwind_stress_event *event)
{
	if (check->faults[fault]++ >= SAY_AT_MOST || !event)
		return;
	ksft_print_msg("%s: event %zu, type %u, client %u.%u, cookie %llx, pid %u\n",
		       check_fault_names[fault], check->nr_events, event->type,
		       event->client, event->gen, event->cookie, event->pid);
	ksft_print_msg("  context %u, task %u, returned %d, addr %llx, nr %u\n",
		       event->context, event->task, event->ret, event->addr,
		       event->nr);
}

/* The two tables: open hashing, at most half full; a cookie of 0 is a free slot */

static size_t hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15ULL;
	return key ^ key >> 29;
}

static void *allocate(size_t nr, size_t size)
{
	void *table = calloc(nr, size);

	if (!table)
		ksft_exit_fail_msg("no memory to check with\n");
	return table;
}

static struct check_pair *pair_slot(struct check_pair *table, size_t max,
				    uint64_t cookie, unsigned int client,
				    unsigned int gen)
{
	size_t i = hash(cookie ^ (uint64_t)gen << 48 ^ (uint64_t)client << 56);

	while (true) {
		struct check_pair *pair = &table[i++ & (max - 1)];

		if (!pair->cookie || (pair->cookie == cookie &&
				      pair->client == client && pair->gen == gen))
			return pair;
	}
}

static struct check_entry *entry_slot(struct check_entry *table, size_t max,
				      uint64_t cookie)
{
	size_t i = hash(cookie);

	while (true) {
		struct check_entry *entry = &table[i++ & (max - 1)];

		if (!entry->cookie || entry->cookie == cookie)
			return entry;
	}
}

static void grow_pairs(struct check *check)
{
	struct check_pair *bigger = allocate(2 * check->max_pairs, sizeof(*bigger));
	size_t i;

	for (i = 0; i < check->max_pairs; i++) {
		struct check_pair *pair = &check->pair[i];

		if (pair->cookie)
			*pair_slot(bigger, 2 * check->max_pairs, pair->cookie,
				   pair->client, pair->gen) = *pair;
	}
	free(check->pair);
	check->pair = bigger;
	check->max_pairs *= 2;
}

static void grow_entries(struct check *check)
{
	struct check_entry *bigger = allocate(2 * check->max_entries,
					      sizeof(*bigger));
	size_t i;

	for (i = 0; i < check->max_entries; i++) {
		struct check_entry *entry = &check->entry[i];

		if (entry->cookie)
			*entry_slot(bigger, 2 * check->max_entries,
				    entry->cookie) = *entry;
	}
	free(check->entry);
	check->entry = bigger;
	check->max_entries *= 2;
}

/* The entry of @event's cookie; a new entry belongs to the event's task */
static struct check_entry *find_entry(struct check *check,
				      const struct unwind_stress_event *event)
{
	struct check_entry *entry;

	if (2 * check->nr_entries >= check->max_entries)
		grow_entries(check);
	entry = entry_slot(check->entry, check->max_entries, event->cookie);
	if (!entry->cookie) {
		entry->cookie = event->cookie;
		entry->pid = event->pid;
		check->nr_entries++;
	}
	return entry;
}

/*
 * A task has a cookie: is it the task's own, and its latest?  One that has interrupted a
 * request may have had an older cookie than that got in the end.
 */
static void check_name(struct check *check,
		       const struct unwind_stress_event *event)
{
	struct check_latest *latest = &check->latest[event->pid & (MAX_PID - 1)];
	struct check_entry *entry = find_entry(check, event);
	const size_t place = check->nr_events - 1;
	const size_t end = event->end > place ? event->end : place + 1;
	struct check_entry *before;

	if (entry->pid != event->pid)
		fault(check, SHARED_NAME, event);
	if (latest->cookie != event->cookie) {
		if (entry->over > place)
			return;
		if (entry->over)
			fault(check, OLD_NAME, event);
		latest->before = latest->cookie;
		latest->cookie = event->cookie;
	}
	if (!latest->before)
		return;
	/* From the first return of the newer one */
	before = entry_slot(check->entry, check->max_entries, latest->before);
	if (!before->over || end < before->over)
		before->over = end;
}

static struct check_pair *find_pair(struct check *check,
				    const struct unwind_stress_event *event)
{
	struct check_pair *pair;

	if (2 * check->nr_pairs >= check->max_pairs)
		grow_pairs(check);
	pair = pair_slot(check->pair, check->max_pairs, event->cookie,
			 event->client, event->gen);
	if (!pair->cookie) {
		pair->cookie = event->cookie;
		pair->client = event->client;
		pair->gen = event->gen;
		check->nr_pairs++;
		if (find_entry(check, event)->clients++ == 1)
			check->shared++;
	}
	return pair;
}

/*
 * Events
 */

static bool is_client(const struct check *check,
		      const struct unwind_stress_event *event)
{
	return check->client[event->client].state != GONE &&
	       check->client[event->client].gen == event->gen;
}

/* A task without a user stack, or that will not return to it, is refused */
static void check_refusal(struct check *check,
			  const struct unwind_stress_event *event)
{
	bool may_be;

	if (event->cookie)
		fault(check, ODD_COOKIE, event);
	switch (event->ret) {
	case -EINVAL:
		may_be = event->task != UNWIND_STRESS_USER ||
			 check->may_drop & 1U << event->client;
		break;
	case -ESRCH:
		/* A task that has just executed another program looks like any task */
		may_be = event->task == UNWIND_STRESS_EXITING ||
			 event->task == UNWIND_STRESS_USER;
		break;
	default:
		may_be = false;
	}
	if (!may_be)
		fault(check, ODD_REFUSAL, event);
}

static void check_success(struct check *check,
			  const struct unwind_stress_event *event)
{
	struct check_pair *pair;

	if (!event->cookie) {
		fault(check, ODD_COOKIE, event);
		return;
	}
	if (event->task != UNWIND_STRESS_USER &&
	    event->task != UNWIND_STRESS_EXITING)
		fault(check, NOT_REFUSED, event);
	if (!is_client(check, event))
		fault(check, AFTER_CANCEL, event);
	check_name(check, event);
	pair = find_pair(check, event);
	if (event->ret == 1)
		pair->ones++;
	else if (pair->zeros++)
		fault(check, TWICE_ASKED, event);
	else if (check->holder && check->holder != event->pid)
		pair->hold = check->hold;
	if (event->context == UNWIND_STRESS_SELF &&
	    (event->ret != 1 || event->cookie != event->addr))
		fault(check, ASKED_AGAIN, event);
}

static enum check_ret ret_class(int ret)
{
	switch (ret) {
	case 0:		return RET_0;
	case 1:		return RET_1;
	case -EINVAL:	return RET_EINVAL;
	case -ESRCH:	return RET_ESRCH;
	default:	return RET_OTHER;
	}
}

static void check_request(struct check *check,
			  const struct unwind_stress_event *event)
{
	enum check_ret ret = ret_class(event->ret);

	check->requests++;
	check->by_client[event->client]++;
	check->by_context[event->context][ret]++;
	check->by_task[event->task][ret]++;
	if (ret <= RET_1)
		check_success(check, event);
	else
		check_refusal(check, event);
}

static void check_callback(struct check *check,
			   const struct unwind_stress_event *event)
{
	struct check_entry *entry;
	struct check_pair *pair;

	check->callbacks++;
	check->frames += event->nr;
	if (!event->cookie) {
		fault(check, ODD_COOKIE, event);
		return;
	}
	if (!is_client(check, event))
		fault(check, AFTER_CANCEL, event);
	check_name(check, event);
	pair = find_pair(check, event);
	if (!pair->zeros)
		fault(check, FOREIGN, event);
	else if (pair->calls)
		fault(check, DOUBLE, event);
	pair->calls++;

	entry = find_entry(check, event);
	if (entry->called &&
	    (entry->nr != event->nr || entry->addr != event->addr))
		fault(check, OTHER_STACK, event);
	entry->called = true;
	entry->nr = event->nr;
	entry->addr = event->addr;
	if (check->holder && pair->hold == check->hold)
		check->served++;
}

/* A callback waited until others were served: were any served? */
static void check_hold(struct check *check,
		       const struct unwind_stress_event *event)
{
	if (event->type == UNWIND_STRESS_HELD) {
		check->hold++;
		check->holder = event->pid;
		check->served = 0;
		return;
	}
	check->holder = 0;
	/* It was killed while it waited, or no more requests could come */
	if (event->ret)
		return;
	check->holds++;
	if (!check->served)
		fault(check, HELD_UP, event);
	if (check->served < check->least_served)
		check->least_served = check->served;
}

static bool is_readable(const struct unwind_stress_event *event)
{
	return event->type && event->client < UNWIND_STRESS_CLIENTS &&
	       event->context < UNWIND_STRESS_CONTEXTS &&
	       event->task < UNWIND_STRESS_TASKS;
}

void check_event(struct check *check, const struct unwind_stress_event *event)
{
	if (!is_readable(event)) {
		fault(check, MISSING, event);
		return;
	}
	check->nr_events++;
	switch (event->type) {
	case UNWIND_STRESS_REQUEST:
		check_request(check, event);
		break;
	case UNWIND_STRESS_CALLBACK:
		check_callback(check, event);
		break;
	case UNWIND_STRESS_HELD:
	case UNWIND_STRESS_AWAKE:
		check_hold(check, event);
		break;
	case UNWIND_STRESS_REGISTERED:
		check->client[event->client].gen = event->gen;
		check->client[event->client].state = LIVE;
		break;
	case UNWIND_STRESS_CANCEL:
		check->client[event->client].state = GOING;
		break;
	case UNWIND_STRESS_CANCELLED:
		check->client[event->client].state = GONE;
		break;
	default:
		fault(check, AFTER_CANCEL, event);
	}
}

void check_init(struct check *check, unsigned int may_drop)
{
	memset(check, 0, sizeof(*check));
	check->may_drop = may_drop;
	check->max_pairs = 1024;
	check->max_entries = 1024;
	check->least_served = SIZE_MAX;
	check->pair = allocate(check->max_pairs, sizeof(*check->pair));
	check->entry = allocate(check->max_entries, sizeof(*check->entry));
	check->latest = allocate(MAX_PID, sizeof(*check->latest));
}

void check_free(struct check *check)
{
	free(check->pair);
	free(check->entry);
	free(check->latest);
}

/* Compare the results of a client's requests with its callbacks */
static void check_pair(struct check *check, const struct check_pair *pair)
{
	const struct unwind_stress_event event = {
		.cookie = pair->cookie,
		.client = pair->client,
		.gen = pair->gen,
		.pid = entry_slot(check->entry, check->max_entries,
				  pair->cookie)->pid,
	};

	if (!pair->zeros && !pair->calls)
		fault(check, NEVER_ASKED, &event);
	if (!pair->zeros || pair->calls)
		return;
	if (check->may_drop & 1U << pair->client)
		check->dropped++;
	else
		fault(check, LOST, &event);
}

bool check_finish(struct check *check)
{
	bool good = true;
	size_t i;

	for (i = 0; i < check->max_pairs; i++)
		if (check->pair[i].cookie)
			check_pair(check, &check->pair[i]);
	for (i = 0; i < CHECK_FAULTS; i++)
		good &= !check->faults[i];
	return good;
}

static void print_rets(const char *name, const size_t ret[CHECK_RETS])
{
	ksft_print_msg("  %-18s %8zu %8zu %8zu %8zu %8zu\n", name, ret[RET_0],
		       ret[RET_1], ret[RET_EINVAL], ret[RET_ESRCH],
		       ret[RET_OTHER]);
}

void check_print_totals(const struct check *check)
{
	size_t i;

	ksft_print_msg("%zu requests, %zu callbacks, %zu frames\n",
		       check->requests, check->callbacks, check->frames);
	ksft_print_msg("%zu entries, %zu of them of several clients\n",
		       check->nr_entries, check->shared);
	ksft_print_msg("%zu lost, %zu double, %zu dropped with their client\n",
		       check->faults[LOST], check->faults[DOUBLE],
		       check->dropped);
	for (i = 0; i < CHECK_FAULTS; i++)
		if (check->faults[i])
			ksft_print_msg("FAULT %s: %zu\n", check_fault_names[i],
				       check->faults[i]);
}

/* Totals; requests by context, and by client */
void check_print(const struct check *check)
{
	size_t i;

	check_print_totals(check);
	ksft_print_msg("  %-18s %8s %8s %8s %8s %8s\n", "requests from", "0", "1",
		       "-EINVAL", "-ESRCH", "other");
	for (i = 0; i < UNWIND_STRESS_CONTEXTS; i++)
		print_rets(context_names[i], check->by_context[i]);
	ksft_print_msg("  about a\n");
	for (i = 0; i < UNWIND_STRESS_TASKS; i++)
		print_rets(task_names[i], check->by_task[i]);
	ksft_print_msg("by client:");
	for (i = 0; i < UNWIND_STRESS_CLIENTS; i++)
		printf(" %zu", check->by_client[i]);
	printf("\n");
}
