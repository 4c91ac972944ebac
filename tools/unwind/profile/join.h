/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Joining samples with their user stacks
 *
 * A stack has the cookie of the samples that it belongs to. Usually it comes soon after
 * them: when the thread leaves the kernel. But a sample that is taken during or just after
 * delivery has the cookie of a stack that has come already. Usually a thread's cookies never
 * come back. But a thread that finds its own frames gets its stack when it has answered,
 * and meanwhile may be sampled in its handler. So this keeps two cookies for each thread, with
 * their samples until the stack comes, then with the stack. It is bounded: by THREADS, and by
 * PENDING samples of all.
 *
 * A sample whose stack does not come is "[missing]". That happens when a record was lost,
 * or a bound was reached, or when the profile ends before the thread leaves the kernel. A
 * sample never gets another's stack.
 */
#ifndef UNWIND_PROFILE_JOIN_H
#define UNWIND_PROFILE_JOIN_H

#include "counts.h"

#define THREADS		16384
#define PENDING		65536

struct sample {
	struct thread		thread;
	unsigned int		cpu;
	/* The kernel's stack */
	unsigned int		kernel;
	unsigned long long	cookie;
	unsigned long long	time;
	unsigned long long	asleep;
};

/* Gets each sample once, with its user stack */
typedef void (*on_joined)(const struct sample *sample, unsigned int user);

struct join_totals {
	unsigned long long	missing;
	unsigned int		pending;
};

extern struct join_totals join_totals;

void init_join(on_joined joined);
void join_sample(const struct sample *sample);
void join_stack(unsigned int tid, unsigned long long cookie, unsigned int user);
/* Nothing more comes */
void end_join(void);

#endif /* UNWIND_PROFILE_JOIN_H */
