/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs: calls through code whose frames only a table describes.
 *
 * A run goes from run_enter() through functions without a frame pointer, whose locals
 * have a size that the test does not know, to run_leaf(), which makes system calls. In
 * between the frame pointer is not an address. So each frame that an unwinder finds
 * there, it finds by a table.
 *
 * All locals are decoys. A table of other code has other frame sizes, so it takes a decoy
 * for a return address, and the test detects it.
 */
#ifndef SELFTEST_UNWIND_RUN_H
#define SELFTEST_UNWIND_RUN_H

#include "truth.h"

/*
 * The same as JIT_DECOY. Runs map empty text there, so that the test also detects an
 * unwinder that accepts any return address in text.
 */
#define RUN_DECOY	0xdec0de0000UL
#define RUN_DEPTH	8

struct run;
typedef void (*run_fn)(struct run *run);

/*
 * The innermost function calls @leaf with the run. Twins (see twin.c) note themselves in
 * @func, outermost first.
 */
struct run {
	run_fn			leaf;
	unsigned long		rounds;
	unsigned int		nr;
	struct truth_func	func[RUN_DEPTH];
};

/* Call @fn; it returns to run_base */
void run_enter(struct run *run, run_fn fn);
extern const char run_base[];

/* Make @rounds system calls, getppid(), with a little computation for each */
void run_leaf(struct run *run);
bool run_in_leaf(unsigned long ip);

/*
 * Make @rounds system calls, getppid(), with a false frame record: @record[1] is the
 * caller, for which the unwinder then searches a table. The record lies on the stack of
 * the caller of this function.
 */
void run_probe(const unsigned long *record, unsigned long rounds);
extern const char run_probe_end[];
bool run_in_probe(unsigned long ip);

#endif /* SELFTEST_UNWIND_RUN_H */
