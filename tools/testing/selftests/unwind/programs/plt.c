// SPDX-License-Identifier: GPL-2.0
/*
 * A library that calls functions of the test program through its PLT.
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
