// SPDX-License-Identifier: GPL-2.0
/*
 * Folded stacks, for flame graphs: one line for each, with the thread's name, the user's
 * part and the kernel's, outermost function first, and the number of samples or the
 * microseconds asleep.
 *
 * Different addresses have one name, so rows become equal here. Only numbers are sorted:
 * the text of all lines together would be larger than the profile.
 */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "output.h"
#include "table.h"

/* A row as a line has it */
struct line {
	const char	*comm;
	struct stack	user;
	struct stack	kernel;
	unsigned int	row;
};

static void add_folded(FILE *out, const struct recording *recording,
		       const struct sample *sample, unsigned int user)
{
	struct row row = { .kernel = sample->kernel, .user = user };

	/* Lines have no numbers of processes, so these take no rows */
	memcpy(row.thread.comm, sample->thread.comm, COMM_LEN);
	count(&row, 1, sample->asleep);
}

static unsigned int line_length(const struct line *line)
{
	return line->user.nr + line->kernel.nr;
}

/* A location of the line, from the left */
static unsigned int line_location(const struct line *line, unsigned int i)
{
	return i < line->user.nr ? line->user.location[line->user.nr - 1 - i] :
	       line->kernel.location[line_length(line) - 1 - i];
}

static int compare(unsigned int a, unsigned int b)
{
	unsigned int x = name_of(a)->text, y = name_of(b)->text;
	int order = x == y ? 0 : strcmp(string(x), string(y));

	return order ?: (location(a)->kind == AT_KERNEL) - (location(b)->kind == AT_KERNEL);
}

static int by_text(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = strncmp(x->comm, y->comm, COMM_LEN);
	unsigned int i;

	for (i = 0; !order && i < line_length(x) && i < line_length(y); i++)
		order = compare(line_location(x, i), line_location(y, i));
	return order ?: (int)line_length(x) - (int)line_length(y);
}

/* The separator is not part of a name */
static void print_part(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(*text == ';' ? ':' : *text, out);
}

static void print_line(FILE *out, const struct line *line)
{
	unsigned int i, at;

	print_part(out, string(add_string(line->comm, COMM_LEN)));
	for (i = 0; i < line_length(line); i++) {
		at = line_location(line, i);
		fputc(';', out);
		print_part(out, string(name_of(at)->text));
		if (location(at)->kind == AT_KERNEL)
			fputs("_[k]", out);
	}
}

static int end_folded(FILE *out, const struct recording *recording)
{
	unsigned int i, nr = nr_rows();
	struct line *lines = need(calloc(nr + 1, sizeof(*lines)));
	unsigned long long weight = 0;

	name_all();
	for (i = 0; i < nr; i++)
		lines[i] = (struct line){ row(i)->thread.comm, stack(row(i)->user),
					  stack(row(i)->kernel), i };
	qsort(lines, nr, sizeof(*lines), by_text);
	for (i = 0; i < nr; i++) {
		const struct count *count = row_count(lines[i].row);

		weight += recording->off_cpu ? count->asleep : count->samples;
		if (i + 1 < nr && !by_text(&lines[i], &lines[i + 1]))
			continue;
		print_line(out, &lines[i]);
		fprintf(out, " %llu\n", recording->off_cpu ? (weight + 999) / 1000 : weight);
		weight = 0;
	}
	free(lines);
	return 0;
}

const struct output folded = { "folded", false, add_folded, end_folded };
