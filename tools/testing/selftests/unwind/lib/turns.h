/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two processes that take turns, and the result of the child's checks.
 */
#ifndef SELFTEST_UNWIND_TURNS_H
#define SELFTEST_UNWIND_TURNS_H

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process whose turn begins with turn_over(), or that waits in turn_await() */
enum turn {
	TURN_CHILD,
	TURN_PARENT,
};

struct turns {
	int	fd[2][2];
};

static inline int turns_init(struct turns *turns)
{
	return pipe(turns->fd[TURN_CHILD]) || pipe(turns->fd[TURN_PARENT]);
}

static inline bool turn_over(struct turns *turns, enum turn to)
{
	return write(turns->fd[to][1], "", 1) == 1;
}

static inline bool turn_await(struct turns *turns, enum turn who)
{
	char c;

	return read(turns->fd[who][0], &c, 1) == 1;
}

/* A child's wait status, or -1 */
static inline int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* End a child of a test: a failed expectation in it fails the test */
#define CHILD_EXIT()	_exit(!__test_passed(_metadata))

#endif /* SELFTEST_UNWIND_TURNS_H */
