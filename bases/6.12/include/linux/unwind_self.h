/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads that find their own frames (kernel/unwind/self.c), and the functions that an
 * architecture supplies for them.
 */
#ifndef _LINUX_UNWIND_SELF_H
#define _LINUX_UNWIND_SELF_H

#include <linux/errno.h>
#include <linux/types.h>

struct ksignal;
struct pt_regs;
struct unwind_chain_frame;
struct unwind_chain_name;
struct unwind_chain_reader;
struct unwind_chain_stack;

/**
 * enum unwind_self_outcome - the outcome of a request
 * @UNWIND_SELF_ANSWERED: the thread has answered
 * @UNWIND_SELF_LATE: not in time; or it opted out before it answered
 * @UNWIND_SELF_EXITED: the thread exited before it answered
 * @UNWIND_SELF_EXECED: the thread executed another program before it answered
 * @UNWIND_SELF_BUSY: refused: the request before has no outcome yet
 * @UNWIND_SELF_RATE: refused: it comes too soon after the request before
 * @UNWIND_SELF_SIGNAL: refused: a signal is pending, or its mask to be restored
 * @UNWIND_SELF_RESTART: refused: a system call is to be restarted
 * @UNWIND_SELF_BLOCKED: refused: the signal is blocked
 * @UNWIND_SELF_HANDLER: refused: there is no handler with SA_SIGINFO and SA_ONSTACK, or only
 *	for one signal
 * @UNWIND_SELF_STACK: refused: the thread has another alternate stack, is on it, or the
 *	frame could not be written there
 * @UNWIND_SELF_TRACED: refused: a debugger or a uprobe controls the thread
 * @UNWIND_SELF_FILTERED: refused: system calls are filtered in another way than when the thread
 *	opted in, or dispatched
 * @UNWIND_SELF_INSIDE: refused: the stack is taken in the middle of a system call
 * @UNWIND_SELF_MEMORY: refused: the thread's memory cgroup has no room for the stack
 */
enum unwind_self_outcome {
	UNWIND_SELF_ANSWERED,
	UNWIND_SELF_LATE,
	UNWIND_SELF_EXITED,
	UNWIND_SELF_EXECED,
	UNWIND_SELF_BUSY,
	UNWIND_SELF_RATE,
	UNWIND_SELF_SIGNAL,
	UNWIND_SELF_RESTART,
	UNWIND_SELF_BLOCKED,
	UNWIND_SELF_HANDLER,
	UNWIND_SELF_STACK,
	UNWIND_SELF_TRACED,
	UNWIND_SELF_FILTERED,
	UNWIND_SELF_INSIDE,
	UNWIND_SELF_MEMORY,
};

#ifdef CONFIG_UNWIND_USER_LANGUAGES

int unwind_self_prctl(unsigned long op, unsigned long uattr, unsigned long size,
		      unsigned long arg5);
void unwind_self_name(struct unwind_chain_reader *reader, const struct unwind_chain_stack *stack,
		      const struct unwind_chain_frame *frame, struct unwind_chain_name *name);

/* The most bytes that a signal frame takes */
unsigned long unwind_arch_signal_size(void);
/* Do the registers start restart_syscall(2)? */
bool unwind_arch_is_restart(const struct pt_regs *regs);
/* Write a signal frame; 0, or -EFAULT with registers with which the thread can continue */
int unwind_arch_call_handler(struct ksignal *ksig, struct pt_regs *regs);

#else

static inline int unwind_self_prctl(unsigned long op, unsigned long uattr, unsigned long size,
				    unsigned long arg5)
{
	return -EINVAL;
}

#endif /* CONFIG_UNWIND_USER_LANGUAGES */

#endif /* _LINUX_UNWIND_SELF_H */
