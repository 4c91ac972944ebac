// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks with a protection key of their own.  A signal's handler begins without the rights
 * to them, on another stack.  The interrupted functions are in its stack all the same,
 * deferred and immediate, and the handler has no more rights than before.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shots.h"
#include "whole.h"
#include "../../kselftest_harness.h"

static int pipe_fds[2];
static char *top;
static long wrote[2];
static int wrote_errno[2];

/* The kernel reads for the program as the program may */
static void try_write(int i)
{
	wrote[i] = write(pipe_fds[1], top - 1, 1);
	wrote_errno[i] = errno;
}

static void handler(int sig, siginfo_t *info, void *context)
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
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	int key = pkey_alloc(0, 0);

	if (key < 0)
		SKIP(return, "the processor or the kernel has no protection keys");
	if (subject_open(&self->subject) || sampler_open(&self->subject.later, 0))
		SKIP(return, CANNOT);
	top = whole_stack();
	ASSERT_NE(NULL, top);
	ASSERT_EQ(0, pkey_mprotect(top - WHOLE_STACK, WHOLE_STACK, PROT_READ | PROT_WRITE, key));
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
		whole_run(sampled_in_handler, NULL, top);
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
