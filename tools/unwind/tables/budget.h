/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the files of one owner may keep the service busy.
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

/* Beyond all users' numbers */
#define BUDGET_DEVICE	0x100000000ULL

struct stat;

__u64 budget_owner(const struct stat *st);
bool budget_left(__u64 owner, __u64 now);
bool budget_spend(__u64 owner, __u64 now, __u64 ms);

#endif /* _UNWIND_TABLES_BUDGET_H */
