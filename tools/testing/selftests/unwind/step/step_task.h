/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that is stepped through, all of its threads, with the stack that the
 * kernel unwinds at each instruction.
 *
 * The trap that ends a step generates SIGTRAP in the context of the thread, as it
 * is about to stop.  A perf event on the tracepoint signal:signal_generate, which
 * defers its callchain, therefore has both sample and callchain in the buffer
 * when the parent learns of the stop, and they tell of the very instruction that
 * is next.  The event is that of a CPU, to which the parent and the program are
 * bound: it covers threads that come later, and costs nothing per switch.
 *
 * Where a thread stops otherwise (after exec, in a new thread, at the start of a
 * signal handler) there is no such signal.  A breakpoint is put there, for the
 * step that follows.
 */
#ifndef SELFTEST_UNWIND_STEP_TASK_H
#define SELFTEST_UNWIND_STEP_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "perf.h"
#include "step_code.h"
#include "step_machine.h"
#include "step_shadow.h"

#define STEP_TASKS	16
#define STEP_IPS	127

/* What the kernel found, innermost first; @topmost: a breakpoint's address or 0 */
struct step_stack {
	uint64_t	topmost;
	uint64_t	nr;
	uint64_t	ip[STEP_IPS];
};

/*
 * @regs: before the instruction that is next
 * @breakpoint: event at regs.ip, or -1
 * @stack: those that were taken since the last stop
 * @entering: nothing has been called yet on a stack that is new
 * @signal: the signal with which it goes on, or 0
 */
struct step_task {
	pid_t			tid;
	bool			begun;
	bool			entering;
	int			signal;
	int			breakpoint;
	uint64_t		sample_ip;
	struct step_regs	regs;
	unsigned int		nr;
	struct step_stack	stack[2];
	struct shadow		shadow;
};

struct stepper;

/*
 * @judge: the kernel's stack before the instruction at task->regs.ip, of which
 * task->shadow is the true one.
 * @signal: a signal to send before this instruction, or 0
 */
struct step_ops {
	void	(*judge)(struct stepper *stepper, struct step_task *task,
			 const struct step_stack *stack);
	int	(*signal)(struct stepper *stepper, struct step_task *task);
};

/*
 * @steps: instructions, @missing: those without a stack, @cut: whether time was
 * up before the program ended, @status: as of waitpid()
 */
struct stepper {
	const struct step_ops	*ops;
	void			*context;
	struct code		code;
	int			cpu;
	int			event;
	struct ring		ring;
	unsigned int		nr;
	struct step_task	*task[STEP_TASKS];
	unsigned long		steps;
	unsigned long		missing;
	bool			cut;
	int			status;
};

/* 0; or -1 and errno when there is no such event */
int stepper_open(struct stepper *stepper, const struct step_ops *ops,
		 void *context);
void stepper_close(struct stepper *stepper);

/*
 * Run a program, for no more than @seconds; 0, or -1 if it could not be run.
 * @from_entry: step from its own first instruction, not the dynamic linker's
 */
int stepper_run(struct stepper *stepper, char *path, bool from_entry,
		unsigned int seconds);

#endif /* SELFTEST_UNWIND_STEP_TASK_H */
