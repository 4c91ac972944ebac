// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are not there when they are read: no task waits for their tables.
 *
 * A suspended device (dm) has given out the text of its files, and nothing else.  So the
 * kernel's worker hangs in a read, while stacks are taken without the table, tasks can be
 * killed, and the tables of other file systems are loaded.  If the device fails, the kernel
 * tries again.
 *
 * A server (FUSE) that any user could run is not even asked.  But it can hold up a task that
 * has the mmap lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/unwind.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "asleep.h"
#include "call.h"
#include "code_register.h"
#include "file_env.h"
#include "file_server.h"
#include "ftrace.h"
#include "immediate_counts.h"
#include "turns.h"
#include "../../kselftest.h"
#include "../../kselftest_harness.h"

#define DIR		"/tmp/slow"

/* Names of files, here and on a device */
#define FILES		FILE_SERVER_FILES
static const char * const *const names = file_server_names;

/*
 * The tests
 */

FIXTURE(slow)
{
	struct file_env env;
	struct file_server_control *control;
	pid_t server;
};

/* Mount the file system, and start its server; return NULL, or why not */
static const char *start_server(struct _test_data_slow *self)
{
	int fd = file_server_mount(DIR);

	if (fd < 0)
		return "no FUSE, or not root";
	self->server = fork();
	if (!self->server)
		_exit(file_server_run(fd, self->control));
	close(fd);
	return self->server < 0 ? "no process" : NULL;
}

FIXTURE_SETUP(slow)
{
	const char *why = env_setup(&self->env);

	self->control = mmap(NULL, sizeof(*self->control), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->control);
	atomic_store(&self->control->hold, true);
	if (!why)
		why = start_server(self);
	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, trace_all(&self->env.trace));
}

FIXTURE_TEARDOWN(slow)
{
	if (self->server > 0) {
		kill(self->server, SIGKILL);
		wait_for(self->server);
	}
	env_teardown(&self->env);
	umount2(DIR, MNT_DETACH);
}

/* Map the text; nothing else is to be read */
static chain_fn map_text(int *fd, unsigned int i)
{
	char path[64];
	void *text;

	snprintf(path, sizeof(path), DIR "/%s", names[i]);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	text = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, *fd,
		    code_file_usual.text[0].offset);
	return text == MAP_FAILED ? NULL : (chain_fn)text;
}

/* Ample for anything that is awaited here */
#define AWAIT_MS	20000

/* Wait until a task sleeps in a system call */
static bool await_sleep(pid_t pid, long nr)
{
	const int64_t end = now_ms() + AWAIT_MS;

	while (sleeps_in(pid) != nr && now_ms() < end)
		usleep(1000);
	return sleeps_in(pid) == nr;
}

static bool never_through_fn(struct file_env *env, chain_fn fn)
{
	int i;

	for (i = 0; i < 3; i++)
		if (code_through(&env->sampler, fn) != THROUGH_NOT)
			return false;
	return true;
}

static enum through await_through_fn(struct file_env *env, chain_fn fn)
{
	enum through ret;
	int i;

	for (i = 0; i < 10000; i++) {
		ret = code_through(&env->sampler, fn);
		if (ret != THROUGH_NOT)
			break;
		usleep(1000);
	}
	return ret;
}

static unsigned int nr_held(struct _test_data_slow *self)
{
	return atomic_load(&self->control->nr_held);
}

/* Does the worker get on with another file? */
static bool others_are_loaded(struct file_env *env)
{
	struct code_image image;
	int fd = large_memfd();
	bool loaded;

	if (fd < 0 || code_image_map(&image, &code_file_usual, fd, NULL))
		return false;
	loaded = await_through(env, &image) == THROUGH && await_loads(env, fd) == 1;
	code_image_unmap(&image);
	close(fd);
	return loaded;
}

/* Take stacks through @fn in another process until it is killed; is it killed at once? */
static bool can_be_killed(chain_fn fn)
{
	struct sampler sampler;
	struct turns turns;
	pid_t pid;

	if (turns_init(&turns))
		return false;
	pid = fork();
	if (!pid) {
		if (sampler_open(&sampler, 0) || code_through(&sampler, fn) != THROUGH_NOT ||
		    !turn_over(&turns, TURN_PARENT))
			_exit(1);
		while (1)
			code_through(&sampler, fn);
	}
	return pid > 0 && turn_await(&turns, TURN_PARENT) && !kill(pid, SIGKILL) &&
	       WTERMSIG(wait_for(pid)) == SIGKILL;
}

/* If its contents are in the page cache, its table is loaded all the same */
TEST_F(slow, server_is_not_asked_for_a_table)
{
	struct file_env *env = &self->env;
	chain_fn fn = map_text(&env->fd, 0);
	char buf[4096];

	ASSERT_NE(NULL, fn);
	EXPECT_TRUE(never_through_fn(env, fn));
	EXPECT_TRUE(can_be_killed(fn));
	EXPECT_TRUE(others_are_loaded(env));
	EXPECT_EQ(0, nr_held(self));
	EXPECT_EQ(0, loads(env, env->fd));

	atomic_store(&self->control->hold, false);
	while (read(env->fd, buf, sizeof(buf)) > 0)
		;
	EXPECT_EQ(THROUGH, await_through_fn(env, fn));
	EXPECT_EQ(1, loads(env, env->fd));
}

/* A table that is registered for some code */
static int register_table(const struct code *code, const char *table, unsigned int flags,
			  uint64_t key)
{
	struct unwind_table_attr attr;

	code_attr(&attr, code, key);
	attr.table_start = (uintptr_t)table;
	attr.flags = flags;
	return unwind_table_add(&attr);
}

static const unsigned int table_flags[] = { 0, UNWIND_TABLE_JIT };

/* Map two pages, the first one with the start of a table, the second one of the server's file */
static char *map_table(const struct code *code, int fd)
{
	const size_t page = page_size(), start = 32;
	char *to = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (to == MAP_FAILED ||
	    mmap(to + page, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != to + page)
		return NULL;
	return memcpy(to + page - start, code->table, start);
}

/* Not for one that was copied, nor for one that is read for each frame */
TEST_F_TIMEOUT(slow, server_is_not_asked_for_a_registered_table, 30)
{
	struct file_env *env = &self->env;
	struct code code;
	unsigned int i;
	char *table;

	ASSERT_NE(0, code_file_usual.text[0].offset);
	env->fd = open(DIR "/code.so", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, env->fd);
	for (i = 0; i < ARRAY_SIZE(table_flags); i++) {
		ASSERT_EQ(0, code_map(&code, 2));
		table = map_table(&code, env->fd);
		ASSERT_NE(NULL, table);
		ASSERT_EQ(0, register_table(&code, table, table_flags[i], i + 1));
		EXPECT_TRUE(never_through_fn(env, code_fn(&code, 0)));
		EXPECT_TRUE(can_be_killed(code_fn(&code, 0)));
		EXPECT_EQ(0, nr_held(self));
	}
}

/* The process has written to its pages, and the page cache has none of them any more */
TEST_F(slow, registered_table_in_private_pages_is_used)
{
	struct file_env *env = &self->env;
	struct code code;
	unsigned int i;
	uint64_t fn;
	char *table;

	env->fd = open(DIR "/code.so", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, env->fd);
	for (i = 0; i < ARRAY_SIZE(table_flags); i++) {
		ASSERT_EQ(0, code_map(&code, 1));
		fn = (uintptr_t)code_fn(&code, 0);
		atomic_store(&self->control->hold, false);
		table = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE, env->fd, 0);
		ASSERT_NE(MAP_FAILED, table);
		ASSERT_GE(page_size(), code.table_size);
		code_table_write(table, (uintptr_t)table, &fn, 1, CODE_FRAME);
		atomic_store(&self->control->hold, true);
		ASSERT_EQ(0, posix_fadvise(env->fd, 0, 0, POSIX_FADV_DONTNEED));
		ASSERT_EQ(0, register_table(&code, table, table_flags[i], i + 1));
		EXPECT_EQ(THROUGH, code_through(&env->sampler, code_fn(&code, 0)));
		EXPECT_EQ(0, nr_held(self));
	}
}

TEST_F(slow, file_of_a_dead_server_can_be_unmounted)
{
	struct file_env *env = &self->env;
	chain_fn fn = map_text(&env->fd, 0);

	ASSERT_NE(NULL, fn);
	EXPECT_TRUE(never_through_fn(env, fn));
	ASSERT_EQ(0, kill(self->server, SIGKILL));
	EXPECT_EQ(SIGKILL, WTERMSIG(wait_for(self->server)));
	self->server = 0;
	EXPECT_TRUE(never_through_fn(env, fn));
	ASSERT_EQ(0, munmap(fn, sysconf(_SC_PAGESIZE)));
	close(env->fd);
	env->fd = -1;
	EXPECT_EQ(0, umount(DIR));
}

/* With the head of its frames in a file that the server holds back */
static void call_with_chain(struct turns *turns)
{
	struct unwind_chain_attr attr = { .key = 1, .function_mask = ~0ULL };
	const size_t page = sysconf(_SC_PAGESIZE);
	char *head;
	int i, fd;

	fd = open(DIR "/code.so", O_RDONLY | O_CLOEXEC);
	head = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	attr.head = (uintptr_t)head;
	if (head == MAP_FAILED || madvise(head, page, MADV_RANDOM) ||
	    prctl(PR_UNWIND_CHAIN, PR_UNWIND_CHAIN_ADD, &attr, sizeof(attr), 0) ||
	    !turn_over(turns, TURN_PARENT) || !turn_await(turns, TURN_CHILD))
		_exit(1);
	for (i = 0; i < 10; i++)
		getppid();
	_exit(0);
}

TEST_F(slow, server_is_not_asked_for_the_frames_of_a_language)
{
	struct ftrace_log log = {};
	struct turns turns;
	struct ftrace ft;
	pid_t pid;

	ASSERT_NE(0, code_file_usual.text[0].offset);
	if (ftrace_open(&ft, "slow"))
		SKIP(return, "no deferred user stacks in traces");
	ASSERT_EQ(0, turns_init(&turns));
	pid = fork();
	if (!pid)
		call_with_chain(&turns);
	ASSERT_LT(0, pid);
	ASSERT_TRUE(turn_await(&turns, TURN_PARENT));
	ASSERT_EQ(0, ftrace_set(&ft, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_event(&ft, FTRACE_ENTER, pid));
	ASSERT_TRUE(turn_over(&turns, TURN_CHILD));
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(0, nr_held(self));
	ASSERT_EQ(0, ftrace_read(&ft, "trace", &log));
	EXPECT_EQ(10, ftrace_count(&log, FTRACE_STACK));
	ftrace_free(&log);
	EXPECT_EQ(0, ftrace_close(&ft));
}

/*
 * A server can also hold up a task that has the mmap lock for writing.  As long as it holds back
 * the read of a page, the page is locked.  A task that maps the file, opened as one without
 * pages in memory, waits for the page with that lock held.
 */

/* Shared by the test and a process of two threads: one of them has the lock */
struct busy {
	struct turns	turns;
	struct sampler	sampler;
	/* The stack of the thread that makes system calls */
	struct stack	expected;
	struct notes	notes;
	chain_fn	fn;
	pid_t		pid;
	/* The thread that maps the file, when a byte comes */
	atomic_int	tid;
	int		go[2];
	int		fd;
	/* The process that reads the page */
	pid_t		reader;
};

static void *map_slowly(void *arg)
{
	struct busy *busy = arg;
	char c;

	atomic_store(&busy->tid, syscall(SYS_gettid));
	if (read(busy->go[0], &c, 1) != 1 ||
	    mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_PRIVATE, busy->fd, 0) == MAP_FAILED)
		_exit(1);
	return NULL;
}

static void call_in_turn(struct busy *busy)
{
	if (!turn_await(&busy->turns, TURN_CHILD))
		_exit(1);
	busy->notes = (struct notes){ .next = { sampled_call } };
	busy->fn(&busy->notes);
	if (!turn_over(&busy->turns, TURN_PARENT))
		_exit(1);
}

/* The first call brings in what the second one needs, which is made while the lock is held */
static void call_twice(struct busy *busy)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&thread, NULL, map_slowly, busy))
		_exit(1);
	while (!atomic_load(&busy->tid))
		sched_yield();
	call_in_turn(busy);
	call_in_turn(busy);
	_exit(pthread_join(thread, NULL));
}

/* Have the process make its first call, by a function whose table is known */
static bool start_calls(struct file_env *env, struct busy *busy)
{
	pid_t pid;

	env->fd = code_file_memfd(&code_file_usual);
	if (env->fd < 0 || code_image_map(&env->image, &code_file_usual, env->fd, NULL) ||
	    through(env, &env->image) != THROUGH || turns_init(&busy->turns) || pipe(busy->go))
		return false;
	busy->fn = code_image_fn(&env->image, 0, 0);
	pid = fork();
	if (!pid)
		call_twice(busy);
	busy->pid = pid;
	if (pid < 0 || !turn_over(&busy->turns, TURN_CHILD) ||
	    !turn_await(&busy->turns, TURN_PARENT))
		return false;
	expect_chain(&busy->expected, &busy->notes);
	return true;
}

/* Sample the second call; whether its stack is @deferred */
static bool sample_calls(struct busy *busy, bool deferred)
{
	struct perf_event_attr attr;
	char filter[32];

	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
		return false;
	attr.defer_callchain = deferred;
	attr.defer_output = deferred;
	snprintf(filter, sizeof(filter), "id == %d", SYS_getppid);
	return !sampler_open_attr(&busy->sampler, &attr, busy->pid, filter);
}

/* Does the thread wait for the server, and so have the lock? */
static bool has_lock(const struct busy *busy)
{
	return sleeps_in(atomic_load(&busy->tid)) == SYS_mmap;
}

static bool take_lock(struct _test_data_slow *self, struct busy *busy, int fd)
{
	const int64_t end = now_ms() + AWAIT_MS;
	pid_t reader;
	char c;

	reader = fork();
	if (!reader) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(pread(fd, &c, 1, 0) != 1);
	}
	busy->reader = reader;
	while (!nr_held(self) && now_ms() < end)
		usleep(1000);
	return reader > 0 && nr_held(self) && write(busy->go[1], "", 1) == 1 &&
	       await_sleep(atomic_load(&busy->tid), SYS_mmap);
}

/* A process with its lock held, which is about to be sampled; or NULL */
static struct busy *make_busy(struct _test_data_slow *self, bool deferred)
{
	struct busy *busy = mmap(NULL, sizeof(*busy), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = open(DIR "/code.so", O_RDONLY | O_CLOEXEC);

	if (busy == MAP_FAILED || fd < 0)
		return NULL;
	/* Before anything is read */
	atomic_store(&self->control->direct, true);
	busy->fd = open(DIR "/code.so", O_RDONLY | O_CLOEXEC);
	return busy->fd >= 0 && start_calls(&self->env, busy) && sample_calls(busy, deferred) &&
	       take_lock(self, busy, fd) ? busy : NULL;
}

/* The server answers; return the status of the process */
static int end_busy(struct _test_data_slow *self, struct busy *busy)
{
	atomic_store(&self->control->hold, false);
	sampler_close(&busy->sampler);
	return wait_for(busy->reader) ? -1 : wait_for(busy->pid);
}

/* Addresses of a record, but for its first @skip words */
static struct stack stack_of(const struct record *rec, unsigned int skip)
{
	struct stack stack = {};

	while (stack.nr + skip < rec->nr && stack.nr < SAMPLED_MAX) {
		stack.ip[stack.nr] = rec->ips[stack.nr + skip];
		stack.nr++;
	}
	return stack;
}

/* By frame pointers, which end at the function */
TEST_F_TIMEOUT(slow, mmap_does_not_hold_up_an_immediate_stack, 60)
{
	long before[NR_COUNTS], after[NR_COUNTS];
	struct records recs = {};
	struct stack stack;
	struct busy *busy;

	read_counts(before);
	if (before[CHANGING] < 0 || write_text(IMMEDIATE_SYSCTL, "1"))
		SKIP(return, "no immediate stacks, or they are not counted");
	busy = make_busy(self, false);
	ASSERT_NE(NULL, busy);
	read_counts(before);
	ASSERT_TRUE(turn_over(&busy->turns, TURN_CHILD));
	ASSERT_TRUE(turn_await(&busy->turns, TURN_PARENT));
	EXPECT_TRUE(has_lock(busy));
	read_counts(after);
	EXPECT_EQ(1, after[CHANGING] - before[CHANGING]);
	EXPECT_EQ(0, after[TAKEN] - before[TAKEN]);

	ASSERT_EQ(0, records_read(&recs, &busy->sampler.ring));
	ASSERT_EQ(1, recs.nr);
	stack = stack_of(&recs.rec[0], 1);
	EXPECT_LE(1, stack.nr);
	EXPECT_GE(2, stack.nr);
	busy->expected.nr = stack.nr;
	EXPECT_TRUE(stack_begins_with(&stack, &busy->expected));
	EXPECT_EQ(0, end_busy(self, busy));
	records_free(&recs);
}

TEST_F_TIMEOUT(slow, mmap_holds_up_a_deferred_stack_and_it_is_whole, 60)
{
	struct busy *busy = make_busy(self, true);
	struct records recs = {};
	struct stack stack;

	ASSERT_NE(NULL, busy);
	ASSERT_TRUE(turn_over(&busy->turns, TURN_CHILD));
	/* On the way back to user space */
	ASSERT_TRUE(await_sleep(busy->pid, SYS_getppid));
	EXPECT_TRUE(has_lock(busy));
	ASSERT_EQ(0, records_read(&recs, &busy->sampler.ring));
	EXPECT_EQ(1, recs.nr);

	atomic_store(&self->control->hold, false);
	ASSERT_TRUE(turn_await(&busy->turns, TURN_PARENT));
	ASSERT_EQ(0, records_read(&recs, &busy->sampler.ring));
	ASSERT_EQ(2, recs.nr);
	EXPECT_TRUE(records_match(&recs, NULL));
	stack = stack_of(&recs.rec[1], 0);
	EXPECT_TRUE(stack_begins_with(&stack, &busy->expected));
	EXPECT_EQ(0, end_busy(self, busy));
	records_free(&recs);
}

static bool await_stack(struct records *recs, struct ring *ring)
{
	const int64_t end = now_ms() + AWAIT_MS;

	do {
		usleep(1000);
		if (records_read(recs, ring))
			return false;
	} while (!records_count(recs, PERF_RECORD_CALLCHAIN_DEFERRED) && now_ms() < end);
	return records_count(recs, PERF_RECORD_CALLCHAIN_DEFERRED);
}

/* It cannot exit yet, but the known part of its stack is there, with a stop reason */
TEST_F_TIMEOUT(slow, mmap_does_not_hold_up_the_stack_of_a_killed_task, 60)
{
	struct busy *busy = make_busy(self, true);
	struct file_env *env = &self->env;
	struct records recs = {};
	struct stack stack;

	ASSERT_NE(NULL, busy);
	ASSERT_TRUE(turn_over(&busy->turns, TURN_CHILD));
	ASSERT_TRUE(await_sleep(busy->pid, SYS_getppid));
	ASSERT_EQ(0, kill(busy->pid, SIGKILL));
	ASSERT_TRUE(await_stack(&recs, &busy->sampler.ring));
	EXPECT_TRUE(has_lock(busy));
	EXPECT_TRUE(records_match(&recs, NULL));
	stack = stack_of(records_get(&recs, PERF_RECORD_CALLCHAIN_DEFERRED, 0), 0);
	EXPECT_EQ(1, stack.nr);
	EXPECT_EQ(busy->expected.ip[0], stack.ip[0]);
	ASSERT_EQ(0, trace_read(&env->trace));
	EXPECT_EQ(1, trace_count(&env->trace, "stop", "reason='mappings changing'", NULL, 0));
	EXPECT_EQ(SIGKILL, WTERMSIG(end_busy(self, busy)));
	records_free(&recs);
}

/*
 * Devices
 */

#define DEVICES		4
#define DEVICE		"unwind_slow%1$u"
#define DEVICE_DIR	"/tmp/device%1$u"
#define IMAGE		DEVICE_DIR ".img"
#define LOOP		DEVICE_DIR ".loop"
#define DMSETUP		"dmsetup --noudevsync --noudevrules "
/* A device that answers, and one that fails */
#define ANSWERS		"\"0 32768 linear $(cat " LOOP ") 0\""
#define FAILS		"\"0 32768 error\""

FIXTURE(suspended)
{
	struct file_env env;
	chain_fn fn[FILES];
	int fd[FILES];
};

static bool run(const char *format, unsigned int device)
{
	char command[256], quiet[300];

	snprintf(command, sizeof(command), format, device);
	snprintf(quiet, sizeof(quiet), "{ %s; } >/dev/null 2>&1", command);
	return !system(quiet);
}

/*
 * A file system on a loop device, with the device mapper between them.  Nothing is written
 * while the device is suspended or fails: there is no journal, no time of access, and no table
 * of inodes that is still to be cleared.
 */
static bool make_device(unsigned int device)
{
	static const char * const commands[] = {
		"truncate -s 16M " IMAGE,
		"mkfs.ext4 -q -b 4096 -O ^has_journal -E lazy_itable_init=0 " IMAGE,
		"losetup -f --show " IMAGE " >" LOOP,
		DMSETUP "create " DEVICE " --table " ANSWERS,
		"dmsetup mknodes",
		"mkdir -p " DEVICE_DIR,
		"mount -o noatime /dev/mapper/" DEVICE " " DEVICE_DIR,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!run(commands[i], device))
			return false;
	return true;
}

static bool suspend_device(unsigned int device)
{
	return run(DMSETUP "suspend --nolockfs " DEVICE, device);
}

static bool resume_device(unsigned int device)
{
	return run(DMSETUP "resume " DEVICE, device);
}

/* From here on, each read and each write is an I/O error */
static bool fail_device(unsigned int device)
{
	return suspend_device(device) && run(DMSETUP "load " DEVICE " --table " FAILS, device) &&
	       resume_device(device);
}

static bool repair_device(unsigned int device)
{
	return suspend_device(device) && run(DMSETUP "load " DEVICE " --table " ANSWERS, device) &&
	       resume_device(device);
}

static void remove_device(unsigned int device)
{
	resume_device(device);
	run("umount " DEVICE_DIR, device);
	if (!run(DMSETUP "remove " DEVICE, device) ||
	    !run("losetup -d $(cat " LOOP ")", device))
		fputs("# the device could not be removed\n", stderr);
}

/* Map a page of a file, and bring it into memory without its neighbours; NULL on failure */
static char *bring_in(int fd, int prot, off_t offset)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, page, prot, MAP_PRIVATE, fd, offset);

	/* Or they would be read ahead */
	if (at == MAP_FAILED || madvise(at, page, MADV_RANDOM))
		return NULL;
	(void)READ_ONCE(*at);
	return at;
}

/* Make a file, and bring only its text into memory */
static bool map_settled(unsigned int device, const char *name, int *fd, chain_fn *fn)
{
	char path[64], *text;

	snprintf(path, sizeof(path), DEVICE_DIR "/%2$s", device, name);
	*fd = make_file(&code_file_usual, path);
	if (*fd < 0 || syncfs(*fd) || posix_fadvise(*fd, 0, 0, POSIX_FADV_DONTNEED))
		return false;
	text = bring_in(*fd, PROT_READ | PROT_EXEC, code_file_usual.text[0].offset);
	*fn = (chain_fn)text;
	return text;
}

FIXTURE_SETUP(suspended)
{
	const char *why = env_setup(&self->env);
	unsigned int i;

	if (!why && !make_device(0))
		why = "no device mapper, no loop device, or not root";
	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, trace_all(&self->env.trace));
	for (i = 0; i < FILES; i++)
		ASSERT_TRUE(map_settled(0, names[i], &self->fd[i], &self->fn[i]));
	ASSERT_TRUE(suspend_device(0));
}

/* Neither map a file any more, nor have it open */
static void release(struct _test_data_suspended *self, unsigned int i)
{
	if (self->fd[i] < 0)
		return;
	munmap(self->fn[i], sysconf(_SC_PAGESIZE));
	close(self->fd[i]);
	self->fd[i] = -1;
}

FIXTURE_TEARDOWN(suspended)
{
	unsigned int i;

	for (i = 0; i < FILES; i++)
		release(self, i);
	env_teardown(&self->env);
	remove_device(0);
}

/* The file has its table when the device answers */
TEST_F(suspended, file_has_stacks_without_its_table)
{
	struct file_env *env = &self->env;

	EXPECT_TRUE(never_through_fn(env, self->fn[0]));
	EXPECT_TRUE(others_are_loaded(env));
	EXPECT_TRUE(never_through_fn(env, self->fn[0]));
	EXPECT_EQ(0, loads(env, self->fd[0]));
	ASSERT_TRUE(resume_device(0));
	EXPECT_EQ(THROUGH, await_through_fn(env, self->fn[0]));
	EXPECT_ONE_LOAD(env, self->fd[0]);
}

TEST_F(suspended, file_does_not_keep_its_task_alive)
{
	EXPECT_TRUE(can_be_killed(self->fn[0]));
	EXPECT_EQ(0, loads(&self->env, self->fd[0]));
}

/* Loads of the same file system wait for each other */
TEST_F(suspended, file_holds_up_only_its_file_system)
{
	struct file_env *env = &self->env;

	EXPECT_TRUE(never_through_fn(env, self->fn[0]));
	EXPECT_TRUE(never_through_fn(env, self->fn[1]));
	EXPECT_TRUE(others_are_loaded(env));
	ASSERT_TRUE(resume_device(0));
	EXPECT_EQ(THROUGH, await_through_fn(env, self->fn[0]));
	EXPECT_EQ(THROUGH, await_through_fn(env, self->fn[1]));
	EXPECT_ONE_LOAD(env, self->fd[0]);
	EXPECT_ONE_LOAD(env, self->fd[1]);
}

/* -EBUSY if a mount is in use, else -EAGAIN.  To unmount it would wait for the device. */
static int use_of_mount(const char *dir)
{
	return umount2(dir, MNT_EXPIRE) ? -errno : 0;
}

static bool await_umount(const char *dir)
{
	const int64_t end = now_ms() + AWAIT_MS;
	int ret;

	while ((ret = umount(dir)) && errno == EBUSY && now_ms() < end)
		usleep(1000);
	return !ret;
}

TEST_F(suspended, file_without_a_load_does_not_hold_its_mount)
{
	char dir[32];

	snprintf(dir, sizeof(dir), DEVICE_DIR, 0);
	EXPECT_EQ(-EBUSY, use_of_mount(dir));
	release(self, 0);
	release(self, 1);
	EXPECT_EQ(-EAGAIN, use_of_mount(dir));
}

/* The worker has it open, and no process has; the table that it makes needs neither */
TEST_F_TIMEOUT(suspended, file_holds_its_mount_until_its_load_ends, 60)
{
	struct file_env *env = &self->env;
	char dir[32];

	snprintf(dir, sizeof(dir), DEVICE_DIR, 0);
	EXPECT_TRUE(never_through_fn(env, self->fn[0]));
	release(self, 0);
	release(self, 1);
	EXPECT_EQ(-EBUSY, use_of_mount(dir));
	ASSERT_TRUE(resume_device(0));
	EXPECT_TRUE(await_umount(dir));
	ASSERT_EQ(0, trace_read(&env->trace));
	EXPECT_EQ(1, trace_count(&env->trace, "table_found", " name=code.so", NULL, 0));
}

/* The end of a chain, until a signal comes */
static void sleep_in_chain(struct notes *notes)
{
	unsigned long ip;

	syscall4_at(SYS_ppoll, 0, 0, 0, 0, &ip);
	asm volatile("" : : "r"(notes) : "memory");
}

static pid_t start_sleeper(chain_fn fn)
{
	pid_t pid = fork();

	if (!pid) {
		struct notes notes = { .next = { sleep_in_chain } };

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fn(&notes);
		_exit(1);
	}
	return pid;
}

/*
 * As perf record -e signal:signal_deliver does: a task that is being killed has a stack, the
 * first one that passes the file.  Nothing is loaded for it: a load would be before the one of
 * the other file, and end first.
 */
TEST_F_TIMEOUT(suspended, file_does_not_keep_its_task_alive_when_signals_are_traced, 60)
{
	const unsigned long fn = (unsigned long)self->fn[0];
	struct file_env *env = &self->env;
	struct sampler sampler;
	struct stack stack;
	bool opened;
	pid_t pid;

	/* And with this, the table of this program is known, if it has one */
	EXPECT_TRUE(others_are_loaded(env));
	pid = start_sleeper(self->fn[0]);
	ASSERT_LT(0, pid);
	ASSERT_TRUE(await_sleep(pid, SYS_ppoll));
	opened = !sampler_open_tracepoint(&sampler, pid, "signal/signal_deliver", "sig == 9");
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(SIGKILL, WTERMSIG(wait_for(pid)));
	if (!opened)
		SKIP(return, "no event of signals");
	ASSERT_EQ(0, sampler_stack(&sampler, &stack));
	sampler_close(&sampler);
	/* The system call, and the file's function, which has no frame record */
	EXPECT_EQ(2, stack.nr);
	EXPECT_LT(fn, stack.ip[1]);
	EXPECT_GT(fn + CODE_STRIDE, stack.ip[1]);

	EXPECT_TRUE(never_through_fn(env, self->fn[1]));
	ASSERT_TRUE(resume_device(0));
	EXPECT_EQ(THROUGH, await_through_fn(env, self->fn[1]));
	EXPECT_ONE_LOAD(env, self->fd[1]);
	EXPECT_EQ(0, loads(env, self->fd[0]));
}

/*
 * A device that fails for some time: it is not known whether a file has a table
 */

FIXTURE(failing)
{
	struct file_env env;
	chain_fn fn;
	int fd;
};

FIXTURE_VARIANT(failing)
{
	/* The ELF file's headers are in memory, so the section's header is what cannot be read */
	bool has_headers;
};

FIXTURE_VARIANT_ADD(failing, at_the_headers_of_the_file) {
	.has_headers = false,
};

FIXTURE_VARIANT_ADD(failing, at_the_header_of_the_section) {
	.has_headers = true,
};

static bool bring_in_headers(int fd)
{
	char *headers = bring_in(fd, PROT_READ, 0);

	return headers && !munmap(headers, sysconf(_SC_PAGESIZE));
}

FIXTURE_SETUP(failing)
{
	const char *why = env_setup(&self->env);

	if (!why && !make_device(0))
		why = "no device mapper, no loop device, or not root";
	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, trace_all(&self->env.trace));
	ASSERT_TRUE(map_settled(0, names[0], &self->fd, &self->fn));
	if (variant->has_headers)
		ASSERT_TRUE(bring_in_headers(self->fd));
	ASSERT_TRUE(fail_device(0));
}

FIXTURE_TEARDOWN(failing)
{
	munmap(self->fn, sysconf(_SC_PAGESIZE));
	close(self->fd);
	env_teardown(&self->env);
	repair_device(0);
	remove_device(0);
}

/* Take stacks until loads have failed @nr times, or one does not end in @fn */
static enum through await_faults_fn(struct _test_data_failing *self, size_t nr)
{
	const int64_t end = now_ms() + AWAIT_MS;
	enum through ret;

	do {
		ret = code_through(&self->env.sampler, self->fn);
		usleep(10000);
	} while (ret == THROUGH_NOT && faults(&self->env, self->fd) < nr && now_ms() < end);
	return ret;
}

/* The kernel tries again and again, as long as the file is mapped */
TEST_F_TIMEOUT(failing, device_answers_again_and_the_file_has_its_table, 60)
{
	struct file_env *env = &self->env;
	char message[128] = "";
	size_t nr;

	for (nr = 1; nr <= 2; nr++) {
		EXPECT_EQ(THROUGH_NOT, await_faults_fn(self, nr));
		EXPECT_LE(nr, trace_count_file(&env->trace, "file_invalid", self->fd, message,
					       sizeof(message)));
		EXPECT_EQ(-EAGAIN, trace_field(message, "error"));
	}
	EXPECT_EQ(0, loads(env, self->fd));
	ASSERT_TRUE(repair_device(0));
	EXPECT_EQ(THROUGH, await_through_fn(env, self->fn));
	EXPECT_EQ(1, await_loads(env, self->fd));
}

/*
 * The table service reads a file's headers, and may wait for them
 */

/* The file's own section as an answer that was not asked for; 0 or a negative error */
static int provide(int service, int fd)
{
	struct unwind_answer answer = {
		.fd = fd,
		.table_size = code_file_table_size(&code_file_usual),
		.address = code_file_usual.table.vaddr,
	};
	size_t size;
	char *bytes = file_bytes(&code_file_usual, &size);
	int ret;

	if (!bytes)
		return -ENOMEM;
	answer.table_start = (uintptr_t)bytes + code_file_usual.table.offset;
	ret = ioctl(service, UNWIND_IOC_ADD, &answer) ? -errno : 0;
	free(bytes);
	return ret;
}

/* The worker waits for the section, and the headers are in memory */
TEST_F(suspended, file_whose_table_is_loaded_takes_no_other)
{
	int service = open("/dev/unwind", O_RDWR | O_CLOEXEC);
	char byte;

	if (service < 0 && errno == ENOENT)
		SKIP(return, "no /dev/unwind");
	ASSERT_LE(0, service);
	ASSERT_TRUE(resume_device(0));
	ASSERT_EQ(0, posix_fadvise(self->fd[0], 0, 0, POSIX_FADV_RANDOM));
	ASSERT_EQ(1, pread(self->fd[0], &byte, 1, 0));
	ASSERT_TRUE(suspend_device(0));
	ASSERT_EQ(THROUGH_NOT, code_through(&self->env.sampler, self->fn[0]));
	EXPECT_EQ(-EBUSY, provide(service, self->fd[0]));
	ASSERT_TRUE(resume_device(0));
	EXPECT_EQ(THROUGH, await_through_fn(&self->env, self->fn[0]));
	EXPECT_EQ(-EEXIST, provide(service, self->fd[0]));
}

TEST_F(suspended, file_whose_headers_cannot_be_read_gets_its_table_later)
{
	int service = open("/dev/unwind", O_RDWR | O_CLOEXEC), ret;

	if (service < 0 && errno == ENOENT)
		SKIP(return, "no /dev/unwind");
	ASSERT_LE(0, service);
	ASSERT_TRUE(fail_device(0));
	ret = provide(service, self->fd[0]);
	ASSERT_TRUE(repair_device(0));
	EXPECT_EQ(-EAGAIN, ret);
	EXPECT_EQ(0, provide(service, self->fd[0]));
	EXPECT_EQ(THROUGH, code_through(&self->env.sampler, self->fn[0]));
}

TEST_F(suspended, service_that_waits_for_headers_can_be_killed)
{
	int service = open("/dev/unwind", O_RDWR | O_CLOEXEC);
	pid_t pid;

	if (service < 0 && errno == ENOENT)
		SKIP(return, "no /dev/unwind");
	ASSERT_LE(0, service);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(provide(service, self->fd[0]));
	EXPECT_TRUE(await_sleep(pid, SYS_ioctl));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(SIGKILL, WTERMSIG(wait_for(pid)));
	/* And leaves nothing */
	ASSERT_TRUE(resume_device(0));
	EXPECT_EQ(0, provide(service, self->fd[0]));
	EXPECT_EQ(THROUGH, code_through(&self->env.sampler, self->fn[0]));
}

/*
 * One process has more slow files than there are workers, and places for them to wait
 */

#define MANY_FILES	40	/* and the last one is another process's */

FIXTURE(greedy)
{
	struct file_env env;
	unsigned int nr_devices;
	chain_fn fn[MANY_FILES];
	int fd[MANY_FILES];
};

/* On each device in turn */
static bool map_many(struct _test_data_greedy *self, unsigned int nr_files)
{
	char name[16];
	unsigned int i;

	for (i = 0; i < nr_files; i++) {
		snprintf(name, sizeof(name), "%u.so", i);
		if (!map_settled(i % self->nr_devices, name, &self->fd[i], &self->fn[i]))
			return false;
	}
	for (i = 0; i < self->nr_devices; i++)
		if (!suspend_device(i))
			return false;
	return true;
}

FIXTURE_VARIANT(greedy)
{
	unsigned int nr_devices;
	unsigned int nr_files;
};

FIXTURE_VARIANT_ADD(greedy, files_of_one_file_system) {
	.nr_devices = 1,
	.nr_files = MANY_FILES,
};

FIXTURE_VARIANT_ADD(greedy, file_systems) {
	.nr_devices = DEVICES,
	.nr_files = DEVICES + 1,
};

FIXTURE_SETUP(greedy)
{
	const char *why = env_setup(&self->env);

	while (!why && self->nr_devices < variant->nr_devices)
		if (!make_device(self->nr_devices++))
			why = "no device mapper, no loop device, or not root";
	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, trace_all(&self->env.trace));
	ASSERT_TRUE(map_many(self, variant->nr_files));
}

FIXTURE_TEARDOWN(greedy)
{
	unsigned int i;

	for (i = 0; i < variant->nr_files; i++) {
		munmap(self->fn[i], sysconf(_SC_PAGESIZE));
		close(self->fd[i]);
	}
	env_teardown(&self->env);
	while (self->nr_devices)
		remove_device(--self->nr_devices);
}

/* In another process */
static bool others_are_served(struct file_env *env, chain_fn fn)
{
	pid_t pid = fork();

	if (!pid) {
		sampler_close(&env->sampler);
		_exit(sampler_open(&env->sampler, 0) ||
		      code_through(&env->sampler, fn) != THROUGH_NOT ||
		      !others_are_loaded(env));
	}
	return pid > 0 && !wait_for(pid);
}

/* The worker does not report a file whose load waits */
TEST_F_TIMEOUT(greedy, process_leaves_workers_and_places_to_others, 120)
{
	const unsigned int other = variant->nr_files - 1;
	struct file_env *env = &self->env;
	unsigned int i;

	for (i = 0; i < other; i++)
		ASSERT_EQ(THROUGH_NOT, code_through(&env->sampler, self->fn[i]));
	EXPECT_TRUE(others_are_served(env, self->fn[other]));
	EXPECT_EQ(variant->nr_files == MANY_FILES, faults(env, self->fd[other - 1]));
	EXPECT_EQ(0, faults(env, self->fd[other]));
	for (i = 0; i < self->nr_devices; i++)
		ASSERT_TRUE(resume_device(i));
	for (i = 0; i < variant->nr_files; i++)
		EXPECT_EQ(THROUGH, await_through_fn(env, self->fn[i]));
}

TEST_HARNESS_MAIN
