// SPDX-License-Identifier: GPL-2.0
/*
 * Signals and the vDSO: from the handler across the signal frame to the exact instruction
 * that was interrupted, and on to the end of the stack.
 *
 * A handler returns to a restorer, which only calls sigreturn. There are several: libc's;
 * one with other instructions; and one that only a table describes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/unwind.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <time.h>
#include <unistd.h>

#include "breakpoint.h"
#include "image.h"
#include "shots.h"
#include "walk_x86_64.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define TRAP_FLAG	0x100
/* Bytes of mov $15,%rax; syscall */
#define RESTORER_SIZE	9

static struct sampler sampler;

/*
 * Restorers
 */

ASM_LABEL(restore_movl);
ASM_LABEL(restore_described_nop);
ASM_LABEL(restore_described);
ASM_LABEL(restore_described_end);

asm(".pushsection .text\n"
	"restore_movl:\n"
	"	movl	$15, %eax\n"
	"	syscall\n"
	/* This is copied; a return address is looked up minus one */
	"restore_described_nop:\n"
	"	nop\n"
	"restore_described:\n"
	"	movl	$15, %ecx\n"
	"	movl	%ecx, %eax\n"
	"	syscall\n"
	"restore_described_end:\n"
	"	ud2\n"
	".popsection\n");

/* A table of one function with one row, with a rule for each register */
struct signal_table {
	struct sframe_header	header;
	struct sframe_fde	fde;
	struct sframe_attr	attr;
	uint8_t			start;
	uint8_t			info;
	uint16_t		rule[6];
} __packed;

#define FDE_SIGNAL		0x80
#define FDE_FLEX		1
#define ROW_INFO_2_BYTES	0x20
#define ROW_INFO_WORDS(nr)	((nr) << 1)
/* The address at the stack pointer, register 7, plus an offset */
#define AT_SP			(7 << 3 | 2 | 1)
#define IN_UCONTEXT(reg)						\
	offsetof(ucontext_t, uc_mcontext.gregs[reg])

/* Make the restorer that only a table describes, in separate memory; or return NULL */
static void (*described_restorer(void))(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const size_t size = restore_described_end - restore_described_nop;
	struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME, .key = 1, .text_size = size,
		.table_size = sizeof(struct signal_table),
	};
	struct signal_table *table;
	char *text;

	text = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return NULL;
	table = (struct signal_table *)(text + page);
	memcpy(text, restore_described_nop, size);
	*table = (struct signal_table){
		.header = {
			.magic = SFRAME_MAGIC, .version = 3,
			.flags = SFRAME_F_FDE_SORTED, .abi_arch = 3,
			.cfa_fixed_ra_offset = -8, .num_fdes = 1,
			.num_fres = 1,
			.fre_len = sizeof(*table) -
				   offsetof(struct signal_table, attr),
			.freoff = sizeof(table->fde),
		},
		.fde = { .start_offset = text - (char *)table, .size = size },
		.attr = { .num_fres = 1, .info = FDE_SIGNAL,
			  .info2 = FDE_FLEX },
		.info = ROW_INFO_2_BYTES | ROW_INFO_WORDS(6),
		/* CFA, return address, frame pointer */
		.rule = { AT_SP, IN_UCONTEXT(REG_RSP),
			  AT_SP, IN_UCONTEXT(REG_RIP),
			  AT_SP, IN_UCONTEXT(REG_RBP) },
	};
	attr.text_start = (unsigned long)text;
	attr.table_start = (unsigned long)table;
	if (mprotect(text, page, PROT_READ | PROT_EXEC) ||
	    syscall(SYS_prctl, PR_UNWIND_TABLE, PR_UNWIND_TABLE_ADD, &attr,
		    sizeof(attr), 0))
		return NULL;
	return (void (*)(void))(text + (restore_described - restore_described_nop));
}

FIXTURE(restorer)
{
	void (*restorer)(void);
};

FIXTURE_VARIANT(restorer)
{
	void (*restorer)(void);
	bool described;
};

FIXTURE_VARIANT_ADD(restorer, libc) {
};

FIXTURE_VARIANT_ADD(restorer, movl) {
	.restorer = (void (*)(void))restore_movl,
};

FIXTURE_VARIANT_ADD(restorer, described) {
	.described = true,
};

FIXTURE_SETUP(restorer)
{
	if (sampler_open(&sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	self->restorer = variant->restorer;
	if (variant->described) {
		self->restorer = described_restorer();
		ASSERT_NE(NULL, self->restorer)
			TH_LOG("%s", strerror(errno));
	}
}

FIXTURE_TEARDOWN(restorer)
{
	sampler_close(&sampler);
}

/*
 * A signal at each instruction
 */

static struct {
	/* Only there: elsewhere are libraries without tables */
	unsigned long	start;
	unsigned long	end;
	unsigned long	restorer;
	unsigned int	right;
	/* Right up to their end */
	unsigned int	ended;
	unsigned int	wrong;
} visited;

/* Called by the visitor itself, whose return address is taken */
static __always_inline void judge_step(const struct stack *stack,
				       unsigned long handler)
{
	struct stack sampled, expected;

	if (stack->ip[0] < visited.start || stack->ip[0] >= visited.end)
		return;
	syscall0_at(SYS_getppid, &expected.ip[0]);
	expected.ip[1] = (unsigned long)__builtin_return_address(0);
	expected.ip[2] = handler;
	memcpy(&expected.ip[3], stack->ip, stack->nr * sizeof(*stack->ip));
	expected.nr = 3 + stack->nr;
	if (handler != visited.restorer || sampler_stack(&sampler, &sampled)) {
		visited.wrong++;
		return;
	}
	if (sampled.nr < expected.nr &&
	    !memcmp(sampled.ip, expected.ip, sampled.nr * sizeof(*sampled.ip)))
		visited.ended++;
	else if (stack_is(&sampled, &expected))
		visited.right++;
	else
		visited.wrong++;
}

static void sample_step(const struct stack *stack, unsigned long handler)
{
	judge_step(stack, handler);
}

/* So neither is a leaf, and the argument is in memory */
static void use(void *p)
{
	asm volatile("" : : "r"(p) : "memory");
}

/* The frame is made after an exit without one */
static void shrink_wrapped(void *arg)
{
	char locals[200];

	if (!arg)
		return;
	use(locals);
	asm volatile("" : : : "rbx", "r12", "r13", "memory");
	use(arg);
}

static void shrink_wrapped_both_ways(void *arg)
{
	shrink_wrapped(NULL);
	shrink_wrapped(arg);
}

static void variable_length(void *arg)
{
	char *locals = __builtin_alloca(*(size_t *)arg);

	use(locals);
	use(arg);
}

/* The stack is aligned, and another register is the CFA meanwhile */
static void aligned(void *arg)
{
	char locals[64] __aligned(64);
	char *more = __builtin_alloca(*(size_t *)arg);

	use(locals);
	use(more);
}

static void all_shapes(void *arg)
{
	shrink_wrapped_both_ways(arg);
	variable_length(arg);
	use(arg);
}

ASM_LABEL(__executable_start);
ASM_LABEL(etext);

/* Step through a function of this program; return the number of instructions */
static int visit(void (*fn)(void *arg), void (*restorer)(void))
{
	size_t size = 100;

	visited.right = 0;
	visited.ended = 0;
	visited.wrong = 0;
	visited.start = (unsigned long)__executable_start;
	visited.end = (unsigned long)etext;
	if (walk_handler(SIGTRAP, SIG_IGN, 0, restorer))
		return -1;
	visited.restorer = walk_restorer(SIGTRAP);
	if (walk(fn, &size, restorer, sample_step))
		return -1;
	return visited.right + visited.ended + visited.wrong;
}

TEST_F(restorer, of_signal_at_each_instruction_is_crossed)
{
	/* Five functions, of at least four instructions each */
	ASSERT_LE(20, visit(all_shapes, self->restorer));
	EXPECT_EQ(0, visited.ended);
	EXPECT_EQ(0, visited.wrong);
}

/* Where the kernel itself recognizes the signal frame, it has all interrupted registers */
TEST_F(restorer, of_signal_while_stack_is_aligned_is_crossed)
{
	ASSERT_LE(10, visit(aligned, self->restorer));
	EXPECT_LE(10, visited.right);
	EXPECT_EQ(0, visited.wrong);
	/* A table has no rule for other registers: the stack stops where it needs one */
	if (!variant->described)
		EXPECT_EQ(0, visited.ended);
}

/* Like a call by the dynamic linker */
static chain_fn through_plt;

void plt_end(struct notes *n)
{
	n->ra[n->nr++] = (unsigned long)__builtin_return_address(0);
}

static void run_plt(void *arg)
{
	through_plt(arg);
}

static unsigned int in_plt;

static void sample_plt(const struct stack *stack, unsigned long handler)
{
	unsigned int before = visited.right;

	judge_step(stack, handler);
	if (stack->ip[0] < (unsigned long)through_plt)
		in_plt += visited.right - before;
}

TEST_F(restorer, of_signal_in_plt_is_crossed)
{
	const unsigned long page = sysconf(_SC_PAGESIZE);
	struct notes notes = {};
	char path[PATH_MAX];
	void *lib;

	/* /proc/self/exe is the loader if this is run by the loader's name */
	snprintf(path, sizeof(path), "%.*s./plt.so",
		 (int)(program_invocation_short_name - program_invocation_name),
		 program_invocation_name);
	lib = dlopen(path, RTLD_LAZY);
	ASSERT_NE(NULL, lib)
		TH_LOG("%s", dlerror());
	through_plt = (chain_fn)dlsym(lib, "through_plt");
	ASSERT_NE(NULL, through_plt);

	visited.right = 0;
	visited.ended = 0;
	visited.wrong = 0;
	/* The PLT lies before the text, in the same page */
	visited.start = (unsigned long)through_plt & -page;
	visited.end = visited.start + page;
	ASSERT_EQ(0, walk_handler(SIGTRAP, SIG_IGN, 0, self->restorer));
	visited.restorer = walk_restorer(SIGTRAP);
	in_plt = 0;
	ASSERT_EQ(0, walk(run_plt, &notes, self->restorer, sample_plt));
	EXPECT_EQ(2, notes.nr);
	EXPECT_EQ(0, visited.ended);
	EXPECT_EQ(0, visited.wrong);
	/* Three instructions of the entry (jump, push, jump), and two of the head */
	EXPECT_LE(5, in_plt);
	dlclose(lib);
}

/* Handlers that note the interrupted addresses */

static unsigned long context_ip(void *context)
{
	return ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

#define note_signal(context)						\
do {									\
	whole_note(context_ip(context));				\
	whole_note_ra();						\
} while (0)

static void sampling_handler(int sig, siginfo_t *info, void *context)
{
	note_signal(context);
	whole_sample();
}

static void raise_usr1(void *arg)
{
	whole_note_ra();
	whole_raise(SIGUSR1);
}

static void raising_handler(int sig, siginfo_t *info, void *context)
{
	note_signal(context);
	whole_raise(SIGUSR2);
}

TEST_F(restorer, of_nested_signals_is_crossed)
{
	ASSERT_EQ(0, walk_handler(SIGUSR1, raising_handler, SA_SIGINFO,
				  self->restorer));
	ASSERT_EQ(0, walk_handler(SIGUSR2, sampling_handler, SA_SIGINFO,
				  self->restorer));
	whole_run(raise_usr1, NULL, NULL);
	/* Two handlers of two addresses each, the end, and the system call */
	EXPECT_EQ(6, whole.nr);
	EXPECT_TRUE(whole_is_right(&sampler));
}

static void forgetting_handler(int sig, siginfo_t *info, void *context)
{
	note_signal(context);
	signal(SIGUSR1, SIG_IGN);
	whole_sample();
}

/* A changed restorer does not affect a running handler */
TEST_F(restorer, that_is_no_longer_installed_is_crossed)
{
	ASSERT_EQ(0, walk_handler(SIGUSR1, forgetting_handler, SA_SIGINFO,
				  self->restorer));
	whole_run(raise_usr1, NULL, NULL);
	EXPECT_TRUE(whole_is_right(&sampler));
}

static unsigned long dropped_page, dropped_size;

/* As in a child after fork(): only text that it has run itself is in its page tables */
static void dropping_handler(int sig, siginfo_t *info, void *context)
{
	long ret = SYS_madvise;

	note_signal(context);
	asm volatile("syscall" : "+a"(ret)
		     : "D"(dropped_page), "S"(dropped_size), "d"(MADV_DONTNEED)
		     : "rcx", "r11", "memory");
	whole_sample();
	if (ret)
		abort();
}

TEST(restorer_whose_page_is_not_mapped_is_crossed)
{
	if (sampler_open(&sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	ASSERT_EQ(0, walk_handler(SIGUSR1, dropping_handler, SA_SIGINFO, NULL));
	dropped_size = sysconf(_SC_PAGESIZE);
	dropped_page = walk_restorer(SIGUSR1) & -dropped_size;
	whole_run(raise_usr1, NULL, NULL);
	EXPECT_TRUE(whole_is_right(&sampler));
}

/* The alternate stack lies above the other, or below */
static void on_alternate_stack(struct __test_metadata *_metadata, bool above,
			       void (*restorer)(void))
{
	char *low = mmap(NULL, 2 * WHOLE_STACK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t alternate = { .ss_size = WHOLE_STACK }, old;

	ASSERT_NE(MAP_FAILED, low);
	alternate.ss_sp = above ? low + WHOLE_STACK : low;
	ASSERT_EQ(0, sigaltstack(&alternate, &old));
	ASSERT_EQ(0, walk_handler(SIGUSR1, raising_handler,
				  SA_SIGINFO | SA_ONSTACK, restorer));
	ASSERT_EQ(0, walk_handler(SIGUSR2, sampling_handler,
				  SA_SIGINFO | SA_ONSTACK, restorer));
	whole_run(raise_usr1, NULL, above ? low + WHOLE_STACK :
					    low + 2 * WHOLE_STACK);
	EXPECT_TRUE(whole_is_right(&sampler));
	ASSERT_EQ(0, sigaltstack(&old, NULL));
	munmap(low, 2 * WHOLE_STACK);
}

TEST_F(restorer, on_alternate_stack_above_is_crossed)
{
	on_alternate_stack(_metadata, true, self->restorer);
}

TEST_F(restorer, on_alternate_stack_below_is_crossed)
{
	on_alternate_stack(_metadata, false, self->restorer);
}

/*
 * The restorer itself is interrupted
 */

static struct {
	unsigned long	start;
	unsigned int	right;
	unsigned int	wrong;
} restoring;

/* It returns with the trap flag set, so a signal follows each instruction */
static void stepping_handler(int sig, siginfo_t *info, void *context)
{
	note_signal(context);
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() |
				       TRAP_FLAG);
}

static void restorer_handler(int sig, siginfo_t *info, void *context)
{
	const unsigned int nr = whole.nr;
	unsigned long ip = context_ip(context);

	if (ip < restoring.start || ip >= restoring.start + RESTORER_SIZE)
		return;
	/* Replaces the restorer's address as the return address of the handler */
	whole_forget(nr - 1);
	note_signal(context);
	whole_sample();
	if (whole_is_right(&sampler))
		restoring.right++;
	else
		restoring.wrong++;
	whole_forget(nr);
}

TEST_F(restorer, that_is_interrupted_is_crossed)
{
	if (variant->described)
		SKIP(return, "its table has one row for all its instructions");
	restoring.right = 0;
	restoring.wrong = 0;
	ASSERT_EQ(0, walk_handler(SIGUSR1, stepping_handler, SA_SIGINFO,
				  self->restorer));
	ASSERT_EQ(0, walk_handler(SIGTRAP, restorer_handler, SA_SIGINFO,
				  self->restorer));
	restoring.start = walk_restorer(SIGUSR1);
	whole_run(raise_usr1, NULL, NULL);
	/* Before the move, and before the system call */
	EXPECT_EQ(2, restoring.right);
	EXPECT_EQ(0, restoring.wrong);
}

/* A breakpoint at an instruction of the restorer, which is then the topmost frame */
static void plain_handler(int sig, siginfo_t *info, void *context)
{
	whole_forget(1);
	whole_note(context_ip(context));
}

static void run_raise(void)
{
	whole_run(raise_usr1, NULL, NULL);
}

TEST_F(restorer, at_each_of_its_instructions_is_crossed)
{
	unsigned int move, offset;
	struct stack stack, expected;

	if (!breakpoints_work())
		SKIP(return, "no hardware breakpoints");
	ASSERT_EQ(0, walk_handler(SIGUSR1, plain_handler, SA_SIGINFO,
				  self->restorer));
	restoring.start = walk_restorer(SIGUSR1);
	move = *(unsigned char *)restoring.start == 0x48 ? 7 : 5;
	for (offset = 0; offset <= move; offset += move) {
		ASSERT_EQ(0, sample_at(restoring.start + offset, run_raise,
				       &stack));
		whole_note(restoring.start + offset);
		expect_chain(&expected, &whole);
		EXPECT_EQ(3, expected.nr);
		EXPECT_TRUE(stack_is(&stack, &expected));
	}
}

/* After the restorer's system call, the kernel is back at the interrupted code */
TEST_F(restorer, that_has_called_sigreturn_is_crossed)
{
	struct sampler sigreturn;

	ASSERT_EQ(0, walk_handler(SIGUSR1, plain_handler, SA_SIGINFO,
				  self->restorer));
	ASSERT_EQ(0, sampler_open_syscall(&sigreturn, 0, SYS_rt_sigreturn));
	whole_run(raise_usr1, NULL, NULL);
	EXPECT_EQ(2, whole.nr);
	EXPECT_TRUE(whole_is_right(&sigreturn));
}

/*
 * Signals that an instruction causes, and jumps out of their handlers
 */

static sigjmp_buf jump;

static void jumping_handler(int sig, siginfo_t *info, void *context)
{
	note_signal(context);
	whole_sample();
	siglongjmp(jump, 1);
}

/* Read inaccessible memory, in the middle of a prologue */
void fault(void *arg);
asm(".pushsection .text\n"
	".type fault, @function\n"
	"fault:\n"
	"	.cfi_startproc\n"
	"	pushq	%rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	xorl	%ebx, %ebx\n"
	"	movq	(%rbx), %rbx\n"
	"	subq	$32, %rsp\n"
	"	.cfi_adjust_cfa_offset 32\n"
	"	addq	$32, %rsp\n"
	"	.cfi_adjust_cfa_offset -32\n"
	"	popq	%rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size fault, . - fault\n"
	".popsection\n");

static unsigned int jumps;

/* Its caller, twice: after the jump, the stack is as before */
static void fault_and_jump(void *arg)
{
	const unsigned int nr = whole.nr;
	unsigned long here;

	whole_note_ra();
	if (!sigsetjmp(jump, 1)) {
		/* The call's return address is noted before the call */
		asm volatile("leaq 1f(%%rip), %[here]\n\t"
			     "movq %[here], %[ra]\n\t"
			     "call fault\n"
			     "1:"
			     : [here] "=&r"(here), [ra] "=m"(whole.ra[nr + 1])
			     : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9",
				 "r10", "r11", "memory", "cc");
		return;
	}
	jumps += whole_is_right(&sampler);
	whole_forget(nr + 1);
	whole_sample();
	jumps += whole_is_right(&sampler);
}

/* In @whole, the call's return address precedes the handler's notes */
static void fault_handler(int sig, siginfo_t *info, void *context)
{
	whole.nr++;
	note_signal(context);
	whole_sample();
	siglongjmp(jump, 1);
}

TEST_F(restorer, of_page_fault_left_by_longjmp_is_crossed)
{
	ASSERT_EQ(0, walk_handler(SIGSEGV, fault_handler, SA_SIGINFO,
				  self->restorer));
	jumps = 0;
	whole_run(fault_and_jump, NULL, NULL);
	EXPECT_EQ(2, jumps);
	signal(SIGSEGV, SIG_DFL);
}

static void jump_out_of_nested(void *arg)
{
	const unsigned int nr = whole.nr;

	whole_note_ra();
	if (!sigsetjmp(jump, 1)) {
		whole_raise(SIGUSR1);
		return;
	}
	jumps += whole_is_right(&sampler);
	whole_forget(nr + 1);
	whole_raise(SIGTERM);
	jumps += whole_is_right(&sampler);
}

TEST_F(restorer, of_nested_signals_left_by_longjmp_is_crossed)
{
	ASSERT_EQ(0, walk_handler(SIGUSR1, raising_handler, SA_SIGINFO,
				  self->restorer));
	ASSERT_EQ(0, walk_handler(SIGUSR2, jumping_handler, SA_SIGINFO,
				  self->restorer));
	ASSERT_EQ(0, walk_handler(SIGTERM, sampling_handler, SA_SIGINFO,
				  self->restorer));
	jumps = 0;
	whole_run(jump_out_of_nested, NULL, NULL);
	EXPECT_EQ(2, jumps);
}

static void int3(void *arg)
{
	whole_note_ra();
	asm volatile("int3");
}

TEST_F(restorer, of_breakpoint_instruction_is_crossed)
{
	ASSERT_EQ(0, walk_handler(SIGTRAP, sampling_handler, SA_SIGINFO,
				  self->restorer));
	whole_run(int3, NULL, NULL);
	EXPECT_TRUE(whole_is_right(&sampler));
}

/* Run all of this again, with a libc that has tables */
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
	int status = whole_with_tables("restorer");

	if (status < 0)
		SKIP(return, "no libc with tables");
	EXPECT_EQ(0, status);
}

/*
 * The vDSO: the kernel builds it with tables.
 *
 * The test takes stacks at each instruction that is executed there, as the topmost frame
 * and as the frame that a signal interrupts. It compares them with those known from
 * stepping.
 */

#define MAX_INSNS	1024

/* Where the vDSO is mapped */
static unsigned long start, end;

static bool find_vdso(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	bool found = false;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "[vdso]") &&
			sscanf(line, "%lx-%lx", &start, &end) == 2;
	if (maps)
		fclose(maps);
	return found;
}

static int (*clock_gettime_of_vdso)(clockid_t clock, struct timespec *ts);
static int (*getcpu_of_vdso)(unsigned int *cpu, unsigned int *node, void *none);
static int (*gettimeofday_of_vdso)(void *tv, void *tz);
static ssize_t (*getrandom_of_vdso)(void *buf, size_t size, unsigned int flags,
				    void *state, size_t state_size);

static void call_clock_gettime(void *arg)
{
	struct timespec ts;

	clock_gettime_of_vdso(CLOCK_MONOTONIC, &ts);
	clock_gettime_of_vdso(CLOCK_REALTIME_COARSE, &ts);
}

static void call_gettimeofday(void *arg)
{
	long tv[2], tz;

	gettimeofday_of_vdso(tv, &tz);
}

static void call_getcpu(void *arg)
{
	unsigned int cpu, node;

	getcpu_of_vdso(&cpu, &node, NULL);
}

/* The vDSO's answer to a query for the size of its state */
static struct {
	uint32_t	size;
	uint32_t	prot;
	uint32_t	flags;
	uint32_t	reserved[13];
} random_params;

static void *random_state;

/* Most of it is a cipher, in assembly */
static void call_getrandom(void *arg)
{
	char buf[200];

	getrandom_of_vdso(buf, sizeof(buf), 0, random_state, random_params.size);
}

/* The first call fetches a key from the kernel */
static int init_getrandom(void)
{
	if (getrandom_of_vdso(NULL, 0, 0, &random_params, ~0UL))
		return -1;
	random_state = mmap(NULL, sysconf(_SC_PAGESIZE), random_params.prot,
			    random_params.flags, -1, 0);
	if (random_state == MAP_FAILED)
		return -1;
	call_getrandom(NULL);
	return 0;
}

/* The executed instructions, each with the first stack that was seen there */

static struct stack seen[MAX_INSNS];
static unsigned int nr_seen;

static bool is_new(const struct stack *stack)
{
	unsigned int i;

	if (stack->ip[0] < start || stack->ip[0] >= end ||
	    nr_seen == MAX_INSNS)
		return false;
	for (i = 0; i < nr_seen; i++)
		if (seen[i].ip[0] == stack->ip[0])
			return false;
	return true;
}

static void note_step(const struct stack *stack, unsigned long handler)
{
	struct stack *to = &seen[nr_seen];

	if (!is_new(stack))
		return;
	nr_seen++;
	*to = *stack;
	/* All frames but the stepping function's */
	to->nr--;
	to->ip[to->nr - 1] = to->ip[to->nr];
}

FIXTURE(vdso)
{
	struct sampler sampler;
};

FIXTURE_VARIANT(vdso)
{
	const char *name;
	void *fn;
	void (*call)(void *arg);
	int (*init)(void);
};

FIXTURE_VARIANT_ADD(vdso, clock_gettime) {
	.name = "__vdso_clock_gettime",
	.fn = &clock_gettime_of_vdso,
	.call = call_clock_gettime,
};

FIXTURE_VARIANT_ADD(vdso, gettimeofday) {
	.name = "__vdso_gettimeofday",
	.fn = &gettimeofday_of_vdso,
	.call = call_gettimeofday,
};

FIXTURE_VARIANT_ADD(vdso, getcpu) {
	.name = "__vdso_getcpu",
	.fn = &getcpu_of_vdso,
	.call = call_getcpu,
};

FIXTURE_VARIANT_ADD(vdso, getrandom) {
	.name = "__vdso_getrandom",
	.fn = &getrandom_of_vdso,
	.call = call_getrandom,
	.init = init_getrandom,
};

FIXTURE_SETUP(vdso)
{
	void *lib = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD), *fn;

	if (!lib || !find_vdso())
		SKIP(return, "no vDSO");
	fn = dlsym(lib, variant->name);
	if (!fn)
		SKIP(return, "the vDSO has no such function");
	*(void **)variant->fn = fn;
	ASSERT_EQ(0, variant->init ? variant->init() : 0);
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
}

FIXTURE_TEARDOWN(vdso)
{
	sampler_close(&self->sampler);
}

static void (*call)(void *arg);

static void run_call(void)
{
	whole_run(call, NULL, NULL);
}

TEST_F_TIMEOUT(vdso, has_right_stacks_at_each_instruction, 120)
{
	unsigned int i, missed = 0;
	struct stack stack;

	if (!breakpoints_work())
		SKIP(return, "no hardware breakpoints");
	call = variant->call;
	nr_seen = 0;
	ASSERT_EQ(0, walk(call, NULL, NULL, note_step));
	ASSERT_LE(4, nr_seen);
	EXPECT_EQ((unsigned long)*(void **)variant->fn, seen[0].ip[0]);
	for (i = 0; i < nr_seen; i++) {
		ASSERT_EQ(0, sample_at(seen[i].ip[0], run_call, &stack));
		/* Runs may differ: a clock may tick */
		if (!stack.nr) {
			missed++;
			continue;
		}
		EXPECT_TRUE(stack_is(&stack, &seen[i]))
			TH_LOG("vDSO + %#lx", seen[i].ip[0] - start);
	}
	EXPECT_GT(nr_seen / 4 + 1, missed);
	TH_LOG("%u instructions, %u missed", nr_seen, missed);
}

static struct sampler *vdso_sampler;
static unsigned int wrong;

static void sample_vdso_step(const struct stack *stack, unsigned long handler)
{
	struct stack sampled, expected;

	if (!is_new(stack))
		return;
	seen[nr_seen++] = *stack;
	syscall0_at(SYS_getppid, &expected.ip[0]);
	expected.ip[1] = (unsigned long)__builtin_return_address(0);
	expected.ip[2] = handler;
	memcpy(&expected.ip[3], stack->ip, stack->nr * sizeof(*stack->ip));
	expected.nr = 3 + stack->nr;
	wrong += sampler_stack(vdso_sampler, &sampled) ||
		 !stack_is(&sampled, &expected);
}

TEST_F_TIMEOUT(vdso, has_right_stacks_where_it_is_interrupted, 120)
{
	vdso_sampler = &self->sampler;
	wrong = 0;
	nr_seen = 0;
	ASSERT_EQ(0, walk(variant->call, NULL, NULL, sample_vdso_step));
	EXPECT_LE(4, nr_seen);
	EXPECT_EQ(0, wrong);
}

/*
 * A stack with a protection key of its own.  A signal's handler begins without the rights
 * to it, on another stack.  The interrupted functions are in its stack all the same,
 * deferred and immediate, and the handler has no more rights than before.
 */

static int pipe_fds[2];
static char *keyed;
static long wrote[2];
static int wrote_errno[2];

/* A system call reads memory with the program's own rights */
static void try_write(int i)
{
	wrote[i] = write(pipe_fds[1], keyed - 1, 1);
	wrote_errno[i] = errno;
}

static void keys_handler(int sig, siginfo_t *info, void *context)
{
	whole_note(((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]);
	whole_note((unsigned long)__builtin_return_address(0));
	try_write(0);
	whole_sample();
	try_write(1);
}

static void sampled_in_handler(void *arg)
{
	char locals[80];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	whole_raise(SIGUSR1);
	asm volatile("" : : "r"(locals) : "memory");
}

FIXTURE(keys)
{
	struct subject subject;
	stack_t alternate;
};

FIXTURE_SETUP(keys)
{
	struct sigaction action = {
		.sa_sigaction = keys_handler,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	int key = pkey_alloc(0, 0);

	if (key < 0)
		SKIP(return, "the processor or the kernel has no protection keys");
	if (subject_open(&self->subject) || sampler_open(&self->subject.later, 0))
		SKIP(return, CANNOT);
	keyed = whole_stack();
	ASSERT_NE(NULL, keyed);
	ASSERT_EQ(0, pkey_mprotect(keyed - WHOLE_STACK, WHOLE_STACK, PROT_READ | PROT_WRITE, key));
	self->alternate = (stack_t){ .ss_sp = malloc(SIGSTKSZ), .ss_size = SIGSTKSZ };
	ASSERT_NE(NULL, self->alternate.ss_sp);
	ASSERT_EQ(0, sigaltstack(&self->alternate, NULL));
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, pipe(pipe_fds));
}

FIXTURE_TEARDOWN(keys)
{
	subject_close(&self->subject);
}

TEST_F(keys, without_rights_to_the_interrupted_stack_it_is_whole)
{
	struct subject *subject = &self->subject;
	struct stack expected;
	struct shot shot;
	int i;

	/* The first stack may load tables */
	for (i = 0; i < 2; i++) {
		records_free(&subject->now_recs);
		whole_run(sampled_in_handler, NULL, keyed);
		EXPECT_TRUE(whole_is_right(&subject->later));
		ASSERT_EQ(0, records_read(&subject->now_recs, &subject->now.ring));
		ASSERT_EQ(1, subject->now_recs.nr);
	}
	shot.rec = subject->now_recs.rec[0];
	expect_chain(&expected, &whole);
	EXPECT_TRUE(shot_is_whole(&shot, &expected));

	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-1, wrote[i]);
		EXPECT_EQ(EFAULT, wrote_errno[i]);
	}
}

TEST_HARNESS_MAIN
