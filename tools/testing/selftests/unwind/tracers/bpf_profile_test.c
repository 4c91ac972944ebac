// SPDX-License-Identifier: GPL-2.0
/*
 * The profiler by BPF (tools/unwind/profile.c), of a program whose stacks are known:
 * where it sleeps and for how long, and where it spins.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiled.h"
#include "../../kselftest_harness.h"

#define NAME	"profiled;"

/* The weight of stacks that begin in a way, and of those that are not whole */
struct result {
	unsigned long	weight;
	unsigned long	broken;
	int		status;
};

/* The user's part is not there if the program is not there yet, or no more */
static bool is_broken(const char *line)
{
	const char *first = line + strlen(NAME);
	size_t len = strcspn(first, "; ");

	if (strstr(line, "[unknown]") || strstr(line, "[missing]"))
		return true;
	return strncmp(first, "_start;outer", strlen("_start;outer")) &&
	       strncmp(first, "_start", len) &&
	       strncmp(first + len - strlen("_[k]"), "_[k]", strlen("_[k]"));
}

static int profile(struct result *result, const char *command, const char *begin)
{
	FILE *output = popen(command, "r");
	char line[8192];
	unsigned long weight;

	*result = (struct result){};
	if (!output)
		return -1;
	while (fgets(line, sizeof(line), output)) {
		/* Not those of the child before exec */
		if (strncmp(line, NAME, strlen(NAME)))
			continue;
		weight = strtoul(strrchr(line, ' '), NULL, 10);
		if (!strncmp(line, begin, strlen(begin)))
			result->weight += weight;
		if (is_broken(line)) {
			printf("# %s", line);
			result->broken += weight;
		}
	}
	result->status = pclose(output);
	return 0;
}

FIXTURE(profiler) {};

FIXTURE_SETUP(profiler)
{
	if (geteuid() || access("./profile", X_OK))
		SKIP(return, "not root, or no compiler for BPF when this was built");
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		SKIP(return, "no BTF of the kernel");
}

FIXTURE_TEARDOWN(profiler)
{
}

TEST_F(profiler, finds_where_it_sleeps)
{
	struct result result;

	ASSERT_EQ(0, profile(&result, "./profile --off-cpu ./profiled",
			     NAME "_start;outer;naps;"));
	EXPECT_EQ(0, result.status);
	EXPECT_EQ(0, result.broken);
	/* Microseconds */
	EXPECT_LE((unsigned long)ROUNDS * NAP_US, result.weight);
	TH_LOG("%lu us asleep, of %d at least", result.weight, ROUNDS * NAP_US);
}

TEST_F(profiler, finds_where_it_spins)
{
	struct result result;

	ASSERT_EQ(0, profile(&result, "./profile -F 999 ./profiled",
			     NAME "_start;outer;spins"));
	EXPECT_EQ(0, result.status);
	EXPECT_EQ(0, result.broken);
	EXPECT_LT(20, result.weight);
	TH_LOG("%lu samples", result.weight);
}

TEST_HARNESS_MAIN
