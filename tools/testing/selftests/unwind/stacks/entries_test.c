// SPDX-License-Identifier: GPL-2.0
/*
 * Entries into the kernel: the topmost frame is the program's, at the instruction where
 * it will continue, and its caller is right.
 *
 * Each entry happens in a function that has already changed its stack. So the unwinder
 * finds the caller only with both the right instruction and the right stack pointer.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "asleep.h"
#include "entries_code.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define _GNU_SOURCE

#define CLOCK_PERIOD	1000000
#define NO_EVENT	"no such event, or not root"

/* Is the only sampled stack one function, without a caller? */
static bool is_at(struct sampler *sampler, const char *at)
{
	struct stack stack, expected = {
		.ip = { (unsigned long)at, (unsigned long)whole_end },
		.nr = 2,
	};

	return !sampler_stack(sampler, &stack) && stack_is(&stack, &expected);
}

/* Does this hold while @fn runs? Closes the sampler. */
static bool goes_on_at(struct sampler *sampler, void (*fn)(void *arg),
		       void *arg, const char *at)
{
	bool right;

	whole_run(fn, arg, NULL);
	right = !event_disable(sampler->fd) && is_at(sampler, at);
	sampler_close(sampler);
	return right;
}

TEST(entry_by_syscall_has_right_stack)
{
	unsigned long nr[5] = { SYS_getppid };
	struct sampler sampler;

	if (sampler_open(&sampler, 0))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, system_call, nr, system_call_at));
}

#if defined(__x86_64__)

#define I386_GETPPID	64

TEST(entry_by_int80_has_right_stack)
{
	struct sampler sampler;

	/* Without emulation of 32-bit calls, it is a general protection fault */
	if (access("/proc/sys/abi/vsyscall32", F_OK))
		SKIP(return, "no 32-bit system calls");
	if (sampler_open_syscall(&sampler, 0, I386_GETPPID))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, int80, NULL, int80_at));
}

static bool vsyscall_page(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	bool found = false;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "[vsyscall]");
	if (maps)
		fclose(maps);
	return found;
}

/* A fault at a kernel address; it returns to the caller */
TEST(entry_by_vsyscall_has_right_stack)
{
	struct sampler sampler;

	if (!vsyscall_page())
		SKIP(return, "no vsyscall page");
	if (sampler_open_tracepoint(&sampler, 0, "vsyscall/emulate_vsyscall",
				    NULL))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, vsyscall, NULL, vsyscall_at));
}

#endif

TEST(entry_by_page_fault_has_right_stack)
{
	struct perf_event_attr attr;
	struct sampler sampler;
	char *page;

	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	/* All other memory has been touched */
	whole_run(page_fault, &attr, NULL);
	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	/* The unwinder itself may have to fault memory in */
	attr.exclude_kernel = 1;
	ASSERT_EQ(0, sampler_open_attr(&sampler, &attr, 0, NULL));
	EXPECT_TRUE(goes_on_at(&sampler, page_fault, page, page_fault_at));
}

/*
 * Exceptions that become signals: the event is the generation of the signal, in the same
 * entry. The handler continues after the instruction.
 */

static unsigned int skip;

static void skip_handler(int sig, siginfo_t *info, void *context)
{
	skip_bytes(context, skip);
}

/* 0, or -1 without such events */
static int exception_open(struct sampler *sampler, int sig, unsigned int bytes)
{
	struct sigaction action = {
		.sa_sigaction = skip_handler, .sa_flags = SA_SIGINFO,
	};
	char filter[32];

	skip = bytes;
	snprintf(filter, sizeof(filter), "sig == %d", sig);
	return sigaction(sig, &action, NULL) ?:
	       sampler_open_tracepoint(sampler, 0, "signal/signal_generate",
				       filter);
}

TEST(entry_by_invalid_instruction_has_right_stack)
{
	struct sampler sampler;

	if (exception_open(&sampler, SIGILL, SKIP_INVALID))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, invalid, NULL, invalid_at));
}

TEST(entry_by_breakpoint_has_right_stack)
{
	struct sampler sampler;

	if (exception_open(&sampler, SIGTRAP, SKIP_BREAKPOINT))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, breakpoint, NULL, breakpoint_at));
}

#if defined(__x86_64__)

TEST(entry_by_divide_error_has_right_stack)
{
	struct sampler sampler;

	if (exception_open(&sampler, SIGFPE, 2))
		SKIP(return, NO_EVENT);
	EXPECT_TRUE(goes_on_at(&sampler, divide, NULL, divide_at));
}

static unsigned int steps;

static void step_handler(int sig)
{
	steps++;
}

/* A trap after each instruction, starting with the first one with the flag set */
TEST(entry_by_single_step_has_right_stack)
{
	/* nop, pushfq, andl, popfq */
	static const unsigned char offset[] = { 0, 1, 8 };
	struct sigaction action = { .sa_handler = step_handler };
	struct records recs = {};
	struct sampler sampler;
	unsigned int i;

	ASSERT_EQ(0, sigaction(SIGTRAP, &action, NULL));
	if (sampler_open_tracepoint(&sampler, 0, "signal/signal_generate",
				    "sig == 5"))
		SKIP(return, NO_EVENT);
	steps = 0;
	whole_run(step, NULL, NULL);
	ASSERT_EQ(0, records_read(&recs, &sampler.ring));
	EXPECT_TRUE(records_match(&recs, NULL));
	ASSERT_LE(sizeof(offset), steps);
	for (i = 0; i < sizeof(offset); i++) {
		const struct record *rec;

		rec = records_get(&recs, PERF_RECORD_CALLCHAIN_DEFERRED, i);
		ASSERT_NE(NULL, rec);
		ASSERT_EQ(2, rec->nr);
		EXPECT_EQ((unsigned long)step_at + offset[i], rec->ips[0]);
		EXPECT_EQ((unsigned long)whole_end, rec->ips[1]);
	}
}

#endif

/* Anywhere in a loop */
TEST(entry_by_timer_interrupt_has_right_stack)
{
	struct perf_event_attr attr;
	struct records recs = {};
	struct sampler sampler;
	unsigned int in_loop = 0;
	size_t i;

	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_period = CLOCK_PERIOD;
	ASSERT_EQ(0, sampler_open_attr(&sampler, &attr, 0, NULL));
	whole_run(spin, NULL, NULL);
	ASSERT_EQ(0, event_disable(sampler.fd));
	ASSERT_EQ(0, records_read(&recs, &sampler.ring));
	for (i = 0; i < recs.nr; i++) {
		const struct record *rec = &recs.rec[i];

		if (rec->type != PERF_RECORD_CALLCHAIN_DEFERRED ||
		    rec->nr < 1 || rec->ips[0] < (unsigned long)spin_at ||
		    rec->ips[0] >= (unsigned long)spin_end)
			continue;
		in_loop++;
		ASSERT_EQ(2, rec->nr);
		ASSERT_EQ((unsigned long)whole_end, rec->ips[1]);
	}
	EXPECT_LT(0, in_loop);
}

/*
 * A system call that a signal interrupts, and that is then repeated. The stack is taken
 * three times: where the program would continue after the call (arm64 has already moved
 * it back when it looks for signals); at the return from the handler, at the call's
 * instruction itself; then after it again.
 */

static int pipes[2];

static void write_handler(int sig)
{
	if (write(pipes[1], "", 1) != 1)
		abort();
}

TEST(restarted_entry_has_right_stack)
{
	struct sigaction action = {
		.sa_handler = write_handler, .sa_flags = SA_RESTART,
	};
	const unsigned long ip[] = {
		(unsigned long)system_call_at - TAKEN_BACK_BYTES,
		(unsigned long)system_call_at - SYSTEM_CALL_BYTES,
		(unsigned long)system_call_at,
	};
	struct records recs = {};
	struct sampler sampler;
	char filter[64], c;
	unsigned long read_pipe[5] = { SYS_read, (unsigned long)&c, 1 };
	pid_t pid, parent = getpid();
	unsigned int i;
	int status;

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	read_pipe[4] = pipes[0];
	snprintf(filter, sizeof(filter), "id == %d || id == %d", SYS_read,
		 SYS_rt_sigreturn);
	if (sampler_open_tracepoint(&sampler, 0, "raw_syscalls/sys_enter", filter))
		SKIP(return, NO_EVENT);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		int nr;

		do {
			nr = sleeps_in(parent);
			if (nr == -2)
				_exit(1);
		} while (nr != SYS_read);
		_exit(kill(parent, SIGUSR1));
	}
	whole_run(system_call, read_pipe, NULL);
	ASSERT_EQ(0, event_disable(sampler.fd));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, records_read(&recs, &sampler.ring));
	EXPECT_TRUE(records_match(&recs, NULL));
	ASSERT_EQ(3, records_count(&recs, PERF_RECORD_CALLCHAIN_DEFERRED));
	for (i = 0; i < 3; i++) {
		const struct record *rec;

		rec = records_get(&recs, PERF_RECORD_CALLCHAIN_DEFERRED, i);
		ASSERT_EQ(2, rec->nr);
		EXPECT_EQ(ip[i], rec->ips[0]);
		EXPECT_EQ((unsigned long)whole_end, rec->ips[1]);
	}
}

/*
 * A tracer stops the program at the end of the system call and moves it elsewhere. The
 * stack was taken before, so it shows the address of the call.
 */
TEST(entry_changed_by_a_tracer_has_right_stack)
{
	unsigned long nr[5] = { SYS_getppid };
	unsigned long ip, in_call;
	struct sampler sampler;
	int status, go[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) ||
		    read(go[0], &c, 1) != 1)
			_exit(1);
		raise(SIGSTOP);
		whole_run(system_call, nr, NULL);
		_exit(0);
	}
	if (sampler_open(&sampler, pid)) {
		kill(pid, SIGKILL);
		SKIP(return, NO_EVENT);
	}
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	/* Continue to the stop before the known system call, and after it */
	do {
		ASSERT_EQ(0, ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFSTOPPED(status));
		ASSERT_EQ(0, tracee_ip(pid, &ip, &in_call));
	} while (ip != (unsigned long)system_call_at);
	ASSERT_EQ(SYS_getppid, in_call);
	ASSERT_EQ(0, ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	/* Move it into a function with the same frame */
	ASSERT_EQ(0, tracee_set_ip(pid, other_at));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, pid, NULL, NULL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(is_at(&sampler, system_call_at));
}

/*
 * Uprobes and uretprobes change the program's stack and where it executes. The kernel's
 * stacks show no such change.
 *
 * A uprobe's instruction is emulated, or executed in a copy elsewhere. When the kernel
 * takes the stack, on the return, it has already executed an emulated one.
 *
 * A uretprobe replaces a return address by the trampoline's, and the program sees that,
 * too. So a run of the same code without probes gives the expected stack.
 */

#define URETPROBE	1
#define MAX_PROBES	4
#define DEPTH		5

/*
 * Probes
 */

static int probe_fd[MAX_PROBES];
static unsigned int nr_probes;

/* Probe the return of a function, nothing more; 0 or -1 */
static int probe_return(void (*fn)(void *arg))
{
	struct perf_event_attr attr;
	int fd;

	if (nr_probes == MAX_PROBES ||
	    uprobe_attr(&attr, (unsigned long)fn, URETPROBE))
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

/* Number of hits: a probe without hits has tested nothing */
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

	return !uprobe_attr(&attr, (unsigned long)uprobes_work, 0);
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

/* The instructions show that the register has the return address */
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

FIXTURE(uprobe_at_first)
{
	struct sampler sampler;
};

FIXTURE_VARIANT(uprobe_at_first)
{
	void (*fn)(void *arg);
	const char *next;
	/* The called function, if the instruction is a call */
	void (*called)(void *arg);
};

FIXTURE_VARIANT_ADD(uprobe_at_first, push) {
	.fn = first_push, .next = first_push_next,
};

FIXTURE_VARIANT_ADD(uprobe_at_first, sub) {
	.fn = first_sub, .next = first_sub_next,
};

FIXTURE_VARIANT_ADD(uprobe_at_first, mov) {
	.fn = first_mov, .next = first_mov_next,
};

FIXTURE_VARIANT_ADD(uprobe_at_first, nop) {
	.fn = first_nop, .next = first_nop_next,
};

FIXTURE_VARIANT_ADD(uprobe_at_first, jump) {
	.fn = first_jump, .next = first_jump_next,
};

#if defined(__x86_64__)

FIXTURE_VARIANT_ADD(uprobe_at_first, endbr) {
	.fn = first_endbr, .next = first_endbr_next,
};

FIXTURE_VARIANT_ADD(uprobe_at_first, ret) {
	.fn = first_ret, .next = first_ret_next,
};

FIXTURE_VARIANT_ADD(uprobe_at_first, call) {
	.fn = first_call, .next = first_call_next, .called = first_nop,
};

#elif defined(__aarch64__)

FIXTURE_VARIANT_ADD(uprobe_at_first, sign) {
	.fn = first_sign, .next = first_sign_next,
};

FIXTURE_VARIANT_ADD(uprobe_at_first, pad) {
	.fn = first_pad, .next = first_pad_next,
};

FIXTURE_VARIANT_ADD(uprobe_at_first, branch) {
	.fn = first_branch, .next = first_branch_next,
};

FIXTURE_VARIANT_ADD(uprobe_at_first, record) {
	.fn = first_record, .next = first_record_next,
};

#endif

FIXTURE_SETUP(uprobe_at_first)
{
	struct perf_event_attr attr;

	if (!uprobes_work())
		SKIP(return, "no uprobes");
	ASSERT_EQ(0, uprobe_attr(&attr, (unsigned long)variant->fn, 0));
	ASSERT_EQ(0, sampler_open_attr(&self->sampler, &attr, 0, NULL))
		TH_LOG("%s", strerror(errno));
}

FIXTURE_TEARDOWN(uprobe_at_first)
{
	sampler_close(&self->sampler);
}

/* The address is the instruction, or the next if it was emulated; never elsewhere */
TEST_F(uprobe_at_first, instruction_keeps_the_caller)
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

/* In the probe's handler, before the instruction, once the tables are known */
TEST_F(uprobe_at_first, instruction_keeps_the_caller_in_immediate_stack)
{
	const struct record *last = NULL;
	struct records recs = {};
	struct perf_event_attr attr;
	struct sampler sampler;
	size_t i, nr;

	if (access("/proc/sys/kernel/unwind_immediate", F_OK))
		SKIP(return, "no immediate stacks by tables");
	ASSERT_EQ(0, uprobe_attr(&attr, (unsigned long)variant->fn, 0));
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
}

/*
 * Return addresses
 */

FIXTURE(uretprobe)
{
	struct sampler sampler;
};

FIXTURE_SETUP(uretprobe)
{
	if (!uprobes_work())
		SKIP(return, "no uprobes");
	ASSERT_EQ(0, sampler_open(&self->sampler, 0));
}

FIXTURE_TEARDOWN(uretprobe)
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

/* The function's own record of its stack without probes */
static bool without_probes(struct sampler *sampler, void (*fn)(void *arg),
			   struct stack *expected)
{
	struct stack stack;

	whole_run(fn, NULL, NULL);
	expect_chain(expected, &whole);
	return !sampler_stack(sampler, &stack) && stack_is(&stack, expected);
}

/* The same with probes; return the number of replaced return addresses */
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

TEST_F(uretprobe, of_one_function_shows_the_caller)
{
	struct stack expected;

	ASSERT_TRUE(without_probes(&self->sampler, outer, &expected));
	ASSERT_EQ(0, probe_return(middle));
	EXPECT_EQ(1, with_probes(&self->sampler, outer, &expected));
	EXPECT_EQ(1, remove_probes());
	/* No probe is left */
	EXPECT_EQ(0, with_probes(&self->sampler, outer, &expected));
}

TEST_F(uretprobe, of_nested_functions_shows_the_callers)
{
	struct stack expected;

	ASSERT_TRUE(without_probes(&self->sampler, outer, &expected));
	ASSERT_EQ(0, probe_return(outer));
	ASSERT_EQ(0, probe_return(middle));
	ASSERT_EQ(0, probe_return(inner));
	EXPECT_EQ(3, with_probes(&self->sampler, outer, &expected));
	EXPECT_EQ(3, remove_probes());
}

TEST_F(uretprobe, several_on_one_function_show_the_caller)
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

TEST_F(uretprobe, of_a_recursive_function_shows_the_callers)
{
	struct stack expected;

	ASSERT_TRUE(without_probes(&self->sampler, recursive, &expected));
	ASSERT_EQ(0, probe_return(recursive));
	EXPECT_EQ(DEPTH, with_probes(&self->sampler, recursive, &expected));
	EXPECT_EQ(DEPTH, remove_probes());
}

/* A function that ends with a jump to another, which returns in its place */
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

TEST_F(uretprobe, of_tail_calls_shows_the_caller)
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

/* Jump out of probed functions more than once, then call others */
static void jumped_out_of(void *arg)
{
	whole_note_ra();
	if (!setjmp(jump))
		calls_jumping(arg);
	if (!setjmp(jump))
		jumping(arg);
	outer(arg);
}

TEST_F(uretprobe, of_functions_left_by_longjmp_shows_the_callers)
{
	struct stack expected;

	ASSERT_TRUE(without_probes(&self->sampler, jumped_out_of, &expected));
	ASSERT_EQ(0, probe_return(calls_jumping));
	ASSERT_EQ(0, probe_return(jumping));
	ASSERT_EQ(0, probe_return(outer));
	ASSERT_EQ(0, probe_return(inner));
	EXPECT_EQ(2, with_probes(&self->sampler, jumped_out_of, &expected));
	/* And again, over the records that the jumps have left */
	EXPECT_EQ(2, with_probes(&self->sampler, jumped_out_of, &expected));
	EXPECT_EQ(4, remove_probes());
}

/*
 * Their entries in the kernel's list are freed when the next probed function is called.
 * A stack that is taken meanwhile must not read freed entries, which KASAN reports.
 */
TEST_F(uretprobe, freed_after_longjmp_is_not_read)
{
	struct perf_event_attr attr;
	uint64_t freed = 0;
	int fd, i;

	if (tracepoint_attr(&attr, "kmem/kfree"))
		SKIP(return, "no tracepoint kmem/kfree");
	if (!has_own_core())
		SKIP(return, "entries are not freed there");
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	ASSERT_EQ(0, event_disable(self->sampler.fd));
	fd = event_open(&attr, 0, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, probe_return(calls_jumping));
	ASSERT_EQ(0, probe_return(jumping));
	ASSERT_EQ(0, probe_return(outer));
	ASSERT_EQ(0, event_enable(fd));
	for (i = 0; i < 10; i++)
		whole_run(jumped_out_of, NULL, NULL);
	ASSERT_EQ(0, event_disable(fd));
	ASSERT_EQ(sizeof(freed), read(fd, &freed, sizeof(freed)));
	EXPECT_LE(10, freed);
	close(fd);
	/* Functions that are left by longjmp() do not return */
	EXPECT_EQ(10, remove_probes());
}

#if defined(__aarch64__)

/*
 * A function without a table, and with a frame record that does not locate the end of its
 * frame. The unwinder identifies a uretprobe by that end.
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

/* The caller's own frame record continues the stack */
__attribute__((optimize("no-omit-frame-pointer")))
static void calls_with_record(void *arg)
{
	whole_note_ra();
	with_record(arg);
}

TEST_F(uretprobe, by_frame_records_shows_the_callers)
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
TEST_F(uretprobe, sampled_shows_the_callers)
{
	struct perf_event_attr attr;
	struct stack stack, expected;
	struct sampler probe;

	ASSERT_TRUE(without_probes(&self->sampler, outer, &expected));
	/* Its stacks would be in the buffer as well */
	ASSERT_EQ(0, event_disable(self->sampler.fd));
	ASSERT_EQ(0, uprobe_attr(&attr, (unsigned long)inner, URETPROBE));
	ASSERT_EQ(0, sampler_open_attr(&probe, &attr, 0, NULL));
	ASSERT_EQ(0, probe_return(middle));
	whole_run(outer, NULL, NULL);
	ASSERT_EQ(0, sampler_stack(&probe, &stack));
	/* All frames but the system call in the function */
	expected.nr--;
	memmove(expected.ip, expected.ip + 1,
		expected.nr * sizeof(*expected.ip));
	EXPECT_TRUE(stack_is(&stack, &expected));
	sampler_close(&probe);
	EXPECT_EQ(1, remove_probes());
}

#if defined(__x86_64__)

/*
 * A signal interrupts the trampoline at each of its instructions. The trampoline is not a
 * function of the program: its caller is the caller of the probed function.
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

/* The trampoline starts the mapping for copies of probed instructions */
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

TEST_F(uretprobe, interrupted_in_the_trampoline_shows_the_callers)
{
	struct sigaction act = {
		.sa_sigaction = trampoline_handler,
		.sa_flags = SA_SIGINFO,
	};

	ASSERT_EQ(0, sigaction(SIGTRAP, &act, NULL));
	/* The first call creates the mapping */
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
	/* At the first instruction, before the system call, and after it */
	EXPECT_NE(0, trampoline.seen & 1);
	EXPECT_LE(6, __builtin_popcountll(trampoline.seen))
		TH_LOG("seen at offsets %#llx",
		       (unsigned long long)trampoline.seen);
	EXPECT_NE(0, trampoline.seen >> 13);
}

#endif /* __x86_64__ */

TEST_HARNESS_MAIN
