// SPDX-License-Identifier: GPL-2.0
/*
 * What a frame costs, by the number of registered ranges: ranges N...
 *
 * A chain of calls leads through functions that keep no frame pointer, each of
 * which is a registered range with a table of its own, to a system call whose
 * stack is taken. Frames that follow each other lie in different ranges, so that
 * each is looked up in the tree, and spread over all of them. Tables have one
 * entry, so that nothing else grows with the number of ranges.
 *
 * The stack is taken at two depths: the difference is that of frames alone.
 * Prints, for each N,
 *
 *	frames N DEPTH INSTRUCTIONS	the system call and its stack; once for
 *					each time that it was taken
 *	memory N BYTES			what the kernel's slabs grew by
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "insns.h"
#include "../image.h"
#include "../perf.h"

#define TIMES		101
#define RING_PAGES	64
#define KEY		0x2001

/* perf takes at most 127 frames, the program's own among them */
static const unsigned int depths[] = { 40, 104 };

#define NR_DEPTHS	(sizeof(depths) / sizeof(*depths))
#define DEPTH_MAX	104

/* Frames of the chain, one after the other, are this many ranges apart */
#define APART		7919

/*
 * The function: calls the first of the functions that its argument points to,
 * with what follows.
 */

typedef void (*link_fn)(const void *next);

static const uint8_t fn_code[] = {
	0x48, 0x83, 0xec, 0x18,	/* sub $24, %rsp */
	0x48, 0x83, 0xc7, 0x08,	/* add $8, %rdi */
	0xff, 0x57, 0xf8,	/* call *-8(%rdi) */
	0x48, 0x83, 0xc4, 0x18,	/* add $24, %rsp */
	0xc3,			/* ret */
};

/* Offsets in it */
enum {
	FN_IN_FRAME	= 4,
	FN_RETURNED	= 11,
	FN_LEFT		= 15,
};

/* Its table: one entry with three rows, of which each says where the CFA is */

struct row {
	uint8_t		start;
	uint8_t		info;
	int16_t		cfa;
} __packed;

#define ROW_INFO	0x23	/* the stack pointer and one word of 2 bytes */

struct table {
	struct sframe_header	hdr;
	struct sframe_fde	fde;
	struct sframe_attr	attr;
	struct row		row[3];
} __packed;

/* A range is all of the function's slot but its end: no range touches another */
struct slot {
	char	text[128];
};

#define TEXT_SIZE	64

struct ranges {
	unsigned int	nr;
	struct slot	*slot;
	struct table	*table;
};

static void table_write(struct table *table, const struct slot *slot)
{
	*table = (struct table){
		.hdr = {
			.magic = SFRAME_MAGIC,
			.version = 3,
			.flags = SFRAME_F_FDE_SORTED,
			.abi_arch = 3,	/* AMD64, little-endian */
			.cfa_fixed_ra_offset = -8,
			.num_fdes = 1,
			.num_fres = 3,
			.fre_len = sizeof(table->attr) + sizeof(table->row),
			.freoff = sizeof(table->fde),
		},
		.fde = {
			.start_offset = (intptr_t)slot - (intptr_t)table,
			.size = sizeof(fn_code),
		},
		.attr = { .num_fres = 3 },
		.row = {
			{ 0, ROW_INFO, 8 },
			{ FN_IN_FRAME, ROW_INFO, 32 },
			{ FN_LEFT, ROW_INFO, 8 },
		},
	};
}

static void *map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at != MAP_FAILED)
		return at;
	perror("ranges: mmap");
	exit(1);
}

static void ranges_make(struct ranges *ranges, unsigned int nr)
{
	unsigned int i;

	ranges->nr = nr;
	ranges->slot = map(nr * sizeof(*ranges->slot));
	ranges->table = map(nr * sizeof(*ranges->table));
	for (i = 0; i < nr; i++) {
		memcpy(ranges->slot[i].text, fn_code, sizeof(fn_code));
		table_write(&ranges->table[i], &ranges->slot[i]);
	}
	if (mprotect(ranges->slot, nr * sizeof(*ranges->slot),
		     PROT_READ | PROT_EXEC)) {
		perror("ranges: mprotect");
		exit(1);
	}
}

static void ranges_register(const struct ranges *ranges)
{
	unsigned int i;

	for (i = 0; i < ranges->nr; i++) {
		const struct unwind_table_attr attr = {
			.format = UNWIND_FORMAT_SFRAME,
			.key = KEY,
			.table_start = (uintptr_t)&ranges->table[i],
			.table_size = sizeof(*ranges->table),
			.text_start = (uintptr_t)&ranges->slot[i],
			.text_size = TEXT_SIZE,
		};

		if (!syscall(SYS_prctl, PR_UNWIND_TABLE, PR_UNWIND_TABLE_ADD,
			     &attr, sizeof(attr), 0))
			continue;
		perror("ranges: PR_UNWIND_TABLE_ADD");
		exit(1);
	}
}

/* The range that the @i'th function of the chain is in */
static const struct slot *link_slot(const struct ranges *ranges, unsigned int i)
{
	return &ranges->slot[(i + 1UL) * APART % ranges->nr];
}

/*
 * The stack, taken at the end of the chain
 */

static struct {
	struct ranges	ranges;
	int		fd;
	struct ring	ring;
	unsigned int	depth;
	uint64_t	counted[NR_DEPTHS][TIMES];
	uint64_t	*count;
} bench;

/* A tracepoint in a system call that nothing else here makes */
static void sampler_open(void)
{
	struct perf_event_attr attr;

	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
		goto fail;
	attr.exclude_callchain_kernel = 1;
	bench.fd = event_open(&attr, 0, -1);
	if (bench.fd < 0 || event_filter_syscall(bench.fd, SYS_getppid) ||
	    ring_map(&bench.ring, bench.fd, RING_PAGES) ||
	    event_enable(bench.fd))
		goto fail;
	return;
fail:
	perror("ranges: no event");
	exit(1);
}

/*
 * Is it the chain that was taken, each frame of it?  Above it are the context
 * and end_of_chain().
 */
static bool is_chain(const struct record *stack)
{
	unsigned int i;

	if (!stack || stack->nr < bench.depth + 2)
		return false;
	for (i = 0; i < bench.depth; i++) {
		uintptr_t fn = (uintptr_t)link_slot(&bench.ranges,
						    bench.depth - 1 - i);

		if (stack->ips[i + 2] != fn + FN_RETURNED)
			return false;
	}
	return true;
}

static void check_stack(void)
{
	struct records recs = {};

	if (records_read(&recs, &bench.ring) || recs.nr != 2 ||
	    !is_chain(records_get(&recs, PERF_RECORD_CALLCHAIN_DEFERRED, 0))) {
		fprintf(stderr, "ranges: not the stack of %u frames, %u ranges\n",
			bench.depth, bench.ranges.nr);
		exit(1);
	}
	records_free(&recs);
}

static void end_of_chain(const void *next)
{
	uint64_t start;
	int i;

	(void)next;
	for (i = 0; i < TIMES; i++) {
		start = insns();
		syscall(SYS_getppid);
		bench.count[i] = insns() - start;
		check_stack();
	}
}

static void measure(unsigned int which)
{
	link_fn links[DEPTH_MAX + 1];
	unsigned int i;

	bench.depth = depths[which];
	bench.count = bench.counted[which];
	for (i = 0; i < bench.depth; i++)
		links[i] = (link_fn)link_slot(&bench.ranges, i);
	links[i] = end_of_chain;
	links[0](&links[1]);
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

/* In a process of its own: no other ranges, and all is freed at its end */
static void bench_ranges(unsigned int nr)
{
	unsigned int i, which;
	long before, after;

	ranges_make(&bench.ranges, nr);
	before = slab_bytes();
	ranges_register(&bench.ranges);
	after = slab_bytes();
	sampler_open();
	for (which = 0; which < NR_DEPTHS; which++)
		measure(which);

	for (which = 0; which < NR_DEPTHS; which++)
		for (i = 0; i < TIMES; i++)
			printf("frames %u %u %lu\n", nr, depths[which],
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
