// SPDX-License-Identifier: GPL-2.0
/*
 * The programs of the profiler, see main.c.
 *
 * on_cpu() and off_cpu() run where they may not sleep: in an interrupt or NMI, and in the
 * scheduler. They take the kernel's stack, and a cookie for the user's. deliver() gets
 * that stack with the cookie when the task leaves the kernel.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#include "profile.h"

/* The used parts of the kernel's types; libbpf finds the real offsets */
#define KERNEL_TYPE	__attribute__((preserve_access_index))

struct task_struct {
	int			pid;
	int			tgid;
	unsigned int		__state;
	char			comm[COMM_LEN];
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

/* The profiled process */
const volatile int target;

/* Samples and stacks that were lost for lack of room */
unsigned long long lost;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring SEC(".maps");

/* Sleeping threads: each has a sample, which is reported when it wakes */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, int);
	__type(value, struct profile_sample);
} asleep SEC(".maps");

/* The scheduler's sample while it is built */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, int);
	__type(value, struct profile_sample);
} scratch SEC(".maps");

/* @own: skip the frames of this program and of its callers */
static __always_inline void take(void *ctx, struct profile_sample *sample, int own)
{
	sample->kind = PROFILE_SAMPLE;
	sample->tid = bpf_get_current_pid_tgid();
	bpf_get_current_comm(sample->comm, sizeof(sample->comm));
	sample->size = bpf_get_stack(ctx, sample->ips, sizeof(sample->ips), own);
	/* An error leaves a cookie of 0 */
	bpf_get_stack(ctx, &sample->cookie, sizeof(sample->cookie),
		      BPF_F_USER_STACK | BPF_F_USER_DEFER);
}

SEC("perf_event")
int on_cpu(void *ctx)
{
	struct profile_sample *sample;

	if (bpf_get_current_pid_tgid() >> 32 != target)
		return 0;
	sample = bpf_ringbuf_reserve(&ring, sizeof(*sample), 0);
	if (!sample) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	take(ctx, sample, 0);
	sample->weight = 1;
	bpf_ringbuf_submit(sample, 0);
	return 0;
}

static __always_inline void falls_asleep(void *ctx, struct task_struct *task)
{
	struct profile_sample *sample;
	int zero = 0, tid = task->pid;

	sample = bpf_map_lookup_elem(&scratch, &zero);
	if (!sample)
		return;
	take(ctx, sample, 2);
	sample->weight = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&asleep, &tid, sample, BPF_ANY))
		__sync_fetch_and_add(&lost, 1);
}

static __always_inline void wakes(struct task_struct *task)
{
	struct profile_sample *sample;
	int tid = task->pid;

	sample = bpf_map_lookup_elem(&asleep, &tid);
	if (!sample)
		return;
	sample->weight = bpf_ktime_get_ns() - sample->weight;
	if (bpf_ringbuf_output(&ring, sample, sizeof(*sample), 0))
		__sync_fetch_and_add(&lost, 1);
	bpf_map_delete_elem(&asleep, &tid);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(off_cpu, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	/* A preempted task still wants to run */
	if (prev->tgid == target && !preempt && prev->__state)
		falls_asleep(ctx, prev);
	if (next->tgid == target)
		wakes(next);
	return 0;
}

/* Functions whose names were sent */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct profile_frame);
	__type(value, char);
} named SEC(".maps");

static __always_inline void send_name(struct bpf_unwind *unwind, __u32 number,
				      const struct profile_frame *frame)
{
	struct profile_frame key = { .function = frame->function, .check = frame->check };
	struct profile_name *name;
	char yes = 1;

	if (bpf_map_lookup_elem(&named, &key))
		return;
	name = bpf_ringbuf_reserve(&ring, sizeof(*name), 0);
	if (!name)
		return;
	name->kind = PROFILE_NAME;
	name->pid = target;
	name->frame = key;
	/* The next stack may have it */
	if (bpf_unwind_frame_name(unwind, number, &name->of, sizeof(name->of))) {
		bpf_ringbuf_discard(name, 0);
		return;
	}
	bpf_ringbuf_submit(name, 0);
	bpf_map_update_elem(&named, &key, &yes, BPF_ANY);
}

/* Records are read as they were reserved: the stack comes after its functions' names */
static __always_inline void send_frames(struct bpf_unwind *unwind)
{
	struct profile_frames *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	int i, size;

	if (!record) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	size = bpf_unwind_frames(unwind, record->frames, sizeof(record->frames));
	if (size <= 0) {
		bpf_ringbuf_discard(record, 0);
		return;
	}
	record->kind = PROFILE_FRAMES;
	record->nr = size / sizeof(record->frames[0]);
	record->cookie = unwind->cookie;
	for (i = 0; i < LANGUAGE_FRAMES && i < record->nr; i++)
		send_name(unwind, i, &record->frames[i]);
	bpf_ringbuf_submit(record, 0);
}

SEC("struct_ops.s/deliver")
void BPF_PROG(deliver, struct bpf_unwind *unwind)
{
	struct profile_stack *stack;
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	/* Skip stacks that other programs requested */
	if (pid_tgid >> 32 != target)
		return;
	send_frames(unwind);
	stack = bpf_ringbuf_reserve(&ring, sizeof(*stack), 0);
	if (!stack) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	stack->kind = PROFILE_STACK;
	stack->pid = pid_tgid >> 32;
	stack->cookie = unwind->cookie;
	stack->nr = unwind->nr < FRAMES ? unwind->nr : FRAMES;
	bpf_unwind_stack(unwind, stack->ips, sizeof(stack->ips), 0);
	bpf_unwind_stack(unwind, stack->ids, sizeof(stack->ids),
			 BPF_F_USER_BUILD_ID);
	bpf_ringbuf_submit(stack, 0);
}

SEC(".struct_ops.link")
struct bpf_unwind_ops delivery = {
	.deliver = (void *)deliver,
};

char _license[] SEC("license") = "GPL";
