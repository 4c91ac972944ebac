/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The places at which the feature allocates memory, or copies from and to a program, and
 * the operation that gets there; see faults_test.c.
 */
#ifndef SELFTEST_UNWIND_FAULTS_SITES_H
#define SELFTEST_UNWIND_FAULTS_SITES_H

#include <stdbool.h>

#include "faults.h"

/* The operation succeeds, with less: a stack that stops where a table is missing */
#define LESS	1
/* It does something that it never should */
#define WRONG	2

/*
 * Each attempt has a process of its own.
 *
 * @name: of the operation
 * @function: below which faults are
 * @what: kind of fault
 * @least: number of faults that there are at least
 * @result: of the operation if there is a fault: an error, or LESS
 * @other: another error that it may have; or 0
 * @stays: what it allocates is never freed
 * @begin, @end: once for all attempts; true if it worked.  Or NULL
 * @prepare: makes what the operation needs; true if it is there
 * @opens: it opens a file, for which others allocate; some file systems (9p) do not work any
 *	more after many failures
 * @operate: 0, or -errno; with @arms it arms the fault itself, by attempt_arm()
 * @judge: the result, from what there is after the operation; NULL if @operate returns it.
 *	An operation that failed has left nothing
 * @finish: undoes the operation, which must have succeeded in the end; true if that works
 */
struct site {
	const char	*name;
	const char	*function;
	enum faults	what;
	unsigned int	least;
	int		result;
	int		other;
	bool		arms;
	bool		opens;
	bool		stays;
	bool		(*begin)(void);
	bool		(*end)(void);
	bool		(*prepare)(void);
	int		(*operate)(void);
	int		(*judge)(int ret);
	bool		(*finish)(void);
};

#define MEMORY(n, f, min, r, ...)					\
	{ .name = n, .function = f, .what = FAULTS_MEMORY, .least = min, .result = r, __VA_ARGS__ }
#define COPIES(n, f, min, r, ...)					\
	{ .name = n, .function = f, .what = FAULTS_COPIES, .least = min, .result = r, __VA_ARGS__ }

/*
 * Lists end with a name of NULL.  These allocate nothing of the feature's: perf_event_open(),
 * exec, exit, a request for a stack in any context.  Memory that is allocated once, at boot,
 * cannot be missing here.
 */
extern const struct site sites_registering[];
extern const struct site sites_stacks[];
extern const struct site sites_clients[];

/* The fault of this attempt: before the operation, and after it */
void attempt_arm(void);
void attempt_disarm(void);

/* Go on in a child, which has what this process has; the parent ends like the child */
void go_on_in_child(void);

/*
 * Parts of operations.  Each attempt has its own process, so they share variables.
 */

#define KEY		1
#define KEY_OTHER	2
#define PATIENCE_MS	20000

/* Code with a table */
extern struct code code, other_code;
bool prepare_code(void);
/* It is registered, in a set of ranges that a parent shares with this process */
bool prepare_shared(void);
bool finish_both(void);

/* Two frames of a language, of functions with these names */
#define NAME_INNER	"inner"
#define NAME_OUTER	"outer"
int add_chain(void);
bool finish_chain(void);

/* Go on with one CPU: the buffer in which stacks are taken is a CPU's */
bool stay(void);

/* Sample one system call; @runtime: with frames of languages */
bool open_sampler(bool runtime);
int call_sampled(void);
/* WRONG unless there is one stack, which is not empty; LESS without frames of a language */
int judge_records(void);

/* Map a file of code, and sample; does a stack pass the code?  LESS if not */
struct code_file;
extern int file;
bool prepare_file(const struct code_file *of, int fd);
int file_stack(void);

/* The same for a file whose table a worker loads; and for some seconds, until it does */
bool prepare_large(void);
bool await_large(void);

#endif /* SELFTEST_UNWIND_FAULTS_SITES_H */
