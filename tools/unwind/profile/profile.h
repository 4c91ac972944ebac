/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The records that profile.bpf.c sends through a ring buffer
 *
 * A sample has the kernel's part of a stack, and a cookie for the user's part. That part
 * comes later, as one of two records. PROFILE_STACK has the stack and its digest. While
 * the kernel's table of digests has this one, the same stack comes as PROFILE_KNOWN,
 * without its frames. The names of a stack's functions come before it.
 *
 * Processes and threads have the numbers of the profiler's pid namespace.
 */
#ifndef UNWIND_PROFILE_H
#define UNWIND_PROFILE_H

#include <linux/bpf.h>

#define FRAMES		127
#define COMM_LEN	16

/* Frames of a language that are shown of one stack */
#define LANGUAGE_FRAMES	64
#define NAME_LEN	128

enum { PROFILE_SAMPLE, PROFILE_STACK, PROFILE_KNOWN, PROFILE_NAME };

struct profile_head {
	unsigned int		kind;
	unsigned int		pid;
	unsigned int		tid;
	unsigned int		cpu;
	/* 0 if there is no user stack */
	unsigned long long	cookie;
};

struct profile_sample {
	struct profile_head	head;
	/* CLOCK_MONOTONIC, in nanoseconds */
	unsigned long long	time;
	/* The time asleep in nanoseconds; 0 on the CPU */
	unsigned long long	asleep;
	char			comm[COMM_LEN];
	/* The record ends after @nr addresses */
	unsigned long long	nr;
	unsigned long long	ips[FRAMES];
};

/* A frame of a language, as bpf_unwind_frames() has it */
struct profile_frame {
	unsigned long long	function;
	unsigned int		check;
	unsigned short		place;
	unsigned short		chain;
};

/*
 * Names a stack. Build-ids and offsets mean the same in all processes of a user, for which
 * @pid and @process are 0. Other addresses and functions of languages belong to a process. Another
 * program, after exec or when the number is used again, has another @process.
 */
struct profile_digest {
	unsigned long long	digest;
	unsigned int		process;
	unsigned int		pid;
};

struct profile_stack {
	struct profile_head	head;
	struct profile_digest	key;
	unsigned int		nr;
	unsigned int		nr_frames;
	struct profile_frame	frames[LANGUAGE_FRAMES];
	unsigned long long	ips[FRAMES];
	/* The record ends after @nr of these */
	struct bpf_stack_build_id ids[FRAMES];
};

struct profile_known {
	struct profile_head	head;
	struct profile_digest	key;
};

/* Names a function of a process */
struct profile_function {
	unsigned long long	function;
	unsigned int		check;
	unsigned int		process;
};

struct profile_name {
	struct profile_head	head;
	struct profile_function	key;
	/* As bpf_unwind_frame_name() has it */
	struct {
		unsigned int	line;
		char		name[NAME_LEN];
		char		file[NAME_LEN];
	} of;
};

#endif /* UNWIND_PROFILE_H */
