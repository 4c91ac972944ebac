// SPDX-License-Identifier: GPL-2.0
/*
 * The vDSO: its code is the kernel's, which has built it with tables.
 *
 * Stacks from each instruction that is executed there, as the topmost frame and
 * as what a signal has interrupted, are compared with what is known from
 * stepping through the code.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "breakpoint.h"
#include "walk_x86_64.h"
#include "whole.h"
#include "../../kselftest_harness.h"

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

/*
 * What is executed: each instruction with the stack that it was first seen with
 */

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
	/* All but the function that steps */
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

FIXTURE_SETUP(vdso)
{
	void *lib = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD), *fn;

	if (!lib || !find_vdso())
		SKIP(return, "no vDSO");
	fn = dlsym(lib, variant->name);
	if (!fn)
		SKIP(return, "the vDSO has no such function");
	*(void **)variant->fn = fn;
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
		/* Not all runs are the same: a clock may tick */
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

static struct sampler *sampler;
static unsigned int wrong;

static void sample_step(const struct stack *stack, unsigned long handler)
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
	wrong += sampler_stack(sampler, &sampled) ||
		 !stack_is(&sampled, &expected);
}

TEST_F_TIMEOUT(vdso, has_right_stacks_where_it_is_interrupted, 120)
{
	sampler = &self->sampler;
	wrong = 0;
	nr_seen = 0;
	ASSERT_EQ(0, walk(variant->call, NULL, NULL, sample_step));
	EXPECT_LE(4, nr_seen);
	EXPECT_EQ(0, wrong);
}

TEST_HARNESS_MAIN
