/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the files of one user may keep the service busy.
 */
#ifndef _UNWIND_TABLES_BUDGET_H
#define _UNWIND_TABLES_BUDGET_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

/* Milliseconds of conversions, in each period */
#define BUDGET		20000
#define BUDGET_PERIOD	60000

/* Users that are counted separately at a time */
#define BUDGET_USERS	16

bool budget_left(uid_t uid, __u64 now);
bool budget_spend(uid_t uid, __u64 now, __u64 ms);

#endif /* _UNWIND_TABLES_BUDGET_H */
