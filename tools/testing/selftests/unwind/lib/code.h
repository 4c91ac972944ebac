/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that is made at run time, and its table (code_register.h has the table registered).
 *
 * There is one function, as bytes. It notes its return address and calls the next item,
 * as the functions of a chain do (see chain.h), but it keeps no frame pointer: during the
 * call, that register holds 1. So a stack continues beyond the function only by a table
 * that has its frame size, which the test chooses.
 *
 * The parts that depend on the architecture are at the top of code.c.
 */
#ifndef SELFTEST_UNWIND_CODE_H
#define SELFTEST_UNWIND_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "chain.h"
#include "sampled.h"

static inline size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* The function, as it lies in this program; code.c defines the labels */
extern const char fn_begin[], fn_pushed[], fn_frame[], fn_in_frame[];
extern const char fn_frame_again[], fn_left[], fn_popped[], fn_end[];

/* Functions lie this far apart */
#define CODE_STRIDE		128

/* Two sizes of frames: a table for one size is wrong for functions of the other */
#define CODE_FRAME		64
#define CODE_FRAME_OTHER	96

/* Write the function, at most CODE_STRIDE bytes */
void code_write(void *to, unsigned int frame);

/* Bytes of the table of @nr functions */
size_t code_table_size(unsigned int nr);

/* Write a table that will lie at @table and describes functions at @fn[], in ascending order. */
void code_table_write(void *to, uint64_t table, const uint64_t *fn,
		      unsigned int nr, unsigned int frame);

/* Functions in anonymous memory, and their table in separate anonymous memory */
struct code {
	unsigned int	nr;
	char		*text;
	size_t		text_size;	/* of the functions */
	size_t		text_mapped;
	char		*table;
	size_t		table_size;
	size_t		table_mapped;
};

/*
 * Map @nr functions, whose table claims frames of @frame_table bytes; 0, or -1 with
 * errno. With @at, the mappings are made there again, where nothing may be mapped.
 */
int code_map_at(struct code *code, unsigned int nr, unsigned int frame,
		unsigned int frame_table, const struct code *at);
int code_map(struct code *code, unsigned int nr);
void code_unmap(struct code *code);

chain_fn code_fn(const struct code *code, unsigned int i);

/*
 * Where does a stack go that passes a function? Any other result, such as a wrong frame,
 * is printed.
 */
enum through {
	THROUGH_ERROR,
	THROUGH_NOT,	/* it stops there: no table, and no frame pointer */
	THROUGH,
};

enum through code_through(struct sampler *sampler, chain_fn fn);
/* The same, in a process without a sampler */
enum through code_through_here(const struct code *code, unsigned int i);

#endif /* SELFTEST_UNWIND_CODE_H */
