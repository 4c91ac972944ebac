// SPDX-License-Identifier: GPL-2.0
/*
 * Read a recording, and match its records.
 *
 * The buffers of several CPUs come one after another. So the order is by time, and only
 * within a task: its stop sample, then the deferred callchain whose stop it reports.
 * Samples find their callchain by the cookie.
 */
#include <err.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "map.h"
#include "recording.h"

#define MAX_REASONS	32

/* The fields of a stop sample after the common fields and the size; see its format */
struct stop {
	uint64_t	common;
	uint64_t	ip;
	uint32_t	nr;
	uint32_t	method;
	uint32_t	reason;
};

#define STOP_SIZE	(offsetof(struct stop, reason) + sizeof(uint32_t))

/* A deferred callchain or a stop sample */
struct event {
	uint64_t			time;
	uint32_t			tid;
	const struct perf_event_header	*stack;	/* NULL: a stop */
	uint64_t			cookie;
	const char			*reason;
};

/* The end of a record that is not a sample */
struct trailer {
	uint32_t	pid;
	uint32_t	tid;
	uint64_t	time;
	uint64_t	id;
};

struct mmap2 {
	struct perf_event_header	header;
	uint32_t			pid;
	uint32_t			tid;
	uint64_t			addr;
	uint64_t			len;
	uint64_t			pgoff;
	uint8_t				inode[24];
	uint32_t			prot;
	uint32_t			flags;
	char				filename[];
};

static const char *directory, *files_root;
static const struct same_header *header;
static const uint8_t *records, *next_record, *records_end;
static char reasons[MAX_REASONS][48];
static struct event *events;
static size_t num_events, num_stacks;

uint32_t recording_pid(void)
{
	return header->pid;
}

static char *read_file(const char *name, size_t *size)
{
	char path[4096], *bytes;
	FILE *file;
	long len;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "r");
	if (!file || fseek(file, 0, SEEK_END))
		err(1, "%s", path);
	len = ftell(file);
	rewind(file);
	bytes = len < 0 ? NULL : malloc(len + 1);
	if (!bytes || fread(bytes, 1, len, file) != (size_t)len)
		err(1, "%s", path);
	bytes[len] = '\0';
	fclose(file);
	*size = len;
	return bytes;
}

/* "{ 3, "its text" }", one after another, as the format prints an enum */
static void read_reasons(void)
{
	static const char field[] = "field:unsigned int reason;\toffset:24;";
	static const char list[] = "__print_symbolic(REC->reason,";
	size_t size;
	char *format = read_file("format", &size);
	char *at = strstr(format, list);
	unsigned int num;
	char text[48];
	int len;

	if (!strstr(format, field) || !at)
		errx(1, "the tracepoint unwind:unwind_stop has changed");
	at += strlen(list);
	while (sscanf(at, " { %u , \"%47[^\"]\" }%n", &num, text, &len) == 2) {
		if (num < MAX_REASONS)
			memcpy(reasons[num], text, sizeof(text));
		at += len;
		at += strspn(at, " ,");
	}
	free(format);
}

bool recording_is_end(const char *reason)
{
	return !strcmp(reason, "end of stack");
}

/*
 * Records, one by one
 */

static const struct perf_event_header *step(const uint8_t **at)
{
	const struct perf_event_header *record = (const void *)*at;
	size_t left = records_end - *at;

	if (!left)
		return NULL;
	if (left < sizeof(*record) || record->size > left || record->size % 8 ||
	    record->size < sizeof(*record) + sizeof(struct trailer))
		errx(1, "the recording is cut off");
	*at += record->size;
	return record;
}

static bool is_one_of(uint64_t id, const uint64_t *ids)
{
	uint32_t cpu;

	for (cpu = 0; cpu < header->num_cpus; cpu++)
		if (ids[cpu] == id)
			return true;
	return false;
}

static const struct trailer *trailer(const struct perf_event_header *record)
{
	return (const void *)((const uint8_t *)record + record->size -
			      sizeof(struct trailer));
}

static void add_event(struct event event)
{
	if (num_events % 4096 == 0) {
		events = realloc(events, (num_events + 4096) * sizeof(*events));
		if (!events)
			err(1, "events");
	}
	events[num_events++] = event;
}

static void add_mapping(const struct mmap2 *map)
{
	char path[4096];

	/* Not a file: memory of the program's own, and mappings that no program calls */
	if (map->pid != header->pid || !(map->prot & PROT_EXEC) ||
	    map->filename[0] == '/' ? map->filename[1] == '/' :
				      strcmp(map->filename, "[vdso]"))
		return;
	if (map->filename[0] == '/')
		snprintf(path, sizeof(path), "%s%s", files_root, map->filename);
	else
		snprintf(path, sizeof(path), "%s/vdso", directory);
	map_add(path, map->filename, map->addr, map->len, map->pgoff);
}

/* A stop sample begins like any other: identifier, address, task, time */
static void add_stop(const uint64_t *word)
{
	struct stop stop;

	memcpy(&stop, (const uint8_t *)&word[4] + sizeof(uint32_t), STOP_SIZE);
	add_event((struct event){
		.time = word[3],
		.tid = word[2] >> 32,
		.reason = reasons[stop.reason % MAX_REASONS],
	});
}

static void add_record(const struct perf_event_header *record)
{
	const uint64_t *word = (const uint64_t *)(record + 1);

	switch (record->type) {
	case PERF_RECORD_MMAP2:
		add_mapping((const struct mmap2 *)record);
		break;
	case PERF_RECORD_SAMPLE:
		if (is_one_of(*word, header->stop_id) &&
		    record->size >= sizeof(*record) + 4 * 8 + 4 + STOP_SIZE)
			add_stop(word);
		break;
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		if (word[1] > (record->size - sizeof(*record) - 16 -
			       sizeof(struct trailer)) / 8)
			errx(1, "a deferred callchain is too long");
		add_event((struct event){
			.time = trailer(record)->time,
			.tid = trailer(record)->tid,
			.stack = record,
			.cookie = word[0],
		});
		break;
	case PERF_RECORD_LOST:
		errx(1, "records were lost");
	}
}

/* Matching records */

static int by_task(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

static int by_cookie(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->cookie < y->cookie ? -1 : x->cookie > y->cookie;
}

/* Give each stack its reason, and keep only the stacks */
static void match_reasons(void)
{
	size_t i;

	qsort(events, num_events, sizeof(*events), by_task);
	for (i = 0; i < num_events; i++) {
		struct event *event = &events[i], *before = event - 1;

		if (!event->stack)
			continue;
		/* An empty stack was not unwound */
		event->reason = "none";
		if (i && !before->stack && before->tid == event->tid)
			event->reason = before->reason;
	}
	for (i = 0; i < num_events; i++)
		if (events[i].stack)
			events[num_stacks++] = events[i];
	qsort(events, num_stacks, sizeof(*events), by_cookie);
}

void recording_open(const char *dir, const char *root)
{
	const struct perf_event_header *record;
	size_t size;

	directory = dir;
	files_root = root;
	read_reasons();
	records = (const uint8_t *)read_file("records", &size);
	records_end = records + size;
	header = (const void *)records;
	if (size < sizeof(*header) || header->magic != SAME_MAGIC ||
	    header->num_cpus > SAME_MAX_CPUS)
		errx(1, "%s is no recording", dir);
	records += sizeof(*header);

	next_record = records;
	while ((record = step(&next_record)))
		add_record(record);
	next_record = records;
	match_reasons();
}

static void find_stack(struct recorded *recorded)
{
	struct event key = { .cookie = recorded->sample.cookie }, *event;
	const uint64_t *word;

	recorded->stack = false;
	/* The task had left its program, by exit or exec */
	if (!key.cookie || !recorded->sample.regs)
		return;
	event = bsearch(&key, events, num_stacks, sizeof(*events), by_cookie);
	if (!event)
		errx(1, "cookie %#llx has no stack", (unsigned long long)key.cookie);
	word = (const uint64_t *)(event->stack + 1);
	if (!word[1])
		return;
	recorded->stack = true;
	recorded->num = word[1];
	recorded->ips = word + 2;
	recorded->reason = event->reason;
}

bool recording_next(struct recorded *recorded)
{
	const struct perf_event_header *record;

	while ((record = step(&next_record))) {
		const uint64_t *word = (const uint64_t *)(record + 1);

		if (record->type != PERF_RECORD_SAMPLE ||
		    !is_one_of(*word, header->clock_id))
			continue;
		if (same_parse_sample(record, &recorded->sample))
			errx(1, "a sample makes no sense");
		if (recorded->sample.pid != header->pid)
			errx(1, "a sample is of another process");
		find_stack(recorded);
		return true;
	}
	return false;
}

void recording_stack(const struct recorded *recorded, struct stack *stack)
{
	if (recorded->num > MAX_FRAMES)
		errx(1, "a stack of %u frames", recorded->num);
	memcpy(stack->ip, recorded->ips, recorded->num * sizeof(*recorded->ips));
	stack->num = recorded->num;
	stack->end = recording_is_end(recorded->reason) ? END_OUTERMOST : END_OTHER;
}
