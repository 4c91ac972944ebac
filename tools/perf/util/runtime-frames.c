// SPDX-License-Identifier: GPL-2.0
/*
 * The frames of interpreted languages in callchains.
 *
 * The kernel writes them beside the native stack, with the number of the native frame that
 * executes each of them, and the names of their functions apart:
 *
 *   PERF_RECORD_RUNTIME_NAME         process, function, check: name, file, line
 *   PERF_RECORD_CALLCHAIN_RUNTIME    cookie: function, check, place, ...
 *   PERF_RECORD_CALLCHAIN_DEFERRED   cookie: ips[]
 *
 * Here each different name, file and line gets an address that no program has, with a
 * symbol and a map of its own. Merged into the native callchain, these addresses
 * are resolved as others are, and everything that shows callchains shows them. A function
 * whose name is not known yet has an address of its own, which stands for the one of this name
 * from then on.
 *
 * Functions are kept for the rest of perf's life.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <elf.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "dso.h"
#include "event.h"
#include "hashmap.h"
#include "map.h"
#include "runtime-frames.h"
#include "sample.h"
#include "symbol.h"

/* Distance of two addresses that stand for functions */
#define FUNCTION_SIZE	16
/* Shown in the place of an object where the function has no file */
#define NO_FILE		"[runtime]"

/**
 * struct runtime_function - A function, as its runtime calls it.
 */
struct runtime_function {
	/** @ip: Stands for it. */
	u64			ip;
	/** @name: Its name. */
	char			*name;
	/** @file: Its file and first line, shown in the place of an object. */
	char			*file;
	/** @map: A map of @ip alone, with a symbol, made when it is first looked up. */
	struct map		*map;
	/** @named: The function that it stands for, once its name is known; or NULL. */
	struct runtime_function	*named;
};

/**
 * struct runtime_key - How records refer to a function.
 */
struct runtime_key {
	/** @function: Its address. */
	u64	function;
	/** @check: Tells it from others that had this address. */
	u32	check;
	/** @pid: Its process. */
	u32	pid;
	/** @machine_pid: The machine of the process. */
	u32	machine_pid;
};

static struct runtime_function **functions;
static size_t nr_functions;
/* By name and file */
static struct hashmap *by_name;
/* By struct runtime_key */
static struct hashmap *by_key;

static size_t name_hash(long key, void *ctx __maybe_unused)
{
	const struct runtime_function *function = (void *)key;

	return str_hash(function->name) * 31 + str_hash(function->file);
}

static bool name_equal(long key1, long key2, void *ctx __maybe_unused)
{
	const struct runtime_function *a = (void *)key1, *b = (void *)key2;

	return !strcmp(a->name, b->name) && !strcmp(a->file, b->file);
}

static size_t key_hash(long key, void *ctx __maybe_unused)
{
	const struct runtime_key *k = (void *)key;

	return (k->function ^ (u64)k->check << 32 ^ k->pid) * 0x9e3779b97f4a7c15ULL >> 16;
}

static bool key_equal(long key1, long key2, void *ctx __maybe_unused)
{
	const struct runtime_key *a = (void *)key1, *b = (void *)key2;

	return a->function == b->function && a->check == b->check && a->pid == b->pid &&
	       a->machine_pid == b->machine_pid;
}

static bool init(void)
{
	if (!by_name)
		by_name = hashmap__new(name_hash, name_equal, NULL);
	if (!by_key)
		by_key = hashmap__new(key_hash, key_equal, NULL);
	return !IS_ERR_OR_NULL(by_name) && !IS_ERR_OR_NULL(by_key);
}

static struct runtime_function *function__new(const char *name, const char *file)
{
	struct runtime_function **more = NULL, *function = zalloc(sizeof(*function));

	if (!function)
		return NULL;
	function->ip = RUNTIME_FRAMES_START + nr_functions * FUNCTION_SIZE;
	function->name = strdup(name);
	function->file = strdup(file);
	if (function->name && function->file)
		more = realloc(functions, (nr_functions + 1) * sizeof(*functions));
	if (more)
		functions = more;
	if (!more || hashmap__add(by_name, function, function)) {
		free(function->name);
		free(function->file);
		free(function);
		return NULL;
	}
	functions[nr_functions++] = function;
	return function;
}

static struct runtime_function *function__findnew(char *name, char *file)
{
	struct runtime_function wanted = { .name = name, .file = file }, *found;

	if (hashmap__find(by_name, &wanted, &found))
		return found;
	return function__new(name, file);
}

static int set_key(const struct runtime_key *key, struct runtime_function *function)
{
	struct runtime_key *copy, *old = NULL;

	copy = memdup(key, sizeof(*key));
	if (!copy || hashmap__set(by_key, copy, function, &old, NULL)) {
		free(copy);
		return -ENOMEM;
	}
	free(old);
	return 0;
}

/* The next string, which has to end before @end */
static const char *next_string(const char **pos, const char *end)
{
	const char *string = *pos;
	size_t len = strnlen(string, end - string);

	if (string + len == end)
		return "";
	*pos += len + 1;
	return string;
}

/* Stands for a function without a name, or whose name is not known yet */
static struct runtime_function *unknown_function(const struct runtime_key *key)
{
	char name[64];

	snprintf(name, sizeof(name), "[function %u:%#" PRIx64 ":%x]", key->pid, key->function,
		 key->check);
	return function__findnew(name, (char *)NO_FILE);
}

static struct runtime_function *named_function(const struct runtime_key *key, char *name,
					       const char *file, u32 line)
{
	struct runtime_function *function;
	char *place;

	if (!*name && !*file)
		return unknown_function(key);
	if (asprintf(&place, line ? "%s:%u" : "%s", *file ? file : NO_FILE, line) < 0)
		return NULL;
	function = function__findnew(*name ? name : (char *)"[unnamed]", place);
	free(place);
	return function;
}

/**
 * runtime_frames__add_name - Note what a function is called.
 * @event: A PERF_RECORD_RUNTIME_NAME.
 * @sample: What was parsed from it.
 *
 * Return: 0, or -ENOMEM.
 */
int runtime_frames__add_name(const union perf_event *event, const struct perf_sample *sample)
{
	const struct perf_record_runtime_name *rec = &event->runtime_name;
	const char *end = (const char *)event + event->header.size, *pos = rec->names;
	const struct runtime_key key = {
		.function = rec->function,
		.check = rec->check,
		.pid = rec->pid,
		.machine_pid = sample->machine_pid,
	};
	struct runtime_function *function, *old;
	const char *name;

	if (!init())
		return -ENOMEM;
	name = next_string(&pos, end);
	function = named_function(&key, (char *)name, next_string(&pos, end), rec->line);
	if (!function)
		return -ENOMEM;
	/* Frames that were read before their name have it now, unless they were shown */
	if (hashmap__find(by_key, &key, &old) && old != function && old == unknown_function(&key))
		old->named = function;
	return set_key(&key, function);
}

static struct runtime_function *find_function(const struct runtime_key *key)
{
	struct runtime_function *function;

	if (hashmap__find(by_key, key, &function))
		return function;
	function = unknown_function(key);
	return function && !set_key(key, function) ? function : NULL;
}

/* Stands for all that are cut off */
static struct runtime_function *more_functions(void)
{
	return function__findnew((char *)"[more functions]", (char *)NO_FILE);
}

/**
 * runtime_frames__parse - Read the frames of a record.
 * @event: A PERF_RECORD_CALLCHAIN_RUNTIME.
 * @sample: What was parsed from it.
 * @frames: Set to the frames, which the caller frees.
 *
 * Return: The number of frames, or -EINVAL or -ENOMEM.
 */
s64 runtime_frames__parse(const union perf_event *event, const struct perf_sample *sample,
			  struct runtime_frame **frames)
{
	const struct perf_record_callchain_runtime *rec = &event->callchain_runtime;
	const bool cut = event->header.misc & PERF_RECORD_MISC_RUNTIME_CUT;
	struct runtime_key key = { .pid = sample->pid, .machine_pid = sample->machine_pid };
	struct runtime_function *function;
	struct runtime_frame *frame;
	u64 i;

	if (event->header.size < sizeof(*rec) ||
	    rec->nr > (event->header.size - sizeof(*rec)) / sizeof(rec->frames[0]))
		return -EINVAL;
	*frames = frame = calloc(rec->nr + 1, sizeof(**frames));
	if (!init() || !frame)
		goto out_free;
	for (i = 0; i < rec->nr + cut; i++, frame++) {
		if (i < rec->nr) {
			/* The second word: check, place, runtime, from the lowest bits on */
			key.function = rec->frames[i].function;
			key.check = rec->frames[i].rest;
			frame->place = rec->frames[i].rest >> 32 & 0xffff;
			function = find_function(&key);
		} else {
			frame->place = i ? frame[-1].place : UINT16_MAX;
			function = more_functions();
		}
		if (!function)
			goto out_free;
		frame->ip = function->ip;
		frame->number = i;
	}
	return i;

out_free:
	zfree(frames);
	return -ENOMEM;
}

static int compare_places(const void *a, const void *b)
{
	const struct runtime_frame *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/**
 * runtime_frames__merge - Put frames into their places in a native callchain.
 * @to: Has room for all of them.
 * @ips: The native callchain, the innermost frame first.
 * @nr: Its number of frames.
 * @frames: The frames, which are sorted.
 * @nr_frames: Their number.
 *
 * A frame comes before the native frame that executes it, after all that it has called.
 * Frames that belong to no native one come last.
 *
 * Return: the number of addresses in @to.
 */
u64 runtime_frames__merge(u64 *to, const u64 *ips, u64 nr,
			  struct runtime_frame *frames, u64 nr_frames)
{
	u64 i, done = 0, frame = 0;

	qsort(frames, nr_frames, sizeof(*frames), compare_places);
	for (i = 0; i < nr; i++) {
		while (frame < nr_frames && frames[frame].place <= i)
			to[done++] = frames[frame++].ip;
		to[done++] = ips[i];
	}
	while (frame < nr_frames)
		to[done++] = frames[frame++].ip;
	return done;
}

/* A map of the address alone, whose object has the symbol */
static struct map *function__make_map(const struct runtime_function *function)
{
	struct symbol *sym = symbol__new(function->ip, FUNCTION_SIZE, STB_LOCAL, STT_FUNC,
					 function->name);
	struct dso *dso = dso__new(function->file);
	struct map *map = NULL;

	if (sym && dso) {
		dso__insert_symbol(dso, sym);
		dso__set_loaded(dso);
		/* The process chose the name: no file is opened by it */
		dso__set_has_srcline(dso, false);
		map = map__new2(function->ip, dso);
	} else if (sym) {
		symbol__delete(sym);
	}
	dso__put(dso);
	if (!map)
		return NULL;
	map__set_end(map, function->ip + FUNCTION_SIZE);
	map__set_mapping_type(map, MAPPING_TYPE__IDENTITY);
	return map;
}

/**
 * runtime_frames__map - Find the map of an address.
 * @ip: The address, one for which runtime_frames__is_ip() is true; set to the one that it
 *	stands for.
 *
 * Return: The map, with a reference; NULL if it stands for nothing.
 */
struct map *runtime_frames__map(u64 *ip)
{
	u64 i = (*ip - RUNTIME_FRAMES_START) / FUNCTION_SIZE;
	struct runtime_function *function;

	if (i >= nr_functions)
		return NULL;
	function = functions[i];
	if (function->named) {
		function = function->named;
		*ip = function->ip;
	}
	if (!function->map)
		function->map = function__make_map(function);
	return map__get(function->map);
}
