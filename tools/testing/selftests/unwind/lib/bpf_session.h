/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A session of deferred stacks for BPF: one program requests stacks of this process or of
 * its children, another receives the stacks. Both report to one ring buffer.
 */
#ifndef SELFTEST_UNWIND_BPF_SESSION_H
#define SELFTEST_UNWIND_BPF_SESSION_H

#include "bpf.h"
#include "whole.h"

#define RING_SIZE	0x100000
#define DEFER		(BPF_F_USER_STACK | BPF_F_USER_DEFER)

struct session {
	struct bpf_ring		ring;
	struct bpf_attached	asker;
	struct bpf_attached	deliver;
};

/* Open it, with the program that receives stacks; 0 or -1 */
int session_open(struct session *session);
void session_close(struct session *session);

/* For whole_run(): call getppid(), from a stack that it notes */
void call_getppid(void *arg);

/* Is it the stack that this process has just noted? */
bool is_noted(const struct bpf_event *event);

/* One request, and the delivery of the noted stack. Return the cookie, or 0. */
uint64_t asked_once(struct session *session);

#endif /* SELFTEST_UNWIND_BPF_SESSION_H */
