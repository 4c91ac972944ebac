// SPDX-License-Identifier: GPL-2.0
/*
 * The text of frames, kept by address.
 *
 * The callchains of a profile are made of the same few thousand addresses again and
 * again. To find the symbol of each and to format its line takes most of what there
 * is to do for a sample with a callchain. So lines are kept, as they were printed
 * the first time, in a table with one place for each hash of an address.
 *
 * A line is one of an address in a map, of which a reference is kept with it. Once
 * the symbols of its file are loaded, which they are when the line is made, neither
 * these nor what the map maps where change. Which map it is at the time of a sample
 * is looked up each time, unless it is that of the frame before; of an address that
 * nothing maps, the line is that of no map.
 *
 * What is printed the first time is what all others print: the address is resolved and
 * printed as the callchain of a sample that has no other.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <internal/rc_check.h>

#include "callchain.h"
#include "event.h"
#include "evsel.h"
#include "evsel_fprintf.h"
#include "frame-text.h"
#include "machine.h"
#include "map.h"
#include "maps.h"
#include "sample.h"
#include "symbol.h"
#include "thread.h"
#include "util.h"

#define LINES_BITS	14

/* What a line may show; all else is not the same for each sample, or depends on more */
#define LINE_OPTS	(EVSEL__PRINT_IP | EVSEL__PRINT_SYM | EVSEL__PRINT_DSO | \
			 EVSEL__PRINT_DSOFF | EVSEL__PRINT_SYMOFFSET | \
			 EVSEL__PRINT_UNKNOWN_AS_ADDR)

struct frame_line {
	u64		ip;
	struct map	*map;
	char		*text;
	size_t		size;
	unsigned int	print_opts;
};

/* Of a callchain, while it is printed */
struct frame_printer {
	struct evsel	*evsel;
	struct thread	*thread;
	/* PERF_CONTEXT_USER or PERF_CONTEXT_KERNEL */
	u64		context;
	/* Of the frame before, or NULL, as is that of an address without */
	struct map	*map;
	unsigned int	print_opts;
	FILE		*fp;
};

/* For the rest of the process's life */
static struct frame_line *lines;

/* Where lines are printed the first time; making one is costly */
static struct {
	FILE	*fp;
	char	*text;
	size_t	size;
} scratch;

/* Resolve and print one address, as ever */
static bool print_one(struct frame_printer *printer, u64 ip, FILE *fp)
{
	struct {
		u64 nr;
		u64 ips[2];
	} chain = { .nr = 2, .ips = { printer->context, ip } };
	struct perf_sample sample = { .callchain = (struct ip_callchain *)&chain };
	struct callchain_cursor *cursor = get_tls_callchain_cursor();

	if (thread__resolve_callchain(printer->thread, cursor, printer->evsel,
				      &sample, NULL, NULL, 1))
		return false;
	sample__fprintf_callchain(&sample, 0, printer->print_opts, cursor, NULL, fp);
	return true;
}

static bool line_make(struct frame_line *line, struct frame_printer *printer, u64 ip)
{
	char *text;

	if (fseek(scratch.fp, 0, SEEK_SET) || !print_one(printer, ip, scratch.fp) ||
	    fflush(scratch.fp))
		return false;
	text = memdup(scratch.text, scratch.size);
	if (!text)
		return false;
	free(line->text);
	map__put(line->map);
	*line = (struct frame_line){
		.ip = ip,
		.map = printer->map,
		.text = text,
		.size = scratch.size,
		.print_opts = printer->print_opts,
	};
	/* Loading symbols may have put others in its place */
	printer->map = NULL;
	return true;
}

static bool line_is(const struct frame_line *line, const struct frame_printer *printer,
		    u64 ip)
{
	return line->text && line->ip == ip &&
	       line->print_opts == printer->print_opts &&
	       RC_CHK_EQUAL(line->map, printer->map);
}

static void find_map(struct frame_printer *printer, u64 ip)
{
	struct maps *maps = thread__maps(printer->thread);
	struct map *map = printer->map;

	if (map && ip >= map__start(map) && ip < map__end(map))
		return;
	if (printer->context == PERF_CONTEXT_KERNEL)
		maps = machine__kernel_maps(maps__machine(maps));
	map__put(map);
	printer->map = maps__find(maps, ip);
}

static void print_frame(struct frame_printer *printer, u64 ip)
{
	struct frame_line *line = &lines[hash_64(ip, LINES_BITS)];

	find_map(printer, ip);
	if (line_is(line, printer, ip) || line_make(line, printer, ip))
		fwrite_unlocked(line->text, 1, line->size, printer->fp);
	else
		print_one(printer, ip, printer->fp);
}

/* Is all that a line shows known from its address? */
static bool lines_serve(const struct perf_sample *sample, const struct evsel *evsel,
			unsigned int print_opts)
{
	const u64 more = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
			 PERF_SAMPLE_STACK_USER;

	if (print_opts & ~LINE_OPTS || evsel->core.attr.sample_type & more ||
	    sample->branch_stack || sample->deferred_callchain)
		return false;
	return perf_host && callchain_param.order == ORDER_CALLEE &&
	       !symbol_conf.inline_name && !symbol_conf.hide_unresolved &&
	       !symbol_conf.bt_stop_list;
}

/* Contexts other than these are rare, or mean that the chain is not to be believed */
static bool chain_serves(const struct perf_sample *sample)
{
	const struct ip_callchain *chain = sample->callchain;
	u64 i, nr = sample__callchain_nr(sample);

	for (i = 0; i < nr; i++) {
		if (chain->ips[i] >= PERF_CONTEXT_MAX &&
		    chain->ips[i] != PERF_CONTEXT_USER &&
		    chain->ips[i] != PERF_CONTEXT_KERNEL)
			return false;
	}
	return true;
}

bool frame_text__serves(const struct perf_sample *sample, const struct evsel *evsel,
			unsigned int print_opts)
{
	if (!lines_serve(sample, evsel, print_opts) || !chain_serves(sample))
		return false;
	if (!lines)
		lines = calloc(1 << LINES_BITS, sizeof(*lines));
	if (!scratch.fp)
		scratch.fp = open_memstream(&scratch.text, &scratch.size);
	return lines && scratch.fp;
}

void frame_text__fprintf_callchain(struct perf_sample *sample, struct evsel *evsel,
				   struct thread *thread, int max_stack,
				   unsigned int print_opts, FILE *fp)
{
	struct frame_printer printer = {
		.evsel = evsel,
		.thread = thread,
		.context = PERF_CONTEXT_USER,
		.print_opts = print_opts,
		.fp = fp,
	};
	u64 i, nr = sample__callchain_nr(sample);

	for (i = 0; i < nr && max_stack > 0; i++) {
		u64 ip = sample->callchain->ips[i];

		if (ip >= PERF_CONTEXT_MAX) {
			printer.context = ip;
			map__zput(printer.map);
			continue;
		}
		max_stack--;
		print_frame(&printer, ip);
	}
	map__put(printer.map);
}
