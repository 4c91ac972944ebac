/* SPDX-License-Identifier: GPL-2.0 */
/* Deferred user stacks for BPF programs: functions shared by files of kernel/bpf */
#ifndef _KERNEL_BPF_UNWIND_H
#define _KERNEL_BPF_UNWIND_H

#include <linux/bpf.h>
#include <linux/errno.h>

/* stackmap.c */
long bpf_stack_copy(const u64 *ips, u32 nr, void *buf, u32 size, u64 flags);

#ifdef CONFIG_UNWIND_USER_BPF

int bpf_unwind_request(u64 *cookie);

/* Only programs call this */
struct bpf_unwind;
int bpf_unwind_stack(struct bpf_unwind *unwind, void *buf, u32 buf__sz, u64 flags);
int bpf_unwind_frames(struct bpf_unwind *unwind, void *buf, u32 buf__sz);
int bpf_unwind_frame_name(struct bpf_unwind *unwind, u32 number, void *buf, u32 buf__sz);

#else

static inline int bpf_unwind_request(u64 *cookie)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_UNWIND_USER_BPF */

#endif /* _KERNEL_BPF_UNWIND_H */
