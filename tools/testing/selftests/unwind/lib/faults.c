// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's fault injection, see faults.h and
 * Documentation/fault-injection/fault-injection.rst.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"
#include "ftrace.h"
#include "put.h"
#include "../../kselftest.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define THREAD		"/proc/thread-self"
#define COUNT		THREAD "/fail-nth"
/* Among functions of the same name, the nearest one to this is meant */
#define NEAR		"unwind_table_prctl"
/* A range without addresses: nothing is below it */
#define NOWHERE		1UL

/* The capabilities of the system, and what each of them is */
static const struct capability {
	enum faults	what;
	const char	*name;
} capabilities[] = {
	{ FAULTS_MEMORY, "failslab" },
	{ FAULTS_MEMORY, "fail_page_alloc" },
	{ FAULTS_COPIES, "fail_usercopy" },
};

/* The symbols, in ascending order of addresses, in lines */
static char *symbols;
static unsigned long near;
/* Of faults_all() */
static unsigned int allowed;

static int set(const char *capability, const char *name, const char *value)
{
	char dir[64];

	snprintf(dir, sizeof(dir), DEBUGFS "%s", capability);
	return put_word(dir, name, value);
}

static int set_number(const char *capability, const char *name, unsigned long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%#lx", value);
	return set(capability, name, text);
}

static long get(const char *capability, const char *name)
{
	char path[128], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", capability, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = 0;
	close(fd);
	return text[0] ? strtol(text, NULL, 0) : -1;
}

/*
 * Symbols
 */

/* The function of that name that is nearest to @near, with its end; or 0 */
static unsigned long find(const char *name, unsigned long *end)
{
	unsigned long best = 0, start, distance = -1UL;
	const char *line = symbols, *next;
	char key[64];
	int len;

	len = snprintf(key, sizeof(key), " %s\n", name);
	for (; (line = strstr(line, key)); line += len) {
		const char *begin = line;

		while (begin > symbols && begin[-1] != '\n')
			begin--;
		start = strtoul(begin, NULL, 16);
		if (labs((long)(start - near)) >= distance)
			continue;
		distance = labs((long)(start - near));
		best = start;
		next = line + 1;
		do {
			next = strchr(next, '\n') + 1;
			*end = strtoul(next, NULL, 16);
		} while (*next && *end <= start);
	}
	return best;
}

/*
 * Set up
 */

static int init_capability(const char *name)
{
	return set(name, "verbose", "0") || set(name, "probability", "0") ||
	       set(name, "interval", "1") || set(name, "space", "0") ||
	       set(name, "task-filter", "N") || set(name, "stacktrace-depth", "32") ||
	       set_number(name, "require-start", NOWHERE) ||
	       set_number(name, "require-end", NOWHERE);
}

const char *faults_init(void)
{
	unsigned long end;
	unsigned int i;

	if (access(COUNT, W_OK))
		return "no fault injection, or not root";
	for (i = 0; i < ARRAY_SIZE(capabilities); i++) {
		if (init_capability(capabilities[i].name))
			return "no faults that depend on the stack trace";
	}
	/* Sleeping allocations fail, too, and single pages */
	if (set("failslab", "ignore-gfp-wait", "N") ||
	    set("fail_page_alloc", "ignore-gfp-wait", "N") ||
	    set("fail_page_alloc", "ignore-gfp-highmem", "N") ||
	    set("fail_page_alloc", "min-order", "0"))
		return "no faults of sleeping allocations";
	if (!symbols)
		symbols = file_text("/proc/kallsyms");
	if (symbols)
		near = find(NEAR, &end);
	return near ? NULL : "no addresses of functions";
}

void faults_end(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(capabilities); i++) {
		set(capabilities[i].name, "probability", "0");
		set_number(capabilities[i].name, "require-start", 0);
		set_number(capabilities[i].name, "require-end", -1UL);
	}
}

int faults_below(enum faults what, const char *functions)
{
	unsigned long start = 0, end;
	const char *next = functions;
	unsigned int i;
	char name[64];
	int len;

	for (; !start && sscanf(next, " %63[^ ]%n", name, &len) == 1; next += len)
		start = find(name, &end);
	if (!start)
		return -1;
	for (i = 0; i < ARRAY_SIZE(capabilities); i++) {
		const bool wanted = capabilities[i].what == what;

		if (set_number(capabilities[i].name, "require-start", wanted ? start : NOWHERE) ||
		    set_number(capabilities[i].name, "require-end", wanted ? end : NOWHERE))
			return -1;
	}
	return 0;
}

/*
 * Of this thread
 */

static int write_count(unsigned int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	return put_word(THREAD, "fail-nth", text);
}

int faults_arm(unsigned int nth)
{
	return write_count(nth);
}

int faults_disarm(void)
{
	int fd = open(COUNT, O_RDONLY | O_CLOEXEC);
	char text[16] = "";
	bool done;

	done = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0;
	close(fd);
	if (write_count(0) || !done)
		return -1;
	return !atoi(text);
}

/*
 * Of all
 */

/* May the thread fail where a filter for tasks is set?  Children inherit this */
static int mark_thread(bool may)
{
	return put_word(THREAD, "make-it-fail", may ? "1" : "0");
}

int faults_all(bool any, unsigned int times)
{
	char text[16];
	unsigned int i;

	if (!any && mark_thread(true))
		return -1;
	allowed = times;
	snprintf(text, sizeof(text), "%u", times);
	for (i = 0; i < ARRAY_SIZE(capabilities); i++) {
		if (set(capabilities[i].name, "task-filter", any ? "N" : "Y"))
			return -1;
	}
	for (i = 0; i < ARRAY_SIZE(capabilities); i++) {
		if (capabilities[i].what == FAULTS_MEMORY &&
		    (set(capabilities[i].name, "times", text) ||
		     set(capabilities[i].name, "probability", "100")))
			return -1;
	}
	return 0;
}

int faults_so_far(void)
{
	unsigned int i, nr = 0;
	long left;

	for (i = 0; i < ARRAY_SIZE(capabilities); i++) {
		if (capabilities[i].what != FAULTS_MEMORY)
			continue;
		left = get(capabilities[i].name, "times");
		if (left < 0 || left > allowed)
			return -1;
		nr += allowed - left;
	}
	return nr;
}

int faults_none(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(capabilities); i++) {
		if (set(capabilities[i].name, "probability", "0"))
			return -1;
	}
	return mark_thread(false);
}
