// SPDX-License-Identifier: GPL-2.0
/*
 * A profiler with whole stacks, for programs that keep no frame pointers. It shows how BPF
 * programs use deferred user stacks (Documentation/bpf/unwind.rst), for others to copy.
 *
 *	profile.bpf.c   samples, each with a cookie in place of the user stack; each stack,
 *	   |            once, when the thread leaves the kernel
 *	records.c ----- files.c: by build-id, in which file an address is
 *	   |
 *	join.c          samples with their stacks, by cookie
 *	   |
 *	counts.c        each stack once, with the number of its samples
 *	   |
 *	folded.c, pprof.c, script.c ----- names.c, image.c, symbols.c
 *	                                     |
 *	                                  elf_file.c: files, each in a sandbox
 *
 * Samples are joined and counted here, not in the kernel's maps. A thread can be sampled
 * often, at different places in the kernel, before its stack is known. A BPF program would
 * have to find all these samples again. It would also need a key of both stacks, about two
 * kilobytes, and this program would have to empty that table. Instead, the kernel has a
 * table of digests: a stack that was sent is a record of 40 bytes from then on. All memory
 * is bounded: see counts.h and join.h.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "files.h"
#include "names.h"
#include "options.h"
#include "session.h"

#define SECOND		1000000000ULL
/* Between two looks at the records */
#define TURN_MS		100
/* For stacks of threads that are on their way out when the profile ends */
#define LAST_TURNS	3

static struct options options;
static struct recording recording;
static FILE *out;

static struct pollfd processes[PIDS_MAX];

static unsigned long long clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

static void on_sample(const struct sample *sample, unsigned int user)
{
	totals.samples++;
	if (user == STACK_DROPPED || sample->kernel == STACK_DROPPED)
		totals.dropped_stacks++;
	options.format->add(out, &recording, sample, user);
}

static int add_processes(void)
{
	unsigned int i;

	for (i = 0; i < options.nr_pids; i++) {
		/* Closed by the end of the program */
		processes[i].fd = syscall(SYS_pidfd_open, options.pid[i], 0);
		processes[i].events = POLLIN;
		if (processes[i].fd < 0) {
			warn("process %u", options.pid[i]);
			return -1;
		}
		if (add_target(options.pid[i]))
			return -1;
	}
	return 0;
}

static bool processes_ended(void)
{
	unsigned int i, left = options.nr_pids;

	poll(processes, options.nr_pids, 0);
	for (i = 0; i < options.nr_pids; i++) {
		if (processes[i].revents)
			processes[i].fd = -1;
		left -= processes[i].fd < 0;
	}
	return options.nr_pids && !left;
}

/* With a command, a signal ends the command, and that ends the profile */
static bool is_over(struct command *command)
{
	if (options.duration && clock_ns(CLOCK_MONOTONIC) - recording.begin >= options.duration)
		return true;
	if (options.command)
		return has_ended(command, false);
	return processes_ended() || was_stopped();
}

static void show_progress(void)
{
	unsigned long long time = clock_ns(CLOCK_MONOTONIC) - recording.begin;
	static unsigned long long shown;

	if (!isatty(STDERR_FILENO) || time / SECOND == shown)
		return;
	shown = time / SECOND;
	fprintf(stderr, "\r%llu s  %llu samples  %u stacks  %llu lost\033[K", shown,
		totals.samples, nr_stacks(), lost_samples() + lost_stacks());
}

static void record(struct command *command)
{
	int turns;

	while (!is_over(command)) {
		read_records(TURN_MS);
		show_progress();
	}
	end_sampling();
	recording.duration = clock_ns(CLOCK_MONOTONIC) - recording.begin;
	while (read_records(0))
		;
	for (turns = 0; join_totals.pending && turns < LAST_TURNS; turns++)
		read_records(TURN_MS);
	end_join();
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* Whatever is not in the output, or is there without its stack */
static void report_losses(void)
{
	/* The buffer was full; or, in an NMI, another CPU had its lock */
	if (lost_samples() || lost_stacks())
		warnx("lost in the kernel: %llu samples, %llu stacks (--buffer)",
		      lost_samples(), lost_stacks());
	if (join_totals.missing)
		warnx("no user stack came for %llu of %llu samples", join_totals.missing,
		      totals.samples);
	if (totals.dropped_samples || totals.dropped_stacks)
		warnx("beyond the bound: %llu samples, stacks of %llu samples (--max-stacks)",
		      totals.dropped_samples, totals.dropped_stacks);
	if (totals.dropped_locations || dropped_files())
		warnx("beyond the bound: %llu frames or names (--max-stacks), %llu of files",
		      totals.dropped_locations, dropped_files());
	if (unread_files)
		warnx("files that could not be read for symbols: %u", unread_files);
}

static int write_output(void)
{
	recording.begin = clock_ns(CLOCK_REALTIME) -
			  (clock_ns(CLOCK_MONOTONIC) - recording.begin);
	if (!options.format->end(out, &recording) && !ferror(out) && !fflush(out))
		return 0;
	warn("%s", options.out ?: "standard output");
	return -1;
}

static void open_output(void)
{
	int fd;

	out = stdout;
	if (options.out) {
		/* A profile of the system is not for everybody */
		fd = open(options.out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		out = fd < 0 ? NULL : fdopen(fd, "w");
	}
	if (!out)
		err(1, "%s", options.out);
	if (options.format->binary && isatty(fileno(out)))
		errx(2, "%s is not for a terminal: -o FILE", options.format->name);
}

static void prepare(struct command *command)
{
	set_bound(options.max_stacks);
	init_join(on_sample);
	init_files();
	if (options.command && fork_command(command, options.command))
		err(1, "cannot fork");
	/* A process that ignores it gets no status of a child; the command still ignores it */
	signal(SIGCHLD, SIG_DFL);
	/* A command that has not begun ends with this program */
	if (open_session(&options) || add_processes())
		exit(1);
	if (options.command && !options.all && !options.nr_pids && add_target(command->pid))
		exit(1);
	/* The BPF programs are functions of the kernel */
	init_names();
	open_output();
	catch_signals(command);
	recording.off_cpu = options.off_cpu;
	recording.hertz = options.hertz;
	recording.begin = clock_ns(CLOCK_MONOTONIC);
	if (begin_sampling(&options) || (options.command && start_command(command)))
		exit(1);
}

int main(int argc, char **argv)
{
	struct command command = {};
	int error;

	read_options(&options, argc, argv);
	prepare(&command);
	record(&command);
	error = write_output();
	report_losses();
	if (error)
		return 1;
	if (!options.command)
		return 0;
	has_ended(&command, true);
	return exit_status(&command);
}
