// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions of deferred stacks for BPF, see bpf_session.h.
 */
#include <stdio.h>
#include <sys/syscall.h>

#include "bpf_session.h"

int session_open(struct session *session)
{
	static const struct bpf_attached none = { -1, -1 };

	*session = (struct session){
		.ring = { .fd = -1 }, .asker = none, .deliver = none,
	};
	return bpf_ring_open(&session->ring, RING_SIZE) ||
	       bpf_deliver_open(&session->deliver, 0, &session->ring) ? -1 : 0;
}

void session_close(struct session *session)
{
	bpf_attached_close(&session->asker);
	bpf_attached_close(&session->deliver);
	bpf_ring_close(&session->ring);
}

static void leaf(void)
{
	whole_note_ra();
	whole_sample();
}

void call_getppid(void *arg)
{
	char locals[80];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	leaf();
	asm volatile("" : : "r"(locals) : "memory");
}

bool is_noted(const struct bpf_event *event)
{
	struct stack stack, expected;

	bpf_event_stack(event, &stack);
	expect_chain(&expected, &whole);
	return stack_is(&stack, &expected);
}

uint64_t asked_once(struct session *session)
{
	struct bpf_event asked = {}, delivered = {}, more;

	if (!bpf_ring_next(&session->ring, &asked, false) ||
	    asked.kind != BPF_ASKED || asked.ret != sizeof(uint64_t)) {
		printf("# not asked: kind %u, %lld\n", asked.kind,
		       (long long)asked.ret);
		return 0;
	}
	if (!bpf_ring_next(&session->ring, &delivered, false) ||
	    delivered.kind != BPF_DELIVERED ||
	    delivered.cookie != asked.cookie || delivered.tid != asked.tid) {
		printf("# not delivered\n");
		return 0;
	}
	if (bpf_ring_next(&session->ring, &more, false)) {
		printf("# more than that\n");
		return 0;
	}
	return is_noted(&delivered) ? asked.cookie : 0;
}
