/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Single samples of one place in a program, one after another: samples of events that
 * defer nothing, with immediate stacks on or off, and the kernel's counts for each
 * sample.
 */
#ifndef SELFTEST_UNWIND_SHOTS_H
#define SELFTEST_UNWIND_SHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"
#include "immediate_counts.h"
#include "sampled.h"

#define CANNOT	"no kernel.unwind_immediate, no debugfs, no events, or not root"

/*
 * Samples: @now from an event that defers nothing, @later from one that defers. Records
 * of @now are kept, because stacks point into them.
 */
struct subject {
	struct sampler	now;
	struct sampler	later;
	struct records	now_recs;
	struct records	later_recs;
	struct image	image;
	long		was_on;
};

/* 0, or -1 if this machine cannot test it */
int subject_open(struct subject *subject);
void subject_close(struct subject *subject);

/* Take one sample, and report by how much each count rose */
struct shot {
	struct record	rec;
	long		counts[NR_COUNTS];
};

/*
 * Sample @fn, which ends in sampled_call(), once for each digit of @modes, with the
 * sysctl set to that digit. The place is the same each time, so only the method of
 * unwinding differs. @expected is the start of the stack.
 */
int shoot(struct subject *subject, chain_fn fn, const char *modes,
	  struct shot *shots, struct stack *expected);

bool same_addresses(uint64_t nr, const uint64_t *ips, uint64_t nr_other,
		    const uint64_t *other);
/* Are they equal? If not, print both. */
bool shot_is_same(const struct shot *a, const struct shot *b);
bool shot_is_whole(const struct shot *shot, const struct stack *expected);

/* Does the stack contain @ip? Frame pointers skip functions that keep none. */
bool shot_has(const struct shot *shot, unsigned long ip);

#endif /* SELFTEST_UNWIND_SHOTS_H */
