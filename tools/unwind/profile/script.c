// SPDX-License-Identifier: GPL-2.0
/*
 * The text of "perf script", which FlameGraph's stackcollapse-perf.pl and speedscope read
 *
 * It has each sample with its time, so samples are written as they come, and are not
 * counted. The period is in nanoseconds: asleep, or between two samples.
 */
#include "names.h"
#include "output.h"

static void print_frame(FILE *out, unsigned int number)
{
	const struct location *at = location(number);
	const struct name *name = name_of(number);
	const char *object = "[unknown]";

	if (at->kind == AT_KERNEL)
		object = "[kernel.kallsyms]";
	else if (at->kind == AT_FILE)
		object = file(at->of)->path == NO_STRING ? file_name(file(at->of)) :
			 string(file(at->of)->path);
	else if (at->kind == AT_FUNCTION && at->source != NO_STRING)
		object = string(at->source);

	fprintf(out, "\t%16llx ", name->address);
	if (at->kind == AT_NOTE || at->kind == AT_FUNCTION)
		fputs(string(name->text), out);
	else if (name->known)
		fprintf(out, "%s+0x%llx", string(name->text), name->into);
	else
		fputs("[unknown]", out);
	fprintf(out, " (%s)\n", object);
}

static void print_frames(FILE *out, struct stack stack)
{
	unsigned int i;

	for (i = 0; i < stack.nr; i++)
		print_frame(out, stack.location[i]);
}

static void add_script(FILE *out, const struct recording *recording,
		       const struct sample *sample, unsigned int user)
{
	const char *comm = string(add_string(sample->thread.comm, COMM_LEN));

	if (*comm)
		fputs(comm, out);
	else
		fprintf(out, ":%u", sample->thread.tid);
	fprintf(out, " %u/%u [%03u] %llu.%06llu: %10llu %s:\n", sample->thread.pid,
		sample->thread.tid, sample->cpu, sample->time / 1000000000,
		sample->time / 1000 % 1000000,
		recording->off_cpu ? sample->asleep : 1000000000 / recording->hertz,
		recording->off_cpu ? "offcpu-time" : "cpu-clock");
	print_frames(out, stack(sample->kernel));
	print_frames(out, stack(user));
	fputc('\n', out);
}

static int end_script(FILE *out, const struct recording *recording)
{
	return 0;
}

const struct output script = { "script", false, add_script, end_script };
