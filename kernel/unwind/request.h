/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to the table service, for files that have no table.
 */
#ifndef _KERNEL_UNWIND_REQUEST_H
#define _KERNEL_UNWIND_REQUEST_H

#include <linux/list.h>
#include <linux/path.h>
#include <linux/types.h>
#include <linux/uidgid_types.h>
#include <linux/wait.h>
#include <linux/workqueue_types.h>

/**
 * struct unwind_request_item - a request
 * @node: in the queue
 * @free: frees it later
 * @path: of the file, with references; on overlayfs, of the file with the contents
 * @owner: of the file
 * @id: of the file's entry
 * @lapses: when it is dropped, in jiffies
 */
struct unwind_request_item {
	struct list_head	node;
	struct work_struct	free;
	struct path		path;
	kuid_t			owner;
	u64			id;
	unsigned long		lapses;
};

extern struct wait_queue_head unwind_requests_wait;

int unwind_requests_start(void);
void unwind_requests_stop(void);
bool unwind_requests_wanted(void);
bool unwind_requests_any(void);

struct unwind_request_item *unwind_request_alloc(struct file *file);
bool unwind_request_queue(struct unwind_request_item *item, u64 id);
struct unwind_request_item *unwind_request_take(void);
void unwind_request_put_back(struct unwind_request_item *item);
void unwind_request_free(struct unwind_request_item *item);
void unwind_request_free_later(struct unwind_request_item *item);

#endif /* _KERNEL_UNWIND_REQUEST_H */
