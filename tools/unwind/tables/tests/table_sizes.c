// SPDX-License-Identifier: GPL-2.0
/*
 * Compare the size of the kernel's tables with the size of the CFI, file by file.
 *
 *	table_sizes <NAMES
 *
 * Convert the files, whose names are read line by line, and build the kernel's tables by its
 * own code.  Print the number of files that have CFI, of their functions, and of the tables'
 * entries; the bytes of the tables, and of .eh_frame and .eh_frame_hdr; the number of tables
 * beyond 0.65 times that and 4 KiB.  A file with several names counts once.
 */
#include <elf.h>
#include <fcntl.h>
#include <linux/err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert.h"
#include "sframe_format.h"
#include "sframe_table.h"

static struct file {
	dev_t	dev;
	ino_t	ino;
} *seen;
static size_t nr_seen;

static unsigned long files, functions, entries, bytes, cfi, beyond;

static bool is_new(int fd)
{
	struct stat st;
	size_t i;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	for (i = 0; i < nr_seen; i++) {
		if (seen[i].dev == st.st_dev && seen[i].ino == st.st_ino)
			return false;
	}
	seen = reallocarray(seen, nr_seen + 1, sizeof(*seen));
	if (!seen)
		exit(2);
	seen[nr_seen++] = (struct file){ st.st_dev, st.st_ino };
	return true;
}

static void add(const struct unwind_table *converted)
{
	const struct sframe_segment text = { .size = 1ULL << 41 };
	const struct sframe_image image = {
		.section = converted->sframe,
		.size = converted->size,
		.vaddr = converted->addr,
		.segments = &text,
		.nr_segments = 1,
	};
	const unsigned long own = converted->stats.cfi_bytes + converted->stats.hdr_bytes;
	struct sframe_table *table;

	table = sframe_table_build(&image, converted->machine == EM_X86_64 ?
				   SFRAME_ABI_AMD64_ENDIAN_LITTLE :
				   SFRAME_ABI_AARCH64_ENDIAN_LITTLE);
	if (IS_ERR(table))
		return;
	files++;
	functions += converted->stats.functions;
	entries += table->nr;
	bytes += table->bytes;
	cfi += own;
	beyond += table->bytes > own * 65 / 100 + 4096;
	sframe_table_free(table);
}

int main(void)
{
	struct unwind_table table;
	char *name = NULL;
	size_t size = 0;
	ssize_t len;
	int fd;

	while ((len = getline(&name, &size, stdin)) > 0) {
		name[len - 1] = '\0';
		fd = open(name, O_RDONLY | O_NONBLOCK);
		if (fd < 0)
			continue;
		if (is_new(fd) && !unwind_convert(fd, 0, &table)) {
			if (table.stats.functions)
				add(&table);
			unwind_table_free(&table);
		}
		close(fd);
	}
	free(name);
	free(seen);
	printf("%lu %lu %lu %lu %lu %lu\n", files, functions, entries, bytes, cfi, beyond);
	return !files;
}
