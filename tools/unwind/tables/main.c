// SPDX-License-Identifier: GPL-2.0
/*
 * unwind-tables: make tables for user-space unwinding from the CFI of programs and
 * libraries. See unwind-tables.1.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "convert.h"
#include "serve.h"
#include "sframe_elf.h"

/* The exit status of "check" with findings, like grep and diff */
#define EXIT_FOUND	1
#define EXIT_TROUBLE	2

static const char usage[] =
	"usage: unwind-tables convert [-e] [-a ADDRESS] [-o OUT] [-r] FILE\n"
	"       unwind-tables check FILE...\n"
	"       unwind-tables serve [-v] [-d DIR]\n"
	"       unwind-tables status\n"
	"       unwind-tables cache [-v] [-c STAMP] [-d DIR] FILE...\n"
	"       unwind-tables run [-v] [-d DIR] [--] PROGRAM [ARGUMENT...]\n";

static int misused(void)
{
	fputs(usage, stderr);
	return EXIT_TROUBLE;
}

static int failed(const char *path, const char *why)
{
	fprintf(stderr, "unwind-tables: %s: %s\n", path, why);
	return -1;
}

/* The open of another kind of file may wait, or have effects */
static int open_file(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st))
		return failed(path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return failed(path, "not a regular file");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? failed(path, strerror(errno)) : fd;
}

static int load(const char *path, __u64 addr, int (*convert)(int, __u64, struct unwind_table *),
		struct unwind_table *table)
{
	int fd = open_file(path);
	int ret;

	if (fd < 0)
		return -1;
	ret = convert(fd, addr, table);
	close(fd);
	if (ret) {
		failed(path, unwind_convert_error(ret));
		unwind_table_free(table);
	}
	return ret;
}

static void print_note(const char *path, const struct unwind_note *note)
{
	printf("%s: 0x%llx-0x%llx", path, note->start, note->end);
	if (note->name[0])
		printf(" %s+0x%x", note->name, note->offset);
	printf(": %s%s\n", unwind_note_text(note->type),
	       unwind_note_is_gap(note->type) ? "; not in the table" : "");
}

static void print_notes(const char *path, const struct unwind_table *table)
{
	__u64 nr = 0;
	size_t i;

	for (i = 0; i < table->nr_notes; i++)
		print_note(path, &table->notes[i]);
	for (i = 0; i < UNWIND_NOTE_TYPES; i++)
		nr += table->stats.notes[i];
	if (nr > table->nr_notes)
		printf("%s: %llu more\n", path, nr - table->nr_notes);
}

static void print_figures(const char *path, const struct unwind_table *table)
{
	const struct unwind_stats *s = &table->stats;
	unsigned int i;

	printf("%s: %llu functions of %llu, %llu added, %llu rows, %zu bytes (CFI: %llu + %llu)\n",
	       path, s->functions, s->fdes, s->added, s->rows, table->size,
	       s->cfi_bytes, s->hdr_bytes);
	for (i = 0; i < UNWIND_NOTE_TYPES; i++) {
		if (s->notes[i])
			printf("%s: %llu times: %s\n", path, s->notes[i],
			       unwind_note_text(i));
	}
}

static int write_table(const char *path, const struct unwind_table *table,
		       bool as_elf)
{
	FILE *out = strcmp(path, "-") ? fopen(path, "we") : stdout;
	bool failed;

	if (!out) {
		fprintf(stderr, "unwind-tables: %s: %s\n", path, strerror(errno));
		return -1;
	}
	if (as_elf)
		failed = sframe_elf_write(out, table);
	else
		failed = fwrite(table->sframe, table->size, 1, out) != 1;
	if (fclose(out) || failed) {
		fprintf(stderr, "unwind-tables: %s: %s\n", path, strerror(errno));
		return -1;
	}
	return 0;
}

static int cmd_convert(int argc, char **argv)
{
	const char *out = NULL;
	bool as_elf = false, report = false;
	struct unwind_table table;
	__u64 addr = 0;
	char *end = "";
	int opt, ret = 0;

	while ((opt = getopt(argc, argv, "a:eo:r")) != -1) {
		if (opt == 'a')
			addr = strtoull(optarg, &end, 0);
		else if (opt == 'e')
			as_elf = true;
		else if (opt == 'o')
			out = optarg;
		else if (opt == 'r')
			report = true;
		else
			return misused();
	}
	if (*end) {
		fputs("unwind-tables: -a takes a number\n", stderr);
		return EXIT_TROUBLE;
	}
	if (optind != argc - 1) {
		fputs("unwind-tables: convert takes one file\n", stderr);
		return EXIT_TROUBLE;
	}
	if (load(argv[optind], addr, unwind_convert_sandboxed, &table))
		return EXIT_TROUBLE;
	if (report || !out)
		print_figures(argv[optind], &table);
	if (out)
		ret = write_table(out, &table, as_elf);
	unwind_table_free(&table);
	return ret ? EXIT_TROUBLE : EXIT_SUCCESS;
}

static int cmd_check(int argc, char **argv)
{
	int i, status = EXIT_SUCCESS;

	if (argc < 2)
		return misused();
	for (i = 1; i < argc; i++) {
		struct unwind_table table;

		if (load(argv[i], 0, unwind_check_sandboxed, &table)) {
			status = EXIT_TROUBLE;
			continue;
		}
		print_notes(argv[i], &table);
		if (!table.stats.cfi_bytes && !table.stats.functions)
			printf("%s: no CFI\n", argv[i]);
		if ((table.nr_notes || !table.stats.cfi_bytes) &&
		    status == EXIT_SUCCESS)
			status = EXIT_FOUND;
		unwind_table_free(&table);
	}
	return status;
}

static const struct {
	const char	*name;
	int		(*run)(int argc, char **argv);
} commands[] = {
	{ "convert", cmd_convert },
	{ "check", cmd_check },
	{ "serve", cmd_serve },
	{ "status", cmd_status },
	{ "cache", cmd_cache },
	{ "run", cmd_run },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 2)
		return misused();
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	}
	return misused();
}
