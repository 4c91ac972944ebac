/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The stress module's output for the test program: a log of events, in their
 * order, read from the file "events" of its directory in debugfs.
 *
 * An event takes its place in the log before its action begins, except
 * UNWIND_STRESS_CANCELLED and UNWIND_STRESS_AWAKE, which are logged when the action is
 * over. So the action of a later event in the log has begun after it; but a request may have
 * been interrupted by others, before it got its cookie.
 */
#ifndef _KERNEL_UNWIND_TESTS_STRESS_UAPI_H
#define _KERNEL_UNWIND_TESTS_STRESS_UAPI_H

#include <linux/types.h>

#define UNWIND_STRESS_CLIENTS	6

/* The client that sleeps in its callbacks at times, and the one that is slow */
#define UNWIND_STRESS_SLEEPER	1
#define UNWIND_STRESS_SLOW	2

enum unwind_stress_type {
	UNWIND_STRESS_REQUEST = 1,	/* unwind_deferred_request() is called */
	UNWIND_STRESS_CALLBACK,		/* the client is called */
	UNWIND_STRESS_HELD,		/* its callback waits for other tasks' */
	UNWIND_STRESS_AWAKE,		/* ... and has waited */
	UNWIND_STRESS_REGISTERED,	/* the client will be registered */
	UNWIND_STRESS_CANCEL,		/* it will be cancelled */
	UNWIND_STRESS_CANCELLED,	/* it was */
	UNWIND_STRESS_POISON,		/* it was called when it was none */
};

/* The context of a request */
enum unwind_stress_context {
	UNWIND_STRESS_NMI_USER,		/* an NMI that hit the program */
	UNWIND_STRESS_NMI_KERNEL,	/* an NMI that hit the kernel */
	UNWIND_STRESS_HARDIRQ,
	UNWIND_STRESS_SOFTIRQ,
	UNWIND_STRESS_ENTER,		/* the entry of a system call */
	UNWIND_STRESS_EXIT,		/* its end */
	UNWIND_STRESS_SWITCH,		/* the scheduler, with its lock held */
	UNWIND_STRESS_SELF,		/* the client's own callback */
	UNWIND_STRESS_OTHER,		/* another client's callback */
	UNWIND_STRESS_BORROWED,		/* a kernel thread with a user's memory */
	UNWIND_STRESS_CONTEXTS
};

/* The kind of the current task */
enum unwind_stress_task {
	UNWIND_STRESS_USER,
	UNWIND_STRESS_EXITING,		/* a user task in do_exit() */
	UNWIND_STRESS_WORKER,		/* of io_uring */
	UNWIND_STRESS_KTHREAD,
	UNWIND_STRESS_IDLE,
	UNWIND_STRESS_TASKS
};

/**
 * struct unwind_stress_event - an event in the log
 * @cookie: REQUEST: the cookie that the request returned; CALLBACK, HELD and AWAKE: the
 *	cookie with which the client was called
 * @addr: REQUEST: the address that the NMI or interrupt hit, or the cookie of
 *	the callback that makes the request; CALLBACK: the first frame's address
 * @pid: the current task, by its thread's number in the initial namespace
 * @ret: returned value
 * @end: REQUEST: number of events in the log when it returned
 * @nr: CALLBACK: number of frames
 * @gen: number of the client's registration
 * @cpu: the CPU
 * @type: of &enum unwind_stress_type; 0 if an event is missing
 * @client: the client's number
 * @context: REQUEST: of &enum unwind_stress_context
 * @task: of &enum unwind_stress_task
 * @unused: 0
 */
struct unwind_stress_event {
	__u64	cookie;
	__u64	addr;
	__u32	pid;
	__u32	end;
	__s16	ret;
	__u16	nr;
	__u16	gen;
	__u16	cpu;
	__u8	type;
	__u8	client;
	__u8	context;
	__u8	task;
	__u32	unused;
};

#endif /* _KERNEL_UNWIND_TESTS_STRESS_UAPI_H */
