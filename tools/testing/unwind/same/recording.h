/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording that same_record made: each clock sample with its stack.
 */
#ifndef _UNWIND_TEST_SAME_RECORDING_H
#define _UNWIND_TEST_SAME_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "stack.h"

/*
 * @stack: whether there is one; the rest is valid only then.
 * @ips: the kernel's frames, @num of them
 * @reason: why there are no more
 */
struct recorded {
	struct same_sample	sample;
	bool			stack;
	const uint64_t		*ips;
	unsigned int		num;
	const char		*reason;
};

/*
 * Read it, and tell map.h of the objects, whose files are below @root.  Exits when it
 * is not in order: a sample without the stack that it asked for is not.
 */
void recording_open(const char *dir, const char *root);
uint32_t recording_pid(void);

/* The next clock sample; false: no more */
bool recording_next(struct recorded *recorded);
void recording_stack(const struct recorded *recorded, struct stack *stack);

/* Whether a reason is that the outermost frame was reached, as a table says */
bool recording_is_end(const char *reason);

#endif /* _UNWIND_TEST_SAME_RECORDING_H */
