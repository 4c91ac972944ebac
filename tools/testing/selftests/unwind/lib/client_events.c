// SPDX-License-Identifier: GPL-2.0
/*
 * The sample client's module and its events, see client_events.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "client_events.h"
#include "put.h"

#define INSTANCES	"/sys/kernel/tracing/instances"
#define PATIENCE_MS	60000

/*
 * The module
 */

static int module_open(void)
{
	const char *build = getenv("UNWIND_MODULES");
	char path[PATH_MAX];
	struct utsname uts;

	uname(&uts);
	if (build)
		snprintf(path, sizeof(path), "%s", build);
	else
		snprintf(path, sizeof(path), "/lib/modules/%s/kernel", uts.release);
	strncat(path, "/samples/unwind/unwind_client.ko",
		sizeof(path) - strlen(path) - 1);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int client_load(unsigned int rate)
{
	int fd = module_open(), ret, err;
	char params[32];

	if (fd < 0)
		return -1;
	snprintf(params, sizeof(params), "rate=%u", rate);
	ret = syscall(SYS_finit_module, fd, params, 0);
	err = errno;
	close(fd);
	errno = err;
	return ret;
}

int client_unload(void)
{
	return syscall(SYS_delete_module, "unwind_client", O_NONBLOCK);
}

/*
 * The trace
 */

int client_events_open(struct client_events *events)
{
	char path[160];

	events->used = 0;
	events->fd = -1;
	snprintf(events->dir, sizeof(events->dir), INSTANCES "/unwind-client-%d",
		 getpid());
	if (mkdir(events->dir, 0700)) {
		events->dir[0] = 0;
		return -1;
	}
	snprintf(path, sizeof(path), "%s/trace_pipe", events->dir);
	events->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (events->fd >= 0)
		return 0;
	client_events_close(events);
	return -1;
}

void client_events_close(struct client_events *events)
{
	if (events->fd >= 0)
		close(events->fd);
	if (events->dir[0])
		rmdir(events->dir);
	events->dir[0] = 0;
	events->fd = -1;
}

int client_events_enable(struct client_events *events, bool enable)
{
	return put_word(events->dir, "events/unwind_client/enable",
			  enable ? "1" : "0");
}

/* "{0x1,0x2}"; without the closing brace if it is cut there */
static bool parse_stack(struct client_event *event, const char *text)
{
	char *end;

	event->nr_ip = 0;
	if (*text++ != '{')
		return false;
	while (*text && *text != '}') {
		if (event->nr_ip == CLIENT_STACK_MAX)
			return false;
		event->ip[event->nr_ip++] = strtoul(text, &end, 16);
		if (end == text || (*end != ',' && *end != '}'))
			return false;
		text = end + (*end == ',');
	}
	return *text == '}';
}

/*
 * "            comm-1234    [001] d.Z1.   100.000001: unwind_client_NAME: FIELDS"
 * comm may be any text, but contains no event's name.
 */
static bool parse(struct client_event *event, const char *line)
{
	const char *name = strstr(line, ": unwind_client_"), *cpu = NULL, *dash, *at;
	int in_nmi, len = 0;

	if (!name)
		return false;
	for (at = line; (at = strstr(at, " [")) && at < name; at++)
		cpu = at;
	if (!cpu)
		return false;
	for (dash = cpu; dash > line && *dash != '-'; dash--)
		;
	if (sscanf(dash, "-%d", &event->pid) != 1)
		return false;

	if (sscanf(name, ": unwind_client_request: cookie=%lx ret=%d in_nmi=%d",
		   &event->cookie, &event->ret, &in_nmi) == 3) {
		event->is_stack = false;
		event->in_nmi = in_nmi;
		return true;
	}
	event->is_stack = true;
	return sscanf(name, ": unwind_client_stack: cookie=%lx nr=%u stack=%n",
		      &event->cookie, &event->nr, &len) == 2 && len &&
	       parse_stack(event, name + len);
}

/* Read more text; returns as client_events_next() does */
static int read_more(struct client_events *events, bool wait)
{
	struct pollfd pollfd = { .fd = events->fd, .events = POLLIN };
	size_t left = sizeof(events->text) - 1 - events->used;
	ssize_t len;

	for (;;) {
		len = left ? read(events->fd, events->text + events->used, left) : -1;
		if (len > 0)
			break;
		if (!left || (len < 0 && errno != EAGAIN))
			return -1;
		if (!wait)
			return 0;
		if (poll(&pollfd, 1, PATIENCE_MS) != 1)
			return -1;
	}
	events->used += len;
	events->text[events->used] = 0;
	return 1;
}

int client_events_next(struct client_events *events, struct client_event *event,
		       bool wait)
{
	char *end;
	int ret;

	while (!(end = memchr(events->text, '\n', events->used))) {
		ret = read_more(events, wait);
		if (ret <= 0)
			return ret;
	}
	*end++ = 0;
	ret = 1;
	if (!parse(event, events->text)) {
		printf("# not an event: %s\n", events->text);
		ret = -1;
	}
	events->used -= end - events->text;
	memmove(events->text, end, events->used + 1);
	return ret;
}
