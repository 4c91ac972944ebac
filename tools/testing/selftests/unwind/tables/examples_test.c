// SPDX-License-Identifier: GPL-2.0
/*
 * The examples of Documentation/userspace-api/unwind.rst, extracted and compiled, do
 * their work: all of them succeed.
 *
 * EXAMPLES has their names, as strings.
 */
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/unwind.h>

#include "../../kselftest.h"

static const char * const examples[] = { EXAMPLES };

_Static_assert(sizeof(examples) > 0, "the page has no examples, or is not there");

/* A kernel may lack what an example of this name is about */
static bool is_possible(const char *name)
{
	return strcmp(name, "self") ||
	       prctl(PR_UNWIND_SELF, PR_UNWIND_SELF_VERSION, 0, 0, 0) > 0;
}

/* Print the example's output as comments */
static bool run(const char *dir, const char *name)
{
	char command[PATH_MAX + 64];
	char line[256];
	FILE *output;

	snprintf(command, sizeof(command), "'%s/doc_%s' 2>&1", dir, name);
	output = popen(command, "r");
	if (!output)
		return false;
	while (fgets(line, sizeof(line), output))
		ksft_print_msg("%s: %s", name, line);
	return pclose(output) == 0;
}

int main(void)
{
	const unsigned int nr = sizeof(examples) / sizeof(*examples);
	char exe[PATH_MAX] = "";
	const char *dir;
	unsigned int i;

	ksft_print_header();
	ksft_set_plan(nr);
	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		ksft_exit_fail_msg("no /proc\n");
	dir = dirname(exe);
	for (i = 0; i < nr; i++) {
		if (is_possible(examples[i]))
			ksft_test_result(run(dir, examples[i]), "example %s\n",
					 examples[i]);
		else
			ksft_test_result_skip("example %s\n", examples[i]);
	}
	ksft_finished();
}
