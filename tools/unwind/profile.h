/* SPDX-License-Identifier: GPL-2.0 */
/* The records that profile.bpf.c sends to profile.c, in a ring buffer */
#ifndef UNWIND_PROFILE_H
#define UNWIND_PROFILE_H

#include <linux/bpf.h>

#define FRAMES		127
#define COMM_LEN	16

enum { PROFILE_SAMPLE, PROFILE_STACK };

/* A sample: the kernel's part of the stack, and a cookie for the user's part */
struct profile_sample {
	unsigned int		kind;
	unsigned int		tid;
	/* 0 if there is no user stack */
	unsigned long long	cookie;
	/* 1, or the time asleep in nanoseconds */
	unsigned long long	weight;
	/* In bytes; negative if there is no stack */
	long long		size;
	char			comm[COMM_LEN];
	unsigned long long	ips[FRAMES];
};

/* The user's part, once for all samples with its cookie */
struct profile_stack {
	unsigned int		kind;
	unsigned int		pid;
	unsigned long long	cookie;
	unsigned int		nr;
	unsigned int		unused;
	unsigned long long	ips[FRAMES];
	struct bpf_stack_build_id ids[FRAMES];
};

#endif /* UNWIND_PROFILE_H */
