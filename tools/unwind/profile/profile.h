/* SPDX-License-Identifier: GPL-2.0 */
/* The records that profile.bpf.c sends to main.c, in a ring buffer */
#ifndef UNWIND_PROFILE_H
#define UNWIND_PROFILE_H

#include <linux/bpf.h>

#define FRAMES		127
#define COMM_LEN	16

/* Frames of a language that are shown of one stack */
#define LANGUAGE_FRAMES	64
#define NAME_LEN	128

enum { PROFILE_SAMPLE, PROFILE_STACK, PROFILE_FRAMES, PROFILE_NAME };

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

/* A frame of a language, as bpf_unwind_frames() has it */
struct profile_frame {
	unsigned long long	function;
	unsigned int		check;
	unsigned short		place;
	unsigned short		chain;
};

/* The frames of a language that belong to a stack, which comes later, after their names */
struct profile_frames {
	unsigned int		kind;
	unsigned int		nr;
	unsigned long long	cookie;
	struct profile_frame	frames[LANGUAGE_FRAMES];
};

/* A function's name */
struct profile_name {
	unsigned int		kind;
	unsigned int		pid;
	struct profile_frame	frame;
	/* As bpf_unwind_frame_name() has it */
	struct {
		unsigned int	line;
		char		name[NAME_LEN];
		char		file[NAME_LEN];
	} of;
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
