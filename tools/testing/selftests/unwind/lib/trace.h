/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the unwinder says about itself (tracepoints unwind:*), and whether the
 * kernel log got something that it should not have.
 */
#ifndef SELFTEST_UNWIND_TRACE_H
#define SELFTEST_UNWIND_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A trace instance of its own, with the events of one task */
struct trace {
	char	dir[96];
	char	*text;
};

/* 0, or -1 without tracefs or these events */
int trace_start(struct trace *trace);
/* The task is the current one, unless changed */
int trace_of(struct trace *trace, pid_t pid);
/* From here on, only what is new */
int trace_clear(struct trace *trace);
/* Take over what was traced; to be called before the events are looked at */
int trace_read(struct trace *trace);
void trace_stop(struct trace *trace);

/*
 * How many events "unwind_<name>: ..." contain @what (if not NULL); the
 * message of the first (all of its fields) is copied to @message, if not NULL.
 */
size_t trace_count(const struct trace *trace, const char *name,
		   const char *what, char *message, size_t size);

/* The value of "field=..." in a message, or 0 */
long trace_field(const char *message, const char *field);

/* The kernel log from now on; file descriptor or -1 */
int klog_open(void);
/* Is it as it was when it was opened?  Prints what is new. */
bool klog_silent(int fd);

#endif /* SELFTEST_UNWIND_TRACE_H */
