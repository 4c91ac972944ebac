/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stack that was unwound from a copy, and why it stops.
 */
#ifndef _UNWIND_TEST_SAME_STACK_H
#define _UNWIND_TEST_SAME_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "same.h"

/* The kernel's own limit on deferred stacks is below it */
#define MAX_FRAMES	1024

enum end {
	END_OUTERMOST,		/* there is no caller, by the rules */
	END_NOTHING,		/* nothing describes the last address */
	END_COPY,		/* a word was needed beyond the copy */
	END_UNREADABLE,		/* or not on the stack at all */
	END_NO_TEXT,		/* the next address is no text: an earlier step was wrong */
	END_OTHER,
};

struct stack {
	uint64_t	ip[MAX_FRAMES];
	unsigned int	num;
	enum end	end;
};

/*
 * A word of the stack; @end: why there is none. A longer copy could have only a word that
 * lies beyond this one.
 */
static inline bool stack_word(const struct same_sample *sample, uint64_t sp,
			      uint64_t address, uint64_t *word, enum end *end)
{
	uint64_t offset = address - sp;

	if (address >= sp && sample->stack_copied >= 8 &&
	    offset <= sample->stack_copied - 8) {
		memcpy(word, sample->stack + offset, 8);
		return true;
	}
	*end = address >= sp && offset <= (8 << 20) ? END_COPY : END_UNREADABLE;
	return false;
}

/* Index of a register in a sample's registers, SAME_REGS */
static inline unsigned int same_reg(unsigned int reg)
{
	return __builtin_popcountll(SAME_REGS & ((1ULL << reg) - 1));
}

/* The sample's register by its DWARF number */
static inline uint64_t same_dwarf_reg(const struct same_sample *sample,
				      unsigned int num)
{
	return sample->regs[same_reg(machine_perf_reg(num))];
}

#endif /* _UNWIND_TEST_SAME_STACK_H */
