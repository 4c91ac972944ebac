// SPDX-License-Identifier: GPL-2.0
/*
 * Opening events, and reading their buffers.
 *
 * The kernel writes records one after another, and wraps around at the end of the buffer,
 * even in the middle of a record. It moves data_head after a record is complete. So a
 * record is complete if it lies before data_head (read with acquire semantics). It may be
 * overwritten once data_tail has moved past it (written with release semantics, after the
 * copy).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf.h"

#define EVENTS_DIR	"/sys/kernel/tracing/events/"
#define UPROBE_TYPE	"/sys/bus/event_source/devices/uprobe/type"

/*
 * Events
 */

void event_attr(struct perf_event_attr *attr, uint32_t type, uint64_t config)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = type,
		.config = config,
		.sample_period = 1,
		.sample_type = SAMPLE_TYPE,
		.sample_id_all = 1,
		.disabled = 1,
		.defer_callchain = 1,
		.defer_output = 1,
	};
}

/* The number in a file, or -1 */
static long long number_in(const char *path)
{
	char buf[32] = "";
	ssize_t len;
	int fd;

	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	len = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	return len > 0 ? strtoll(buf, NULL, 10) : -1;
}

int tracepoint_attr(struct perf_event_attr *attr, const char *name)
{
	char path[256];
	long long id;

	snprintf(path, sizeof(path), EVENTS_DIR "%s/id", name);
	id = number_in(path);
	if (id < 0)
		return -1;
	event_attr(attr, PERF_TYPE_TRACEPOINT, id);
	return 0;
}

int uprobe_attr(struct perf_event_attr *attr, unsigned long ip, unsigned int config)
{
	const long long type = number_in(UPROBE_TYPE);
	unsigned long start, end, offset;
	bool found = false;
	char line[256];
	FILE *maps;

	if (type < 0)
		return -1;
	event_attr(attr, type, config);
	maps = fopen("/proc/self/maps", "r");
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
			ip >= start && ip < end;
	if (maps)
		fclose(maps);
	if (!found)
		return -1;
	attr->uprobe_path = (unsigned long)"/proc/self/exe";
	attr->probe_offset = offset + (ip - start);
	return 0;
}

int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

int event_filter_syscall(int fd, long nr)
{
	char filter[32];

	snprintf(filter, sizeof(filter), "id == %ld", nr);
	return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter);
}

int event_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

int event_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t event_id(int fd)
{
	uint64_t id = 0;

	return ioctl(fd, PERF_EVENT_IOC_ID, &id) ? 0 : id;
}

/*
 * The buffer
 */

int ring_map(struct ring *ring, int fd, size_t pages)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);

	*ring = (struct ring){};
	if (map == MAP_FAILED)
		return -1;
	ring->meta = map;
	ring->data = (char *)map + page;
	ring->size = pages * page;
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->meta)
		munmap(ring->meta, ring->size + sysconf(_SC_PAGESIZE));
	ring->meta = NULL;
}

static uint64_t ring_head(const struct ring *ring)
{
	return __atomic_load_n(&ring->meta->data_head, __ATOMIC_ACQUIRE);
}

bool ring_empty(const struct ring *ring)
{
	return ring_head(ring) == ring->meta->data_tail;
}

static void ring_copy(const struct ring *ring, void *to, uint64_t pos,
		      size_t len)
{
	size_t start = pos % ring->size;
	size_t first = ring->size - start;

	if (first > len)
		first = len;
	memcpy(to, ring->data + start, first);
	memcpy((char *)to + first, ring->data, len - first);
}

struct perf_event_header *ring_next(struct ring *ring)
{
	struct perf_event_header header, *rec;
	uint64_t tail = ring->meta->data_tail;

	if (ring_head(ring) == tail)
		return NULL;
	ring_copy(ring, &header, tail, sizeof(header));
	/* One word of zeroes, so that a parser may read an empty record */
	rec = calloc(1, header.size + sizeof(uint64_t));
	if (!rec)
		return NULL;
	ring_copy(ring, rec, tail, header.size);
	__atomic_store_n(&ring->meta->data_tail, tail + header.size,
			 __ATOMIC_RELEASE);
	return rec;
}

/*
 * Records
 */

/* Words of the sample_id trailer for SAMPLE_TYPE */
#define TRAILER_WORDS	4

static const char *parse_trailer(struct record *rec, const uint64_t *word,
				 size_t words)
{
	const uint32_t *half;

	if (words < TRAILER_WORDS)
		return "has no room for its sample_id";
	half = (const uint32_t *)(word + words - TRAILER_WORDS);
	rec->pid = half[0];
	rec->tid = half[1];
	rec->time = word[words - 3];
	rec->cpu = half[4];
	rec->id = word[words - 1];
	return NULL;
}

static const char *parse_sample(struct record *rec, const uint64_t *word,
				size_t words)
{
	const uint32_t *half = (const uint32_t *)word;
	uint64_t i;

	if (words < 6)
		return "is too short for a sample";
	rec->id = word[0];
	rec->ip = word[1];
	rec->pid = half[4];
	rec->tid = half[5];
	rec->time = word[3];
	rec->cpu = half[8];
	rec->nr = word[5];
	rec->ips = word + 6;
	if (rec->nr != words - 6)
		return "does not end with its callchain";

	for (i = 0; i < rec->nr; i++) {
		if (rec->ips[i] != PERF_CONTEXT_USER_DEFERRED)
			continue;
		if (i + 2 != rec->nr)
			return "does not end with marker and cookie";
		rec->cookie = rec->ips[i + 1];
		if (!rec->cookie)
			return "has a cookie of 0";
	}
	return NULL;
}

static const char *parse_deferred(struct record *rec, const uint64_t *word,
				  size_t words)
{
	uint64_t i;

	if (words < 2 + TRAILER_WORDS)
		return "is too short for a deferred callchain";
	rec->cookie = word[0];
	rec->nr = word[1];
	rec->ips = word + 2;
	if (rec->nr != words - 2 - TRAILER_WORDS)
		return "does not end with its callchain and sample_id";
	if (!rec->cookie)
		return "has a cookie of 0";
	if (rec->misc != PERF_RECORD_MISC_USER)
		return "has misc other than USER";
	for (i = 0; i < rec->nr; i++)
		if (rec->ips[i] >= PERF_CONTEXT_MAX)
			return "has a context among its addresses";
	return parse_trailer(rec, word, words);
}

static const char *parse(struct record *rec)
{
	const uint64_t *word = (const uint64_t *)(rec->raw + 1);
	size_t words = (rec->raw->size - sizeof(*rec->raw)) / sizeof(*word);

	if (rec->raw->size % sizeof(*word))
		return "has a size that is no multiple of 8";
	rec->type = rec->raw->type;
	rec->misc = rec->raw->misc;
	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		return parse_sample(rec, word, words);
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		return parse_deferred(rec, word, words);
	case PERF_RECORD_LOST:
		return "means that records were lost";
	default:
		return parse_trailer(rec, word, words);
	}
}

static int records_add(struct records *recs, const struct record *rec)
{
	if (recs->nr == recs->max) {
		size_t max = recs->max ? 2 * recs->max : 64;
		struct record *more = realloc(recs->rec, max * sizeof(*more));

		if (!more)
			return -1;
		recs->rec = more;
		recs->max = max;
	}
	recs->rec[recs->nr++] = *rec;
	return 0;
}

int records_read(struct records *recs, struct ring *ring)
{
	struct perf_event_header *raw;

	while ((raw = ring_next(ring))) {
		struct record rec = { .raw = raw };
		const char *wrong = parse(&rec);

		if (wrong) {
			printf("# record of type %u, size %u, misc %#x %s\n",
			       raw->type, raw->size, raw->misc, wrong);
			free(raw);
			return -1;
		}
		if (records_add(recs, &rec))
			return -1;
	}
	return 0;
}

void records_free(struct records *recs)
{
	while (recs->nr)
		free(recs->rec[--recs->nr].raw);
	free(recs->rec);
	*recs = (struct records){};
}

size_t records_count(const struct records *recs, uint32_t type)
{
	size_t i, count = 0;

	for (i = 0; i < recs->nr; i++)
		count += recs->rec[i].type == type;
	return count;
}

const struct record *records_get(const struct records *recs, uint32_t type,
				 size_t i)
{
	size_t j;

	for (j = 0; j < recs->nr; j++)
		if (recs->rec[j].type == type && !i--)
			return &recs->rec[j];
	return NULL;
}

const struct record *records_stack(const struct records *recs, uint64_t cookie)
{
	size_t i;

	for (i = 0; i < recs->nr; i++)
		if (recs->rec[i].type == PERF_RECORD_CALLCHAIN_DEFERRED &&
		    recs->rec[i].cookie == cookie)
			return &recs->rec[i];
	return NULL;
}

size_t records_with_cookie(const struct records *recs, uint32_t type,
			   uint64_t cookie)
{
	size_t i, count = 0;

	for (i = 0; i < recs->nr; i++)
		count += recs->rec[i].type == type &&
			 recs->rec[i].cookie == cookie;
	return count;
}

/*
 * Matching
 */

/* Sort by task; each task's records stay in their order */
static int by_task(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Check all records of a task with one cookie */
static const char *match_entry(const struct record *rec, size_t nr,
			       size_t *late)
{
	size_t i, stack = nr;

	for (i = 0; i < nr; i++) {
		if (rec[i].type == PERF_RECORD_CALLCHAIN_DEFERRED) {
			if (stack != nr)
				return "has two deferred callchains";
			stack = i;
		} else if (stack != nr) {
			if (rec[i].misc == PERF_RECORD_MISC_USER)
				return "has a sample after return to user space";
			++*late;
		}
	}
	if (stack == nr)
		return "has no deferred callchain";
	if (!stack)
		return nr == 1 ? "is in no sample" :
				 "has its deferred callchain before all samples";
	return NULL;
}

static void complain(const struct record *rec, const char *wrong, size_t *bad)
{
	/* A handful of messages is enough */
	if ((*bad)++ < 8)
		printf("# cookie %#llx (type %u tid %u ip %#llx) %s\n",
		       (unsigned long long)rec->cookie, rec->type, rec->tid,
		       (unsigned long long)rec->ip, wrong);
}

static size_t match_sorted(const struct records *sorted, uint64_t *cookies,
			   size_t *late)
{
	size_t i, nr, entries = 0, bad = 0;

	for (i = 0; i < sorted->nr; i += nr) {
		const struct record *rec = &sorted->rec[i];
		const char *wrong;

		for (nr = 1; i + nr < sorted->nr; nr++)
			if (rec[nr].cookie != rec->cookie ||
			    rec[nr].tid != rec->tid)
				break;
		wrong = match_entry(rec, nr, late);
		if (wrong)
			complain(rec, wrong, &bad);
		cookies[entries++] = rec->cookie;
	}
	qsort(cookies, entries, sizeof(*cookies), by_value);
	for (i = 1; i < entries; i++) {
		struct record rec = { .cookie = cookies[i] };

		if (cookies[i] == cookies[i - 1])
			complain(&rec, "names two entries or two tasks", &bad);
	}
	return bad;
}

bool records_match(const struct records *recs, size_t *late)
{
	struct records sorted = {};
	uint64_t *cookies;
	size_t i, bad = 1, after = 0;

	cookies = calloc(recs->nr + 1, sizeof(*cookies));
	if (!cookies)
		return false;
	for (i = 0; i < recs->nr; i++)
		if (recs->rec[i].cookie && records_add(&sorted, &recs->rec[i]))
			goto out;
	if (sorted.nr)
		qsort(sorted.rec, sorted.nr, sizeof(*sorted.rec), by_task);
	bad = match_sorted(&sorted, cookies, &after);
	if (bad)
		printf("# %zu cookies in all\n", bad);
	if (late) {
		*late = after;
	} else if (after) {
		printf("# %zu samples follow their deferred callchain\n", after);
		bad++;
	}
out:
	free(sorted.rec);
	free(cookies);
	return !bad;
}
