// SPDX-License-Identifier: GPL-2.0
/*
 * The audit library (see tools/unwind/) with an unmodified C library: what the
 * dynamic loader maps is registered, and unregistered before it is unmapped.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace.h"
#include "../../kselftest_harness.h"

FIXTURE(audit)
{
	struct trace trace;
	char dir[PATH_MAX];
	uintptr_t key[3];
};

FIXTURE_VARIANT(audit)
{
	const char *program;
};

FIXTURE_VARIANT_ADD(audit, pie) {
	.program = "audited_pie",
};

/* Its load bias is not where it begins */
FIXTURE_VARIANT_ADD(audit, no_pie) {
	.program = "audited_no_pie",
};

FIXTURE_SETUP(audit)
{
	char exe[PATH_MAX] = "";

	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
	ASSERT_LT(0, readlink("/proc/self/exe", exe, sizeof(exe) - 1));
	snprintf(self->dir, sizeof(self->dir), "%s", dirname(exe));
}

FIXTURE_TEARDOWN(audit)
{
	trace_stop(&self->trace);
}

static void exec_program(const struct _test_data_audit *self,
			 const char *program, bool audited)
{
	char audit[PATH_MAX + 32], lib[PATH_MAX + 32], path[PATH_MAX + 32];

	snprintf(audit, sizeof(audit), "%s/unwind_audit.so", self->dir);
	snprintf(lib, sizeof(lib), "%s/twin_160.so", self->dir);
	snprintf(path, sizeof(path), "%s/%s", self->dir, program);
	if (audited)
		setenv("LD_AUDIT", audit, 1);
	execl(path, path, lib, audited ? "yes" : "no", NULL);
}

/* Run the program, traced; its exit status */
static int run_program(struct _test_data_audit *self, const char *program,
		       bool audited)
{
	int go[2], out[2], status;
	pid_t pid;
	char c;

	if (pipe(go) || pipe(out))
		return -1;
	pid = fork();
	if (!pid) {
		if (dup2(out[1], 1) == 1 && read(go[0], &c, 1) == 1)
			exec_program(self, program, audited);
		_exit(99);
	}
	close(out[1]);
	if (pid < 0 || trace_of(&self->trace, pid) || write(go[1], "", 1) != 1 ||
	    read(out[0], self->key, sizeof(self->key)) < 0 ||
	    waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	close(go[0]);
	close(go[1]);
	close(out[0]);
	if (trace_read(&self->trace))
		return -1;
	return WEXITSTATUS(status);
}

/* Events that a table was added with a key */
static size_t added(const struct _test_data_audit *self, uintptr_t key,
		    char *message, size_t size)
{
	char what[32];

	snprintf(what, sizeof(what), "key=%#lx", (unsigned long)key);
	return trace_count(&self->trace, "table_added", what, message, size);
}

TEST_F(audit, registers_and_unregisters)
{
	char message[256], text[128];
	char *end;

	ASSERT_EQ(0, run_program(self, variant->program, true));
	EXPECT_EQ(1, added(self, self->key[0], NULL, 0));
	/* The loader may have used a link map twice */
	EXPECT_EQ(1 + (self->key[1] == self->key[2]),
		  added(self, self->key[1], message, sizeof(message)));
	EXPECT_LE(1, added(self, self->key[2], NULL, 0));
	/* The program, and the library twice; glibc has no table */
	EXPECT_LE(3, trace_count(&self->trace, "table_added", NULL, NULL, 0));
	EXPECT_EQ(0, trace_count(&self->trace, "table_invalid", NULL, NULL, 0));

	/* " text=A-B table=..." is what is dropped again */
	end = strstr(message, " table=");
	ASSERT_NE(NULL, end);
	snprintf(text, sizeof(text), "%.*s", (int)(end - message - 1), message + 1);
	EXPECT_LE(1, trace_count(&self->trace, "table_dropped", text, NULL, 0));
	/* Both libraries, and the program which had itself dropped */
	EXPECT_LE(3, trace_count(&self->trace, "table_dropped", NULL, NULL, 0));
}

TEST_F(audit, is_what_does_it)
{
	ASSERT_EQ(0, run_program(self, variant->program, false));
	EXPECT_EQ(0, trace_count(&self->trace, "table_added", NULL, NULL, 0));
}

TEST_HARNESS_MAIN
