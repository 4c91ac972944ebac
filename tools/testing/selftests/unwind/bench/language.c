// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of the frames of a language in a deferred stack: language
 *
 * Each system call of the program is a sample. There are frames of a language (language.h), which
 * the kernel finds by a chain, or the thread itself in its handler. The program prints lines
 * of
 *
 *	HOW INSTRUCTIONS
 *
 * one for each call: "none" has no sample, nor has "enabled", in a thread that has opted in;
 * "native" has a sample and no frames of a language. Beside them, "signal" is a signal that
 * the thread sends to itself, with a handler that does nothing: what any profiler pays that
 * lets the kernel send one for each sample.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "insns.h"
#include "language.h"
#include "perf.h"

#define TIMES		200
#define WARM_UP		20
#define PAGES		512
#define STACK_SIZE	65536

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void measure(const char *how, long call, long a, long b, long c)
{
	static uint64_t counts[TIMES];
	uint64_t begin;
	int i;

	for (i = -WARM_UP; i < TIMES; i++) {
		begin = insns();
		syscall(call, a, b, c);
		if (i >= 0)
			counts[i] = insns() - begin;
	}
	for (i = 0; i < TIMES; i++)
		printf("%s %llu\n", how, (unsigned long long)counts[i]);
	fflush(stdout);
}

static void on_signal(int signal)
{
	(void)signal;
}

static void on_request(int signal, siginfo_t *info, void *context)
{
	struct unwind_self_frame to[LANGUAGE_FRAMES];
	struct unwind_self_answer answer = {
		.nonce = (uintptr_t)info->si_value.sival_ptr,
		.frames = (uintptr_t)to,
		.format = UNWIND_SELF_NAMES,
	};
	struct frame *frame;

	(void)signal;
	(void)context;
	for (frame = innermost; frame; frame = frame->caller)
		to[answer.nr++] = (struct unwind_self_frame){
			.function = (uintptr_t)frame->function,
			.name = (uintptr_t)"function",
			.name_size = 8,
		};
	if (prctl(PR_UNWIND_SELF, PR_UNWIND_SELF_ANSWER, &answer, sizeof(answer), 0UL))
		fail("language: answer");
}

static void opt_in(void)
{
	struct sigaction action = {
		.sa_sigaction = on_request,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	stack_t stack = { .ss_sp = malloc(STACK_SIZE), .ss_size = STACK_SIZE };
	struct unwind_self_attr attr = {
		.signal = SIGRTMAX,
		.stack_start = (uintptr_t)stack.ss_sp,
		.stack_size = STACK_SIZE,
		.timeout = 100,
	};

	if (sigaltstack(&stack, NULL) || sigaction(SIGRTMAX, &action, NULL) ||
	    prctl(PR_UNWIND_SELF, PR_UNWIND_SELF_ENABLE, &attr, sizeof(attr), 0UL))
		fail("language: opting in");
}

static void measure_call(const char *how)
{
	measure(how, SYS_getppid, 0, 0, 0);
}

int main(void)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	const struct unwind_chain_attr chain = { .key = LANGUAGE_KEY };
	struct perf_event_attr event;
	struct ring ring;
	int fd;

	if (!insns_are_counted()) {
		fprintf(stderr, "language: this machine does not count instructions\n");
		return 1;
	}
	language_make_frames();
	measure_call("none");
	opt_in();
	measure_call("enabled");
	sigaction(SIGPROF, &action, NULL);
	measure("signal", SYS_tgkill, getpid(), gettid(), SIGPROF);
	prctl(PR_UNWIND_SELF, PR_UNWIND_SELF_DISABLE, NULL, 0UL, 0UL);

	if (tracepoint_attr(&event, "raw_syscalls/sys_enter"))
		fail("language: tracepoints");
	event.defer_runtime = 1;
	fd = event_open(&event, 0, -1);
	if (fd < 0 || event_filter_syscall(fd, SYS_getppid) || ring_map(&ring, fd, PAGES) ||
	    event_enable(fd))
		fail("language: an event");
	measure_call("native");
	if (language_add_chain())
		fail("language: a chain");
	measure_call("chain");
	prctl(PR_UNWIND_CHAIN, PR_UNWIND_CHAIN_DEL, &chain, sizeof(chain), 0UL);
	opt_in();
	measure_call("self");
	return 0;
}
