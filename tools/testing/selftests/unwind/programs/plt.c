// SPDX-License-Identifier: GPL-2.0
/*
 * A library that calls through its PLT what the test program has.
 */
#include "chain.h"

extern void plt_end(struct notes *notes);

void through_plt(struct notes *notes)
{
	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	plt_end(notes);
	/* Not a tail call */
	asm volatile("");
}
