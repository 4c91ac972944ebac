// SPDX-License-Identifier: GPL-2.0
/*
 * pprof's profile.proto, compressed, for "go tool pprof", Parca and Pyroscope
 *
 * A protocol buffer is a list of fields, each with its number and type: a number of
 * variable length, or bytes with their length, which may be a message again. Messages of
 * the profile are written one by one, so only one is in memory.
 *
 * Each file is one mapping, as if it was mapped to the addresses that it was linked to:
 * its locations have these addresses. So a reader that looks for symbols, by build-id,
 * need not know where any process had it. Strings, locations and files have the numbers that
 * they have here; 0 means none where pprof says so, and strings of this file come
 * after the others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "names.h"
#include "output.h"
#include "table.h"

/* Types of fields */
enum { VARINT, BYTES = 2 };

/* Their numbers */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLES, PROFILE_MAPPING, PROFILE_LOCATION,
	PROFILE_FUNCTION, PROFILE_STRING, PROFILE_TIME = 9, PROFILE_DURATION,
	PROFILE_PERIOD_TYPE, PROFILE_PERIOD
};

enum { TYPE_TYPE = 1, TYPE_UNIT };

enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };

enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };

enum {
	MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILE,
	MAPPING_BUILD_ID, MAPPING_HAS_FUNCTIONS
};

enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };

enum { LINE_FUNCTION = 1, LINE_LINE };

enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

/* Strings of this file, and then a build-id for each mapping */
enum {
	SAMPLES, COUNT, CPU, DELAY, NANOSECONDS, THREAD_NAME, PID, TID, KERNEL, NR_WORDS
};

static const char * const words[NR_WORDS] = {
	"samples", "count", "cpu", "delay", "nanoseconds", "thread_name", "pid", "tid",
	"[kernel.kallsyms]"
};

#define KERNEL_MAPPING	1

struct message {
	unsigned char	*bytes;
	size_t		nr;
	size_t		room;
};

/*
 * Messages
 */

static void put_bytes(struct message *message, const void *bytes, size_t size)
{
	if (message->nr + size > message->room) {
		message->room = 2 * message->room + size;
		message->bytes = need(realloc(message->bytes, message->room));
	}
	if (size)
		memcpy(message->bytes + message->nr, bytes, size);
	message->nr += size;
}

static void put_varint(struct message *message, unsigned long long value)
{
	unsigned char byte;

	do {
		byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		put_bytes(message, &byte, 1);
		value >>= 7;
	} while (value);
}

/* Omit zeroes: readers take a missing field for 0 */
static void put_number(struct message *message, unsigned int field, unsigned long long value)
{
	if (!value)
		return;
	put_varint(message, field << 3 | VARINT);
	put_varint(message, value);
}

static void put_field(struct message *message, unsigned int field, const void *bytes, size_t size)
{
	put_varint(message, field << 3 | BYTES);
	put_varint(message, size);
	put_bytes(message, bytes, size);
}

/* Put a message into another, and empty it */
static void put_message(struct message *message, unsigned int field, struct message *part)
{
	put_field(message, field, part->bytes, part->nr);
	part->nr = 0;
}

/* Write a field of the profile and empty the message; zlib remembers an error */
static void write_field(gzFile out, unsigned int field, struct message *message)
{
	static struct message head;

	head.nr = 0;
	put_varint(&head, field << 3 | BYTES);
	put_varint(&head, message->nr);
	gzwrite(out, head.bytes, head.nr);
	if (message->nr)
		gzwrite(out, message->bytes, message->nr);
	message->nr = 0;
}

static void write_number(gzFile out, unsigned int field, unsigned long long value)
{
	static struct message message;

	message.nr = 0;
	put_number(&message, field, value);
	if (message.nr)
		gzwrite(out, message.bytes, message.nr);
}

/*
 * The profile
 */

static struct message message, part;

/* Functions by name and place: their numbers, less 1, are pprof's */
static struct table functions;

static unsigned int word(unsigned int number)
{
	return nr_strings() + number;
}

static void write_type(gzFile out, unsigned int field, unsigned int type, unsigned int unit)
{
	put_number(&message, TYPE_TYPE, word(type));
	put_number(&message, TYPE_UNIT, word(unit));
	write_field(out, field, &message);
}

static void put_label(unsigned int key, unsigned int text, unsigned int number)
{
	put_number(&part, LABEL_KEY, word(key));
	put_number(&part, LABEL_TEXT, text);
	put_number(&part, LABEL_NUMBER, number);
	put_message(&message, SAMPLE_LABEL, &part);
}

static void put_stack(struct stack stack)
{
	unsigned int i;

	for (i = 0; i < stack.nr; i++)
		put_varint(&part, stack.location[i] + 1);
}

static void write_sample(gzFile out, const struct recording *recording, unsigned int number)
{
	const struct count *count = row_count(number);
	const struct row *at = row(number);

	put_stack(stack(at->kernel));
	put_stack(stack(at->user));
	put_message(&message, SAMPLE_LOCATIONS, &part);
	put_varint(&part, count->samples);
	put_varint(&part, recording->off_cpu ? count->asleep :
		   count->samples * (1000000000 / recording->hertz));
	put_message(&message, SAMPLE_VALUES, &part);
	put_label(THREAD_NAME, add_string(at->thread.comm, COMM_LEN), 0);
	put_label(PID, 0, at->thread.pid);
	put_label(TID, 0, at->thread.tid);
	write_field(out, PROFILE_SAMPLES, &message);
}

/* Add all threads' names first: the numbers of words come after the profile's strings */
static void add_thread_names(void)
{
	unsigned int i;

	for (i = 0; i < nr_rows(); i++)
		add_string(row(i)->thread.comm, COMM_LEN);
}

static unsigned int mapping_of(const struct location *location)
{
	if (location->kind == AT_KERNEL)
		return KERNEL_MAPPING;
	return location->kind == AT_FILE ? location->of + KERNEL_MAPPING + 1 : 0;
}

/* A reader looks for functions of a mapping unless all of them are here */
static bool *find_unnamed(void)
{
	bool *unnamed = need(calloc(nr_files() + KERNEL_MAPPING + 1, sizeof(*unnamed)));
	unsigned int i;

	for (i = 0; i < nr_locations(); i++)
		if (!name_of(i)->known)
			unnamed[mapping_of(location(i))] = true;
	return unnamed;
}

static void write_kernel_mapping(gzFile out, bool unnamed)
{
	unsigned long long start, end;

	kernel_limits(&start, &end);
	put_number(&message, MAPPING_ID, KERNEL_MAPPING);
	put_number(&message, MAPPING_START, start);
	put_number(&message, MAPPING_LIMIT, end);
	put_number(&message, MAPPING_FILE, word(KERNEL));
	put_number(&message, MAPPING_HAS_FUNCTIONS, !unnamed);
	write_field(out, PROFILE_MAPPING, &message);
}

/* The executable part of a file, from the first such segment to the end of the last */
static void write_mapping(gzFile out, unsigned int number, bool unnamed)
{
	const struct image *image = image_of(number);
	const struct elf_head *head = &image->head;
	unsigned long long limit = 0;
	const struct segment *segment, *first = NULL;
	unsigned int i;

	for (i = 0; i < head->nr; i++) {
		segment = &head->segment[i];
		if (!segment->executable)
			continue;
		first = first ?: segment;
		limit = segment->addr + segment->size;
	}
	put_number(&message, MAPPING_ID, number + KERNEL_MAPPING + 1);
	put_number(&message, MAPPING_START, first ? first->addr : 0);
	put_number(&message, MAPPING_LIMIT, limit);
	put_number(&message, MAPPING_OFFSET, first ? first->offset : 0);
	put_number(&message, MAPPING_FILE, image->file->path);
	put_number(&message, MAPPING_BUILD_ID, head->id_size ? word(NR_WORDS + number) : 0);
	put_number(&message, MAPPING_HAS_FUNCTIONS, !unnamed);
	write_field(out, PROFILE_MAPPING, &message);
}

/* The number of a location's function, or 0 */
static unsigned int function_of(unsigned int number)
{
	const struct location *at = location(number);
	const struct name *name = name_of(number);
	const unsigned int key[] = { name->text, at->source, at->line };

	if (!name->known && at->kind != AT_NOTE)
		return 0;
	return table_add(&functions, key, sizeof(key)) + 1;
}

static void write_location(gzFile out, unsigned int number)
{
	put_number(&message, LOCATION_ID, number + 1);
	put_number(&message, LOCATION_MAPPING, mapping_of(location(number)));
	put_number(&message, LOCATION_ADDRESS, name_of(number)->address);
	if (function_of(number)) {
		put_number(&part, LINE_FUNCTION, function_of(number));
		put_number(&part, LINE_LINE, location(number)->line);
		put_message(&message, LOCATION_LINE, &part);
	}
	write_field(out, PROFILE_LOCATION, &message);
}

static void write_function(gzFile out, unsigned int number)
{
	const unsigned int *key = functions.keys[number].bytes;

	put_number(&message, FUNCTION_ID, number + 1);
	put_number(&message, FUNCTION_NAME, key[0]);
	put_number(&message, FUNCTION_SYSTEM_NAME, key[0]);
	put_number(&message, FUNCTION_FILE, key[1]);
	put_number(&message, FUNCTION_LINE, key[2]);
	write_field(out, PROFILE_FUNCTION, &message);
}

static void write_string(gzFile out, const char *text)
{
	put_bytes(&message, text, strlen(text));
	write_field(out, PROFILE_STRING, &message);
}

static void write_build_id(gzFile out, const struct elf_head *head)
{
	char text[2 * sizeof(head->id) + 1] = "";
	unsigned int i;

	for (i = 0; i < head->id_size; i++)
		sprintf(text + 2 * i, "%02x", head->id[i]);
	write_string(out, text);
}

static void write_strings(gzFile out)
{
	unsigned int i;

	for (i = 0; i < nr_strings(); i++)
		write_string(out, string(i));
	for (i = 0; i < NR_WORDS; i++)
		write_string(out, words[i]);
	for (i = 0; i < nr_files(); i++)
		write_build_id(out, &image_of(i)->head);
}

static void write_profile(gzFile out, const struct recording *recording)
{
	unsigned int time = recording->off_cpu ? DELAY : CPU, i;
	bool *unnamed;

	name_all();
	add_thread_names();
	functions.max = nr_locations();
	write_type(out, PROFILE_SAMPLE_TYPE, SAMPLES, COUNT);
	write_type(out, PROFILE_SAMPLE_TYPE, time, NANOSECONDS);
	for (i = 0; i < nr_rows(); i++)
		write_sample(out, recording, i);
	unnamed = find_unnamed();
	write_kernel_mapping(out, unnamed[KERNEL_MAPPING]);
	for (i = 0; i < nr_files(); i++)
		write_mapping(out, i, unnamed[i + KERNEL_MAPPING + 1]);
	free(unnamed);
	for (i = 0; i < nr_locations(); i++)
		write_location(out, i);
	for (i = 0; i < functions.nr; i++)
		write_function(out, i);
	write_strings(out);
	write_number(out, PROFILE_TIME, recording->begin);
	write_number(out, PROFILE_DURATION, recording->duration);
	write_type(out, PROFILE_PERIOD_TYPE, time, NANOSECONDS);
	write_number(out, PROFILE_PERIOD,
		     recording->off_cpu ? 1 : 1000000000 / recording->hertz);
}

static void add_pprof(FILE *out, const struct recording *recording,
		      const struct sample *sample, unsigned int user)
{
	struct row row = { sample->thread, sample->kernel, user };

	count(&row, 1, sample->asleep);
}

static int end_pprof(FILE *file, const struct recording *recording)
{
	int error, fd = dup(fileno(file));
	gzFile out = fd < 0 ? NULL : gzdopen(fd, "wb");

	if (!out)
		return -1;
	write_profile(out, recording);
	gzerror(out, &error);
	if (gzclose(out) == Z_OK && error == Z_OK)
		return 0;
	errno = errno ?: EIO;
	return -1;
}

const struct output pprof = { "pprof", true, add_pprof, end_pprof };
