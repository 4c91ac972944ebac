// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of user stacks for ftrace and BPF: readers
 *
 * Each system call getppid() at the end of a chain of calls is an event. The program prints
 * lines of
 *
 *	READER DEPTH INSTRUCTIONS
 *
 * one for each call: "none" is a call without an event, "event" has an event without a stack.
 * "ftrace" has its stack, too, "languages" also LANGUAGE_FRAMES frames of a language, and for
 * "bpf" one BPF program requests the stack, without a trace, and another one gets it.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_session.h"
#include "ftrace.h"
#include "insns.h"
#include "language.h"
#include "links.h"

#define NR_LINKS	1000
#define SLOT_SIZE	64

/* The first calls find tables, and files to announce */
#define WARM_UP		20
#define TIMES		50

static const uint8_t code_sframe[] = LINK_SFRAME;
/* The trace prints up to 127 frames, of both kinds */
static const unsigned int depths[] = { 16, 96 };

static struct {
	const char	*reader;
	unsigned int	depth;
	struct links	links;
	struct ftrace	ftrace;
	struct session	bpf;
} bench;

static void fail(const char *what)
{
	fprintf(stderr, "readers: %s: %s (%m)\n", bench.reader ?: "", what);
	exit(1);
}

static void end_of_chain(const void *next)
{
	uint64_t counts[TIMES], begin;
	int i;

	for (i = -WARM_UP; i < TIMES; i++) {
		begin = insns();
		syscall(SYS_getppid);
		if (i >= 0)
			counts[i] = insns() - begin;
	}
	for (i = 0; i < TIMES; i++)
		printf("%s %u %llu\n", bench.reader, bench.depth, (unsigned long long)counts[i]);
}

static void measure(const char *reader)
{
	unsigned int i;

	bench.reader = reader;
	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		bench.depth = depths[i];
		links_call(&bench.links, bench.depth, end_of_chain);
	}
	fflush(stdout);
}

/*
 * The right stacks
 */

static bool is_chain(const uint64_t *ips, unsigned int nr)
{
	/* The system call's own frames come first */
	while (nr >= bench.depth && !links_are(&bench.links, bench.depth, ips)) {
		ips++;
		nr--;
	}
	return nr >= bench.depth;
}

static bool is_function(uint64_t ip)
{
	return ip >= (uintptr_t)functions && ip < (uintptr_t)(functions + LANGUAGE_FRAMES);
}

/* @more: frames of a language, which have the addresses of functions */
static void check_ftrace(unsigned int more)
{
	struct ftrace_log log;
	uint64_t ips[256];
	size_t i, stacks = 0;
	unsigned int j, k;

	if (ftrace_read(&bench.ftrace, "trace", &log))
		fail("its trace");
	for (i = 0; i < log.nr; i++) {
		if (log.rec[i].type != FTRACE_STACK)
			continue;
		for (j = k = 0; j < log.rec[i].nr && j - k < ARRAY_SIZE(ips); j++) {
			ips[j - k] = log.rec[i].frame[j].ip;
			k += is_function(ips[j - k]);
		}
		stacks += k == more && is_chain(ips, j - k);
	}
	/* The trace keeps the youngest */
	if (stacks < TIMES)
		fail("not the chain's stacks");
	ftrace_free(&log);
}

static void check_bpf(void)
{
	struct bpf_event event;
	unsigned int stacks = 0;

	while (bpf_ring_next(&bench.bpf.ring, &event, false))
		if (event.kind == BPF_DELIVERED)
			stacks += is_chain(event.ips, event.ret / sizeof(*event.ips));
	if (stacks < TIMES)
		fail("not the chain's stacks");
}

/*
 * Readers
 */

static void by_ftrace(void)
{
	if (ftrace_open(&bench.ftrace, "readers") ||
	    ftrace_event(&bench.ftrace, FTRACE_ENTER, getpid()))
		fail("tracing");
	measure("event");
	if (ftrace_set(&bench.ftrace, FTRACE_OPTION, "1"))
		fail(FTRACE_OPTION);
	measure("ftrace");
	check_ftrace(0);
}

static void with_languages(void)
{
	language_make_frames();
	if (language_add_chain())
		fail("a chain");
	measure("languages");
	check_ftrace(LANGUAGE_FRAMES);
	if (ftrace_close(&bench.ftrace))
		fail("its trace");
}

static void by_bpf(void)
{
	const struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter", .tgid = getpid(),
		.syscall = SYS_getppid, .flags = DEFER,
	};

	bench.reader = "bpf";
	if (session_open(&bench.bpf) ||
	    bpf_asker_open(&bench.bpf.asker, &asker, &bench.bpf.ring))
		fail("BPF");
	measure("bpf");
	check_bpf();
	session_close(&bench.bpf);
}

int main(void)
{
	if (!insns_are_counted()) {
		fprintf(stderr, "readers: this machine does not count instructions\n");
		return 1;
	}
	links_make_files(&bench.links, 1, NR_LINKS, SLOT_SIZE, code_sframe, sizeof(code_sframe));
	measure("none");
	by_bpf();
	by_ftrace();
	with_languages();
	return 0;
}
