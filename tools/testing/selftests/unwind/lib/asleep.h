/* SPDX-License-Identifier: GPL-2.0 */
/* Whether another task sleeps, and in which system call: a moment to wait for. */
#ifndef SELFTEST_UNWIND_ASLEEP_H
#define SELFTEST_UNWIND_ASLEEP_H

#include <sys/types.h>

/* The system call that it sleeps in; -1: in none, -2: it is gone */
int sleeps_in(pid_t pid);

#endif /* SELFTEST_UNWIND_ASLEEP_H */
