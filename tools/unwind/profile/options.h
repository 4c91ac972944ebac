/* SPDX-License-Identifier: GPL-2.0 */
/* The command line */
#ifndef UNWIND_PROFILE_OPTIONS_H
#define UNWIND_PROFILE_OPTIONS_H

#include <stdbool.h>

#include "output.h"

#define PIDS_MAX	1024

struct options {
	unsigned int		pid[PIDS_MAX];
	unsigned int		nr_pids;
	/* All processes, even if there is a command */
	bool			all;
	bool			off_cpu;
	/* A directory, or NULL */
	const char		*cgroup;
	unsigned long long	hertz;
	/* In nanoseconds; 0 is until the end */
	unsigned long long	duration;
	/* A file, or NULL */
	const char		*out;
	const struct output	*format;
	unsigned int		max_stacks;
	/* In bytes: a power of two */
	unsigned int		buffer;
	/* NULL if there is none */
	char			**command;
};

/* Ends the program after printing help, or if an option is wrong */
void read_options(struct options *options, int argc, char **argv);

#endif /* UNWIND_PROFILE_OPTIONS_H */
