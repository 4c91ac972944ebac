/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second copy of the deferred core, compiled for the model of a task.
 *
 * deferred_copy.c includes the kernel's own ../deferred.c.  Here its functions get
 * names of their own: a file that includes this header and calls one by its name in
 * ../deferred.c calls the copy.
 */
#ifndef _KERNEL_UNWIND_TESTS_DEFERRED_COPY_H
#define _KERNEL_UNWIND_TESTS_DEFERRED_COPY_H

#include <linux/unwind_deferred.h>

#include "../deferred.h"

#define unwind_deferred_init		copy_deferred_init
#define unwind_deferred_request		copy_deferred_request
#define unwind_deferred_cancel		copy_deferred_cancel
#define unwind_deferred_exec		copy_deferred_exec
#define unwind_deferred_chains		copy_deferred_chains
#define unwind_deferred_task_exit	copy_deferred_task_exit
#define unwind_info_request		copy_info_request
#define unwind_info_take		copy_info_take
#define unwind_info_reset		copy_info_reset
#define unwind_reset_info		copy_reset_info
#define unwind_cache_free		copy_cache_free
#define unwind_held_add			copy_held_add
#define unwind_held_deliver		copy_held_deliver
#define unwind_last_client		copy_last_client
#define unwind_task_init		copy_task_init
#define unwind_task_free		copy_task_free

extern u64 unwind_last_client;
int unwind_deferred_init(struct unwind_work *work, unwind_callback_t func);
int unwind_deferred_request(struct unwind_work *work, u64 *cookie);
void unwind_deferred_cancel(struct unwind_work *work);
void unwind_deferred_exec(void);
struct unwind_chain_stack *unwind_deferred_chains(void);
void unwind_deferred_task_exit(struct task_struct *task);
int unwind_info_request(struct unwind_task_info *info, unsigned long bit,
			u64 *cookie, bool *queue);
unsigned long unwind_info_take(struct unwind_task_info *info);
bool unwind_info_reset(struct unwind_task_info *info);
void unwind_reset_info(void);
void unwind_cache_free(struct unwind_cache *cache);
void unwind_held_add(struct unwind_held *held, unsigned long clients);
void unwind_held_deliver(struct unwind_held *held);
void unwind_task_init(struct task_struct *task);
void unwind_task_free(struct task_struct *task);

/* Set the number of cookies that the copy has made on a CPU */
void copy_set_count(unsigned int cpu, unsigned long count);

/* The number of CPUs with a spare buffer; @forget: leave none */
unsigned int copy_spares(bool forget);

/* Another task leaves its buffer on this CPU, from where the model's task has taken one */
void copy_leave_spare(void);

/* The number of cookies that a CPU can make until they repeat */
u64 copy_max_count(void);

/* List every access of the copy, even if no run has reached it */
void copy_add_sites(void);

#endif /* _KERNEL_UNWIND_TESTS_DEFERRED_COPY_H */
