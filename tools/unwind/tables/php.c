// SPDX-License-Identifier: GPL-2.0
/*
 * The chain of PHP: where a php, or a libphp, has the frames of its functions.
 *
 * PHP has no table of offsets.  But it exports its variables, and has the number of its
 * interface for extensions in a string: structures do not change while that is the same.
 *
 *   executor_globals -> frames -> function: name and, if it is PHP, file and line
 *
 * Its interpreter, execute_ex(), has no frames on the C stack.  It executes a function that
 * C called, and all that this one calls in PHP: frames have a bit that says who called.  So
 * the next such frame belongs to the next native frame of execute_ex(), which may be in the
 * part of it that its compiler has moved away.
 *
 * Builds for threads are refused: they have their frames in the memory of each thread.
 */
#include <string.h>

#include "elf_file.h"

/* A function of an extension: it has neither opcodes nor a file */
#define KIND_INTERNAL		0x1
/* C has called the frame's function */
#define CALL_TOP		0x20000

/**
 * struct php_layout - offsets of a version
 * @build: what a build without threads and debugging says of itself
 * @globals_frame: in executor_globals, of the innermost frame
 * @frame_function: in a frame
 * @frame_call: in a frame, of the bits about the call
 * @frame_previous: in a frame
 * @function_kind: in a function
 * @function_name: in a function
 * @function_opcodes: in a function
 * @function_file: in a function
 * @function_line: in a function
 * @string_length: in a string
 * @string_data: in a string
 */
struct php_layout {
	const char	*build;
	__u16		globals_frame;
	__u16		frame_function;
	__u16		frame_call;
	__u16		frame_previous;
	__u16		function_kind;
	__u16		function_name;
	__u16		function_opcodes;
	__u16		function_file;
	__u16		function_line;
	__u16		string_length;
	__u16		string_data;
};

static const struct php_layout layouts[] = {
	{
		/* PHP 8.4 */
		.build			= "API420240924,NTS",
		.globals_frame		= 488,
		.frame_function		= 24,
		.frame_call		= 40,
		.frame_previous		= 48,
		.function_kind		= 0,
		.function_name		= 8,
		.function_opcodes	= 104,
		.function_file		= 168,
		.function_line		= 176,
		.string_length		= 16,
		.string_data		= 24,
	},
};

static const struct php_layout *find_layout(const struct elf_file *file)
{
	struct reader r;
	__u64 addr;
	size_t i;

	if (!elf_file_section(file, ".rodata", &addr, &r))
		return NULL;
	for (i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		/* With its end: more may follow in other builds */
		if (memmem(r.pos, reader_left(&r), layouts[i].build,
			   strlen(layouts[i].build) + 1))
			return &layouts[i];
	}
	return NULL;
}

/**
 * php_chain - find the chain of a file that has PHP
 * @file: the file
 * @list: its CFI, sorted
 * @chain: set
 *
 * Return: whether there is one: the file has PHP, of a known version.
 */
bool php_chain(const struct elf_file *file, const struct cfi_list *list,
	       struct unwind_chain_attr *chain)
{
	struct text_range globals, execute, moved;
	const struct php_layout *l;
	__u64 origin;

	if (!elf_file_symbol(file, "executor_globals", &globals) ||
	    !elf_file_symbol(file, "execute_ex", &execute) ||
	    !elf_file_text_origin(file, &origin))
		return false;
	l = find_layout(file);
	if (!l)
		return false;
	*chain = (struct unwind_chain_attr){
		.flags = UNWIND_CHAIN_NAME | UNWIND_CHAIN_FILE | UNWIND_CHAIN_LINE,
		.head = globals.start + l->globals_frame - origin,
		.next = l->frame_previous,
		.function = l->frame_function,
		.function_mask = ~0ULL,
		.entry = l->frame_call,
		.entry_mask = CALL_TOP,
		.entry_value = CALL_TOP,
		.text[0] = { execute.start - origin, execute.end - execute.start },
		.kind = l->function_kind,
		.kind_mask = KIND_INTERNAL,
		.name = l->function_name,
		.check = { l->function_name, l->function_opcodes },
		.file = l->function_file,
		.line = l->function_line,
		.string = { .length = l->string_length, .data = l->string_data },
	};
	if (split_part(file, list, &execute, &moved))
		chain->text[1] = (struct unwind_chain_text){
			moved.start - origin, moved.end - moved.start
		};
	return true;
}
