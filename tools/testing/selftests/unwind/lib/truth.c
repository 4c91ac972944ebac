// SPDX-License-Identifier: GPL-2.0
/*
 * Judging stacks, see truth.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf.h"
#include "run.h"
#include "truth.h"

#define CLOCK_PERIOD	100000
#define PRINT_MAX	8

/*
 * Stacks
 */

void truth_add(struct truth *truth, const struct truth_func *func,
	       unsigned int nr)
{
	if (truth->nr + nr > TRUTH_MAX)
		abort();
	memcpy(&truth->func[truth->nr], func, nr * sizeof(*func));
	truth->nr += nr;
}

static const struct truth_func *find(const struct truth *truth,
				     unsigned long ip)
{
	unsigned int i;

	for (i = 0; i < truth->nr; i++)
		if (ip >= truth->func[i].start && ip < truth->func[i].end)
			return &truth->func[i];
	return NULL;
}

/* In one piece, because several threads may judge */
static void print_wrong(const uint64_t *ip, uint64_t nr, uint64_t at,
			const struct truth_func *func)
{
	char line[1024];
	size_t len = 0;
	uint64_t i;

	for (i = 0; i < nr && i < 32; i++)
		len += snprintf(line + len, sizeof(line) - len, " %s%#llx",
				i == at ? "!" : "", (unsigned long long)ip[i]);
	printf("# wrong, should be %#lx:%s\n", func->ra, line);
	fflush(stdout);
}

void truth_judge(const struct truth *truth, const uint64_t *ip, uint64_t nr,
		 struct tally *tally)
{
	const struct truth_func *func;
	uint64_t i = 0;

	if (nr && run_in_probe(ip[0])) {
		tally->probes++;
		return;
	}
	/*
	 * It comes from one of the functions, or from a function that it calls, which has
	 * a frame
	 */
	func = nr ? find(truth, ip[0]) : NULL;
	if (!func && nr > 1 && run_in_leaf(ip[0]))
		func = find(truth, ip[++i] - 1);
	if (!func) {
		tally->elsewhere++;
		return;
	}
	while (func) {
		if (++i == nr) {
			tally->ended++;
			return;
		}
		if (ip[i] != func->ra) {
			if (tally->wrong++ < PRINT_MAX)
				print_wrong(ip, nr, i, func);
			return;
		}
		/* The address may already belong to the next function */
		func = find(truth, ip[i] - 1);
	}
	tally->right++;
}

void tally_add(struct tally *sum, const struct tally *more)
{
	sum->right += more->right;
	sum->ended += more->ended;
	sum->wrong += more->wrong;
	sum->elsewhere += more->elsewhere;
	sum->probes += more->probes;
	sum->lost += more->lost;
}

/*
 * Events
 */

static int add_event(struct watch *watch, struct perf_event_attr *attr, int pid,
		     int cpu, size_t pages)
{
	unsigned int i;
	int fd;

	for (i = 0; watch->fd[i] >= 0; i++)
		;
	attr->exclude_callchain_kernel = 1;
	attr->defer_output = !i;
	attr->inherit = cpu >= 0;
	fd = event_open(attr, pid, cpu);
	if (fd < 0)
		return -1;
	watch->fd[i] = fd;
	return i ? ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, watch->fd[0]) :
		   ring_map(watch->ring, fd, pages);
}

static int add_software(struct watch *watch, uint64_t config, uint64_t period,
			int pid, int cpu, size_t pages)
{
	struct perf_event_attr attr;

	event_attr(&attr, PERF_TYPE_SOFTWARE, config);
	attr.sample_period = period;
	return add_event(watch, &attr, pid, cpu, pages);
}

static int add_syscalls(struct watch *watch, bool all, int pid, int cpu,
			size_t pages)
{
	struct perf_event_attr attr;
	unsigned int i;

	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter") ||
	    add_event(watch, &attr, pid, cpu, pages))
		return -1;
	for (i = 0; i < 3 && watch->fd[i + 1] >= 0; i++)
		;
	return all ? 0 : event_filter_syscall(watch->fd[i], SYS_getppid);
}

int watch_open(struct watch *watch, int pid, int cpu, unsigned int what,
	       size_t pages)
{
	*watch = (struct watch){ .fd = { -1, -1, -1, -1 } };
	watch->ring = calloc(1, sizeof(*watch->ring));
	if (!watch->ring)
		return -1;

	if ((what & (WATCH_CALLS | WATCH_SYSCALLS) &&
	     add_syscalls(watch, what & WATCH_SYSCALLS, pid, cpu, pages)) ||
	    (what & WATCH_CLOCK &&
	     add_software(watch, PERF_COUNT_SW_CPU_CLOCK, CLOCK_PERIOD, pid,
			  cpu, pages)) ||
	    (what & WATCH_FAULTS &&
	     add_software(watch, PERF_COUNT_SW_PAGE_FAULTS, 1, pid, cpu, pages)) ||
	    (what & WATCH_SWITCHES &&
	     add_software(watch, PERF_COUNT_SW_CONTEXT_SWITCHES, 1, pid, cpu,
			  pages))) {
		watch_close(watch);
		return -1;
	}
	return 0;
}

void watch_close(struct watch *watch)
{
	int saved = errno;
	unsigned int i;

	if (!watch->ring)
		return;
	ring_unmap(watch->ring);
	free(watch->ring);
	watch->ring = NULL;
	for (i = 0; i < 4; i++)
		if (watch->fd[i] >= 0)
			close(watch->fd[i]);
	errno = saved;
}

int watch_enable(struct watch *watch)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (watch->fd[i] >= 0 && event_enable(watch->fd[i]))
			return -1;
	return 0;
}

int watch_disable(struct watch *watch)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (watch->fd[i] >= 0 && event_disable(watch->fd[i]))
			return -1;
	return 0;
}

/*
 * Unlike records_read() this takes any number of records, and may lose some: each stack
 * is judged by itself.
 */
bool watch_judge(struct watch *watch, const struct truth *truth,
		 struct tally *tally)
{
	struct perf_event_header *raw;
	bool any = false;

	while ((raw = ring_next(watch->ring))) {
		const uint64_t *word = (const uint64_t *)(raw + 1);

		any = true;
		switch (raw->type) {
		case PERF_RECORD_CALLCHAIN_DEFERRED:
			/* cookie, nr, addresses */
			if (word[1])
				truth_judge(truth, word + 2, word[1], tally);
			break;
		case PERF_RECORD_LOST:
			/* id, number */
			tally->lost += word[1];
			break;
		}
		free(raw);
	}
	return any;
}
