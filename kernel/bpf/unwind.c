// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred user stacks for BPF programs.
 *
 *   bpf_get_stack(BPF_F_USER_DEFER)            return to user space
 *     stores a cookie                            |
 *                                                v
 *                            bpf_unwind_ops.deliver(cookie, stack)
 *
 * A program that fires in an interrupt, in an NMI or in the middle of the scheduler
 * cannot take page faults.  The immediate stack that it gets there uses tables if all
 * memory is resident, else frame pointers.  With BPF_F_USER_DEFER, bpf_get_stack() and
 * bpf_get_task_stack() make a request instead.  The stack comes when the task is about to
 * leave the kernel (kernel/unwind/deferred.c).
 *
 * BPF is one client of the deferred core, for all programs.  It is registered at boot, for
 * good: to cancel a client is to wait for its callbacks, and a task may keep a program that
 * sleeps in one waiting for its memory.
 */

#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/cleanup.h>
#include <linux/filter.h>
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/unwind_base.h>
#include <linux/unwind_chain.h>
#include <linux/unwind_deferred.h>

#include "unwind.h"

/* Number of sets of ops that can be attached at a time */
#define BPF_UNWIND_OPS_MAX	16

/**
 * struct bpf_unwind - a user stack, for the program to which it is delivered
 * @cookie: as bpf_get_stack() stored it
 * @ips: addresses, the innermost first; bpf_unwind_stack() copies them, and
 *	bpf_probe_read_kernel() may
 * @nr: number of addresses; 0 if the stack could not be unwound
 */
struct bpf_unwind {
	u64		cookie;
	const u64	*ips;
	u32		nr;
};

/**
 * struct bpf_unwind_ops - programs that get deferred user stacks
 * @deliver: called with each stack that any program asked for, once, in the task with
 *	this stack, before it returns to user space, exits or executes
 *	another program, or when it has found its own frames; may sleep
 */
struct bpf_unwind_ops {
	void (*deliver)(struct bpf_unwind *unwind);
};

static struct bpf_unwind_ops __rcu *unwind_ops[BPF_UNWIND_OPS_MAX];
static unsigned int nr_unwind_ops;
static DEFINE_MUTEX(unwind_ops_lock);

/*
 * Delivery
 *
 * Every set of ops gets every stack; the cookie, which the program that asked may have
 * stored, identifies the request.  The ops run in the task with this stack, with its
 * memory, and may sleep.
 *
 * RCU finds a set of ops by its slot.  A reference to its map then holds it while its
 * program runs.  So detaching it waits for no task's page faults.
 */

/* Get the ops of a slot, with a reference, or NULL */
static struct bpf_unwind_ops *get_ops(unsigned int slot)
{
	struct bpf_unwind_ops *ops;

	guard(rcu)();
	ops = rcu_dereference(unwind_ops[slot]);
	return ops && bpf_struct_ops_get(ops) ? ops : NULL;
}

static void bpf_unwind_callback(struct unwind_work *work,
				struct unwind_stacktrace *trace, u64 cookie)
{
	struct bpf_unwind unwind = {
		.cookie = cookie,
		.ips = (u64 *)trace->entries,
		.nr = trace->nr,
	};
	struct bpf_unwind_ops *ops;
	unsigned int i;

	BUILD_BUG_ON(sizeof(*trace->entries) != sizeof(*unwind.ips));

	for (i = 0; i < BPF_UNWIND_OPS_MAX; i++) {
		ops = get_ops(i);
		if (!ops)
			continue;
		ops->deliver(&unwind);
		bpf_struct_ops_put(ops);
	}
}

/* Any program that gets stacks may ask for them */
static bool bpf_wants_chains(struct unwind_work *work)
{
	return READ_ONCE(nr_unwind_ops);
}

/*
 * Requests
 */

static struct unwind_work unwind_client = {
	.wants_chains = bpf_wants_chains,
	.bit = -1,
};

/**
 * bpf_unwind_request - ask for the current task's user stack
 * @cookie: names it
 *
 * Context: any, NMI included.
 * Return: 0; 1 if a program asked for it before with this cookie; -ENOENT
 * there is no user stack; -ESRCH the task has left its program; -EOPNOTSUPP the
 * client could not be registered.
 */
int bpf_unwind_request(u64 *cookie)
{
	int ret;

	*cookie = 0;
	/* A guest's code is not this task's program */
	if (perf_guest_state())
		return -ENOENT;
	if (READ_ONCE(unwind_client.bit) < 0)
		return -EOPNOTSUPP;
	ret = unwind_deferred_request(&unwind_client, cookie);
	return ret == -EINVAL ? -ENOENT : ret;
}

/*
 * The kernel function for programs
 */

__bpf_kfunc_start_defs();

/**
 * bpf_unwind_stack - copy a stack that is being delivered
 * @unwind: the program's argument
 * @buf: destination; the rest of it is cleared
 * @buf__sz: its size in bytes: a multiple of an entry's size
 * @flags: number of frames to skip (0 to 255), and BPF_F_USER_BUILD_ID for an
 *	array of struct bpf_stack_build_id, with offsets in files, instead of
 *	addresses
 *
 * Return: the number of bytes copied; -EINVAL unknown flags or a size that does not
 * fit; -EFAULT the stack has fewer frames than @flags skips.
 */
__bpf_kfunc int bpf_unwind_stack(struct bpf_unwind *unwind, void *buf,
				 u32 buf__sz, u64 flags)
{
	return bpf_stack_copy(unwind->ips, unwind->nr, buf, buf__sz, flags);
}

/**
 * bpf_unwind_frames - copy the frames of interpreted languages that belong to a stack
 * @unwind: the program's argument
 * @buf: destination, an array of &struct unwind_chain_frame; the rest of it is cleared
 * @buf__sz: its size in bytes: a multiple of an entry's size
 *
 * Return: the number of bytes copied, 0 if there are no such frames; -EINVAL a size that
 * does not fit.
 */
__bpf_kfunc int bpf_unwind_frames(struct bpf_unwind *unwind, void *buf, u32 buf__sz)
{
	const struct unwind_chain_stack *stack = unwind_deferred_chains();
	u32 size;

	if (buf__sz % sizeof(stack->frames[0])) {
		memset(buf, 0, buf__sz);
		return -EINVAL;
	}
	size = stack ? min_t(u32, buf__sz, stack->nr * sizeof(stack->frames[0])) : 0;
	if (size)
		memcpy(buf, stack->frames, size);
	memset(buf + size, 0, buf__sz - size);
	return size;
}

/**
 * bpf_unwind_frame_name - find out what the function of such a frame is called
 * @unwind: the program's argument
 * @number: of the frame, as bpf_unwind_frames() has it
 * @buf: destination, a &struct unwind_chain_name
 * @buf__sz: its size in bytes
 *
 * A function has one name as long as function and check of its frames are the same.
 *
 * Return: 0; -EINVAL a size that does not fit; -ENOENT there is no such frame; -EAGAIN some
 * of it is not in memory, and the next stack may have it.
 */
__bpf_kfunc int bpf_unwind_frame_name(struct bpf_unwind *unwind, u32 number,
				      void *buf, u32 buf__sz)
{
	struct unwind_chain_stack *stack = unwind_deferred_chains();
	struct unwind_chain_name name;
	bool whole;

	memset(buf, 0, buf__sz);
	if (buf__sz != sizeof(struct unwind_chain_name))
		return -EINVAL;
	if (!stack || number >= stack->nr)
		return -ENOENT;
	/* The program may be another user's, and the comparison mispredicted */
	number = array_index_nospec(number, stack->nr);
	/* Others may change the buffer at any time */
	whole = unwind_chain_name(stack, &stack->frames[number], &name, false);
	memcpy(buf, &name, sizeof(name));
	return whole ? 0 : -EAGAIN;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(bpf_unwind_kfuncs)
BTF_ID_FLAGS(func, bpf_unwind_stack, KF_SLEEPABLE)
BTF_ID_FLAGS(func, bpf_unwind_frames, KF_SLEEPABLE)
BTF_ID_FLAGS(func, bpf_unwind_frame_name, KF_SLEEPABLE)
BTF_KFUNCS_END(bpf_unwind_kfuncs)

static const struct btf_kfunc_id_set bpf_unwind_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &bpf_unwind_kfuncs,
};

/*
 * The ops
 *
 * They are struct_ops, because
 *
 *   - fentry programs, sleepable ones too, do not run if they interrupt themselves
 *     on the same CPU.  While one sleeps in a page fault, the stacks of all tasks that are
 *     scheduled there would be lost;
 *   - before 6.13, programs of tracepoints cannot sleep;
 *   - the verifier checks the type of the argument, so bpf_unwind_stack() can rely
 *     on it.
 */

static bool unwind_ops_is_valid_access(int off, int size,
				       enum bpf_access_type type,
				       const struct bpf_prog *prog,
				       struct bpf_insn_access_aux *info)
{
	return bpf_tracing_btf_ctx_access(off, size, type, prog, info);
}

/* The same helpers as for a tracing program of the same place */
static const struct bpf_verifier_ops unwind_verifier_ops = {
	.get_func_proto		= tracing_prog_func_proto,
	.is_valid_access	= unwind_ops_is_valid_access,
};

static int unwind_ops_init(struct btf *btf)
{
	return 0;
}

static int unwind_ops_init_member(const struct btf_type *t,
				  const struct btf_member *member,
				  void *kdata, const void *udata)
{
	return 0;
}

static int unwind_ops_validate(void *kdata)
{
	const struct bpf_unwind_ops *ops = kdata;

	return ops->deliver ? 0 : -EINVAL;
}

static int unwind_ops_reg(void *kdata, struct bpf_link *link)
{
	struct bpf_unwind_ops __rcu **free = NULL;
	unsigned int i;

	guard(mutex)(&unwind_ops_lock);
	for (i = 0; i < BPF_UNWIND_OPS_MAX; i++) {
		/* A set gets each stack once, so a second link to it is refused */
		if (rcu_access_pointer(unwind_ops[i]) == kdata)
			return -EEXIST;
		if (!rcu_access_pointer(unwind_ops[i]))
			free = &unwind_ops[i];
	}
	if (!free)
		return -ENOSPC;
	rcu_assign_pointer(*free, kdata);
	WRITE_ONCE(nr_unwind_ops, nr_unwind_ops + 1);
	unwind_chain_add_reader();
	return 0;
}

static void unwind_ops_unreg(void *kdata, struct bpf_link *link)
{
	unsigned int i;

	guard(mutex)(&unwind_ops_lock);
	for (i = 0; i < BPF_UNWIND_OPS_MAX; i++) {
		if (rcu_access_pointer(unwind_ops[i]) != kdata)
			continue;
		/* The memory stays until its readers have ended */
		RCU_INIT_POINTER(unwind_ops[i], NULL);
		WRITE_ONCE(nr_unwind_ops, nr_unwind_ops - 1);
		unwind_chain_del_reader();
		return;
	}
}

static void deliver_stub(struct bpf_unwind *unwind)
{
}

static struct bpf_unwind_ops unwind_ops_stubs = {
	.deliver = deliver_stub,
};

static struct bpf_struct_ops bpf_unwind_struct_ops = {
	.verifier_ops	= &unwind_verifier_ops,
	.init		= unwind_ops_init,
	.init_member	= unwind_ops_init_member,
	.reg		= unwind_ops_reg,
	.unreg		= unwind_ops_unreg,
	.validate	= unwind_ops_validate,
	.cfi_stubs	= &unwind_ops_stubs,
	.owner		= THIS_MODULE,
	.name		= "bpf_unwind_ops",
};

static int __init bpf_unwind_init(void)
{
	int ret;

	ret = register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS,
					&bpf_unwind_kfunc_set);
	ret = ret ?: register_bpf_struct_ops(&bpf_unwind_struct_ops,
					     bpf_unwind_ops);
	return ret ?: unwind_deferred_init(&unwind_client, bpf_unwind_callback);
}
late_initcall(bpf_unwind_init);
