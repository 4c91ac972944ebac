/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Single samples of one place in a program, one after another: of events that defer
 * nothing, with stacks in place on or off, and what the kernel counted of each.
 */
#ifndef SELFTEST_UNWIND_SHOTS_H
#define SELFTEST_UNWIND_SHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"
#include "in_place_counts.h"
#include "sampled.h"

#define CANNOT	"no kernel.unwind_in_place, no debugfs, no events, or not root"

/*
 * What is sampled: @now by an event that defers nothing, @later by one that does.
 * Records of @now are kept, so that what they point to stays.
 */
struct subject {
	struct sampler	now;
	struct sampler	later;
	struct records	now_recs;
	struct records	later_recs;
	struct image	image;
	long		was_on;
};

/* 0, or -1 where it cannot be tested */
int subject_open(struct subject *subject);
void subject_close(struct subject *subject);

/* One sample, and how much each count went up with it */
struct shot {
	struct record	rec;
	long		counts[NR_COUNTS];
};

/*
 * Sample @fn, which ends in sampled_call(), once for each digit of @modes, with
 * the sysctl set to that: from the same place each time, so that nothing but how
 * the stack is taken can differ.  @expected is what the stack begins with.
 */
int shoot(struct subject *subject, chain_fn fn, const char *modes,
	  struct shot *shots, struct stack *expected);

bool same_addresses(uint64_t nr, const uint64_t *ips, uint64_t nr_other,
		    const uint64_t *other);
/* Prints both if they are not */
bool shot_is_same(const struct shot *a, const struct shot *b);
bool shot_is_whole(const struct shot *shot, const struct stack *expected);

/* Is @ip anywhere in it? Frame pointers lead past functions that keep none. */
bool shot_has(const struct shot *shot, unsigned long ip);

#endif /* SELFTEST_UNWIND_SHOTS_H */
