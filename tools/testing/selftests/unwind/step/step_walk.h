/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stack by the rows of the tables alone, without the kernel.
 *
 * The walk follows the true stack up to the frame where the kernel's stack differs. If
 * the table is at fault, its row there gives a wrong caller, or none.
 */
#ifndef SELFTEST_UNWIND_STEP_WALK_H
#define SELFTEST_UNWIND_STEP_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "step_task.h"

/* The frame, and the row for its address */
struct walk {
	uint64_t	ip;
	uint64_t	sp;
	uint64_t	fp;
	bool		topmost;
	bool		exact;
	char		row[64];
};

/*
 * The kernel's stack is true in its first @same frames, and not in the next. Does the
 * table of the last true one say so, too? Then @walk is that frame.
 */
bool walk_goes_astray(struct walk *walk, struct code *code,
		      const struct step_task *task,
		      const struct step_stack *stack, unsigned int same);

#endif /* SELFTEST_UNWIND_STEP_WALK_H */
