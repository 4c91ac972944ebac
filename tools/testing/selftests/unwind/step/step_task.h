/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Step through a program, all of its threads, with the kernel's stack at each
 * instruction.
 *
 * The trap that ends a step generates SIGTRAP in the context of the thread, which is
 * about to stop. A perf event on the tracepoint signal:signal_generate defers its
 * callchain. So both sample and callchain are in the buffer when the parent sees the
 * stop, and they show exactly the next instruction. The event is bound to a CPU, like the
 * parent and the program: it covers threads that start later, and costs nothing per
 * switch.
 *
 * Other stops (after exec, in a new thread, at the start of a signal handler) have no
 * such signal. There the stepper sets a breakpoint, for the following step.
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

/* The kernel's stack, innermost first; @topmost: a breakpoint's address or 0 */
struct step_stack {
	uint64_t	topmost;
	uint64_t	nr;
	uint64_t	ip[STEP_IPS];
};

/*
 * @regs: before the next instruction
 * @breakpoint: event at regs.ip, or -1
 * @stack: stacks that were taken since the last stop
 * @entering: nothing has been called yet on a stack that is new
 * @signal: the signal to continue with, or 0
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
 * @judge: judge the kernel's stack before the instruction at task->regs.ip; task->shadow
 * is the true one.
 * @signal: return a signal to send before this instruction, or 0
 */
struct step_ops {
	void	(*judge)(struct stepper *stepper, struct step_task *task,
			 const struct step_stack *stack);
	int	(*signal)(struct stepper *stepper, struct step_task *task);
};

/*
 * @steps: instructions, @missing: steps without a stack, @cut: did time run out before
 * the program ended? @status: from waitpid()
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

/* 0; or -1 and errno without such an event */
int stepper_open(struct stepper *stepper, const struct step_ops *ops,
		 void *context);
void stepper_close(struct stepper *stepper);

/*
 * Run a program, for no more than @seconds; 0, or -1 if it could not be run. @from_entry:
 * step from its own first instruction, not the dynamic linker's
 */
int stepper_run(struct stepper *stepper, char *path, bool from_entry,
		unsigned int seconds);

#endif /* SELFTEST_UNWIND_STEP_TASK_H */
