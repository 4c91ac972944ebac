// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred user stacks in the trace.
 *
 * Tests compare whole stacks (whole.h), each frame by address, file and offset, with the
 * program's own notes and with the mappings in /proc.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"
#include "code_register.h"
#include "ftrace.h"
#include "whole.h"
#include "../../kselftest_harness.h"

/*
 * The option userstacktrace_deferred
 */

#define CALLS	500

FIXTURE(option)
{
	struct ftrace ft;
	struct ftrace other;
	struct ftrace_log log;
};

FIXTURE_SETUP(option)
{
	if (ftrace_open(&self->ft, "a"))
		SKIP(return, "no deferred user stacks in traces");
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_event(&self->ft, FTRACE_ENTER, getpid()));
}

FIXTURE_TEARDOWN(option)
{
	ftrace_free(&self->log);
	if (self->other.dir[0])
		EXPECT_EQ(0, ftrace_close(&self->other));
	EXPECT_EQ(0, ftrace_close(&self->ft));
}

static void sample(void *arg)
{
	whole_note_ra();
	whole_sample();
}

static void middle(void *arg)
{
	whole_note_ra();
	sample(arg);
}

static void many(void *arg)
{
	unsigned int i, nr;

	whole_note_ra();
	nr = whole.nr;
	for (i = 0; i < CALLS; i++) {
		whole_forget(nr);
		middle(arg);
	}
}

/* Is this the noted stack? */
static bool is_noted(const struct ftrace_record *rec)
{
	struct stack expected;

	expect_chain(&expected, &whole);
	return expected.nr && ftrace_stack_is(rec, expected.ip, expected.nr);
}

/* The only stack of a trace */
static const struct ftrace_record *only_stack(const struct ftrace_log *log)
{
	size_t i;

	if (ftrace_count(log, FTRACE_STACK) != 1)
		return NULL;
	for (i = 0; log->rec[i].type != FTRACE_STACK; i++)
		;
	return &log->rec[i];
}

/* A slow machine takes long to read that many stacks */
TEST_F_TIMEOUT(option, each_entry_has_one_stack, 180)
{
	size_t i;

	/* Two events for one entry */
	ASSERT_EQ(0, ftrace_event(&self->ft, FTRACE_EXIT, getpid()));
	whole_run(many, NULL, NULL);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(2 * CALLS, ftrace_count(&self->log, FTRACE_COOKIE));
	EXPECT_EQ(CALLS, ftrace_count(&self->log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&self->log, NULL));
	for (i = 0; i < self->log.nr; i++)
		if (self->log.rec[i].type == FTRACE_STACK)
			ASSERT_TRUE(is_noted(&self->log.rec[i]));
}

/* This program's build-id, in readelf's format */
static int find_build_id(struct dl_phdr_info *info, size_t size, void *arg)
{
	char *out = arg;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *phdr = &info->dlpi_phdr[i];
		const char *at = (void *)(info->dlpi_addr + phdr->p_vaddr);
		const char *end = at + phdr->p_memsz;

		for (; phdr->p_type == PT_NOTE && at < end;) {
			const Elf64_Nhdr *note = (void *)at;
			const unsigned char *desc = (void *)(at + sizeof(*note) +
						((note->n_namesz + 3) & ~3));
			unsigned int k;

			at = (void *)(desc + ((note->n_descsz + 3) & ~3));
			if (note->n_type != NT_GNU_BUILD_ID)
				continue;
			for (k = 0; k < note->n_descsz; k++)
				sprintf(out + 2 * k, "%02x", desc[k]);
			return 1;
		}
	}
	return 1;
}

/* Once per sub-buffer, which has some ten of these stacks */
TEST_F(option, file_is_announced_before_its_stack_with_its_build_id)
{
	char build_id[64] = "", self_path[192] = "";
	size_t i, before = 0;

	ASSERT_LT(0, readlink("/proc/self/exe", self_path, sizeof(self_path) - 1));
	dl_iterate_phdr(find_build_id, build_id);
	ASSERT_NE(0, build_id[0]);

	whole_run(many, NULL, NULL);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_GT(CALLS, 5 * ftrace_announced(&self->log, self_path));
	/* Before the first stack */
	for (i = 0; i < self->log.nr; i++) {
		const struct ftrace_record *rec = &self->log.rec[i];

		if (rec->type == FTRACE_STACK)
			break;
		if (rec->type != FTRACE_FILE)
			continue;
		before++;
		EXPECT_STREQ(self_path, rec->path);
		EXPECT_STREQ(build_id, rec->build_id);
	}
	EXPECT_EQ(1, before);
}

TEST_F(option, file_is_announced_again_in_an_empty_buffer)
{
	char self_path[192] = "";

	ASSERT_LT(0, readlink("/proc/self/exe", self_path, sizeof(self_path) - 1));
	whole_run(middle, NULL, NULL);
	ASSERT_EQ(0, ftrace_set(&self->ft, "trace", ""));
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	ASSERT_EQ(0, self->log.nr);
	ftrace_free(&self->log);

	whole_run(middle, NULL, NULL);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(1, ftrace_announced(&self->log, self_path));
	EXPECT_TRUE(is_noted(only_stack(&self->log)));
}

/* Sizes are in KiB, but sub-buffers are of whole pages */
static int set_pages(const struct ftrace *ft, const char *file, unsigned int nr)
{
	char text[16];

	snprintf(text, sizeof(text), "%lu", nr * sysconf(_SC_PAGESIZE) / 1024);
	return ftrace_set(ft, file, text);
}

TEST_F(option, file_is_announced_again_in_other_subbuffers)
{
	char self_path[192] = "";

	ASSERT_LT(0, readlink("/proc/self/exe", self_path, sizeof(self_path) - 1));
	whole_run(middle, NULL, NULL);
	if (set_pages(&self->ft, "buffer_subbuf_size_kb", 2))
		SKIP(return, "the size of sub-buffers cannot be changed");
	whole_run(middle, NULL, NULL);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(1, ftrace_announced(&self->log, self_path));
	EXPECT_TRUE(is_noted(only_stack(&self->log)));
}

static int move_to(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* The system call is traced on one CPU, and returns on another, which is not traced */
TEST_F(option, stack_of_a_task_that_moves_to_another_cpu_is_there)
{
	char self_path[192] = "", filter[64];

	if (move_to(1) || move_to(0))
		SKIP(return, "there are no two CPUs");
	ASSERT_LT(0, readlink("/proc/self/exe", self_path, sizeof(self_path) - 1));
	ASSERT_EQ(0, ftrace_set(&self->ft, "tracing_cpumask", "1"));
	snprintf(filter, sizeof(filter), "id == %d && common_pid == %d",
		 (int)SYS_sched_setaffinity, getpid());
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_ENTER "/filter", filter));
	ASSERT_EQ(0, move_to(1));
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(1, ftrace_count(&self->log, FTRACE_COOKIE));
	EXPECT_EQ(1, ftrace_count(&self->log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&self->log, NULL));
	EXPECT_EQ(1, ftrace_announced(&self->log, self_path));
}

/* One CPU's buffer can be read without the other ones */
TEST_F(option, file_is_announced_in_the_buffer_of_each_stack)
{
	char self_path[192] = "", file[32];
	int cpu;

	if (move_to(1) || move_to(0))
		SKIP(return, "there are no two CPUs");
	ASSERT_LT(0, readlink("/proc/self/exe", self_path, sizeof(self_path) - 1));
	whole_run(middle, NULL, NULL);
	ASSERT_EQ(0, move_to(1));
	whole_run(middle, NULL, NULL);
	for (cpu = 0; cpu < 2; cpu++) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/trace", cpu);
		ftrace_free(&self->log);
		ASSERT_EQ(0, ftrace_read(&self->ft, file, &self->log));
		EXPECT_NE(NULL, only_stack(&self->log));
		EXPECT_EQ(1, ftrace_announced(&self->log, self_path));
	}
}

TEST_F(option, snapshot_keeps_its_announcement)
{
	char self_path[192] = "";

	ASSERT_LT(0, readlink("/proc/self/exe", self_path, sizeof(self_path) - 1));
	whole_run(middle, NULL, NULL);
	if (ftrace_set(&self->ft, "snapshot", "1"))
		SKIP(return, "no snapshots");
	ASSERT_EQ(0, ftrace_read(&self->ft, "snapshot", &self->log));
	EXPECT_EQ(1, ftrace_announced(&self->log, self_path));
	EXPECT_TRUE(is_noted(only_stack(&self->log)));
	ftrace_free(&self->log);

	whole_run(middle, NULL, NULL);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(1, ftrace_announced(&self->log, self_path));
	EXPECT_TRUE(is_noted(only_stack(&self->log)));
}

TEST_F_TIMEOUT(option, file_in_use_stays_announced_when_overwritten, 180)
{
	const unsigned int portion = 20 * sysconf(_SC_PAGESIZE) / 4096;
	char self_path[192] = "";
	unsigned int i;

	ASSERT_LT(0, readlink("/proc/self/exe", self_path, sizeof(self_path) - 1));
	ASSERT_EQ(0, set_pages(&self->ft, "buffer_size_kb", 2));
	/* Read after each portion; a buffer holds less than all of them */
	for (i = 0; i < 16; i++) {
		unsigned int k;

		for (k = 0; k < portion; k++)
			whole_run(middle, NULL, NULL);
		ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
		EXPECT_LE(1, ftrace_announced(&self->log, self_path));
		if (i == 15)
			/*
			 * The buffer was overwritten. The file is announced less often
			 * than stacks are written.
			 */
			EXPECT_GT(16 * portion, ftrace_count(&self->log, FTRACE_STACK));
		EXPECT_GT(ftrace_count(&self->log, FTRACE_STACK),
			  2 * ftrace_announced(&self->log, self_path));
		ftrace_free(&self->log);
	}
}

/* The file is not met any more, while its stacks are overwritten one sub-buffer at a time */
TEST_F_TIMEOUT(option, stack_that_is_left_has_its_file, 180)
{
	const unsigned int stacks = 60 * sysconf(_SC_PAGESIZE) / 4096;
	char self_path[192] = "";
	size_t left, fewer = 0;
	unsigned int i;

	ASSERT_LT(0, readlink("/proc/self/exe", self_path, sizeof(self_path) - 1));
	ASSERT_EQ(0, move_to(0));
	ASSERT_EQ(0, set_pages(&self->ft, "buffer_size_kb", 16));
	/* Some sub-buffers, but less than the buffer */
	for (i = 0; i < stacks; i++)
		whole_run(middle, NULL, NULL);
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_OPTION, "0"));
	for (left = stacks; left; fewer += left && left < stacks) {
		for (i = 0; i < stacks / 3; i++)
			syscall(SYS_getppid);
		ftrace_free(&self->log);
		ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
		left = ftrace_count(&self->log, FTRACE_STACK);
		if (left)
			ASSERT_LE(1, ftrace_announced(&self->log, self_path))
				TH_LOG("%zu stacks are left", left);
	}
	/* That state was seen */
	EXPECT_LE(1, fewer);
}

TEST_F(option, instances_get_what_they_ask_for)
{
	struct ftrace_log other;
	size_t i;

	ASSERT_EQ(0, ftrace_open(&self->other, "b"));
	ASSERT_EQ(0, ftrace_event(&self->other, FTRACE_ENTER, getpid()));
	whole_run(middle, NULL, NULL);
	ASSERT_EQ(0, ftrace_read(&self->other, "trace", &other));
	EXPECT_EQ(0, other.nr);
	ftrace_free(&other);

	ASSERT_EQ(0, ftrace_set(&self->other, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_set(&self->ft, "trace", ""));
	whole_run(many, NULL, NULL);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	ASSERT_EQ(0, ftrace_read(&self->other, "trace", &other));
	EXPECT_EQ(CALLS, ftrace_count(&self->log, FTRACE_STACK));
	EXPECT_EQ(CALLS, ftrace_count(&other, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&self->log, NULL));
	EXPECT_TRUE(ftrace_pairs(&other, NULL));
	/* One cookie for one entry */
	for (i = 0; i < other.nr; i++)
		if (other.rec[i].type == FTRACE_STACK)
			EXPECT_NE(NULL, ftrace_stack(&self->log,
						     other.rec[i].cookie));
	ftrace_free(&other);
}

TEST_F(option, off_writes_no_stacks)
{
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_OPTION, "0"));
	whole_run(middle, NULL, NULL);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(0, self->log.nr);
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_OPTION, "1"));
	whole_run(middle, NULL, NULL);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_TRUE(is_noted(only_stack(&self->log)));
}

/* More often than there is room for clients: nothing may stay registered */
FIXTURE(clients)
{
};

FIXTURE_SETUP(clients)
{
}

FIXTURE_TEARDOWN(clients)
{
}

/* A slow machine takes long to create an instance with its buffers */
TEST_F_TIMEOUT(clients, removed_instances_are_released, 300)
{
	struct ftrace ft;
	int i;

	for (i = 0; i < 70; i++) {
		if (ftrace_open(&ft, "c"))
			SKIP(return, "no deferred user stacks in traces");
		ASSERT_EQ(0, ftrace_set(&ft, FTRACE_OPTION, "1"));
		/* With the option on, or off */
		if (i % 2)
			ASSERT_EQ(0, ftrace_set(&ft, FTRACE_OPTION, "0"));
		ASSERT_EQ(0, ftrace_close(&ft));
	}
}

/* Mappings without a file */

static int (*clock_gettime_of_vdso)(clockid_t clock, struct timespec *ts);

#if defined(__aarch64__)
#define CLOCK_GETTIME	"__kernel_clock_gettime"
#else
#define CLOCK_GETTIME	"__vdso_clock_gettime"
#endif

static void find_clock_gettime(void)
{
	void *lib = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (lib)
		clock_gettime_of_vdso = dlsym(lib, CLOCK_GETTIME);
}

static void call_vdso(void *arg)
{
	struct timespec ts;

	clock_gettime_of_vdso(CLOCK_PROCESS_CPUTIME_ID, &ts);
}

TEST_F(option, vdso_frame_is_named)
{
	const struct ftrace_record *rec;
	struct ftrace_frame place;
	char filter[64];

	find_clock_gettime();
	if (!clock_gettime_of_vdso)
		SKIP(return, "no vDSO");
	snprintf(filter, sizeof(filter), "id == %d && common_pid == %d",
		 (int)SYS_clock_gettime, getpid());
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_ENTER "/filter", filter));
	/* The vDSO does not know this clock, so it makes the system call */
	whole_run(call_vdso, NULL, NULL);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	rec = only_stack(&self->log);
	ASSERT_NE(NULL, rec);
	ASSERT_LT(1, rec->nr);
	EXPECT_STREQ("[vdso]", rec->frame[0].path);
	ASSERT_TRUE(ftrace_place(rec->frame[0].ip, &place));
	EXPECT_STREQ("[vdso]", place.path);
	EXPECT_EQ(place.offset, rec->frame[0].offset);
	EXPECT_EQ(1, ftrace_announced(&self->log, "[vdso]"));
}

/* Code made at run time: its registered table continues the stack, and it has no file */
TEST_F(option, frames_without_a_file_are_addresses)
{
	const struct ftrace_record *rec;
	struct notes notes = {};
	struct code code;
	bool registered;

	ASSERT_EQ(0, code_map(&code, 1));
	for (registered = false;; registered = true) {
		ASSERT_EQ(0, ftrace_set(&self->ft, "trace", ""));
		notes = (struct notes){};
		notes.next[0] = code_fn(&code, 0);
		notes.next[1] = sampled_call;
		notes.next[notes.nr_next++](&notes);
		ftrace_free(&self->log);
		ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
		rec = only_stack(&self->log);
		ASSERT_NE(NULL, rec);
		ASSERT_LT(1, rec->nr);
		EXPECT_STREQ(registered ? "[jit]" : "[anon]", rec->frame[1].path);
		EXPECT_EQ(notes.ra[notes.nr - 2], rec->frame[1].ip);
		if (registered)
			break;
		ASSERT_EQ(0, code_register(&code, 1));
	}
	EXPECT_EQ(0, unwind_table_del(1));
}

/*
 * Off the CPU
 */

struct sleeper {
	uint32_t	futex;
	int		fds[2];
	bool		by_futex;
	struct notes	notes;
};

static struct sleeper *sleeper;

/* The addresses are complete before it sleeps */
static void go_to_sleep(void *arg)
{
	unsigned long *ip;
	char c;

	whole_note_ra();
	sleeper->notes = whole;
	ip = &sleeper->notes.ra[sleeper->notes.nr++];
	if (sleeper->by_futex)
		syscall4_at(SYS_futex, (long)&sleeper->futex, FUTEX_WAIT, 0, 0, ip);
	else
		syscall4_at(SYS_read, sleeper->fds[0], (long)&c, 1, 0, ip);
}

static void before_sleep(void *arg)
{
	whole_note_ra();
	go_to_sleep(arg);
}

/* Start a child that sleeps, and trace its switches */
static pid_t start_sleeper(const struct ftrace *ft, bool by_futex)
{
	char filter[64], start;
	int go[2], nr;
	pid_t pid;

	sleeper = mmap(NULL, sizeof(*sleeper), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sleeper == MAP_FAILED || pipe(sleeper->fds) || pipe(go))
		return -1;
	sleeper->by_futex = by_futex;
	pid = fork();
	if (!pid) {
		close(sleeper->fds[1]);
		if (read(go[0], &start, 1) != 1)
			_exit(1);
		/* A killed task can read no file to find a table */
		whole_run(middle, NULL, NULL);
		whole_run(before_sleep, NULL, NULL);
		_exit(0);
	}
	/* On its way there it would make a request, whose stack comes when it is woken */
	do {
		nr = sleeps_in(pid);
		if (nr == -2)
			return -1;
	} while (nr != SYS_read);
	snprintf(filter, sizeof(filter), "prev_pid == %d && prev_state & 3", pid);
	if (ftrace_event(ft, FTRACE_ENTER, pid) ||
	    ftrace_set(ft, "events/sched/sched_switch/filter", filter) ||
	    ftrace_set(ft, "events/sched/sched_switch/enable", "1"))
		return -1;
	/* From the child's next system call on */
	if (ftrace_set(ft, "trace", "") || write(go[1], "", 1) != 1)
		return -1;
	return pid;
}

/* Wait until the child sleeps in the expected call: then it was switched out */
static bool wait_for_sleep(pid_t pid)
{
	const int wanted = sleeper->by_futex ? SYS_futex : SYS_read;
	int nr;

	/* Before the call, it sleeps while it waits for its start */
	do {
		nr = sleeps_in(pid);
		if (nr == -2)
			return false;
	} while (nr != wanted || !sleeper->notes.nr);
	return true;
}

/*
 * Before arm64 looks for signals, it sets a program back to the instruction that made the
 * call, in case the call is to be repeated.
 */
#if defined(__aarch64__)
#define SET_BACK	4
#else
#define SET_BACK	0
#endif

/* Is the stack of the child's sleep there? The child has the image of this program. */
static bool slept_there(const struct ftrace_log *log)
{
	struct stack expected;
	size_t i;

	expect_chain(&expected, &sleeper->notes);
	for (i = 0; i < log->nr; i++) {
		const struct ftrace_record *rec = &log->rec[i];

		if (rec->type != FTRACE_STACK || !rec->nr)
			continue;
		if (rec->frame[0].ip == expected.ip[0] - SET_BACK)
			expected.ip[0] -= SET_BACK;
		if (rec->frame[0].ip == expected.ip[0])
			return ftrace_stack_is(rec, expected.ip, expected.nr);
	}
	return false;
}

TEST_F(option, task_killed_asleep_has_its_stack)
{
	size_t cookies, late;
	pid_t pid;

	pid = start_sleeper(&self->ft, false);
	ASSERT_LT(0, pid);
	ASSERT_TRUE(wait_for_sleep(pid));
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	cookies = ftrace_count(&self->log, FTRACE_COOKIE);
	EXPECT_LE(1, cookies);
	/* It sleeps still */
	EXPECT_FALSE(slept_there(&self->log));
	ftrace_free(&self->log);

	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_TRUE(ftrace_pairs(&self->log, &late));
	EXPECT_TRUE(slept_there(&self->log));
}

TEST_F(option, futex_waiter_has_its_stack)
{
	size_t late;
	int status;
	pid_t pid;

	pid = start_sleeper(&self->ft, true);
	ASSERT_LT(0, pid);
	ASSERT_TRUE(wait_for_sleep(pid));
	sleeper->futex = 1;
	while (syscall(SYS_futex, &sleeper->futex, FUTEX_WAKE, 1, 0, 0, 0) != 1 &&
	       !waitpid(pid, &status, WNOHANG))
		;
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_TRUE(ftrace_pairs(&self->log, &late));
	EXPECT_TRUE(slept_there(&self->log));
}

/*
 * The trigger userstacktrace, and hist triggers over deferred user stacks
 */

#define TRIGGERED		10
#define TRIGGER		FTRACE_ENTER "/trigger"
#define STACK_TRIGGER	"events/ftrace/user_unwind_stack/trigger"
#define STACK_HIST	"events/ftrace/user_unwind_stack/hist"

FIXTURE(trigger)
{
	struct ftrace ft;
	struct ftrace other;
	struct ftrace_log log;
	char *text;
};

FIXTURE_SETUP(trigger)
{
	if (ftrace_open(&self->ft, "a"))
		SKIP(return, "no deferred user stacks in traces");
	ASSERT_EQ(0, ftrace_open(&self->other, "b"));
}

FIXTURE_TEARDOWN(trigger)
{
	free(self->text);
	ftrace_free(&self->log);
	EXPECT_EQ(0, ftrace_close(&self->other));
	EXPECT_EQ(0, ftrace_close(&self->ft));
}

static void other_sample(void *arg)
{
	whole_note_ra();
	whole_sample();
}

static void calls(unsigned int nr)
{
	while (nr--)
		whole_run(middle, NULL, NULL);
}

/* "userstacktrace:count if it is this task's getppid()", or its removal */
static const char *trigger(const char *command)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s if id == %d && common_pid == %d",
		 command, (int)SYS_getppid, getpid());
	return text;
}

/* Are all stacks the noted one? */
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

TEST_F(trigger, count_and_filter_are_kept)
{
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("userstacktrace:3")));
	self->text = ftrace_get(&self->ft, TRIGGER);
	ASSERT_NE(NULL, self->text);
	EXPECT_NE(NULL, strstr(self->text, "userstacktrace:count=3 if id == "));
	/* A second trigger is refused */
	EXPECT_GT(0, ftrace_set(&self->ft, TRIGGER, trigger("userstacktrace")));

	calls(TRIGGERED);
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
	calls(TRIGGERED);
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("!userstacktrace")));
	calls(TRIGGERED);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(TRIGGERED, ftrace_count(&self->log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&self->log, NULL));
	ftrace_free(&self->log);
	ASSERT_EQ(0, ftrace_read(&self->other, "trace", &self->log));
	EXPECT_EQ(0, self->log.nr);
}

TEST_F(trigger, beside_stacktrace_writes_both)
{
	const char *at;
	size_t kernel = 0;

	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("stacktrace")));
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("userstacktrace")));
	calls(TRIGGERED);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(TRIGGERED, ftrace_count(&self->log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&self->log, NULL));
	EXPECT_TRUE(all_noted(&self->log));
	self->text = ftrace_get(&self->ft, "trace");
	ASSERT_NE(NULL, self->text);
	for (at = self->text; (at = strstr(at, "<stack trace>")); at++)
		kernel++;
	EXPECT_EQ(TRIGGERED, kernel);
}

/* With the option as well, each has its cookie, and they share the stack */
TEST_F(trigger, beside_the_option_writes_one_stack)
{
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_event(&self->ft, FTRACE_ENTER, getpid()));
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("userstacktrace")));
	calls(TRIGGERED);
	/* The trigger keeps the instance registered */
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_OPTION, "0"));
	calls(TRIGGERED);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(3 * TRIGGERED, ftrace_count(&self->log, FTRACE_COOKIE));
	EXPECT_EQ(2 * TRIGGERED, ftrace_count(&self->log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&self->log, NULL));
}

/* There is no event on a CPU that is not traced: so no cookie, and no stack without one */
TEST_F(trigger, writes_nothing_where_the_cpu_is_not_traced)
{
	if (move_to(1) || move_to(0))
		SKIP(return, "there are no two CPUs");
	ASSERT_EQ(0, ftrace_set(&self->ft, "tracing_cpumask", "1"));
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("userstacktrace")));
	ASSERT_EQ(0, move_to(1));
	calls(TRIGGERED);
	ASSERT_EQ(0, move_to(0));
	calls(1);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(1, ftrace_count(&self->log, FTRACE_COOKIE));
	EXPECT_EQ(1, ftrace_count(&self->log, FTRACE_STACK));
	EXPECT_TRUE(ftrace_pairs(&self->log, NULL));
}

/* More often than there is room for clients: nothing may stay registered */
TEST_F_TIMEOUT(trigger, clients_are_released, 180)
{
	int i;

	for (i = 0; i < 70; i++) {
		ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER,
					trigger("userstacktrace")));
		ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER,
					trigger("!userstacktrace")));
	}
}

/* The lines of a stack in the histogram, without addresses */
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
		/* The build-id follows the first only */
		snprintf(out + strlen(out), size - strlen(out), "%s%s+0x%lx%s",
			 i ? "         " : "", place.path, place.offset,
			 i ? "\n" : "");
		if (!i)
			snprintf(out + strlen(out), size - strlen(out), "%c", 1);
	}
}

/* The hits of the entry with these lines; -1 unless there is exactly one */
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

TEST_F(trigger, hist_counts_stacks)
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

	calls(TRIGGERED);
	hist_lines(lines, sizeof(lines));
	whole_run(other_sample, NULL, NULL);
	hist_lines(other_lines, sizeof(other_lines));
	/* Another process of this program */
	pid = fork();
	if (!pid) {
		calls(TRIGGERED);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);

	free(self->text);
	self->text = ftrace_get(&self->ft, STACK_HIST);
	ASSERT_NE(NULL, self->text);
	EXPECT_EQ(2 * TRIGGERED, hits(self->text, lines))
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
 * Each path is another stack: its bits say which return addresses are there, at least 16 of them
 * in the innermost frames
 */
#define PATH_BITS	16
#define PATH_DEPTH	128

static void walk_path(unsigned int path, unsigned int depth);

static void turn(unsigned int path, unsigned int depth)
{
	walk_path(path, depth);
	asm volatile("");
}

static void walk_path(unsigned int path, unsigned int depth)
{
	if (!depth)
		syscall(SYS_getppid);
	else if (path >> depth % PATH_BITS & 1)
		turn(path, depth - 1);
	else
		walk_path(path, depth - 1);
	asm volatile("");
}

/* Have stacks been counted for which there is no room?  NULL if the histogram cannot be read */
static const char *others(struct _test_data_trigger *data)
{
	free(data->text);
	data->text = ftrace_get(&data->ft, STACK_HIST);
	return data->text ? strstr(data->text, "[other stacks]") ?: "" : NULL;
}

/* An instance whose stacks were too many once */
TEST_F_TIMEOUT(trigger, next_hist_has_room_for_new_stacks, 180)
{
	const char *found = "";
	unsigned int path = 0;

	ASSERT_EQ(0, ftrace_set(&self->ft, STACK_TRIGGER,
				"hist:keys=stack.userstack if stack == 0"));
	ASSERT_EQ(0, ftrace_set(&self->ft, TRIGGER, trigger("userstacktrace")));
	while (!*found && path < 1 << PATH_BITS) {
		walk_path(path++, PATH_DEPTH);
		if (path % 256)
			continue;
		found = others(self);
		ASSERT_NE(NULL, found);
	}
	ASSERT_STRNE("", found);

	/* To open the file removes the trigger before */
	ASSERT_EQ(0, ftrace_set(&self->ft, STACK_TRIGGER, "hist:keys=stack.userstack"));
	walk_path(path, PATH_DEPTH);
	found = others(self);
	ASSERT_NE(NULL, found);
	EXPECT_STREQ("", found);
	EXPECT_NE(NULL, strstr(self->text, "Hits: 1\n"))
		TH_LOG("%s", self->text);
}

/* The numbers of stacks are an instance's own, and go with it */
TEST_F(trigger, hist_with_a_name_is_of_one_instance)
{
	static const char command[] = "hist:name=unwind_stacks:keys=stack.userstack";

	ASSERT_EQ(0, ftrace_set(&self->ft, STACK_TRIGGER, command));
	EXPECT_EQ(-EINVAL, ftrace_set(&self->other, STACK_TRIGGER, command));
}

/*
 * Instances are removed while stacks are requested and delivered. A trigger requests
 * them, and nobody removes it first: so the data that the callbacks use is freed as well.
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

/* A slow machine takes long to create an instance with its buffers */
TEST_F_TIMEOUT(under_load, instances_can_be_removed, 300)
{
	size_t stacks = 0;
	int i;

	for (i = 0; i < INSTANCES; i++) {
		struct ftrace_log log;
		struct ftrace ft;
		char text[64];

		if (ftrace_open(&ft, "l"))
			SKIP(return, "no deferred user stacks in traces");
		/* Small, so that there is little to read */
		ASSERT_EQ(0, ftrace_set(&ft, "buffer_size_kb", "16"));
		snprintf(text, sizeof(text), "userstacktrace if id == %d",
			 (int)SYS_getppid);
		ASSERT_EQ(0, ftrace_set(&ft, STACK_TRIGGER,
					"hist:keys=stack.userstack"));
		ASSERT_EQ(0, ftrace_set(&ft, TRIGGER, text));
		/* Until some stacks have come */
		do {
			ASSERT_EQ(0, ftrace_read(&ft, "trace", &log));
			stacks = ftrace_count(&log, FTRACE_STACK);
			ftrace_free(&log);
		} while (!stacks);
		ASSERT_EQ(0, ftrace_close(&ft));
	}
}

TEST_HARNESS_MAIN
