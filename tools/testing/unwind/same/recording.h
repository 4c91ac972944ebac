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
 * @stack: is there a stack? The rest is valid only then.
 * @ips: the kernel's frames, @num of them
 * @reason: why it stops there
 */
struct recorded {
	struct same_sample	sample;
	bool			stack;
	const uint64_t		*ips;
	unsigned int		num;
	const char		*reason;
};

/*
 * Read it, and add the objects to map.h, with their files below @root. Exits if the
 * recording is invalid, for example when a sample lacks the stack that it requested.
 */
void recording_open(const char *dir, const char *root);
uint32_t recording_pid(void);

/* The next clock sample; false: no more */
bool recording_next(struct recorded *recorded);
void recording_stack(const struct recorded *recorded, struct stack *stack);

/* Does the reason mean that a table marks the outermost frame? */
bool recording_is_end(const char *reason);

#endif /* _UNWIND_TEST_SAME_RECORDING_H */
