// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred user stacks for BPF programs.
 *
 * A program that fires in an interrupt, in an NMI or in the middle of the scheduler
 * cannot take page faults, so the user stack that it gets there is by tables where
 * all is resident, else by frame pointers. With BPF_F_USER_DEFER, bpf_get_stack(),
 * bpf_get_task_stack() and bpf_get_stackid() ask for it instead: now there is a
 * cookie, or the id of an element of a stack map; the stack comes when the task is
 * about to leave the kernel (kernel/unwind/deferred.c).
 *
 * Delivery.  BPF is one client of the deferred core, for all programs. Its callback
 * fills the elements of stack maps that were promised (stackmap.c) and calls the
 * programs that are attached as struct bpf_unwind_ops, each with every stack that
 * any program asked for; the cookie, which the program that asked may have kept,
 * tells which request it answers. These are struct_ops, because
 *
 *   - fentry programs, sleepable ones too, do not run where they interrupt
 *     themselves on the same CPU. One that sleeps in a page fault would thus lose the
 *     stacks of all tasks that are scheduled there meanwhile;
 *   - tracepoints have no sleepable programs in this kernel;
 *   - the verifier knows that the argument is what it should be, so that the
 *     kernel function which takes it, bpf_unwind_stack(), can rely on it.
 *
 * They run in the task whose stack it is, with its memory, and may sleep.
 *
 * Life times.  The client is registered as long as a program is loaded that may ask:
 * one for which the verifier does not know that the flag is never set. When the
 * last of them is gone, what was asked for and not delivered is forgotten. A set
 * of ops is found by its slot under RCU, and then kept by a reference to its map
 * while its program runs; so detaching it waits for nobody's page faults.
 */

#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/cleanup.h>
#include <linux/filter.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/unwind_deferred.h>

#include "unwind.h"

/* How many sets of ops can be attached at a time */
#define BPF_UNWIND_OPS_MAX	16

/**
 * struct bpf_unwind - a user stack, for the program that it is delivered to
 * @cookie: what bpf_get_stack() stored for it
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
 * @deliver: called with each stack that a program asked for, once, in the task
 *	whose stack it is, before it returns to user space, exits or executes
 *	another program; may sleep
 */
struct bpf_unwind_ops {
	void (*deliver)(struct bpf_unwind *unwind);
};

static struct bpf_unwind_ops __rcu *unwind_ops[BPF_UNWIND_OPS_MAX];
static DEFINE_MUTEX(unwind_ops_lock);

/*
 * Delivery
 */

/* The ops of a slot, held, or NULL */
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

	bpf_stackmap_deliver(cookie, unwind.ips, unwind.nr);

	for (i = 0; i < BPF_UNWIND_OPS_MAX; i++) {
		ops = get_ops(i);
		if (!ops)
			continue;
		ops->deliver(&unwind);
		bpf_struct_ops_put(ops);
	}
}

/*
 * Asking
 */

static struct unwind_work unwind_client = { .bit = -1 };
static unsigned int unwind_users;
static DEFINE_MUTEX(unwind_users_lock);

/**
 * bpf_unwind_get - a program may ask for deferred stacks
 * @prog: the program, which is being verified
 *
 * Waits for a bpf_unwind_put() of the last program, which may take long, but no longer
 * than its loader lives.
 *
 * Return: 0; -ENOSPC if there are too many clients of deferred unwinding; -EINTR.
 */
int bpf_unwind_get(struct bpf_prog *prog)
{
	int err = 0;

	if (prog->defer_stack)
		return 0;

	if (mutex_lock_killable(&unwind_users_lock))
		return -EINTR;
	if (!unwind_users)
		err = unwind_deferred_init(&unwind_client, bpf_unwind_callback);
	if (!err) {
		unwind_users++;
		prog->defer_stack = true;
	}
	mutex_unlock(&unwind_users_lock);
	return err;
}

/**
 * bpf_unwind_put - a program is gone
 * @prog: the program, which does not run any more
 *
 * Context: task, may sleep; waits for programs that are delivered to, if this was
 * the last one that could ask.
 */
void bpf_unwind_put(struct bpf_prog *prog)
{
	if (!prog->defer_stack)
		return;

	guard(mutex)(&unwind_users_lock);
	if (!--unwind_users)
		unwind_deferred_cancel(&unwind_client);
}

/**
 * bpf_unwind_request - ask for the current task's user stack
 * @cookie: names it
 *
 * Context: any, NMI included.
 * Return: 0; 1 if it was asked for before in this entry into the kernel; -ENOENT
 * there is none, -ESRCH the task has left its program; -EOPNOTSUPP that a program may
 * ask was not known when it was loaded, and there are too many clients.
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

/**
 * bpf_unwind_delivered - is it too late to ask for more in this entry?
 *
 * Asked after bpf_unwind_request() has returned 1: then the callback was called,
 * or is being called, or is still to come.  It runs in this task and nowhere else;
 * so it is not called between this answer and what the caller does with it.  (An NMI
 * that comes while an entry ends, and in which two programs ask, may be told so of that
 * entry: what the second of them asks for is then lost.)
 *
 * Context: any, NMI included.
 * Return: whether the callback was called in this entry.
 */
bool bpf_unwind_delivered(void)
{
	int bit = READ_ONCE(unwind_client.bit);

	return bit >= 0 &&
	       (atomic_long_read(&current->unwind_info.done) & BIT(bit));
}

/*
 * The kernel function for programs
 */

__bpf_kfunc_start_defs();

/**
 * bpf_unwind_stack - copy a stack that is delivered
 * @unwind: the program's argument
 * @buf: where to; what is not needed is cleared
 * @buf__sz: room there, in bytes: a multiple of an entry's size
 * @flags: number of frames to skip (0 to 255), and BPF_F_USER_BUILD_ID for an
 *	array of struct bpf_stack_build_id, with offsets in files, instead of
 *	addresses
 *
 * Return: the number of bytes copied; -EINVAL unknown flags or a size that does not
 * fit; -EFAULT there are not as many frames as are to be skipped.
 */
__bpf_kfunc int bpf_unwind_stack(struct bpf_unwind *unwind, void *buf,
				 u32 buf__sz, u64 flags)
{
	return bpf_stack_copy(unwind->ips, unwind->nr, buf, buf__sz, flags);
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(bpf_unwind_kfuncs)
BTF_ID_FLAGS(func, bpf_unwind_stack, KF_TRUSTED_ARGS | KF_SLEEPABLE)
BTF_KFUNCS_END(bpf_unwind_kfuncs)

static const struct btf_kfunc_id_set bpf_unwind_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &bpf_unwind_kfuncs,
};

/*
 * The ops
 */

static bool unwind_ops_is_valid_access(int off, int size,
				       enum bpf_access_type type,
				       const struct bpf_prog *prog,
				       struct bpf_insn_access_aux *info)
{
	return bpf_tracing_btf_ctx_access(off, size, type, prog, info);
}

/* What a tracing program of the same place would have */
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
		/* Each stack comes once, however many links there are */
		if (rcu_access_pointer(unwind_ops[i]) == kdata)
			return -EEXIST;
		if (!rcu_access_pointer(unwind_ops[i]))
			free = &unwind_ops[i];
	}
	if (!free)
		return -ENOSPC;
	rcu_assign_pointer(*free, kdata);
	return 0;
}

static void unwind_ops_unreg(void *kdata, struct bpf_link *link)
{
	unsigned int i;

	guard(mutex)(&unwind_ops_lock);
	for (i = 0; i < BPF_UNWIND_OPS_MAX; i++) {
		if (rcu_access_pointer(unwind_ops[i]) != kdata)
			continue;
		/* Its memory stays until readers are through with it */
		RCU_INIT_POINTER(unwind_ops[i], NULL);
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
	return ret ?: register_bpf_struct_ops(&bpf_unwind_struct_ops,
					      bpf_unwind_ops);
}
late_initcall(bpf_unwind_init);
