// SPDX-License-Identifier: GPL-2.0
#include <linux/compiler.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "../tests.h"

/*
 * Enters the kernel again and again from the end of a chain of calls: samples are
 * taken there as well as in the program, and its user stack comes when it goes
 * back. One thread does not sleep, the other one does most of the time, so that
 * events of the first one come between its samples and their stacks.
 */

/* We want to check these symbols in perf script */
noinline void entry_inner(long sleep_ns);
noinline void entry_middle(long sleep_ns);
noinline void entry_outer(long sleep_ns);

static unsigned int work;
static sig_atomic_t done;

static void sighandler(int sig __maybe_unused)
{
	WRITE_ONCE(done, 1);
}

noinline void entry_inner(long sleep_ns)
{
	const struct timespec ts = { .tv_nsec = sleep_ns };
	unsigned int worked;
	int i;

	while (!READ_ONCE(done)) {
		for (i = 0; i < 1000; i++) {
			worked = READ_ONCE(work) + i;
			WRITE_ONCE(work, worked);
		}
		if (sleep_ns)
			nanosleep(&ts, NULL);
		else
			getppid();
	}
}

noinline void entry_middle(long sleep_ns)
{
	entry_inner(sleep_ns);
}

noinline void entry_outer(long sleep_ns)
{
	entry_middle(sleep_ns);
}

static void *sleeper(void *arg __maybe_unused)
{
	entry_outer(1000000);
	return NULL;
}

static int entryloop(int argc, const char **argv)
{
	pthread_t thread;
	int sec = 1;

	if (argc > 0)
		sec = atoi(argv[0]);

	signal(SIGINT, sighandler);
	signal(SIGALRM, sighandler);
	alarm(sec);

	if (pthread_create(&thread, NULL, sleeper, NULL))
		return 1;
	entry_outer(0);
	pthread_join(thread, NULL);
	return 0;
}

DEFINE_WORKLOAD(entryloop);
