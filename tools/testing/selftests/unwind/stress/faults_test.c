// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is not there, and memory of programs that cannot be copied.
 *
 * For each operation, each allocation that the feature makes fails in turn (faults.h), until
 * the operation succeeds without a fault: first alone, then with all that come after it, because
 * some are tried again in another way.  An operation fails with its documented error, or
 * succeeds with less: a stack that stops where a table is missing.  It has left nothing then,
 * and succeeds the next time.  The program goes on.  No memory is lost, and the kernel's log
 * is silent.
 *
 * faults_*.c have the operations.  Other tests are about waits in place of faults:
 * slow_file_test has a suspended device, a server that does not answer, and a dead one.  The
 * feature writes no file, so a full file system is no matter.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/compiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"
#include "faults_sites.h"
#include "trace.h"
#include "../../kselftest_harness.h"

/* No operation allocates more often */
#define FAULTS_MAX	64

/* The result of an attempt */
struct attempt {
	int		failures;
	int		ret;
	int		again;
	const char	*wrong;
};

static const struct site * const lists[] = { sites_registering, sites_stacks, sites_clients };

static struct attempt *shared;
static unsigned int nth;
static bool onward;	/* all faults from the nth on */

void attempt_arm(void)
{
	/* Not again, in the second try */
	if (!nth)
		return;
	/* While the thread has a count, that alone decides */
	if ((onward && faults_all(false, 10000)) || faults_arm(nth))
		_exit(2);
}

static int count_failures(void)
{
	const int failed = faults_disarm();

	if (!onward || failed < 0)
		return failed;
	/* The nth is among these */
	return faults_none() ? -1 : faults_so_far();
}

void attempt_disarm(void)
{
	if (nth) {
		const int failures = count_failures();

		if (failures < 0)
			_exit(2);
		shared->failures = failures;
	}
	nth = 0;
}

static int operate(const struct site *site)
{
	int ret;

	if (!site->arms)
		attempt_arm();
	ret = site->operate();
	if (!site->arms)
		attempt_disarm();
	return site->judge ? site->judge(ret) : ret;
}

static void wrong(const char *what)
{
	shared->wrong = what;
	_exit(1);
}

static void _attempt(const struct site *site)
{
	if (site->prepare && !site->prepare())
		wrong("it could not be prepared");
	shared->ret = operate(site);
	if (shared->ret == WRONG)
		wrong("it did something wrong");
	if (shared->ret)
		shared->again = operate(site);
	if (shared->again)
		wrong("it failed without a fault");
	if (site->finish && !site->finish())
		wrong("it could not be undone");
	_exit(0);
}

static bool is_right(const struct site *site, int ret)
{
	return ret == site->result || (site->other && ret == site->other);
}

/* One attempt, in a process of its own; did it do what it should? */
static bool attempt(const struct site *site, unsigned int number)
{
	int status;
	pid_t pid;

	*shared = (struct attempt){};
	nth = number;
	fflush(NULL);
	pid = fork();
	if (!pid)
		_attempt(site);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (!status && (!shared->ret || (shared->failures && is_right(site, shared->ret))))
		return true;
	printf("# %s, fault %u%s: status %#x, %d failures, result %d, then %d, %s\n", site->name,
	       number, onward ? " and all after it" : "", status, shared->failures, shared->ret,
	       shared->again, shared->wrong ?: "-");
	return false;
}

/* Each fault of a site, until there is none; returns how many, and how many of them show; or -1 */
static int attempt_faults(const struct site *site, bool all, unsigned int *shown)
{
	const unsigned int last = all && site->opens ? 1 : FAULTS_MAX - 1;
	unsigned int number;

	*shown = 0;
	onward = all;
	for (number = 1; number <= last; number++) {
		if (!attempt(site, number))
			return -1;
		if (!shared->failures)
			return number - 1;
		*shown += shared->ret != 0;
	}
	return last == 1 ? 1 : -1;
}

/* Each fault of a site, alone and with all after it; returns the number of faults, or -1 */
static int attempt_each(const struct site *site)
{
	unsigned int shown, shown_onward;
	int number, more;

	if (faults_below(site->what, site->function)) {
		printf("# %s: no function %s\n", site->name, site->function);
		return -1;
	}
	number = attempt_faults(site, false, &shown);
	printf("# %s, %s: %d faults, %u of them show\n", site->name, site->function, number,
	       shown);
	/* A single failure need not show: some allocations are tried again, in another way */
	if (number >= 0 && site->what == FAULTS_MEMORY && !site->stays) {
		more = attempt_faults(site, true, &shown_onward);
		printf("# %s: %d with all after them, %u show\n", site->name, more, shown_onward);
		if (more < 0 || (site->result && !shown_onward))
			return -1;
	}
	/* A copy that fails is not tried again, so each failure has to show */
	if (site->what == FAULTS_COPIES && (int)shown != number)
		return -1;
	return number < (int)site->least ? -1 : number;
}

static int attempt_none(const struct site *site)
{
	return attempt(site, 0) ? 0 : -1;
}

/* attempts() for each site that is, or is not, of a kind whose memory stays */
static void for_sites(struct __test_metadata *_metadata, bool stays,
		      int (*attempts)(const struct site *site))
{
	const struct site *site;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		for (site = lists[i]; site->name; site++) {
			if (site->stays != stays)
				continue;
			EXPECT_TRUE(!site->begin || site->begin())
				TH_LOG("%s could not begin", site->name);
			EXPECT_LE(0, attempts(site))
				TH_LOG("%s, %s", site->name, site->function);
			EXPECT_TRUE(!site->end || site->end())
				TH_LOG("%s could not end", site->name);
		}
	}
}

/* Have the kernel free the tables of files (2), without a message in its log (4) */
static int give_back(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	const char *value;
	int ret = 0;

	for (value = "422"; *value; value++)
		ret |= fd < 0 || pwrite(fd, value, 1, 0) != 1;
	close(fd);
	return ret;
}

/*
 * Leaks
 */

#define SLABS	"/sys/kernel/debug/slab"
#define SHRINK	"/sys/kernel/slab/%s/shrink"

/* Does it show that the feature has allocated this?  A record, with its stack */
static bool is_ours(const char *record)
{
	return strstr(record, "unwind_") || strstr(record, "load_work") ||
	       strstr(record, "device_ioctl") || strstr(record, "device_read") ||
	       strstr(record, "user_stack_callback");
}

/* Objects of one slab cache, by a text of records whose lines after the first are indented */
static long count_in(const char *path, bool print)
{
	FILE *file = fopen(path, "r");
	static char record[16384];
	char line[512];
	long nr = 0;

	if (!file)
		return 0;
	record[0] = 0;
	for (;;) {
		const char *more = fgets(line, sizeof(line), file);

		if (more && line[0] == ' ' && line[6] == ' ') {
			strncat(record, line, sizeof(record) - strlen(record) - 1);
			continue;
		}
		if (is_ours(record)) {
			nr += strtol(record, NULL, 10);
			if (print)
				printf("# %.200s", record);
		}
		if (!more)
			break;
		snprintf(record, sizeof(record), "%s", line);
	}
	fclose(file);
	return nr;
}

/* KASAN keeps freed objects for a while: end that */
static void shrink(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), SHRINK, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "1", 1) != 1)
		printf("# %s is not shrunk\n", name);
	close(fd);
}

/* Objects of the feature, without the tables of files; -1 if the kernel has no records */
static long count_objects(bool print)
{
	DIR *dir = opendir(SLABS);
	struct dirent *entry;
	char path[512];
	long nr = 0;

	if (!dir || give_back())
		return -1;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, "kmalloc-", strlen("kmalloc-")) &&
		    strcmp(entry->d_name, "filp"))
			continue;
		shrink(entry->d_name);
		snprintf(path, sizeof(path), SLABS "/%s/alloc_traces", entry->d_name);
		nr += count_in(path, print);
	}
	closedir(dir);
	return nr;
}

FIXTURE(faults)
{
	int klog;
};

FIXTURE_SETUP(faults)
{
	const char *why = faults_init();

	if (why)
		SKIP(return, "%s", why);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	/* The kernel reports the first time */
	ASSERT_EQ(0, give_back());
	self->klog = klog_open();
	ASSERT_LE(0, self->klog);
}

FIXTURE_TEARDOWN(faults)
{
	if (!shared)
		return;
	EXPECT_TRUE(klog_silent(self->klog));
	close(self->klog);
	faults_end();
}

TEST_F_TIMEOUT(faults, operation_fails_with_its_error_or_succeeds_with_less, 900)
{
	const bool records = count_objects(false) > 0;
	long before = 0, after = 0;
	unsigned int i;

	/* The buffers that stay are a CPU's */
	ASSERT_TRUE(stay());
	if (records) {
		/* Buffers that stay are there then */
		for_sites(_metadata, false, attempt_none);
		before = count_objects(false);
	}
	for_sites(_metadata, false, attempt_each);
	/* Some is freed a little later */
	for (i = 0; i < 20 && records; i++) {
		after = count_objects(false);
		if (after <= before)
			break;
	}
	EXPECT_GE(before, after);
	if (after > before)
		count_objects(true);
	for_sites(_metadata, true, attempt_each);
	if (!records && __test_passed(_metadata))
		SKIP(return, "but for leaks: no records (slab_debug=U,kmalloc-*,filp)");
}

/*
 * Workers
 */

/* Faults of a worker that loads a table: the file has it when there is memory */
static void let_worker_fail(struct __test_metadata *_metadata, const char *function,
			    unsigned int times)
{
	int status, i;
	pid_t pid;

	ASSERT_EQ(0, faults_below(FAULTS_MEMORY, function));
	pid = fork();
	if (!pid) {
		if (!prepare_large() || faults_all(true, times) || file_stack() != LESS)
			_exit(1);
		for (i = 0; i < 10000 && !faults_so_far(); i++)
			usleep(1000);
		if (faults_so_far() <= 0 || faults_none() || !await_large())
			_exit(2);
		_exit(0);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status)
		TH_LOG("%s, %u", function, times);
	faults_none();
}

TEST_F_TIMEOUT(faults, worker_without_memory_loads_the_table_later, 120)
{
	let_worker_fail(_metadata, "load_work", 1);
	let_worker_fail(_metadata, "load_work", 1000);
	let_worker_fail(_metadata, "sframe_table_build", 1);
	let_worker_fail(_metadata, "sframe_table_build", 1000);
}

TEST_HARNESS_MAIN
