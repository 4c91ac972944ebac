/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace instances with deferred user stacks, and what they have to say.
 *
 * The event is that of a system call which nothing else makes here, getppid(), of
 * one task.
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

/* An instance of this name and process; 0, or -1 without tracefs or the option */
int ftrace_open(struct ftrace *ft, const char *name);
/* Remove it, with all that is set; 0 or -errno */
int ftrace_close(struct ftrace *ft);

/* Write to one of its files; 0 or -errno */
int ftrace_set(const struct ftrace *ft, const char *file, const char *value);
/* Read one; to be freed by the caller */
char *ftrace_get(const struct ftrace *ft, const char *file);

/* Turn an event on, for getppid() of a task, or off */
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
	/* The option userstacktrace: no cookie, and of frames only @ip */
	FTRACE_IN_PLACE_STACK,
	FTRACE_TYPES
};

/* @path and @build_id are of files, @frame of both kinds of stacks */
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

/* What a file says of user stacks ("trace", "snapshot"); 0 or -1 */
int ftrace_read(const struct ftrace *ft, const char *file, struct ftrace_log *log);
int ftrace_parse(char *text, struct ftrace_log *log);
void ftrace_free(struct ftrace_log *log);

size_t ftrace_count(const struct ftrace_log *log, enum ftrace_type type);
/* Announcements of one file */
size_t ftrace_announced(const struct ftrace_log *log, const char *path);
/* The stack with a cookie, or NULL if there is none, or more than one */
const struct ftrace_record *ftrace_stack(const struct ftrace_log *log,
					 uint64_t cookie);
/*
 * Has each cookie one stack, and each stack a cookie before it?  Prints what not.
 *
 * @late: number of cookies that follow their stack; if NULL, there must be none.  A
 * task that is interrupted between its stack and user space has such cookies, if the
 * event is one of an interrupt or of the scheduler.
 */
bool ftrace_pairs(const struct ftrace_log *log, size_t *late);

/* Where an address of this process lies: path and offset, from its maps */
bool ftrace_place(unsigned long ip, struct ftrace_frame *frame);
/* Is it this stack, with the right places?  Prints what is wrong. */
bool ftrace_stack_is(const struct ftrace_record *rec, const unsigned long *ip,
		     unsigned int nr);

#endif /* SELFTEST_UNWIND_FTRACE_H */
