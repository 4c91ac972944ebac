/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's side of the table service: /dev/unwind.
 */
#ifndef _UNWIND_TABLES_DEVICE_H
#define _UNWIND_TABLES_DEVICE_H

#include <linux/types.h>
#include <linux/unwind.h>

#include "convert.h"

#define DEVICE	"/dev/unwind"

/**
 * enum answer - what became of a file
 * @ANSWER_ADDED: the kernel has the table
 * @ANSWER_NONE: nothing can be made of the file
 * @ANSWER_LATE: the file has changed, or has a table by now
 * @ANSWER_FAILED: the kernel refused, or has no memory
 */
enum answer {
	ANSWER_ADDED,
	ANSWER_NONE,
	ANSWER_LATE,
	ANSWER_FAILED,
};

int device_open_service(void);
int device_open_list(void);
enum answer device_answer(int device, struct unwind_request *request,
			  const struct unwind_table *table);
int device_list(int device, void (*visit)(const struct unwind_table_info *info, void *arg),
		void *arg);
void device_withdraw(int device, __u64 id);
enum answer device_none(int device, const struct unwind_request *request);

#endif /* _UNWIND_TABLES_DEVICE_H */
