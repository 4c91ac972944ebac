// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of a frame, by how the caller is found: frames MODULE KIND...
 *
 * KIND is "fp" for functions with a frame pointer and without a table, or the number of
 * functions without a frame pointer in one table. A chain of calls uses functions from
 * the whole table, each once if there are enough. At its end the stack is taken
 *
 *	deferred	by perf, from the system call to the complete record
 *	faultable	by unwind_user() alone, which may fault (no page is absent)
 *	inplace		by unwind_immediate(), which may not, as in an NMI
 *
 * Pages are resident, and the kernel has made its own form of the table. A module
 * (kernel/unwind/tests/deferred_bench.c) measures the last two.
 *
 * The stack is taken at several depths; their difference is the cost of frames alone. The
 * program prints lines of KIND, method, "warm", depth and instructions. There are many of
 * each.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "insns.h"
#include "links.h"
#include "perf.h"

#define BENCH		"/sys/kernel/debug/unwind_bench"
#define TIMES		51
#define RING_PAGES	64
#define KEY		0x2002
#define SLOT_SIZE	64

/* The same number of slots for functions with frame pointers */
#define NR_FP		1000

static const uint8_t code_sframe[] = LINK_SFRAME;
static const uint8_t code_fp[] = LINK_FP;

enum how { DEFERRED, FAULTABLE, INPLACE, NR_HOWS };

static const char * const hows[] = { "deferred", "faultable", "inplace" };

static const unsigned int depths[] = { 8, 40, 64, 104, DEPTH_MAX };

#define NR_DEPTHS	ARRAY_SIZE(depths)

/* The limit lets perf take the deepest stack, too */
#define MAX_STACK	"/proc/sys/kernel/perf_event_max_stack"

static struct {
	const char	*kind;
	struct links	links;
	struct ring	ring;
	bool		by_table;
	int		module;
	unsigned int	depth;
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
	size_t size = sizeof(struct sframe_header) +
		      links->nr * (sizeof(struct sframe_fde) +
				   sizeof(struct link_rows));
	struct sframe_header *table = links_map(size);
	struct sframe_fde *fde = (void *)(table + 1);
	struct link_rows *rows = (void *)(fde + links->nr);
	unsigned int i;

	*table = link_header(links->nr);
	for (i = 0; i < links->nr; i++) {
		const char *fn = &links->text[i * links->slot];

		fde[i] = (struct sframe_fde){
			.start_offset = (intptr_t)fn - (intptr_t)table,
			.size = sizeof(code_sframe),
			.fre_off = i * sizeof(*rows),
		};
		rows[i] = LINK_ROWS;
	}
	links_register(KEY, table, size, links->text, links->nr * links->slot);
	bench.by_table = true;
}

static uint64_t by_perf(void)
{
	uint64_t start = insns();

	syscall(SYS_getppid);
	start = insns() - start;
	if (!links_sampled(&bench.links, bench.depth, &bench.ring))
		fail("not the chain's stack");
	return start;
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
	return how == DEFERRED ? by_perf() : by_module(how);
}

/*
 * The immediate method takes no stack without tables, and cuts a stack that exceeds the
 * limit of one sample.
 */
static bool is_measured(enum how how, unsigned int depth)
{
	return how != INPLACE || (bench.by_table && depth < DEPTH_MAX);
}

static void end_of_chain(const void *next)
{
	enum how how;
	int i;

	(void)next;
	/* The kernel makes the table for the first stack */
	take_stack(DEFERRED);
	for (how = 0; how < NR_HOWS; how++)
		for (i = 0; i < TIMES && is_measured(how, bench.depth); i++)
			bench.counts[how][i] = take_stack(how);
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

/* Run in a separate process: nothing is known of its text */
static void bench_frames(const char *kind)
{
	unsigned int which;

	bench.kind = kind;
	if (strcmp(kind, "fp")) {
		links_make(&bench.links, strtoul(kind, NULL, 0), SLOT_SIZE,
			   code_sframe, sizeof(code_sframe));
		table_register(&bench.links);
	} else {
		links_make(&bench.links, NR_FP, SLOT_SIZE, code_fp,
			   sizeof(code_fp));
	}
	links_sampler(&bench.ring, RING_PAGES);
	for (which = 0; which < NR_DEPTHS; which++) {
		bench.depth = depths[which];
		bench.counts = bench.counted[which];
		links_call(&bench.links, bench.depth, end_of_chain);
	}
	for (which = 0; which < NR_DEPTHS; which++)
		print_counts(which);
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
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		fail(module);
	close(fd);
	bench.module = open(BENCH, O_RDWR | O_CLOEXEC);
	if (bench.module < 0)
		fail(BENCH);
}

int main(int argc, char **argv)
{
	int i, status;

	if (argc < 3)
		return 1;
	if (!insns_are_counted()) {
		fprintf(stderr, "frames: not under qemu -icount shift=0\n");
		return 1;
	}
	allow_depth();
	load(argv[1]);
	for (i = 2; i < argc; i++) {
		pid_t pid = fork();

		if (!pid)
			bench_frames(argv[i]);
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}
