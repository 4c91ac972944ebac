/* SPDX-License-Identifier: GPL-2.0 */
/* Does another task sleep, and in which system call? Tests wait for that moment. */
#ifndef SELFTEST_UNWIND_ASLEEP_H
#define SELFTEST_UNWIND_ASLEEP_H

#include <sys/types.h>

/* The system call that the task sleeps in; -1: none, -2: the task is gone */
int sleeps_in(pid_t pid);

#endif /* SELFTEST_UNWIND_ASLEEP_H */
