/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An artificial frame: its registers and the memory have made-up values. The test
 * compares the callers by a row and by libdw.
 */
#ifndef _UNWIND_TABLES_TEST_FRAME_H
#define _UNWIND_TABLES_TEST_FRAME_H

#include <elfutils/libdw.h>
#include <linux/types.h>
#include <stdbool.h>

#include "rule.h"

#define FRAME_REGS	32

/**
 * struct frame - values of a frame
 * @regs: registers by DWARF's numbers
 * @sp: number of the stack pointer
 * @fp: of the frame pointer
 * @ra: of the return address
 */
struct frame {
	u64		regs[FRAME_REGS];
	unsigned int	sp;
	unsigned int	fp;
	unsigned int	ra;
};

/**
 * struct caller - the caller's values
 * @outermost: there is none
 * @signal: it was interrupted
 * @unknown: it cannot be found: there is no such rule
 * @fp_lost: @fp is not known
 * @uses_pc: that depends on the address, also within a row
 * @ra: return address
 * @sp: stack pointer
 * @fp: frame pointer
 */
struct caller {
	bool	outermost;
	bool	signal;
	bool	unknown;
	bool	fp_lost;
	bool	uses_pc;
	u64	ra;
	u64	sp;
	u64	fp;
};

void frame_init(struct frame *frame, unsigned int machine, u64 seed);
void frame_by_row(const struct frame *frame, const struct unwind_frame_rule *row,
		  struct caller *caller);
void frame_by_libdw(const struct frame *frame, Dwarf_Frame *from, u64 pc,
		    struct caller *caller);
bool frame_callers_equal(const struct caller *a, const struct caller *b);

#endif /* _UNWIND_TABLES_TEST_FRAME_H */
