// SPDX-License-Identifier: GPL-2.0
/*
 * Three functions that call each other, for runs (see run.h).
 *
 * Built several times, with FRAME bytes of locals: libraries that differ in
 * nothing but the size of their frames.  Mapped at the same address their code
 * lies at the same addresses, and so do their tables, of the same size; each is
 * wrong for the others' frames.
 *
 * They need no relocation and no library, so that a test may map them itself.
 */
#include <linux/compiler.h>

#include "bounds.h"
#include "run.h"

#ifndef FRAME
#error "FRAME must be the number of bytes of locals"
#endif

/* Computed, and not a constant in memory that would have to be relocated */
static __always_inline unsigned long value(const char *symbol)
{
	asm("" : "+r"(symbol));
	return (unsigned long)symbol;
}

/* A section of its own, so that the linker says where the function ends */
#define FUNCTION(scope, name, call)					\
SECTION_BOUNDS(text_##name);						\
scope void __section("text_" #name) name(struct run *run)		\
{									\
	unsigned long locals[FRAME / sizeof(long)];			\
	struct truth_func *func = &run->func[run->nr++];		\
	unsigned long i, nr = FRAME / sizeof(long);			\
									\
	/* Not to be unrolled, or the code would differ */		\
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
