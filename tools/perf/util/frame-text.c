// SPDX-License-Identifier: GPL-2.0
/*
 * The text of frames, cached by address.
 *
 * The callchains of a profile repeat the same few thousand addresses. Most of the time
 * for a sample with a callchain is spent on finding the symbol of each address and
 * formatting its line. So lines are cached as they were first printed, in a table with
 * one slot for each hash of an address.
 *
 * A line belongs to an address in a map, and holds a reference to the map. Making the
 * line loads the symbols of the map's file. After that, neither the symbols nor the map's
 * contents change. The map at the time of a sample is looked up each time, unless the
 * previous frame's map has the address. An address without a map has a line without one.
 *
 * All later frames repeat the first one's text: the address is resolved and printed as a
 * callchain of its own, with the functions that are inlined there, a line for each.
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
#include "runtime-frames.h"
#include "symbol.h"
#include "thread.h"
#include "util.h"

#define LINES_BITS	14

/* Options for a line; others differ between samples, or depend on more than the address */
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

/* State of a callchain while it is printed */
struct frame_printer {
	struct evsel	*evsel;
	struct thread	*thread;
	/* PERF_CONTEXT_USER or PERF_CONTEXT_KERNEL */
	u64		context;
	/* The previous frame's map; NULL if there is none, or if its address has no map */
	struct map	*map;
	unsigned int	print_opts;
	FILE		*fp;
};

/* Kept for the rest of the process's life */
static struct frame_line *lines;

/* New lines are printed here; this stream is costly to create */
static struct {
	FILE	*fp;
	char	*text;
	size_t	size;
} scratch;

/* Resolve and print one address, without the cache */
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
	/* Loading symbols may have put other maps in its place */
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

/* Does a line depend on nothing but the address? */
static bool lines_serve(const struct perf_sample *sample, const struct evsel *evsel,
			unsigned int print_opts)
{
	const u64 more = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
			 PERF_SAMPLE_STACK_USER;

	if (print_opts & ~LINE_OPTS || evsel->core.attr.sample_type & more ||
	    sample->branch_stack || sample->deferred_callchain)
		return false;
	return perf_host && callchain_param.order == ORDER_CALLEE &&
	       !symbol_conf.hide_unresolved && !symbol_conf.bt_stop_list;
}

/* Other contexts are rare, or mean that the chain is invalid */
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
		max_stack -= !runtime_frames__is_ip(ip);
		print_frame(&printer, ip);
	}
	map__put(printer.map);
}
