/* SPDX-License-Identifier: GPL-2.0 */
/* A session of tasks that enter and leave the kernel in all ways. */
#ifndef SELFTEST_UNWIND_STRESS_LOAD_H
#define SELFTEST_UNWIND_STRESS_LOAD_H

#include <stdbool.h>
#include <sys/types.h>

/* Start it; return the number of the session. The load waits for load_go(). */
pid_t load_start(void);

/* Start the jobs; returns when each has made its first step */
void load_go(void);

/* Kill all of it; returns when none of its tasks is left */
void load_stop(pid_t session);

/* Did all jobs work? Print the number of steps of each */
bool load_was_good(void);

/* The jobs of stress_jobs.c; each makes one step of its own kind */
struct job {
	const char	*name;
	void		(*step)(unsigned int *seed);
};

extern const struct job jobs[];
extern const unsigned int nr_jobs;
/* Before the first one */
void jobs_init(void);

/* Report a failure, and end this process */
_Noreturn void load_failed(const char *what);

/* stress_uring.c */
void step_uring_poll(unsigned int *seed);
void step_uring_worker(unsigned int *seed);

#endif /* SELFTEST_UNWIND_STRESS_LOAD_H */
