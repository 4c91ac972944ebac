// SPDX-License-Identifier: GPL-2.0
/*
 * Trace instances and the kernel log, see trace.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "put.h"
#include "trace.h"

#define INSTANCES	"/sys/kernel/tracing/instances"
#define TEXT_MAX	(1024 * 1024)

static int trace_write(const struct trace *trace, const char *name, const char *value)
{
	return put_word(trace->dir, name, value);
}

/* Use a filter: set_event_pid would put probes into the scheduler */
int trace_of(struct trace *trace, pid_t pid)
{
	char filter[48];

	snprintf(filter, sizeof(filter), "common_pid == %d", pid);
	return trace_write(trace, "events/unwind/filter", filter);
}

int trace_of_others(struct trace *trace)
{
	char filter[48];

	snprintf(filter, sizeof(filter), "common_pid != %d", getpid());
	return trace_write(trace, "events/unwind/filter", filter);
}

int trace_all(struct trace *trace)
{
	return trace_write(trace, "events/unwind/filter", "0");
}

int trace_start(struct trace *trace)
{
	*trace = (struct trace){};
	snprintf(trace->dir, sizeof(trace->dir), INSTANCES "/unwind-%d",
		 getpid());
	if (mkdir(trace->dir, 0700) && errno != EEXIST) {
		trace->dir[0] = 0;
		return -1;
	}
	trace->text = malloc(TEXT_MAX);
	if (!trace->text || trace_of(trace, getpid()) ||
	    trace_write(trace, "events/unwind/enable", "1")) {
		trace_stop(trace);
		return -1;
	}
	trace->text[0] = 0;
	return trace_clear(trace);
}

/* Opening for writing with O_TRUNC empties the buffer */
int trace_clear(struct trace *trace)
{
	return trace_write(trace, "trace", "");
}

int trace_read(struct trace *trace)
{
	char path[160];
	size_t used = 0;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/trace", trace->dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while ((len = read(fd, trace->text + used, TEXT_MAX - 1 - used)) > 0)
		used += len;
	close(fd);
	trace->text[used] = 0;
	return len < 0 || used == TEXT_MAX - 1 ? -1 : 0;
}

void trace_stop(struct trace *trace)
{
	if (trace->dir[0]) {
		trace_write(trace, "events/unwind/enable", "0");
		rmdir(trace->dir);
	}
	free(trace->text);
	*trace = (struct trace){};
}

size_t trace_count(const struct trace *trace, const char *name,
		   const char *what, char *message, size_t size)
{
	const char *line = trace->text, *end, *found;
	char head[64];
	size_t count = 0;

	snprintf(head, sizeof(head), ": unwind_%s: ", name);
	for (; *line; line = *end ? end + 1 : end) {
		char text[512];

		end = strchrnul(line, '\n');
		snprintf(text, sizeof(text), "%.*s", (int)(end - line), line);
		found = strstr(text, head);
		if (*line == '#' || !found || (what && !strstr(found, what)))
			continue;
		if (!count++ && message)
			snprintf(message, size, " %s", found + strlen(head));
	}
	return count;
}

/* On btrfs, programs see another device number than the kernel */
size_t trace_count_file(const struct trace *trace, const char *name, int fd,
			char *message, size_t size)
{
	char what[64], *ino = what;
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	if (fstatfs(fd, &fs) || fs.f_type != BTRFS_SUPER_MAGIC)
		ino += snprintf(what, sizeof(what), "dev=%u:%u", major(st.st_dev),
				minor(st.st_dev));
	snprintf(ino, what + sizeof(what) - ino, " ino=%lu ", (unsigned long)st.st_ino);
	return trace_count(trace, name, what, message, size);
}

long trace_field(const char *message, const char *field)
{
	char key[32];
	const char *found;

	snprintf(key, sizeof(key), " %s=", field);
	found = strstr(message, key);
	return found ? strtol(found + strlen(key), NULL, 0) : 0;
}

int klog_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && lseek(fd, 0, SEEK_END) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Ignore a slow machine's messages about its own interrupts */
static bool about_slowness(const char *line)
{
	return strstr(line, "hrtimer: interrupt took") ||
	       strstr(line, "NMI handler") ||
	       strstr(line, "perf: interrupt took too long");
}

bool klog_silent(int fd)
{
	bool silent = true;
	char line[8192];
	ssize_t len;

	while ((len = read(fd, line, sizeof(line) - 1)) > 0 ||
	       (len < 0 && errno == EPIPE)) {
		line[len < 0 ? 0 : len] = 0;
		if (about_slowness(line))
			continue;
		silent = false;
		printf("# new in the kernel log: %s", line);
	}
	return silent && errno == EAGAIN;
}
