// SPDX-License-Identifier: GPL-2.0
/*
 * Three functions that call each other, for runs (see run.h).
 *
 * The file is built several times, with FRAME bytes of locals: libraries that differ only
 * in the size of their frames. Mapped at the same address, their code lies at the same
 * addresses, and so do their tables, of the same size. Each table is wrong for the
 * others' frames.
 *
 * The libraries need no relocation and no other library, so a test can map them itself.
 */
#include <linux/compiler.h>

#include "bounds.h"
#include "run.h"

#ifndef FRAME
#error "FRAME must be the number of bytes of locals"
#endif

/* Computed, because a constant in memory would need a relocation */
static __always_inline unsigned long value(const char *symbol)
{
	asm("" : "+r"(symbol));
	return (unsigned long)symbol;
}

/* A separate section, so that the linker defines the function's end */
#define FUNCTION(scope, name, call)					\
SECTION_BOUNDS(text_##name);						\
scope void __section("text_" #name) name(struct run *run)		\
{									\
	unsigned long locals[FRAME / sizeof(long)];			\
	struct truth_func *func = &run->func[run->nr++];		\
	unsigned long i, nr = FRAME / sizeof(long);			\
									\
	/* Not unrolled, so that the code is the same */		\
	asm volatile("" : "+r"(nr));					\
	for (i = 0; i < nr; i++)					\
		locals[i] = RUN_DECOY;					\
	asm volatile("" : : "r"(locals) : "memory");			\
	func->start = value(__start_text_##name);			\
	func->end = value(__stop_text_##name);				\
	func->ra = (unsigned long)__builtin_return_address(0);		\
	call;								\
	asm volatile("" : : "r"(locals) : "memory");			\
}

FUNCTION(__hidden, innermost, run->leaf(run))
FUNCTION(__hidden, middle, innermost(run))
FUNCTION(, twin, middle(run))
