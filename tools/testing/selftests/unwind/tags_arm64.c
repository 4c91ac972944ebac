// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks on arm64 whose addresses have a tag: the hardware ignores it, or compares it
 * with that of the memory (MTE). Either way the stack is the whole one, by addresses
 * that have none.
 */
#include <asm/hwcap.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "whole.h"
#include "../kselftest_harness.h"

#ifndef PROT_MTE
#define PROT_MTE	0x20
#endif

#define GRANULE		16
#define TAG		5UL
#define TAG_SHIFT	56

static void samples(void)
{
	whole_note_ra();
	whole_sample();
}

static void handler(int sig, siginfo_t *info, void *context)
{
	whole_note(((ucontext_t *)context)->uc_mcontext.pc);
	whole_note((unsigned long)__builtin_return_address(0));
	samples();
}

static void sampled_in_call(void *arg)
{
	char locals[80];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	samples();
	asm volatile("" : : "r"(locals) : "memory");
}

static void sampled_in_handler(void *arg)
{
	char locals[80];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	whole_raise(SIGUSR1);
	asm volatile("" : : "r"(locals) : "memory");
}

FIXTURE(tags)
{
	struct sampler sampler;
	char *stack;
};

FIXTURE_VARIANT(tags)
{
	void (*fn)(void *arg);
	bool checked;
};

FIXTURE_VARIANT_ADD(tags, ignored) {
	.fn = sampled_in_call,
};

FIXTURE_VARIANT_ADD(tags, ignored_in_handler) {
	.fn = sampled_in_handler,
};

FIXTURE_VARIANT_ADD(tags, compared) {
	.fn = sampled_in_call, .checked = true,
};

FIXTURE_VARIANT_ADD(tags, compared_in_handler) {
	.fn = sampled_in_handler, .checked = true,
};

/* All of the stack's memory has the tag; an access with another is a fault at once */
static int compare_tags(char *stack)
{
	uintptr_t at = (uintptr_t)stack - WHOLE_STACK;

	if (prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE | PR_MTE_TCF_SYNC |
		  0xfffeUL << PR_MTE_TAG_SHIFT, 0, 0, 0) ||
	    mprotect((void *)at, WHOLE_STACK, PROT_READ | PROT_WRITE | PROT_MTE))
		return -1;
	for (; at < (uintptr_t)stack; at += GRANULE)
		asm volatile(".arch_extension memtag\n\t"
			     "stg	%0, [%0]"
			     : : "r"(at | TAG << TAG_SHIFT) : "memory");
	return 0;
}

FIXTURE_SETUP(tags)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	if (variant->checked && !(getauxval(AT_HWCAP2) & HWCAP2_MTE))
		SKIP(return, "the processor has no tags for memory");
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	self->stack = whole_stack();
	ASSERT_NE(NULL, self->stack);
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	whole_raise_init();
	/* Or the kernel would lay down no signal's frame by such an address */
	if (variant->fn == sampled_in_handler)
		ASSERT_EQ(0, prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE,
				   0, 0, 0));
	if (variant->checked)
		ASSERT_EQ(0, compare_tags(self->stack));
}

FIXTURE_TEARDOWN(tags)
{
	sampler_close(&self->sampler);
}

TEST_F(tags, are_no_part_of_the_stack)
{
	char *top = (char *)((uintptr_t)self->stack | TAG << TAG_SHIFT);
	int fds[2];

	if (variant->checked) {
		/* The kernel's own accesses are compared, too */
		ASSERT_EQ(0, pipe(fds));
		ASSERT_EQ(1, write(fds[1], top - GRANULE, 1));
		ASSERT_EQ(-1, write(fds[1], self->stack - GRANULE, 1));
		ASSERT_EQ(EFAULT, errno);
	}
	whole_run(variant->fn, NULL, top);
	EXPECT_TRUE(whole_is_right(&self->sampler));
}

TEST_HARNESS_MAIN
