/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process that can do nothing but read one file and write another.
 */
#ifndef _UNWIND_TABLES_SANDBOX_H
#define _UNWIND_TABLES_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

/* The two files' descriptors in the sandbox */
#define SANDBOX_IN	3
#define SANDBOX_OUT	4

/* For all processes together, so that a file cannot keep many of them running */
#define SANDBOX_SECONDS	10

int sandbox_enter(int in, int out, pid_t parent);
int sandbox_keep(int in, int out);
int sandbox_judge(pid_t pid, int ms);
bool sandbox_may_read(int fd);
int sandbox_wait(pid_t pid, int ms);

/* extract.c */
bool unwind_extract(void);

#endif /* _UNWIND_TABLES_SANDBOX_H */
