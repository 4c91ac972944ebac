// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of samples for the program that is sampled: sampling METHOD HZ...
 *
 * METHOD is how the stack is taken:
 *
 *	none		not at all: the sample has no stack
 *	sframe		deferred, by tables
 *	fp		immediate, by frame pointers
 *	in-place	immediate, by tables
 *	dwarf-BYTES	BYTES of the stack are copied
 *
 * The program repeats the same work at the end of a chain of calls, first without
 * samples, then at the rate HZ. The additional time is the cost of samples, from the
 * interrupt to the last word of the record. The chain keeps frame pointers for fp only.
 * Its stack is larger than any method copies.
 *
 * Other work of the kernel affects some figures and not others. Therefore each figure is
 * measured several times, and the reader takes the median.
 *
 * The program prints lines of METHOD, HZ, instructions without and with samples, samples,
 * stacks that are the chain's, bytes in the buffer, and records lost so far.
 */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "insns.h"
#include "links.h"
#include "perf.h"

#define DEPTH		16
#define NR_LINKS	1000
#define SLOT_SIZE	64
#define KEY		0x2003
#define STACK		(128 << 10)

/* 256 MiB: the buffer is not read during a measurement */
#define RING_PAGES	(64 << 10)

/*
 * Figures are steady only with this many samples and this much work. At a low rate, every
 * few samples share a tick, or work that is deferred until a tick. Such a measurement
 * takes long, so it is repeated less often.
 */
#define SAMPLES		400
#define TIMES		5
#define HZ_LOW		100
#define SAMPLES_LOW	160
#define TIMES_LOW	3
#define SAMPLES_FIRST	4
#define INSNS_PER_SEC	1000000000ULL
#define INSNS_LEAST	(100ULL << 20)

/* All of user space's registers that the kernel has, except segments, as perf requests them */
#ifdef __aarch64__
#define REGS_USER	0x1ffffffffULL
#else
#define REGS_USER	0xff0fffULL
#endif

static const uint8_t code_sframe[] = LINK_SFRAME;
static const uint8_t code_fp[] = LINK_FP;

static struct {
	const char	*method;
	unsigned long	hz;
	struct links	links;
	struct ring	ring;
	int		fd;
} bench;

static void fail(const char *what)
{
	fprintf(stderr, "sampling: %s: ", bench.method);
	perror(what);
	exit(1);
}

static unsigned int dwarf_bytes(void)
{
	return strncmp(bench.method, "dwarf-", 6) ? 0 : atoi(bench.method + 6);
}

/* Register one table for all functions */
static void table_register(const struct links *links)
{
	static struct {
		struct sframe_header	hdr;
		struct sframe_fde	fde[NR_LINKS];
		struct link_rows	rows[NR_LINKS];
	} __packed table;
	unsigned int i;

	table.hdr = link_header(links->nr);
	for (i = 0; i < links->nr; i++) {
		const char *fn = &links->text[i * links->slot];

		table.fde[i] = (struct sframe_fde){
			.start_offset = (intptr_t)fn - (intptr_t)&table,
			.size = sizeof(code_sframe),
			.fre_off = i * sizeof(table.rows[0]),
		};
		table.rows[i] = LINK_ROWS;
	}
	links_register(KEY, &table, sizeof(table), links->text,
		       links->nr * links->slot);
}

static void make_chain(void)
{
	if (!strcmp(bench.method, "fp")) {
		links_make(&bench.links, NR_LINKS, SLOT_SIZE, code_fp,
			   sizeof(code_fp));
		return;
	}
	links_make(&bench.links, NR_LINKS, SLOT_SIZE, code_sframe,
		   sizeof(code_sframe));
	table_register(&bench.links);
}

static void open_event(void)
{
	struct perf_event_attr attr;

	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_period = INSNS_PER_SEC / bench.hz;
	attr.read_format = PERF_FORMAT_LOST;
	if (strcmp(bench.method, "sframe")) {
		attr.defer_callchain = 0;
		attr.defer_output = 0;
	}
	if (!strcmp(bench.method, "none"))
		attr.sample_type &= ~PERF_SAMPLE_CALLCHAIN;
	if (dwarf_bytes()) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = REGS_USER;
		attr.sample_stack_user = dwarf_bytes();
		attr.exclude_callchain_user = 1;
	}
	bench.fd = event_open(&attr, 0, -1);
	if (bench.fd < 0 || ring_map(&bench.ring, bench.fd, RING_PAGES))
		fail("no event");
}

static uint64_t work(unsigned int samples)
{
	uint64_t needed = INSNS_PER_SEC / bench.hz * samples;
	uint64_t start = insns();

	loop_of_two(needed / 2);
	return insns() - start;
}

/* Is the chain among the addresses of a callchain? */
static bool has_chain(const uint64_t *ips, uint64_t nr)
{
	uint64_t i;

	for (i = 0; i + DEPTH <= nr; i++)
		if (links_are(&bench.links, DEPTH, &ips[i]))
			return true;
	return false;
}

/* The callchain of a record, after the other fields of SAMPLE_TYPE */
static bool is_whole(const struct perf_event_header *record)
{
	const uint64_t *words = (const void *)(record + 1);

	if (record->type == PERF_RECORD_CALLCHAIN_DEFERRED)
		return has_chain(&words[2], words[1]);
	return record->type == PERF_RECORD_SAMPLE &&
	       has_chain(&words[6], words[5]);
}

static void print_samples(uint64_t without, uint64_t with)
{
	bool callchains = strcmp(bench.method, "none") && !dwarf_bytes();
	unsigned long samples = 0, whole = 0;
	struct perf_event_header *record;
	uint64_t count[2];
	uint64_t bytes = bench.ring.meta->data_head - bench.ring.meta->data_tail;

	while ((record = ring_next(&bench.ring))) {
		samples += record->type == PERF_RECORD_SAMPLE;
		whole += callchains && is_whole(record);
		free(record);
	}
	if (read(bench.fd, count, sizeof(count)) != sizeof(count))
		fail("read");
	printf("%s %lu %lu %lu %lu %lu %lu %lu\n", bench.method, bench.hz, without,
	       with, samples, whole, bytes, count[1]);
}

static void measure(unsigned int samples)
{
	uint64_t without = work(samples), with;

	if (event_enable(bench.fd))
		fail("enable");
	/* Warm up: the kernel makes the table for the first stack */
	work(SAMPLES_FIRST);
	if (event_disable(bench.fd))
		fail("disable");
	__atomic_store_n(&bench.ring.meta->data_tail,
			 bench.ring.meta->data_head, __ATOMIC_RELEASE);
	if (event_enable(bench.fd))
		fail("enable");
	with = work(samples);
	if (event_disable(bench.fd))
		fail("disable");
	print_samples(without, with);
}

static void end_of_chain(const void *next)
{
	unsigned int least = INSNS_LEAST / (INSNS_PER_SEC / bench.hz);
	unsigned int samples = bench.hz < HZ_LOW ? SAMPLES_LOW : SAMPLES;
	unsigned int i, times = bench.hz < HZ_LOW ? TIMES_LOW : TIMES;

	(void)next;
	for (i = 0; i < times; i++)
		measure(samples > least ? samples : least);
}

static void bench_rate(void)
{
	char *stack = alloca(STACK);

	/* Keep the compiler from removing it */
	asm volatile("" : : "r"(memset(stack, 0, STACK)) : "memory");
	make_chain();
	open_event();
	links_call(&bench.links, DEPTH, end_of_chain);
	exit(0);
}

int main(int argc, char **argv)
{
	int i, status;

	if (argc < 3)
		return 1;
	if (!insns_are_counted()) {
		fprintf(stderr, "sampling: not under qemu -icount shift=0\n");
		return 1;
	}
	bench.method = argv[1];
	for (i = 2; i < argc; i++) {
		pid_t pid = fork();

		bench.hz = strtoul(argv[i], NULL, 0);
		if (!pid)
			bench_rate();
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}
