// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware breakpoints, see breakpoint.h.
 */
#include <linux/hw_breakpoint.h>
#include <unistd.h>

#include "breakpoint.h"

#define PAGES	64

int sample_at(unsigned long ip, void (*fn)(void), struct stack *stack)
{
	const struct record *sample, *rec = NULL;
	struct perf_event_attr attr;
	struct records recs = {};
	struct ring ring;
	int fd, ret = -1;

	stack->nr = 0;
	event_attr(&attr, PERF_TYPE_BREAKPOINT, 0);
	attr.bp_type = HW_BREAKPOINT_X;
	attr.bp_addr = ip;
	attr.bp_len = sizeof(long);
	attr.exclude_kernel = 1;
	fd = event_open(&attr, 0, -1);
	if (fd < 0)
		return -1;
	if (ring_map(&ring, fd, PAGES) || event_enable(fd))
		goto out;
	fn();
	if (event_disable(fd) || records_read(&recs, &ring) ||
	    !records_match(&recs, NULL))
		goto out;
	sample = records_get(&recs, PERF_RECORD_SAMPLE, 0);
	if (sample && sample->ip == ip)
		rec = records_stack(&recs, sample->cookie);
	while (rec && stack->nr < rec->nr && stack->nr < SAMPLED_MAX) {
		stack->ip[stack->nr] = rec->ips[stack->nr];
		stack->nr++;
	}
	ret = 0;
out:
	records_free(&recs);
	ring_unmap(&ring);
	close(fd);
	return ret;
}

bool breakpoints_work(void)
{
	struct perf_event_attr attr;
	int fd;

	event_attr(&attr, PERF_TYPE_BREAKPOINT, 0);
	attr.bp_type = HW_BREAKPOINT_X;
	attr.bp_addr = (unsigned long)breakpoints_work;
	attr.bp_len = sizeof(long);
	attr.exclude_kernel = 1;
	fd = event_open(&attr, 0, -1);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}
