// SPDX-License-Identifier: GPL-2.0
/*
 * Ten thousand registered ranges: the unwinder uses all of them, one DEL can drop all of
 * them, and their memory is freed again, together with the tables that the kernel made.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "code_register.h"
#include "image.h"
#include "run.h"
#include "truth.h"
#include "turns.h"
#include "../../kselftest_harness.h"

#define KEY		0x2001
#define MANY		10000

FIXTURE(ranges)
{
	struct sampler sampler;
	struct code code;
	char *tables;	/* one for each function */
};

/* @own: has each range a table of its own? */
FIXTURE_VARIANT(ranges)
{
	bool own;
};

FIXTURE_VARIANT_ADD(ranges, one_table) {
	.own = false,
};

FIXTURE_VARIANT_ADD(ranges, tables) {
	.own = true,
};

FIXTURE_SETUP(ranges)
{
	const size_t size = code_table_size(1);
	unsigned int i;

	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	ASSERT_EQ(0, code_map(&self->code, MANY));
	self->tables = mmap(NULL, MANY * size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->tables);
	for (i = 0; i < MANY; i++) {
		char *table = self->tables + i * size;
		uint64_t fn = (uintptr_t)code_fn(&self->code, i);

		code_table_write(table, (uintptr_t)table, &fn, 1, CODE_FRAME);
	}
}

FIXTURE_TEARDOWN(ranges)
{
	sampler_close(&self->sampler);
}

/* In an order that is neither ascending nor descending; return 0 or the first error */
static int add_some(struct _test_data_ranges *self, bool own, unsigned int max,
		    uint64_t keys)
{
	const size_t size = code_table_size(1);
	struct unwind_table_attr attr;
	unsigned int i, nr;
	int ret = 0;

	for (i = 0; i < max && !ret; i++) {
		nr = (i * 7919UL) % MANY;
		code_attr_fn(&attr, &self->code, nr, KEY + nr % keys);
		if (own) {
			attr.table_start = (uintptr_t)self->tables + nr * size;
			attr.table_size = size;
		}
		ret = unwind_table_add(&attr);
	}
	return ret;
}

static int add_many(struct _test_data_ranges *self, bool own, uint64_t keys)
{
	return add_some(self, own, MANY, keys);
}

/* Is each of them registered, and does the kernel use a sample of them? */
static bool all_there(struct _test_data_ranges *self)
{
	struct unwind_table_attr attr;
	unsigned int i;

	for (i = 0; i < MANY; i++) {
		code_attr_fn(&attr, &self->code, i, KEY);
		if (unwind_table_add(&attr) != -EEXIST)
			return false;
	}
	for (i = 0; i < MANY; i += 97)
		if (code_through(&self->sampler, code_fn(&self->code, i)) !=
		    THROUGH)
			return false;
	return code_through(&self->sampler, code_fn(&self->code, MANY - 1)) ==
	       THROUGH;
}

TEST_F_TIMEOUT(ranges, of_one_key_are_used_and_dropped, 180)
{
	ASSERT_EQ(0, add_many(self, variant->own, 1));
	EXPECT_TRUE(all_there(self));
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
	EXPECT_EQ(THROUGH_NOT, code_through(&self->sampler,
					    code_fn(&self->code, MANY / 2)));
	EXPECT_EQ(0, add_many(self, variant->own, 1));
	EXPECT_TRUE(all_there(self));
}

TEST_F_TIMEOUT(ranges, of_as_many_keys_are_used_and_dropped, 180)
{
	unsigned int i;

	ASSERT_EQ(0, add_many(self, variant->own, MANY));
	EXPECT_TRUE(all_there(self));
	for (i = 0; i < MANY; i += 2)
		ASSERT_EQ(0, unwind_table_del(KEY + i));
	for (i = 0; i < MANY; i += 131)
		EXPECT_EQ(i % 2 ? THROUGH : THROUGH_NOT,
			  code_through(&self->sampler, code_fn(&self->code, i)));
	for (i = 1; i < MANY; i += 2)
		ASSERT_EQ(0, unwind_table_del(KEY + i));
	EXPECT_EQ(0, add_many(self, variant->own, 1));
}

TEST_F_TIMEOUT(ranges, many_are_inherited, 180)
{
	unsigned int i;
	pid_t pid;

	ASSERT_EQ(0, add_many(self, variant->own, 100));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		/* The first change gives the child its own copy */
		EXPECT_EQ(0, unwind_table_del(KEY + 42));
		for (i = 0; i < MANY; i += 271)
			EXPECT_EQ(i % 100 == 42 ? THROUGH_NOT : THROUGH,
				  code_through_here(&self->code, i));
		for (i = 0; i < 100; i++)
			EXPECT_EQ(i == 42 ? -ENOENT : 0,
				  unwind_table_del(KEY + i));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_TRUE(all_there(self));
}

/* Does the code in @nr pages from @first on have no table, and all other code have one? */
static bool all_there_but(struct _test_data_ranges *self, unsigned int first, unsigned int nr)
{
	const char *begin = self->code.text + first * getpagesize();
	const char *end = begin + nr * getpagesize();
	unsigned int i;

	for (i = 0; i < MANY; i += i < 300 ? 1 : 271) {
		const char *fn = (char *)code_fn(&self->code, i);

		/* A range is dropped as a whole, and there is no code to call */
		if (fn + CODE_STRIDE > begin && fn < end)
			continue;
		if (code_through_here(&self->code, i) != THROUGH)
			return false;
	}
	return true;
}

/* Map the page anew: other code, for which nothing is registered */
static int add_anew(struct _test_data_ranges *self, unsigned int page)
{
	char *at = self->code.text + page * getpagesize();
	struct unwind_table_attr attr;

	if (mmap(at, getpagesize(), PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		return -1;
	code_attr_fn(&attr, &self->code, 0, KEY);
	attr.text_start = (uintptr_t)at;
	attr.text_size = getpagesize();
	return unwind_table_add(&attr);
}

/*
 * A child drops the ranges of text that it does not inherit (page 1), or unmaps (page 2),
 * and its own child inherits that.
 */
TEST_F_TIMEOUT(ranges, dropped_by_a_child_stay_the_parents, 180)
{
	char *text = self->code.text;
	pid_t pid;

	ASSERT_EQ(0, add_many(self, variant->own, 100));
	ASSERT_EQ(0, madvise(text + getpagesize(), getpagesize(), MADV_DONTFORK));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		EXPECT_TRUE(all_there_but(self, 1, 1));
		EXPECT_EQ(0, munmap(text + 2 * getpagesize(), getpagesize()));
		EXPECT_TRUE(all_there_but(self, 1, 2));
		pid = fork();
		ASSERT_LE(0, pid);
		EXPECT_TRUE(all_there_but(self, 1, 2));
		EXPECT_EQ(0, add_anew(self, 1));
		EXPECT_EQ(0, add_anew(self, 2));
		if (pid)
			EXPECT_EQ(0, wait_for(pid));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_TRUE(all_there(self));
}

TEST_F_TIMEOUT(ranges, unmapped_at_once_are_dropped, 180)
{
	ASSERT_EQ(0, add_many(self, variant->own, 100));
	ASSERT_EQ(0, munmap(self->code.text, self->code.text_mapped));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY + 99));
	self->code.table_mapped = 0;
}

/* Trees of any size and shape are freed by exit */
TEST_F_TIMEOUT(ranges, of_any_number_are_freed_by_exit, 180)
{
	unsigned int nr;
	pid_t pid;

	for (nr = 10; nr < MANY; nr += nr / 3) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(!!add_some(self, variant->own, nr, 3));
		ASSERT_EQ(0, wait_for(pid));
	}
	/* The kernel frees memory after a grace period, and that must show here */
	EXPECT_EQ(0, syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0));
}

/*
 * Memory.  A control group counts what the process makes the kernel allocate.
 */

#define CGROUP		"/sys/fs/cgroup"
#define ROUNDS		2
/* Counters are kept per CPU, and summed up now and then */
#define TOLERANCE	(768 * 1024)
#define RANGE_MIN	64	/* bytes: no range can be smaller */

/*
 * Ranges whose tables are large, though their section is small: the entries of a function
 * are repeated in blocks, as in a PLT.
 */
#define WIDE		64
#define WIDE_TEXT	65536
#define WIDE_MIN	(3 * WIDE_TEXT)	/* bytes of each table: one entry for each byte */

struct wide {
	char	*text;
	char	*section;
	size_t	size;
};

struct repeated {
	struct sframe_attr	attr;
	uint8_t			start;
	uint8_t			info;
	int16_t			cfa;
} __packed;

static int write_file(const char *dir, const char *name, const char *value)
{
	char path[PATH_MAX];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	len = write(fd, value, strlen(value));
	close(fd);
	return len == (ssize_t)strlen(value) ? 0 : -1;
}

FIXTURE(memory)
{
	char dir[64];
};

FIXTURE_SETUP(memory)
{
	if (access(CGROUP "/cgroup.controllers", F_OK) ||
	    write_file(CGROUP, "cgroup.subtree_control", "+memory"))
		SKIP(return, "no memory control groups (v2), or not root");
	snprintf(self->dir, sizeof(self->dir), CGROUP "/unwind-%d", getpid());
	ASSERT_EQ(0, mkdir(self->dir, 0700));
}

/* Later, when all tasks of the group are gone */
FIXTURE_TEARDOWN_PARENT(memory)
{
	if (self->dir[0])
		rmdir(self->dir);
}

/* Bytes that the kernel allocated and that are charged to the group, or -1 */
static long kernel_bytes(const struct _test_data_memory *self)
{
	char path[PATH_MAX], line[128];
	long bytes, sum = 0;
	int found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/memory.stat", self->dir);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "slab_unreclaimable %ld", &bytes) != 1 &&
		    sscanf(line, "vmalloc %ld", &bytes) != 1)
			continue;
		sum += bytes;
		found++;
	}
	if (file)
		fclose(file);
	return found == 2 ? sum : -1;
}

static long seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/*
 * Wait until the usage is close to @start: the kernel frees dropped ranges after a grace
 * period, in batches. Return the final usage.
 */
static long settled_bytes(const struct _test_data_memory *self, long start)
{
	long end = seconds() + 60, bytes;

	do {
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		bytes = kernel_bytes(self);
	} while (bytes > start + TOLERANCE && seconds() < end);
	return bytes;
}

/* The same, up to at least @min: the statistics are a few seconds late */
static long grown_bytes(const struct _test_data_memory *self, long min)
{
	long end = seconds() + 60, bytes;

	do
		bytes = kernel_bytes(self);
	while (bytes < min && seconds() < end);
	return bytes;
}

/* The most that is seen in some seconds, by which the statistics are late */
static long most_bytes(const struct _test_data_memory *self)
{
	long end = seconds() + 5, most = 0, bytes;

	while (seconds() < end) {
		bytes = kernel_bytes(self);
		most = bytes > most ? bytes : most;
	}
	return most;
}

/* Text that nobody executes, and that takes no memory */
static int wide_map(struct wide *wide)
{
	wide->size = sizeof(struct sframe_header) + WIDE * sizeof(struct sframe_fde) +
		     sizeof(struct repeated);
	wide->text = mmap(NULL, WIDE * WIDE_TEXT, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	wide->section = mmap(NULL, wide->size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return wide->text == MAP_FAILED || wide->section == MAP_FAILED ? -1 : 0;
}

static void wide_unmap(struct wide *wide)
{
	munmap(wide->text, WIDE * WIDE_TEXT);
	munmap(wide->section, wide->size);
}

static char *wide_fn(const struct wide *wide, unsigned int i)
{
	return wide->text + i * WIDE_TEXT;
}

/* The header is a copy from the code's table */
static void wide_write(const struct wide *wide, const struct code *code)
{
	struct sframe_header *hdr = (struct sframe_header *)wide->section;
	struct sframe_fde *fde = (struct sframe_fde *)(hdr + 1);
	struct repeated *repeated = (struct repeated *)(fde + WIDE);
	unsigned int i;

	*hdr = *(struct sframe_header *)code->table;
	hdr->num_fdes = WIDE;
	hdr->num_fres = 1;
	hdr->freoff = WIDE * sizeof(*fde);
	hdr->fre_len = sizeof(*repeated);
	for (i = 0; i < WIDE; i++)
		fde[i] = (struct sframe_fde){
			.start_offset = wide_fn(wide, i) - wide->section,
			.size = WIDE_TEXT,
		};
	/* In blocks of two bytes, the second one has a rule: the CFA is at SP + 16 */
	*repeated = (struct repeated){
		.attr = { .num_fres = 1, .info = 0x10, .rep_size = 2 },
		.start = 1, .info = 0x23, .cfa = 16,
	};
}

/* Have the kernel make the tables: stacks that claim to pass their text */
static int wide_build(const struct wide *wide)
{
	static const struct truth none;
	unsigned long record[2] = {};
	struct tally tally = {};
	struct watch watch;
	unsigned int i;

	if (watch_open(&watch, 0, -1, WATCH_CALLS, 64) || watch_enable(&watch))
		return -1;
	for (i = 0; i < WIDE; i++) {
		record[1] = (uintptr_t)wide_fn(wide, i) + WIDE_TEXT / 2;
		run_probe(record, 1);
	}
	watch_judge(&watch, &none, &tally);
	watch_close(&watch);
	return tally.probes == WIDE ? 0 : -1;
}

static int register_many(const struct code *code, const struct wide *wide)
{
	struct unwind_table_attr attr;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < MANY && !ret; i++) {
		code_attr_fn(&attr, code, i, KEY + i % 10);
		ret = unwind_table_add(&attr);
	}
	wide_write(wide, code);
	for (i = 0; i < WIDE && !ret; i++) {
		attr.key = KEY + i % 10;
		attr.table_start = (uintptr_t)wide->section;
		attr.table_size = wide->size;
		attr.text_start = (uintptr_t)wide_fn(wide, i);
		attr.text_size = WIDE_TEXT;
		ret = unwind_table_add(&attr);
	}
	return ret ?: wide_build(wide);
}

static int drop_many(void)
{
	int i, ret = 0;

	for (i = 0; i < 10 && !ret; i++)
		ret = unwind_table_del(KEY + i);
	return ret;
}

/* A child that inherits all ranges, changes them, and leaves them to its exit */
static int fork_and_change(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(unwind_table_del(KEY));
	return pid < 0 ? -1 : wait_for(pid);
}

/* A child that inherits all ranges, and unmaps some; until the next turn */
static int fork_and_unmap(struct turns *turns, const struct code *code)
{
	pid_t pid = fork();
	bool turned;

	if (!pid) {
		if (!munmap(code->text, getpagesize()) && turn_over(turns, TURN_PARENT))
			pause();
		_exit(1);
	}
	if (pid < 0)
		return -1;
	turned = turn_await(turns, TURN_CHILD);
	kill(pid, SIGKILL);
	return wait_for(pid) == SIGKILL && turned ? 0 : -1;
}

/* In the group: one step at each turn */
static int consume(struct turns *turns)
{
	struct code code;
	struct wide wide;
	int i;

	if (!turn_await(turns, TURN_CHILD) || code_map(&code, MANY) || wide_map(&wide) ||
	    register_many(&code, &wide) || !turn_over(turns, TURN_PARENT))
		return 1;
	if (!turn_await(turns, TURN_CHILD) || fork_and_unmap(turns, &code))
		return 2;
	if (drop_many() || !turn_over(turns, TURN_PARENT))
		return 3;
	if (!turn_await(turns, TURN_CHILD))
		return 4;
	for (i = 0; i < ROUNDS; i++)
		if (register_many(&code, &wide) || fork_and_change() || drop_many())
			return 5;
	if (!turn_over(turns, TURN_PARENT))
		return 6;
	if (!turn_await(turns, TURN_CHILD))
		return 7;
	for (i = 0; i < ROUNDS; i++) {
		if (register_many(&code, &wide))
			return 8;
		code_unmap(&code);
		wide_unmap(&wide);
		if (code_map(&code, MANY) || wide_map(&wide))
			return 9;
	}
	if (!turn_over(turns, TURN_PARENT))
		return 10;
	/* And once more, for exit() to free */
	return !turn_await(turns, TURN_CHILD) || register_many(&code, &wide) ? 11 : 0;
}

TEST_F_TIMEOUT(memory, returns_to_where_it_was, 600)
{
	struct turns both, *turns = &both;
	long start, least, bytes;
	char tasks[16];
	pid_t pid;

	ASSERT_EQ(0, turns_init(turns));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(consume(turns));
	snprintf(tasks, sizeof(tasks), "%d", pid);
	ASSERT_EQ(0, write_file(self->dir, "cgroup.procs", tasks));
	start = kernel_bytes(self);
	ASSERT_LE(0, start);
	TH_LOG("at the start: %ld kB", start >> 10);

	ASSERT_TRUE(turn_over(turns, TURN_CHILD) && turn_await(turns, TURN_PARENT));
	/* The process pays for its ranges and their tables */
	least = start + MANY * RANGE_MIN + WIDE * WIDE_MIN;
	bytes = grown_bytes(self, least);
	TH_LOG("with %d ranges: %ld kB", MANY, bytes >> 10);
	EXPECT_LE(least, bytes);

	ASSERT_TRUE(turn_over(turns, TURN_CHILD) && turn_await(turns, TURN_PARENT));
	least = bytes + MANY * RANGE_MIN;
	bytes = most_bytes(self);
	TH_LOG("with a child that unmapped some: %ld kB", bytes >> 10);
	EXPECT_GE(least, bytes);

	ASSERT_TRUE(turn_over(turns, TURN_CHILD) && turn_await(turns, TURN_PARENT));
	bytes = settled_bytes(self, start);
	TH_LOG("without them: %ld kB", bytes >> 10);
	EXPECT_GE(start + TOLERANCE, bytes);

	ASSERT_TRUE(turn_over(turns, TURN_CHILD) && turn_await(turns, TURN_PARENT));
	bytes = settled_bytes(self, start);
	TH_LOG("after %d rounds with fork: %ld kB", ROUNDS, bytes >> 10);
	EXPECT_GE(start + TOLERANCE, bytes);

	ASSERT_TRUE(turn_over(turns, TURN_CHILD) && turn_await(turns, TURN_PARENT));
	bytes = settled_bytes(self, start);
	TH_LOG("after %d rounds with munmap: %ld kB", ROUNDS, bytes >> 10);
	EXPECT_GE(start + TOLERANCE, bytes);

	ASSERT_TRUE(turn_over(turns, TURN_CHILD));
	EXPECT_EQ(0, wait_for(pid));
	bytes = settled_bytes(self, start);
	TH_LOG("after exit: %ld kB", bytes >> 10);
	EXPECT_GE(start + TOLERANCE, bytes);
}

TEST_HARNESS_MAIN
