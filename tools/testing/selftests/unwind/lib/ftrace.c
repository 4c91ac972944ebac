// SPDX-License-Identifier: GPL-2.0
/*
 * Trace instances with deferred user stacks, see ftrace.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ftrace.h"

#define INSTANCES	"/sys/kernel/tracing/instances"

int ftrace_set(const struct ftrace *ft, const char *file, const char *value)
{
	char path[256];
	ssize_t len;
	int fd, ret;

	snprintf(path, sizeof(path), "%s/%s", ft->dir, file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = write(fd, value, strlen(value));
	ret = len == (ssize_t)strlen(value) ? 0 : -errno;
	close(fd);
	return ret;
}

char *file_text(const char *path)
{
	size_t used = 0, size = 1 << 16;
	char *text = malloc(size);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = 0;

	while (fd >= 0 && text && (len = read(fd, text + used, size - used - 1)) > 0) {
		used += len;
		if (size - used == 1)
			text = realloc(text, size *= 2);
	}
	if (fd >= 0)
		close(fd);
	if (fd < 0 || !text || len < 0) {
		free(text);
		return NULL;
	}
	text[used] = 0;
	return text;
}

char *ftrace_get(const struct ftrace *ft, const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", ft->dir, file);
	return file_text(path);
}

int ftrace_open(struct ftrace *ft, const char *name)
{
	snprintf(ft->dir, sizeof(ft->dir), INSTANCES "/unwind-%d-%s", getpid(),
		 name);
	if (mkdir(ft->dir, 0700)) {
		ft->dir[0] = 0;
		return -1;
	}
	if (!ftrace_set(ft, FTRACE_OPTION, "0") &&
	    !ftrace_set(ft, "options/sym-addr", "1"))
		return 0;
	ftrace_close(ft);
	return -1;
}

int ftrace_close(struct ftrace *ft)
{
	int ret = ft->dir[0] && rmdir(ft->dir) ? -errno : 0;

	ft->dir[0] = 0;
	return ret;
}

int ftrace_event(const struct ftrace *ft, const char *event, pid_t pid)
{
	char file[128], filter[64];
	int ret;

	snprintf(file, sizeof(file), "%s/filter", event);
	snprintf(filter, sizeof(filter), "id == %d && common_pid == %d",
		 (int)SYS_getppid, pid);
	ret = ftrace_set(ft, file, filter);
	snprintf(file, sizeof(file), "%s/enable", event);
	return ret ?: ftrace_set(ft, file, "1");
}

/* Parse the printed trace */

/* "path+0xoffset [build-id] <address>" */
static void parse_frame(char *text, struct ftrace_frame *frame)
{
	char *addr = strrchr(text, '<'), *offset;

	frame->ip = addr ? strtoul(addr + 1, NULL, 16) : 0;
	if (addr)
		*addr = 0;
	offset = strstr(text, "+0x");
	for (; offset && strstr(offset + 1, "+0x"); offset = strstr(offset + 1, "+0x"))
		;
	frame->offset = offset ? strtoul(offset + 1, NULL, 16) : ~0UL;
	if (offset)
		*offset = 0;
	snprintf(frame->path, sizeof(frame->path), "%s", text);
}

static bool parse_record(const char *line, struct ftrace_record *rec)
{
	static const char * const heads[] = {
		[FTRACE_COOKIE]	= "<user stack is to come> cookie=",
		[FTRACE_STACK]	= "<user stack> cookie=",
		[FTRACE_FILE]	= "<file of user stacks> file=",
		[FTRACE_IMMEDIATE_STACK] = "<user stack trace>",
	};
	unsigned int type;

	for (type = 0; type < FTRACE_TYPES; type++) {
		const char *found = strstr(line, heads[type]);

		if (!found || *line == '#')
			continue;
		*rec = (struct ftrace_record){ .type = type };
		found += strlen(heads[type]);
		rec->cookie = strtoull(found, NULL, 0);
		found = strstr(found, "path=");
		if (type == FTRACE_FILE && found)
			sscanf(found, "path=%191s build_id=%63s", rec->path,
			       rec->build_id);
		return true;
	}
	return false;
}

int ftrace_parse(char *text, struct ftrace_log *log)
{
	struct ftrace_record *rec = NULL;
	char *line, *rest = text;

	*log = (struct ftrace_log){};
	while ((line = strsep(&rest, "\n"))) {
		if (rec && rec->type != FTRACE_FILE &&
		    !strncmp(line, " => ", 4)) {
			rec->frame = realloc(rec->frame, (rec->nr + 1) *
					     sizeof(*rec->frame));
			if (!rec->frame)
				return -1;
			parse_frame(line + 4, &rec->frame[rec->nr++]);
			continue;
		}
		log->rec = realloc(log->rec, (log->nr + 1) * sizeof(*log->rec));
		if (!log->rec)
			return -1;
		rec = &log->rec[log->nr];
		if (parse_record(line, rec))
			log->nr++;
		else
			rec = NULL;
	}
	return 0;
}

int ftrace_kprobe(const char *text)
{
	/* Others may have kprobes, too */
	const int fd = open("/sys/kernel/tracing/kprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	const ssize_t len = strlen(text);
	int ret;

	if (fd < 0)
		return -1;
	ret = write(fd, text, len) == len ? 0 : -1;
	close(fd);
	return ret;
}

int ftrace_read(const struct ftrace *ft, const char *file, struct ftrace_log *log)
{
	char *text = ftrace_get(ft, file);
	int ret = text ? ftrace_parse(text, log) : -1;

	free(text);
	return ret;
}

void ftrace_free(struct ftrace_log *log)
{
	size_t i;

	for (i = 0; i < log->nr; i++)
		free(log->rec[i].frame);
	free(log->rec);
	*log = (struct ftrace_log){};
}

size_t ftrace_count(const struct ftrace_log *log, enum ftrace_type type)
{
	size_t i, count = 0;

	for (i = 0; i < log->nr; i++)
		count += log->rec[i].type == type;
	return count;
}

size_t ftrace_announced(const struct ftrace_log *log, const char *path)
{
	size_t i, count = 0;

	for (i = 0; i < log->nr; i++)
		count += log->rec[i].type == FTRACE_FILE &&
			 !strcmp(log->rec[i].path, path);
	return count;
}

const struct ftrace_record *ftrace_stack(const struct ftrace_log *log,
					 uint64_t cookie)
{
	const struct ftrace_record *found = NULL;
	size_t i;

	for (i = 0; i < log->nr; i++) {
		const struct ftrace_record *rec = &log->rec[i];

		if (rec->type != FTRACE_STACK || rec->cookie != cookie)
			continue;
		if (found)
			return NULL;
		found = rec;
	}
	return found;
}

/* Number of records of a type with this cookie, before record @end */
static size_t count_cookie(const struct ftrace_log *log, size_t end,
			   enum ftrace_type type, uint64_t cookie)
{
	size_t i, count = 0;

	for (i = 0; i < end; i++)
		count += log->rec[i].type == type && log->rec[i].cookie == cookie;
	return count;
}

bool ftrace_pairs(const struct ftrace_log *log, size_t *late)
{
	size_t i, after = 0;
	bool right = true;

	for (i = 0; i < log->nr; i++) {
		const struct ftrace_record *rec = &log->rec[i];
		size_t count = 1;

		if (rec->type == FTRACE_COOKIE) {
			count = count_cookie(log, log->nr, FTRACE_STACK, rec->cookie);
			after += !!count_cookie(log, i, FTRACE_STACK, rec->cookie);
		} else if (rec->type == FTRACE_STACK) {
			/* It was requested, before it arrived */
			count = !!count_cookie(log, i, FTRACE_COOKIE, rec->cookie);
		}
		if (count == 1)
			continue;
		printf("# cookie %#llx: %zu, where 1 was expected\n",
		       (unsigned long long)rec->cookie, count);
		right = false;
	}
	if (late) {
		*late = after;
	} else if (after) {
		printf("# %zu cookies follow their stack\n", after);
		right = false;
	}
	return right;
}

/* The expected stack */

bool ftrace_place(unsigned long ip, struct ftrace_frame *frame)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	bool found = false;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		frame->path[0] = 0;
		found = sscanf(line, "%lx-%lx %*s %lx %*s %*s %191[^\n]",
			       &start, &end, &offset, frame->path) >= 3 &&
			ip >= start && ip < end;
	}
	if (maps)
		fclose(maps);
	frame->ip = ip;
	/* The list has an offset only for files */
	frame->offset = ip - start + (frame->path[0] == '/' ? offset : 0);
	return found;
}

bool ftrace_stack_is(const struct ftrace_record *rec, const unsigned long *ip,
		     unsigned int nr)
{
	bool right = rec && rec->nr == nr;
	unsigned int i;

	if (!right)
		printf("# %d frames, where %u were expected\n",
		       rec ? (int)rec->nr : -1, nr);
	for (i = 0; right && i < nr; i++) {
		const struct ftrace_frame *is = &rec->frame[i];
		struct ftrace_frame want;

		if (!ftrace_place(ip[i], &want))
			return false;
		if (!strcmp(is->path, want.path) && is->ip == want.ip &&
		    is->offset == want.offset)
			continue;
		printf("# frame %u is %s+%#lx <%lx>, not %s+%#lx <%lx>\n", i,
		       is->path, is->offset, is->ip, want.path, want.offset,
		       want.ip);
		right = false;
	}
	return right;
}
