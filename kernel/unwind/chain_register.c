// SPDX-License-Identifier: GPL-2.0
/*
 * Checking and registering chains: prctl(PR_UNWIND_CHAIN, ...).
 *
 * Whatever a chain says, the kernel reads only the memory of the profiled task.  So its numbers
 * are bounded, but otherwise believed.
 */

#include <linux/cleanup.h>
#include <linux/compat.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/unwind_chain.h>
#include <asm/unwind_arch.h>

#include "chain.h"
#include "tables.h"

#define ALL_FLAGS	(UNWIND_CHAIN_NAME | UNWIND_CHAIN_FILE | UNWIND_CHAIN_LINE)

static bool offsets_fit(const struct unwind_chain_attr *attr)
{
	const u32 offsets[] = {
		attr->lists[0].next, attr->lists[0].first,
		attr->lists[1].next, attr->lists[1].first,
		attr->thread, attr->next, attr->function, attr->entry, attr->kind,
		attr->check[0], attr->check[1], attr->name, attr->file, attr->line,
		attr->string.length, attr->string.data, attr->string.check,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		if (offsets[i] > UNWIND_CHAIN_MAX_OFFSET)
			return false;
	}
	return attr->stride <= (s64)UNWIND_CHAIN_MAX_OFFSET &&
	       attr->stride >= -(s64)UNWIND_CHAIN_MAX_OFFSET;
}

/* Unused fields have to be 0, so that they can get a meaning later */
static bool unused_are_zero(const struct unwind_chain_attr *attr)
{
	const struct unwind_chain_string *string = &attr->string;
	const u32 flags = attr->flags;
	unsigned int i;

	for (i = attr->nr_lists; i < ARRAY_SIZE(attr->lists); i++) {
		if (attr->lists[i].next || attr->lists[i].first)
			return false;
	}
	for (i = 0; i < ARRAY_SIZE(attr->text); i++) {
		if (!attr->text[i].size && attr->text[i].start)
			return false;
	}
	if ((!attr->nr_lists && attr->thread) || (attr->stride && attr->next) ||
	    (!attr->entry_mask && (attr->entry || attr->text[0].size)) ||
	    (!attr->text[0].size && attr->text[1].size) ||
	    (!attr->kind_mask && attr->kind) || (!string->check_mask && string->check))
		return false;
	if ((!(flags & UNWIND_CHAIN_NAME) && attr->name) ||
	    (!(flags & UNWIND_CHAIN_FILE) && attr->file) ||
	    (!(flags & UNWIND_CHAIN_LINE) && attr->line))
		return false;
	return flags & (UNWIND_CHAIN_NAME | UNWIND_CHAIN_FILE) ||
	       !(string->length || string->data || string->check_mask);
}

static bool is_valid(const struct unwind_chain_attr *attr)
{
	if (attr->flags & ~ALL_FLAGS || attr->reserved ||
	    attr->nr_lists > ARRAY_SIZE(attr->lists) || !attr->function_mask)
		return false;
	/* A line without a file has no meaning */
	if (attr->flags & UNWIND_CHAIN_LINE && !(attr->flags & UNWIND_CHAIN_FILE))
		return false;
	/* A value with bits outside of its mask could never match */
	if (attr->entry_value & ~attr->entry_mask || attr->kind_value & ~attr->kind_mask ||
	    attr->string.check_value & ~attr->string.check_mask)
		return false;
	return unused_are_zero(attr) && offsets_fit(attr);
}

/**
 * unwind_chain_alloc - check and make a chain
 * @attr: its contents; key and head may have any value
 *
 * Context: task; may sleep.
 * Return: the chain, with a reference; -EINVAL as unwind_chain_prctl(); -ENOMEM.
 */
struct unwind_chain *unwind_chain_alloc(const struct unwind_chain_attr *attr)
{
	struct unwind_chain *chain;

	if (!is_valid(attr))
		return ERR_PTR(-EINVAL);
	chain = kmalloc(sizeof(*chain), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!chain)
		return ERR_PTR(-ENOMEM);
	chain->attr = *attr;
	refcount_set(&chain->users, 1);
	return chain;
}

/*
 * The chains of an address space
 */

static struct unwind_chain *chain_at(struct unwind_tables *tables, unsigned int i)
{
	return rcu_dereference_protected(tables->chains[i], lockdep_is_held(&tables->lock));
}

/* -EEXIST: its key is in use */
static int add_chain(struct mm_struct *mm, struct unwind_chain *chain)
{
	struct unwind_tables *tables = unwind_tables_get(mm);
	int i, free = -1;

	if (!tables)
		return -ENOMEM;

	guard(mutex)(&tables->lock);
	for (i = 0; i < UNWIND_CHAIN_MAX; i++) {
		const struct unwind_chain *other = chain_at(tables, i);

		if (!other)
			free = i;
		else if (other->attr.key == chain->attr.key)
			return -EEXIST;
	}
	if (free < 0)
		return -ENOSPC;
	rcu_assign_pointer(tables->chains[free], chain);
	return 0;
}

static int del_chain(struct mm_struct *mm, u64 key)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);
	struct unwind_chain *chain;
	unsigned int i;

	if (!tables)
		return -ENOENT;

	guard(mutex)(&tables->lock);
	for (i = 0; i < UNWIND_CHAIN_MAX; i++) {
		chain = chain_at(tables, i);
		if (chain && chain->attr.key == key) {
			RCU_INIT_POINTER(tables->chains[i], NULL);
			unwind_chain_put(chain);
			return 0;
		}
	}
	return -ENOENT;
}

/*
 * The system call
 */

static bool is_user_text(const struct unwind_chain_text *text)
{
	return text->start < TASK_SIZE && text->size <= TASK_SIZE - text->start;
}

static int chain_add(const struct unwind_chain_attr *attr)
{
	struct unwind_chain *chain;
	int ret;

	/* Report invalid arguments before bad addresses */
	chain = unwind_chain_alloc(attr);
	if (IS_ERR(chain))
		return PTR_ERR(chain);
	if (unwind_arch_untag(attr->head) < TASK_SIZE &&
	    is_user_text(&attr->text[0]) && is_user_text(&attr->text[1]))
		ret = add_chain(current->mm, chain);
	else
		ret = -EFAULT;
	if (ret)
		unwind_chain_put(chain);
	return ret;
}

/**
 * unwind_chain_prctl - prctl(PR_UNWIND_CHAIN, @op, @uattr, @size, @arg5)
 * @op: PR_UNWIND_CHAIN_*
 * @uattr: &struct unwind_chain_attr; NULL for PR_UNWIND_CHAIN_VERSION
 * @size: its size as the caller knows it; 0 for PR_UNWIND_CHAIN_VERSION
 * @arg5: 0
 *
 * Context: system call of a user task.
 * Return: 0, or the version of the ABI for PR_UNWIND_CHAIN_VERSION;
 * -EINVAL unknown operation or flag, zero key, an offset that is too large, a mask or a
 * value that can match nothing, a line without a file, a field that is not used and not 0;
 * @arg5 not 0, structure shorter than its first version, @uattr or @size not 0 for
 * PR_UNWIND_CHAIN_VERSION;
 * -E2BIG structure longer than the kernel's with a tail that is not zero, or longer than
 * a page;
 * -EFAULT structure unreadable, or its head or text outside of the address space;
 * -EOPNOTSUPP a 32-bit system call;
 * -EEXIST the key is in use;
 * -ENOENT nothing is registered under the key;
 * -ENOSPC UNWIND_CHAIN_MAX chains are registered;
 * -ENOMEM.
 */
int unwind_chain_prctl(unsigned long op, unsigned long uattr, unsigned long size,
		       unsigned long arg5)
{
	struct unwind_chain_attr attr;
	int ret;

	if (arg5)
		return -EINVAL;
	if (in_compat_syscall())
		return -EOPNOTSUPP;

	switch (op) {
	case PR_UNWIND_CHAIN_VERSION:
		return uattr || size ? -EINVAL : UNWIND_CHAIN_ABI_VERSION;
	case PR_UNWIND_CHAIN_ADD:
	case PR_UNWIND_CHAIN_DEL:
		break;
	default:
		return -EINVAL;
	}
	BUILD_BUG_ON(sizeof(attr) != UNWIND_CHAIN_ATTR_SIZE_VER0);
	ret = unwind_copy_attr(&attr, sizeof(attr), uattr, size);
	if (ret)
		return ret;
	if (!attr.key || attr.flags & ~ALL_FLAGS)
		return -EINVAL;
	return op == PR_UNWIND_CHAIN_ADD ?
	       chain_add(&attr) : del_chain(current->mm, attr.key);
}
