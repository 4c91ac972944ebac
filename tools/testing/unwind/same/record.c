// SPDX-License-Identifier: GPL-2.0
/*
 * Record each stack of one program twice in the same sample.
 *
 *	same_record DIR PERIOD COMMAND...	(PERIOD: nanoseconds of CPU time)
 *
 * A clock event samples the program on each CPU. A sample has the cookie of a deferred
 * callchain, which the kernel then unwinds. It also has the registers and a copy of the
 * stack, from which another unwinder can unwind the same stack. same_compare reads the
 * output (see same.h) later, on any machine.
 *
 * The program's run time is its own, and its exit status is passed on. A lost record is
 * an error: the comparison must have all of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "same.h"

#define STOP_EVENT	"/sys/kernel/tracing/events/unwind/unwind_stop/"
/* Room for five hundred samples on each CPU */
#define RING_SIZE	(32UL << 20)

struct ring {
	struct perf_event_mmap_page	*meta;
	const uint8_t			*data;
};

static struct ring rings[SAME_MAX_CPUS];
static struct same_header header = { .magic = SAME_MAGIC };
static unsigned long samples, stacks, lost;
/* A record, by words and by bytes */
static union {
	struct perf_event_header	header;
	uint8_t				byte[1 << 16];
	uint64_t			word[1 << 13];
} buf;
static FILE *out;

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("same_record: ", stderr);
	vfprintf(stderr, format, args);
	fprintf(stderr, " (%s)\n", strerror(errno));
	va_end(args);
	exit(1);
}

/*
 * Events
 */

/*
 * Set and read the maximum number of frames in a record. By default perf cuts stacks that
 * the kernel has unwound; the limit can be raised while there are no events.
 */
static unsigned int max_stack(void)
{
	static const char path[] = "/proc/sys/kernel/perf_event_max_stack";
	FILE *file = fopen(path, "r+");
	unsigned int max;

	if (!file || fprintf(file, "%u", SAME_MAX_STACK) < 0 || fclose(file))
		die("cannot write %s", path);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%u", &max) != 1)
		die("cannot read %s", path);
	fclose(file);
	return max;
}

static uint64_t stop_event(void)
{
	unsigned long long id;
	FILE *file = fopen(STOP_EVENT "id", "r");

	if (!file || fscanf(file, "%llu", &id) != 1)
		die("no tracepoint unwind:unwind_stop");
	fclose(file);
	return id;
}

static int open_event(struct perf_event_attr *attr, int cpu, uint64_t *id)
{
	int fd = syscall(SYS_perf_event_open, attr, header.pid, cpu, -1,
			 PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ID, id))
		die("cannot open an event on CPU %d", cpu);
	return fd;
}

static int open_cpu(int cpu, uint64_t period, unsigned int max)
{
	struct perf_event_attr clock = {
		.size = sizeof(clock),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period,
		.sample_type = SAME_TYPE_CLOCK,
		.sample_regs_user = SAME_REGS,
		.sample_stack_user = SAME_STACK,
		.sample_max_stack = max,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = RING_SIZE / 4,
		.defer_callchain = 1,
		.defer_output = 1,
	};
	struct perf_event_attr stop = {
		.size = sizeof(stop),
		.type = PERF_TYPE_TRACEPOINT,
		.config = stop_event(),
		.sample_period = 1,
		.sample_type = SAME_TYPE_STOP,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.sample_id_all = 1,
	};
	int fd = open_event(&clock, cpu, &header.clock_id[cpu]);
	int stop_fd = open_event(&stop, cpu, &header.stop_id[cpu]);
	void *map = mmap(NULL, RING_SIZE + getpagesize(), PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);

	if (map == MAP_FAILED || ioctl(stop_fd, PERF_EVENT_IOC_SET_OUTPUT, fd))
		die("no buffer for CPU %d", cpu);
	rings[cpu].meta = map;
	rings[cpu].data = (uint8_t *)map + getpagesize();
	return fd;
}

/*
 * Records
 */

static void copy(const struct ring *ring, void *to, uint64_t pos, size_t len)
{
	size_t start = pos % RING_SIZE;
	size_t first = RING_SIZE - start;

	if (first > len)
		first = len;
	memcpy(to, ring->data + start, first);
	memcpy((uint8_t *)to + first, ring->data, len - first);
}

static bool is_clock(const struct perf_event_header *record)
{
	const uint64_t *id = (const uint64_t *)(record + 1);
	unsigned int cpu;

	for (cpu = 0; cpu < header.num_cpus; cpu++)
		if (record->type == PERF_RECORD_SAMPLE && *id == header.clock_id[cpu])
			return true;
	return false;
}

/* Shorten the record to the copied part of the stack */
static void shorten(struct perf_event_header *record)
{
	struct same_sample sample;
	uint64_t keep;
	size_t at;

	if (same_parse_sample(record, &sample))
		die("a sample is not what was asked for");
	samples++;
	if (!sample.stack_size)
		return;
	/* Partly copied words do not count */
	keep = sample.stack_copied & ~7ULL;
	at = (sample.stack - buf.byte) / 8;
	buf.word[at - 1] = keep;
	buf.word[at + keep / 8] = keep;
	record->size -= sample.stack_size - keep;
}

static void drain(struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->meta->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header *record = &buf.header;
	uint64_t tail = ring->meta->data_tail;

	while (tail != head) {
		copy(ring, &buf, tail, sizeof(*record));
		copy(ring, &buf, tail, record->size);
		tail += record->size;
		__atomic_store_n(&ring->meta->data_tail, tail, __ATOMIC_RELEASE);

		if (record->type == PERF_RECORD_LOST)
			lost += buf.word[2];
		if (record->type == PERF_RECORD_CALLCHAIN_DEFERRED)
			stacks++;
		if (is_clock(record))
			shorten(record);
		if (fwrite(&buf, record->size, 1, out) != 1)
			die("cannot write");
	}
}

/* The files next to the records */

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file)
		die("cannot write %s", path);
	return file;
}

static void write_format(const char *dir)
{
	FILE *to = create(dir, "format"), *from = fopen(STOP_EVENT "format", "r");
	size_t len;

	if (!from)
		die("no format of unwind:unwind_stop");
	while ((len = fread(&buf, 1, sizeof(buf), from)))
		fwrite(&buf, 1, len, to);
	fclose(from);
	fclose(to);
}

/* It is the same for every process */
static void write_vdso(const char *dir)
{
	FILE *to = create(dir, "vdso"), *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "[vdso]"))
			continue;
		if (sscanf(line, "%lx-%lx", &start, &end) == 2)
			fwrite((void *)start, end - start, 1, to);
	}
	if (!maps || !ftell(to))
		die("no vdso");
	fclose(maps);
	fclose(to);
}

/*
 * The program
 */

static int go_pipe[2];

static pid_t start(char **command)
{
	sigset_t none;
	pid_t pid;
	char c;

	if (pipe2(go_pipe, O_CLOEXEC))
		die("no pipe");
	pid = fork();
	if (pid)
		return pid;
	close(go_pipe[1]);
	/* Wait until the events exist */
	if (read(go_pipe[0], &c, 1) != 1)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(command[0], command);
	die("cannot execute %s", command[0]);
	return 0;
}

/* Write all records until the program ends; return its status */
static int follow(struct pollfd *poll_fd, unsigned int num_cpus, int signals)
{
	int status, num = num_cpus + 1;
	unsigned int cpu;
	bool ended;

	poll_fd[num_cpus] = (struct pollfd){ .fd = signals, .events = POLLIN };
	do {
		if (poll(poll_fd, num, -1) < 0)
			die("poll");
		/* Wait first: then all records of an ended program are in the buffers */
		ended = waitpid(header.pid, &status, WNOHANG) > 0;
		for (cpu = 0; cpu < num_cpus; cpu++) {
			/* Its events ended with the program */
			if (poll_fd[cpu].revents & (POLLHUP | POLLERR))
				poll_fd[cpu].fd = -1;
			drain(&rings[cpu]);
		}
	} while (!ended);
	return status;
}

int main(int argc, char **argv)
{
	struct pollfd poll_fd[SAME_MAX_CPUS + 1];
	long cpu, num_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int max;
	int signals, status;
	sigset_t child;

	if (argc < 4 || !strtoul(argv[2], NULL, 10) || num_cpus > SAME_MAX_CPUS) {
		fputs("usage: same_record DIR PERIOD COMMAND...\n", stderr);
		return 2;
	}
	max = max_stack();
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	signals = signalfd(-1, &child, SFD_CLOEXEC);

	mkdir(argv[1], 0777);
	write_format(argv[1]);
	write_vdso(argv[1]);
	out = create(argv[1], "records");
	header.num_cpus = num_cpus;
	header.pid = start(argv + 3);
	/* The recorder runs first: the program may have threads for all CPUs, and does not wait */
	if (setpriority(PRIO_PROCESS, 0, -20))
		die("no priority");
	for (cpu = 0; cpu < num_cpus; cpu++) {
		poll_fd[cpu].fd = open_cpu(cpu, strtoul(argv[2], NULL, 10), max);
		poll_fd[cpu].events = POLLIN;
	}
	if (fwrite(&header, sizeof(header), 1, out) != 1 ||
	    write(go_pipe[1], "", 1) != 1)
		die("cannot begin");

	status = follow(poll_fd, num_cpus, signals);
	if (fclose(out))
		die("cannot write");
	fprintf(stderr, "%lu samples, %lu stacks, %lu lost\n", samples, stacks, lost);
	if (lost)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
