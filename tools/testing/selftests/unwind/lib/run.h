/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs: calls through code whose frames only a table describes.
 *
 * A run goes from run_enter() through functions that keep no frame pointer and
 * have locals of a size that is not known to the test, to run_leaf(), which
 * makes system calls.  The frame pointer is no address in between.  So what an
 * unwinder finds there, it found by a table.
 *
 * All locals are decoys: a table of other code, of which each frame has another
 * size, takes one of them for a return address, and is found out.
 */
#ifndef SELFTEST_UNWIND_RUN_H
#define SELFTEST_UNWIND_RUN_H

#include "truth.h"

/*
 * The same as JIT_DECOY.  Runs map empty text there: an unwinder that checks
 * whether a return address is text has to be wrong to be found out.
 */
#define RUN_DECOY	0xdec0de0000UL
#define RUN_DEPTH	8

struct run;
typedef void (*run_fn)(struct run *run);

/*
 * @leaf is called by the innermost function, with the run.  Twins (see twin.c)
 * note themselves in @func, outermost first.
 */
struct run {
	run_fn			leaf;
	unsigned long		rounds;
	unsigned int		nr;
	struct truth_func	func[RUN_DEPTH];
};

/* Call @fn; what it returns to is run_base */
void run_enter(struct run *run, run_fn fn);
extern const char run_base[];

/* Makes @rounds system calls, getppid(), and computes a little for each */
void run_leaf(struct run *run);
bool run_in_leaf(unsigned long ip);

/*
 * Make @rounds system calls, getppid(), with a frame record that is a lie:
 * @record[1] is the caller, for which the unwinder then looks for a table.  The
 * record lies on the stack of the caller of this function.
 */
void run_probe(const unsigned long *record, unsigned long rounds);
extern const char run_probe_end[];
bool run_in_probe(unsigned long ip);

#endif /* SELFTEST_UNWIND_RUN_H */
