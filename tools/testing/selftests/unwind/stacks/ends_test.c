// SPDX-License-Identifier: GPL-2.0
/*
 * Where stacks end, and which stop reason the kernel reports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "breakpoint.h"
#include "image.h"
#include "immediate_counts.h"
#include "trace.h"
#include "whole.h"
#include "../../kselftest_harness.h"

/*
 * Stop reasons: code made for each reason provokes it once. The tracepoint reports the
 * reason, the last frame, its file and the offset there; the reason's count rises.
 */

#define COUNTS		"/sys/kernel/debug/unwind/stops"

/* More frames than a record has room for, and no more than fit on a stack */
#define TOO_DEEP	2000

/* Count of a reason, or -1 */
static long count_of(const char *reason)
{
	FILE *counts = fopen(COUNTS, "r");
	char line[128], name[128];
	long count, found = -1;

	while (counts && fgets(line, sizeof(line), counts))
		if (sscanf(line, "%ld %127[^\n]", &count, name) == 2 &&
		    !strcmp(name, reason))
			found = count;
	if (counts)
		fclose(counts);
	return found;
}

/* All counts together, or -1 */
static long sum_of_counts(void)
{
	FILE *counts = fopen(COUNTS, "r");
	char line[128];
	long sum = counts ? 0 : -1;

	while (counts && fgets(line, sizeof(line), counts))
		sum += strtol(line, NULL, 10);
	if (counts)
		fclose(counts);
	return sum;
}

/* "file+0xoffset" of an address, as the tracepoint prints it */
static void name_of(unsigned long ip, char *name, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	char line[512], path[256], *file;

	*name = 0;
	while (maps && fgets(line, sizeof(line), maps)) {
		path[0] = 0;
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &start, &end,
			   &offset, path) < 3 || ip < start || ip >= end)
			continue;
		file = strrchr(path, '/');
		snprintf(name, size, "%s+%#lx", file ? file + 1 : "[anon]",
			 ip - start + offset);
	}
	if (maps)
		fclose(maps);
}

FIXTURE(stop_reason)
{
	struct sampler sampler;
	struct trace trace;
	char why[64];
	long count;
};

FIXTURE_SETUP(stop_reason)
{
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
	if (access(COUNTS, R_OK))
		SKIP(return, "no debugfs");
}

FIXTURE_TEARDOWN(stop_reason)
{
	sampler_close(&self->sampler);
	trace_stop(&self->trace);
}

/*
 * Run @fn, whose system call is sampled. Does the stack stop for this reason, with
 * @nr_frames frames, the last at @at?
 */
#define expect_end(reason, nr_frames, at, fn, arg, stack)			\
do {									\
	const char *why = (reason);					\
	char message[512] = "", name[300], what[400];			\
	unsigned long _ip;						\
	long before = count_of(why);					\
									\
	ASSERT_LE(0, before);						\
	whole_run(fn, arg, stack);					\
	_ip = (unsigned long)(at);					\
	name_of(_ip, name, sizeof(name));				\
	ASSERT_EQ(0, trace_read(&self->trace));				\
	ASSERT_EQ(1, trace_count(&self->trace, "stop", NULL, message,	\
				 sizeof(message)));			\
	snprintf(what, sizeof(what), "reason='%s' object=%s\n", why,	\
		 name);							\
	strcat(message, "\n");						\
	EXPECT_NE(NULL, strstr(message, what))				\
		TH_LOG("%s not in%s", what, message);			\
	EXPECT_EQ(_ip, trace_field(message, "ip"));			\
	EXPECT_EQ(nr_frames, trace_field(message, "nr"));		\
	EXPECT_LE(before + 1, count_of(why));				\
} while (0)

/*
 * Explicit ends
 */

/* Not static, because assembly below calls it, too */
void samples(void *arg)
{
	whole_note_ra();
	whole_sample();
}

TEST_F(stop_reason, end_of_stack)
{
	expect_end("end of stack", 2, whole_end, samples, NULL, NULL);
	EXPECT_TRUE(whole_is_right(&self->sampler));
}

/* Others are sampled, too, so the sum need not be 0 */
TEST_F(stop_reason, counts_are_reset_by_a_write)
{
	int i;

	for (i = 0; i < 100; i++)
		whole_run(samples, NULL, NULL);
	ASSERT_LE(100, sum_of_counts());
	ASSERT_EQ(0, write_text(COUNTS, "0"));
	EXPECT_GT(100, sum_of_counts());
}

/*
 * No table: a function with a frame pointer of the test's choice
 */

void without_table(void *fp);
ASM_LABEL(without_table_at);
/* All of its code, which can be copied */
ASM_LABEL(without_table_start);
ASM_LABEL(without_table_end);

#if defined(__x86_64__)

/* The instructions up to a call do not show where the return address is */
#define CALL_NOTHING	"	call	nothing\n"

asm(".pushsection .text\n"
	"without_table_start:\n"
	"nothing:\n"
	"	ret\n"
	"without_table:\n"
	"	pushq	%rbp\n"
	"	movq	%rdi, %rbp\n"
	"	movl	$110, %eax\n"
	"	syscall\n"
	"without_table_at:\n"
	/* These instructions show a frame record, but getppid() has no error */
	"	testl	%eax, %eax\n"
	"	js	1f\n"
	CALL_NOTHING
	"	popq	%rbp\n"
	"	ret\n"
	"1:	leave\n"
	"	ret\n"
	"	nop\n"
	"without_table_end:\n"
	".popsection\n");

#elif defined(__aarch64__)

asm(".pushsection .text\n"
	"without_table_start:\n"
	"without_table:\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	"	mov	x29, x0\n"
	"	mov	x8, #173\n"
	"	svc	#0\n"
	"without_table_at:\n"
	/* These instructions show a frame record, but getppid() has no error */
	"	cbnz	x0, 1f\n"
	"	mov	sp, x29\n"
	"1:	ldp	x29, x30, [sp], #16\n"
	"	ret\n"
	"	nop\n"
	"without_table_end:\n"
	".popsection\n");

#endif

TEST_F(stop_reason, end_of_stack_by_frame_pointer)
{
	expect_end("end of stack by frame pointer", 1, without_table_at,
		   without_table, NULL, NULL);
}

TEST_F(stop_reason, no_table_and_no_frame_pointer)
{
	expect_end("no table and no frame pointer", 1, without_table_at,
		   without_table, (void *)1, NULL);
}

/*
 * The table of a file that is open for writing may come later.  Until then the frame pointer
 * may lead from there past any number of callers, so it does not say that the stack is whole.
 */
TEST_F(stop_reason, table_not_loaded_yet_of_a_frame_further_in)
{
	const size_t size = without_table_end - without_table_start;
	unsigned long *stack = whole_stack();
	char *at, name[] = "/tmp/unwind.XXXXXX";
	int fd = mkstemp(name);

	ASSERT_NE(NULL, stack);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, unlink(name));
	ASSERT_EQ((ssize_t)size, write(fd, without_table_start, size));
	at = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, at);
	stack[-1] = (unsigned long)without_table_at;
	stack[-2] = 0;
	expect_end("table not loaded yet", 2, without_table_at,
		   (void *)(at + ((char *)without_table - without_table_start)), stack - 2,
		   stack - 2);
	munmap(at, size);
	close(fd);
}

#if defined(__x86_64__)

void without_rule(void *arg);
ASM_LABEL(without_rule_at);

asm(".pushsection .text\n"
	"without_rule:\n"
	"	movl	$110, %eax\n"
	"	syscall\n"
	"without_rule_at:\n"
	CALL_NOTHING
	"	ret\n"
	"	nop\n"
	".popsection\n");

#elif defined(__aarch64__)

void without_rule(void *arg);
ASM_LABEL(without_rule_at);

asm(".pushsection .text\n"
	"without_rule:\n"
	"	mov	x9, x30\n"
	"	mov	x8, #173\n"
	"	svc	#0\n"
	"without_rule_at:\n"
	"	ret	x9\n"
	"	nop\n"
	".popsection\n");

#endif

/* The frame pointer would skip the caller */
TEST_F(stop_reason, interrupted_without_a_rule)
{
	expect_end("interrupted without a rule", 1, without_rule_at, without_rule, NULL, NULL);
}

/* A frame record that leads to data is not accepted either */
TEST_F(stop_reason, no_frame_record)
{
	unsigned long *stack = whole_stack();

	ASSERT_NE(NULL, stack);
	stack[-1] = (unsigned long)stack;
	stack[-2] = (unsigned long)stack;
	expect_end("no table and no frame pointer", 1, without_table_at,
		   without_table, stack - 2, stack - 2);
}

TEST_F(stop_reason, unreadable_memory_is_told)
{
	char *stack = mmap(NULL, 2 * WHOLE_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, stack);
	stack += WHOLE_STACK;
	ASSERT_EQ(0, mprotect(stack, WHOLE_STACK, PROT_NONE));
	expect_end("unreadable memory", 1, without_table_at, without_table,
		   stack, stack);
}

/* Tables that contradict the code */

ASM_LABEL(bad_frame_at);
ASM_LABEL(not_text_at);

#if defined(__x86_64__)

ASM_LABEL(needs_register_at);

ASM_FUNCTION(bad_frame,
	     "	pushq	%rbp\n"
	     "	.cfi_adjust_cfa_offset 8\n"
	     "	movq	%rdi, %rbp\n"
	     "	.cfi_def_cfa %rbp, 16\n"
	     "	movl	$110, %eax\n"
	     "	syscall\n"
	     "bad_frame_at:\n"
	     CALL_NOTHING
	     "	popq	%rbp\n"
	     "	.cfi_def_cfa %rsp, 8\n");
/* The pushed word stands where the table has the return address */
ASM_FUNCTION(not_text,
	     "	pushq	%rdi\n"
	     "	movl	$110, %eax\n"
	     "	syscall\n"
	     "not_text_at:\n"
	     CALL_NOTHING
	     "	popq	%rdi\n");
/* The table locates the frame by a register that the callee does not preserve */
ASM_FUNCTION(needs_register,
	     "	leaq	8(%rsp), %r10\n"
	     "	.cfi_def_cfa %r10, 0\n"
	     "	pushq	%r10\n"
	     "	call	samples\n"
	     "needs_register_at:\n"
	     "	popq	%r10\n"
	     "	.cfi_def_cfa %rsp, 8\n");

TEST_F(stop_reason, register_not_known)
{
	expect_end("register not known", 2, needs_register_at, needs_register,
		   NULL, NULL);
	EXPECT_EQ((unsigned long)needs_register_at, whole.ra[0]);
	EXPECT_TRUE(whole_is_right(&self->sampler));
}

#elif defined(__aarch64__)

ASM_FUNCTION(bad_frame,
	     "	stp	x29, x30, [sp, #-16]!\n"
	     "	.cfi_def_cfa_offset 16\n"
	     "	.cfi_offset 29, -16\n"
	     "	.cfi_offset 30, -8\n"
	     "	mov	x29, x0\n"
	     "	.cfi_def_cfa x29, 16\n"
	     "	mov	x8, #173\n"
	     "	svc	#0\n"
	     "bad_frame_at:\n"
	     /* The instructions up to a call do not show where the return address is */
	     "	cbnz	x0, 1f\n"
	     "	bl	bad_frame\n"
	     "1:	ldp	x29, x30, [sp], #16\n"
	     "	.cfi_restore 29\n"
	     "	.cfi_restore 30\n"
	     "	.cfi_def_cfa sp, 0\n");
/*
 * The pushed word stands where the table has the return address. The real one is
 * elsewhere, and the instructions do not show that the register still has it.
 */
ASM_FUNCTION(not_text,
	     "	stp	x29, x0, [sp, #-32]!\n"
	     "	.cfi_def_cfa_offset 32\n"
	     "	.cfi_offset 29, -32\n"
	     "	.cfi_offset 30, -24\n"
	     "	str	x30, [sp, #16]\n"
	     "	mov	x8, #173\n"
	     "	svc	#0\n"
	     "not_text_at:\n"
	     "	ldr	x30, [sp, #16]\n"
	     "	add	sp, sp, #32\n"
	     "	.cfi_restore 29\n"
	     "	.cfi_restore 30\n"
	     "	.cfi_def_cfa sp, 0\n");

#endif

TEST_F(stop_reason, bad_frame_is_told)
{
	/* Not aligned */
	expect_end("bad frame", 1, bad_frame_at, bad_frame, (void *)9, NULL);
}

TEST_F(stop_reason, return_address_not_in_text)
{
	static char data[64] = "no text";

	expect_end("return address not in text", 1, not_text_at, not_text,
		   data, NULL);
}

static struct notes in_chain;

static void run_chain(void *entry)
{
	in_chain = (struct notes){ .next = { sampled_call } };
	((chain_fn)entry)(&in_chain);
	asm volatile("");
}

TEST_F(stop_reason, bad_table_is_told)
{
	struct sframe_fde *fde;
	struct image image;
	unsigned int i;
	struct elf elf;
	int fd;

	ASSERT_EQ(0, elf_read(&elf, "chain_table.so"));
	for (i = 0; (fde = elf_fde(&elf, i)); i++)
		fde->fre_off = UINT32_MAX;
	ASSERT_LE(CHAIN_FRAMES, i);
	fd = elf_memfd(&elf);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, image_map(&image, &elf, fd, NULL));
	close(fd);
	elf_free(&elf);
	/* The return addresses of sampled_call(), and of its caller in the chain */
	expect_end("bad table", 2, in_chain.ra[CHAIN_FRAMES], run_chain,
		   image.entry, NULL);
}

/*
 * Too many frames
 */

static unsigned long deep_ra;

static void deep(void *arg)
{
	unsigned long *left = arg;

	if (--*left) {
		deep(arg);
	} else {
		deep_ra = (unsigned long)__builtin_return_address(0);
		whole_sample();
	}
	asm volatile("" : : : "memory");
}

TEST_F(stop_reason, full_buffer_is_told)
{
	unsigned long left = TOO_DEEP, nr;
	char message[512];

	whole_run(deep, &left, NULL);
	ASSERT_EQ(0, trace_read(&self->trace));
	ASSERT_EQ(1, trace_count(&self->trace, "stop", "reason='limit'",
				 message, sizeof(message)));
	/* All frames are the same call */
	nr = trace_field(message, "nr");
	EXPECT_EQ(deep_ra, trace_field(message, "ip"));
	EXPECT_LE(127, nr);
	EXPECT_GT(TOO_DEEP, nr);
	ASSERT_EQ(0, trace_clear(&self->trace));
	left = TOO_DEEP;
	expect_end("limit", nr, deep_ra, deep, &left, NULL);
	/* With one frame less, the stack is whole: the call, the rest, and whole_end */
	ASSERT_EQ(0, trace_clear(&self->trace));
	left = nr - 1;
	expect_end("end of stack", nr, whole_end, deep, &left, NULL);
}

/*
 * Programs that switch stacks by themselves.
 *
 * A coroutine's stack stops where the coroutine does. After the switch back, the stack
 * that switched to it is as before. The unwinder follows a call onto another stack by the
 * caller's table, wherever that stack lies. Without a table the stack ends there, with a
 * reason.
 */

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

/* Did the only unwind since the last check stop for a reason with this prefix? */
static bool ended_by(struct trace *trace, const char *reason)
{
	char message[256] = "", what[64];

	snprintf(what, sizeof(what), "reason='%s", reason);
	if (trace_read(trace) ||
	    trace_count(trace, "stop", NULL, message, sizeof(message)) != 1 ||
	    !strstr(message, what)) {
		printf("# not \"%s\":%s\n", reason, message);
		return false;
	}
	return !trace_clear(trace);
}

/* By libc: the first frame of its coroutines has no table that continues the stack */

#if defined(__x86_64__)
#define ENDS_BY		"not called'"
#else
/* libc's makecontext() clears the frame pointer; its table, if any, says so */
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
		judge("end of stack'");
		whole_forget(1);
	}
}

TEST_F(coroutine, by_libc_has_its_own_stack)
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

/* By hand: between stacks that are independent of each other */

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
	/* A return goes to the entry, and the unwinder looks up the byte before it */
	"	nop\n"
	"coroutine_entry:\n"
	"	call	switched_to\n"
	"coroutine_end:\n"
	"	ud2\n"
	"	.cfi_endproc\n"
	".size coroutine_start, . - coroutine_start\n"
	".popsection\n");

#define SAVED_REGS	6

/* switched_to() must be called with an aligned stack */
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
	/* A return goes to the entry, and the unwinder looks up the byte before it */
	"	nop\n"
	"coroutine_entry:\n"
	"	bl	switched_to\n"
	"coroutine_end:\n"
	"	brk	#0\n"
	"	.cfi_endproc\n"
	".size coroutine_start, . - coroutine_start\n"
	".popsection\n");

/* The registers that switch_stack() saves, in its order: x29, x30, others */
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
			judge("end of stack'");
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
			judge("end of stack'");
		whole_forget(1);
	}
}

TEST_F(coroutine, by_hand_has_its_own_stack)
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

#if defined(__x86_64__)

/*
 * Coroutine libraries give the first function a conspicuous return address, and leave it the
 * frame pointer of the function that started the coroutine.
 */
static void first_function(void)
{
	struct notes caller = whole;

	whole_forget(0);
	whole_sample();
	judge("return address not in text'");
	whole = caller;
	switch_to(&other_stack, own_stack);
}

static void *begin_at_made_up(unsigned long *top, unsigned long ra)
{
	unsigned long *record = (unsigned long *)whole_stack() - 2;

	record[1] = (unsigned long)coroutine_end;
	*--top = ra;
	*--top = (unsigned long)first_function;
	top[-1] = (unsigned long)record;
	return top - SAVED_REGS;
}

static void runs_first_function(void *arg)
{
	whole_note_ra();
	switch_to(&own_stack, other_stack);
}

TEST_F(coroutine, whose_first_return_address_is_made_up_ends_there)
{
	static const unsigned long made_up[] = { 0xdeaddeaddeaddead, -1UL, 0x123456789 };
	unsigned int i;

	sampler = &self->sampler;
	trace = &self->trace;
	right = 0;
	for (i = 0; i < ARRAY_SIZE(made_up); i++) {
		other_stack = begin_at_made_up(whole_stack(), made_up[i]);
		whole_run(runs_first_function, NULL, NULL);
	}
	EXPECT_EQ(ARRAY_SIZE(made_up), right);
}

/* The stack pointer is not aligned; frames are at the usual distances from it */
ASM_LABEL(unaligned_sample_at);
ASM_LABEL(unaligned_ra);
ASM_FUNCTION(unaligned_sample,
	     "	movl	$110, %eax\n"	/* getppid() */
	     "	syscall\n"
	     "unaligned_sample_at:\n");
ASM_FUNCTION(unaligned,
	     "	pushq	%rbp\n"
	     "	.cfi_adjust_cfa_offset 8\n"
	     "	.cfi_rel_offset %rbp, 0\n"
	     "	movq	%rsp, %rbp\n"
	     "	.cfi_def_cfa_register %rbp\n"
	     "	subq	$20, %rsp\n"
	     "	call	unaligned_sample\n"
	     "unaligned_ra:\n"
	     "	leave\n"
	     "	.cfi_def_cfa %rsp, 8\n"
	     "	.cfi_restore %rbp\n");

TEST(stack_between_words_is_whole)
{
	struct sampler sampler;

	if (sampler_open(&sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	whole_forget(0);
	whole_note((unsigned long)whole_end);
	whole_note((unsigned long)unaligned_ra);
	whole_note((unsigned long)unaligned_sample_at);
	whole_call(unaligned, NULL, NULL);
	EXPECT_TRUE(whole_is_right(&sampler));
}

#endif

/* One instruction before the stack pointer changes, and one after */
TEST_F(coroutine, in_the_middle_of_a_switch_has_one_of_the_stacks)
{
	struct stack stack, before = {}, after = {};

	if (!breakpoints_work())
		SKIP(return, "no hardware breakpoints");
	/* Its stacks would be in the buffer as well */
	ASSERT_EQ(0, event_disable(self->sampler.fd));
	sampler = NULL;
	ASSERT_EQ(0, sample_at((unsigned long)switch_before, run_switches,
			       &stack));
	/* The last switch was from the coroutine back */
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

/* A call on another stack, as in a runtime with segmented stacks */

typedef void call_on_fn(void (*fn)(void *arg), void *arg, void *stack);

call_on_fn call_on, call_on_no_table;

/* They note their return address in @whole.  CFI() is defined below, with CFI and without. */
#if defined(__x86_64__)

#define ASM_CALL_ON(name)						\
asm(".pushsection .text\n"						\
	".type " #name ", @function\n"					\
	#name ":\n"							\
	CFI("startproc")						\
	"	movq	(%rsp), %rax\n"					\
	"	leaq	whole(%rip), %r8\n"				\
	"	movq	(%r8), %rcx\n"					\
	"	movq	%rax, 8(%r8, %rcx, 8)\n"			\
	"	incq	(%r8)\n"					\
	"	pushq	%rbp\n"						\
	CFI("def_cfa_offset 16")					\
	CFI("offset %rbp, -16")						\
	"	movq	%rsp, %rbp\n"					\
	CFI("def_cfa_register %rbp")					\
	"	movq	%rdi, %rax\n"					\
	"	movq	%rsi, %rdi\n"					\
	"	movq	%rdx, %rsp\n"					\
	"	call	*%rax\n"					\
	"	leave\n"						\
	CFI("def_cfa %rsp, 8")						\
	CFI("restore %rbp")						\
	"	ret\n"							\
	CFI("endproc")							\
	".size " #name ", . - " #name "\n"				\
	".popsection\n")

#elif defined(__aarch64__)

#define ASM_CALL_ON(name)						\
asm(".pushsection .text\n"						\
	".type " #name ", @function\n"					\
	#name ":\n"							\
	CFI("startproc")						\
	"	adrp	x9, whole\n"					\
	"	add	x9, x9, :lo12:whole\n"				\
	"	ldr	x10, [x9]\n"					\
	"	add	x11, x9, x10, lsl #3\n"				\
	"	str	x30, [x11, #8]\n"				\
	"	add	x10, x10, #1\n"					\
	"	str	x10, [x9]\n"					\
	"	stp	x29, x30, [sp, #-16]!\n"			\
	CFI("def_cfa_offset 16")					\
	CFI("offset 29, -16")						\
	CFI("offset 30, -8")						\
	"	mov	x29, sp\n"					\
	CFI("def_cfa_register x29")					\
	"	mov	x9, x0\n"					\
	"	mov	x0, x1\n"					\
	"	mov	sp, x2\n"					\
	"	blr	x9\n"						\
	"	mov	sp, x29\n"					\
	CFI("def_cfa_register sp")					\
	"	ldp	x29, x30, [sp], #16\n"				\
	CFI("restore 29")						\
	CFI("restore 30")						\
	CFI("def_cfa_offset 0")						\
	"	ret\n"							\
	CFI("endproc")							\
	".size " #name ", . - " #name "\n"				\
	".popsection\n")

#endif

#define CFI(text)	"	.cfi_" text "\n"
ASM_CALL_ON(call_on);
#undef CFI
#define CFI(text)	"	/* " text " */\n"
ASM_CALL_ON(call_on_no_table);

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

#define STACKS	3

/* Allocate stacks in one mapping, one above the other, and return their ends */
static bool alloc_stacks(void *ends[STACKS])
{
	char *stacks = mmap(NULL, STACKS * WHOLE_STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	for (i = 0; i < STACKS; i++)
		ends[i] = stacks + (i + 1) * WHOLE_STACK;
	return stacks != MAP_FAILED;
}

TEST_F(coroutine, called_on_a_stack_below_has_the_callers)
{
	void *ends[STACKS];

	ASSERT_TRUE(alloc_stacks(ends));
	whole_run(calls_on, ends[0], ends[1]);
	EXPECT_EQ(4, whole.nr);
	EXPECT_TRUE(whole_is_right(&self->sampler));
	EXPECT_TRUE(ended_by(&self->trace, "end of stack'"));
}

TEST_F(coroutine, called_on_a_stack_above_has_the_callers)
{
	void *ends[STACKS];

	ASSERT_TRUE(alloc_stacks(ends));
	whole_run(calls_on, ends[1], ends[0]);
	EXPECT_EQ(4, whole.nr);
	EXPECT_TRUE(whole_is_right(&self->sampler));
	EXPECT_TRUE(ended_by(&self->trace, "end of stack'"));
}

/* With a frame record, as all functions have in a program that keeps frame pointers */
static __attribute__((optimize("no-omit-frame-pointer"))) void calls_on_no_table(void *arg)
{
	whole_note_ra();
	call_on_no_table(innermost, NULL, arg);
}

#if defined(__x86_64__)

/*
 * Only the frame pointer says how the stack continues.  (On arm64 it does not say where the
 * caller's stack pointer was, and the callers here have no frame records.)
 */
TEST_F(coroutine, called_without_a_table_on_a_stack_above_has_the_callers)
{
	void *ends[STACKS];

	ASSERT_TRUE(alloc_stacks(ends));
	/* The highest of them becomes a mapping of its own */
	ASSERT_EQ(0, mprotect(ends[1], getpagesize(), PROT_NONE));
	whole_run(calls_on_no_table, ends[2], ends[0]);
	EXPECT_EQ(4, whole.nr);
	EXPECT_TRUE(whole_is_right(&self->sampler));
	EXPECT_TRUE(ended_by(&self->trace, "end of stack'"));
}

#endif

/* In the same mapping, a frame pointer below the stack pointer is not believed */
TEST_F(coroutine, called_without_a_table_in_the_same_mapping_ends)
{
	void *ends[STACKS];

	ASSERT_TRUE(alloc_stacks(ends));
	/* The stack pointer is at the end of the mapping in the first run, and not in the second */
	whole_run(calls_on_no_table, ends[2], ends[0]);
	EXPECT_TRUE(ended_by(&self->trace, "no table and no frame pointer'"));
	whole_run(calls_on_no_table, ends[1], ends[0]);
	EXPECT_TRUE(ended_by(&self->trace, "no table and no frame pointer'"));
}

static void calls_on_lowest(void *arg)
{
	void **ends = arg;

	whole_note_ra();
	call_on(calls_on, ends[2], ends[0]);
}

TEST_F(coroutine, called_on_stacks_below_and_above_has_the_callers)
{
	void *ends[STACKS];

	ASSERT_TRUE(alloc_stacks(ends));
	whole_run(calls_on_lowest, ends, ends[1]);
	EXPECT_EQ(6, whole.nr);
	EXPECT_TRUE(whole_is_right(&self->sampler));
}

FIXTURE(libc_with_tables)
{
};

FIXTURE_SETUP(libc_with_tables)
{
}

FIXTURE_TEARDOWN(libc_with_tables)
{
}

TEST_F_TIMEOUT(libc_with_tables, runs_these_tests_as_well, 150)
{
	int status = whole_with_tables("coroutine");

	if (status < 0)
		SKIP(return, "no libc with tables");
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
