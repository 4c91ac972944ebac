// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of libtraceevent: "trace-cmd report" prints deferred user stacks as the file
 * "trace" does, a line per frame with path and offset.
 *
 * A stack has numbers of files.  Each is announced by an event of its own (user_unwind_file),
 * which comes first, so the plugin keeps what it has printed.  (Where events were lost before
 * the stack, it may come after the stack, and the line has the number.)  Trace instances number
 * files independently: of a recording with several, report one at a time ("-B").
 * Documentation/trace/user-unwind.rst describes the events.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>
#include <trace-seq.h>

/* Of "kind": functions of a language, which have no offsets */
#define KIND_FUNCTION	5

/* Text that is in no file has the number of its kind */
static const char * const no_files[] = { "[none]", "[anon]", "[jit]", "[vdso]" };
static const char * const no_names[] = { "[more functions]", "[function]" };

/**
 * struct file - what a number stands for
 * @next: the next one in the same bucket
 * @id: the number
 * @kind: of text
 * @path: its name
 */
struct file {
	struct file	*next;
	uint32_t	id;
	uint32_t	kind;
	char		path[];
};

#define BUCKETS	1024

static struct file *files[BUCKETS];

static struct file *find_file(uint32_t id)
{
	struct file *file = files[id % BUCKETS];

	while (file && file->id != id)
		file = file->next;
	return file;
}

/* A number that is announced again may stand for another file */
static void add_file(uint32_t id, uint32_t kind, const char *path, size_t size)
{
	struct file **at = &files[id % BUCKETS], *old;
	struct file *file = malloc(sizeof(*file) + size + 1);

	if (!file)
		return;
	while (*at && (*at)->id != id)
		at = &(*at)->next;
	old = *at;
	file->next = old ? old->next : NULL;
	file->id = id;
	file->kind = kind;
	memcpy(file->path, path, size);
	file->path[size] = 0;
	*at = file;
	free(old);
}

static uint64_t value_of(struct tep_event *event, const char *name, struct tep_record *record)
{
	unsigned long long value = 0;

	tep_get_field_val(NULL, event, name, record, &value, 0);
	return value;
}

/* An array of the event, bounded by it; its size in bytes is 0 if there is none */
static const void *array_of(struct tep_event *event, const char *name, struct tep_record *record,
			    size_t *size)
{
	const char *data, *end = (const char *)record->data + record->size;
	int len = 0;

	data = tep_get_field_raw(NULL, event, name, record, &len, 0);
	*size = data && len > 0 && data <= end && len <= end - data ? len : 0;
	return data;
}

static void print_frame(struct trace_seq *s, uint32_t id, uint64_t offset)
{
	const struct file *file = find_file(id);
	const uint32_t function = id - KIND_FUNCTION;

	if (file && file->kind == KIND_FUNCTION)
		trace_seq_printf(s, "\n => %s", file->path);
	else if (file)
		trace_seq_printf(s, "\n => %s+0x%llx", file->path, (unsigned long long)offset);
	else if (function < sizeof(no_names) / sizeof(*no_names))
		trace_seq_printf(s, "\n => %s", no_names[function]);
	else if (id < sizeof(no_files) / sizeof(*no_files))
		trace_seq_printf(s, "\n => %s+0x%llx", no_files[id], (unsigned long long)offset);
	else
		trace_seq_printf(s, "\n => file#0x%x+0x%llx", id, (unsigned long long)offset);
}

static int print_stack(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		       void *context)
{
	const uint64_t omitted = value_of(event, "omitted", record);
	size_t ids_size, offsets_size, i;
	const char *ids = array_of(event, "file", record, &ids_size);
	const char *offsets = array_of(event, "offset", record, &offsets_size);
	uint64_t offset;
	uint32_t id;

	trace_seq_printf(s, "cookie=0x%llx",
			 (unsigned long long)value_of(event, "cookie", record));
	for (i = 0; (i + 1) * sizeof(id) <= ids_size && (i + 1) * sizeof(offset) <= offsets_size;
	     i++) {
		memcpy(&id, ids + i * sizeof(id), sizeof(id));
		memcpy(&offset, offsets + i * sizeof(offset), sizeof(offset));
		print_frame(s, id, offset);
	}
	if (omitted)
		trace_seq_printf(s, "\n => ... %llu more", (unsigned long long)omitted);
	return 0;
}

static int print_file(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		      void *context)
{
	const uint32_t id = value_of(event, "file", record);
	size_t size, build_id_size, i;
	const char *path = array_of(event, "path", record, &size);
	const unsigned char *build_id = array_of(event, "build_id", record, &build_id_size);

	size = size ? strnlen(path, size) : 0;
	add_file(id, value_of(event, "kind", record), path, size);
	trace_seq_printf(s, "file=0x%x path=%.*s", id, (int)size, path);
	for (i = 0; i < build_id_size; i++)
		trace_seq_printf(s, "%s%02x", i ? "" : " build_id=", build_id[i]);
	return 0;
}

int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	tep_register_event_handler(tep, -1, "ftrace", "user_unwind_stack", print_stack, NULL);
	tep_register_event_handler(tep, -1, "ftrace", "user_unwind_file", print_file, NULL);
	return 0;
}

void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	unsigned int i;

	tep_unregister_event_handler(tep, -1, "ftrace", "user_unwind_stack", print_stack, NULL);
	tep_unregister_event_handler(tep, -1, "ftrace", "user_unwind_file", print_file, NULL);
	for (i = 0; i < BUCKETS; i++) {
		while (files[i]) {
			struct file *file = files[i];

			files[i] = file->next;
			free(file);
		}
	}
}
