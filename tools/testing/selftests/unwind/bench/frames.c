// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of a frame, by how the caller is found: frames MODULE KIND...
 *
 * KIND is "fp" for functions with a frame pointer and without a table, or the number of
 * functions without a frame pointer in one registered table. 2x7936 stands for 2 files with
 * tables, of that many functions each: callers alternate between the two files. A chain of
 * calls uses functions from the whole table, each once if there are enough. At its end the
 * stack is taken
 *
 *	deferred	by perf, from the system call to the complete record
 *	faultable	by unwind_user() alone, which may fault (no page is absent)
 *	inplace		by unwind_immediate(), which may not, as in an NMI
 *	sample		by perf, from the system call to the complete sample; of "fp" only
 *
 * Pages are resident, and the kernel has made its own form of the table. A module
 * (kernel/unwind/tests/deferred_bench.c) measures faultable and inplace. With "=" instead
 * of MODULE, these two are left out: that is for a kernel without the module. With "-", only
 * samples are measured: that is for a kernel without deferred stacks.
 *
 * "warm" is taken again and again. "cold" is the first stack through these functions, each in
 * a process of its own.
 *
 * The stack is taken at several depths; their difference is the cost of frames alone. The
 * program prints lines of KIND, method, "warm" or "cold", depth and instructions. There are
 * many of each.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "insns.h"
#include "links.h"
#include "perf.h"

#define BENCH		"/sys/kernel/debug/unwind_bench"
#define TIMES		51
#define COLD_TIMES	3
#define RING_PAGES	64
#define KEY		0x2002
#define SLOT_SIZE	64

/* The same number of slots for functions with frame pointers */
#define NR_FP		1000

static const uint8_t code_sframe[] = LINK_SFRAME;
static const uint8_t code_fp[] = LINK_FP;

enum how { DEFERRED, FAULTABLE, INPLACE, SAMPLE, NR_HOWS };

static const char * const hows[] = { "deferred", "faultable", "inplace", "sample" };

static const unsigned int depths[] = { 8, 40, 64, 104, DEPTH_MAX };

#define NR_DEPTHS	ARRAY_SIZE(depths)

/* The limit lets perf take the deepest stack, too */
#define MAX_STACK	"/proc/sys/kernel/perf_event_max_stack"

static struct {
	const char	*kind;
	struct links	links;
	/* Of deferred stacks, and of samples */
	struct ring	ring;
	struct ring	sampled;
	int		event;
	int		sample_event;
	bool		by_table;
	bool		deferred;
	int		module;
	unsigned int	depth;
	enum how	cold;
	uint64_t	counted[NR_DEPTHS][NR_HOWS][TIMES];
	uint64_t	(*counts)[TIMES];
} bench;

static void fail(const char *what)
{
	fprintf(stderr, "frames: %s: ", bench.kind ? bench.kind : "");
	perror(what);
	exit(1);
}

/* Register one table for all functions */
static void table_register(const struct links *links)
{
	const size_t size = links_table_size(links->nr);
	void *table = links_map(size);

	links_table(table, links->nr, (intptr_t)links->text - (intptr_t)table, links->slot,
		    sizeof(code_sframe));
	links_register(KEY, table, size, links->text, links->nr * links->slot);
}

/* Was it the chain's stack? */
static bool try_perf(enum how how, uint64_t *counted)
{
	const bool sample = how == SAMPLE;
	struct ring *ring = sample ? &bench.sampled : &bench.ring;
	const int event = sample ? bench.sample_event : bench.event;
	uint64_t start;

	if (event_enable(event))
		fail("event");
	start = insns();
	syscall(SYS_getppid);
	*counted = insns() - start;
	if (event_disable(event))
		fail("event");
	return links_sampled(&bench.links, bench.depth, ring);
}

static uint64_t by_perf(enum how how)
{
	uint64_t counted;

	if (!try_perf(how, &counted))
		fail("not the chain's stack");
	return counted;
}

static uint64_t by_module(enum how how)
{
	unsigned long frames, insns;
	char text[128];
	ssize_t len;

	snprintf(text, sizeof(text), "task %s", hows[how]);
	if (write(bench.module, text, strlen(text)) < 0)
		fail(text);
	len = pread(bench.module, text, sizeof(text) - 1, 0);
	if (len < 0)
		fail(BENCH);
	text[len] = 0;
	if (sscanf(text, "frames %lu unwind %lu", &frames, &insns) != 2 ||
	    frames <= bench.depth)
		fail("not as many frames as the chain has");
	return insns;
}

static uint64_t take_stack(enum how how)
{
	return how == DEFERRED || how == SAMPLE ? by_perf(how) : by_module(how);
}

/*
 * The immediate method takes no stack without tables: perf itself does.  It cuts a stack that
 * exceeds the limit of one sample.
 */
static bool is_measured(enum how how, unsigned int depth)
{
	if (how == SAMPLE)
		return !bench.by_table && depth < DEPTH_MAX;
	if (how == DEFERRED)
		return bench.deferred;
	if (bench.module < 0)
		return false;
	return how != INPLACE || (bench.by_table && depth < DEPTH_MAX);
}

static void end_of_chain(const void *next)
{
	enum how how;
	int i;

	(void)next;
	for (how = 0; how < NR_HOWS; how++)
		for (i = 0; i < TIMES && is_measured(how, bench.depth); i++)
			bench.counts[how][i] = take_stack(how);
}

/*
 * The kernel makes tables for the first stack.  On arm64 this program has one, too; if its
 * file has just been written, that table comes later.
 */
static void end_of_first_chain(const void *next)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	unsigned int left = 1000;
	uint64_t counted;

	(void)next;
	while (!try_perf(DEFERRED, &counted)) {
		if (!left--)
			fail("not the chain's stack");
		nanosleep(&pause, NULL);
	}
}

static void end_of_cold_chain(const void *next)
{
	(void)next;
	bench.counts[bench.cold][0] = take_stack(bench.cold);
}

static void print_counts(unsigned int which)
{
	enum how how;
	int i;

	for (how = 0; how < NR_HOWS; how++)
		for (i = 0; i < TIMES && is_measured(how, depths[which]); i++)
			printf("%s %s warm %u %lu\n", bench.kind, hows[how],
			       depths[which], bench.counted[which][how][i]);
}

/* Make functions, tables and events */
static void prepare(const char *kind)
{
	unsigned int nr = 0, files = 0;

	bench.kind = kind;
	bench.by_table = strcmp(kind, "fp");
	if (!bench.by_table) {
		links_make(&bench.links, NR_FP, SLOT_SIZE, code_fp, sizeof(code_fp));
	} else if (sscanf(kind, "%ux%u", &files, &nr) == 2) {
		links_make_files(&bench.links, files, nr, SLOT_SIZE, code_sframe,
				 sizeof(code_sframe));
	} else {
		links_make(&bench.links, strtoul(kind, NULL, 10), SLOT_SIZE, code_sframe,
			   sizeof(code_sframe));
		table_register(&bench.links);
	}
	bench.sample_event = links_sampler(&bench.sampled, RING_PAGES, false);
	if (!bench.deferred)
		return;
	bench.event = links_sampler(&bench.ring, RING_PAGES, true);
	/* Of two files, one of each */
	bench.depth = 2;
	links_call(&bench.links, bench.depth, end_of_first_chain);
}

/* Run in a separate process: nothing is known of its text */
static void bench_frames(const char *kind)
{
	unsigned int which;

	prepare(kind);
	for (which = 0; which < NR_DEPTHS; which++) {
		bench.depth = depths[which];
		bench.counts = bench.counted[which];
		links_call(&bench.links, bench.depth, end_of_chain);
	}
	for (which = 0; which < NR_DEPTHS; which++)
		print_counts(which);
	exit(0);
}

/* The same: nobody has looked up the functions in the tables before */
static void bench_cold(const char *kind, enum how how, unsigned int depth)
{
	prepare(kind);
	bench.depth = depth;
	bench.cold = how;
	bench.counts = bench.counted[0];
	links_call(&bench.links, depth, end_of_cold_chain);
	printf("%s %s cold %u %lu\n", kind, hows[how], depth, bench.counts[how][0]);
	exit(0);
}

/* Do this before there is an event */
static void allow_depth(void)
{
	int fd = open(MAX_STACK, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "510", 3) != 3)
		fail(MAX_STACK);
	close(fd);
}

static void load(const char *module)
{
	int fd;

	bench.module = -1;
	bench.deferred = strcmp(module, "-");
	if (!bench.deferred || !strcmp(module, "="))
		return;
	fd = open(module, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		fail(module);
	close(fd);
	bench.module = open(BENCH, O_RDWR | O_CLOEXEC);
	if (bench.module < 0)
		fail(BENCH);
}

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

static void bench_kind(const char *kind)
{
	const enum how cold[] = { DEFERRED, INPLACE };
	unsigned int which, i, times;
	pid_t pid;

	pid = fork();
	if (!pid)
		bench_frames(kind);
	wait_for(pid);
	if (!strcmp(kind, "fp"))
		return;
	for (times = 0; times < COLD_TIMES; times++) {
		for (i = 0; i < ARRAY_SIZE(cold); i++) {
			for (which = 0; which < NR_DEPTHS; which++) {
				/* As is_measured() */
				if (cold[i] == INPLACE &&
				    (bench.module < 0 || depths[which] == DEPTH_MAX))
					continue;
				pid = fork();
				if (!pid)
					bench_cold(kind, cold[i], depths[which]);
				wait_for(pid);
			}
		}
	}
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 3)
		return 1;
	if (!insns_are_counted()) {
		fprintf(stderr, "frames: not under qemu -icount shift=0\n");
		return 1;
	}
	allow_depth();
	load(argv[1]);
	for (i = 2; i < argc; i++)
		bench_kind(argv[i]);
	return 0;
}
