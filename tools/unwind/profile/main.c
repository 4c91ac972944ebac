// SPDX-License-Identifier: GPL-2.0
/*
 * A profiler with whole stacks, for programs that keep no frame pointers.
 *
 *	profile [--off-cpu] [-F hertz] command [argument]...
 *
 * It runs a command and prints its stacks, folded into lines for flame graphs: the user's
 * part and then the kernel's, outermost function first, with the number of samples; or,
 * with --off-cpu, the microseconds that it slept there.  Functions of an interpreted language
 * follow the interpreter's function that executes them.
 *
 * It shows how BPF programs use deferred user stacks. A sample is taken where programs
 * may not sleep, with a cookie in place of the user stack. The stack comes once, with the
 * same cookie, when the thread leaves the kernel. This program joins the two. See
 * Documentation/bpf/unwind.rst.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile.h"
#include "profile.skel.h"
#include "symbols.h"

/* The place of a function that no known native frame executes */
#define APART	0xffff

/* The text of a record, and its cookie */
struct part {
	unsigned long long	cookie;
	unsigned long long	weight;
	char			*text;
};

struct parts {
	struct part		*part;
	size_t			nr;
};

static struct parts samples, stacks;

static void add_part(struct parts *parts, unsigned long long cookie,
		     unsigned long long weight, char *text)
{
	struct part *more = parts->part;

	if (!(parts->nr & (parts->nr - 1)))
		more = realloc(more, (2 * parts->nr + 1) * sizeof(*more));
	if (!more || !text)
		exit(1);
	parts->part = more;
	more[parts->nr++] = (struct part){ cookie, weight, text };
}

/* The kernel's part, with the thread's name: NAME, and the text after the user's part */
static char *fold_sample(const struct profile_sample *sample)
{
	long long i = sample->size / (long long)sizeof(*sample->ips);
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "%.*s", COMM_LEN, sample->comm);
	fputc('\n', out);
	while (--i >= 0) {
		fputc(';', out);
		print_kernel(out, sample->ips[i], i);
	}
	fclose(out);
	return text;
}

/*
 * The functions of a language
 */

static struct profile_name *names;
static size_t nr_names;

/* Frames of stacks that are yet to come: one of each thread at most */
static struct profile_frames *pending;
static size_t nr_pending;

static void add_frames(const struct profile_frames *frames)
{
	if (!(nr_pending & (nr_pending - 1)))
		pending = realloc(pending, (2 * nr_pending + 1) * sizeof(*pending));
	if (!pending)
		exit(1);
	pending[nr_pending++] = *frames;
}

static bool take_frames(unsigned long long cookie, struct profile_frames *frames)
{
	size_t i;

	for (i = 0; i < nr_pending; i++) {
		if (pending[i].cookie == cookie) {
			*frames = pending[i];
			pending[i] = pending[--nr_pending];
			return true;
		}
	}
	return false;
}

static void add_name(const struct profile_name *name)
{
	if (!(nr_names & (nr_names - 1)))
		names = realloc(names, (2 * nr_names + 1) * sizeof(*names));
	if (!names)
		exit(1);
	names[nr_names++] = *name;
}

/* The name that was sent last counts */
static const struct profile_name *find_name(const struct profile_frame *frame)
{
	size_t i;

	for (i = nr_names; i--;) {
		if (names[i].frame.function == frame->function &&
		    names[i].frame.check == frame->check)
			return &names[i];
	}
	return NULL;
}

/* The functions that a native frame executes, outermost first */
static void print_functions(FILE *out, const struct profile_frames *frames, unsigned int place)
{
	const struct profile_name *name;
	unsigned int i = frames->nr;

	while (i--) {
		if (frames->frames[i].place != place)
			continue;
		name = find_name(&frames->frames[i]);
		fprintf(out, ";%s", name && *name->of.name ? name->of.name : "[function]");
	}
}

static char *fold_stack(const struct profile_stack *stack)
{
	struct profile_frames frames;
	unsigned int i = stack->nr;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (!take_frames(stack->cookie, &frames))
		frames.nr = 0;
	print_functions(out, &frames, APART);
	while (i--) {
		fputc(';', out);
		print_user(out, stack->pid, stack->ips[i], i, &stack->ids[i]);
		print_functions(out, &frames, i);
	}
	fclose(out);
	return text;
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct profile_sample *sample = data;
	const struct profile_stack *stack = data;

	if (sample->kind == PROFILE_SAMPLE)
		add_part(&samples, sample->cookie, sample->weight,
			 fold_sample(sample));
	else if (sample->kind == PROFILE_FRAMES)
		add_frames(data);
	else if (sample->kind == PROFILE_NAME)
		add_name(data);
	else
		add_part(&stacks, stack->cookie, 0, fold_stack(stack));
	return 0;
}

/*
 * The result
 */

static int by_cookie(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->cookie > y->cookie) - (x->cookie < y->cookie);
}

static int by_text(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* Insert the user's part into the sample's text, after the name */
static void join(struct part *sample)
{
	const struct part *stack = stacks.nr ?
		bsearch(sample, stacks.part, stacks.nr, sizeof(*stacks.part),
			by_cookie) : NULL;
	char *kernel = strchr(sample->text, '\n');
	char *text;

	*kernel++ = '\0';
	if (asprintf(&text, "%s%s%s", sample->text,
		     !sample->cookie ? "" : stack ? stack->text : ";[missing]",
		     kernel) < 0)
		exit(1);
	free(sample->text);
	sample->text = text;
}

static void print_folded(unsigned long long unit)
{
	unsigned long long weight;
	size_t i;

	qsort(stacks.part, stacks.nr, sizeof(*stacks.part), by_cookie);
	for (i = 0; i < samples.nr; i++)
		join(&samples.part[i]);
	qsort(samples.part, samples.nr, sizeof(*samples.part), by_text);
	for (i = 0, weight = 0; i < samples.nr; i++) {
		weight += samples.part[i].weight;
		if (i + 1 < samples.nr && !by_text(&samples.part[i],
						   &samples.part[i + 1]))
			continue;
		printf("%s %llu\n", samples.part[i].text, (weight + unit - 1) / unit);
		weight = 0;
	}
}

/*
 * Recording
 */

/* Open an event on every CPU; 0 or -1 */
static int sample_cpus(struct profile *skel, unsigned long long hertz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1,
		.sample_freq = hertz,
	};
	int cpu, fd, nr = sysconf(_SC_NPROCESSORS_CONF);

	for (cpu = 0; cpu < nr; cpu++) {
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			     PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0 && attr.type == PERF_TYPE_HARDWARE) {
			/* Without counters, use the clock */
			attr.type = PERF_TYPE_SOFTWARE;
			attr.config = PERF_COUNT_SW_CPU_CLOCK;
			cpu--;
			continue;
		}
		if (fd < 0 || !bpf_program__attach_perf_event(skel->progs.on_cpu, fd))
			return -1;
	}
	return 0;
}

static int print_warnings(enum libbpf_print_level level, const char *format,
			  va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

static struct profile *start(pid_t target, bool off_cpu, unsigned long long hertz)
{
	struct profile *skel;

	libbpf_set_print(print_warnings);
	skel = profile__open();
	if (!skel)
		return NULL;
	skel->rodata->target = target;
	bpf_program__set_autoload(skel->progs.on_cpu, !off_cpu);
	bpf_program__set_autoload(skel->progs.off_cpu, off_cpu);
	if (profile__load(skel) ||
	    !bpf_map__attach_struct_ops(skel->maps.delivery))
		return NULL;
	if (off_cpu)
		return bpf_program__attach(skel->progs.off_cpu) ? skel : NULL;
	return sample_cpus(skel, hertz) ? NULL : skel;
}

/* Fork a child that executes the command when a byte can be read from @go */
static pid_t start_command(char **argv, int go[2])
{
	pid_t pid;
	char c;

	if (pipe(go))
		return -1;
	pid = fork();
	if (pid)
		return pid;
	close(go[1]);
	if (read(go[0], &c, 1) == 1) {
		close(go[0]);
		execvp(argv[0], argv);
		perror(argv[0]);
	}
	_exit(127);
}

static int explain(void)
{
	fprintf(stderr, "usage: profile [--off-cpu] [-F hertz] command [argument]...\n");
	return 2;
}

int main(int argc, char **argv)
{
	unsigned long long hertz = 99;
	struct ring_buffer *ring;
	struct profile *skel;
	bool off_cpu = false;
	int go[2], status;
	pid_t pid;

	for (argv++; *argv && **argv == '-'; argv++) {
		if (!strcmp(*argv, "--off-cpu"))
			off_cpu = true;
		else if (!strcmp(*argv, "-F") && argv[1])
			hertz = strtoull(*++argv, NULL, 0);
		else
			return explain();
	}
	if (!*argv || !hertz)
		return explain();

	/* The output is the result; the command's own output appears next to it */
	signal(SIGINT, SIG_IGN);
	read_kernel_symbols();
	pid = start_command(argv, go);
	skel = pid < 0 ? NULL : start(pid, off_cpu, hertz);
	ring = skel ? ring_buffer__new(bpf_map__fd(skel->maps.ring), on_record,
				       NULL, NULL) : NULL;
	if (!ring || write(go[1], "", 1) != 1) {
		perror("profile");
		return 1;
	}
	while (!waitpid(pid, &status, WNOHANG))
		ring_buffer__poll(ring, 100);
	/* All stacks are delivered before the command is gone */
	ring_buffer__consume(ring);

	print_folded(off_cpu ? 1000 : 1);
	if (skel->bss->lost)
		fprintf(stderr, "profile: lost %llu\n", skel->bss->lost);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
