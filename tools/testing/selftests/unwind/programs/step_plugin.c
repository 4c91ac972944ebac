// SPDX-License-Identifier: GPL-2.0
/*
 * The library that "dl" loads: it calls back through its PLT, which is bound lazily.
 */
#include <stdio.h>
#include <stdlib.h>

extern long from_program(long n);

static char buffer[64];

__attribute__((constructor)) static void loaded(void)
{
	snprintf(buffer, sizeof(buffer), "loaded");
}

__attribute__((destructor)) static void unloaded(void)
{
	buffer[0] = 0;
}

long plugin(long n)
{
	/* Used both as a call and as a pointer: then the linker makes .plt.got */
	long (*by_pointer)(long n) = from_program;
	long sum;

	asm volatile("" : "+r"(by_pointer));
	sum = from_program(n) + by_pointer(n);
	snprintf(buffer, sizeof(buffer), "%ld", sum);
	return sum + atol(buffer);
}
