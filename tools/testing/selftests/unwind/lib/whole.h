/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whole stacks: a call that is the outermost one of its stack.
 *
 * whole_call() calls a function so that the stack stops at whole_end, the return address
 * of that function: a table says that there is no caller. So a test knows a stack from
 * its first to its last address, and compares all of it. The build of the C library and
 * of the test harness does not matter.
 *
 * In between, only tables continue the stack: the frame pointer points below the stack,
 * to a word that holds its own address. (In some places gcc's tables read that word
 * through the register.) Programs that use this are built with tables and without frame
 * pointers.
 *
 * The functions of a test note their return addresses, outermost first, and signal
 * handlers note the interrupted addresses, in @whole.
 */
#ifndef SELFTEST_UNWIND_WHOLE_H
#define SELFTEST_UNWIND_WHOLE_H

#include <linux/compiler.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "bounds.h"
#include "call.h"
#include "sampled.h"

/* A function in assembly, with one argument; @insns are executed before its return */
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

/* The same, without a table */
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

/* The same, with a sampler and with an empty @whole */
void whole_run(void (*fn)(void *arg), void *arg, void *stack);

static __always_inline void whole_note(unsigned long ip)
{
	whole.ra[whole.nr++] = ip;
}

#define whole_note_ra()							\
	whole_note((unsigned long)__builtin_return_address(0))

/* Forget the notes after the first @nr addresses: these functions have returned */
static __always_inline void whole_forget(unsigned int nr)
{
	whole.nr = nr;
}

/* Make the only system call that is sampled, in the caller itself */
static __always_inline void whole_sample(void)
{
	unsigned long ip;

	syscall0_at(SYS_getppid, &ip);
	whole_note(ip);
}

/*
 * After a signal has interrupted a system call, the kernel moves the program back by this
 * number of bytes to repeat the call, before the stack is taken
 */
#if defined(__x86_64__)
#define TAKEN_BACK_BYTES	0
#else
#define TAKEN_BACK_BYTES	4
#endif

/* Send a signal to this thread, in the caller itself */
void whole_raise_init(void);
extern long whole_pid, whole_tid;
static __always_inline void whole_raise(int sig)
{
	unsigned long ip;

	syscall3_at(SYS_tgkill, whole_pid, whole_tid, sig, &ip);
}

/* Is it this stack, from the first to the last address? If not, print both. */
bool stack_is(const struct stack *stack, const struct stack *expected);
/* Is the only sampled stack the noted one? */
bool whole_is_right(struct sampler *sampler);

/* Allocate a separate stack; return its end, or NULL */
#define WHOLE_STACK	(256 * 1024)
void *whole_stack(void);

/*
 * Run the tests of @fixture once more, with the C library with tables in $UNWIND_LIBC or
 * /opt/sframe/lib, and print their output as a comment. Return the program's exit status,
 * or -1 without such a library.
 */
int whole_with_tables(const char *fixture);

#endif /* SELFTEST_UNWIND_WHOLE_H */
