// SPDX-License-Identifier: GPL-2.0
/*
 * unwind-tables cache: fill the cache, for example when packages were installed.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "mapped.h"

/* Directories that nftw() has open at the same time */
#define DEPTH	16

/* nftw() has no argument for its function */
static struct cache cache;
static time_t after;
static bool verbose, named, is_terminal;
static unsigned int nr, nr_made, nr_hits, nr_failed;

static void show_progress(bool last)
{
	static time_t shown;

	if (!is_terminal || (!last && time(NULL) == shown))
		return;
	shown = time(NULL);
	fprintf(stderr, "\r%u files: %u converted, %u in the cache already%s", nr, nr_made,
		nr_hits, last ? "\n" : "");
}

/* A line of its own, after one of progress */
static void say(const char *path, const char *what)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s", path);
	make_printable(name);
	fprintf(stderr, "%s%s: %s\n", is_terminal ? "\r\033[K" : "", name, what);
}

static void failed(const char *path, const char *what)
{
	if (named)
		nr_failed++;
	if (named || verbose)
		say(path, what);
}

static void fill_from(const char *path, int fd)
{
	struct unwind_table table;
	struct cached cached;
	int ret = cache_convert(&cache, fd, &table, &cached);

	if (ret) {
		failed(path, unwind_convert_error(ret));
	} else if (cached.error) {
		/* Report this for every file: there is no room for other tables, either */
		nr_failed++;
		say(path, strerror(-cached.error));
	} else if (cached.fd < 0) {
		failed(path, "it is none that the cache can have");
	} else if (cached.hit) {
		nr_hits++;
	} else {
		nr_made++;
		if (verbose)
			say(path, table.has_chain ? "converted, with an interpreter" : "converted");
	}
	if (cached.fd >= 0)
		close(cached.fd);
	unwind_table_free(&table);
}

#define OPEN_FLAGS	(O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/*
 * The path had no links.  If its owner has made one since, it may lead to a device, which root must
 * not open.
 */
static int open_without_links(const char *path)
{
	struct open_how how = {
		.flags = OPEN_FLAGS,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	return syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

static int open_file(const char *path)
{
	int fd = open_without_links(path), error = errno, root;

	if (fd >= 0)
		return fd;
	/* Packages may be installed where this call is forbidden, or too new */
	root = open_without_links("/");
	if (root < 0)
		return open(path, OPEN_FLAGS | O_NOFOLLOW);
	close(root);
	errno = error;
	return -1;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char magic[SELFMAG];
	int fd;

	named = !ftw->level;
	if (type != FTW_F || !S_ISREG(st->st_mode)) {
		if (named && type != FTW_D)
			failed(path, "no file and no directory");
		return 0;
	}
	if (st->st_ctime < after)
		return 0;
	fd = open_file(path);
	if (fd < 0) {
		failed(path, strerror(errno));
		return 0;
	}
	/* Files in a directory that are no ELF files are skipped silently */
	if (named || (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		      !memcmp(magic, ELFMAG, sizeof(magic)))) {
		nr++;
		fill_from(path, fd);
		show_progress(false);
	}
	close(fd);
	return 0;
}

static void fill(const char *arg)
{
	char *path = realpath(arg, NULL);

	named = true;
	if (!path || nftw(path, visit, DEPTH, FTW_PHYS | FTW_MOUNT))
		failed(arg, strerror(errno));
	free(path);
}

/**
 * cmd_cache - unwind-tables cache [-v] [-c STAMP] [-d DIR] FILE...
 * @argc: number of arguments
 * @argv: arguments
 *
 * Return: the exit status: 2 if a named file, or a table, could not be stored.
 */
int cmd_cache(int argc, char **argv)
{
	const char *dir = NULL, *stamp = NULL;
	struct stat st;
	int opt;

	while ((opt = getopt(argc, argv, "c:d:v")) != -1) {
		if (opt == 'c')
			stamp = optarg;
		else if (opt == 'd')
			dir = optarg;
		else if (opt == 'v')
			verbose = true;
		else
			return 2;
	}
	if (optind == argc) {
		fprintf(stderr, "unwind-tables: cache takes files or directories\n");
		return 2;
	}
	/* Without that file, all are taken */
	if (stamp && !stat(stamp, &st))
		after = st.st_mtime;
	if (cache_open(&cache, dir)) {
		cache_complain(&cache);
		return 2;
	}
	cache.publish = true;
	is_terminal = isatty(STDERR_FILENO);
	for (; optind < argc; optind++)
		fill(argv[optind]);
	show_progress(true);
	cache_close(&cache);
	return nr_failed ? 2 : EXIT_SUCCESS;
}
