// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that find their own frames: prctl(PR_UNWIND_SELF, ...).
 *
 *   return to user space     the thread's handler
 *
 *   native stack taken, held
 *   signal frame written ──> finds the frames of its
 *                            language as it likes
 *                            prctl(ANSWER, nonce, frames)
 *                              clients called: the held
 *                              stack, and these frames
 *                            sigreturn ──> goes on where it was
 *
 * A runtime may keep its frames in a way that no chain (chain.c) can describe.  Its
 * threads opt in, and are asked instead.  The stack keeps its cookie.  Clients get it as
 * they get a stack with a chain: native frames and frames of a language, in one call.
 *
 * The handler is called by a signal frame, but no signal is sent.  A pending signal would
 * interrupt the rest of the task's work in the kernel, and could find another stack when
 * it is handled.  The frame is written at once, or never.  It is written on the way back to
 * user space only: task work runs in the middle of some system calls, too.
 *
 * Each request has one outcome, and the thread has no second request until then.  A timer
 * brings it back if it does not answer.  All state belongs to the thread.
 */

#include <linux/array_size.h>
#include <linux/cleanup.h>
#include <linux/compat.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/random.h>
#include <linux/restart_block.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/seccomp.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/thread_info.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/unwind_chain.h>
#include <linux/unwind_self.h>
#include <linux/uprobes.h>
#include <asm/syscall.h>
#include <asm/unwind_arch.h>
#include <uapi/linux/unwind.h>

#include "chain.h"
#include "counts.h"
#include "deferred.h"
#include "self.h"
#include "tables.h"
#include "walk.h"

#define CREATE_TRACE_POINTS
#include <trace/events/unwind_self.h>

/* Pages that are waited for on behalf of the names of one answer */
#define MAX_WAITS	32

/**
 * struct unwind_self_place - the place of a thread in its program
 * @ip: its instruction pointer
 * @sp: its stack pointer
 * @fp: its frame pointer
 * @ret: the register with the result of a call
 */
struct unwind_self_place {
	unsigned long	ip;
	unsigned long	sp;
	unsigned long	fp;
	unsigned long	ret;
};

/**
 * struct unwind_self - a thread that finds its own frames
 * @attr: from PR_UNWIND_SELF_ENABLE
 * @nonce: names the request that is outstanding; 0 if none is
 * @asked: when the last request was made, in nanoseconds
 * @deadline: when the answer is late, in jiffies
 * @place: place of the thread when it was asked: see is_unmoved()
 * @unmoved: it was still there when a stack was taken, in the current entry
 * @left: the same of the entry that has ended: @place does not count any more
 * @spare: a buffer for the thread's next stack, or NULL
 * @held: the stack of the request
 * @answer: while clients are called, the answer
 * @first: the first frame of the answer in the stack
 * @seccomp: from when it opted in, see seccomp_state()
 * @task: the thread, for the timer
 * @timer: fires after @deadline
 * @work: ends a late request
 * @queued: @work is queued
 */
struct unwind_self {
	struct unwind_self_attr		attr;
	u64				nonce;
	u64				asked;
	unsigned long			deadline;
	struct unwind_self_place	place;
	bool				unmoved;
	bool				left;
	struct unwind_cache		*spare;
	struct unwind_held		held;
	struct unwind_self_answer	answer;
	unsigned int			first;
	u32				seccomp;
	struct task_struct		*task;
	struct timer_list		timer;
	struct callback_head		work;
	atomic_t			queued;
};

static DEFINE_PER_CPU(unsigned long [UNWIND_SELF_MEMORY + 1], outcomes);

static void record(enum unwind_self_outcome outcome, unsigned int nr)
{
	this_cpu_inc(outcomes[outcome]);
	trace_unwind_self(outcome, nr);
}

/* The request ends: its clients get the stack */
static void finish(struct unwind_self *self, enum unwind_self_outcome outcome, unsigned int nr)
{
	self->nonce = 0;
	timer_delete(&self->timer);
	record(outcome, nr);
	unwind_held_deliver(&self->held);
}

/*
 * Late answers
 */

/* The task still exists: before it exits, it waits for the timer */
static void on_timer(struct timer_list *timer)
{
	struct unwind_self *self = from_timer(self, timer, timer);

	if (atomic_xchg(&self->queued, 1))
		return;
	/* A sleeping task is not woken: it ends the request when it returns */
	if (task_work_add(self->task, &self->work, TWA_RESUME | TWAF_NO_ALLOC))
		atomic_set(&self->queued, 0);
}

static bool is_late(const struct unwind_self *self)
{
	return self->nonce && time_after(jiffies, self->deadline);
}

static void on_late(struct callback_head *work)
{
	struct unwind_self *self = container_of(work, struct unwind_self, work);

	atomic_set(&self->queued, 0);
	if (is_late(self))
		finish(self, UNWIND_SELF_LATE, 0);
	else if (self->nonce)
		mod_timer(&self->timer, self->deadline + 1);
}

/*
 * Requests
 */

/* Is a system call to be restarted, and would a handler's return change its effect? */
static bool restarts(const struct pt_regs *regs)
{
	if (syscall_get_nr(current, (struct pt_regs *)regs) != -1) {
		switch (syscall_get_error(current, (struct pt_regs *)regs)) {
		case -ERESTARTSYS:
		case -ERESTARTNOINTR:
		case -ERESTARTNOHAND:
		case -ERESTART_RESTARTBLOCK:
			return true;
		}
	}
	/* sigreturn resets the function of restart_syscall */
	return current->restart_block.fn != do_no_restart_syscall &&
	       unwind_arch_is_restart(regs);
}

/* Does a debugger control the thread, or a uprobe expect it at a certain instruction? */
static bool is_traced(void)
{
#ifdef CONFIG_UPROBES
	if (current->utask && current->utask->active_uprobe)
		return true;
#endif
	return current->ptrace || test_thread_flag(TIF_SINGLESTEP);
}

/* Identifies the system calls that the thread may make; the handler needs some */
static u32 seccomp_state(void)
{
#ifdef CONFIG_SECCOMP_FILTER
	return atomic_read(&current->seccomp.filter_count) << 2 | current->seccomp.mode;
#elif defined(CONFIG_SECCOMP)
	return current->seccomp.mode;
#else
	return 0;
#endif
}

/* Could a system call of the handler kill the thread, or send it a signal? */
static bool is_filtered(const struct unwind_self *self)
{
#ifdef CONFIG_GENERIC_ENTRY
	if (test_syscall_work(SYSCALL_USER_DISPATCH))
		return true;
#endif
	return seccomp_state() != self->seccomp;
}

static bool on_named_stack(const struct unwind_self *self, struct pt_regs *regs)
{
	const u64 sp = untagged_addr(user_stack_pointer(regs));
	const u64 start = untagged_addr(self->attr.stack_start);

	return current->sas_ss_sp == self->attr.stack_start &&
	       current->sas_ss_size == self->attr.stack_size &&
	       sp - start > self->attr.stack_size;
}

static bool get_handler(const struct unwind_self *self, struct k_sigaction *ka)
{
	const unsigned long need = SA_SIGINFO | SA_ONSTACK;

	spin_lock_irq(&current->sighand->siglock);
	*ka = current->sighand->action[self->attr.signal - 1];
	spin_unlock_irq(&current->sighand->siglock);
	return ka->sa.sa_handler != SIG_DFL && ka->sa.sa_handler != SIG_IGN &&
	       (ka->sa.sa_flags & (need | SA_ONESHOT)) == need;
}

static struct unwind_self_place current_place(void)
{
	struct pt_regs *regs = task_pt_regs(current);

	return (struct unwind_self_place){
		.ip = instruction_pointer(regs),
		.sp = user_stack_pointer(regs),
		.fp = frame_pointer(regs),
		.ret = regs_return_value(regs),
	};
}

/*
 * Has the thread executed nothing since its handler returned?  The return is a system call,
 * after which none seems to be in progress.  If each system call is sampled, the thread would
 * be asked without end.  In another entry, it is asked: it may be in a loop.  An interrupt that a
 * request on the last steps has raised is no other entry.
 */
static bool is_unmoved(struct unwind_self *self, const struct unwind_self_place *now)
{
	if (self->left || syscall_get_nr(current, task_pt_regs(current)) != -1 ||
	    memcmp(&self->place, now, sizeof(*now)))
		return false;
	self->unmoved = true;
	return true;
}

/*
 * The stack has room for this handler only: other signals wait until it returns.  Signals that its
 * own instructions cause cannot wait.
 */
static void block_others(sigset_t *mask)
{
	sigset_t others;

	siginitsetinv(&others, sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGILL) |
			       sigmask(SIGTRAP) | sigmask(SIGFPE) | sigmask(SIGSYS));
	sigorsets(mask, mask, &others);
}

/* Call the handler; UNWIND_SELF_ANSWERED if it could be called */
static enum unwind_self_outcome try_handler(struct unwind_self *self, u64 nonce)
{
	struct ksignal ksig = { .sig = self->attr.signal };
	struct pt_regs *regs = task_pt_regs(current);

	if (!current->unwind_info.leaves)
		return UNWIND_SELF_INSIDE;
	if (signal_pending(current) || test_restore_sigmask())
		return UNWIND_SELF_SIGNAL;
	if (restarts(regs))
		return UNWIND_SELF_RESTART;
	if (is_traced())
		return UNWIND_SELF_TRACED;
	if (is_filtered(self))
		return UNWIND_SELF_FILTERED;
	if (sigismember(&current->blocked, ksig.sig))
		return UNWIND_SELF_BLOCKED;
	if (!on_named_stack(self, regs))
		return UNWIND_SELF_STACK;
	if (!get_handler(self, &ksig.ka))
		return UNWIND_SELF_HANDLER;
	block_others(&ksig.ka.sa.sa_mask);
	clear_siginfo(&ksig.info);
	ksig.info.si_signo = ksig.sig;
	ksig.info.si_code = SI_KERNEL;
	ksig.info.si_value.sival_ptr = (void __user *)(unsigned long)nonce;
	if (unwind_arch_call_handler(&ksig, regs))
		return UNWIND_SELF_STACK;
	signal_setup_done(0, &ksig, 0);
	return UNWIND_SELF_ANSWERED;
}

static u64 new_nonce(void)
{
	u64 nonce;

	do {
		nonce = get_random_u64();
	} while (!nonce);
	return nonce;
}

/**
 * unwind_self_left - the current task returns to user space
 * @self: the current task's
 *
 * Context: task, interrupts disabled.
 */
void unwind_self_left(struct unwind_self *self)
{
	/* Of an earlier entry: the thread has executed something since */
	if (self->left)
		self->place = (struct unwind_self_place){};
	self->left = self->unmoved;
	self->unmoved = false;
}

/**
 * unwind_self_stays - the current task comes back before it executes anything
 * @self: the current task's
 *
 * Context: any, on the task's last steps to user space, after unwind_self_left().
 */
void unwind_self_stays(struct unwind_self *self)
{
	if (!self->left)
		return;
	self->left = false;
	self->unmoved = true;
}

/**
 * unwind_self_swap - exchange the buffer that a thread keeps
 * @self: the current task's
 * @cache: the one that it keeps from now on, or NULL
 *
 * Context: task; interrupts may be disabled.
 * Return: the one that it kept, or NULL.
 */
struct unwind_cache *unwind_self_swap(struct unwind_self *self, struct unwind_cache *cache)
{
	return xchg(&self->spare, cache);
}

/**
 * unwind_self_ask - ask the current task for its own frames
 * @info: the current task's, which has opted in; its stack was taken
 * @clients: the bits of clients that are to get the stack
 *
 * Context: delivery of a stack.
 * Return: whether it was asked: the stack is held, and delivered with the answer.
 */
bool unwind_self_ask(struct unwind_task_info *info, unsigned long clients)
{
	struct unwind_self *self = info->self;
	enum unwind_self_outcome outcome;
	const struct unwind_self_place place = current_place();
	const u64 now = ktime_get_ns();
	u64 nonce;

	if (is_late(self))
		finish(self, UNWIND_SELF_LATE, 0);
	if (self->nonce) {
		record(UNWIND_SELF_BUSY, 0);
		return false;
	}
	if (is_unmoved(self, &place) ||
	    (self->asked && now - self->asked < (u64)self->attr.interval * NSEC_PER_USEC)) {
		record(UNWIND_SELF_RATE, 0);
		return false;
	}
	nonce = new_nonce();
	outcome = info->cache->own ? try_handler(self, nonce) : UNWIND_SELF_MEMORY;
	if (outcome != UNWIND_SELF_ANSWERED) {
		record(outcome, 0);
		return false;
	}
	self->nonce = nonce;
	self->asked = now;
	self->place = place;
	self->unmoved = false;
	self->left = false;
	self->held.cache = info->cache;
	self->held.cookie = atomic64_read(&info->cookie);
	unwind_held_add(&self->held, clients);
	info->cache = NULL;
	self->deadline = jiffies + msecs_to_jiffies(self->attr.timeout);
	mod_timer(&self->timer, self->deadline + 1);
	return true;
}

/**
 * unwind_self_join - add clients to the request that is outstanding
 * @self: the current task's
 * @clients: their bits, as they were taken
 * @cookie: of the stack that they want
 *
 * Context: delivery of a stack.
 * Return: whether it is that request's: they are called with the answer.
 */
bool unwind_self_join(struct unwind_self *self, unsigned long clients, u64 cookie)
{
	if (!self->nonce || self->held.cookie != cookie)
		return false;
	unwind_held_add(&self->held, clients);
	return true;
}

/**
 * unwind_self_end - the current task is not asked any more
 * @info: its own; it has opted in
 * @outcome: of a request that is outstanding
 *
 * Context: task; may sleep.
 */
void unwind_self_end(struct unwind_task_info *info, enum unwind_self_outcome outcome)
{
	struct unwind_self *self = info->self;

	timer_shutdown_sync(&self->timer);
	if (atomic_read(&self->queued))
		task_work_cancel(current, &self->work);
	if (self->nonce)
		finish(self, outcome, 0);
	unwind_cache_free(self->spare);
	info->self = NULL;
	kfree(self);
}

/*
 * Answers
 */

static void add_frame(struct unwind_chain_stack *stack, const struct unwind_self_frame *frame,
		      struct unwind_places *places)
{
	if (stack->nr == UNWIND_CHAIN_FRAMES) {
		stack->cut = true;
		return;
	}
	stack->frames[stack->nr++] = (struct unwind_chain_frame){
		.function = frame->function,
		.check = frame->check,
		/* If it has an address */
		.place = frame->sp ? unwind_walk_place(places, unwind_arch_untag(frame->sp)) :
				     UNWIND_CHAIN_APART,
		.chain = stack->nr_chains - 1,
	};
}

static struct unwind_self_frame *copy_frames(const struct unwind_self_answer *answer)
{
	struct unwind_self_frame *frames __free(kvfree) = NULL;
	unsigned int i;

	if (answer->nr > UNWIND_SELF_FRAMES)
		return ERR_PTR(-E2BIG);
	/* vmemdup_array_user() would log it if there is no memory */
	frames = kvmalloc_array(answer->nr, sizeof(*frames),
				GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	if (!frames)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(frames, u64_to_user_ptr(answer->frames), answer->nr * sizeof(*frames)))
		return ERR_PTR(-EFAULT);
	for (i = 0; i < answer->nr; i++) {
		if (!frames[i].function)
			return ERR_PTR(-EINVAL);
	}
	return no_free_ptr(frames);
}

static int add_frames(struct unwind_self *self, const struct unwind_self_answer *answer)
{
	struct unwind_walk_notes *notes = unwind_cache_notes(self->held.cache);
	struct unwind_self_frame *frames __free(kvfree) = copy_frames(answer);
	struct unwind_chain_stack *stack;
	struct unwind_places places = {
		.sps = notes->sps,
		.nr = min_t(unsigned int, self->held.cache->nr, notes->nr),
		.visits = UNWIND_CHAIN_FRAMES + UNWIND_MAX_ENTRIES,
	};
	unsigned int i;

	if (IS_ERR(frames))
		return PTR_ERR(frames);
	stack = unwind_chain_get_stack(notes);
	if (!stack)
		return -ENOMEM;
	BUILD_BUG_ON(UNWIND_CHAIN_MAX + ARRAY_SIZE(notes->found) + 1 != UNWIND_CHAINS);
	if (answer->flags & UNWIND_SELF_ALL) {
		stack->nr = 0;
		stack->cut = false;
	}
	self->answer = *answer;
	self->first = stack->nr;
	stack->waits += MAX_WAITS;
	/* NULL stands for the chain of these frames */
	stack->chains[stack->nr_chains++] = NULL;
	for (i = 0; i < answer->nr; i++)
		add_frame(stack, &frames[i], &places);
	stack->cut |= !!(answer->flags & UNWIND_SELF_CUT);
	return 0;
}

/**
 * unwind_self_name - get the name of a function of the current answer
 * @reader: limits of the remaining work
 * @stack: the stack
 * @frame: a frame of it that no chain has found
 * @name: set; all zeroes before
 *
 * Context: as unwind_chain_name().
 */
void unwind_self_name(struct unwind_chain_reader *reader, const struct unwind_chain_stack *stack,
		      const struct unwind_chain_frame *frame, struct unwind_chain_name *name)
{
	const struct unwind_self *self = current->unwind_info.self;
	const unsigned int i = frame - &stack->frames[self->first];
	struct unwind_self_frame of;

	if (!unwind_chain_read(reader, self->answer.frames + i * sizeof(of), &of, sizeof(of)))
		return;
	if (self->answer.format == UNWIND_SELF_BYTES) {
		unwind_chain_read_bytes(reader, self->answer.tag, of.name, of.name_size,
					name->name);
		return;
	}
	unwind_chain_read_text(reader, of.name, of.name_size, name->name);
	unwind_chain_read_text(reader, of.file, of.file_size, name->file);
	name->line = of.line;
}

/* Tools print the tag, so it has to be harmless in a terminal */
static bool is_valid_tag(u32 tag)
{
	unsigned int i;

	for (i = 0; i < sizeof(tag); i++, tag >>= BITS_PER_BYTE) {
		if (!isalnum(tag & 0xff) || !isascii(tag & 0xff))
			return false;
	}
	return true;
}

static bool is_valid_answer(const struct unwind_self_answer *answer)
{
	if (answer->flags & ~(UNWIND_SELF_CUT | UNWIND_SELF_ALL))
		return false;
	switch (answer->format) {
	case UNWIND_SELF_NAMES:
		return !answer->tag;
	case UNWIND_SELF_BYTES:
		return is_valid_tag(answer->tag);
	}
	return false;
}

static int self_answer(struct unwind_self *self, unsigned long uattr, unsigned long size)
{
	struct unwind_self_answer answer;
	int ret;

	BUILD_BUG_ON(sizeof(answer) != UNWIND_SELF_ANSWER_SIZE_VER0);
	ret = unwind_copy_attr(&answer, sizeof(answer), uattr, size);
	if (ret)
		return ret;
	if (!is_valid_answer(&answer))
		return -EINVAL;
	if (!self->nonce || answer.nonce != self->nonce)
		return -ESRCH;
	if (is_late(self)) {
		finish(self, UNWIND_SELF_LATE, 0);
		return -ETIMEDOUT;
	}
	ret = add_frames(self, &answer);
	if (!ret)
		finish(self, UNWIND_SELF_ANSWERED, answer.nr);
	return ret;
}

/*
 * Opting in
 */

static int check_attr(const struct unwind_self_attr *attr)
{
	const u64 start = untagged_addr(attr->stack_start);

	if (attr->flags || attr->signal < SIGRTMIN || attr->signal > SIGRTMAX ||
	    !attr->timeout || attr->timeout > UNWIND_SELF_TIMEOUT_MAX)
		return -EINVAL;
	if (start >= TASK_SIZE || attr->stack_size > TASK_SIZE - start)
		return -EFAULT;
	/* The dynamic linker saves all registers again at the first call of a library's function */
	if (attr->stack_size < 2 * unwind_arch_signal_size() + MINSIGSTKSZ)
		return -ENOSPC;
	return 0;
}

static int self_enable(unsigned long uattr, unsigned long size)
{
	struct unwind_task_info *info = &current->unwind_info;
	struct unwind_self_attr attr;
	struct unwind_self *self;
	int ret;

	BUILD_BUG_ON(sizeof(attr) != UNWIND_SELF_ATTR_SIZE_VER0);
	ret = unwind_copy_attr(&attr, sizeof(attr), uattr, size);
	if (ret)
		return ret;
	ret = check_attr(&attr);
	if (ret)
		return ret;
	if (info->self)
		return -EEXIST;
	self = kzalloc(sizeof(*self), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!self)
		return -ENOMEM;
	self->attr = attr;
	self->seccomp = seccomp_state();
	self->task = current;
	timer_setup(&self->timer, on_timer, 0);
	init_task_work(&self->work, on_late);
	info->self = self;
	return 0;
}

/**
 * unwind_self_prctl - prctl(PR_UNWIND_SELF, @op, @uattr, @size, @arg5)
 * @op: PR_UNWIND_SELF_*
 * @uattr: &struct unwind_self_attr to enable, &struct unwind_self_answer to answer; else NULL
 * @size: its size as the caller knows it; else 0
 * @arg5: 0
 *
 * Context: system call of a user task.
 * Return: 0, or the version of the ABI for PR_UNWIND_SELF_VERSION;
 * -EINVAL unknown operation, flag or format, a field that is not used and not 0, a tag with
 * characters other than letters and digits, a frame without a function, a signal that is not a
 * real-time signal, no timeout or one that is too long, structure shorter than its first version;
 * -E2BIG more than UNWIND_SELF_FRAMES frames; structure longer than the kernel's with a tail
 * that is not zero, or longer than a page;
 * -EFAULT structure or frames unreadable, or the stack outside of the address space;
 * -ENOSPC the alternate stack has no room for a signal frame and a handler;
 * -EEXIST the thread has opted in already;
 * -ENOENT it has not opted in;
 * -ESRCH it has no request outstanding, or another one;
 * -ETIMEDOUT the answer is late;
 * -EOPNOTSUPP a 32-bit system call;
 * -ENOMEM.  After an error of an answer but -ETIMEDOUT, the request is still outstanding.
 */
int unwind_self_prctl(unsigned long op, unsigned long uattr, unsigned long size,
		      unsigned long arg5)
{
	struct unwind_task_info *info = &current->unwind_info;

	if (arg5)
		return -EINVAL;
	if (in_compat_syscall())
		return -EOPNOTSUPP;

	switch (op) {
	case PR_UNWIND_SELF_ENABLE:
		return self_enable(uattr, size);
	case PR_UNWIND_SELF_ANSWER:
		return info->self ? self_answer(info->self, uattr, size) : -ENOENT;
	case PR_UNWIND_SELF_DISABLE:
		if (uattr || size)
			return -EINVAL;
		if (!info->self)
			return -ENOENT;
		unwind_self_end(info, UNWIND_SELF_LATE);
		return 0;
	case PR_UNWIND_SELF_VERSION:
		return uattr || size ? -EINVAL : UNWIND_SELF_ABI_VERSION;
	}
	return -EINVAL;
}

/*
 * Counts of outcomes: /sys/kernel/debug/unwind/self
 */

static const struct trace_print_flags outcome_names[] = { UNWIND_SELF_OUTCOMES };

static const struct unwind_counts outcome_counts = {
	.file = "self",
	.names = outcome_names,
	.nr = ARRAY_SIZE(outcome_names),
	.counts = outcomes,
};

static int __init unwind_self_init(void)
{
	unwind_show_counts(&outcome_counts);
	return 0;
}
late_initcall(unwind_self_init);
