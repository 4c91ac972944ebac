// SPDX-License-Identifier: GPL-2.0
/*
 * The trigger userstacktrace, and hist triggers over deferred user stacks.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ftrace.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define CALLS		10
#define TRIGGER		FTRACE_ENTER "/trigger"
#define STACK_TRIGGER	"events/ftrace/user_unwind_stack/trigger"
#define STACK_HIST	"events/ftrace/user_unwind_stack/hist"

FIXTURE(triggered)
{
	struct ftrace ft;
	struct ftrace other;
	struct ftrace_log log;
	char *text;
};

FIXTURE_SETUP(triggered)
{
	if (ftrace_open(&self->ft, "a"))
		SKIP(return, "no deferred user stacks in traces");
	ASSERT_EQ(0, ftrace_open(&self->other, "b"));
}

FIXTURE_TEARDOWN(triggered)
{
	free(self->text);
	ftrace_free(&self->log);
	EXPECT_EQ(0, ftrace_close(&self->other));
	EXPECT_EQ(0, ftrace_close(&self->ft));
}

static void sample(void *arg)
{
	whole_note_ra();
	whole_sample();
}

static void other_sample(void *arg)
{
	whole_note_ra();
	whole_sample();
}

static void middle(void *arg)
{
	whole_note_ra();
	sample(arg);
}

static void calls(unsigned int nr)
{
	while (nr--)
		whole_run(middle, NULL, NULL);
}

/* "userstacktrace:count if it is this task's getppid()", or what removes it */
static const char *trigger(const char *command)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s if id == %d && common_pid == %d",
		 command, (int)SYS_getppid, getpid());
	return text;
}

/* All stacks are what the program knows of */
static bool all_noted(const struct ftrace_log *log)
{
	struct stack expected;
	size_t i;

	expect_chain(&expected, &whole);
	for (i = 0; i < log->nr; i++)
		if (log->rec[i].type == FTRACE_STACK &&
		    !ftrace_stack_is(&log->rec[i], expected.ip, expected.nr))
			return false;
	return true;
}

TEST_F(triggered, count_and_filter)
{
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("userstacktrace:3")));
	self->text = ftrace_get(&self->ft, TRIGGER);
	ASSERT_NE(NULL, self->text);
	EXPECT_NE(NULL, strstr(self->text, "userstacktrace:count=3 if id == "));
	/* One is enough */
	EXPECT_GT(0, ftrace_set(&self->ft, TRIGGER, trigger("userstacktrace")));

	calls(CALLS);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(3, ftrace_count(&self->log, FTRACE_COOKIE));
	EXPECT_EQ(3, ftrace_count(&self->log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&self->log, NULL));
	EXPECT_TRUE(all_noted(&self->log));
	ftrace_free(&self->log);

	/* Without a count, until it is removed; and not in other instances */
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("!userstacktrace:3")));
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("userstacktrace")));
	ASSERT_EQ(0, ftrace_set(&self->ft, "trace", ""));
	calls(CALLS);
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("!userstacktrace")));
	calls(CALLS);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(CALLS, ftrace_count(&self->log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&self->log, NULL));
	ftrace_free(&self->log);
	ASSERT_EQ(0, ftrace_read(&self->other, "trace", &self->log));
	EXPECT_EQ(0, self->log.nr);
}

TEST_F(triggered, beside_the_kernel_half)
{
	const char *at;
	size_t kernel = 0;

	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("stacktrace")));
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("userstacktrace")));
	calls(CALLS);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(CALLS, ftrace_count(&self->log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&self->log, NULL));
	EXPECT_TRUE(all_noted(&self->log));
	self->text = ftrace_get(&self->ft, "trace");
	ASSERT_NE(NULL, self->text);
	for (at = self->text; (at = strstr(at, "<stack trace>")); at++)
		kernel++;
	EXPECT_EQ(CALLS, kernel);
}

/* With the option as well, each has its cookie, and they share the stack */
TEST_F(triggered, beside_the_option)
{
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_event(&self->ft, FTRACE_ENTER, getpid()));
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("userstacktrace")));
	calls(CALLS);
	/* The trigger keeps the instance registered */
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_OPTION, "0"));
	calls(CALLS);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(3 * CALLS, ftrace_count(&self->log, FTRACE_COOKIE));
	EXPECT_EQ(2 * CALLS, ftrace_count(&self->log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&self->log, NULL));
}

/* More often than there is room for clients: nothing stays registered */
TEST_F_TIMEOUT(triggered, clients_are_given_back, 180)
{
	int i;

	for (i = 0; i < 70; i++) {
		ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER,
					trigger("userstacktrace")));
		ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER,
					trigger("!userstacktrace")));
	}
}

/* The lines of a stack in the histogram, which depend on no address */
static void hist_lines(char *out, size_t size)
{
	struct stack expected;
	unsigned int i;

	*out = 0;
	expect_chain(&expected, &whole);
	for (i = 0; i < expected.nr; i++) {
		struct ftrace_frame place;

		if (!ftrace_place(expected.ip[i], &place))
			return;
		/* The build-id stands behind the first only */
		snprintf(out + strlen(out), size - strlen(out), "%s%s+0x%lx%s",
			 i ? "         " : "", place.path, place.offset,
			 i ? "\n" : "");
		if (!i)
			snprintf(out + strlen(out), size - strlen(out), "%c", 1);
	}
}

/* The hits of the entry that has these lines; -1 if it is not there just once */
static long hits(const char *hist, const char *lines)
{
	const char *first = hist, *rest = strchr(lines, 1) + 1;
	int first_len = rest - lines - 1;
	long found = -1;

	while ((first = memmem(first, strlen(first), lines, first_len))) {
		const char *line_end = strchr(first, '\n');
		const char *count;

		first++;
		if (!line_end || strncmp(line_end + 1, rest, strlen(rest)))
			continue;
		count = strstr(line_end, "hitcount:");
		if (found != -1 || !count)
			return -1;
		found = atol(count + strlen("hitcount:"));
	}
	return found;
}

TEST_F(triggered, hist_counts_stacks)
{
	char lines[4096], other_lines[4096], command[64];
	int status;
	pid_t pid;

	ASSERT_EQ(0, ftrace_set(&self->ft, STACK_TRIGGER,
				"hist:keys=stack.userstack"));
	self->text = ftrace_get(&self->ft, STACK_TRIGGER);
	ASSERT_NE(NULL, self->text);
	EXPECT_NE(NULL, strstr(self->text, "hist:keys=stack.userstack:"));
	snprintf(command, sizeof(command), "userstacktrace if id == %d",
		 (int)SYS_getppid);
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, command));

	calls(CALLS);
	hist_lines(lines, sizeof(lines));
	whole_run(other_sample, NULL, NULL);
	hist_lines(other_lines, sizeof(other_lines));
	/* Another process of this program */
	pid = fork();
	if (!pid) {
		calls(CALLS);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);

	free(self->text);
	self->text = ftrace_get(&self->ft, STACK_HIST);
	ASSERT_NE(NULL, self->text);
	EXPECT_EQ(2 * CALLS, hits(self->text, lines))
		TH_LOG("%s", self->text);
	EXPECT_EQ(1, hits(self->text, other_lines));
	ASSERT_EQ(0, ftrace_set(&self->ft, STACK_TRIGGER,
				"!hist:keys=stack.userstack"));
	/* It is a key of no other event, and no value */
	EXPECT_GT(0, ftrace_set(&self->ft, FTRACE_ENTER "/trigger",
				"hist:keys=id.userstack"));
	EXPECT_GT(0, ftrace_set(&self->ft, STACK_TRIGGER,
				"hist:keys=common_pid:vals=stack.userstack"));
}

/*
 * Instances that go while stacks are asked for and come, by a trigger that nobody
 * removes before: what the callbacks look at goes as well.
 */

#define INSTANCES	20
#define TASKS		2

FIXTURE(under_load)
{
	pid_t task[TASKS];
};

FIXTURE_SETUP(under_load)
{
	int i;

	for (i = 0; i < TASKS; i++) {
		self->task[i] = fork();
		if (self->task[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			syscall(SYS_getppid);
	}
}

FIXTURE_TEARDOWN(under_load)
{
	int i;

	for (i = 0; i < TASKS; i++) {
		kill(self->task[i], SIGKILL);
		EXPECT_EQ(self->task[i], waitpid(self->task[i], NULL, 0));
	}
}

/* It takes long to make an instance with its buffers on a slow machine */
TEST_F_TIMEOUT(under_load, instances_go, 300)
{
	size_t stacks = 0;
	int i;

	for (i = 0; i < INSTANCES; i++) {
		struct ftrace_log log;
		struct ftrace ft;
		char text[64];

		if (ftrace_open(&ft, "l"))
			SKIP(return, "no deferred user stacks in traces");
		/* So that there is little to be read */
		ASSERT_EQ(0, ftrace_set(&ft, "buffer_size_kb", "16"));
		snprintf(text, sizeof(text), "userstacktrace if id == %d",
			 (int)SYS_getppid);
		ASSERT_EQ(0, ftrace_set(&ft, STACK_TRIGGER,
					"hist:keys=stack.userstack"));
		ASSERT_EQ(0, ftrace_set(&ft, TRIGGER, text));
		/* Until some have come */
		do {
			ASSERT_EQ(0, ftrace_read(&ft, "trace", &log));
			stacks = ftrace_count(&log, FTRACE_STACK);
			ftrace_free(&log);
		} while (!stacks);
		ASSERT_EQ(0, ftrace_close(&ft));
	}
}

TEST_HARNESS_MAIN
