// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of files go when memory is wanted, and come again when a stack needs them.
 *
 * The sysctl kernel.unwind_max_tables_kb limits all of them together.  A memory cgroup is
 * charged for the tables that its tasks load.  If it has no memory left, it loses these
 * tables, and no others, and its tasks live on.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/compiler.h>
#include <linux/membarrier.h>

#include "file_env.h"
#include "turns.h"
#include "../../kselftest.h"
#include "../../kselftest_harness.h"

static int write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t len = write(fd, text, strlen(text));

	close(fd);
	return len == (ssize_t)strlen(text) ? 0 : -1;
}

/*
 * The whole system
 */

#define LIMIT	"/proc/sys/kernel/unwind_max_tables_kb"

FIXTURE(memory)
{
	struct file_env env;
	char limit[32];
};

FIXTURE_SETUP(memory)
{
	const char *why = env_setup(&self->env);
	FILE *limit = fopen(LIMIT, "r");

	if (why)
		SKIP(return, "%s", why);
	ASSERT_NE(NULL, limit);
	ASSERT_EQ(1, fscanf(limit, "%31s", self->limit));
	fclose(limit);
}

FIXTURE_TEARDOWN(memory)
{
	write_to(LIMIT, self->limit);
	env_teardown(&self->env);
}

/* By the shrinkers of all caches */
TEST_F(memory, that_is_wanted_drops_tables)
{
	struct file_env *env = &self->env;
	int i;

	env->fd = code_file_memfd(&code_file_usual);
	ASSERT_LE(0, env->fd);
	ASSERT_EQ(0, code_image_map(&env->image, &code_file_usual, env->fd, NULL));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(THROUGH, through(env, &env->image));
		ASSERT_EQ(0, write_to("/proc/sys/vm/drop_caches", "2"));
	}
	EXPECT_EQ(THROUGH, through(env, &env->image));
	TH_LOG("loaded %zu times", loads(env, env->fd));
	EXPECT_LE(2, loads(env, env->fd));
	EXPECT_EQ(0, faults(env, env->fd));
}

/* Some tables have room; one of them is used all the time */
TEST_F_TIMEOUT(memory, beyond_the_limit_is_taken_from_unused_tables, 60)
{
	struct file_env *env = &self->env;
	static struct code_image images[300];
	const unsigned int used = 0, unused = 1;
	int fd[2], i, tmp;

	ASSERT_EQ(0, write_to(LIMIT, "16"));
	for (i = 0; i < ARRAY_SIZE(images); i++) {
		tmp = code_file_memfd(&code_file_usual);
		ASSERT_LE(0, tmp);
		ASSERT_EQ(0, code_image_map(&images[i], &code_file_usual, tmp, NULL));
		if (i <= unused)
			fd[i] = tmp;
		else
			close(tmp);
		ASSERT_EQ(THROUGH, through(env, &images[i]));
		ASSERT_EQ(THROUGH, through(env, &images[used]));
	}
	EXPECT_EQ(1, loads(env, fd[used]));
	EXPECT_EQ(1, loads(env, fd[unused]));
	EXPECT_EQ(THROUGH, through(env, &images[unused]));
	EXPECT_EQ(2, loads(env, fd[unused]));
}

/* A table that has no room at all costs each stack one load at most */
TEST_F(memory, for_no_table_costs_one_load_per_stack)
{
	struct file_env *env = &self->env;
	const unsigned int nr = 3;
	unsigned int i;

	ASSERT_EQ(0, write_to(LIMIT, "0"));
	env->fd = code_file_memfd(&code_file_wide);
	ASSERT_LE(0, env->fd);
	ASSERT_EQ(0, code_image_map(&env->image, &code_file_wide, env->fd, NULL));
	for (i = 0; i < nr; i++)
		EXPECT_NE(THROUGH_ERROR, through(env, &env->image));
	EXPECT_GE(nr, loads(env, env->fd));
	/* Until there is room */
	ASSERT_EQ(0, write_to(LIMIT, self->limit));
	EXPECT_EQ(THROUGH, await_through(env, &env->image));
}

/*
 * Cgroups
 */

#define CGROUPS		"/sys/fs/cgroup"
/*
 * Tables take more than the group has.  They are freed after a grace period, for which a task
 * does not wait that reaches memory.max; so memory.high is the limit here.
 */
#define GROUP_BYTES	(12 << 20)
#define GROUP_FILES	(GROUP_BYTES / CODE_FILE_WIDE + 100)
#define GROUP_SPARE	(2 << 20)

FIXTURE(group)
{
	struct file_env env;
	char dir[64];
};

static int group_write(const struct _test_data_group *self, const char *name, long value)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "%s/%s", self->dir, name);
	snprintf(text, sizeof(text), "%ld", value);
	return write_to(path, text);
}

FIXTURE_SETUP(group)
{
	const char *why = env_setup(&self->env);

	if (!why && (access(CGROUPS "/cgroup.controllers", F_OK) ||
		     write_to(CGROUPS "/cgroup.subtree_control", "+memory")))
		why = "no memory control groups (v2), or not root";
	if (why)
		SKIP(return, "%s", why);
	snprintf(self->dir, sizeof(self->dir), CGROUPS "/unwind-tables-%d", getpid());
	ASSERT_EQ(0, mkdir(self->dir, 0700));
	ASSERT_EQ(0, group_write(self, "memory.high", GROUP_BYTES));
	/* The table that belongs to others */
	self->env.fd = code_file_memfd(&code_file_wide);
	ASSERT_LE(0, self->env.fd);
	ASSERT_EQ(0, code_image_map(&self->env.image, &code_file_wide, self->env.fd, NULL));
	ASSERT_EQ(THROUGH, await_through(&self->env, &self->env.image));
}

FIXTURE_TEARDOWN(group)
{
	env_teardown(&self->env);
	if (self->dir[0])
		rmdir(self->dir);
}

static long group_bytes(const struct _test_data_group *self)
{
	char path[128];
	long bytes = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/memory.current", self->dir);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &bytes) != 1)
		bytes = -1;
	fclose(file);
	return bytes;
}

/* Load the table of a new file, which is gone afterwards; did the stack have it? */
static enum through load_one(struct file_env *env)
{
	struct code_image image;
	int fd = code_file_memfd(&code_file_wide);
	enum through ret;

	if (fd < 0 || code_image_map(&image, &code_file_wide, fd, NULL))
		return THROUGH_ERROR;
	ret = through(env, &image);
	code_image_unmap(&image);
	close(fd);
	/* Memory of old tables comes after a grace period, which may take any time */
	if (ret == THROUGH_NOT)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	return ret;
}

/* Have pages of all the memory of the group but the spare part */
static bool use_memory(void)
{
	const size_t size = GROUP_BYTES - GROUP_SPARE;
	char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (bytes == MAP_FAILED)
		return false;
	for (i = 0; i < size; i += sysconf(_SC_PAGESIZE))
		WRITE_ONCE(bytes[i], 1);
	return true;
}

TEST_F_TIMEOUT(group, that_loads_much_loses_its_own_tables_only, 300)
{
	struct file_env *env = &self->env;
	/* MEMCG_CHARGE_BATCH */
	const long stocks = 64 * sysconf(_SC_PAGESIZE) * sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int i, nr[THROUGH + 1] = {};
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		ASSERT_EQ(0, group_write(self, "cgroup.procs", getpid()));
		sampler_close(&env->sampler);
		ASSERT_EQ(0, sampler_open(&env->sampler, 0));
		for (i = 0; i < GROUP_FILES; i++)
			nr[load_one(env)]++;
		TH_LOG("%u of %u stacks had a new table, %u had none",
		       nr[THROUGH], GROUP_FILES, nr[THROUGH_NOT]);
		/* Each failure waits for the memory of many tables: few find none */
		EXPECT_EQ(0, nr[THROUGH_ERROR]);
		EXPECT_LE(GROUP_FILES - GROUP_FILES / 20, nr[THROUGH]);
		EXPECT_TRUE(use_memory());
		for (i = 0; i < GROUP_FILES && load_one(env) != THROUGH; i++)
			;
		EXPECT_GT(GROUP_FILES, i);
		/* Without swap, nothing but tables could be given back.  CPUs keep a few pages */
		EXPECT_GE(GROUP_BYTES + GROUP_BYTES / 4 + stocks, group_bytes(self));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_EQ(1, loads(env, env->fd));
}

TEST_HARNESS_MAIN
