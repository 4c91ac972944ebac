/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recording that same_record writes and same_compare reads: a directory.
 *
 *	records		struct same_header, then perf records as the kernel wrote
 *			them; samples without the part of the stack copy that could
 *			not be copied
 *	format		of the tracepoint unwind:unwind_stop
 *	vdso		the kernel's image of that name, which is in no file
 *
 * There are two kinds of samples. A clock sample has the cookie of its deferred
 * callchain, the registers of user space, and a copy of the stack, as large as a record
 * can be. A stop sample has the stop reason of the next record in the same task.
 */
#ifndef _UNWIND_TEST_SAME_H
#define _UNWIND_TEST_SAME_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "machine.h"

#define SAME_MAGIC	0x31454d4153574e55ULL
#define SAME_MAX_CPUS	64

/* In the order of a sample */
#define SAME_TYPE_COMMON	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | \
				 PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
#define SAME_TYPE_CLOCK		(SAME_TYPE_COMMON | PERF_SAMPLE_CALLCHAIN | \
				 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define SAME_TYPE_STOP		(SAME_TYPE_COMMON | PERF_SAMPLE_RAW)

/* The maximum that can be requested; records are smaller, and take what fits */
#define SAME_STACK	65528

/* More than the kernel unwinds */
#define SAME_MAX_STACK	1024

struct same_header {
	uint64_t	magic;
	uint32_t	num_cpus;
	uint32_t	pid;
	uint64_t	clock_id[SAME_MAX_CPUS];
	uint64_t	stop_id[SAME_MAX_CPUS];
};

/*
 * A clock sample. @stack and @stack_size are the record's room for the copy,
 * @stack_copied is the filled part.
 */
struct same_sample {
	uint64_t		ip;
	uint32_t		pid;
	uint32_t		tid;
	uint64_t		time;
	uint64_t		cookie;		/* 0: none */
	bool			in_kernel;
	const uint64_t		*regs;		/* for each bit of SAME_REGS; or NULL */
	const uint8_t		*stack;
	uint64_t		stack_size;
	uint64_t		stack_copied;
};

/* Return: 0, or -1 if it is no such sample; the record has at least its size */
int same_parse_sample(const struct perf_event_header *record,
		      struct same_sample *sample);

#endif /* _UNWIND_TEST_SAME_H */
