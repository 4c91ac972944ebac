// SPDX-License-Identifier: GPL-2.0
/*
 * unwind-tables status: list the tables that the kernel has, and the files for which the
 * service could make none.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "answers.h"
#include "device.h"
#include "mapped.h"
#include "serve.h"

struct totals {
	const struct mapped_list *mapped;
	const struct answered *answers;
	__u64	files;
	__u64	provided;
	__u64	bytes;
	__u64	refused;
};

static void print_table(const struct unwind_table_info *info, void *arg)
{
	struct totals *totals = arg;
	const dev_t dev = makedev(info->dev_major, info->dev_minor);
	const bool provided = info->flags & UNWIND_TABLE_PROVIDED;
	const struct mapped *file = mapped_find(totals->mapped, dev, info->ino);
	const struct answered *answered = answers_find(totals->answers, dev, info->ino);

	printf("%10llu %9u %9u  %-8s", info->bytes, info->entries, file ? file->users : 0,
	       provided ? "service" : info->flags & UNWIND_TABLE_PART ? "section" : "file");
	if (provided && answered && !answered->refused)
		printf(" %6u  ", answered->ms);
	else
		printf(" %6s  ", "-");
	if (file)
		puts(file->path);
	else if (answered)
		puts(answered->path);
	else
		printf("device %u:%u, inode %llu\n", info->dev_major, info->dev_minor,
		       info->ino);
	totals->files++;
	totals->provided += provided;
	totals->bytes += info->bytes;
}

static void print_refused(struct totals *totals)
{
	const struct answered *answered;
	const struct mapped *file;

	for (answered = totals->answers; answered < totals->answers + ANSWERS_MAX; answered++) {
		if (!answered->refused || !*answered->path)
			continue;
		file = mapped_find(totals->mapped, answered->dev, answered->ino);
		printf("%10s %9s %9u  %-8s %6u  %s: %s\n", "-", "-", file ? file->users : 0,
		       "none", answered->ms, answered->path, answered->why);
		totals->refused++;
	}
}

/**
 * cmd_status - unwind-tables status
 * @argc: number of arguments
 * @argv: arguments
 *
 * Return: the exit status.
 */
int cmd_status(int argc, char **argv)
{
	struct mapped_list mapped;
	struct totals totals = { .mapped = &mapped };
	struct answered *answers;
	int device, ret;

	(void)argv;
	if (argc != 1)
		return 2;
	device = device_open_list();
	if (device < 0 || mapped_read(&mapped)) {
		fprintf(stderr, "unwind-tables: %s: %s\n", device < 0 ? DEVICE : "/proc",
			strerror(errno));
		return 2;
	}
	answers = answers_read();
	if (!answers) {
		fprintf(stderr, "unwind-tables: %s\n", strerror(errno));
		return 2;
	}
	totals.answers = answers;
	printf("%10s %9s %9s  %-8s %6s  %s\n", "bytes", "entries", "processes", "from", "ms",
	       "file");
	ret = device_list(device, print_table, &totals);
	if (ret) {
		fprintf(stderr, "unwind-tables: " DEVICE ": %s\n", strerror(errno));
	} else {
		print_refused(&totals);
		printf("%llu tables, %llu of them by the service, %llu kB; %llu files have none\n",
		       totals.files, totals.provided, totals.bytes / 1024, totals.refused);
	}
	free(answers);
	mapped_free(&mapped);
	close(device);
	return ret ? 2 : 0;
}
