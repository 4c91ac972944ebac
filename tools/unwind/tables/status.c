// SPDX-License-Identifier: GPL-2.0
/*
 * unwind-tables status: list the tables that the kernel has.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "device.h"
#include "mapped.h"
#include "serve.h"

struct totals {
	const struct mapped_list *mapped;
	__u64	files;
	__u64	provided;
	__u64	bytes;
};

static bool print_table(const struct unwind_table_info *info, void *arg)
{
	struct totals *totals = arg;
	const struct mapped *file = mapped_find(totals->mapped, makedev(info->dev_major,
									info->dev_minor),
						info->ino);

	printf("%10llu %9u %9u  %-8s  ", info->bytes, info->entries,
	       file ? file->users : 0,
	       info->flags & UNWIND_TABLE_PROVIDED ? "service" : "file");
	if (file)
		puts(file->path);
	else
		printf("device %u:%u, inode %llu\n", info->dev_major, info->dev_minor,
		       info->ino);
	totals->files++;
	totals->provided += !!(info->flags & UNWIND_TABLE_PROVIDED);
	totals->bytes += info->bytes;
	return true;
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
	printf("%10s %9s %9s  %-8s  %s\n", "bytes", "entries", "processes", "from", "file");
	ret = device_list(device, print_table, &totals);
	if (ret)
		fprintf(stderr, "unwind-tables: " DEVICE ": %s\n", strerror(errno));
	else
		printf("%llu tables, %llu of them by the service, %llu kB\n", totals.files,
		       totals.provided, totals.bytes / 1024);
	mapped_free(&mapped);
	close(device);
	return ret ? 2 : 0;
}
