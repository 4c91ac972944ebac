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
#include "../kselftest_harness.h"

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

/* Did the only unwind since the last time end for this reason? */
static bool ended_by(struct trace *trace, const char *reason)
{
	char message[256] = "", what[64];

	snprintf(what, sizeof(what), "reason=\"%s\"", reason);
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
		judge("no table and no frame pointer");
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
		judge("end of stack");
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

static void *own_stack, *other_stack;
static unsigned long switched_ra;

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

void switched_to(void)
{
	for (;;) {
		struct notes caller = whole;

		whole_forget(0);
		whole_note_ra();
		whole_sample();
		if (sampler)
			judge("end of stack");
		whole = caller;
		switch_to(&other_stack, own_stack);
	}
}

static void *fresh_stack(void)
{
	unsigned long *top = whole_stack();

	if (!top)
		return NULL;
	/* The call of switched_to() is to find the stack aligned */
	top -= 2;
	*--top = (unsigned long)coroutine_entry;
	return top - SAVED_REGS;
}

static void switches(void *arg)
{
	int i;

	whole_note_ra();
	for (i = 0; i < 3; i++) {
		switch_to(&own_stack, other_stack);
		whole_sample();
		if (sampler)
			judge("end of stack");
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
	EXPECT_TRUE(ended_by(&self->trace, "end of stack"));
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
	EXPECT_TRUE(ended_by(&self->trace, "bad frame"));
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
