/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that is asked for its own frames: its handler, and an event that asks.
 */
#ifndef SELFTEST_UNWIND_SELF_H
#define SELFTEST_UNWIND_SELF_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/unwind.h>

#include "perf.h"

#define SELF_STACK_SIZE	65536
#define SELF_SIGNAL	(SIGRTMIN + 3)

/* The alternate stack of the attributes below */
extern char self_stack[SELF_STACK_SIZE];

/* Each of these: 0 or -errno */
int self_call(unsigned long op, const void *attr, size_t size);
int self_enable(const struct unwind_self_attr *attr);
int self_disable(void);
int self_submit(const struct unwind_self_answer *answer);

struct unwind_self_attr self_attr(void);

/* How often an outcome was recorded since boot; any outcome if it is NULL */
unsigned long self_count(const char *outcome);

/**
 * struct self_handler - what the handler does, and what it has seen
 * @answer: what it submits
 * @frames: the frames of it
 * @fn: called in place of that, if not NULL
 * @nr: how often it was called
 * @result: of its last call of @fn, or of the last submission
 * @code: si_code
 * @ip: where the thread goes on
 */
extern struct self_handler {
	struct unwind_self_answer	answer;
	struct unwind_self_frame	frames[UNWIND_SELF_FRAMES + 1];
	int				(*fn)(void);
	int				nr;
	int				result;
	int				code;
	unsigned long			ip;
} handler;

/* An answer of two frames without names, functions 1000 and 1001 */
void self_reset(void);
/* Install the handler with these flags; and name an alternate stack. 0 or -1 */
void self_on_request(int signal, siginfo_t *info, void *context);
int self_install(int flags);
int self_set_stack(void *stack, size_t size);

/* Call getppid() */
void self_sample(void);

/*
 * Functions for uprobes.  The kernel emulates the probed instruction of the first one; it
 * has a copy of the second one's executed.
 */
void self_probed_jump(void);
void self_probed_other(void);

/**
 * struct asked - an event that asks a thread, and its records
 * @event: the event's attributes
 * @attr: how the thread has opted in
 * @ring: the event's buffer
 * @recs: what was read from it
 * @fd: the event
 */
struct asked {
	struct perf_event_attr	event;
	struct unwind_self_attr	attr;
	struct ring		ring;
	struct records		recs;
	int			fd;
};

/* Frames of languages, as records have them */
struct asked_frame {
	uint64_t	function;
	uint32_t	check;
	uint16_t	place;
	uint16_t	runtime;
};

/* Ask at each system call with this number; or as @asked->event says. 0 or -1 */
int asked_open(struct asked *asked, pid_t pid, long nr);
int asked_open_event(struct asked *asked, pid_t pid);
void asked_close(struct asked *asked);

/* The frames of the only record of them, or NULL; there is one native stack with the cookie */
const struct asked_frame *asked_frames(struct asked *asked, uint64_t *nr);
/* Name and file of a function, each with its end; or NULL */
const char *asked_name(const struct asked *asked, uint64_t function);
/* There is one native stack, with more than two frames, and no other frames */
bool asked_native_only(struct asked *asked);

#endif /* SELFTEST_UNWIND_SELF_H */
