// SPDX-License-Identifier: GPL-2.0
/*
 * A chain, see chain.h. FRAME is the number of bytes of locals. Two chains that differ
 * only in FRAME have tables of the same size, and each table is wrong for the other
 * chain.
 */
#include "chain.h"

#ifndef FRAME
#define FRAME	48
#endif

/*
 * The locals are used before and after the call, so the frame cannot be smaller and the
 * call cannot become a jump.
 */
#define FUNCTION(name, callee)						\
void name(struct notes *notes)	\
{									\
	char locals[FRAME];						\
									\
	/* Used, so that they need memory */				\
	asm volatile("" : : "r"(locals) : "memory");			\
	notes->ra[notes->nr++] =					\
		(unsigned long)__builtin_return_address(0);		\
	callee;								\
	asm volatile("" : : "r"(locals) : "memory");			\
}

static FUNCTION(innermost, notes->next[notes->nr_next++](notes))
static FUNCTION(middle, innermost(notes))
FUNCTION(chain, middle(notes))
