/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whole stacks: a call that is the outermost one of its stack.
 *
 * whole_call() calls a function in such a way that the stack ends at
 * whole_end, where that function returns to: a table says that there is no
 * caller. So a test knows a stack from its first to its last address, and
 * compares all of it, however the C library and the test harness were built.
 *
 * In between, nothing but tables leads on: the frame pointer points to below
 * the stack, to a word that is its own address. (The tables of gcc have it read
 * through that register in places.) Programs that use this are built with tables
 * and without frame pointers.
 *
 * The functions of a test note their return addresses, outermost first, and
 * signal handlers what they interrupted, in @whole.
 */
#ifndef SELFTEST_UNWIND_WHOLE_H
#define SELFTEST_UNWIND_WHOLE_H

#include <linux/compiler.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "bounds.h"
#include "call.h"
#include "sampled.h"

/* A function in assembly, with one argument; what it executes before its return */
#define ASM_FUNCTION(name, insns)					\
void name(void *arg);							\
asm(".pushsection .text\n"						\
	".type " #name ", %function\n"					\
	#name ":\n"							\
	"	.cfi_startproc\n"					\
	insns								\
	"	ret\n"							\
	"	.cfi_endproc\n"						\
	".size " #name ", . - " #name "\n"				\
	".popsection\n")

/* The same, of which no table tells */
#define ASM_FUNCTION_NO_TABLE(name, insns)				\
void name(void *arg);							\
asm(".pushsection .text\n"						\
	".type " #name ", %function\n"					\
	#name ":\n"							\
	insns								\
	"	ret\n"							\
	".size " #name ", . - " #name "\n"				\
	".popsection\n")

extern struct notes whole;
ASM_LABEL(whole_end);

/* Call @fn on the stack that ends at @stack, or on the current one if NULL */
void whole_call(void (*fn)(void *arg), void *arg, void *stack);

/* The same, with a sampler and from an empty @whole */
void whole_run(void (*fn)(void *arg), void *arg, void *stack);

static __always_inline void whole_note(unsigned long ip)
{
	whole.ra[whole.nr++] = ip;
}

#define whole_note_ra()							\
	whole_note((unsigned long)__builtin_return_address(0))

/* Forget what was noted after @nr addresses: these functions have returned */
static __always_inline void whole_forget(unsigned int nr)
{
	whole.nr = nr;
}

/* The only system call that is sampled, from where it is used */
static __always_inline void whole_sample(void)
{
	unsigned long ip;

	syscall0_at(SYS_getppid, &ip);
	whole_note(ip);
}

/*
 * A system call that a signal interrupts: by how many bytes the program has been taken
 * back, to make it again, when the stack is taken
 */
#if defined(__x86_64__)
#define TAKEN_BACK_BYTES	0
#else
#define TAKEN_BACK_BYTES	4
#endif

/* Send oneself a signal, from where it is used */
void whole_raise_init(void);
extern long whole_pid, whole_tid;
static __always_inline void whole_raise(int sig)
{
	unsigned long ip;

	syscall3_at(SYS_tgkill, whole_pid, whole_tid, sig, &ip);
}

/* Is it this, from the first to the last address?  Prints both if it is not. */
bool stack_is(const struct stack *stack, const struct stack *expected);
/* Is the only stack that was sampled the one that was noted? */
bool whole_is_right(struct sampler *sampler);

/* A stack of its own: its end, or NULL */
#define WHOLE_STACK	(256 * 1024)
void *whole_stack(void);

/*
 * Run the tests of @fixture once more, with a C library that has tables, which is
 * in $UNWIND_LIBC or /opt/sframe/lib, and print their output as a comment. Return
 * the program's exit status, or -1 if there is no such library.
 */
int whole_with_tables(const char *fixture);

#endif /* SELFTEST_UNWIND_WHOLE_H */
