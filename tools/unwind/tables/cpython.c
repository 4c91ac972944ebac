// SPDX-License-Identifier: GPL-2.0
/*
 * The chain of CPython: where a python3, or a libpython, has the frames of its functions.
 *
 * Since version 3.13, CPython says in its own file where the members of its structures are:
 * the section .PyRuntime begins with a table of offsets for debuggers.  It is filled in by
 * the compiler, so one does not need the process to read it.  Its layout depends on the
 * version, which it has as well.
 *
 *   _PyRuntime -> interpreters -> threads -> frames -> code object: name, file, line
 */
#include <string.h>

#include "elf_file.h"

/* The table begins with this, and 64-bit numbers follow */
#define COOKIE		"xdebugpy"
#define NUMBERS		96
#define OFFSET_MAX	(UNWIND_CHAIN_MAX_OFFSET)

/* The first numbers of all versions: PY_VERSION_HEX, and is it a free-threaded build? */
#define VERSION		0
#define FREE_THREADED	1

/* A frame that the interpreter has on the C stack */
#define OWNED_BY_INTERPRETER	3
/* str, stored as ASCII right after its header: the bits kind, compact and ascii */
#define STR_LAYOUT		0x7c
#define STR_COMPACT_ASCII	0x64

/* The place of each number in the table of a version: major and minor */
struct layout {
	__u16	version;
	__u8	interpreters_head;
	__u8	interpreter_next;
	__u8	interpreter_threads;
	__u8	thread_next;
	__u8	thread_current_frame;
	__u8	thread_native_id;
	__u8	frame_previous;
	__u8	frame_executable;
	__u8	frame_owner;
	__u8	code_filename;
	__u8	code_qualname;
	__u8	code_firstlineno;
	__u8	str_state;
	__u8	str_length;
	__u8	str_header_size;
};

static const struct layout layouts[] = {
	{
		.version		= 0x030d,
		.interpreters_head	= 4,
		.interpreter_next	= 7,
		.interpreter_threads	= 8,
		.thread_next		= 20,
		.thread_current_frame	= 22,
		.thread_native_id	= 24,
		.frame_previous		= 28,
		.frame_executable	= 29,
		.frame_owner		= 32,
		.code_filename		= 34,
		.code_qualname		= 36,
		.code_firstlineno	= 38,
		.str_state		= 67,
		.str_length		= 68,
		.str_header_size	= 69,
	},
	{
		.version		= 0x030e,
		.interpreters_head	= 4,
		.interpreter_next	= 7,
		.interpreter_threads	= 8,
		.thread_next		= 23,
		.thread_current_frame	= 25,
		.thread_native_id	= 27,
		.frame_previous		= 31,
		.frame_executable	= 32,
		.frame_owner		= 35,
		.code_filename		= 39,
		.code_qualname		= 41,
		.code_firstlineno	= 43,
		.str_state		= 77,
		.str_length		= 78,
		.str_header_size	= 79,
	},
};

static const struct layout *find_layout(const __u64 *numbers)
{
	size_t i;

	/* The string's state is another one in free-threaded builds */
	if (numbers[FREE_THREADED])
		return NULL;
	for (i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (numbers[VERSION] >> 16 == layouts[i].version)
			return &layouts[i];
	}
	return NULL;
}

static bool read_numbers(struct reader *r, __u64 *numbers)
{
	char cookie[] = COOKIE;
	size_t i;

	for (i = 0; i < strlen(COOKIE); i++)
		cookie[i] = read_u8(r);
	for (i = 0; i < NUMBERS; i++)
		numbers[i] = read_uint(r, sizeof(*numbers));
	return !r->bad && !strcmp(cookie, COOKIE);
}

static bool are_offsets(const struct layout *layout, const __u64 *numbers)
{
	const __u8 *place = &layout->interpreters_head;

	for (; place <= &layout->str_header_size; place++) {
		if (numbers[*place] > OFFSET_MAX)
			return false;
	}
	return true;
}

/**
 * cpython_chain - find the chain of a file that has CPython
 * @file: the file
 * @chain: set
 *
 * Return: whether there is one: the file has CPython, of a known version.
 */
bool cpython_chain(const struct elf_file *file, struct unwind_chain_attr *chain)
{
	const struct layout *l;
	__u64 n[NUMBERS], addr, origin;
	struct reader r;

	if (!elf_file_section(file, ".PyRuntime", &addr, &r) ||
	    !elf_file_text_origin(file, &origin) || !read_numbers(&r, n))
		return false;
	l = find_layout(n);
	if (!l || !are_offsets(l, n))
		return false;
	*chain = (struct unwind_chain_attr){
		.flags = UNWIND_CHAIN_NAME | UNWIND_CHAIN_FILE | UNWIND_CHAIN_LINE,
		.head = addr + n[l->interpreters_head] - origin,
		.nr_lists = 2,
		.lists = {
			{ .next = n[l->interpreter_next], .first = n[l->interpreter_threads] },
			{ .next = n[l->thread_next], .first = n[l->thread_current_frame] },
		},
		.thread = n[l->thread_native_id],
		.next = n[l->frame_previous],
		.function = n[l->frame_executable],
		/* The lowest bits are a tag */
		.function_mask = ~3ULL,
		.entry = n[l->frame_owner],
		.entry_mask = 0xff,
		.entry_value = OWNED_BY_INTERPRETER,
		.check = { n[l->code_qualname], n[l->code_firstlineno] },
		.name = n[l->code_qualname],
		.file = n[l->code_filename],
		.line = n[l->code_firstlineno],
		.string = {
			.length = n[l->str_length],
			.data = n[l->str_header_size],
			.check = n[l->str_state],
			.check_mask = STR_LAYOUT,
			.check_value = STR_COMPACT_ASCII,
		},
	};
	return true;
}
