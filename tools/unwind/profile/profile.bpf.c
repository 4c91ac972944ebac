// SPDX-License-Identifier: GPL-2.0
/*
 * The programs of the profiler, see main.c.
 *
 * on_cpu() and off_cpu() run where they may not sleep: in an interrupt or NMI, and in the
 * scheduler. They take the kernel's stack, and a cookie for the user's. deliver() gets
 * that stack with the cookie when the task leaves the kernel.
 *
 * Each distinct stack is sent once: deliver() remembers the digests of stacks that it has
 * sent. So a sample costs two short records. The samples of a cookie come before its
 * stack, except for samples that are taken during or just after delivery. All tables are
 * bounded. Records that find no room are counted in lost_samples and lost_stacks.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

/* The used parts of the kernel's types; libbpf finds the real offsets */
#define KERNEL_TYPE	__attribute__((preserve_access_index))

struct ns_common {
	unsigned int		inum;
} KERNEL_TYPE;

struct pid_namespace {
	struct ns_common	ns;
} KERNEL_TYPE;

struct upid {
	int			nr;
	struct pid_namespace	*ns;
} KERNEL_TYPE;

struct pid {
	unsigned int		level;
	struct upid		numbers[1];
} KERNEL_TYPE;

struct signal_struct {
	struct {
		int		counter;
	}			live;
} KERNEL_TYPE;

struct task_struct {
	int			pid;
	int			tgid;
	unsigned int		__state;
	char			comm[COMM_LEN];
	__u64			start_boottime;
	__u64			self_exec_id;
	struct pid		*thread_pid;
	struct task_struct	*real_parent;
	struct task_struct	*group_leader;
	struct signal_struct	*signal;
} KERNEL_TYPE;

struct bpf_unwind {
	__u64			cookie;
	const __u64		*ips;
	__u32			nr;
} KERNEL_TYPE;

struct bpf_unwind_ops {
	void (*deliver)(struct bpf_unwind *unwind);
};

extern int bpf_unwind_stack(struct bpf_unwind *unwind, void *buf, __u32 buf__sz,
			    __u64 flags) __ksym;
extern int bpf_unwind_frames(struct bpf_unwind *unwind, void *buf, __u32 buf__sz) __ksym;
extern int bpf_unwind_frame_name(struct bpf_unwind *unwind, __u32 number, void *buf,
				 __u32 buf__sz) __ksym;

/* The kernel's bound on nested pid namespaces; for cgroups, what is looked through */
#define PID_LEVELS	33
#define CGROUP_LEVELS	64
/* A task that has ended */
#define TASK_DEAD	0x80

/* The profiled tasks: in the map "targets", or all; in that cgroup, if any; not ourselves */
const volatile bool by_pid;
const volatile __u64 cgroup;
const volatile unsigned int self;
/* The profiler's pid namespace */
const volatile unsigned int namespace;
/* The key of digests */
const volatile __u64 secret[2];

/* Samples and stacks that were lost for lack of room */
unsigned long long lost_samples, lost_stacks;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring SEC(".maps");

/* Profiled processes */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, unsigned int);
	__type(value, char);
} targets SEC(".maps");

/* Cookies of stacks that will come: each does, so none stays here */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64);
	__type(value, char);
} asked SEC(".maps");

/* Sleeping threads: each has a sample, which is reported when it wakes */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, unsigned int);
	__type(value, struct profile_sample);
} asleep SEC(".maps");

/* The sample while it is built */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, int);
	__type(value, struct profile_sample);
} scratch SEC(".maps");

/* Stacks that were sent */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct profile_digest);
	__type(value, char);
} sent SEC(".maps");

/* Functions whose names were sent */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct profile_function);
	__type(value, char);
} named SEC(".maps");

/*
 * Memory to build stacks in. deliver() may sleep and be preempted, so a CPU is not enough:
 * it takes any that is free.
 */
#define DESKS		64

struct desk {
	unsigned int		taken;
	struct profile_stack	stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DESKS);
	__type(key, int);
	__type(value, struct desk);
} desks SEC(".maps");

/*
 * The profiled tasks
 */

/* The number of a task in the profiler's namespace; 0 if it has none there */
static __noinline unsigned int number_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct pid_namespace *ns;
	struct upid *upid;
	int i, level;

	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	for (i = 0; i < PID_LEVELS && i <= level; i++) {
		upid = (void *)pid + bpf_core_field_offset(pid->numbers) +
		       i * bpf_core_type_size(struct upid);
		ns = BPF_CORE_READ(upid, ns);
		if (BPF_CORE_READ(ns, ns.inum) == namespace)
			return BPF_CORE_READ(upid, nr);
	}
	return 0;
}

static __always_inline bool in_cgroup(void)
{
	__u64 id;
	int i;

	for (i = 0; i < CGROUP_LEVELS; i++) {
		id = bpf_get_current_ancestor_cgroup_id(i);
		if (!id || id == cgroup)
			return id;
	}
	return false;
}

/* This is the profiler, or a process that reads a file for it: that executes no other program */
static __always_inline bool is_own(struct task_struct *leader, unsigned int pid)
{
	struct task_struct *parent = BPF_CORE_READ(leader, real_parent);

	return pid == self || (BPF_CORE_READ(parent, self_exec_id) ==
			       BPF_CORE_READ(leader, self_exec_id) && number_of(parent) == self);
}

/* Is the current task profiled? */
static __always_inline bool is_target(struct task_struct *task, struct profile_head *head)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	/* The idle task has no number */
	if (!task->pid)
		return false;
	head->pid = number_of(leader);
	if (!head->pid || is_own(leader, head->pid))
		return false;
	if (by_pid && !bpf_map_lookup_elem(&targets, &head->pid))
		return false;
	if (cgroup && !in_cgroup())
		return false;
	head->tid = number_of(task);
	return head->tid;
}

/* Children of the profiled command are profiled */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(forks, struct task_struct *parent, struct task_struct *child)
{
	unsigned int pid;
	char yes = 1;

	if (child->pid != child->tgid)
		return 0;
	pid = number_of(BPF_CORE_READ(parent, group_leader));
	if (!bpf_map_lookup_elem(&targets, &pid))
		return 0;
	pid = number_of(child);
	if (bpf_map_update_elem(&targets, &pid, &yes, BPF_ANY))
		__sync_fetch_and_add(&lost_samples, 1);
	return 0;
}

/* Its number belongs to the process until after this, so no other has it yet */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(exits, struct task_struct *task)
{
	unsigned int id;

	if (by_pid && !BPF_CORE_READ(task, signal, live.counter)) {
		id = number_of(BPF_CORE_READ(task, group_leader));
		bpf_map_delete_elem(&targets, &id);
	}
	return 0;
}

/*
 * Samples
 */

/* @own: skip the frames of this program and of its callers */
static __always_inline void take(void *ctx, struct task_struct *task,
				 struct profile_sample *sample, int own)
{
	char yes = 1;
	long long size;

	sample->head.kind = PROFILE_SAMPLE;
	sample->head.cpu = bpf_get_smp_processor_id();
	sample->time = bpf_ktime_get_ns();
	sample->asleep = 0;
	bpf_get_current_comm(sample->comm, sizeof(sample->comm));
	/* No stack is an error */
	size = bpf_get_stack(ctx, sample->ips, sizeof(sample->ips), own);
	sample->nr = size > 0 ? size / sizeof(*sample->ips) : 0;
	/* An error leaves a cookie of 0 */
	bpf_get_stack(ctx, &sample->head.cookie, sizeof(sample->head.cookie),
		      BPF_F_USER_STACK | BPF_F_USER_DEFER);
	if (sample->head.cookie &&
	    bpf_map_update_elem(&asked, &sample->head.cookie, &yes, BPF_ANY))
		__sync_fetch_and_add(&lost_stacks, 1);
}

/* Samples can wait: the reader looks ten times a second, and is called if they are many */
static __always_inline void send_sample(const struct profile_sample *sample)
{
	__u64 size = offsetof(struct profile_sample, ips), flags = BPF_RB_NO_WAKEUP;

	size += (sample->nr > FRAMES ? FRAMES : sample->nr) * sizeof(*sample->ips);
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >
	    bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE) / 8)
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&ring, (void *)sample, size, flags))
		__sync_fetch_and_add(&lost_samples, 1);
}

SEC("perf_event")
int on_cpu(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct profile_sample *sample;
	int zero = 0;

	sample = bpf_map_lookup_elem(&scratch, &zero);
	if (!sample || !is_target(task, &sample->head))
		return 0;
	take(ctx, task, sample, 0);
	send_sample(sample);
	return 0;
}

static __always_inline void falls_asleep(void *ctx, struct task_struct *task)
{
	struct profile_sample *sample;
	int zero = 0;
	unsigned int tid = task->pid;

	sample = bpf_map_lookup_elem(&scratch, &zero);
	if (!sample || !is_target(task, &sample->head))
		return;
	take(ctx, task, sample, 2);
	if (bpf_map_update_elem(&asleep, &tid, sample, BPF_ANY))
		__sync_fetch_and_add(&lost_samples, 1);
}

static __always_inline void wakes(struct task_struct *task)
{
	struct profile_sample *sample;
	unsigned int tid = task->pid;

	sample = bpf_map_lookup_elem(&asleep, &tid);
	if (!sample)
		return;
	sample->asleep = bpf_ktime_get_ns() - sample->time;
	send_sample(sample);
	bpf_map_delete_elem(&asleep, &tid);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(off_cpu, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	/* A preempted task still wants to run, and one that has ended never wakes */
	if (!preempt && prev->__state && !(prev->__state & TASK_DEAD))
		falls_asleep(ctx, prev);
	wakes(next);
	return 0;
}

/*
 * Stacks
 */

static __always_inline struct desk *take_desk(void)
{
	int i, at, first = bpf_get_smp_processor_id();
	struct desk *desk;

	for (i = 0; i < DESKS; i++) {
		at = (first + i) % DESKS;
		desk = bpf_map_lookup_elem(&desks, &at);
		if (desk && !__sync_val_compare_and_swap(&desk->taken, 0, 1))
			return desk;
	}
	return NULL;
}

/* False if the stack has to be sent again, because a name is not there yet */
static __always_inline bool send_name(struct bpf_unwind *unwind, __u32 number,
				      const struct profile_stack *stack)
{
	struct profile_function key = {
		.function = stack->frames[number].function,
		.check = stack->frames[number].check,
		.process = stack->key.process,
	};
	struct profile_name *name;
	char yes = 1;

	if (bpf_map_lookup_elem(&named, &key))
		return true;
	name = bpf_ringbuf_reserve(&ring, sizeof(*name), 0);
	if (!name)
		return false;
	name->head = stack->head;
	name->head.kind = PROFILE_NAME;
	name->key = key;
	if (bpf_unwind_frame_name(unwind, number, &name->of, sizeof(name->of))) {
		bpf_ringbuf_discard(name, 0);
		return false;
	}
	bpf_ringbuf_submit(name, 0);
	bpf_map_update_elem(&named, &key, &yes, BPF_ANY);
	return true;
}

/*
 * SipHash-1-3. A program chooses its build-ids and addresses, so it must not be able to
 * find stacks that have the digest of another program's.
 */
struct siphash {
	__u64			a, b, c, d;
};

static __always_inline __u64 rotate(__u64 word, int by)
{
	return word << by | word >> (64 - by);
}

static __always_inline void mix(struct siphash *hash)
{
	hash->a += hash->b;
	hash->c += hash->d;
	hash->b = rotate(hash->b, 13) ^ hash->a;
	hash->d = rotate(hash->d, 16) ^ hash->c;
	hash->a = rotate(hash->a, 32) + hash->d;
	hash->c += hash->b;
	hash->d = rotate(hash->d, 21) ^ hash->a;
	hash->b = rotate(hash->b, 17) ^ hash->c;
	hash->c = rotate(hash->c, 32);
}

static __always_inline void add_word(struct siphash *hash, __u64 word)
{
	hash->d ^= word;
	mix(hash);
	hash->a ^= word;
}

#define WORDS(what)	(sizeof(what) / (sizeof(__u64)))

/* Files and offsets, not addresses. Another user may have made files with the same build-ids */
static __always_inline __u64 digest_of(const struct profile_stack *stack)
{
	const __u64 *ids = (const __u64 *)stack->ids, *frames = (const __u64 *)stack->frames;
	struct siphash hash = {
		secret[0] ^ 0x736f6d6570736575ULL, secret[1] ^ 0x646f72616e646f6dULL,
		secret[0] ^ 0x6c7967656e657261ULL, secret[1] ^ 0x7465646279746573ULL,
	};
	int i;

	for (i = 0; i < WORDS(stack->ids) && i < stack->nr * WORDS(*stack->ids); i++)
		add_word(&hash, ids[i]);
	for (i = 0; i < WORDS(stack->frames) &&
	     i < stack->nr_frames * WORDS(*stack->frames); i++)
		add_word(&hash, frames[i]);
	add_word(&hash, (__u32)bpf_get_current_uid_gid());
	/* The lengths, in place of the number of bytes */
	add_word(&hash, (__u64)stack->nr << 32 | stack->nr_frames);
	hash.c ^= 0xff;
	for (i = 0; i < 3; i++)
		mix(&hash);
	return hash.a ^ hash.b ^ hash.c ^ hash.d;
}

static __always_inline bool only_files(const struct profile_stack *stack)
{
	int i;

	for (i = 0; i < FRAMES && i < stack->nr; i++)
		if (stack->ids[i].status != BPF_STACK_BUILD_ID_VALID)
			return false;
	return true;
}

/* The same for all stacks of one program in one process, where the number is the same */
static __always_inline __u32 process_of(struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	return BPF_CORE_READ(leader, start_boottime) * 31 + BPF_CORE_READ(leader, self_exec_id);
}

static __always_inline void send_stack(struct bpf_unwind *unwind, struct profile_stack *stack)
{
	struct profile_digest key;
	struct profile_known known;
	bool whole = true;
	__u64 size;
	char yes = 1;
	int i;

	stack->nr = unwind->nr < FRAMES ? unwind->nr : FRAMES;
	bpf_unwind_stack(unwind, stack->ids, sizeof(stack->ids), BPF_F_USER_BUILD_ID);
	i = bpf_unwind_frames(unwind, stack->frames, sizeof(stack->frames));
	stack->nr_frames = i > 0 ? i / sizeof(*stack->frames) : 0;
	stack->key.digest = digest_of(stack);
	if (!stack->nr_frames && only_files(stack)) {
		stack->key.process = 0;
		stack->key.pid = 0;
	}
	key = stack->key;
	if (bpf_map_lookup_elem(&sent, &key)) {
		known.head = stack->head;
		known.head.kind = PROFILE_KNOWN;
		known.key = key;
		if (bpf_ringbuf_output(&ring, &known, sizeof(known), BPF_RB_NO_WAKEUP))
			__sync_fetch_and_add(&lost_stacks, 1);
		return;
	}
	for (i = 0; i < LANGUAGE_FRAMES && i < stack->nr_frames; i++)
		whole &= send_name(unwind, i, stack);
	bpf_unwind_stack(unwind, stack->ips, sizeof(stack->ips), 0);
	size = offsetof(struct profile_stack, ids);
	size += (stack->nr > FRAMES ? FRAMES : stack->nr) * sizeof(*stack->ids);
	/* The reader is called: the process may soon be gone, and what it had mapped */
	if (bpf_ringbuf_output(&ring, stack, size, 0))
		__sync_fetch_and_add(&lost_stacks, 1);
	else if (whole)
		bpf_map_update_elem(&sent, &key, &yes, BPF_ANY);
}

SEC("struct_ops.s/deliver")
void BPF_PROG(deliver, struct bpf_unwind *unwind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 cookie = unwind->cookie;
	struct desk *desk;

	/* Skip stacks that other programs requested */
	if (!bpf_map_lookup_elem(&asked, &cookie))
		return;
	bpf_map_delete_elem(&asked, &cookie);
	desk = take_desk();
	if (!desk) {
		__sync_fetch_and_add(&lost_stacks, 1);
		return;
	}
	desk->stack.head.kind = PROFILE_STACK;
	desk->stack.head.pid = number_of(BPF_CORE_READ(task, group_leader));
	desk->stack.head.tid = number_of(task);
	desk->stack.head.cookie = unwind->cookie;
	desk->stack.key.pid = desk->stack.head.pid;
	desk->stack.key.process = process_of(task);
	send_stack(unwind, &desk->stack);
	__sync_lock_test_and_set(&desk->taken, 0);
}

SEC(".struct_ops.link")
struct bpf_unwind_ops delivery = {
	.deliver = (void *)deliver,
};

char _license[] SEC("license") = "GPL";
