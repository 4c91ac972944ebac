// SPDX-License-Identifier: GPL-2.0
/*
 * unwind-tables run: run a program with tables, without privileges.
 *
 *   the program                                    this helper
 *     the loader maps an object                      digest, then the cache
 *     unwind_audit.so ──── the object's file ────>   or a conversion
 *     maps it, prctl() <── the cache's file ──────
 *
 * The helper answers as long as the program runs, so objects that are loaded late, and
 * processes that the program starts, have tables, too.  The program is the process that
 * was started, and the helper is no child of it: a program may wait for all its children.
 *
 * Each object is looked up by its contents, here and not in the program: so the library in
 * the program is small, and a changed file has no table of what it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache.h"
#include "cache_format.h"
#include "fd_pass.h"
#include "mapped.h"

#define AUDIT_LIBRARY	"unwind_audit.so"

static struct cache cache;
static bool verbose;

static void report(int fd, const char *what)
{
	char name[4096];

	if (!verbose)
		return;
	name_of_file(fd, name, sizeof(name));
	fprintf(stderr, "unwind-tables: %s: %s\n", name, what);
}

static void answer(int client)
{
	struct cached cached = { .fd = -1 };
	struct unwind_table table = {};
	int fd = fd_receive(client), ret;

	if (fd < 0)
		return;
	ret = cache_convert(&cache, fd, &table, &cached);
	if (ret || cached.error)
		report(fd, unwind_convert_error(ret ?: cached.error));
	else
		report(fd, cached.hit ? "from the cache" : "converted");
	fd_send(client, cached.fd);
	if (cached.fd >= 0)
		close(cached.fd);
	unwind_table_free(&table);
	close(fd);
}

/* The socket's name is in the environment: any user may connect */
static bool is_own(int client)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       peer.uid == geteuid();
}

/* A client sends its file at once; one that does not is none */
static void serve(int listener, int program)
{
	const struct timeval patience = { .tv_sec = 1 };
	struct pollfd events[] = {
		{ .fd = program, .events = POLLIN },
		{ .fd = listener, .events = POLLIN },
	};

	while ((poll(events, 2, -1) >= 0 || errno == EINTR) && !events[0].revents) {
		int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (client < 0)
			continue;
		setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		if (is_own(client))
			answer(client);
		close(client);
	}
}

/* The kernel finds a name that is free.  It begins with a zero, and has no other. */
static int start_listening(int sock)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(addr);

	if (bind(sock, (struct sockaddr *)&addr, sizeof(addr.sun_family)) ||
	    listen(sock, SOMAXCONN) || getsockname(sock, (struct sockaddr *)&addr, &size))
		return -1;
	return setenv(UNWIND_CACHE_SOCKET, addr.sun_path + 1, 1);
}

/* By way of a child, which ends at once */
static int start_helper(void)
{
	/* The program's exec closes them */
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int program = syscall(SYS_pidfd_open, getpid(), 0);
	pid_t pid;

	if (program < 0 || listener < 0 || start_listening(listener))
		return -1;
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid) {
		waitpid(pid, NULL, 0);
		return 0;
	}
	/* Neither ^C nor what ends the program ends it before the program */
	if (setsid() < 0 || fork())
		_exit(0);
	/* Statuses of the conversions are wanted */
	signal(SIGCHLD, SIG_DFL);
	serve(listener, program);
	_exit(0);
}

/* The library is beside this program, or in the lib of its bin */
static int set_library(void)
{
	static const char * const places[] = { "/" AUDIT_LIBRARY, "/../lib/" AUDIT_LIBRARY };
	char dir[PATH_MAX], path[2 * PATH_MAX], *slash;
	const char *others = getenv("LD_AUDIT");
	ssize_t len = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	size_t i;

	dir[len < 0 ? 0 : len] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, places[i]);
		if (access(path, R_OK))
			continue;
		if (others)
			snprintf(path + strlen(path), sizeof(path) - strlen(path), ":%s", others);
		return setenv("LD_AUDIT", path, 1);
	}
	errno = ENOENT;
	return -1;
}

static void prepare(const char *dir)
{
	const char *what = NULL;

	if (prctl(PR_UNWIND_TABLE, PR_UNWIND_TABLE_VERSION, NULL, 0UL, 0UL) < 1)
		fprintf(stderr, "unwind-tables: this kernel takes no tables\n");
	if (cache_open(&cache, dir))
		cache_complain(&cache);
	else if (set_library())
		what = AUDIT_LIBRARY;
	else if (start_helper())
		what = "its helper";
	if (what)
		fprintf(stderr, "unwind-tables: %s: %s\n", what, strerror(errno));
	cache_close(&cache);
}

/**
 * cmd_run - unwind-tables run [-v] [-d DIR] [--] PROGRAM [ARGUMENT...]
 * @argc: number of arguments
 * @argv: arguments
 *
 * A program runs, too, if it can have no tables: that is said on standard error.
 *
 * Return: the exit status if the program cannot be run, as env(1) has it.
 */
int cmd_run(int argc, char **argv)
{
	const char *dir = NULL;
	int opt, ret;

	while ((opt = getopt(argc, argv, "+d:v")) != -1) {
		if (opt == 'd')
			dir = optarg;
		else if (opt == 'v')
			verbose = true;
		else
			return 2;
	}
	if (optind == argc) {
		fprintf(stderr, "unwind-tables: run takes a program\n");
		return 2;
	}
	prepare(dir);
	execvp(argv[optind], argv + optind);
	ret = errno == ENOENT ? 127 : 126;
	fprintf(stderr, "unwind-tables: %s: %s\n", argv[optind], strerror(errno));
	return ret;
}
