// SPDX-License-Identifier: GPL-2.0
/*
 * The vDSO on arm64: its code is the kernel's, which has built it with tables.
 *
 * A breakpoint at each instruction of its functions, one after another, takes a
 * stack where that is executed. What it has to be is known without any table: all
 * functions are leaves, save that one calls a function of its own, which is a leaf
 * and found by decoding that call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "breakpoint.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define INSN		4
#define RET		0xd65f03c0
#define SVC		0xd4000001
#define MAX_HELPERS	4

SECTION_BOUNDS(text_caller);

static void *function;

/* From the vDSO's function to the program: the calls are the only ones here */

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

/* What the vDSO says when it is asked for the size of its state */
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

/* Where a "bl" leads, or 0 */
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

/* Functions that are called within @start and @end, each once */
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

/*
 * Is it the stack of the vDSO's function, or of @helper, called from there?
 */
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
		/* There, the kernel would report its own step to the program */
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
