/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the parts of the program "calls" share, see calls.c.
 */
#ifndef SELFTEST_UNWIND_STEPS_CALLS_H
#define SELFTEST_UNWIND_STEPS_CALLS_H

/* How often it recurses */
#ifndef DEPTH
#define DEPTH	5
#endif

long leaf(long a, long b);
long shrink_wrapped(long n);

/* From the file that may be compiled in another way */
long elsewhere(long n);

/* Written by hand: see step_calls_asm.S */
long asm_pushes(long n);
long asm_frame(long n);
long asm_elsewhere(long n);
long asm_two_ends(long n);
long asm_without(long n);
long asm_without_but_fp(long n);

#endif /* SELFTEST_UNWIND_STEPS_CALLS_H */
