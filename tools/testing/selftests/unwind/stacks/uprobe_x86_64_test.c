// SPDX-License-Identifier: GPL-2.0
/*
 * Optimized uprobes: once a probed nop of ten bytes was hit, a call replaces it. The call
 * goes to a page that the kernel has mapped, with code that enters the kernel. Neither is in
 * any table, and both have words on the stack. Stacks show none of it: they begin after the
 * nop, as they do if the uprobe is a breakpoint.
 */
#include <errno.h>
#include <linux/compiler.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "breakpoint.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define PAGE_NAME	"[uprobes-trampoline]"
#define CODE_MAX	64
#define MAX_INSNS	32
/* The kernel's own */
#define ENOTSUPP	524

#define TRAP_FLAG	0x100
#define SYSCALL_INSN	0x050f

/* The one that can be replaced; it must not cross pages */
#define NOP		"	.byte	0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"

ASM_LABEL(in_frame_at);
ASM_LABEL(in_frame_next);
ASM_LABEL(no_table_at);
ASM_LABEL(no_table_next);

ASM_FUNCTION(in_frame,
	     "	subq	$40, %rsp\n"
	     "	.cfi_adjust_cfa_offset 40\n"
	     "	.balign	16\n"
	     "in_frame_at:\n"
	     NOP
	     "in_frame_next:\n"
	     "	addq	$40, %rsp\n"
	     "	.cfi_adjust_cfa_offset -40\n");
/* Its instructions show the caller only if it counts as interrupted */
ASM_FUNCTION_NO_TABLE(no_table,
		      "	.balign	16\n"
		      "no_table_at:\n"
		      NOP
		      "no_table_next:\n");

FIXTURE(optimized)
{
	struct stack expected;
	int probe;
};

FIXTURE_VARIANT(optimized)
{
	void (*fn)(void *arg);
	const char *at;
	const char *next;
};

FIXTURE_VARIANT_ADD(optimized, in_a_frame) {
	.fn = in_frame, .at = in_frame_at, .next = in_frame_next,
};

FIXTURE_VARIANT_ADD(optimized, without_a_table) {
	.fn = no_table, .at = no_table_at, .next = no_table_next,
};

/* The probed function, and where its own instructions and the kernel's are */
static struct {
	void		(*fn)(void *arg);
	unsigned long	call;
	unsigned long	call_end;
	unsigned long	page;
} probed;

static void run(void)
{
	whole_run(probed.fn, NULL, NULL);
}

static unsigned long find_page(void)
{
	unsigned long start = 0;
	char line[256];
	FILE *maps;

	maps = fopen("/proc/self/maps", "r");
	while (maps && !start && fgets(line, sizeof(line), maps))
		if (!strstr(line, PAGE_NAME) || sscanf(line, "%lx-", &start) != 1)
			start = 0;
	if (maps)
		fclose(maps);
	return start;
}

/* Is this the replaced nop's second instruction, or one of the kernel's? */
static bool is_kernels(unsigned long ip)
{
	return (ip > probed.call && ip < probed.call_end) ||
	       (ip >= probed.page && ip < probed.page + CODE_MAX);
}

FIXTURE_SETUP(optimized)
{
	struct perf_event_attr attr;

	self->probe = -1;
	if (uprobe_attr(&attr, (unsigned long)variant->at, 0))
		SKIP(return, "no uprobes");
	attr.disabled = 0;
	attr.sample_period = 0;
	attr.sample_type = 0;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	self->probe = event_open(&attr, 0, -1);
	/* Older kernels refuse the prefixes of such a nop */
	if (self->probe < 0 && errno == ENOTSUPP)
		SKIP(return, "this nop cannot be probed");
	ASSERT_LE(0, self->probe)
		TH_LOG("%s", strerror(errno));
	probed.fn = variant->fn;
	probed.call = (unsigned long)variant->at;
	probed.call_end = (unsigned long)variant->next;
	/* The first hit is a breakpoint's */
	run();
	probed.page = find_page();
	if (!probed.page)
		SKIP(return, "uprobes are not optimized");
	self->expected = (struct stack){
		.ip = { (unsigned long)variant->next, (unsigned long)whole_end },
		.nr = 2,
	};
}

FIXTURE_TEARDOWN(optimized)
{
	if (self->probe >= 0)
		close(self->probe);
}

TEST_F(optimized, sample_of_the_probe_has_the_caller)
{
	struct perf_event_attr attr;
	struct sampler sampler;
	struct stack stack;

	ASSERT_EQ(0, uprobe_attr(&attr, (unsigned long)variant->at, 0));
	ASSERT_EQ(0, sampler_open_attr(&sampler, &attr, 0, NULL));
	run();
	ASSERT_EQ(0, sampler_stack(&sampler, &stack));
	EXPECT_TRUE(stack_is(&stack, &self->expected));
	sampler_close(&sampler);
}

/* Stepping through the code */

static __always_inline void set_trap_flag(bool on)
{
	unsigned long flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG : flags & ~TRAP_FLAG);
}

static int run_stepped(void (*handler)(int sig, siginfo_t *info, void *context))
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO }, old;

	if (sigaction(SIGTRAP, &action, &old))
		return -1;
	set_trap_flag(true);
	run();
	set_trap_flag(false);
	return sigaction(SIGTRAP, &old, NULL);
}

static struct {
	unsigned int	nr;
	unsigned long	ip[MAX_INSNS];
} insns;

static void note_insn(int sig, siginfo_t *info, void *context)
{
	unsigned long ip = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	uint16_t code;

	if (!is_kernels(ip) || insns.nr + 2 > MAX_INSNS)
		return;
	insns.ip[insns.nr++] = ip;
	memcpy(&code, (void *)ip, sizeof(code));
	/* There is no trap between a system call and the instruction after it */
	if (code == SYSCALL_INSN)
		insns.ip[insns.nr++] = ip + sizeof(code);
}

TEST_F_TIMEOUT(optimized, each_instruction_has_the_caller, 60)
{
	struct stack stack;
	unsigned int i;

	if (!breakpoints_work())
		SKIP(return, "no hardware breakpoints");
	insns.nr = 0;
	ASSERT_EQ(0, run_stepped(note_insn));
	/* The call, three registers and a number, the system call, and the way back */
	ASSERT_LE(10, insns.nr);
	for (i = 0; i < insns.nr; i++) {
		ASSERT_EQ(0, sample_at(insns.ip[i], run, &stack));
		EXPECT_TRUE(stack_is(&stack, &self->expected))
			TH_LOG("instruction %u at %#lx", i, insns.ip[i]);
	}
}

static struct {
	struct sampler	sampler;
	unsigned int	seen;
	unsigned int	wrong;
} signals;

static void judge_insn(int sig, siginfo_t *info, void *context)
{
	if (!is_kernels(((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]))
		return;
	whole_forget(0);
	whole_note((unsigned long)whole_end);
	whole_note(probed.call_end);
	whole_note_ra();
	whole_sample();
	signals.seen++;
	signals.wrong += !whole_is_right(&signals.sampler);
}

TEST_F(optimized, signal_at_each_instruction_has_the_caller)
{
	signals.seen = 0;
	signals.wrong = 0;
	ASSERT_EQ(0, sampler_open(&signals.sampler, 0));
	/* The kernel knows its code by the page, which is there from its first use on */
	run();
	EXPECT_EQ(0, run_stepped(judge_insn));
	EXPECT_LE(9, signals.seen);
	EXPECT_EQ(0, signals.wrong);
	sampler_close(&signals.sampler);
}

TEST_HARNESS_MAIN
