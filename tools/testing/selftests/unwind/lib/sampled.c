// SPDX-License-Identifier: GPL-2.0
/*
 * Sampling one call, see sampled.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"
#include "sampled.h"

#define PAGES	64

int sampler_open_attr(struct sampler *sampler, struct perf_event_attr *attr,
		      pid_t pid, const char *filter)
{
	*sampler = (struct sampler){ .fd = -1 };
	attr->exclude_callchain_kernel = 1;
	sampler->fd = event_open(attr, pid, -1);
	if (sampler->fd < 0)
		return -1;
	if ((filter && ioctl(sampler->fd, PERF_EVENT_IOC_SET_FILTER, filter)) ||
	    ring_map(&sampler->ring, sampler->fd, PAGES) ||
	    event_enable(sampler->fd)) {
		sampler_close(sampler);
		return -1;
	}
	return 0;
}

int sampler_open_tracepoint(struct sampler *sampler, pid_t pid,
			    const char *name, const char *filter)
{
	struct perf_event_attr attr;

	*sampler = (struct sampler){ .fd = -1 };
	if (tracepoint_attr(&attr, name))
		return -1;
	return sampler_open_attr(sampler, &attr, pid, filter);
}

int sampler_open_syscall(struct sampler *sampler, pid_t pid, long nr)
{
	char filter[32];

	snprintf(filter, sizeof(filter), "id == %ld", nr);
	return sampler_open_tracepoint(sampler, pid, "raw_syscalls/sys_enter",
				       filter);
}

int sampler_open(struct sampler *sampler, pid_t pid)
{
	return sampler_open_syscall(sampler, pid, SYS_getppid);
}

void sampler_close(struct sampler *sampler)
{
	ring_unmap(&sampler->ring);
	if (sampler->fd >= 0)
		close(sampler->fd);
	sampler->fd = -1;
}

int sampler_stack(struct sampler *sampler, struct stack *stack)
{
	struct records recs = {};
	const struct record *rec;
	int ret = -1;

	if (records_read(&recs, &sampler->ring))
		goto out;
	if (recs.nr != 2 || !records_match(&recs, NULL)) {
		printf("# %zu records in place of a sample and its stack\n",
		       recs.nr);
		goto out;
	}
	rec = &recs.rec[1];
	stack->nr = 0;
	while (stack->nr < rec->nr && stack->nr < SAMPLED_MAX) {
		stack->ip[stack->nr] = rec->ips[stack->nr];
		stack->nr++;
	}
	ret = 0;
out:
	records_free(&recs);
	return ret;
}

void sampled_call(struct notes *notes)
{
	unsigned long ip;

	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	syscall0_at(SYS_getppid, &ip);
	notes->ra[notes->nr++] = ip;
}

void expect_chain(struct stack *expected, const struct notes *notes)
{
	unsigned int i;

	expected->nr = 0;
	for (i = notes->nr; i; i--)
		expected->ip[expected->nr++] = notes->ra[i - 1];
}

int sample_chain(struct sampler *sampler, struct stack *stack,
		 struct stack *expected, unsigned int nr, ...)
{
	struct notes notes = {};
	unsigned int i;
	va_list ap;

	if (nr > NOTES_MAX)
		return -1;
	va_start(ap, nr);
	for (i = 0; i < nr; i++)
		notes.next[i] = va_arg(ap, chain_fn);
	va_end(ap);

	notes.nr_next = 1;
	notes.next[0](&notes);

	expect_chain(expected, &notes);
	return sampler_stack(sampler, stack);
}

bool can_sign(void)
{
#ifdef __aarch64__
	return getauxval(AT_HWCAP) & HWCAP_PACA;
#else
	return false;
#endif
}

static void print_stack(const char *what, const struct stack *stack)
{
	unsigned int i;

	printf("# %s:", what);
	for (i = 0; i < stack->nr; i++)
		printf(" %#lx", stack->ip[i]);
	printf("\n");
}

bool stack_begins_with(const struct stack *stack, const struct stack *expected)
{
	unsigned int i;

	for (i = 0; i < expected->nr; i++) {
		if (i < stack->nr && stack->ip[i] == expected->ip[i])
			continue;
		print_stack("stack", stack);
		print_stack("expected", expected);
		return false;
	}
	return true;
}
