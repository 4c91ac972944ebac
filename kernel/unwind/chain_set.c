// SPDX-License-Identifier: GPL-2.0
/*
 * The chains of an address space: fork() shares them, exit drops them, and a reader takes
 * references, because it may sleep while another thread removes one.
 */

#include <linux/cleanup.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/slab.h>

#include "chain.h"
#include "tables.h"

/**
 * unwind_chain_put - give a reference back
 * @chain: the chain, or NULL
 *
 * Context: any but NMI.
 */
void unwind_chain_put(struct unwind_chain *chain)
{
	/* Readers under RCU may still try to get a reference */
	if (chain && refcount_dec_and_test(&chain->users))
		kfree_rcu(chain, rcu);
}

static struct unwind_chain *chain_at(struct unwind_tables *tables, unsigned int i)
{
	return rcu_dereference_protected(tables->chains[i], lockdep_is_held(&tables->lock));
}

/**
 * unwind_chains_get - find the chains that the process registered
 * @mm: the current task's address space
 * @found: set, with references; has room for UNWIND_CHAIN_MAX
 *
 * Context: task.
 * Return: their number.
 */
unsigned int unwind_chains_get(struct mm_struct *mm, struct unwind_chain_found *found)
{
	struct unwind_tables *tables = READ_ONCE(mm->unwind_tables);
	struct unwind_chain *chain;
	unsigned int i, nr = 0;

	if (!tables)
		return 0;

	guard(rcu)();
	for (i = 0; i < UNWIND_CHAIN_MAX; i++) {
		chain = rcu_dereference(tables->chains[i]);
		if (!chain || !refcount_inc_not_zero(&chain->users))
			continue;
		found[nr].chain = chain;
		found[nr++].base = 0;
	}
	return nr;
}

/**
 * unwind_chains_any - has the process registered chains?
 * @tables: the tables of its address space, locked
 *
 * Context: task.
 * Return: whether it has.
 */
bool unwind_chains_any(struct unwind_tables *tables)
{
	unsigned int i;

	for (i = 0; i < UNWIND_CHAIN_MAX; i++) {
		if (chain_at(tables, i))
			return true;
	}
	return false;
}

/**
 * unwind_chains_share - let a child inherit its parent's chains
 * @to: tables of the child, which has none yet
 * @from: tables of the parent, locked
 *
 * Context: task.
 */
void unwind_chains_share(struct unwind_tables *to, struct unwind_tables *from)
{
	struct unwind_chain *chain;
	unsigned int i;

	for (i = 0; i < UNWIND_CHAIN_MAX; i++) {
		chain = chain_at(from, i);
		if (!chain)
			continue;
		refcount_inc(&chain->users);
		RCU_INIT_POINTER(to->chains[i], chain);
	}
}

/**
 * unwind_chains_free - drop the chains of a process that has ended
 * @tables: the tables of its address space
 *
 * Context: task.
 */
void unwind_chains_free(struct unwind_tables *tables)
{
	unsigned int i;

	for (i = 0; i < UNWIND_CHAIN_MAX; i++)
		unwind_chain_put(rcu_dereference_protected(tables->chains[i], true));
}
