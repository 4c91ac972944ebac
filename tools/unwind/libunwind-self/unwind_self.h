/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of a language, reported by the thread that executes them
 *
 * A profiler wants the stack of a thread. The kernel takes its native frames, and calls this
 * library in a signal handler of the thread. The library calls the runtime's function, which
 * says what functions of the language are being called, and reports them to the kernel:
 * prctl(PR_UNWIND_SELF), see Documentation/userspace-api/unwind.rst.
 *
 *	static void walk(struct unwind_self_stack *stack, const ucontext_t *at, void *data)
 *	{
 *		for (frame = my_frame; frame; frame = frame->caller)
 *			if (!unwind_self_add(stack, frame->function, NULL, frame->name, NULL, 0))
 *				return;
 *	}
 *
 *	error = unwind_self_start(walk, NULL, NULL);	in each thread
 *
 * Without a profiler, nothing happens after that: no signal, no timer.
 */
#ifndef UNWIND_SELF_H
#define UNWIND_SELF_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct unwind_self_stack;

/**
 * typedef unwind_self_walk - a runtime's function that finds the frames of this thread
 * @stack: to which it adds them, the innermost first
 * @at: where the thread was
 * @data: from unwind_self_start()
 *
 * It runs in a signal handler, on the alternate stack. The thread may have been interrupted
 * anywhere in user space, so only async-signal-safe functions may be called. errno is saved.
 */
typedef void (*unwind_self_walk)(struct unwind_self_stack *stack, const ucontext_t *at,
				 void *data);

/**
 * struct unwind_self_options - how a thread is asked
 * @signal: a real-time signal without a handler; 0: any that is free
 * @interval: the least time between two requests, in microseconds
 * @timeout: in milliseconds, after which an answer is late; 0: 100
 * @all: they replace frames that the kernel finds by chains
 */
struct unwind_self_options {
	int		signal;
	unsigned int	interval;
	unsigned int	timeout;
	bool		all;
};

/**
 * unwind_self_start - let the calling thread report its frames
 * @walk: finds them
 * @data: for @walk
 * @options: or NULL
 *
 * Uses the thread's alternate signal stack if it has one, else makes one.
 *
 * Return: 0, or a negative error number: -EEXIST it does so already; -EINVAL this kernel has no
 * such call; -EAGAIN no real-time signal is free; others as prctl(2) and mmap(2) have them.
 */
int unwind_self_start(unwind_self_walk walk, void *data,
		      const struct unwind_self_options *options);

/**
 * unwind_self_stop - let the calling thread not report its frames any more
 *
 * Call this before a thread ends: it frees the memory that unwind_self_start() took. Within the
 * walk, it does nothing. The child of a fork has to start anew.
 */
void unwind_self_stop(void);

/**
 * unwind_self_add - add a frame
 * @stack: the argument of &unwind_self_walk
 * @function: stands for the function: its address, for example; not NULL
 * @within: an address in the native frame that executes it; NULL if that is not known.
 *	Otherwise not less than the one before
 * @name: its name, or NULL. It has to stay until the walk has returned and its result was
 *	sent, as @file has: it is not copied here
 * @file: name of its file, or NULL
 * @line: the function's first line, or 0
 *
 * Return: false if there is no room for more.
 */
bool unwind_self_add(struct unwind_self_stack *stack, const void *function, const void *within,
		     const char *name, const char *file, unsigned int line);

/* The same for names of known size, which need no 0 at their end */
struct unwind_self_text {
	const char	*text;
	unsigned int	size;
};

bool unwind_self_add_text(struct unwind_self_stack *stack, const void *function,
			  const void *within, struct unwind_self_text name,
			  struct unwind_self_text file, unsigned int line);

#endif /* UNWIND_SELF_H */
