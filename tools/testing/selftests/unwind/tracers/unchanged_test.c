// SPDX-License-Identifier: GPL-2.0
/*
 * A program cannot notice that it is profiled.
 *
 * The same program runs several times: alone, and with deferred and immediate stacks taken
 * at each system call and by a timer. It does what has made profilers visible: it sleeps,
 * is interrupted, restarts system calls, and has frame pointers that lead to memory which
 * is not there. Then it reports what it saw, and what the kernel has counted for it:
 * mappings page by page, page faults, input and output.
 *
 * Its observations are always the same. Counts may differ by a page even without a profiler,
 * where two processes map the same page at once; so one of several runs has to have them.
 * With immediate stacks, a child may have more pages of text, and they are not compared.
 *
 * The program is this file, executed anew, without randomization.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/compiler.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chain.h"
#include "image.h"
#include "perf.h"
#include "sampled.h"
#include "../../kselftest_harness.h"

#define REPORT_MAX	(256 * 1024)
#define NAP_NS		3000000
#define SPARSE_PAGES	64UL
#define MAX_CPUS	64

/* The program's own observations come before this line */
#define COUNTS		"counts\n"
/* Runs without a profiler, and with one */
#define ALONE		3
#define PROFILED	5

/*
 * The program
 */

static char report[REPORT_MAX];
static size_t report_size;

static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report_size += vsnprintf(report + report_size, REPORT_MAX - report_size, format, args);
	va_end(args);
	if (report_size >= REPORT_MAX)
		abort();
}

/* What a call returned, or its error */
static void say_result(const char *name, long ret)
{
	say("%s: %ld %s\n", name, ret, ret < 0 ? strerror(errno) : "");
}

/* getppid(), from a function whose caller has @fp as its frame pointer; without a table */
void call_with_fp(unsigned long fp);

#if defined(__x86_64__)
asm(".pushsection .text\n"
	".type call_with_fp, @function\n"
	"call_with_fp:\n"
	"	pushq	%rbp\n"
	"	movq	%rdi, %rbp\n"
	"	call	1f\n"
	"	popq	%rbp\n"
	"	ret\n"
	"1:	movl	$110, %eax\n"
	"	syscall\n"
	"	ret\n"
	".size call_with_fp, . - call_with_fp\n"
	".popsection\n");
#elif defined(__aarch64__)
asm(".pushsection .text\n"
	".type call_with_fp, @function\n"
	"call_with_fp:\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	"	mov	x29, x0\n"
	"	bl	1f\n"
	"	ldp	x29, x30, [sp], #16\n"
	"	ret\n"
	"1:	mov	x8, #173\n"
	"	svc	#0\n"
	"	ret\n"
	".size call_with_fp, . - call_with_fp\n"
	".popsection\n");
#endif

static void sweep(char *memory)
{
	unsigned long i;

	for (i = 0; i < SPARSE_PAGES; i++)
		call_with_fp((unsigned long)memory + i * getpagesize() + 64);
}

/* The memory lies above this thread's stack, where the unwinder follows frame pointers */
static void *thread_sweeps(void *memory)
{
	sweep(memory);
	return NULL;
}

static void sparse_memory(const char *name, int fd, int flags)
{
	const size_t size = SPARSE_PAGES * getpagesize();
	struct stat stat = {};
	pthread_t thread;
	void *memory;

	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (memory == MAP_FAILED)
		abort();
	sweep(memory);
	if (pthread_create(&thread, NULL, thread_sweeps, memory))
		abort();
	pthread_join(thread, NULL);
	if (fd >= 0)
		fstat(fd, &stat);
	say("%s: %ld blocks\n", name, (long)stat.st_blocks);
}

static void sparse(void)
{
	int memfd = memfd_create("sparse", MFD_CLOEXEC);
	int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);

	if (ftruncate(memfd, SPARSE_PAGES * getpagesize()) ||
	    ftruncate(file, SPARSE_PAGES * getpagesize()))
		abort();
	sparse_memory("memfd", memfd, MAP_SHARED);
	sparse_memory("file", file, MAP_SHARED);
	sparse_memory("private", -1, MAP_PRIVATE | MAP_ANONYMOUS);
}

/* Nobody would answer */
static void userfault(void)
{
	const size_t size = SPARSE_PAGES * getpagesize();
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	struct pollfd events = { .fd = fd, .events = POLLIN };
	void *memory;

	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (unsigned long)memory;
	range.range.len = size;
	if (memory == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &range))
		abort();
	sweep(memory);
	say_result("userfaultfd", poll(&events, 1, 0));
	close(fd);
}

static atomic_int alarms;

static void on_alarm(int sig)
{
	alarms++;
	getppid();
}

static void set_handler(int flags)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };

	if (sigaction(SIGALRM, &action, NULL))
		abort();
}

/* Again and again: the first may come before the call that it is to interrupt */
static void set_timer(long usecs)
{
	const struct itimerval timer = { { .tv_usec = usecs }, { .tv_usec = usecs } };

	if (setitimer(ITIMER_REAL, &timer, NULL))
		abort();
}

static void sleeps(void)
{
	struct timespec nap = { .tv_nsec = NAP_NS }, left = {};
	static unsigned int word;

	say_result("nanosleep", nanosleep(&nap, &left));
	say_result("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, &left));
	say_result("poll", poll(NULL, 0, 3));
	say_result("futex", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &nap, NULL, 0));
}

/* Sleeping calls. Each ends in its own way after a signal. */
static void interrupted(void)
{
	struct timespec nap = { .tv_sec = 1000 };
	int pipes[2];
	char byte = 0;

	set_handler(0);
	set_timer(NAP_NS / 1000);
	say_result("pause", pause());
	say_result("nanosleep", nanosleep(&nap, NULL));
	say_result("poll", poll(NULL, 0, -1));
	set_timer(0);
	alarms = 0;

	/* Goes on after the handler, until the other process writes */
	set_handler(SA_RESTART);
	if (pipe(pipes))
		abort();
	if (!fork()) {
		while (getppid() > 1 && kill(getppid(), SIGALRM))
			;
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
		byte = 'x';
		_exit(write(pipes[1], &byte, 1) != 1);
	}
	say_result("read", read(pipes[0], &byte, 1));
	say("byte: %c\n", byte);
	say_result("wait", wait(NULL) > 0);
	say("alarms: %d\n", alarms);
}

/* A stop and a continuation in nanosleep(): it is restarted by its own system call */
static void stop_and_go_on(void)
{
	struct timespec nap = { .tv_sec = 1 };
	pid_t child = fork();
	int status;

	if (!child)
		_exit(nanosleep(&nap, NULL) ? errno : 0);
	kill(child, SIGSTOP);
	waitpid(child, &status, WUNTRACED);
	say("stopped: %d\n", WIFSTOPPED(status));
	kill(child, SIGCONT);
	waitpid(child, &status, 0);
	say("continued: %x\n", status);
}

static void alternate_stack(void)
{
	stack_t stack = { .ss_size = 65536 };

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sigaltstack(&stack, NULL))
		abort();
	set_handler(SA_ONSTACK);
	raise(SIGALRM);
	say("alarms: %d\n", alarms);
}

static int descend(int depth)
{
	char page[4096];

	memset(page, depth, sizeof(page));
	getppid();
	return depth ? descend(depth - 1) + page[depth] : page[0];
}

static void calls(void)
{
	struct image image;
	chain_fn fn = image_load(&image, "chain_table.so");
	int i;

	say("descend: %d\n", descend(20));
	for (i = 0; fn && i < 100; i++) {
		struct notes notes = { .next[0] = sampled_call };

		fn(&notes);
	}
	say("chain: %d\n", !!fn);
}

static void other_programs(void)
{
	int status, i;

	for (i = 0; i < 3; i++) {
		pid_t child = fork();

		if (!child) {
			execl("/proc/self/exe", "other", "--other", NULL);
			_exit(1);
		}
		waitpid(child, &status, 0);
		say("other: %x\n", status);
	}
}

/* Without the inode, which is another one in each run, and its name */
static size_t line_size(const char *line, const char *end)
{
	unsigned long from, to, offset;
	char access[5];
	int size = 0;

	if (sscanf(line, "%lx-%lx %4s %lx%n", &from, &to, access, &offset, &size) == 4)
		return size;
	return end - line;
}

/* The lines of a file, except lines that start with a string in @without, up to NULL */
static void say_file(const char *path, const char *const *without)
{
	static char text[REPORT_MAX / 2];
	char *line, *end;
	ssize_t size = 0, part;
	int fd = open(path, O_RDONLY);

	/* The kernel may count no input and output */
	if (fd < 0)
		return;
	while ((part = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += part;
	close(fd);
	text[size] = '\0';
	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		const char *const *other = without;

		while (*other && strncmp(line, *other, strlen(*other)))
			other++;
		if (!*other)
			say("%.*s\n", (int)line_size(line, end), line);
	}
}

/*
 * Where the processor does not note by itself that a page is used, the first access to a page
 * that a process has from its parent is a fault, also if it is for a stack.
 */
static bool use_is_a_fault(void)
{
	char *byte = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage before, after;
	int status = -1;
	pid_t pid;

	if (byte == MAP_FAILED)
		abort();
	WRITE_ONCE(*byte, 1);
	pid = fork();
	if (!pid) {
		/* The second time, the memory of the call is not new */
		getrusage(RUSAGE_SELF, &after);
		getrusage(RUSAGE_SELF, &before);
		READ_ONCE(*byte);
		getrusage(RUSAGE_SELF, &after);
		_exit(after.ru_minflt != before.ru_minflt);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		abort();
	munmap(byte, 1);
	return WEXITSTATUS(status);
}

/* Fields by their number in proc_pid_stat(5), without its own page faults: they vary */
static void say_stat(bool children_faults)
{
	static const int fields[] = { 11, 12, 13, 20, 23 };
	char text[1024] = "", *field = text;
	int fd = open("/proc/self/stat", O_RDONLY);
	unsigned int nr = 1, i = 0;

	if (read(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	/* The name may have spaces */
	field = strrchr(text, ')');
	for (nr = 2; field && i < sizeof(fields) / sizeof(*fields); nr++) {
		if (nr == fields[i]) {
			if (nr != 11 || children_faults)
				say("stat %d: %ld\n", nr, strtol(field, NULL, 10));
			i++;
		}
		field = strchr(field + 1, ' ');
	}
}

static int program(void)
{
	/* Pages that others share or used, and ages of pages */
	static const char *const without[] = { "Pss", "Referenced", "Shared", "Private", NULL };
	static const char *const nothing[] = { NULL };
	const bool faults = use_is_a_fault();

	sparse();
	userfault();
	sleeps();
	interrupted();
	stop_and_go_on();
	alternate_stack();
	calls();
	other_programs();
	say(COUNTS);
	say_stat(!faults);
	say_file("/proc/self/smaps", without);
	say_file("/proc/self/io", nothing);
	return write(STDOUT_FILENO, report, report_size) != (ssize_t)report_size;
}

/*
 * The test
 */

/* What a run is profiled by, on one CPU */
struct profiler {
	struct sampler	deferred;
	struct sampler	immediate;
	struct sampler	timer;
};

/* The reports, and what the profiler took during the last run */
static struct {
	struct profiler	cpu[MAX_CPUS];
	int		nr_cpus;
	char		alone[ALONE][REPORT_MAX];
	char		profiled[REPORT_MAX];
	size_t		samples;
	size_t		stacks;
} runs;

static int open_on(struct sampler *sampler, struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->inherit = 1;
	attr->enable_on_exec = 1;
	sampler->fd = event_open(attr, pid, cpu);
	return sampler->fd < 0 ? -1 : ring_map(&sampler->ring, sampler->fd, 64);
}

static int open_profiler(struct profiler *profiler, pid_t pid, int cpu, bool immediate)
{
	struct perf_event_attr attr;

	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter") ||
	    open_on(&profiler->deferred, &attr, pid, cpu) ||
	    tracepoint_attr(&attr, "raw_syscalls/sys_exit"))
		return -1;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	if (immediate && open_on(&profiler->immediate, &attr, pid, cpu))
		return -1;
	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_period = 100000;
	return open_on(&profiler->timer, &attr, pid, cpu);
}

static void count(struct ring *ring, size_t *samples, size_t *stacks)
{
	struct perf_event_header *header;

	while ((header = ring_next(ring))) {
		*samples += header->type == PERF_RECORD_SAMPLE;
		*stacks += header->type == PERF_RECORD_CALLCHAIN_DEFERRED;
		free(header);
	}
}

/* The buffers may overflow; what is lost was taken all the same */
static void close_profiler(struct profiler *profiler, bool immediate)
{
	count(&profiler->deferred.ring, &runs.samples, &runs.stacks);
	count(&profiler->timer.ring, &runs.samples, &runs.stacks);
	if (immediate) {
		count(&profiler->immediate.ring, &runs.samples, &runs.stacks);
		sampler_close(&profiler->immediate);
	}
	sampler_close(&profiler->deferred);
	sampler_close(&profiler->timer);
}

static void run_program(int go, int out)
{
	char byte;

	if (read(go, &byte, 1) != 1 || dup2(out, STDOUT_FILENO) < 0)
		_exit(2);
	personality(ADDR_NO_RANDOMIZE);
	execl("/proc/self/exe", "program", "--program", NULL);
	_exit(3);
}

/* Run it, and receive its report; -1 if it did not end well */
static int run(char *text, bool profiled, bool immediate)
{
	size_t size = 0;
	int go[2], out[2], status, i;
	ssize_t part;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		run_program(go[0], out[1]);
	close(out[1]);
	for (i = 0; profiled && i < runs.nr_cpus; i++) {
		if (open_profiler(&runs.cpu[i], pid, i, immediate))
			return -1;
	}
	if (write(go[1], "", 1) != 1)
		return -1;
	while ((part = read(out[0], text + size, REPORT_MAX - 1 - size)) > 0)
		size += part;
	text[size] = '\0';
	close(out[0]);
	close(go[0]);
	close(go[1]);
	for (i = 0; profiled && i < runs.nr_cpus; i++)
		close_profiler(&runs.cpu[i], immediate);
	return waitpid(pid, &status, 0) == pid && !status ? 0 : -1;
}

/* Are the lines of @text up to @end the same as the lines of @other? Print differences. */
static bool same_lines(const char *text, const char *other, const char *end)
{
	bool same = true;

	while ((*text || *other) && text < end) {
		size_t size = strcspn(text, "\n"), other_size = strcspn(other, "\n");

		if (size != other_size || strncmp(text, other, size)) {
			printf("# \"%.*s\" became \"%.*s\"\n", (int)other_size, other,
			       (int)size, text);
			same = false;
		}
		text += size + !!text[size];
		other += other_size + !!other[other_size];
	}
	return same;
}

/* Did a run see what the first one saw? */
static bool saw_the_same(const char *text)
{
	const char *end = strstr(text, COUNTS);

	return end && same_lines(text, runs.alone[0], end + strlen(COUNTS));
}

static bool counted_as_alone(const char *text)
{
	int i;

	for (i = 0; i < ALONE; i++) {
		if (same_lines(text, runs.alone[i], text + REPORT_MAX))
			return true;
	}
	return false;
}

FIXTURE(program)
{
};

FIXTURE_SETUP(program)
{
	runs.nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ASSERT_LE(runs.nr_cpus, MAX_CPUS);
}

FIXTURE_TEARDOWN(program)
{
}

TEST_F_TIMEOUT(program, reports_the_same_when_profiled, 240)
{
	bool counted = false;
	int i;

	/* The first run finds other page caches */
	ASSERT_EQ(0, run(runs.profiled, false, false));
	for (i = 0; i < ALONE; i++) {
		ASSERT_EQ(0, run(runs.alone[i], false, false));
		ASSERT_NE(NULL, strstr(runs.alone[i], "VmFlags:"));
		ASSERT_TRUE(saw_the_same(runs.alone[i]));
	}
	/* The first run has no tables; it loads them for the others */
	for (i = 0; i < PROFILED; i++) {
		runs.samples = 0;
		runs.stacks = 0;
		ASSERT_EQ(0, run(runs.profiled, true, i % 2));
		EXPECT_TRUE(saw_the_same(runs.profiled));
		/* Immediate stacks may map text */
		counted |= !(i % 2) && counted_as_alone(runs.profiled);
		EXPECT_LT(500, runs.samples);
		EXPECT_LT(100, runs.stacks);
	}
	EXPECT_TRUE(counted);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--program"))
		return program();
	if (argc == 2 && !strcmp(argv[1], "--other"))
		return 7;
	return test_harness_run(argc, argv);
}
