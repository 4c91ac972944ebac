/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace instances with deferred user stacks, and the parsed trace.
 *
 * The event is one task's getppid(), a system call that nothing else makes here.
 */
#ifndef SELFTEST_UNWIND_FTRACE_H
#define SELFTEST_UNWIND_FTRACE_H

#include <linux/compiler.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FTRACE_OPTION	"options/userstacktrace_deferred"
#define FTRACE_ENTER	"events/raw_syscalls/sys_enter"
#define FTRACE_EXIT	"events/raw_syscalls/sys_exit"

struct ftrace {
	char	dir[128];
};

/* Create an instance named after @name and this process; 0, or -1 without tracefs or the option */
int ftrace_open(struct ftrace *ft, const char *name);
/* Remove it, with all its settings; 0 or -errno */
int ftrace_close(struct ftrace *ft);

/* Write to one of its files; 0 or -errno */
int ftrace_set(const struct ftrace *ft, const char *file, const char *value);
/* All of a file, or NULL; the caller frees the text */
char *file_text(const char *path);
/* The same for one of the instance's files */
char *ftrace_get(const struct ftrace *ft, const char *file);

/* Enable or disable an event for a task's getppid() */
int ftrace_event(const struct ftrace *ft, const char *event, pid_t pid);

struct ftrace_frame {
	char		path[192];
	unsigned long	offset;
	unsigned long	ip;
};

enum ftrace_type {
	FTRACE_COOKIE,
	FTRACE_STACK,
	FTRACE_FILE,
	/* The option userstacktrace: no cookie, and frames have @ip only */
	FTRACE_IMMEDIATE_STACK,
	FTRACE_TYPES
};

/* @path and @build_id are set for files, @frame for both kinds of stacks */
struct ftrace_record {
	enum ftrace_type	type;
	uint64_t		cookie;
	char			path[192];
	char			build_id[64];
	unsigned int		nr;
	struct ftrace_frame	*frame;
};

struct ftrace_log {
	size_t			nr;
	struct ftrace_record	*rec;
};

/* Add or remove kprobe events, for all instances; 0 or -1 */
int ftrace_kprobe(const char *text);

/* Parse the user stacks in a file ("trace", "snapshot"); 0 or -1 */
int ftrace_read(const struct ftrace *ft, const char *file, struct ftrace_log *log);
int ftrace_parse(char *text, struct ftrace_log *log);
void ftrace_free(struct ftrace_log *log);

size_t ftrace_count(const struct ftrace_log *log, enum ftrace_type type);
/* Number of announcements of one file */
size_t ftrace_announced(const struct ftrace_log *log, const char *path);
/* The stack with a cookie; NULL if there is none, or more than one */
const struct ftrace_record *ftrace_stack(const struct ftrace_log *log,
					 uint64_t cookie);
/*
 * Does each cookie have one stack, and does each stack follow a cookie? Print the
 * failures.
 *
 * @late: number of cookies that follow their stack; if NULL, there must be none. A task
 * that is interrupted between its stack and user space has such cookies, if the event is
 * one of an interrupt or of the scheduler.
 */
bool ftrace_pairs(const struct ftrace_log *log, size_t *late);

/* Where does an address of this process lie? Path and offset, from its maps. */
bool ftrace_place(unsigned long ip, struct ftrace_frame *frame);
/* Is it this stack, with the right path and offset of each frame? Print the differences. */
bool ftrace_stack_is(const struct ftrace_record *rec, const unsigned long *ip,
		     unsigned int nr);

#endif /* SELFTEST_UNWIND_FTRACE_H */
