/* SPDX-License-Identifier: GPL-2.0 */
/* Threads that find their own frames: self.c. */
#ifndef _KERNEL_UNWIND_SELF_H
#define _KERNEL_UNWIND_SELF_H

#include <linux/types.h>
#include <linux/unwind_deferred_types.h>
#include <linux/unwind_self.h>

/**
 * unwind_self_of - does a task find its own frames?
 * @info: the task's
 *
 * Return: its state for that, for all functions below; NULL if it does not.
 */
static inline struct unwind_self *unwind_self_of(const struct unwind_task_info *info)
{
	return IS_ENABLED(CONFIG_UNWIND_USER_LANGUAGES) ? info->self : NULL;
}

bool unwind_self_ask(struct unwind_task_info *info, unsigned long clients);
void unwind_self_left(struct unwind_self *self);
void unwind_self_stays(struct unwind_self *self);
struct unwind_cache *unwind_self_swap(struct unwind_self *self, struct unwind_cache *cache);
bool unwind_self_join(struct unwind_self *self, unsigned long clients, u64 cookie);
void unwind_self_end(struct unwind_task_info *info, enum unwind_self_outcome outcome);

#endif /* _KERNEL_UNWIND_SELF_H */
