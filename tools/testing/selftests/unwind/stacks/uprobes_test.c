// SPDX-License-Identifier: GPL-2.0
/*
 * Uprobes and uretprobes change what the program has on its stack, and where it
 * executes. None of that is to be seen in a stack.
 *
 * A uprobe's instruction is emulated, or executed in a copy elsewhere. When the
 * stack is taken, on the way back, an emulated one has been executed already.
 *
 * A uretprobe puts the address of a trampoline in place of a return address. The
 * program sees that too; so what the stack must be is known from a run of the
 * same code without probes.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "whole.h"
#include "../../kselftest_harness.h"

#define UPROBE_TYPE	"/sys/bus/event_source/devices/uprobe/type"
#define URETPROBE	1
#define MAX_PROBES	4
#define DEPTH		5

/*
 * Probes
 */

/* An event of a probe at an address of this program; -1 without uprobes */
static int probe_attr(struct perf_event_attr *attr, unsigned long ip,
		      unsigned int config)
{
	unsigned long start, end, offset;
	char buf[256] = "";
	bool found = false;
	ssize_t len;
	FILE *maps;
	int fd;

	fd = open(UPROBE_TYPE, O_RDONLY);
	if (fd < 0)
		return -1;
	len = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (len <= 0)
		return -1;
	event_attr(attr, atoi(buf), config);

	maps = fopen("/proc/self/maps", "r");
	while (maps && !found && fgets(buf, sizeof(buf), maps))
		found = sscanf(buf, "%lx-%lx %*s %lx", &start, &end,
			       &offset) == 3 && ip >= start && ip < end;
	if (maps)
		fclose(maps);
	attr->uprobe_path = (unsigned long)"/proc/self/exe";
	attr->probe_offset = offset + (ip - start);
	return found ? 0 : -1;
}

static int probe_fd[MAX_PROBES];
static unsigned int nr_probes;

/* Probe the return of a function, nothing more; 0 or -1 */
static int probe_return(void (*fn)(void *arg))
{
	struct perf_event_attr attr;
	int fd;

	if (nr_probes == MAX_PROBES ||
	    probe_attr(&attr, (unsigned long)fn, URETPROBE))
		return -1;
	attr.disabled = 0;
	attr.sample_period = 0;
	attr.sample_type = 0;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	fd = event_open(&attr, 0, -1);
	if (fd < 0)
		return -1;
	probe_fd[nr_probes++] = fd;
	return 0;
}

/* How often the probes were hit: a probe that was not has tested nothing */
static uint64_t remove_probes(void)
{
	uint64_t count, sum = 0;

	while (nr_probes) {
		if (read(probe_fd[--nr_probes], &count, sizeof(count)) ==
		    sizeof(count))
			sum += count;
		close(probe_fd[nr_probes]);
	}
	return sum;
}

static bool uprobes_work(void)
{
	struct perf_event_attr attr;

	return !access(UPROBE_TYPE, R_OK) &&
	       !probe_attr(&attr, (unsigned long)uprobes_work, 0);
}

/*
 * The first instruction of a function
 */

#if defined(__x86_64__)

ASM_LABEL(first_push_next);
ASM_LABEL(first_sub_next);
ASM_LABEL(first_mov_next);
ASM_LABEL(first_endbr_next);
ASM_LABEL(first_nop_next);
ASM_LABEL(first_jump_next);
ASM_LABEL(first_call_next);
ASM_LABEL(first_ret_next);

ASM_FUNCTION(first_push,
	     "	pushq	%rbp\n"
	     "first_push_next:\n"
	     "	.cfi_adjust_cfa_offset 8\n"
	     "	.cfi_rel_offset %rbp, 0\n"
	     "	movq	%rsp, %rbp\n"
	     "	popq	%rbp\n"
	     "	.cfi_adjust_cfa_offset -8\n"
	     "	.cfi_restore %rbp\n");
ASM_FUNCTION(first_sub,
	     "	subq	$40, %rsp\n"
	     "first_sub_next:\n"
	     "	.cfi_adjust_cfa_offset 40\n"
	     "	addq	$40, %rsp\n"
	     "	.cfi_adjust_cfa_offset -40\n");
ASM_FUNCTION(first_mov,
	     "	movq	%rdi, %rax\n"
	     "first_mov_next:\n");
ASM_FUNCTION(first_endbr,
	     "	endbr64\n"
	     "first_endbr_next:\n");
ASM_FUNCTION(first_nop,
	     "	nopl	0(%rax)\n"
	     "first_nop_next:\n");
ASM_FUNCTION(first_jump,
	     "	jmp	1f\n"
	     "	ud2\n"
	     "first_jump_next:\n"
	     "1:\n");
ASM_FUNCTION(first_call,
	     "	call	first_nop\n"
	     "first_call_next:\n");
ASM_FUNCTION(first_ret,
	     "	testq	%rdi, %rdi\n"
	     "first_ret_next:\n"
	     "	ret\n");

#elif defined(__aarch64__)

ASM_LABEL(first_push_next);
ASM_LABEL(first_sub_next);
ASM_LABEL(first_mov_next);
ASM_LABEL(first_sign_next);
ASM_LABEL(first_pad_next);
ASM_LABEL(first_nop_next);
ASM_LABEL(first_jump_next);
ASM_LABEL(first_branch_next);
ASM_LABEL(first_record_next);

/* That the return address is in its register, the instructions tell */
ASM_FUNCTION_NO_TABLE(first_record,
		      "	stp	x29, x30, [sp, #-16]!\n"
		      "first_record_next:\n"
		      "	mov	x29, sp\n"
		      "	ldp	x29, x30, [sp], #16\n");

ASM_FUNCTION(first_push,
	     "	stp	x29, x30, [sp, #-16]!\n"
	     "first_push_next:\n"
	     "	.cfi_def_cfa_offset 16\n"
	     "	.cfi_offset x29, -16\n"
	     "	.cfi_offset x30, -8\n"
	     "	mov	x29, sp\n"
	     "	ldp	x29, x30, [sp], #16\n"
	     "	.cfi_restore x29\n"
	     "	.cfi_restore x30\n"
	     "	.cfi_def_cfa_offset 0\n");
ASM_FUNCTION(first_sub,
	     "	sub	sp, sp, #48\n"
	     "first_sub_next:\n"
	     "	.cfi_def_cfa_offset 48\n"
	     "	add	sp, sp, #48\n"
	     "	.cfi_def_cfa_offset 0\n");
ASM_FUNCTION(first_mov,
	     "	mov	x9, x0\n"
	     "first_mov_next:\n");
ASM_FUNCTION(first_sign,
	     "	paciasp\n"
	     "first_sign_next:\n"
	     "	.cfi_negate_ra_state\n"
	     "	autiasp\n"
	     "	.cfi_negate_ra_state\n");
ASM_FUNCTION(first_pad,
	     "	hint	#34\n"	/* bti c */
	     "first_pad_next:\n");
ASM_FUNCTION(first_nop,
	     "	nop\n"
	     "first_nop_next:\n");
ASM_FUNCTION(first_jump,
	     "	b	1f\n"
	     "	udf	#0\n"
	     "first_jump_next:\n"
	     "1:\n");
ASM_FUNCTION(first_branch,
	     "	cbnz	x0, 1f\n"
	     "first_branch_next:\n"
	     "1:\n");

#endif

FIXTURE(first)
{
	struct sampler sampler;
};

FIXTURE_VARIANT(first)
{
	void (*fn)(void *arg);
	const char *next;
	/* Where the function called is, which the instruction has called */
	void (*called)(void *arg);
};

FIXTURE_VARIANT_ADD(first, push) {
	.fn = first_push, .next = first_push_next,
};

FIXTURE_VARIANT_ADD(first, sub) {
	.fn = first_sub, .next = first_sub_next,
};

FIXTURE_VARIANT_ADD(first, mov) {
	.fn = first_mov, .next = first_mov_next,
};

FIXTURE_VARIANT_ADD(first, nop) {
	.fn = first_nop, .next = first_nop_next,
};

FIXTURE_VARIANT_ADD(first, jump) {
	.fn = first_jump, .next = first_jump_next,
};

#if defined(__x86_64__)

FIXTURE_VARIANT_ADD(first, endbr) {
	.fn = first_endbr, .next = first_endbr_next,
};

FIXTURE_VARIANT_ADD(first, ret) {
	.fn = first_ret, .next = first_ret_next,
};

FIXTURE_VARIANT_ADD(first, call) {
	.fn = first_call, .next = first_call_next, .called = first_nop,
};

#elif defined(__aarch64__)

FIXTURE_VARIANT_ADD(first, sign) {
	.fn = first_sign, .next = first_sign_next,
};

FIXTURE_VARIANT_ADD(first, pad) {
	.fn = first_pad, .next = first_pad_next,
};

FIXTURE_VARIANT_ADD(first, branch) {
	.fn = first_branch, .next = first_branch_next,
};

FIXTURE_VARIANT_ADD(first, record) {
	.fn = first_record, .next = first_record_next,
};

#endif

FIXTURE_SETUP(first)
{
	struct perf_event_attr attr;

	if (!uprobes_work())
		SKIP(return, "no uprobes");
	ASSERT_EQ(0, probe_attr(&attr, (unsigned long)variant->fn, 0));
	ASSERT_EQ(0, sampler_open_attr(&self->sampler, &attr, 0, NULL))
		TH_LOG("%s", strerror(errno));
}

FIXTURE_TEARDOWN(first)
{
	sampler_close(&self->sampler);
}

/* Before the instruction, or after it where it was emulated; never elsewhere */
TEST_F(first, instruction_keeps_the_caller)
{
	struct stack stack, before = {}, after = {};

	whole_run(variant->fn, NULL, NULL);
	ASSERT_EQ(0, sampler_stack(&self->sampler, &stack));
	before.ip[before.nr++] = (unsigned long)variant->fn;
	before.ip[before.nr++] = (unsigned long)whole_end;
	if (variant->called)
		after.ip[after.nr++] = (unsigned long)variant->called;
	after.ip[after.nr++] = (unsigned long)variant->next;
	after.ip[after.nr++] = (unsigned long)whole_end;
	ASSERT_LT(0, stack.nr);
	EXPECT_TRUE(stack_is(&stack, stack.ip[0] == before.ip[0] ? &before :
								  &after));
}

/* In the probe's handler, before the instruction; once the tables were found */
TEST_F(first, instruction_keeps_the_caller_in_place)
{
	const struct record *last = NULL;
	struct records recs = {};
	struct perf_event_attr attr;
	struct sampler sampler;
	size_t i, nr;

	ASSERT_EQ(0, probe_attr(&attr, (unsigned long)variant->fn, 0));
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	ASSERT_EQ(0, sampler_open_attr(&sampler, &attr, 0, NULL));
	for (i = 0; i < 3; i++)
		whole_run(variant->fn, NULL, NULL);
	ASSERT_EQ(0, event_disable(sampler.fd));
	ASSERT_EQ(0, records_read(&recs, &sampler.ring));
	nr = records_count(&recs, PERF_RECORD_SAMPLE);
	ASSERT_EQ(3, nr);
	last = records_get(&recs, PERF_RECORD_SAMPLE, nr - 1);
	ASSERT_EQ(3, last->nr);
	EXPECT_EQ(PERF_CONTEXT_USER, last->ips[0]);
	EXPECT_EQ((unsigned long)variant->fn, last->ips[1]);
	EXPECT_EQ((unsigned long)whole_end, last->ips[2]);
	records_free(&recs);
	sampler_close(&sampler);
}

/*
 * Return addresses
 */

FIXTURE(returns)
{
	struct sampler sampler;
};

FIXTURE_SETUP(returns)
{
	if (!uprobes_work())
		SKIP(return, "no uprobes");
	ASSERT_EQ(0, sampler_open(&self->sampler, 0));
}

FIXTURE_TEARDOWN(returns)
{
	remove_probes();
	sampler_close(&self->sampler);
}

static void inner(void *arg)
{
	whole_note_ra();
	whole_sample();
}

static void middle(void *arg)
{
	whole_note_ra();
	inner(arg);
}

static void outer(void *arg)
{
	whole_note_ra();
	middle(arg);
}

/* What the function's stack is without probes, as it itself says */
static bool without_probes(struct sampler *sampler, void (*fn)(void *arg),
			   struct stack *expected)
{
	struct stack stack;

	whole_run(fn, NULL, NULL);
	expect_chain(expected, &whole);
	return !sampler_stack(sampler, &stack) && stack_is(&stack, expected);
}

/* The same with them; how many return addresses had been replaced? */
static int with_probes(struct sampler *sampler, void (*fn)(void *arg),
		       const struct stack *expected)
{
	struct stack stack, seen;
	unsigned int i;
	int replaced = 0;

	whole_run(fn, NULL, NULL);
	expect_chain(&seen, &whole);
	for (i = 0; i < seen.nr; i++)
		replaced += seen.ip[i] != expected->ip[i];
	return seen.nr == expected->nr && !sampler_stack(sampler, &stack) &&
	       stack_is(&stack, expected) ? replaced : -1;
}

TEST_F(returns, of_one_function)
{
	struct stack expected;

	ASSERT_TRUE(without_probes(&self->sampler, outer, &expected));
	ASSERT_EQ(0, probe_return(middle));
	EXPECT_EQ(1, with_probes(&self->sampler, outer, &expected));
	EXPECT_EQ(1, remove_probes());
	/* Nothing is left */
	EXPECT_EQ(0, with_probes(&self->sampler, outer, &expected));
}

TEST_F(returns, of_nested_functions)
{
	struct stack expected;

	ASSERT_TRUE(without_probes(&self->sampler, outer, &expected));
	ASSERT_EQ(0, probe_return(outer));
	ASSERT_EQ(0, probe_return(middle));
	ASSERT_EQ(0, probe_return(inner));
	EXPECT_EQ(3, with_probes(&self->sampler, outer, &expected));
	EXPECT_EQ(3, remove_probes());
}

TEST_F(returns, of_one_function_with_several_probes)
{
	struct stack expected;

	ASSERT_TRUE(without_probes(&self->sampler, outer, &expected));
	ASSERT_EQ(0, probe_return(middle));
	ASSERT_EQ(0, probe_return(middle));
	ASSERT_EQ(0, probe_return(middle));
	EXPECT_EQ(1, with_probes(&self->sampler, outer, &expected));
	EXPECT_EQ(3, remove_probes());
}

static void recursive(void *arg)
{
	whole_note_ra();
	if (whole.nr < DEPTH)
		recursive(arg);
	else
		inner(arg);
}

TEST_F(returns, of_a_recursive_function)
{
	struct stack expected;

	ASSERT_TRUE(without_probes(&self->sampler, recursive, &expected));
	ASSERT_EQ(0, probe_return(recursive));
	EXPECT_EQ(DEPTH, with_probes(&self->sampler, recursive, &expected));
	EXPECT_EQ(DEPTH, remove_probes());
}

/* Ends with a jump to a function, which returns in its place */
#if defined(__x86_64__)
#define JUMP	"jmp"
#elif defined(__aarch64__)
#define JUMP	"b"
#endif

ASM_FUNCTION(tail_calling,
	     "	nop\n"
	     "	" JUMP "	tail_called\n");

void tail_called(void *arg)
{
	whole_note_ra();
	inner(arg);
}

static void calls_tail_calling(void *arg)
{
	whole_note_ra();
	tail_calling(arg);
}

TEST_F(returns, of_tail_calls)
{
	struct stack expected;

	ASSERT_TRUE(without_probes(&self->sampler, calls_tail_calling,
				   &expected));
	ASSERT_EQ(0, probe_return(calls_tail_calling));
	ASSERT_EQ(0, probe_return(tail_calling));
	ASSERT_EQ(0, probe_return(tail_called));
	EXPECT_EQ(2, with_probes(&self->sampler, calls_tail_calling, &expected));
	EXPECT_EQ(3, remove_probes());
}

static jmp_buf jump;

static void jumping(void *arg)
{
	longjmp(jump, 1);
}

static void calls_jumping(void *arg)
{
	jumping(arg);
	/* Not a tail call */
	asm volatile("" : : : "memory");
}

/* Leave probed functions by a jump, more than once, and call others then */
static void jumped_out_of(void *arg)
{
	whole_note_ra();
	if (!setjmp(jump))
		calls_jumping(arg);
	if (!setjmp(jump))
		jumping(arg);
	outer(arg);
}

TEST_F(returns, of_functions_that_are_jumped_out_of)
{
	struct stack expected;

	ASSERT_TRUE(without_probes(&self->sampler, jumped_out_of, &expected));
	ASSERT_EQ(0, probe_return(calls_jumping));
	ASSERT_EQ(0, probe_return(jumping));
	ASSERT_EQ(0, probe_return(outer));
	ASSERT_EQ(0, probe_return(inner));
	EXPECT_EQ(2, with_probes(&self->sampler, jumped_out_of, &expected));
	/* And again, over what has been left behind */
	EXPECT_EQ(2, with_probes(&self->sampler, jumped_out_of, &expected));
	EXPECT_EQ(4, remove_probes());
}

#if defined(__aarch64__)

/*
 * A function without a table, and with a frame record that does not tell where its
 * frame ends, which is what a uretprobe is known by.
 */
void with_record(void *arg);
asm(".pushsection .text\n"
	".type with_record, %function\n"
	"with_record:\n"
	"	stp	x29, x30, [sp, #-48]!\n"
	"	mov	x29, sp\n"
	"	mov	x1, x30\n"
	"	bl	called_with_record\n"
	"	ldp	x29, x30, [sp], #48\n"
	"	ret\n"
	".size with_record, . - with_record\n"
	".popsection\n");

void called_with_record(void *arg, unsigned long returns_to)
{
	whole_note(returns_to);
	whole_note_ra();
	inner(arg);
}

/* Its own record leads on from there */
__attribute__((optimize("no-omit-frame-pointer")))
static void calls_with_record(void *arg)
{
	whole_note_ra();
	with_record(arg);
}

TEST_F(returns, into_frame_records)
{
	struct stack expected;

	ASSERT_TRUE(without_probes(&self->sampler, calls_with_record, &expected));
	EXPECT_EQ(5, expected.nr);
	ASSERT_EQ(0, probe_return(calls_with_record));
	ASSERT_EQ(0, probe_return(with_record));
	EXPECT_EQ(2, with_probes(&self->sampler, calls_with_record, &expected));
	EXPECT_EQ(2, remove_probes());
}

#endif /* __aarch64__ */

/* The sample of a uretprobe itself: the function has returned */
TEST_F(returns, that_are_sampled)
{
	struct perf_event_attr attr;
	struct stack stack, expected;
	struct sampler probe;

	ASSERT_TRUE(without_probes(&self->sampler, outer, &expected));
	/* Or its stacks would be in the buffer as well */
	ASSERT_EQ(0, event_disable(self->sampler.fd));
	ASSERT_EQ(0, probe_attr(&attr, (unsigned long)inner, URETPROBE));
	ASSERT_EQ(0, sampler_open_attr(&probe, &attr, 0, NULL));
	ASSERT_EQ(0, probe_return(middle));
	whole_run(outer, NULL, NULL);
	ASSERT_EQ(0, sampler_stack(&probe, &stack));
	/* All but the system call in the function */
	expected.nr--;
	memmove(expected.ip, expected.ip + 1,
		expected.nr * sizeof(*expected.ip));
	EXPECT_TRUE(stack_is(&stack, &expected));
	sampler_close(&probe);
	EXPECT_EQ(1, remove_probes());
}

#if defined(__x86_64__)

/*
 * The trampoline, interrupted by a signal at each of its instructions. It is no
 * function of the program: the caller is whom the probed one returns to.
 */

#define TRAP_FLAG	0x100

ASM_LABEL(stepped_next);
ASM_FUNCTION(stepped,
	     "	pushfq\n"
	     "	.cfi_adjust_cfa_offset 8\n"
	     "	orq	$0x100, (%rsp)\n"
	     "	popfq\n"
	     "	.cfi_adjust_cfa_offset -8\n"
	     "	nop\n");
ASM_FUNCTION(calls_stepped,
	     "	subq	$24, %rsp\n"
	     "	.cfi_adjust_cfa_offset 24\n"
	     "	call	stepped\n"
	     "stepped_next:\n"
	     "	addq	$24, %rsp\n"
	     "	.cfi_adjust_cfa_offset -24\n");

static struct {
	struct sampler	*sampler;
	unsigned long	start;
	unsigned long	end;
	uint64_t	seen;	/* a bit for each offset of an instruction */
	unsigned int	wrong;
} trampoline;

static void trampoline_handler(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	unsigned long ip = regs[REG_RIP];

	if (ip == (unsigned long)stepped_next)
		regs[REG_EFL] &= ~TRAP_FLAG;
	if (ip < trampoline.start || ip >= trampoline.end)
		return;
	whole_forget(0);
	whole_note((unsigned long)whole_end);
	whole_note((unsigned long)stepped_next);
	whole_note_ra();
	whole_sample();
	trampoline.seen |= 1ULL << (ip - trampoline.start);
	if (!whole_is_right(trampoline.sampler))
		trampoline.wrong++;
}

/* It lies at the start of the mapping for copies of probed instructions */
static bool find_trampoline(void)
{
	unsigned long start;
	char line[256];
	FILE *maps;

	trampoline.start = 0;
	maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[uprobes]") && sscanf(line, "%lx-", &start) == 1)
			trampoline.start = start;
	if (maps)
		fclose(maps);
	trampoline.end = trampoline.start + 64;
	return trampoline.start;
}

TEST_F(returns, into_a_trampoline_that_a_signal_interrupts)
{
	struct sigaction act = {
		.sa_sigaction = trampoline_handler,
		.sa_flags = SA_SIGINFO,
	};

	ASSERT_EQ(0, sigaction(SIGTRAP, &act, NULL));
	/* Once for the mapping to be there */
	trampoline.start = 0;
	trampoline.end = 0;
	ASSERT_EQ(0, probe_return(stepped));
	whole_run(calls_stepped, NULL, NULL);
	ASSERT_TRUE(find_trampoline());

	trampoline.sampler = &self->sampler;
	trampoline.seen = 0;
	trampoline.wrong = 0;
	whole_run(calls_stepped, NULL, NULL);
	EXPECT_EQ(2, remove_probes());
	EXPECT_EQ(0, trampoline.wrong);
	/* At the first, before the system call, and when it has returned */
	EXPECT_NE(0, trampoline.seen & 1);
	EXPECT_LE(6, __builtin_popcountll(trampoline.seen))
		TH_LOG("seen at offsets %#llx",
		       (unsigned long long)trampoline.seen);
	EXPECT_NE(0, trampoline.seen >> 13);
}

#endif /* __x86_64__ */

TEST_HARNESS_MAIN
