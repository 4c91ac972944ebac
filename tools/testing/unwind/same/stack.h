/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stack that was unwound from a copy, and why it ends where it does.
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
	END_OUTERMOST,		/* it is said that there is no caller */
	END_NOTHING,		/* nothing describes the last address */
	END_COPY,		/* what was needed is beyond the copy */
	END_UNREADABLE,		/* or not on the stack at all */
	END_NO_TEXT,		/* the next address is no text: it was wrong before */
	END_OTHER,
};

struct stack {
	uint64_t	ip[MAX_FRAMES];
	unsigned int	num;
	enum end	end;
};

/*
 * A word of the stack; @end says why there is none.  Only what lies beyond the
 * copy could have been in a longer one.
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

/* Index of a register in a sample's, of those in SAME_REGS */
static inline unsigned int same_reg(unsigned int reg)
{
	return __builtin_popcountll(SAME_REGS & ((1ULL << reg) - 1));
}

/* The sample's register by its DWARF number */
static inline uint64_t same_dwarf_reg(const struct same_sample *sample,
				      unsigned int num)
{
	static const unsigned char perf_reg[] = {
		PERF_REG_X86_AX, PERF_REG_X86_DX, PERF_REG_X86_CX,
		PERF_REG_X86_BX, PERF_REG_X86_SI, PERF_REG_X86_DI,
		PERF_REG_X86_BP, PERF_REG_X86_SP, PERF_REG_X86_R8,
		PERF_REG_X86_R9, PERF_REG_X86_R10, PERF_REG_X86_R11,
		PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
		PERF_REG_X86_R15, PERF_REG_X86_IP,
	};

	return sample->regs[same_reg(perf_reg[num])];
}

#define DWARF_BP	6
#define DWARF_SP	7
#define DWARF_IP	16
#define DWARF_NUM	17

#endif /* _UNWIND_TEST_SAME_STACK_H */
