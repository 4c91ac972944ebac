// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of "calls" that may be compiled in another way than the others, which call
 * them and are called back.
 */
#include "step_calls.h"

static long inner(long n)
{
	long words[3] = { n, n + 1, n + 2 };

	asm volatile("" : "+m"(words));
	return shrink_wrapped(words[1]) + words[2];
}

long elsewhere(long n)
{
	long sum = inner(n & 3);

	return sum + leaf(inner(n & 1), n);
}
