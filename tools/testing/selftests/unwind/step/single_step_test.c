// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's stack at every instruction of whole programs.
 *
 * The programs do everything that is known to be hard. The test steps through them, from
 * the first instruction to the last, including the C library and the dynamic linker. At
 * each step it compares the kernel's stack with the true one (step_shadow.h), and judges
 * it (step_judge.h).
 *
 *	single_step_test [-s SECONDS] [PROGRAM...]
 *
 * (UNWIND_STEP_SECONDS in the environment has the effect of -s.)
 *
 * In addition to the test's result there is a line for each program, "# truth:
 * program=... steps=... ...", for other programs to read. Two programs test the test
 * itself; their line begins with "# check:" instead.
 */
#include <fnmatch.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "step_judge.h"
#include "step_task.h"
#include "../../kselftest.h"

/* For all programs, unless time runs out earlier */
#if defined(__x86_64__)
#define DISTINCT_MIN	200000
#elif defined(__aarch64__)
#define DISTINCT_MIN	150000
#endif
/*
 * For all programs; a kernel with checkers, or a busy machine, may need it all. Each
 * program has up to twice its share of the time that is left, so the programs that take
 * long come last.
 */
#define SECONDS_MAX	300

/*
 * @thousands: approximate number of steps, in thousands
 * @linker: from the dynamic linker's first instruction, not the program's own
 * @signals: send some at each instruction of the program's own code
 * @lies: its table is wrong on purpose, and the test must find that
 * @tampered: the kernel's stacks are changed before they are judged
 */
struct program {
	const char	*name;
	unsigned int	thousands;
	bool		linker;
	bool		signals;
	bool		lies;
	bool		tampered;
};

static const struct program programs[] = {
#define CALLS(how)	{ .name = "step_calls_" how, .thousands = 10 },
#include "step_programs.h"
#undef CALLS
	{ .name = "step_calls_pie", .thousands = 22, .linker = true },
	{ .name = "step_dl", .thousands = 50 },
	{ .name = "step_threads", .thousands = 45 },
	{ .name = "step_contexts", .thousands = 8 },
	{ .name = "step_signals", .thousands = 12, .signals = true },
	{ .name = "step_throw", .thousands = 130 },
	{ .name = "step_libc", .thousands = 210 },
	{ .name = "step_lies", .thousands = 1, .lies = true },
	{ .name = "step_calls_Os", .thousands = 10, .tampered = true },
};

#define NR_PROGRAMS	(sizeof(programs) / sizeof(*programs))

/*
 * Signals
 */

#define SENT_MAX	4096

/* Has the program set its handlers? */
static bool is_ready(pid_t pid)
{
	const unsigned long wanted = 1UL << (SIGUSR1 - 1) | 1UL << (SIGUSR2 - 1);
	unsigned long caught = 0;
	char path[64], line[128];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "r");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "SigCgt: %lx", &caught) == 1)
			break;
	if (status)
		fclose(status);
	return (caught & wanted) == wanted;
}

/* The instructions where signals were sent, and the number of active handlers */
struct run {
	const struct program	*program;
	struct judge		judge;
	bool			ready;
	unsigned int		nr_sent;
	uint64_t		sent[SENT_MAX];
};

static unsigned int handlers(const struct step_task *task)
{
	const struct shadow_frame *frame;
	struct shadow_iter iter;
	unsigned int nr = 0;

	shadow_walk(&iter, &task->shadow);
	while ((frame = shadow_next(&iter)))
		nr += frame->exact;
	return nr;
}

/* Once at each instruction outside of handlers, and once in the first handler */
static int choose_signal(struct stepper *stepper, struct step_task *task)
{
	const struct module *module;
	struct run *run = stepper->context;
	unsigned int i, level;
	uint64_t key;

	if (!run->program->signals || run->nr_sent == SENT_MAX)
		return 0;
	module = code_module(&stepper->code, task->regs.ip);
	if (!module || !strstr(module->path, run->program->name))
		return 0;
	level = handlers(task);
	run->ready = run->ready || is_ready(task->tid);
	if (level > 1 || !run->ready)
		return 0;
	key = task->regs.ip << 1 | level;
	for (i = 0; i < run->nr_sent; i++)
		if (run->sent[i] == key)
			return 0;
	run->sent[run->nr_sent++] = key;
	/* On this stack and on the other, in turn */
	return run->nr_sent & 1 ? SIGUSR1 : SIGUSR2;
}

/*
 * Programs
 */

/* Apply one of three changes; each makes the stack untrue */
static void tamper(struct step_stack *stack, unsigned long how)
{
	switch (how % 3) {
	case 0:
		stack->nr--;
		break;
	case 1:
		stack->ip[stack->nr++] = stack->ip[0];
		break;
	default:
		stack->ip[how % stack->nr]++;
	}
}

static void judge_step(struct stepper *stepper, struct step_task *task,
		       const struct step_stack *stack)
{
	struct run *run = stepper->context;
	struct step_stack changed = *stack;

	if (run->program->tampered)
		tamper(&changed, stepper->steps);
	judge_stack(&run->judge, &stepper->code, task, &changed);
}

static const struct step_ops ops = {
	.judge = judge_step,
	.signal = choose_signal,
};

/* Instructions of one function that have the same row, in one line */
static void print_causes(const struct verdicts *verdicts)
{
	const struct cause *cause = verdicts->cause, *end = cause + verdicts->nr_causes;

	while (cause < end) {
		const struct cause *first = cause;
		size_t function = strrchr(cause->name, '+') - cause->name;
		unsigned long steps = 0;

		printf("# exception: %.*s", (int)function, cause->name);
		for (; cause < end && !strcmp(cause->row, first->row) &&
		     !strncmp(cause->name, first->name, function + 1); cause++) {
			printf(" %s", cause->name + function);
			steps += cause->steps;
		}
		printf(", %lu steps, table says %s: %s\n", steps, first->row,
		       first->exception ? first->exception->reason : "NOT LISTED");
	}
}

static void print_verdicts(const struct run *run, const struct stepper *stepper,
			   double seconds)
{
	const struct program *program = run->program;
	const struct verdicts *v = &run->judge.verdicts;
	const struct {
		const char	*name;
		unsigned long	value;
	} fields[] = {
		{ "steps", v->steps },
		{ "distinct", v->distinct },
		{ "tabled", v->tabled },
		{ "right", v->right },
		{ "exceptions", v->excepted },
		{ "unlisted", v->unlisted },
		{ "wrong", v->wrong },
		{ "short", v->ended },
		{ "untabled", v->steps - v->tabled },
		{ "untabled_right", v->other.right },
		{ "untabled_short", v->other.ended },
		{ "untabled_skips", v->other.skips },
		{ "untabled_first_skips", v->other.first_skips },
		{ "untabled_exceptions", v->other.excepted },
		{ "untabled_wrong", v->other.wrong },
		{ "signals", run->nr_sent },
		{ "missing", stepper->missing },
		{ "cut", stepper->cut },
	};
	unsigned int i;

	printf("# %s: program=%s",
	       program->lies || program->tampered ? "check" : "truth",
	       program->name + strlen("step_"));
	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		printf(" %s=%lu", fields[i].name, fields[i].value);
	printf(" seconds=%.1f\n", seconds);
}

/* Is it one object, and has that a table? */
static bool has_one_table(const struct program *program, const struct verdicts *v)
{
	static const char name[] = "step_calls_";

	return v->tabled && !strncmp(program->name, name, strlen(name));
}

static bool is_good(const struct program *program, const struct stepper *stepper,
		    const struct verdicts *v)
{
	if (program->tampered)
		return v->wrong && v->ended &&
		       v->wrong + v->ended + v->unlisted == v->steps;
	if (v->wrong || v->ended || stepper->missing || v->other.wrong)
		return false;
	if (program->lies)
		return v->unlisted;
	if (has_one_table(program, v) && v->other.first_skips)
		return false;
	/* The tampering was detected, and the program came to its end */
	return v->right + v->other.right && !v->unlisted &&
	       (stepper->cut || !stepper->status);
}

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - start->tv_sec + (now.tv_nsec - start->tv_nsec) / 1e9;
}

static void run_program(const struct program *program, unsigned int seconds,
			unsigned long *distinct, bool *cut)
{
	struct timespec start;
	struct stepper *stepper = calloc(1, sizeof(*stepper));
	struct run *run = calloc(1, sizeof(*run));
	char path[PATH_MAX];

	if (!stepper || !run || judge_init(&run->judge))
		ksft_exit_fail_msg("no memory\n");
	snprintf(path, sizeof(path), "./%s", program->name);
	run->program = program;
	if (access(path, X_OK)) {
		ksft_test_result_skip("%s was not built\n", program->name);
		goto out;
	}
	if (stepper_open(stepper, &ops, run))
		ksft_exit_fail_msg("no event for steps\n");
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (stepper_run(stepper, path, !program->linker, seconds))
		ksft_test_result_fail("%s could not be run\n", program->name);
	else
		ksft_test_result(is_good(program, stepper, &run->judge.verdicts),
				 "%s\n", program->name);
	if (stepper->status)
		printf("# %s ended with status %#x\n", program->name, stepper->status);
	print_causes(&run->judge.verdicts);
	print_verdicts(run, stepper, seconds_since(&start));
	if (!program->tampered && !program->lies)
		*distinct += run->judge.verdicts.distinct;
	*cut |= stepper->cut;
	stepper_close(stepper);
out:
	judge_free(&run->judge);
	free(run);
	free(stepper);
}

static bool is_wanted(const struct program *program, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!fnmatch(argv[i], program->name, 0))
			return true;
	return !argc;
}

/* The program and the process that steps it share a CPU: each waits for the other */
static void bind_to_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		ksft_exit_fail_msg("cannot be bound to a CPU\n");
}

/* Return the number of distinct steps; @cut: did time run out for any program? */
static unsigned long run_all(int argc, char **argv, unsigned int thousands,
			     unsigned int seconds, bool *cut)
{
	unsigned long distinct = 0;
	struct timespec start;
	unsigned int i;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (i = 0; i < NR_PROGRAMS; i++) {
		double left = seconds - seconds_since(&start);
		double share = 2 * left * programs[i].thousands / thousands;

		if (!is_wanted(&programs[i], argc, argv))
			continue;
		if (share > left)
			share = left;
		/* Short ones come to their end, even if that takes some seconds more in all */
		run_program(&programs[i], share > 4 ? share : 4, &distinct, cut);
		thousands -= programs[i].thousands;
	}
	return distinct;
}

int main(int argc, char **argv)
{
	unsigned int i, nr = 0, thousands = 0, seconds = SECONDS_MAX;
	const char *limit = getenv("UNWIND_STEP_SECONDS");
	unsigned long distinct;
	bool cut = false;

	setlinebuf(stdout);
	if (limit)
		seconds = atoi(limit);
	if (chdir(dirname(strdup(argv[0]))))
		return 1;
	if (argc > 2 && !strcmp(argv[1], "-s")) {
		seconds = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	argc--;
	argv++;
	for (i = 0; i < NR_PROGRAMS; i++) {
		if (!is_wanted(&programs[i], argc, argv))
			continue;
		thousands += programs[i].thousands;
		nr++;
	}
	ksft_print_header();
	ksft_set_plan(nr + !argc);
	bind_to_cpu();
	distinct = run_all(argc, argv, thousands, seconds, &cut);
	if (!argc) {
		printf("# %lu distinct steps\n", distinct);
		if (cut && distinct < DISTINCT_MIN)
			ksft_test_result_skip("time was up before all was stepped through\n");
		else
			ksft_test_result(distinct >= DISTINCT_MIN,
					 "%u distinct steps\n", DISTINCT_MIN);
	}
	ksft_finished();
}
