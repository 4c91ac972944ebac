// SPDX-License-Identifier: GPL-2.0
/*
 * Single samples of one place, see shots.h.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shots.h"

/* Open an event at the system call that ends a chain; it defers nothing */
static int open_now(struct sampler *sampler)
{
	struct perf_event_attr attr;
	char filter[32];

	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
		return -1;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	snprintf(filter, sizeof(filter), "id == %d", SYS_getppid);
	return sampler_open_attr(sampler, &attr, 0, filter);
}

int subject_open(struct subject *subject)
{
	long counts[NR_COUNTS];

	*subject = (struct subject){ .now.fd = -1, .later.fd = -1 };
	subject->was_on = read_number(IMMEDIATE_SYSCTL);
	read_counts(counts);
	if (subject->was_on < 0 || counts[TAKEN] < 0)
		return -1;
	return write_text(IMMEDIATE_SYSCTL, "1") || open_now(&subject->now) ? -1 : 0;
}

void subject_close(struct subject *subject)
{
	if (subject->was_on >= 0)
		write_text(IMMEDIATE_SYSCTL, subject->was_on ? "1" : "0");
	records_free(&subject->now_recs);
	records_free(&subject->later_recs);
	sampler_close(&subject->now);
	sampler_close(&subject->later);
}

static int take(struct subject *subject, struct shot *shot)
{
	const size_t nr = subject->now_recs.nr;

	if (records_read(&subject->now_recs, &subject->now.ring))
		return -1;
	if (subject->now_recs.nr != nr + 1)
		return -1;
	shot->rec = subject->now_recs.rec[nr];
	return shot->rec.type == PERF_RECORD_SAMPLE && shot->rec.nr > 2 &&
	       shot->rec.ips[0] == PERF_CONTEXT_USER ? 0 : -1;
}

/*
 * Touch all pages of the stack, up to the environment. Pages untouched since the fork may
 * be absent for the kernel where its reads must not fault.
 */
static void touch_stack(void)
{
	const unsigned long page = sysconf(_SC_PAGESIZE);
	uintptr_t at = (uintptr_t)__builtin_frame_address(0) & -page;

	for (; at < (uintptr_t)environ; at += page)
		asm volatile("" : : "r"(*(const char *)at));
}

int shoot(struct subject *subject, chain_fn fn, const char *modes,
	  struct shot *shots, struct stack *expected)
{
	long before[NR_COUNTS];
	int i, j;

	touch_stack();
	for (i = 0; modes[i]; i++) {
		struct notes notes = { .nr_next = 1, .next = { fn, sampled_call } };
		const char mode[] = { modes[i], 0 };

		if (write_text(IMMEDIATE_SYSCTL, mode))
			return -1;
		read_counts(before);
		fn(&notes);
		read_counts(shots[i].counts);
		for (j = 0; j < NR_COUNTS; j++)
			shots[i].counts[j] -= before[j];
		if (take(subject, &shots[i])) {
			printf("# not one sample with a user stack\n");
			return -1;
		}
		expect_chain(expected, &notes);
	}
	return 0;
}

bool same_addresses(uint64_t nr, const uint64_t *ips, uint64_t nr_other,
		    const uint64_t *other)
{
	return nr == nr_other && !memcmp(ips, other, nr * sizeof(*ips));
}

static void print_shot(const struct shot *shot)
{
	uint64_t i;

	printf("# stack:");
	for (i = 1; i < shot->rec.nr; i++)
		printf(" %#lx", (unsigned long)shot->rec.ips[i]);
	printf("\n");
}

bool shot_is_same(const struct shot *a, const struct shot *b)
{
	if (same_addresses(a->rec.nr, a->rec.ips, b->rec.nr, b->rec.ips))
		return true;
	print_shot(a);
	print_shot(b);
	return false;
}

bool shot_is_whole(const struct shot *shot, const struct stack *expected)
{
	struct stack stack = {};

	/* Without the marker */
	while (stack.nr + 1 < shot->rec.nr && stack.nr < SAMPLED_MAX) {
		stack.ip[stack.nr] = shot->rec.ips[stack.nr + 1];
		stack.nr++;
	}
	return stack_begins_with(&stack, expected);
}

bool shot_has(const struct shot *shot, unsigned long ip)
{
	uint64_t i;

	for (i = 0; i < shot->rec.nr; i++)
		if (shot->rec.ips[i] == ip)
			return true;
	return false;
}
