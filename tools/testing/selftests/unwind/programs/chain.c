// SPDX-License-Identifier: GPL-2.0
/*
 * A chain, see chain.h.  FRAME is the number of bytes of locals: two chains that
 * differ in nothing else have tables of the same size that are wrong for each
 * other.
 */
#include "chain.h"

#ifndef FRAME
#define FRAME	48
#endif

/*
 * The locals are used before and after the call, so the frame cannot be smaller
 * and the call cannot become a jump.
 */
#define FUNCTION(name, callee)						\
void name(struct notes *notes)	\
{									\
	char locals[FRAME];						\
									\
	/* In use, so that they have to be somewhere */			\
	asm volatile("" : : "r"(locals) : "memory");			\
	notes->ra[notes->nr++] =					\
		(unsigned long)__builtin_return_address(0);		\
	callee;								\
	asm volatile("" : : "r"(locals) : "memory");			\
}

static FUNCTION(innermost, notes->next[notes->nr_next++](notes))
static FUNCTION(middle, innermost(notes))
FUNCTION(chain, middle(notes))
