/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stack of one call, as the kernel sees it and as the program knows it.
 *
 * The innermost function makes a system call that nothing else in the program makes. A
 * tracepoint event that is filtered for it takes one sample and gets one deferred
 * callchain.
 */
#ifndef SELFTEST_UNWIND_SAMPLED_H
#define SELFTEST_UNWIND_SAMPLED_H

#include <sys/types.h>

#include "chain.h"
#include "perf.h"

#define SAMPLED_MAX	64

struct sampler {
	int		fd;
	struct ring	ring;
};

/* A stack: addresses only, innermost first */
struct stack {
	unsigned int	nr;
	unsigned long	ip[SAMPLED_MAX];
};

/* Sample getppid() in a task, 0 for this one; 0, or -1 with errno */
int sampler_open(struct sampler *sampler, pid_t pid);
/* The same for a system call of any number, also of a 32-bit program */
int sampler_open_syscall(struct sampler *sampler, pid_t pid, long nr);
/* Any tracepoint, with a filter or NULL; any event */
int sampler_open_tracepoint(struct sampler *sampler, pid_t pid,
			    const char *name, const char *filter);
int sampler_open_attr(struct sampler *sampler, struct perf_event_attr *attr,
		      pid_t pid, const char *filter);
void sampler_close(struct sampler *sampler);

/*
 * Take the stack of the only sample since the last call; -1 after printing why there is
 * none, or more than one.
 */
int sampler_stack(struct sampler *sampler, struct stack *stack);

/* The end of a chain: make the system call and note its return address */
void sampled_call(struct notes *notes);

/* Get the noted stack */
void expect_chain(struct stack *expected, const struct notes *notes);

/*
 * Call functions, each from the one before it; the last must be sampled_call(). Return
 * the sampled stack, and the expected start of it.
 */
int sample_chain(struct sampler *sampler, struct stack *stack,
		 struct stack *expected, unsigned int nr, ...);

/* Does code that is built to sign its return addresses do so on this machine? */
bool can_sign(void);

/* Does @stack begin with all of @expected? If not, print both. */
bool stack_begins_with(const struct stack *stack, const struct stack *expected);

#endif /* SELFTEST_UNWIND_SAMPLED_H */
