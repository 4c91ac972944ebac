// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that switch stacks by themselves.
 *
 * A coroutine's stack ends where the coroutine does, and that of whoever switched
 * to it is as it was before, after the switch back. A call on another stack is
 * followed by its table if the other stack lies below: a caller's frame lies
 * further out, never the other way. Else the unwind ends there, and says why.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "breakpoint.h"
#include "trace.h"
#include "whole.h"
#include "../../kselftest_harness.h"

FIXTURE(coroutine)
{
	struct sampler sampler;
	struct trace trace;
};

FIXTURE_SETUP(coroutine)
{
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
}

FIXTURE_TEARDOWN(coroutine)
{
	sampler_close(&self->sampler);
	trace_stop(&self->trace);
}

/* Did the only unwind since the last time end for a reason that begins like this? */
static bool ended_by(struct trace *trace, const char *reason)
{
	char message[256] = "", what[64];

	snprintf(what, sizeof(what), "reason=\"%s", reason);
	if (trace_read(trace) ||
	    trace_count(trace, "stop", NULL, message, sizeof(message)) != 1 ||
	    !strstr(message, what)) {
		printf("# not \"%s\":%s\n", reason, message);
		return false;
	}
	return !trace_clear(trace);
}

/*
 * By libc, whose first frame of a coroutine has no table that leads on
 */

#if defined(__x86_64__)
#define ENDS_BY		"no table and no frame pointer\""
#else
/* Its makecontext() clears the frame pointer; and if it has a table, that says so */
#define ENDS_BY		"end of stack"
#endif

static ucontext_t here, there;
static struct sampler *sampler;
static struct trace *trace;
static unsigned int right;

static void judge(const char *reason)
{
	right += whole_is_right(sampler) && ended_by(trace, reason);
}

static void coroutine(void)
{
	struct notes caller = whole;
	int i;

	for (i = 0; i < 3; i++) {
		whole_forget(0);
		whole_note_ra();
		whole_sample();
		judge(ENDS_BY);
		whole = caller;
		swapcontext(&there, &here);
	}
}

static void calls_coroutine(void *arg)
{
	int i;

	whole_note_ra();
	getcontext(&there);
	there.uc_stack.ss_sp = (char *)arg - WHOLE_STACK;
	there.uc_stack.ss_size = WHOLE_STACK;
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	for (i = 0; i < 3; i++) {
		swapcontext(&here, &there);
		whole_forget(1);
		whole_sample();
		judge("end of stack\"");
		whole_forget(1);
	}
}

TEST_F(coroutine, of_libc)
{
	void *stack = whole_stack();

	ASSERT_NE(NULL, stack);
	sampler = &self->sampler;
	trace = &self->trace;
	right = 0;
	whole_run(calls_coroutine, stack, NULL);
	/* Three times on either side */
	EXPECT_EQ(6, right);
}

/*
 * By hand: between stacks that do not know of each other
 */

void switch_stack(void **from, void *to);
ASM_LABEL(switch_before);
ASM_LABEL(switch_after);
ASM_LABEL(coroutine_entry);
ASM_LABEL(coroutine_end);

static void *own_stack, *other_stack;
static unsigned long switched_ra;

#if defined(__x86_64__)

asm(".pushsection .text\n"
	".type switch_stack, @function\n"
	"switch_stack:\n"
	"	.cfi_startproc\n"
	"	pushq	%rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	pushq	%rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%r12\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%r13\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%r14\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%r15\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movq	%rsp, (%rdi)\n"
	"switch_before:\n"
	"	movq	%rsi, %rsp\n"
	"switch_after:\n"
	"	popq	%r15\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%r14\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%r13\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%r12\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size switch_stack, . - switch_stack\n"
	".type coroutine_start, @function\n"
	"coroutine_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	/* The entry is returned to, and looked up as what is before it */
	"	nop\n"
	"coroutine_entry:\n"
	"	call	switched_to\n"
	"coroutine_end:\n"
	"	ud2\n"
	"	.cfi_endproc\n"
	".size coroutine_start, . - coroutine_start\n"
	".popsection\n");

#define SAVED_REGS	6

/* The call of switched_to() is to find the stack aligned */
static void *begin_stack(unsigned long *top)
{
	top -= 2;
	*--top = (unsigned long)coroutine_entry;
	return top - SAVED_REGS;
}

static __always_inline void switch_to(void **from, void *to)
{
	asm volatile("leaq 1f(%%rip), %%rax\n\t"
		     "movq %%rax, %[ra]\n\t"
		     "call switch_stack\n"
		     "1:"
		     : [ra] "=m"(switched_ra), "+D"(from), "+S"(to)
		     : : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11",
			 "memory", "cc");
}

#elif defined(__aarch64__)

asm(".pushsection .text\n"
	".type switch_stack, @function\n"
	"switch_stack:\n"
	"	.cfi_startproc\n"
	"	sub	sp, sp, #96\n"
	"	.cfi_def_cfa_offset 96\n"
	"	stp	x29, x30, [sp]\n"
	"	.cfi_offset 29, -96\n"
	"	.cfi_offset 30, -88\n"
	"	stp	x19, x20, [sp, #16]\n"
	"	stp	x21, x22, [sp, #32]\n"
	"	stp	x23, x24, [sp, #48]\n"
	"	stp	x25, x26, [sp, #64]\n"
	"	stp	x27, x28, [sp, #80]\n"
	"	mov	x9, sp\n"
	"	str	x9, [x0]\n"
	"switch_before:\n"
	"	mov	sp, x1\n"
	"switch_after:\n"
	"	ldp	x27, x28, [sp, #80]\n"
	"	ldp	x25, x26, [sp, #64]\n"
	"	ldp	x23, x24, [sp, #48]\n"
	"	ldp	x21, x22, [sp, #32]\n"
	"	ldp	x19, x20, [sp, #16]\n"
	"	ldp	x29, x30, [sp]\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	add	sp, sp, #96\n"
	"	.cfi_def_cfa_offset 0\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size switch_stack, . - switch_stack\n"
	".type coroutine_start, @function\n"
	"coroutine_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined x30\n"
	/* The entry is returned to, and looked up as what is before it */
	"	nop\n"
	"coroutine_entry:\n"
	"	bl	switched_to\n"
	"coroutine_end:\n"
	"	brk	#0\n"
	"	.cfi_endproc\n"
	".size coroutine_start, . - coroutine_start\n"
	".popsection\n");

/* What switch_stack() saves, in its order: x29, x30, others */
#define SAVED_REGS	12

static void *begin_stack(unsigned long *top)
{
	top -= SAVED_REGS;
	top[1] = (unsigned long)coroutine_entry;
	return top;
}

static __always_inline void switch_to(void **from, void *to)
{
	register void **x0 asm("x0") = from;
	register void *x1 asm("x1") = to;

	asm volatile("adr	x9, 1f\n\t"
		     "str	x9, %[ra]\n\t"
		     "bl	switch_stack\n"
		     "1:"
		     : [ra] "=m"(switched_ra), "+r"(x0), "+r"(x1)
		     : : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",
			 "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18",
			 "x30", "memory", "cc");
}

#endif

void switched_to(void)
{
	for (;;) {
		struct notes caller = whole;

		whole_forget(0);
		whole_note_ra();
		whole_sample();
		if (sampler)
			judge("end of stack\"");
		whole = caller;
		switch_to(&other_stack, own_stack);
	}
}

static void *fresh_stack(void)
{
	unsigned long *top = whole_stack();

	return top ? begin_stack(top) : NULL;
}

static void switches(void *arg)
{
	int i;

	whole_note_ra();
	for (i = 0; i < 3; i++) {
		switch_to(&own_stack, other_stack);
		whole_sample();
		if (sampler)
			judge("end of stack\"");
		whole_forget(1);
	}
}

TEST_F(coroutine, by_hand)
{
	other_stack = fresh_stack();
	ASSERT_NE(NULL, other_stack);
	sampler = &self->sampler;
	trace = &self->trace;
	right = 0;
	whole_run(switches, NULL, NULL);
	EXPECT_EQ(6, right);
}

static void run_switches(void)
{
	other_stack = fresh_stack();
	whole_run(switches, NULL, NULL);
}

/* One instruction before the stack pointer is changed, and one after */
TEST_F(coroutine, in_the_middle_of_a_switch)
{
	struct stack stack, before = {}, after = {};

	if (!breakpoints_work())
		SKIP(return, "no hardware breakpoints");
	/* Or its stacks would be in the buffer as well */
	ASSERT_EQ(0, event_disable(self->sampler.fd));
	sampler = NULL;
	ASSERT_EQ(0, sample_at((unsigned long)switch_before, run_switches,
			       &stack));
	/* The last switch was the other way, from the coroutine */
	before.ip[0] = (unsigned long)switch_before;
	before.ip[1] = stack.nr > 1 ? stack.ip[1] : 0;
	before.ip[2] = (unsigned long)whole_end;
	before.nr = 3;
	EXPECT_TRUE(stack_is(&stack, &before));
	EXPECT_LE((unsigned long)switches, before.ip[1]);

	ASSERT_EQ(0, sample_at((unsigned long)switch_after, run_switches,
			       &stack));
	after.ip[after.nr++] = (unsigned long)switch_after;
	after.ip[after.nr++] = (unsigned long)coroutine_entry;
	EXPECT_TRUE(stack_is(&stack, &after));
}

/*
 * A call on another stack, as of a runtime that lets stacks grow in pieces
 */

void call_on(void (*fn)(void *arg), void *arg, void *stack);
ASM_LABEL(call_on_ra);

#if defined(__x86_64__)

asm(".pushsection .text\n"
	".type call_on, @function\n"
	"call_on:\n"
	"	.cfi_startproc\n"
	/* Notes its return address in @whole */
	"	movq	(%rsp), %rax\n"
	"	leaq	whole(%rip), %r8\n"
	"	movq	(%r8), %rcx\n"
	"	movq	%rax, 8(%r8, %rcx, 8)\n"
	"	incq	(%r8)\n"
	"	pushq	%rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	movq	%rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	movq	%rdi, %rax\n"
	"	movq	%rsi, %rdi\n"
	"	movq	%rdx, %rsp\n"
	"	call	*%rax\n"
	"call_on_ra:\n"
	"	leave\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_on, . - call_on\n"
	".popsection\n");

#elif defined(__aarch64__)

asm(".pushsection .text\n"
	".type call_on, @function\n"
	"call_on:\n"
	"	.cfi_startproc\n"
	/* Notes its return address in @whole */
	"	adrp	x9, whole\n"
	"	add	x9, x9, :lo12:whole\n"
	"	ldr	x10, [x9]\n"
	"	add	x11, x9, x10, lsl #3\n"
	"	str	x30, [x11, #8]\n"
	"	add	x10, x10, #1\n"
	"	str	x10, [x9]\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 29, -16\n"
	"	.cfi_offset 30, -8\n"
	"	mov	x29, sp\n"
	"	.cfi_def_cfa_register x29\n"
	"	mov	x9, x0\n"
	"	mov	x0, x1\n"
	"	mov	sp, x2\n"
	"	blr	x9\n"
	"call_on_ra:\n"
	"	mov	sp, x29\n"
	"	.cfi_def_cfa_register sp\n"
	"	ldp	x29, x30, [sp], #16\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	.cfi_def_cfa_offset 0\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_on, . - call_on\n"
	".popsection\n");

#endif

static void innermost(void *arg)
{
	whole_note_ra();
	whole_sample();
}

static void calls_on(void *arg)
{
	whole_note_ra();
	call_on(innermost, NULL, arg);
}

/* Two stacks, one above the other: their ends */
static bool two_stacks(void **low, void **high)
{
	char *stacks = mmap(NULL, 2 * WHOLE_STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*low = stacks + WHOLE_STACK;
	*high = stacks + 2 * WHOLE_STACK;
	return stacks != MAP_FAILED;
}

TEST_F(coroutine, called_on_a_stack_below)
{
	void *low, *high;

	ASSERT_TRUE(two_stacks(&low, &high));
	whole_run(calls_on, low, high);
	EXPECT_EQ(4, whole.nr);
	EXPECT_TRUE(whole_is_right(&self->sampler));
	EXPECT_TRUE(ended_by(&self->trace, "end of stack\""));
}

TEST_F(coroutine, called_on_a_stack_above)
{
	void *low, *high;

	ASSERT_TRUE(two_stacks(&low, &high));
	whole_run(calls_on, high, low);
	ASSERT_EQ(4, whole.nr);
	/* The system call, and who called that function: there it changes stacks */
	EXPECT_EQ((unsigned long)call_on_ra, whole.ra[2]);
	memmove(whole.ra, whole.ra + 2, 2 * sizeof(*whole.ra));
	whole_forget(2);
	EXPECT_TRUE(whole_is_right(&self->sampler));
	EXPECT_TRUE(ended_by(&self->trace, "bad frame\""));
}

FIXTURE(libc)
{
};

FIXTURE_SETUP(libc)
{
}

FIXTURE_TEARDOWN(libc)
{
}

TEST_F_TIMEOUT(libc, that_has_tables, 150)
{
	int status = whole_with_tables();

	if (status < 0)
		SKIP(return, "no such libc, or this is run with it");
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
