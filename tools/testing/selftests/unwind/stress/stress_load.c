// SPDX-License-Identifier: GPL-2.0
/*
 * The load: a session leader with a process for each job. It replaces each process that
 * ends.
 *
 * The test program is outside the session, so no client requests its stacks. It is the
 * subreaper of all descendants of the load. When no child is left, all tasks of the
 * session are gone, including their last callbacks: a task gets its callbacks before it
 * becomes a zombie, and is reaped later.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"
#include "stress_load.h"
#include "../../kselftest.h"

#define MAX_JOBS	32

static struct shared {
	atomic_ulong	steps[MAX_JOBS];
	atomic_ulong	failures;
} *shared;

static int go_fd;

/* Jobs report here that they have made their first step */
static int ready[2];

static void tell_ready(void)
{
	if (write(ready[1], "", 1) != 1)
		_exit(1);
}

void load_failed(const char *what)
{
	if (atomic_fetch_add(&shared->failures, 1) < 8)
		ksft_print_msg("the load failed: %s: %s\n", what,
			       strerror(errno));
	fflush(stdout);
	/* Nobody must wait for this job */
	tell_ready();
	_exit(1);
}

static void work(unsigned int i)
{
	unsigned int seed = getpid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (true) {
		jobs[i].step(&seed);
		if (!atomic_fetch_add(&shared->steps[i], 1))
			tell_ready();
	}
}

static pid_t start_job(unsigned int i)
{
	pid_t pid = fork();

	if (!pid)
		work(i);
	return pid;
}

/* A job ends when its work kills it, or fails */
static void lead(void)
{
	pid_t pid[MAX_JOBS], gone;
	unsigned int i;

	for (i = 0; i < nr_jobs; i++)
		pid[i] = start_job(i);
	while (true) {
		gone = wait(NULL);
		if (gone < 0)
			load_failed("no job is left");
		for (i = 0; i < nr_jobs; i++)
			if (gone == pid[i])
				pid[i] = start_job(i);
	}
}

/* The leader's first read() is the one that waits for load_go() */
static bool wait_for_read(pid_t pid)
{
	int nr;

	do {
		nr = sleeps_in(pid);
		if (waitpid(pid, NULL, WNOHANG))
			return false;
	} while (nr != SYS_read);
	return true;
}

pid_t load_start(void)
{
	int go[2];
	pid_t pid;
	char c;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || nr_jobs > MAX_JOBS || pipe(go) ||
	    pipe(ready) || prctl(PR_SET_CHILD_SUBREAPER, 1))
		return -1;
	fflush(NULL);
	jobs_init();
	pid = fork();
	if (pid) {
		/*
		 * The leader's setup must not be sampled, because a test may rely on a
		 * load that has not started. Until then, no task gets priority over the
		 * leader.
		 */
		if (pid > 0 && !wait_for_read(pid))
			return -1;
		/* The controlling test must not have to wait for the load */
		setpriority(PRIO_PROCESS, 0, -20);
		close(go[0]);
		go_fd = go[1];
		return pid;
	}
	close(go[1]);
	/*
	 * The task that forks a test's second load already has the priority. With it, the
	 * load would block the kernel's threads, which have grace periods to end.
	 */
	if (setpriority(PRIO_PROCESS, 0, 0))
		_exit(1);
	/* If the test is killed */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setsid() < 0 || read(go[0], &c, 1) != 1)
		_exit(1);
	close(go[0]);
	lead();
	_exit(1);
}

void load_go(void)
{
	unsigned int i;
	char c;

	if (write(go_fd, "", 1) != 1)
		ksft_exit_fail_msg("cannot start the load\n");
	for (i = 0; i < nr_jobs; i++)
		if (read(ready[0], &c, 1) != 1)
			ksft_exit_fail_msg("the load did not start\n");
}

void load_stop(pid_t session)
{
	close(go_fd);
	close(ready[0]);
	close(ready[1]);
	/* One process group: this also kills a child that is being forked */
	kill(-session, SIGKILL);
	kill(session, SIGKILL);
	while (wait(NULL) >= 0 || errno == EINTR)
		;
}

bool load_was_good(void)
{
	unsigned int i;

	ksft_print_msg("steps:");
	for (i = 0; i < nr_jobs; i++)
		printf(" %s %lu", jobs[i].name, atomic_load(&shared->steps[i]));
	printf("\n");
	return !atomic_load(&shared->failures);
}
