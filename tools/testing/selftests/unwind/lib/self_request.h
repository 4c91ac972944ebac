/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture of tests in which this thread is asked, at each getppid(). They include the
 * harness first.
 */
#ifndef SELFTEST_UNWIND_SELF_REQUEST_H
#define SELFTEST_UNWIND_SELF_REQUEST_H

#include <sys/syscall.h>

#include "self.h"

FIXTURE(request)
{
	struct asked asked;
};

FIXTURE_SETUP(request)
{
	self_reset();
	self->asked.fd = -1;
	self->asked.attr = self_attr();
	if (asked_open(&self->asked, 0, SYS_getppid))
		SKIP(return, "no raw_syscalls tracepoints, or not root");
	ASSERT_EQ(0, self_set_stack(self_stack, SELF_STACK_SIZE));
	ASSERT_EQ(0, self_install(SA_SIGINFO | SA_ONSTACK));
	ASSERT_EQ(0, self_enable(&self->asked.attr));
}

FIXTURE_TEARDOWN(request)
{
	self_disable();
	records_free(&self->asked.recs);
	asked_close(&self->asked);
}

/* A sample whose request has this outcome; the native stack is there, and no other frames */
#define EXPECT_OUTCOME(outcome) do {					\
	const char *__outcome = (outcome);				\
	const unsigned long __before = self_count(__outcome);		\
									\
	self_sample();							\
	EXPECT_EQ(__before + 1, self_count(__outcome));			\
	EXPECT_TRUE(asked_native_only(&self->asked));			\
} while (0)

#endif /* SELFTEST_UNWIND_SELF_REQUEST_H */
