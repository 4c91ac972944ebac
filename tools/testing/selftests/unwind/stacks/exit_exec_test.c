// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks of tasks that do not return to user space: they exit, are killed, or execute
 * another program.
 *
 * The last samples of a task refer to a stack like all others. So the stack must be
 * delivered while it still exists: before the mm goes, and on exec before the new program
 * takes its place. The event that counts context switches makes the sample that is
 * pending while a task sleeps.
 *
 * Such a task does not wait for its last stack: no table is loaded for it, and no page of
 * its stack is brought in.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/membarrier.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "asleep.h"
#include "call.h"
#include "code.h"
#include "code_file.h"
#include "image.h"
#include "perf.h"
#include "trace.h"
#include "../../kselftest_harness.h"

#define PAGES		128
#define MAX_CPUS	64
#define PF_KTHREAD	0x00200000

/* The child's report to its parent */
struct shared {
	/* The return address of the next system call */
	unsigned long	ip;
	atomic_int		tid;
	int			go[2];
	int			idle[2];
	char			path[64];
	/* Code without frame pointers, and how the child ends there */
	chain_fn		fn;
	void			(*part)(struct shared *shared);
	struct notes		notes;
};

FIXTURE(task)
{
	struct shared *shared;
	struct records recs;
	struct ring ring;
	struct elf elf;
	struct trace trace;
	struct code_image image;
	pid_t pid;
	int fd;
};

FIXTURE_SETUP(task)
{
	struct perf_event_attr attr;

	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
		SKIP(return, "no raw_syscalls tracepoints, or not root");
	self->fd = -1;
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	ASSERT_EQ(0, pipe2(self->shared->go, O_CLOEXEC));
	ASSERT_EQ(0, pipe2(self->shared->idle, O_CLOEXEC));
}

FIXTURE_TEARDOWN(task)
{
	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
	if (self->shared->path[0])
		unlink(self->shared->path);
	ring_unmap(&self->ring);
	records_free(&self->recs);
	elf_free(&self->elf);
	trace_stop(&self->trace);
	code_image_unmap(&self->image);
}

/* Start a child that runs @fn when it is released, and does not return */
static pid_t start(struct shared *shared, void (*part)(struct shared *))
{
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	if (read(shared->go[0], &c, 1) == 1)
		part(shared);
	_exit(99);
}

static int let_go(struct shared *shared)
{
	return write(shared->go[1], "", 1) == 1 ? 0 : -1;
}

/*
 * Open an event of the child, with a filter or NULL; the first has the buffer, others write
 * to it, too
 */
static int watch_filtered(struct _test_data_task *self, struct perf_event_attr *attr,
			  pid_t tid, const char *filter)
{
	int fd;

	attr->defer_output = self->fd < 0;
	fd = event_open(attr, tid, -1);
	if (fd < 0 || (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)))
		return -1;
	if (self->fd >= 0) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, self->fd))
			return -1;
	} else {
		self->fd = fd;
		if (ring_map(&self->ring, fd, PAGES))
			return -1;
	}
	/* Not earlier: samples without a buffer have stacks as well */
	return event_enable(fd);
}

static int watch(struct _test_data_task *self, struct perf_event_attr *attr, pid_t tid)
{
	return watch_filtered(self, attr, tid, NULL);
}

static int watch_tracepoint(struct _test_data_task *self, const char *name,
			    pid_t tid)
{
	struct perf_event_attr attr;

	if (tracepoint_attr(&attr, name))
		return -1;
	return watch(self, &attr, tid);
}

static int watch_software(struct _test_data_task *self, uint64_t config,
			  uint64_t period, pid_t tid)
{
	struct perf_event_attr attr;

	event_attr(&attr, PERF_TYPE_SOFTWARE, config);
	attr.sample_period = period;
	return watch(self, &attr, tid);
}

/* Wait for the child's end, and read all records until then */
static int finish(struct _test_data_task *self)
{
	int status;

	if (waitpid(self->pid, &status, 0) != self->pid)
		return -1;
	self->pid = 0;
	if (records_read(&self->recs, &self->ring))
		return -1;
	return status;
}

/* The stack that begins at the address that the child reported */
static const struct record *stack_at(const struct records *recs,
				     unsigned long ip)
{
	const struct record *rec;
	size_t i;

	for (i = 0; (rec = records_get(recs, PERF_RECORD_CALLCHAIN_DEFERRED, i)); i++)
		if (rec->nr && rec->ips[0] == ip)
			return rec;
	return NULL;
}

static const struct record *last_sample(const struct records *recs)
{
	size_t nr = records_count(recs, PERF_RECORD_SAMPLE);

	return nr ? records_get(recs, PERF_RECORD_SAMPLE, nr - 1) : NULL;
}

/*
 * Exit
 */

static void call_exit(struct shared *shared)
{
	syscall3_at(SYS_exit, 3, 0, 0, &shared->ip);
}

static void call_exit_group(struct shared *shared)
{
	syscall3_at(SYS_exit_group, 3, 0, 0, &shared->ip);
}

static void expect_last_stack(struct __test_metadata *_metadata,
			      struct _test_data_task *self)
{
	const struct record *sample, *stack;

	EXPECT_TRUE(records_match(&self->recs, NULL));
	sample = last_sample(&self->recs);
	ASSERT_NE(NULL, sample);
	ASSERT_NE(0, sample->cookie);
	stack = records_stack(&self->recs, sample->cookie);
	ASSERT_NE(NULL, stack);
	ASSERT_LE(1, stack->nr);
	EXPECT_EQ(self->shared->ip, stack->ips[0]);
}

TEST_F(task, exit_delivers_last_stack)
{
	self->pid = start(self->shared, call_exit);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, watch_tracepoint(self, "raw_syscalls/sys_enter", self->pid));
	ASSERT_EQ(0, let_go(self->shared));
	EXPECT_EQ(3, WEXITSTATUS(finish(self)));
	expect_last_stack(_metadata, self);
}

TEST_F(task, exit_group_delivers_last_stack)
{
	self->pid = start(self->shared, call_exit_group);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, watch_tracepoint(self, "raw_syscalls/sys_enter", self->pid));
	ASSERT_EQ(0, let_go(self->shared));
	EXPECT_EQ(3, WEXITSTATUS(finish(self)));
	expect_last_stack(_metadata, self);
}

/* Short-lived threads, on all CPUs */
#define SHORT_THREADS	64
#define SHORT_CALLS	4

static void *short_thread(void *arg)
{
	int i;

	for (i = 0; i < SHORT_CALLS; i++)
		syscall(SYS_getppid);
	return NULL;
}

static void short_threads(struct shared *shared)
{
	pthread_t thread[4];
	int i, j;

	for (i = 0; i < SHORT_THREADS; i += 4) {
		for (j = 0; j < 4; j++)
			if (pthread_create(&thread[j], NULL, short_thread, NULL))
				_exit(1);
		for (j = 0; j < 4; j++)
			pthread_join(thread[j], NULL);
	}
	_exit(0);
}

TEST_F(task, exiting_threads_deliver_their_stacks)
{
	struct ring ring[MAX_CPUS] = {};
	struct perf_event_attr attr;
	size_t i, calls = 0;
	int cpu, cpus, fd, status;

	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ASSERT_GE(MAX_CPUS, cpus);
	self->pid = start(self->shared, short_threads);
	ASSERT_LE(0, self->pid);
	for (cpu = 0; cpu < cpus; cpu++) {
		ASSERT_EQ(0, tracepoint_attr(&attr, "raw_syscalls/sys_enter"));
		attr.inherit = 1;
		fd = event_open(&attr, self->pid, cpu);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, ring_map(&ring[cpu], fd, 4 * PAGES));
		/* Otherwise an earlier sample would be missing, but not its stack */
		ASSERT_EQ(0, event_enable(fd));
	}
	ASSERT_EQ(0, let_go(self->shared));
	ASSERT_EQ(self->pid, waitpid(self->pid, &status, 0));
	self->pid = 0;
	EXPECT_EQ(0, status);
	for (cpu = 0; cpu < cpus; cpu++) {
		ASSERT_EQ(0, records_read(&self->recs, &ring[cpu]));
		ring_unmap(&ring[cpu]);
	}
	EXPECT_TRUE(records_match(&self->recs, NULL));
	/* In addition to libc's calls, each thread makes its own, and exits */
	for (i = 0; i < self->recs.nr; i++)
		calls += self->recs.rec[i].type == PERF_RECORD_SAMPLE &&
			 self->recs.rec[i].tid != self->recs.rec[i].pid;
	EXPECT_LE(SHORT_THREADS * (SHORT_CALLS + 1), calls);
}

/*
 * Killed
 */

static char task_state(pid_t tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

/* Wait until the task sleeps in a call that has a pending sample */
static bool wait_pending(struct _test_data_task *self, pid_t tid)
{
	const struct record *sample;

	while (1) {
		while (!self->shared->ip || task_state(tid) != 'S')
			sched_yield();
		if (records_read(&self->recs, &self->ring))
			return false;
		sample = last_sample(&self->recs);
		if (sample && !records_stack(&self->recs, sample->cookie))
			return true;
		/* It slept elsewhere, earlier */
		sched_yield();
	}
}

static void sleep_in_read(struct shared *shared)
{
	char c;

	syscall3_at(SYS_read, shared->idle[0], (long)&c, 1, &shared->ip);
}

/*
 * The address where a task is killed that sleeps in a system call: arm64 moves it back to
 * the call, to restart it, before it looks at the signal.
 */
static unsigned long killed_at(unsigned long ip)
{
#if defined(__aarch64__)
	return ip - 4;
#else
	return ip;
#endif
}

/*
 * Samples of context switches may follow their stack: a task can be preempted between its
 * stack and user space.
 */
TEST_F(task, killed_asleep_delivers_its_stack)
{
	size_t late;

	self->pid = start(self->shared, sleep_in_read);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, watch_software(self, PERF_COUNT_SW_CONTEXT_SWITCHES, 1,
				    self->pid));
	ASSERT_EQ(0, let_go(self->shared));
	ASSERT_TRUE(wait_pending(self, self->pid));
	ASSERT_EQ(0, kill(self->pid, SIGKILL));
	EXPECT_EQ(SIGKILL, WTERMSIG(finish(self)));
	EXPECT_TRUE(records_match(&self->recs, &late));
	EXPECT_NE(NULL, stack_at(&self->recs, killed_at(self->shared->ip)));
}

/* Both threads of a process: one sleeps, the other ends the process */
static void *sleeper(void *arg)
{
	struct shared *shared = arg;

	atomic_store(&shared->tid, gettid());
	sleep_in_read(shared);
	return NULL;
}

static void exit_with_sleeper(struct shared *shared)
{
	pthread_t thread;
	char c;

	if (pthread_create(&thread, NULL, sleeper, shared))
		_exit(1);
	if (read(shared->go[0], &c, 1) == 1)
		_exit(4);
}

TEST_F(task, sleeping_thread_of_exiting_process_delivers_its_stack)
{
	size_t late;
	pid_t tid;

	self->pid = start(self->shared, exit_with_sleeper);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, let_go(self->shared));
	/* It already sleeps when the event is opened; a signal wakes it once */
	while (!(tid = atomic_load(&self->shared->tid)) ||
	       !self->shared->ip || task_state(tid) != 'S')
		sched_yield();
	ASSERT_EQ(0, watch_software(self, PERF_COUNT_SW_CONTEXT_SWITCHES, 1, tid));
	ASSERT_EQ(0, syscall(SYS_tgkill, self->pid, tid, SIGSTOP));
	ASSERT_EQ(self->pid, waitpid(self->pid, NULL, WUNTRACED));
	ASSERT_EQ(0, kill(self->pid, SIGCONT));
	ASSERT_TRUE(wait_pending(self, tid));
	ASSERT_EQ(0, let_go(self->shared));
	EXPECT_EQ(4, WEXITSTATUS(finish(self)));
	EXPECT_TRUE(records_match(&self->recs, &late));
	EXPECT_NE(NULL, stack_at(&self->recs, killed_at(self->shared->ip)));
}

static void stop_itself(struct shared *shared)
{
	syscall3_at(SYS_kill, getpid(), SIGSTOP, 0, &shared->ip);
}

/* It stops on its return to user space, and switches there */
TEST_F(task, killed_while_stopped_delivers_its_stack)
{
	size_t late;
	int status;

	self->pid = start(self->shared, stop_itself);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, watch_software(self, PERF_COUNT_SW_CONTEXT_SWITCHES, 1,
				    self->pid));
	ASSERT_EQ(0, watch_tracepoint(self, "raw_syscalls/sys_enter", self->pid));
	ASSERT_EQ(0, let_go(self->shared));
	ASSERT_EQ(self->pid, waitpid(self->pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	while (task_state(self->pid) != 'T')
		sched_yield();
	ASSERT_EQ(0, kill(self->pid, SIGKILL));
	EXPECT_EQ(SIGKILL, WTERMSIG(finish(self)));
	/* The last context switch follows the system call's stack */
	EXPECT_TRUE(records_match(&self->recs, &late));
	EXPECT_NE(NULL, stack_at(&self->recs, self->shared->ip));
}

static void spin(struct shared *shared)
{
	while (1)
		asm volatile("");
}

TEST_F(task, killed_while_running_delivers_its_stacks)
{
	const size_t want = 50;
	size_t late;

	self->pid = start(self->shared, spin);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, watch_software(self, PERF_COUNT_SW_CPU_CLOCK, 500000,
				    self->pid));
	ASSERT_EQ(0, let_go(self->shared));
	do {
		ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	} while (records_count(&self->recs, PERF_RECORD_SAMPLE) < want);
	ASSERT_EQ(0, kill(self->pid, SIGKILL));
	EXPECT_EQ(SIGKILL, WTERMSIG(finish(self)));
	EXPECT_TRUE(records_match(&self->recs, &late));
}

/* The sample of the fault that kills it */
static void write_nowhere(struct shared *shared)
{
	struct rlimit none = {};

	setrlimit(RLIMIT_CORE, &none);
#if defined(__x86_64__)
	asm volatile("leaq 1f(%%rip), %%rax\n\t"
		     "movq %%rax, %0\n"
		     "1:	movb $0, 0"
		     : "=m"(shared->ip) : : "rax", "memory");
#elif defined(__aarch64__)
	asm volatile("adr x0, 1f\n\t"
		     "str x0, %0\n\t"
		     "mov x0, #0\n"
		     "1:	strb w0, [x0]"
		     : "=m"(shared->ip) : : "x0", "memory");
#endif
}

TEST_F(task, fatal_fault_delivers_its_stack)
{
	const struct record *sample;

	self->pid = start(self->shared, write_nowhere);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, watch_software(self, PERF_COUNT_SW_PAGE_FAULTS, 1, self->pid));
	ASSERT_EQ(0, let_go(self->shared));
	EXPECT_EQ(SIGSEGV, WTERMSIG(finish(self)));
	expect_last_stack(_metadata, self);
	sample = last_sample(&self->recs);
	EXPECT_EQ(self->shared->ip, sample->ip);
}

/*
 * Exec
 */

static char *exec_argv[] = { "prog", NULL };

static void call_execve(struct shared *shared)
{
	syscall3_at(SYS_execve, (long)shared->path, (long)exec_argv, 0,
		    &shared->ip);
	/* It failed: one more call, which has a stack of its own */
	syscall(SYS_getppid);
	_exit(5);
}

/* Enter and exit of all system calls, and page faults, into one buffer */
static int watch_all(struct _test_data_task *self, pid_t tid)
{
	return watch_tracepoint(self, "raw_syscalls/sys_enter", tid) ||
	       watch_tracepoint(self, "raw_syscalls/sys_exit", tid) ||
	       watch_software(self, PERF_COUNT_SW_PAGE_FAULTS, 1, tid) ?
	       -1 : 0;
}

static bool in_program(const struct elf *elf, uint64_t ip)
{
	const struct elf64_phdr *text = elf_phdr(elf, PT_LOAD, PF_X);

	return ip >= text->p_vaddr && ip < text->p_vaddr + text->p_memsz;
}

/*
 * Stacks up to the call of execve() are the old program's. All others are the new
 * program's, from its first instruction on.
 */
static void expect_two_programs(struct __test_metadata *_metadata,
				struct _test_data_task *self)
{
	const struct record *old, *rec;
	bool first = true;
	size_t i, news = 0;

	old = stack_at(&self->recs, self->shared->ip);
	ASSERT_NE(NULL, old);
	EXPECT_NE(0, records_with_cookie(&self->recs, PERF_RECORD_SAMPLE,
					 old->cookie));
	for (i = 0; i < self->recs.nr; i++) {
		rec = &self->recs.rec[i];
		if (rec->type != PERF_RECORD_CALLCHAIN_DEFERRED)
			continue;
		ASSERT_LE(1, rec->nr);
		if (rec <= old) {
			EXPECT_FALSE(in_program(&self->elf, rec->ips[0]));
			continue;
		}
		EXPECT_TRUE(in_program(&self->elf, rec->ips[0]));
		if (first)
			EXPECT_EQ(elf_ehdr(&self->elf)->e_entry, rec->ips[0]);
		first = false;
		news++;
	}
	/* execve() itself, and at least getppid() and exit() */
	EXPECT_LE(3, news);
}

TEST_F(task, exec_delivers_stacks_of_both_programs)
{
	ASSERT_EQ(0, elf_read(&self->elf, "prog_fp"));
	ASSERT_EQ(0, elf_program(&self->elf, self->shared->path,
				 sizeof(self->shared->path)));
	self->pid = start(self->shared, call_execve);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, watch_all(self, self->pid));
	ASSERT_EQ(0, let_go(self->shared));
	EXPECT_EQ(0, finish(self));
	EXPECT_TRUE(records_match(&self->recs, NULL));
	expect_two_programs(_metadata, self);
}

static void *exec_thread(void *arg)
{
	struct shared *shared = arg;
	char c;

	atomic_store(&shared->tid, gettid());
	if (read(shared->go[0], &c, 1) == 1)
		call_execve(shared);
	_exit(6);
}

static void exec_from_thread(struct shared *shared)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exec_thread, shared))
		_exit(1);
	pthread_join(thread, NULL);
}

/* The thread takes over the process's ID during exec; its stack keeps its own */
TEST_F(task, exec_by_thread_delivers_stacks_of_both_programs)
{
	pid_t tid;

	ASSERT_EQ(0, elf_read(&self->elf, "prog_fp"));
	ASSERT_EQ(0, elf_program(&self->elf, self->shared->path,
				 sizeof(self->shared->path)));
	self->pid = start(self->shared, exec_from_thread);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, let_go(self->shared));
	while (!(tid = atomic_load(&self->shared->tid)) || task_state(tid) != 'S')
		sched_yield();
	ASSERT_EQ(0, watch_all(self, tid));
	ASSERT_EQ(0, let_go(self->shared));
	EXPECT_EQ(0, finish(self));
	EXPECT_TRUE(records_match(&self->recs, NULL));
	expect_two_programs(_metadata, self);
}

/* An exec that fails is not special */
TEST_F(task, failed_exec_delivers_its_stack)
{
	const struct record *stack;

	snprintf(self->shared->path, sizeof(self->shared->path), "/proc/nowhere");
	self->pid = start(self->shared, call_execve);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, watch_tracepoint(self, "raw_syscalls/sys_enter", self->pid));
	ASSERT_EQ(0, watch_tracepoint(self, "raw_syscalls/sys_exit", self->pid));
	ASSERT_EQ(0, let_go(self->shared));
	EXPECT_EQ(5, WEXITSTATUS(finish(self)));
	EXPECT_TRUE(records_match(&self->recs, NULL));
	stack = stack_at(&self->recs, self->shared->ip);
	ASSERT_NE(NULL, stack);
	EXPECT_EQ(2, records_with_cookie(&self->recs, PERF_RECORD_SAMPLE,
					 stack->cookie));
}

/* Exec fails too late: the old program is gone and the new one cannot run */
TEST_F(task, exec_that_kills_delivers_its_stack)
{
	struct rlimit none = {};

	setrlimit(RLIMIT_CORE, &none);
	ASSERT_EQ(0, elf_read(&self->elf, "prog_fp"));
	elf_phdr(&self->elf, PT_LOAD, PF_X)->p_vaddr += 1ULL << 60;
	ASSERT_EQ(0, elf_program(&self->elf, self->shared->path,
				 sizeof(self->shared->path)));
	self->pid = start(self->shared, call_execve);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, watch_all(self, self->pid));
	ASSERT_EQ(0, let_go(self->shared));
	EXPECT_TRUE(WIFSIGNALED(finish(self)));
	EXPECT_TRUE(records_match(&self->recs, NULL));
	EXPECT_NE(NULL, stack_at(&self->recs, self->shared->ip));
}

/* The parent sleeps in vfork() while its child runs in its memory, and executes a program */
static void call_vfork(struct shared *shared)
{
	unsigned long ip;

	/* arm64 has no system call for it */
	if (!syscall3_at(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0,
			 &shared->ip)) {
		/* Wait until the parent sleeps: it would not if its child were done before */
		while (sleeps_in(getppid()) == -1)
			;
		syscall3_at(SYS_execve, (long)shared->path, (long)exec_argv, 0,
			    &ip);
		syscall3_at(SYS_exit, 7, 0, 0, &ip);
	}
	_exit(wait(NULL) < 0);
}

TEST_F(task, parent_in_vfork_delivers_its_stack)
{
	size_t late;

	ASSERT_EQ(0, elf_read(&self->elf, "prog_fp"));
	ASSERT_EQ(0, elf_program(&self->elf, self->shared->path,
				 sizeof(self->shared->path)));
	self->pid = start(self->shared, call_vfork);
	ASSERT_LE(0, self->pid);
	ASSERT_EQ(0, watch_software(self, PERF_COUNT_SW_CONTEXT_SWITCHES, 1,
				    self->pid));
	ASSERT_EQ(0, let_go(self->shared));
	EXPECT_EQ(0, finish(self));
	EXPECT_TRUE(records_match(&self->recs, &late));
	EXPECT_NE(NULL, stack_at(&self->recs, self->shared->ip));
}

/*
 * Nothing is loaded or brought in for a task that ends. Here, it ends in code that keeps no
 * frame pointer, or while its callers' frames lie on pages that are not mapped.
 */

static struct shared *ending;

static void end_now(struct notes *notes)
{
	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	ending->part(ending);
	asm volatile("");
}

static void end_in_code(struct shared *shared)
{
	ending = shared;
	shared->notes = (struct notes){ .next = { end_now } };
	shared->fn(&shared->notes);
	asm volatile("");
}

/* It does not end, and is the control of the others */
static void call_getppid(struct shared *shared)
{
	syscall3_at(SYS_getppid, 0, 0, 0, &shared->ip);
	syscall(SYS_exit_group, 0);
}

/* How a child ends: by a system call, the only one that is sampled */
struct end {
	void		(*part)(struct shared *shared);
	int		nr;
	bool		killed;
};

static const struct end goes_on = { call_getppid, SYS_getppid };
static const struct end exits = { call_exit_group, SYS_exit_group };
static const struct end executes = { call_execve, SYS_execve };
static const struct end is_killed = { sleep_in_read, SYS_read, true };

static int watch_end(struct _test_data_task *self, const struct end *end)
{
	struct perf_event_attr attr;
	char filter[32];

	/* It reads twice: first to wait until it is watched */
	snprintf(filter, sizeof(filter), "id == %d", end->nr);
	return tracepoint_attr(&attr, "raw_syscalls/sys_enter") ? -1 :
	       watch_filtered(self, &attr, self->pid, filter);
}

/* Run a child; return the stack of its end, or NULL */
static const struct record *stack_of(struct _test_data_task *self,
				     void (*via)(struct shared *), const struct end *end)
{
	struct stack stack, expected;
	struct sampler sampler;
	unsigned long ip;

	/* This program's own table, if it has one, is known */
	if (sampler_open(&sampler, 0) ||
	    sample_chain(&sampler, &stack, &expected, 1, sampled_call))
		return NULL;
	sampler_close(&sampler);
	self->shared->part = end->part;
	if (elf_read(&self->elf, "prog_fp") ||
	    elf_program(&self->elf, self->shared->path, sizeof(self->shared->path)))
		return NULL;
	self->pid = start(self->shared, via);
	if (self->pid < 0 || watch_end(self, end) || let_go(self->shared))
		return NULL;
	if (end->killed && (!wait_pending(self, self->pid) || kill(self->pid, SIGKILL)))
		return NULL;
	if (finish(self) < 0 || !records_match(&self->recs, NULL))
		return NULL;
	ip = self->shared->ip;
	return stack_at(&self->recs, end->killed ? killed_at(ip) : ip);
}

enum table { KNOWN, LOADED, NOT_LOADED };

/* Does the stack pass the code, or end there?  Before it, there is end_now(). */
static void expect_table(struct __test_metadata *_metadata, struct _test_data_task *self,
			 const struct end *end, enum table table)
{
	int fd = code_file_memfd(&code_file_usual);
	const struct record *stack;
	struct sampler sampler;
	size_t i;

	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&self->image, &code_file_usual, fd, NULL));
	self->shared->fn = code_image_fn(&self->image, 0, 0);
	if (table == KNOWN) {
		ASSERT_EQ(0, sampler_open(&sampler, 0));
		ASSERT_EQ(THROUGH, code_through(&sampler, self->shared->fn));
		sampler_close(&sampler);
	}
	ASSERT_EQ(0, trace_all(&self->trace));
	ASSERT_EQ(0, trace_clear(&self->trace));
	stack = stack_of(self, end_in_code, end);
	ASSERT_NE(NULL, stack);
	for (i = 0; i < stack->nr && stack->ips[i] != self->shared->notes.ra[1]; i++)
		;
	ASSERT_LT(i, stack->nr);
	if (table == NOT_LOADED) {
		EXPECT_EQ(i + 1, stack->nr);
	} else {
		ASSERT_LT(i + 1, stack->nr);
		EXPECT_EQ(self->shared->notes.ra[0], stack->ips[i + 1]);
	}
	ASSERT_EQ(0, trace_read(&self->trace));
	EXPECT_EQ(table == LOADED,
		  trace_count_file(&self->trace, "table_found", fd, NULL, 0));
	close(fd);
}

TEST_F(task, that_goes_on_has_a_table_loaded)
{
	expect_table(_metadata, self, &goes_on, LOADED);
}

TEST_F(task, that_exits_has_no_table_loaded)
{
	expect_table(_metadata, self, &exits, NOT_LOADED);
}

TEST_F(task, that_executes_a_program_has_no_table_loaded)
{
	expect_table(_metadata, self, &executes, NOT_LOADED);
}

TEST_F(task, that_is_killed_has_no_table_loaded)
{
	expect_table(_metadata, self, &is_killed, NOT_LOADED);
}

TEST_F(task, that_exits_uses_a_known_table)
{
	expect_table(_metadata, self, &exits, KNOWN);
}

TEST_F(task, that_executes_a_program_uses_a_known_table)
{
	expect_table(_metadata, self, &executes, KNOWN);
}

TEST_F(task, that_is_killed_uses_a_known_table)
{
	expect_table(_metadata, self, &is_killed, KNOWN);
}

/* A stack that is a file's: its pages can be dropped without loss */

#define STACK_SIZE	(256 * 1024)
/* A page at least, on any machine */
#define ROOM		(64 * 1024)

static char *stack_end;

/* Where a frame has its record: at its inner end, below its variables, or at its outer end */
#ifdef __aarch64__
#define RECORD_IS_INNER	true
#else
#define RECORD_IS_INNER	false
#endif

/* Drop what is further out */
static void end_without_pages(char *from)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	if (!RECORD_IS_INNER)
		ending->notes.ra[0] = (unsigned long)__builtin_return_address(0);
	from = (char *)(((uintptr_t)from + page) & -page);
	if (madvise(from, stack_end - from, MADV_DONTNEED))
		_exit(98);
	ending->part(ending);
	asm volatile("");
}

static void end_far_away(void)
{
	char room[ROOM];

	if (RECORD_IS_INNER)
		ending->notes.ra[0] = (unsigned long)__builtin_return_address(0);
	asm volatile("" : : "r"(room) : "memory");
	end_without_pages(room);
	asm volatile("" : : "r"(room) : "memory");
}

static void begin_far_away(void)
{
	end_far_away();
	asm volatile("");
}

static void end_on_file(struct shared *shared)
{
	int fd = memfd_create("stack", MFD_CLOEXEC);
	static ucontext_t context;
	char *stack;

	if (ftruncate(fd, STACK_SIZE))
		_exit(97);
	stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (stack == MAP_FAILED || getcontext(&context))
		_exit(97);
	ending = shared;
	stack_end = stack + STACK_SIZE;
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = STACK_SIZE;
	makecontext(&context, begin_far_away, 0);
	setcontext(&context);
}

/*
 * The frame record of end_far_away(), or of begin_far_away(), lies on a page that was dropped.
 * Was it brought in, so that the stack continues there?
 */
static void expect_pages(struct __test_metadata *_metadata, struct _test_data_task *self,
			 const struct end *end, bool brought_in)
{
	const struct record *stack = stack_of(self, end_on_file, end);
	const unsigned long ra = (unsigned long)self->shared->notes.ra[0];
	size_t i;

	ASSERT_NE(NULL, stack);
	for (i = 0; i < stack->nr && stack->ips[i] != ra; i++)
		;
	ASSERT_LT(i, stack->nr);
	EXPECT_EQ(brought_in, i + 1 < stack->nr);
}

TEST_F(task, that_goes_on_has_its_stack_brought_in)
{
	expect_pages(_metadata, self, &goes_on, true);
}

TEST_F(task, that_exits_has_no_stack_brought_in)
{
	expect_pages(_metadata, self, &exits, false);
}

TEST_F(task, that_executes_a_program_has_no_stack_brought_in)
{
	expect_pages(_metadata, self, &executes, false);
}

TEST_F(task, that_is_killed_has_no_stack_brought_in)
{
	expect_pages(_metadata, self, &is_killed, false);
}

/*
 * Kernel threads
 */

/* By the kernel's flags; a sample's thread may have exited since */
static bool is_kthread(pid_t tid)
{
	unsigned long flags = 0;
	char path[64];
	FILE *file;

	/* The idle tasks are in no list */
	if (!tid)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %lu", &flags) != 1)
		flags = 0;
	fclose(file);
	return flags & PF_KTHREAD;
}

/*
 * Events of a CPU count kernel threads as well, which have no user stack. An RCU grace
 * period makes at least one of them run.
 */
TEST_F(task, kernel_threads_have_no_stacks)
{
	struct ring ring[MAX_CPUS] = {};
	size_t i, kernel = 0, idle = 0;
	struct perf_event_attr attr;
	int cpu, cpus, fd[MAX_CPUS];

	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ASSERT_GE(MAX_CPUS, cpus);
	for (cpu = 0; cpu < cpus; cpu++) {
		event_attr(&attr, PERF_TYPE_SOFTWARE,
			   PERF_COUNT_SW_CONTEXT_SWITCHES);
		fd[cpu] = event_open(&attr, -1, cpu);
		ASSERT_LE(0, fd[cpu]);
		ASSERT_EQ(0, ring_map(&ring[cpu], fd[cpu], PAGES));
		ASSERT_EQ(0, event_enable(fd[cpu]));
	}
	do {
		ASSERT_EQ(0, syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0));
		for (cpu = 0; cpu < cpus; cpu++)
			ASSERT_EQ(0, records_read(&self->recs, &ring[cpu]));
		kernel = 0;
		idle = 0;
		for (i = 0; i < self->recs.nr; i++) {
			const struct record *rec = &self->recs.rec[i];

			if (!is_kthread(rec->tid))
				continue;
			EXPECT_EQ(PERF_RECORD_SAMPLE, rec->type);
			EXPECT_EQ(0, rec->cookie);
			kernel += rec->tid != 0;
			idle += rec->tid == 0;
		}
	} while (kernel < 10 || idle < 10);
	for (cpu = 0; cpu < cpus; cpu++) {
		ASSERT_EQ(0, event_disable(fd[cpu]));
		ring_unmap(&ring[cpu]);
	}
}

TEST_HARNESS_MAIN
