/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compare the kernel's stacks with the true ones.
 *
 * A step is one instruction that is about to be executed, with its stack. Two steps are
 * distinct if the address or any return address of the true stack differs.
 *
 * A stack is tabled if tables cover all of its frames. It must be exactly the true one,
 * unless a table itself is wrong. Then two conditions excuse it: the table's rows, read
 * and applied here without the kernel, go wrong at the same frame, and the list of
 * exceptions has the function, with the reason. So the list excuses no mistake of the
 * kernel.
 *
 * Other stacks may stop early. Frame pointers may skip a frame where a function has not
 * yet or no longer set up its own; but not the first caller, if the interrupted function's
 * object has a table. All frames must be true, unless a table that covers part of the
 * stack is wrong, as above.
 */
#ifndef SELFTEST_UNWIND_STEP_JUDGE_H
#define SELFTEST_UNWIND_STEP_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "step_task.h"

#define JUDGE_CAUSES	256

/*
 * A function whose table is wrong; both names are patterns
 * @pushes: it pushes what it returns to, which the kernel knows from the instructions; the
 *	    truth only knows calls
 */
struct exception {
	const char	*file;
	const char	*function;
	const char	*reason;
	bool		pushes;
};

extern const struct exception exceptions[];
extern const unsigned int nr_exceptions;

/* An instruction at which a table is wrong */
struct cause {
	uint64_t		addr;
	unsigned long		steps;
	const struct exception	*exception;
	char			name[128];
	char			row[64];
};

/*
 * @unlisted: the table is wrong, but is not in the list
 * @first_skips: steps in @skips that skip the first caller, without a reason in the list
 */
struct verdicts {
	unsigned long	steps;
	unsigned long	distinct;
	unsigned long	tabled;
	unsigned long	right;
	unsigned long	excepted;
	unsigned long	unlisted;
	unsigned long	wrong;
	unsigned long	ended;
	struct {
		unsigned long	right;
		unsigned long	ended;
		unsigned long	skips;
		unsigned long	first_skips;
		unsigned long	excepted;
		unsigned long	wrong;
	} other;
	unsigned int	nr_causes;
	struct cause	cause[JUDGE_CAUSES];
};

struct seen;
struct judge {
	struct verdicts	verdicts;
	struct seen	*seen;
};

int judge_init(struct judge *judge);
void judge_free(struct judge *judge);

/* Judge one stack; print the first ones that are the kernel's mistake */
void judge_stack(struct judge *judge, struct code *code,
		 const struct step_task *task, const struct step_stack *stack);

#endif /* SELFTEST_UNWIND_STEP_JUDGE_H */
