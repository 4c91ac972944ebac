/* SPDX-License-Identifier: GPL-2.0 */
/* Threads that find their own frames: self.c. */
#ifndef _KERNEL_UNWIND_SELF_H
#define _KERNEL_UNWIND_SELF_H

#include <linux/types.h>
#include <linux/unwind_self.h>

struct unwind_cache;
struct unwind_self;
struct unwind_task_info;

#ifdef CONFIG_UNWIND_USER_SFRAME

bool unwind_self_ask(struct unwind_task_info *info, unsigned long clients);
void unwind_self_left(struct unwind_self *self);
struct unwind_cache *unwind_self_swap(struct unwind_self *self, struct unwind_cache *cache);
bool unwind_self_join(struct unwind_self *self, unsigned long clients, u64 cookie);
void unwind_self_end(struct unwind_task_info *info, enum unwind_self_outcome outcome);

#else

static inline void unwind_self_left(struct unwind_self *self)
{
}

static inline struct unwind_cache *unwind_self_swap(struct unwind_self *self,
						    struct unwind_cache *cache)
{
	return cache;
}

static inline bool unwind_self_ask(struct unwind_task_info *info, unsigned long clients)
{
	return false;
}

static inline bool unwind_self_join(struct unwind_self *self, unsigned long clients, u64 cookie)
{
	return false;
}

static inline void unwind_self_end(struct unwind_task_info *info,
				   enum unwind_self_outcome outcome)
{
}

#endif /* CONFIG_UNWIND_USER_SFRAME */

#endif /* _KERNEL_UNWIND_SELF_H */
