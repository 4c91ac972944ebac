// SPDX-License-Identifier: GPL-2.0
/*
 * Where deferred user stacks end that are not complete.
 *
 * The kernel ends a stack early where it has no table for an object, and the object keeps
 * no frame pointers. The stack does not say so. But a complete one ends where the kernel
 * begins a program or a thread: at the entry point of its program or of the dynamic linker,
 * or in the C library's clone(). A stripped library has no name for that; but a thread that
 * returns to it exits. Go's runtime begins goroutines and threads itself. All others are
 * counted for the object where they end. It is shown whether that has a table of its own,
 * of a version that kernels read; the kernel may have got one from a service.
 *
 * A stack with as many frames as its event allows was cut by perf, and counts as complete.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include "dso.h"
#include "event.h"
#include "evsel.h"
#include "machine.h"
#include "map.h"
#include "runtime-frames.h"
#include "sample.h"
#include "stack-ends.h"
#include "symbol.h"
#include "thread.h"
#include "util.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME	0x6474e554
#endif

#define SFRAME_MAGIC	0xdee2
/* Older ones are read by no kernel, newer ones by some */
#define SFRAME_OLDEST	2

/* Bytes of code at an entry point, before it is left for good */
#define ENTRY_SIZE	64
#define MAX_PHDRS	64
/* Objects that are named in one line */
#define LINE_OBJECTS	4

struct stack_ends_object {
	struct list_head	node;
	struct dso		*dso;
	char			*name;
	/* Of its entry point in the file; 0: none is known */
	u64			entry;
	u64			early;
	/* Of its SFrame section; 0: it has none */
	u8			version;
};

/* The start of a section, the same in all versions of SFrame */
struct sframe_preamble {
	u16	magic;
	u8	version;
	u8	flags;
};

void stack_ends__init(struct stack_ends *ends)
{
	INIT_LIST_HEAD(&ends->objects);
	ends->total = 0;
	ends->early = 0;
	ends->max_frames = sysctl__max_stack();
}

void stack_ends__exit(struct stack_ends *ends)
{
	struct stack_ends_object *object, *next;

	list_for_each_entry_safe(object, next, &ends->objects, node) {
		list_del(&object->node);
		dso__put(object->dso);
		free(object->name);
		free(object);
	}
}

/* The version of the SFrame section at @offset of the file; 0 if there is none */
static u8 read_version(struct dso *dso, struct machine *machine, u64 offset)
{
	struct sframe_preamble preamble;

	if (dso__data_read_offset(dso, machine, offset, (u8 *)&preamble,
				  sizeof(preamble)) != sizeof(preamble) ||
	    preamble.magic != SFRAME_MAGIC)
		return 0;
	return preamble.version;
}

/* Read the file's headers. Without a file, nothing is known. */
static void read_headers(struct stack_ends_object *object, struct dso *dso,
			 struct machine *machine)
{
	Elf64_Phdr phdrs[MAX_PHDRS];
	Elf64_Ehdr ehdr;
	ssize_t size;
	int i;

	if (dso__data_read_offset(dso, machine, 0, (u8 *)&ehdr, sizeof(ehdr)) != sizeof(ehdr) ||
	    memcmp(ehdr.e_ident, ELFMAG, SELFMAG) || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr.e_phentsize != sizeof(phdrs[0]) || ehdr.e_phnum > MAX_PHDRS)
		return;
	size = ehdr.e_phnum * sizeof(phdrs[0]);
	if (dso__data_read_offset(dso, machine, ehdr.e_phoff, (u8 *)phdrs, size) != size)
		return;
	for (i = 0; i < ehdr.e_phnum; i++) {
		if (phdrs[i].p_type == PT_GNU_SFRAME)
			object->version = read_version(dso, machine, phdrs[i].p_offset);
		if (phdrs[i].p_type == PT_LOAD &&
		    ehdr.e_entry - phdrs[i].p_vaddr < phdrs[i].p_filesz)
			object->entry = ehdr.e_entry - phdrs[i].p_vaddr + phdrs[i].p_offset;
	}
}

static struct stack_ends_object *get_object(struct stack_ends *ends, struct dso *dso,
					    struct machine *machine)
{
	struct stack_ends_object *object;

	list_for_each_entry(object, &ends->objects, node) {
		if (object->dso == dso)
			return object;
	}
	object = zalloc(sizeof(*object));
	if (!object)
		return NULL;
	object->name = strdup(dso ? dso__long_name(dso) : "[no file]");
	if (!object->name) {
		free(object);
		return NULL;
	}
	if (dso) {
		object->dso = dso__get(dso);
		read_headers(object, dso, machine);
	}
	list_add_tail(&object->node, &ends->objects);
	return object;
}

/* Does the kernel begin a thread in a function of this name? */
static bool begins_thread(const char *name)
{
	static const char * const names[] = {
		"_start", "_dl_start_user", "clone", "clone3", "thread_start",
	};
	size_t i;

	name += strspn(name, "_");
	if (!strncmp(name, "GI_", 3))
		name += 3 + strspn(name + 3, "_");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(name, names[i] + strspn(names[i], "_")))
			return true;
	}
	return false;
}

/*
 * The number of native user addresses, and the last of them. @all counts the kernel's, too,
 * because an event's limit does.
 */
static u64 last_user_ip(const struct ip_callchain *chain, u64 *ip, u64 *all)
{
	bool user = false;
	u64 nr = 0, i;

	for (i = 0; i < chain->nr; i++) {
		if (chain->ips[i] >= PERF_CONTEXT_MAX) {
			user = chain->ips[i] == PERF_CONTEXT_USER;
		} else if (!runtime_frames__is_ip(chain->ips[i])) {
			++*all;
			if (user) {
				*ip = chain->ips[i];
				nr++;
			}
		}
	}
	return nr;
}

/* Would the thread call exit(2), not exit_group(2), if it returned to this address? */
static bool exits_thread(const struct addr_location *al, struct machine *machine, u64 ip)
{
	/* mov $60, %eax; syscall: after the result has been made its argument */
	static const u8 x86[] = { 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05 };
	/* mov x8, #93; svc #0 */
	static const u8 arm64[] = { 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	u8 code[3 + sizeof(x86)];

	if (!al->map || dso__data_read_addr(map__dso(al->map), al->map, machine, ip, code,
					    sizeof(code)) != sizeof(code))
		return false;
	return !memcmp(code, arm64, sizeof(arm64)) || !memcmp(code + 2, x86, sizeof(x86)) ||
	       !memcmp(code + 3, x86, sizeof(x86));
}

/* Does Go's runtime begin there? Its programs are stripped as a rule. */
static bool begins_go(const struct addr_location *al, struct machine *machine, u64 ip)
{
	/* mstart: mov $0, %ebp; call of a function that does not return */
	static const u8 mstart[] = { 0xbd, 0, 0, 0, 0, 0xe8 };
	/* The address is after these and the distance of the call, before a ret */
	const size_t at = sizeof(mstart) + 4;
	u8 code[sizeof(mstart) + 4 + 6];

	if (!al->map || dso__data_read_addr(map__dso(al->map), al->map, machine, ip - at, code,
					    sizeof(code)) != sizeof(code))
		return false;
	if (!memcmp(code, mstart, sizeof(mstart)) && code[at] == 0xc3)
		return true;
	/* goexit: nop; call; nop.  It seems to have called the goroutine by its first byte. */
	return code[at - 1] == 0x90 && code[at] == 0xe8 && code[at + 5] == 0x90;
}

static bool is_complete(const struct stack_ends_object *object, const struct addr_location *al,
			struct symbol *sym, struct machine *machine, u64 ip)
{
	if (object->entry && al->addr - object->entry <= ENTRY_SIZE)
		return true;
	return (sym && begins_thread(sym->name)) || exits_thread(al, machine, ip) ||
	       begins_go(al, machine, ip);
}

/**
 * stack_ends__count - Count a sample's user stack, if it has one that was deferred.
 * @ends: The counts.
 * @evsel: The sample's event.
 * @sample: The sample, whose callchain is whole.
 * @machine: Where it was taken.
 *
 * Return: true if the stack ends early.
 */
bool stack_ends__count(struct stack_ends *ends, struct evsel *evsel,
		       struct perf_sample *sample, struct machine *machine)
{
	struct stack_ends_object *object;
	struct addr_location al;
	struct thread *thread;
	struct symbol *sym;
	u64 nr, ip = 0, all = 0;
	bool early;

	if (!evsel->core.attr.defer_callchain || !sample->callchain)
		return false;
	nr = last_user_ip(sample->callchain, &ip, &all);
	if (!nr)
		return false;
	ends->total++;
	if (all >= (evsel->core.attr.sample_max_stack ?: ends->max_frames))
		return false;

	thread = machine__findnew_thread(machine, sample->pid, sample->tid);
	if (!thread)
		return false;
	addr_location__init(&al);
	/* A return address may lie after its function */
	sym = thread__find_symbol(thread, PERF_RECORD_MISC_USER, nr > 1 ? ip - 1 : ip, &al);
	object = get_object(ends, al.map ? map__dso(al.map) : NULL, machine);
	early = object && !is_complete(object, &al, sym, machine, ip);
	if (early) {
		object->early++;
		ends->early++;
	}
	addr_location__exit(&al);
	thread__put(thread);
	return early;
}

/**
 * stack_ends__sort - Sort objects, those where most stacks end first.
 * @ends: The counts.
 */
void stack_ends__sort(struct stack_ends *ends)
{
	struct stack_ends_object *object, *most;
	LIST_HEAD(sorted);

	while (!list_empty(&ends->objects)) {
		most = list_first_entry(&ends->objects, struct stack_ends_object, node);
		list_for_each_entry(object, &ends->objects, node) {
			if (object->early > most->early)
				most = object;
		}
		list_move_tail(&most->node, &sorted);
	}
	list_splice(&sorted, &ends->objects);
}

static bool has_table(const struct stack_ends_object *object)
{
	return object->version >= SFRAME_OLDEST;
}

static void fprintf_note(const struct stack_ends_object *object, FILE *fp)
{
	if (has_table(object) || !object->dso)
		return;
	if (object->version)
		fprintf(fp, " (table of version %u, not read)", object->version);
	else
		fprintf(fp, " (no table of its own)");
}

/**
 * stack_ends__fprintf_line - In one line, as at the end of perf record.
 * @ends: The counts, sorted.
 * @fp: Where to print.
 *
 * Nothing is printed if less than 1 % of the stacks end early: no stack is complete
 * while a program is loaded, or runs code without any table.
 */
void stack_ends__fprintf_line(const struct stack_ends *ends, FILE *fp)
{
	const struct stack_ends_object *object;
	unsigned int nr = 0;
	bool without = false;

	if (ends->early * 100 <= ends->total)
		return;
	fprintf(fp, "[ perf record: %.1f %% of %" PRIu64 " user stacks end early:",
		100.0 * ends->early / ends->total, ends->total);
	list_for_each_entry(object, &ends->objects, node) {
		if (!object->early || nr++ == LINE_OBJECTS)
			break;
		fprintf(fp, "%s %" PRIu64 " in %s", nr > 1 ? ";" : "", object->early,
			object->name);
		fprintf_note(object, fp);
		without |= !has_table(object);
	}
	fprintf(fp, "%s%s ]\n", nr > LINE_OBJECTS ? "; ..." : "",
		without ? " (unwind-tables serve makes tables, for the next recording)" : "");
}

/**
 * stack_ends__fprintf - A line for each object where stacks end early.
 * @ends: The counts, sorted.
 * @fp: Where to print.
 */
void stack_ends__fprintf(const struct stack_ends *ends, FILE *fp)
{
	const struct stack_ends_object *object;

	if (!ends->early)
		return;
	fprintf(fp, "#\n# User stacks that end early: %" PRIu64 " of %" PRIu64 "\n",
		ends->early, ends->total);
	list_for_each_entry(object, &ends->objects, node) {
		if (!object->early)
			continue;
		fprintf(fp, "# %10" PRIu64 "  %s", object->early, object->name);
		fprintf_note(object, fp);
		fprintf(fp, "\n");
	}
	fprintf(fp, "#\n");
}
