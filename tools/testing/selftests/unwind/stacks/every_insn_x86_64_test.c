// SPDX-License-Identifier: GPL-2.0
/*
 * The stack at every instruction.
 *
 * Frame pointers are wrong in the first and last instructions of a function, in PLT
 * entries, and in code that keeps none. Tables are right everywhere. So the test puts a
 * hardware breakpoint on one instruction after another, and each must give the known
 * stack. To find the instructions, it first steps through the code once.
 */
#include <dlfcn.h>
#include <limits.h>
#include <linux/compiler.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include "breakpoint.h"
#include "image.h"
#include "../../kselftest_harness.h"

#define MAX_INSNS	1024
#define TRAP_FLAG	0x100

/* Finding the instructions */

static struct {
	unsigned long	start;
	unsigned long	end;
	unsigned int	nr;
	unsigned long	ip[MAX_INSNS];
} steps;

static void note_step(int sig, siginfo_t *info, void *context)
{
	unsigned long ip = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	unsigned int i;

	if (ip < steps.start || ip >= steps.end || steps.nr == MAX_INSNS)
		return;
	for (i = 0; i < steps.nr; i++)
		if (steps.ip[i] == ip)
			return;
	steps.ip[steps.nr++] = ip;
}

static __always_inline void set_trap_flag(int on)
{
	unsigned long flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG :
					    flags & ~TRAP_FLAG);
}

/* Find all instructions of a range that a call of @fn executes; return their number */
static unsigned int step(void (*fn)(void), unsigned long start,
			 unsigned long end)
{
	struct sigaction action = {
		.sa_sigaction = note_step, .sa_flags = SA_SIGINFO,
	}, old;

	steps.start = start;
	steps.end = end;
	steps.nr = 0;
	if (sigaction(SIGTRAP, &action, &old))
		return 0;
	set_trap_flag(1);
	fn();
	set_trap_flag(0);
	sigaction(SIGTRAP, &old, NULL);
	return steps.nr;
}

/*
 * Functions with a table
 */

static struct notes notes;
static struct image image;

static void end_of_chain(struct notes *n)
{
	n->ra[n->nr++] = (unsigned long)__builtin_return_address(0);
}

/* The chain's return address is here, because all else is inlined */
static void run_chain(void)
{
	notes = (struct notes){ .next = { end_of_chain } };
	((chain_fn)image.entry)(&notes);
	asm volatile("");
}

/* Start and end of the function that contains @ip, by the table */
static bool function_at(const struct elf *elf, unsigned long ip,
			unsigned long *start, unsigned long *end)
{
	const struct elf64_phdr *phdr = elf_phdr(elf, PT_GNU_SFRAME, 0);
	struct sframe_fde *fde;
	unsigned int i;

	for (i = 0; (fde = elf_fde(elf, i)); i++) {
		/* Relative to the field itself */
		*start = (unsigned long)image.base + phdr->p_vaddr +
			 ((char *)fde - (char *)elf_sframe(elf)) +
			 fde->start_offset;
		*end = *start + fde->size;
		if (ip >= *start && ip < *end)
			return true;
	}
	return false;
}

FIXTURE(insns)
{
	struct elf elf;
};

/* @nr_thunks: instructions of the compiler's own that are executed */
FIXTURE_VARIANT(insns)
{
	const char *file;
	unsigned int nr_thunks;
};

FIXTURE_VARIANT_ADD(insns, table) {
	.file = "chain_table.so",
};

FIXTURE_VARIANT_ADD(insns, both) {
	.file = "chain_both.so",
};

/* A call and two more, to return, and as many to call what a pointer points to */
FIXTURE_VARIANT_ADD(insns, thunks) {
	.file = "chain_table_thunk.so",
	.nr_thunks = 6,
};

FIXTURE_SETUP(insns)
{
	int fd;

	if (!breakpoints_work())
		SKIP(return, "no hardware breakpoints");
	ASSERT_EQ(0, elf_read(&self->elf, variant->file));
	fd = elf_memfd(&self->elf);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, image_map(&image, &self->elf, fd, NULL));
	close(fd);
}

FIXTURE_TEARDOWN(insns)
{
	elf_free(&self->elf);
}

/*
 * notes.ra[i] is the return address of the i'th function of the chain. It lies in the
 * function before it, and notes.ra[0] in run_chain().  Is this the stack of an instruction
 * that returns there?
 */
static bool is_stack(const struct stack *stack, unsigned long ip, unsigned int i)
{
	struct stack expected = { .ip = { ip }, .nr = 1 };

	do {
		expected.ip[expected.nr++] = notes.ra[i];
	} while (i--);
	return stack_begins_with(stack, &expected);
}

TEST_F_TIMEOUT(insns, have_right_stacks, 60)
{
	unsigned int level, i, seen = 0, thunks = 0;
	unsigned long start, end;
	struct stack stack;

	ASSERT_LE(3 * CHAIN_FRAMES, step(run_chain, image.text, image.text_end));
	for (level = 1; level <= CHAIN_FRAMES; level++) {
		ASSERT_TRUE(function_at(&self->elf, notes.ra[level] - 1, &start,
					&end));
		for (i = 0; i < steps.nr; i++) {
			if (steps.ip[i] < start || steps.ip[i] >= end)
				continue;
			ASSERT_EQ(0, sample_at(steps.ip[i], run_chain, &stack));
			EXPECT_TRUE(is_stack(&stack, steps.ip[i], level - 1))
				TH_LOG("function %u, offset %#lx", level,
				       steps.ip[i] - start);
			/* Seen */
			steps.ip[i] = 0;
			seen++;
		}
	}
	EXPECT_EQ(steps.nr, seen + variant->nr_thunks);
	/* The innermost function first calls by one thunk, then returns by the other */
	for (i = 0; i < steps.nr; i++) {
		if (!steps.ip[i])
			continue;
		level = thunks++ < variant->nr_thunks / 2 ? CHAIN_FRAMES : CHAIN_FRAMES - 1;
		ASSERT_EQ(0, sample_at(steps.ip[i], run_chain, &stack));
		EXPECT_TRUE(is_stack(&stack, steps.ip[i], level))
			TH_LOG("thunks, instruction %u", thunks);
	}
}

/*
 * PLT
 */

static chain_fn through_plt;

/* Called through the library's PLT, by the address that the linker has bound */
void plt_end(struct notes *n)
{
	n->ra[n->nr++] = (unsigned long)__builtin_return_address(0);
}

static void run_plt(void)
{
	notes = (struct notes){};
	through_plt(&notes);
	asm volatile("");
}

/* Load a fresh copy of the library, without any bound entry */
static void *load_plt(void)
{
	char exe[PATH_MAX] = "", path[2 * PATH_MAX];
	void *lib;

	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		return NULL;
	*strrchr(exe, '/') = 0;
	snprintf(path, sizeof(path), "%s/plt.so", exe);
	lib = dlopen(path, RTLD_LAZY);
	if (lib)
		through_plt = (chain_fn)dlsym(lib, "through_plt");
	return lib;
}

/*
 * The library is loaded again for each instruction, so each call is bound again and runs
 * through all of the entry and the head of the PLT. It gets the same address each time,
 * because nothing else is mapped meanwhile.
 */
TEST(plt_entries_have_right_stacks)
{
	const unsigned long page = sysconf(_SC_PAGESIZE);
	unsigned long ip[MAX_INSNS], start, end;
	unsigned int i, nr;
	struct stack stack;
	void *lib;

	if (!breakpoints_work())
		SKIP(return, "no hardware breakpoints");
	lib = load_plt();
	ASSERT_NE(NULL, lib)
		TH_LOG("%s", dlerror());
	ASSERT_NE(NULL, through_plt);
	/* The PLT lies before the text, in the same page */
	end = (unsigned long)through_plt;
	start = end & -page;
	nr = step(run_plt, start, end);
	memcpy(ip, steps.ip, sizeof(ip));
	/* At least three instructions of the entry (jump, push, jump), and two of the head */
	ASSERT_LE(5, nr);
	for (i = 0; i < nr; i++) {
		struct stack expected = { .ip = { ip[i] }, .nr = 1 };

		ASSERT_EQ(0, dlclose(lib));
		lib = load_plt();
		ASSERT_NE(NULL, lib);
		ASSERT_EQ(end, (unsigned long)through_plt);
		ASSERT_EQ(0, sample_at(ip[i], run_plt, &stack));
		/* The return addresses of plt_end(), then of through_plt() */
		expected.ip[expected.nr++] = notes.ra[1];
		expected.ip[expected.nr++] = notes.ra[0];
		EXPECT_TRUE(stack_begins_with(&stack, &expected))
			TH_LOG("PLT + %#lx", ip[i] - start);
	}
	dlclose(lib);
}

TEST_HARNESS_MAIN
