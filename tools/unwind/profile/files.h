/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files that are mapped, each once
 *
 * A file is known by its build-id, or by its device and inode if it has none. It is found
 * through the first process that maps it, while that exists, and kept: it may be deleted, or
 * in another mount namespace. Only a process in a sandbox opens it, because its server may not
 * answer: when names are wanted, and one of root's also to compare its build-id. Any user can
 * make a file with the build-id of another: so one that belongs to root, in a mount that gives
 * root's rights, takes the place of one that does not.
 */
#ifndef UNWIND_PROFILE_FILES_H
#define UNWIND_PROFILE_FILES_H

#include <linux/bpf.h>
#include <stdbool.h>

#include "counts.h"

struct file {
	bool			has_id;
	unsigned char		id[BPF_BUILD_ID_SIZE];
	/* A string; NO_STRING if no process was found that maps the file */
	unsigned int		path;
	/* A place, not an open file (O_PATH); or -1 */
	int			fd;
	/* How often it was found */
	unsigned int		opened;
	bool			is_roots;
};

/* A process whose frames are looked up: set the number, and close it in the end */
struct process {
	unsigned int		pid;
	/* 0 before it is opened */
	int			maps;
	/* The last mount that was looked at, and whether it gives root's rights */
	unsigned long long	mount;
	bool			trusted;
};

/* Find the location of an address in a process, or in a file if the kernel knows that */
void locate(struct process *process, unsigned long long ip,
	    const struct bpf_stack_build_id *id, struct location *location);
void close_process(struct process *process);

const struct file *file(unsigned int number);
unsigned int nr_files(void);
/* Frames whose file found no room */
unsigned long long dropped_files(void);
/* The last part of the path; or "build-id" and its first bytes */
const char *file_name(const struct file *file);

/* As many open files as are allowed */
void init_files(void);

#endif /* UNWIND_PROFILE_FILES_H */
