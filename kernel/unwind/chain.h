/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chains describe where a runtime keeps the frames of its language.  chain.c and chain_name.c
 * read frames and names, chain_register.c checks and registers chains, chain_set.c stores them.
 */
#ifndef _KERNEL_UNWIND_CHAIN_H
#define _KERNEL_UNWIND_CHAIN_H

#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <uapi/linux/unwind.h>

/* Chains of files that one stack may have */
#define UNWIND_CHAIN_FILES	4

/**
 * struct unwind_chain - a chain, which does not change
 * @attr: the registered description, checked
 * @users: references
 * @rcu: frees it
 */
struct unwind_chain {
	struct unwind_chain_attr	attr;
	refcount_t			users;
	struct rcu_head			rcu;
};

/**
 * struct unwind_chain_found - a chain of the current task, with a reference
 * @chain: the chain
 * @base: the base of its addresses: 0, or the address at which its file would begin
 */
struct unwind_chain_found {
	struct unwind_chain	*chain;
	unsigned long		base;
};

/**
 * struct unwind_chain_reader - reads of a task's memory, on behalf of one stack
 * @waits: number of pages that may still be brought in
 * @nodes: number of nodes that may still be visited
 * @missing: an address that could not be read; 0 if all reads succeeded
 * @missing_size: number of bytes there
 */
struct unwind_chain_reader {
	unsigned int	waits;
	unsigned int	nodes;
	unsigned long	missing;
	size_t		missing_size;
};

bool unwind_chain_read(struct unwind_chain_reader *reader, u64 addr, void *buf, size_t size);
void unwind_chain_read_text(struct unwind_chain_reader *reader, u64 addr, u64 size, char *buf);
void unwind_chain_read_bytes(struct unwind_chain_reader *reader, u32 tag, u64 addr, u64 size,
			     char *buf);

struct unwind_chain *unwind_chain_alloc(const struct unwind_chain_attr *attr);
void unwind_chain_put(struct unwind_chain *chain);

#endif /* _KERNEL_UNWIND_CHAIN_H */
