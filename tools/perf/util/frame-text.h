/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_FRAME_TEXT_H
#define PERF_FRAME_TEXT_H

#include <stdbool.h>
#include <stdio.h>

struct evsel;
struct perf_sample;
struct thread;

/**
 * frame_text__serves - Can the callchain be printed by lines that are kept?
 * @sample: Has a callchain.
 * @evsel: Its event.
 * @print_opts: EVSEL__PRINT_*
 *
 * Not all kinds of callchains, and not all options, are for this.
 *
 * Return: Whether it can.
 */
bool frame_text__serves(const struct perf_sample *sample, const struct evsel *evsel,
			unsigned int print_opts);

/**
 * frame_text__fprintf_callchain - Print a callchain that frame_text__serves().
 * @sample: Has a callchain.
 * @evsel: Its event.
 * @thread: Its thread.
 * @max_stack: Print no more frames than these.
 * @print_opts: EVSEL__PRINT_*
 * @fp: Where to.
 *
 * Prints what sample__fprintf_callchain() would print of the callchain as
 * thread__resolve_callchain() would resolve it.
 */
void frame_text__fprintf_callchain(struct perf_sample *sample, struct evsel *evsel,
				   struct thread *thread, int max_stack,
				   unsigned int print_opts, FILE *fp);

#endif /* PERF_FRAME_TEXT_H */
