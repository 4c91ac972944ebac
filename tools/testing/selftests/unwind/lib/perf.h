/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Perf events as these tests use them: events with one fixed sample_type, whose buffers
 * are read into arrays of parsed records.
 *
 * A record whose size differs from the size of its contents fails to parse. So every test
 * that reads a buffer checks the layout of all records in it. Lost records are an error
 * as well: no test may overrun its buffer, because then it could not check that each
 * sample has its record.
 */
#ifndef SELFTEST_UNWIND_PERF_H
#define SELFTEST_UNWIND_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The sample type of event_attr(), and the only one that records_read() can parse */
#define SAMPLE_TYPE							\
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |	\
	 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN)

struct ring {
	struct perf_event_mmap_page	*meta;
	char				*data;
	size_t				size;
};

/*
 * A sample, a deferred callchain, or any other record; the latter has its trailer parsed
 * only. @ips is the callchain as the record has it: with contexts in a sample, addresses
 * alone in a deferred callchain. @cookie follows the marker of a sample; it is 0 without
 * a marker.
 */
struct record {
	struct perf_event_header	*raw;
	uint32_t			type;
	uint16_t			misc;
	uint32_t			pid;
	uint32_t			tid;
	uint32_t			cpu;
	uint64_t			time;
	uint64_t			id;
	uint64_t			ip;
	uint64_t			cookie;
	uint64_t			nr;
	const uint64_t			*ips;
};

struct records {
	struct record	*rec;
	size_t		nr;
	size_t		max;
};

/* An event that defers its callchains and receives their records */
void event_attr(struct perf_event_attr *attr, uint32_t type, uint64_t config);

/* The same for a tracepoint; -1 without tracefs or without the tracepoint */
int tracepoint_attr(struct perf_event_attr *attr, const char *name);

/*
 * The same for a uprobe at an address of this program, or a uretprobe: @config is 1.  -1 without
 * uprobes.
 */
int uprobe_attr(struct perf_event_attr *attr, unsigned long ip, unsigned int config);

/* Is the deferred core the one of Linux 6.12's series?  Mainline's own has limits of its own */
bool has_own_core(void);

/* File descriptor, or -1 and errno */
int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

/* Filter for system call @nr, for events of system call tracepoints; 0 or -1 */
int event_filter_syscall(int fd, long nr);

int event_enable(int fd);
int event_disable(int fd);
uint64_t event_id(int fd);

int ring_map(struct ring *ring, int fd, size_t pages);
void ring_unmap(struct ring *ring);
bool ring_empty(const struct ring *ring);

/* The next record, which the caller frees, or NULL */
struct perf_event_header *ring_next(struct ring *ring);

/* Append all records in the buffer; 0, or -1 after printing the fault of a record. */
int records_read(struct records *recs, struct ring *ring);
void records_free(struct records *recs);

size_t records_count(const struct records *recs, uint32_t type);
/* The @i'th record of a type, or NULL */
const struct record *records_get(const struct records *recs, uint32_t type,
				 size_t i);
/* The deferred callchain with a cookie, or NULL */
const struct record *records_stack(const struct records *recs, uint64_t cookie);
/* Number of records of a type with the cookie */
size_t records_with_cookie(const struct records *recs, uint32_t type,
			   uint64_t cookie);

/*
 * Does each cookie in the samples have exactly one deferred callchain, from the same
 * task, and is there no other? Does each cookie stand for one entry into the kernel? That
 * is, no record of the task in between has another cookie, and no sample from user space
 * follows the callchain. Print the failures. Records of several buffers may be mixed, in
 * any order.
 *
 * @late: number of samples that follow the deferred callchain to which they refer; if
 * NULL, there must be none. An interrupt that hits a task between its deferred callchain
 * and user space makes such a sample.
 */
bool records_match(const struct records *recs, size_t *late);

#endif /* SELFTEST_UNWIND_PERF_H */
