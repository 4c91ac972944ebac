// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on settings: the sysctls of the feature, how a trace is printed, and the memory
 * control groups of processes.
 *
 * A group is a directory with a number:
 *
 *	0 ...			processes move between these and the root
 *	SURFACE_PROCESSES ...	one for each drawer, where a child has a table built that may
 *				have no room
 *
 * If a process needs memory in a full group, the kernel kills it and logs that.  So processes
 * move to groups that they cannot fill.  The child needs no more memory when its group gets its
 * limit: then only the kernel does, for the table, and it has to do without.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "code_register.h"
#include "immediate_counts.h"
#include "put.h"
#include "surface.h"
#include "surface_slots.h"
#include "../../kselftest.h"

#define SYSCTLS		"/proc/sys/kernel"
#define COUNTS		"/sys/kernel/debug/unwind"
#define GROUPS		"/sys/fs/cgroup"
#define OWN_GROUPS	"/tmp/surface-groups"
#define NR_GROUPS	(SURFACE_PROCESSES + SURFACE_DRAWERS)
#define GROUP_BYTES	(64L << 20)
/* A child has this much left, which is enough for some of the tables */
#define SPARE		(384L << 10)

/*
 * Sysctls
 */

enum setting { IMMEDIATE, RANGES, TABLES };

static const struct {
	const char	*name;
	long		values[4];
} settings[SURFACE_SETTINGS] = {
	[IMMEDIATE] = { "unwind_immediate", { 0, 0, 1, 1 } },
	[RANGES] = { "unwind_max_ranges", { 0, 1, 4, 100 } },
	[TABLES] = { "unwind_max_tables_kb", { 0, 1, 16, 1000 } },
};

static int set(unsigned int n, long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", value);
	return put_word(SYSCTLS, settings[n].name, text);
}

void settings_save(void)
{
	char path[64];
	unsigned int i;

	for (i = 0; i < SURFACE_SETTINGS; i++) {
		snprintf(path, sizeof(path), SYSCTLS "/%s", settings[i].name);
		surface->usual[i] = read_number(path);
	}
}

void settings_restore(void)
{
	unsigned int i;

	for (i = 0; i < SURFACE_SETTINGS; i++)
		if (surface->usual[i] >= 0)
			set(i, surface->usual[i]);
}

/* Of stop reasons, and of immediate stacks */
static int use_counts(const char *name, bool reset)
{
	char path[64];
	long count;

	if (reset)
		return put_word(COUNTS, name, "0");
	snprintf(path, sizeof(path), COUNTS "/%s", name);
	count = read_number(path);
	if (count < 0)
		surface_error("count", count);
	return 0;
}

static int change_setting(void)
{
	const unsigned int n = draw(SURFACE_SETTINGS), v = draw(ARRAY_SIZE(settings[n].values));
	const bool usual = one_in(2), counts = one_in(3);

	if (counts)
		return use_counts(n ? "stops" : "immediate", usual);

	if (surface->usual[n] < 0)
		return 1;
	if (n == RANGES && !usual)
		atomic_store(&surface->few_ranges, true);
	return set(n, usual ? surface->usual[n] : settings[n].values[v]);
}

/*
 * Printing traces
 */

/* None of these switches code of the kernel */
static int change_printing(void)
{
	static const char * const options[] = {
		"fields", "raw", "hex", "bin", "verbose", "sym-addr", "sym-userobj",
		"latency-format", "context-info", "irq-info", "overwrite",
	};
	static const char * const clocks[] = { "local", "global", "counter", "mono", "perf" };
	const unsigned int n = draw(ARRAY_SIZE(options)), c = draw(ARRAY_SIZE(clocks));
	const bool on = one_in(2), clock = one_in(8);
	char dir[128], file[64];

	snprintf(dir, sizeof(dir), SURFACE_INSTANCE, drawer / SURFACE_THREADS);
	if (clock)
		return put_word(dir, "trace_clock", clocks[c]);
	snprintf(file, sizeof(file), "options/%s", options[n]);
	return put_word(dir, file, on ? "1" : "0");
}

/*
 * Control groups
 */

static void path_of_group(char *path, size_t size, unsigned int number)
{
	snprintf(path, size, "%s/unwind-surface-%u", surface->groups, number);
}

static int put_bytes(unsigned int number, long bytes)
{
	char path[128], text[32];

	path_of_group(path, sizeof(path), number);
	snprintf(text, sizeof(text), "%ld", bytes);
	return put_word(path, "memory.max", text);
}

static void make_group(unsigned int number)
{
	char path[128];

	path_of_group(path, sizeof(path), number);
	if (!mkdir(path, 0700) && number < SURFACE_PROCESSES)
		put_bytes(number, GROUP_BYTES);
}

/* All of them now: the first group with a memory limit switches code of the kernel */
void groups_start(void)
{
	const char *root = GROUPS;
	unsigned int i;

	if (access(GROUPS "/cgroup.controllers", F_OK)) {
		root = OWN_GROUPS;
		mkdir(OWN_GROUPS, 0700);
		if (mount("cgroup2", OWN_GROUPS, "cgroup2", 0, NULL))
			return;
	}
	if (put_word(root, "cgroup.subtree_control", "+memory"))
		return;
	snprintf(surface->groups, sizeof(surface->groups), "%s", root);
	for (i = 0; i < NR_GROUPS; i++)
		make_group(i);
}

void groups_change(unsigned int number)
{
	const unsigned int i = number / 32 % SURFACE_PROCESSES;
	char path[128];

	if (!surface->groups[0] || number % 32)
		return;
	path_of_group(path, sizeof(path), i);
	if (rmdir(path))
		make_group(i);
}

int groups_remove(void)
{
	unsigned int i, nr = 0;
	char path[128];

	for (i = 0; i < NR_GROUPS && surface->groups[0]; i++) {
		path_of_group(path, sizeof(path), i);
		nr += rmdir(path) && errno != ENOENT;
	}
	return nr;
}

/* The process, with all its threads; the other group still pays for its memory */
static int move_process(void)
{
	const unsigned int number = draw(SURFACE_PROCESSES + 1);
	char path[128];

	if (!surface->groups[0])
		return 1;
	if (number == SURFACE_PROCESSES)
		return put_word(surface->groups, "cgroup.procs", "0");
	path_of_group(path, sizeof(path), number);
	return put_word(path, "cgroup.procs", "0");
}

/* Code with a large table, and one function that is there; NULL without memory */
static chain_fn register_many(unsigned int nr)
{
	struct code code = {
		.nr = nr, .text_size = nr * CODE_STRIDE, .table_size = code_table_size(nr),
	};
	uint64_t *fn = malloc(nr * sizeof(*fn));
	unsigned int i;

	code.text = mmap(NULL, code.text_size, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	code.table = mmap(NULL, code.table_size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!fn || code.text == MAP_FAILED || code.table == MAP_FAILED)
		return NULL;
	for (i = 0; i < nr; i++)
		fn[i] = (uintptr_t)code.text + i * CODE_STRIDE;
	code_table_write(code.table, (uintptr_t)code.table, fn, nr, CODE_FRAME);
	code_write(code.text, CODE_FRAME);
	free(fn);
	return code_register(&code, 3000 + drawer) ? NULL : (chain_fn)code.text;
}

/* The child, which has all that it needs before the limit; 1 without a group or a range */
static int fill_group(unsigned int nr, unsigned int calls)
{
	const unsigned int number = SURFACE_PROCESSES + drawer;
	char group[128], current[160];
	unsigned int i;
	chain_fn fn;
	long bytes;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	path_of_group(group, sizeof(group), number);
	snprintf(current, sizeof(current), "%s/memory.current", group);
	if (put_word(group, "memory.max", "max") || put_word(group, "cgroup.procs", "0"))
		return 1;
	fn = register_many(nr);
	bytes = read_number(current);
	if (!fn || bytes < 0 || put_bytes(number, bytes + SPARE))
		return 1;
	for (i = 0; i < calls; i++)
		call_code(fn);
	return 0;
}

static int fill(void)
{
	const unsigned int nr = 1024 << draw(4), calls = 1 + draw(8);
	int status = 0;
	pid_t pid;

	if (!surface->groups[0])
		return 1;
	pid = fork();
	if (!pid)
		_exit(fill_group(nr, calls));
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) != pid && errno == EINTR)
		;
	/* Nothing is killed for a stack */
	if (!WIFEXITED(status))
		surface_error("status of a child in a full group", status);
	return WEXITSTATUS(status);
}

const struct surface_operation surface_settings[] = {
	{ "sysctl", 3, change_setting },
	{ "instance printing", 2, change_printing },
	{ "group", 2, move_process, true },
	{ "group full", 2, fill, true },
	{}
};
