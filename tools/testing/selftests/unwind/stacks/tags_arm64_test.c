// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks on arm64 whose addresses have a tag. The hardware ignores the tag, or compares
 * it with the memory's tag (MTE). Either way the stack is whole, with untagged addresses.
 * The same holds for tables.
 */
#include <asm/hwcap.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "code_register.h"
#include "whole.h"
#include "../../kselftest_harness.h"

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

/* The kernel accepts tagged addresses, also compares their tags, or neither */
static int set_tags(unsigned long how)
{
	return prctl(PR_SET_TAGGED_ADDR_CTRL, how, 0, 0, 0);
}

/* Tag all of the memory; an access with another tag faults at once */
static int compare_tags(char *memory, size_t size)
{
	uintptr_t at = (uintptr_t)memory, end = at + size;

	if (set_tags(PR_TAGGED_ADDR_ENABLE | PR_MTE_TCF_SYNC |
		     0xfffeUL << PR_MTE_TAG_SHIFT) ||
	    mprotect(memory, size, PROT_READ | PROT_WRITE | PROT_MTE))
		return -1;
	for (; at < end; at += GRANULE)
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
	/* Otherwise the kernel lays down no signal frame at such an address */
	if (variant->fn == sampled_in_handler)
		ASSERT_EQ(0, set_tags(PR_TAGGED_ADDR_ENABLE));
	if (variant->checked)
		ASSERT_EQ(0, compare_tags(self->stack - WHOLE_STACK, WHOLE_STACK));
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
		/* The tags of the kernel's own accesses are compared, too */
		ASSERT_EQ(0, pipe(fds));
		ASSERT_EQ(1, write(fds[1], top - GRANULE, 1));
		ASSERT_EQ(-1, write(fds[1], self->stack - GRANULE, 1));
		ASSERT_EQ(EFAULT, errno);
	}
	whole_run(variant->fn, NULL, top);
	EXPECT_TRUE(whole_is_right(&self->sampler));
}

/*
 * Tables
 */

#define KEY	0x1001

/* The same range, by addresses with a tag */
static void tag_attr(struct unwind_table_attr *attr)
{
	attr->table_start |= TAG << TAG_SHIFT;
	attr->text_start |= TAG << TAG_SHIFT;
}

FIXTURE(table)
{
	struct sampler sampler;
	struct unwind_table_attr attr;
	struct code code;
};

FIXTURE_SETUP(table)
{
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	ASSERT_EQ(0, code_map(&self->code, 1));
	code_attr(&self->attr, &self->code, KEY);
}

FIXTURE_TEARDOWN(table)
{
	code_unmap(&self->code);
	sampler_close(&self->sampler);
}

/* Like every system call, it accepts tags only if the process has enabled that */
TEST_F(table, registered_by_tagged_addresses_is_used)
{
	tag_attr(&self->attr);
	EXPECT_EQ(-EFAULT, unwind_table_add(&self->attr));
	ASSERT_EQ(0, set_tags(PR_TAGGED_ADDR_ENABLE));
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	/* It is the same text */
	EXPECT_EQ(-EEXIST, code_register(&self->code, KEY + 1));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&self->code, 0)));
	/* And goes with its table */
	ASSERT_EQ(0, munmap(self->code.table, self->code.table_mapped));
	EXPECT_EQ(THROUGH_NOT, code_through(&self->sampler, code_fn(&self->code, 0)));
}

/* The kernel reads tagged memory whatever its tag is */
TEST_F(table, in_tagged_memory_is_used)
{
	if (!(getauxval(AT_HWCAP2) & HWCAP2_MTE))
		SKIP(return, "the processor has no tags for memory");
	ASSERT_EQ(0, compare_tags(self->code.table, self->code.table_mapped));
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&self->code, 0)));
	ASSERT_EQ(0, unwind_table_del(KEY));
	tag_attr(&self->attr);
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&self->code, 0)));
}

TEST_HARNESS_MAIN
