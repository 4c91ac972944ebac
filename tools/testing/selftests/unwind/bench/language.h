/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of a language that does not exist: a list, to which a chain leads.
 */
#ifndef SELFTEST_UNWIND_BENCH_LANGUAGE_H
#define SELFTEST_UNWIND_BENCH_LANGUAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <linux/unwind.h>

#define LANGUAGE_FRAMES	20
#define LANGUAGE_KEY	1

struct function {
	uint64_t	id[2];
};

struct frame {
	struct function	*function;
	struct frame	*caller;
};

static struct function functions[LANGUAGE_FRAMES];
static struct frame frames[LANGUAGE_FRAMES], *innermost = frames;

static inline void language_make_frames(void)
{
	int i;

	for (i = 0; i < LANGUAGE_FRAMES; i++)
		frames[i] = (struct frame){ &functions[i],
					    i + 1 < LANGUAGE_FRAMES ? &frames[i + 1] : NULL };
}

/* As prctl() */
static inline int language_add_chain(void)
{
	const struct unwind_chain_attr attr = {
		.key = LANGUAGE_KEY,
		.head = (uintptr_t)&innermost,
		.next = offsetof(struct frame, caller),
		.function = offsetof(struct frame, function),
		.function_mask = ~7ULL,
		.check = { 0, 8 },
	};

	return prctl(PR_UNWIND_CHAIN, PR_UNWIND_CHAIN_ADD, &attr, sizeof(attr), 0UL);
}

#endif /* SELFTEST_UNWIND_BENCH_LANGUAGE_H */
