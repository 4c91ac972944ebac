// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred user stacks in the trace: the option userstacktrace_deferred.
 *
 * What is compared is whole stacks (whole.h), each frame by address, file and
 * offset in it, with what the program knows, and what /proc says is mapped.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"
#include "code.h"
#include "ftrace.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define CALLS	500

FIXTURE(traced)
{
	struct ftrace ft;
	struct ftrace other;
	struct ftrace_log log;
};

FIXTURE_SETUP(traced)
{
	if (ftrace_open(&self->ft, "a"))
		SKIP(return, "no deferred user stacks in traces");
	ASSERT_EQ(0, ftrace_set(&self->ft, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_event(&self->ft, FTRACE_ENTER, getpid()));
}

FIXTURE_TEARDOWN(traced)
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

/* Is this the stack that was noted? */
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

/* To read as many stacks as it has calls takes a slow machine long */
TEST_F_TIMEOUT(traced, each_entry_has_one_stack, 180)
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

/* The build-id of this program, as readelf would print it */
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

TEST_F(traced, file_is_announced_once_with_its_build_id)
{
	char build_id[64] = "", self_path[192] = "";
	size_t i, before = 0;

	ASSERT_LT(0, readlink("/proc/self/exe", self_path, sizeof(self_path) - 1));
	dl_iterate_phdr(find_build_id, build_id);
	ASSERT_NE(0, build_id[0]);

	whole_run(many, NULL, NULL);
	ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
	EXPECT_EQ(1, ftrace_announced(&self->log, self_path));
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

TEST_F(traced, file_is_announced_again_in_an_empty_buffer)
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

TEST_F(traced, snapshot_keeps_its_announcement)
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

TEST_F(traced, file_in_use_stays_announced_when_overwritten)
{
	char self_path[192] = "";
	unsigned int i;

	ASSERT_LT(0, readlink("/proc/self/exe", self_path, sizeof(self_path) - 1));
	ASSERT_EQ(0, ftrace_set(&self->ft, "buffer_size_kb", "8"));
	/* After each portion, several of which fill a buffer */
	for (i = 0; i < 16; i++) {
		unsigned int k;

		for (k = 0; k < 20; k++)
			whole_run(middle, NULL, NULL);
		ASSERT_EQ(0, ftrace_read(&self->ft, "trace", &self->log));
		EXPECT_LE(1, ftrace_announced(&self->log, self_path));
		if (i == 15)
			/* It was overwritten, and not written with each stack */
			EXPECT_GT(16 * 20, ftrace_count(&self->log, FTRACE_STACK));
		EXPECT_GT(ftrace_count(&self->log, FTRACE_STACK),
			  2 * ftrace_announced(&self->log, self_path));
		ftrace_free(&self->log);
	}
}

TEST_F(traced, instances_get_what_they_ask_for)
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
	/* One name for one entry */
	for (i = 0; i < other.nr; i++)
		if (other.rec[i].type == FTRACE_STACK)
			EXPECT_NE(NULL, ftrace_stack(&self->log,
						     other.rec[i].cookie));
	ftrace_free(&other);
}

TEST_F(traced, without_the_option_there_is_nothing)
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

/* More often than there is room for clients: nothing stays registered */
FIXTURE(clients)
{
};

FIXTURE_SETUP(clients)
{
}

FIXTURE_TEARDOWN(clients)
{
}

/* It takes long to make an instance with its buffers on a slow machine */
TEST_F_TIMEOUT(clients, are_given_back, 300)
{
	struct ftrace ft;
	int i;

	for (i = 0; i < 70; i++) {
		if (ftrace_open(&ft, "c"))
			SKIP(return, "no deferred user stacks in traces");
		ASSERT_EQ(0, ftrace_set(&ft, FTRACE_OPTION, "1"));
		/* One way or the other */
		if (i % 2)
			ASSERT_EQ(0, ftrace_set(&ft, FTRACE_OPTION, "0"));
		ASSERT_EQ(0, ftrace_close(&ft));
	}
}

/*
 * What is no file
 */

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

TEST_F(traced, vdso)
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
	/* A clock that only the kernel knows: the vDSO makes the system call */
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

/* Code made at run time: registered, it leads on, and is told apart */
TEST_F(traced, jit_and_anonymous)
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
	code_unmap(&code);
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

/* A child that sleeps, and whose switches are traced */
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
		/* A killed task can read no file in which to find a table */
		whole_run(middle, NULL, NULL);
		whole_run(before_sleep, NULL, NULL);
		_exit(0);
	}
	/* On its way there it would ask for a stack, which comes when it is woken */
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
	/* From the first system call on that the child makes after this */
	if (ftrace_set(ft, "trace", "") || write(go[1], "", 1) != 1)
		return -1;
	return pid;
}

/* Wait until the child sleeps where it was to; then it was switched out */
static bool wait_for_sleep(pid_t pid)
{
	const int wanted = sleeper->by_futex ? SYS_futex : SYS_read;
	int nr;

	/* Before the call, it waits for its start */
	do {
		nr = sleeps_in(pid);
		if (nr == -2)
			return false;
	} while (nr != wanted || !sleeper->notes.nr);
	return true;
}

/*
 * Before it looks for signals, arm64 sets a program back to the instruction that made
 * the call, in case that is to be made again.
 */
#if defined(__aarch64__)
#define SET_BACK	4
#else
#define SET_BACK	0
#endif

/* Is the stack of the child's sleep there?  It has the image of this program. */
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

TEST_F(traced, killed_while_asleep)
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

TEST_F(traced, futex_wait)
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

TEST_HARNESS_MAIN
