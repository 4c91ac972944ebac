/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The unwinder's own tracepoints (unwind:*), and a check that the kernel log stays
 * silent.
 */
#ifndef SELFTEST_UNWIND_TRACE_H
#define SELFTEST_UNWIND_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A separate trace instance, with the events of one task */
struct trace {
	char	dir[96];
	char	*text;
};

/* 0, or -1 without tracefs or these events */
int trace_start(struct trace *trace);
/* The task is the current one, unless changed */
int trace_of(struct trace *trace, pid_t pid);
/* All but the current task: the kernel's workers */
int trace_of_others(struct trace *trace);
/* All tasks, and the kernel's workers */
int trace_all(struct trace *trace);
/* Drop all events so far */
int trace_clear(struct trace *trace);
/* Read the trace; call it before looking at the events */
int trace_read(struct trace *trace);
void trace_stop(struct trace *trace);

/*
 * Number of events "unwind_<name>: ..." that contain @what (if not NULL). @message, if
 * not NULL, receives all fields of the first.
 */
size_t trace_count(const struct trace *trace, const char *name,
		   const char *what, char *message, size_t size);

/* The same for events about the table of an open file */
size_t trace_count_file(const struct trace *trace, const char *name, int fd,
			char *message, size_t size);

/* The value of "field=..." in a message, or 0 */
long trace_field(const char *message, const char *field);

/* Open the kernel log at its end; file descriptor or -1 */
int klog_open(void);
/* Is the log still silent? Print new messages. */
bool klog_silent(int fd);

#endif /* SELFTEST_UNWIND_TRACE_H */
