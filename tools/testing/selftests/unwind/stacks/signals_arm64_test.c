// SPDX-License-Identifier: GPL-2.0
/*
 * Signals and the vDSO on arm64: from the handler across the signal frame to the exact
 * instruction that was interrupted, and on to the end of the stack.
 *
 * A handler returns to the vDSO or to the program's restorer. A table locates the end of
 * the handler's frame; a frame record alone does not. Then the record above the signal
 * frame continues the stack. In an interrupted function the return address may be in the
 * link register, and signed.
 */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/ucontext.h>
#include <time.h>
#include <unistd.h>

#include "breakpoint.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#ifndef SA_RESTORER
#define SA_RESTORER	0x04000000
#endif

#define INSN		4

/* Vector registers of this size do not fit into the frame with all others */
#define VL_LONG		128
#define VL_LONGEST	256

static struct sampler sampler;

/* Handlers note the interrupted address, their return address, and the address of their call. */

static void (*body)(int sig, ucontext_t *context);

static unsigned long restorer;

static __always_inline void note_signal(ucontext_t *context,
					unsigned long returns_to)
{
	/* A function in assembly has no notes */
	if (!whole.nr)
		whole_note((unsigned long)whole_end);
	whole_note(context->uc_mcontext.pc);
	whole_note(returns_to);
	restorer = returns_to;
}

static void handler_with_table(int sig, siginfo_t *info, void *context)
{
	note_signal(context, (unsigned long)__builtin_return_address(0));
	body(sig, context);
}

/* No table, and a record at the bottom of its frame, with other data above */
ASM_LABEL(handler_with_record);
asm(".pushsection .text\n"
	".type handler_with_record, %function\n"
	"handler_with_record:\n"
	"	stp	x29, x30, [sp, #-64]!\n"
	"	mov	x29, sp\n"
	"	mov	x3, x30\n"
	"	bl	called_with_record\n"
	"	ldp	x29, x30, [sp], #64\n"
	"	ret\n"
	".size handler_with_record, . - handler_with_record\n"
	".popsection\n");

void called_with_record(int sig, siginfo_t *info, void *context,
			unsigned long returns_to)
{
	note_signal(context, returns_to);
	whole_note_ra();
	body(sig, context);
}

/* The restorer of C libraries that have their own */
ASM_LABEL(own_restorer);
asm(".pushsection .text\n"
	"	nop\n"
	"own_restorer:\n"
	"	mov	x8, #139\n"
	"	svc	#0\n"
	".popsection\n");

/* The same, right after a function with a table */
ASM_LABEL(restorer_behind);
asm(".pushsection .text\n"
	".type before_restorer, %function\n"
	"before_restorer:\n"
	"	.cfi_startproc\n"
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size before_restorer, . - before_restorer\n"
	"restorer_behind:\n"
	"	mov	x8, #139\n"
	"	svc	#0\n"
	".popsection\n");

/* struct sigaction as the kernel has it */
struct kernel_sigaction {
	const void	*handler;
	unsigned long	flags;
	const void	*restorer;
	uint64_t	mask;
};

FIXTURE(handler)
{
};

FIXTURE_VARIANT(handler)
{
	const void *handler;
	const void *restorer;
	bool has_table;
};

FIXTURE_VARIANT_ADD(handler, with_table) {
	.handler = handler_with_table, .has_table = true,
};

FIXTURE_VARIANT_ADD(handler, with_table_own_restorer) {
	.handler = handler_with_table, .has_table = true,
	.restorer = own_restorer,
};

FIXTURE_VARIANT_ADD(handler, with_record) {
	.handler = handler_with_record,
};

FIXTURE_VARIANT_ADD(handler, with_record_own_restorer) {
	.handler = handler_with_record, .restorer = own_restorer,
};

FIXTURE_VARIANT_ADD(handler, with_table_restorer_after) {
	.handler = handler_with_table, .has_table = true,
	.restorer = restorer_behind,
};

FIXTURE_VARIANT_ADD(handler, with_record_restorer_after) {
	.handler = handler_with_record, .restorer = restorer_behind,
};

FIXTURE_SETUP(handler)
{
	if (sampler_open(&sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
}

FIXTURE_TEARDOWN(handler)
{
	sampler_close(&sampler);
}

static int install(int sig, const void *handler, const void *returns_to,
		   unsigned long flags)
{
	const struct kernel_sigaction action = {
		.handler = handler,
		.flags = SA_SIGINFO | flags | (returns_to ? SA_RESTORER : 0),
		.restorer = returns_to,
	};

	return syscall(SYS_rt_sigaction, sig, &action, NULL, sizeof(action.mask));
}

/* Sent signals */

static void raise_usr1(void *arg)
{
	whole_note_ra();
	whole_raise(SIGUSR1);
}

static void raise_or_sample(int sig, ucontext_t *context)
{
	whole_note_ra();
	if (sig == SIGUSR1)
		whole_raise(SIGUSR2);
	else
		whole_sample();
}

TEST_F(handler, of_nested_signals_has_whole_stack)
{
	body = raise_or_sample;
	ASSERT_EQ(0, install(SIGUSR1, variant->handler, variant->restorer, 0));
	ASSERT_EQ(0, install(SIGUSR2, variant->handler, variant->restorer, 0));
	whole_run(raise_usr1, NULL, NULL);
	/* The end, the system call, and three or four addresses of each handler */
	EXPECT_EQ(variant->has_table ? 8 : 10, whole.nr);
	EXPECT_TRUE(whole_is_right(&sampler));
}

/* The alternate stack lies above the other, or below */
static void on_alternate_stack(struct __test_metadata *_metadata, bool above,
			       const void *handler, const void *returns_to)
{
	char *low = mmap(NULL, 2 * WHOLE_STACK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t alternate = { .ss_size = WHOLE_STACK }, old;

	ASSERT_NE(MAP_FAILED, low);
	alternate.ss_sp = above ? low + WHOLE_STACK : low;
	ASSERT_EQ(0, sigaltstack(&alternate, &old));
	body = raise_or_sample;
	ASSERT_EQ(0, install(SIGUSR1, handler, returns_to, SA_ONSTACK));
	ASSERT_EQ(0, install(SIGUSR2, handler, returns_to, SA_ONSTACK));
	whole_run(raise_usr1, NULL, above ? low + WHOLE_STACK :
					    low + 2 * WHOLE_STACK);
	EXPECT_TRUE(whole_is_right(&sampler));
	ASSERT_EQ(0, sigaltstack(&old, NULL));
	munmap(low, 2 * WHOLE_STACK);
}

TEST_F(handler, on_alternate_stack_above_has_whole_stack)
{
	on_alternate_stack(_metadata, true, variant->handler,
			   variant->restorer);
}

TEST_F(handler, on_alternate_stack_below_has_whole_stack)
{
	on_alternate_stack(_metadata, false, variant->handler,
			   variant->restorer);
}

/* Signals that an instruction causes: the handler continues at the next one */

static unsigned int right, wrong;

static __always_inline void sample_interrupted(void)
{
	whole_note_ra();
	whole_sample();
	if (whole_is_right(&sampler))
		right++;
	else
		wrong++;
	whole_forget(0);
}

static void sample_fault(int sig, ucontext_t *context)
{
	sample_interrupted();
	context->uc_mcontext.pc += INSN;
}

/* The return address, whole_call()'s, in all possible places */
ASM_FUNCTION(faulting,
	     "	ldr	x9, [x0]\n"
	     "	paciasp\n"
	     "	.cfi_negate_ra_state\n"
	     "	ldr	x9, [x0]\n"
	     "	stp	x29, x30, [sp, #-32]!\n"
	     "	.cfi_def_cfa_offset 32\n"
	     "	.cfi_offset x29, -32\n"
	     "	.cfi_offset x30, -24\n"
	     "	ldr	x9, [x0]\n"
	     "	mov	x30, #0\n"
	     "	ldr	x9, [x0]\n"
	     "	ldp	x29, x30, [sp], #32\n"
	     "	.cfi_restore x29\n"
	     "	.cfi_restore x30\n"
	     "	.cfi_def_cfa_offset 0\n"
	     "	ldr	x9, [x0]\n"
	     "	autiasp\n"
	     "	.cfi_negate_ra_state\n"
	     "	ldr	x9, [x0]\n");

TEST_F(handler, of_fault_has_whole_stack_wherever_the_return_address_is)
{
	body = sample_fault;
	right = 0;
	wrong = 0;
	ASSERT_EQ(0, install(SIGSEGV, variant->handler, variant->restorer, 0));
	whole_run(faulting, NULL, NULL);
	EXPECT_EQ(6, right);
	EXPECT_EQ(0, wrong);
	signal(SIGSEGV, SIG_DFL);
}

/* A call to an address that is not a function returns; its caller is the whole stack */
static void sample_call(int sig, ucontext_t *context)
{
	sample_interrupted();
	context->uc_mcontext.pc = context->uc_mcontext.regs[30];
}

TEST_F(handler, of_call_outside_text_has_whole_stack)
{
	void *page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	body = sample_call;
	right = 0;
	wrong = 0;
	ASSERT_EQ(0, install(SIGSEGV, variant->handler, variant->restorer, 0));
	whole_run((void *)(uintptr_t)INSN, NULL, NULL);
	whole_run(page, NULL, NULL);
	EXPECT_EQ(2, right);
	EXPECT_EQ(0, wrong);
	signal(SIGSEGV, SIG_DFL);
}

/* With vector registers in use */
ASM_FUNCTION(faulting_with_vectors,
	     ".arch_extension sve\n"
	     "	ptrue	p0.b\n"
	     "	ldr	x9, [x0]\n"
	     ".arch_extension nosve\n");

/* All frames but the interrupted one and its caller */
static void sample_up_to_signal(int sig, ucontext_t *context)
{
	struct stack stack, expected;

	whole_note_ra();
	whole_sample();
	expect_chain(&expected, &whole);
	expected.nr -= 2;
	if (!sampler_stack(&sampler, &stack) && stack_is(&stack, &expected))
		right++;
	else
		wrong++;
	context->uc_mcontext.pc += INSN;
}

TEST_F(handler, of_fault_with_extra_context_has_whole_stack)
{
	int before = prctl(PR_SVE_GET_VL, 0, 0, 0, 0), vl;

	if (before < 0)
		SKIP(return, "no SVE");
	vl = prctl(PR_SVE_SET_VL, VL_LONGEST, 0, 0, 0);
	if (vl < 0 || (vl & PR_SVE_VL_LEN_MASK) < VL_LONG)
		SKIP(return, "vector registers are too short");
	/* A frame record alone does not lead there: the stack stops, without a wrong frame */
	body = variant->has_table ? sample_fault : sample_up_to_signal;
	right = 0;
	wrong = 0;
	ASSERT_EQ(0, install(SIGSEGV, variant->handler, variant->restorer, 0));
	whole_run(faulting_with_vectors, NULL, NULL);
	EXPECT_EQ(1, right);
	EXPECT_EQ(0, wrong);
	signal(SIGSEGV, SIG_DFL);
	prctl(PR_SVE_SET_VL, before & PR_SVE_VL_LEN_MASK, 0, 0, 0);
}

/* The restorer itself: its caller is the interrupted address */

static void keep_interrupted(int sig, ucontext_t *context)
{
	whole_forget(2);
}

static void run_raise(void)
{
	whole_run(raise_usr1, NULL, NULL);
}

/* (At its system call, the kernel would report its own step over the breakpoint) */
TEST_F(handler, at_restorer_has_whole_stack)
{
	struct stack stack, expected;

	if (!breakpoints_work())
		SKIP(return, "no hardware breakpoints");
	body = keep_interrupted;
	ASSERT_EQ(0, install(SIGUSR1, variant->handler, variant->restorer, 0));
	run_raise();
	ASSERT_EQ(0, sample_at(restorer, run_raise, &stack));
	whole_note(restorer);
	expect_chain(&expected, &whole);
	EXPECT_EQ(3, expected.nr);
	EXPECT_TRUE(stack_is(&stack, &expected));
}

/*
 * The vDSO: the kernel builds it with tables.
 *
 * A breakpoint at each instruction of its functions takes a stack there. The expected
 * stack needs no table: all functions are leaves, with one exception. That one calls a
 * local leaf function, which the test finds by decoding the call.
 */

#define _GNU_SOURCE

#define RET		0xd65f03c0
#define SVC		0xd4000001
#define MAX_HELPERS	4

SECTION_BOUNDS(text_caller);

static void *function;

/* Calls to the vDSO's function: these are the only ones in the program */

static void __section("text_caller") call_clock_gettime(void *arg)
{
	int (*clock_gettime)(clockid_t clock, struct timespec *ts) = function;
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	clock_gettime(CLOCK_REALTIME_COARSE, &ts);
	/* By a system call */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
}

static void __section("text_caller") call_clock_getres(void *arg)
{
	int (*clock_getres)(clockid_t clock, struct timespec *ts) = function;
	struct timespec ts;

	clock_getres(CLOCK_MONOTONIC, &ts);
	clock_getres(CLOCK_MONOTONIC_COARSE, &ts);
	clock_getres(CLOCK_THREAD_CPUTIME_ID, &ts);
}

static void __section("text_caller") call_gettimeofday(void *arg)
{
	int (*gettimeofday)(struct timeval *tv, struct timezone *tz) = function;
	struct timezone tz;
	struct timeval tv;

	gettimeofday(&tv, &tz);
}

/* The vDSO's answer to a query for the size of its state */
struct random_params {
	uint32_t	size;
	uint32_t	prot;
	uint32_t	flags;
	uint32_t	reserved[13];
};

typedef ssize_t (*random_function)(void *buf, size_t size, unsigned int flags,
				   void *state, size_t state_size);

static struct random_params random_params;
static void *random_state;

static int init_random(void)
{
	random_function getrandom = function;
	ssize_t ret;

	ret = getrandom(NULL, 0, 0, &random_params, ~0UL);
	if (ret)
		return -1;
	random_state = mmap(NULL, sysconf(_SC_PAGESIZE), random_params.prot,
			    random_params.flags, -1, 0);
	return random_state == MAP_FAILED ? -1 : 0;
}

static void __section("text_caller") call_getrandom(void *arg)
{
	random_function getrandom = function;
	char buf[200];

	getrandom(buf, sizeof(buf), 0, random_state, random_params.size);
	getrandom(buf, 1, 0, random_state, random_params.size);
}

/*
 * Code
 */

static uint32_t insn_at(unsigned long ip)
{
	return *(const uint32_t *)ip;
}

/* The target of a "bl", or 0 */
static unsigned long called_by(unsigned long ip)
{
	uint32_t insn = insn_at(ip);

	if ((insn & 0xfc000000) != 0x94000000)
		return 0;
	return ip + ((int32_t)(insn << 6) >> 4);
}

static bool is_in_caller(unsigned long ra)
{
	return ra > (unsigned long)__start_text_caller &&
	       ra < (unsigned long)__stop_text_caller &&
	       (insn_at(ra - INSN) & 0xfffffc1f) == 0xd63f0000;
}

/* Functions that are called between @start and @end, each once */
static unsigned int find_helpers(unsigned long start, unsigned long end,
				 unsigned long *helper)
{
	unsigned int i, nr = 0;
	unsigned long ip;

	for (ip = start; ip < end; ip += INSN) {
		unsigned long to = called_by(ip);

		for (i = 0; i < nr && helper[i] != to; i++)
			;
		if (to && i == nr && nr < MAX_HELPERS)
			helper[nr++] = to;
	}
	return nr;
}

FIXTURE(vdso)
{
	unsigned long start;
	unsigned long end;
};

FIXTURE_VARIANT(vdso)
{
	const char *name;
	void (*call)(void *arg);
	int (*init)(void);
};

FIXTURE_VARIANT_ADD(vdso, clock_gettime) {
	.name = "__kernel_clock_gettime", .call = call_clock_gettime,
};

FIXTURE_VARIANT_ADD(vdso, clock_getres) {
	.name = "__kernel_clock_getres", .call = call_clock_getres,
};

FIXTURE_VARIANT_ADD(vdso, gettimeofday) {
	.name = "__kernel_gettimeofday", .call = call_gettimeofday,
};

FIXTURE_VARIANT_ADD(vdso, getrandom) {
	.name = "__kernel_getrandom", .call = call_getrandom,
	.init = init_random,
};

FIXTURE_SETUP(vdso)
{
	void *lib = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	Elf64_Sym *sym;
	Dl_info info;

	if (!lib)
		SKIP(return, "no vDSO");
	function = dlsym(lib, variant->name);
	if (!function || !dladdr1(function, &info, (void **)&sym, RTLD_DL_SYMENT))
		SKIP(return, "the vDSO has no such function");
	self->start = (unsigned long)function;
	self->end = self->start + sym->st_size;
	if (!breakpoints_work())
		SKIP(return, "no hardware breakpoints");
	if (variant->init)
		ASSERT_EQ(0, variant->init());
}

FIXTURE_TEARDOWN(vdso)
{
}

static void (*call)(void *arg);

static void run_call(void)
{
	whole_run(call, NULL, NULL);
}

/* Is it the stack of the vDSO's function, or of @helper, called from there? */
static bool is_right(const struct stack *stack, unsigned long ip,
		     unsigned long start, unsigned long end,
		     unsigned long helper)
{
	unsigned int i = 0;

	if (stack->nr != 3 + !!helper || stack->ip[i++] != ip)
		return false;
	if (helper) {
		unsigned long ra = stack->ip[i++];

		if (ra <= start || ra >= end || called_by(ra - INSN) != helper)
			return false;
	}
	return is_in_caller(stack->ip[i]) &&
	       stack->ip[i + 1] == (unsigned long)whole_end;
}

TEST_F_TIMEOUT(vdso, has_right_stacks_at_each_instruction, 300)
{
	unsigned int i, nr, hits = 0, wrong = 0, inner = 0;
	unsigned long helper[MAX_HELPERS], ip;
	struct stack stack;

	call = variant->call;
	for (ip = self->start; ip < self->end; ip += INSN) {
		/* There the kernel would report its own step to the program */
		if (insn_at(ip) == SVC)
			continue;
		ASSERT_EQ(0, sample_at(ip, run_call, &stack));
		if (!stack.nr)
			continue;
		hits++;
		if (is_right(&stack, ip, self->start, self->end, 0))
			continue;
		TH_LOG("wrong at %s + %#lx", variant->name, ip - self->start);
		wrong++;
	}
	nr = find_helpers(self->start, self->end, helper);
	for (i = 0; i < nr; i++) {
		for (ip = helper[i]; ; ip += INSN) {
			ASSERT_EQ(0, sample_at(ip, run_call, &stack));
			inner += !!stack.nr;
			if (stack.nr && !is_right(&stack, ip, self->start,
						  self->end, helper[i])) {
				TH_LOG("wrong at function %u + %#lx", i,
				       ip - helper[i]);
				wrong++;
			}
			if (insn_at(ip) == RET)
				break;
		}
	}
	TH_LOG("%u instructions, and %u of %u functions that it calls; %u wrong",
	       hits, inner, nr, wrong);
	EXPECT_LE(8, hits);
	EXPECT_EQ(!nr, !inner);
	EXPECT_EQ(0, wrong);
}

TEST_HARNESS_MAIN
