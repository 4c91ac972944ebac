// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of a frame, by the number of registered ranges: ranges N...
 *
 * A chain of calls uses functions without a frame pointer. Each is a registered range
 * with its own table. The chain ends in a system call, and its stack is taken there.
 * Adjacent frames lie in different ranges, spread over all ranges, so the kernel looks up
 * each address in the tree. Each table has one entry, so nothing else grows with the
 * number of ranges.
 *
 * The stack is taken at several depths; their difference is the cost of frames alone. The
 * program prints, for each N,
 *
 *	warm N DEPTH INSTRUCTIONS	the system call and its stack, one line for
 *					each time that it was taken
 *	memory N BYTES			growth of the kernel's slabs
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "insns.h"
#include "links.h"
#include "perf.h"

#define TIMES		101
#define RING_PAGES	64
#define KEY		0x2001

/* A range is the function's slot without its end, so no range touches another */
#define SLOT_SIZE	128
#define TEXT_SIZE	64

static const uint8_t code[] = LINK_SFRAME;

static void tables_register(const struct links *links)
{
	struct link_table *table = links_map(links->nr * sizeof(*table));
	unsigned int i;

	for (i = 0; i < links->nr; i++) {
		const char *fn = &links->text[i * SLOT_SIZE];

		table[i] = (struct link_table){
			.hdr = link_header(1),
			.fde = {
				.start_offset = (intptr_t)fn - (intptr_t)&table[i],
				.size = sizeof(code),
			},
			.rows = LINK_ROWS,
		};
	}
	for (i = 0; i < links->nr; i++)
		links_register(KEY, &table[i], sizeof(*table),
			       &links->text[i * SLOT_SIZE], TEXT_SIZE);
}

/* perf takes at most 127 frames, including the program's own */
static const unsigned int depths[] = { 8, 40, 104 };

#define NR_DEPTHS	ARRAY_SIZE(depths)

static struct {
	struct links	links;
	struct ring	ring;
	unsigned int	depth;
	uint64_t	counted[NR_DEPTHS][TIMES];
	uint64_t	*counts;
} bench;

static uint64_t take_stack(void)
{
	uint64_t start = insns();

	syscall(SYS_getppid);
	start = insns() - start;
	if (!links_sampled(&bench.links, bench.depth, &bench.ring)) {
		fprintf(stderr, "ranges: not the stack of %u frames, %u ranges\n",
			bench.depth, bench.links.nr);
		exit(1);
	}
	return start;
}

static void end_of_chain(const void *next)
{
	int i;

	(void)next;
	/* The kernel makes the tables for the first stack */
	take_stack();
	for (i = 0; i < TIMES; i++)
		bench.counts[i] = take_stack();
}

static void measure(unsigned int which)
{
	bench.depth = depths[which];
	bench.counts = bench.counted[which];
	links_call(&bench.links, bench.depth, end_of_chain);
}

/* One line of slabinfo: pages of a slab, and the number of slabs */
#define SLABINFO							\
	"%*s %*d %*d %*d %*d %ld : tunables %*d %*d %*d : slabdata %*d %ld"

/* Bytes of all slabs, or -1 */
static long slab_bytes(void)
{
	long pages = 0, per_slab, slabs;
	FILE *file = fopen("/proc/slabinfo", "r");
	char line[256];

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, SLABINFO, &per_slab, &slabs) == 2)
			pages += per_slab * slabs;
	fclose(file);
	return pages ? pages * sysconf(_SC_PAGESIZE) : -1;
}

/* Run in a separate process: it has no other ranges, and its exit frees everything */
static void bench_ranges(unsigned int nr)
{
	unsigned int i, which;
	long before, after;

	links_make(&bench.links, nr, SLOT_SIZE, code, sizeof(code));
	before = slab_bytes();
	tables_register(&bench.links);
	after = slab_bytes();
	if (event_enable(links_sampler(&bench.ring, RING_PAGES, true)))
		exit(1);
	for (which = 0; which < NR_DEPTHS; which++)
		measure(which);

	for (which = 0; which < NR_DEPTHS; which++)
		for (i = 0; i < TIMES; i++)
			printf("warm %u %u %lu\n", nr, depths[which],
			       bench.counted[which][i]);
	if (before >= 0 && after >= 0)
		printf("memory %u %ld\n", nr, after - before);
	exit(0);
}

int main(int argc, char **argv)
{
	int i, status;

	if (!insns_are_counted()) {
		fprintf(stderr, "ranges: not under qemu -icount shift=0\n");
		return 1;
	}
	for (i = 1; i < argc; i++) {
		pid_t pid = fork();

		if (!pid)
			bench_ranges(strtoul(argv[i], NULL, 0));
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}
