/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The code that the sample JIT generates, as far as it depends on the architecture.
 *
 * A function has locals on the stack, does some work and makes one call.  It
 * keeps no frame pointer, so only a table leads from its frame to its caller's.
 * The code generator therefore says how far the stack pointer is from its value at
 * entry, for each range of instructions: these are the rows of the table.
 *
 * jit_x86_64.c and jit_arm64.c implement this; another architecture is one more
 * such file.
 */
#ifndef SAMPLES_UNWIND_JIT_CODE_H
#define SAMPLES_UNWIND_JIT_CODE_H

#include <linux/types.h>
#include <stddef.h>

#define JIT_ROWS_MAX	5

/*
 * All locals have this value while the function works.  Nothing is at that address.  So
 * a stack shows if an unwinder mistakes a local for a return address.
 */
#define JIT_DECOY	0xdec0de0000UL

/**
 * struct jit_func - a function to generate
 * @callee: function that it calls, with its own only argument
 * @locals: bytes of locals; a multiple of 16, below 32 KiB
 * @work: bytes of instructions that do nothing, in place of a function's real work;
 *	a multiple of 4
 */
struct jit_func {
	const void	*callee;
	__u32	locals;
	__u32	work;
};

/**
 * struct jit_row - where the canonical frame address (CFA) is
 * @start: offset of the first instruction for which this is true
 * @cfa: the CFA's distance from the stack pointer
 * @ra: the return address' distance from the CFA; 0 if the header has it for all
 *	functions, or it is still in the link register
 */
struct jit_row {
	__u32	start;
	__s16		cfa;
	__s16		ra;
};

/**
 * struct jit_code - generated code
 * @size: bytes of code
 * @ra: offset of the instruction after the call
 * @nr_rows: number of @rows
 * @rows: in the order of their addresses
 */
struct jit_code {
	__u32	size;
	__u32	ra;
	unsigned int	nr_rows;
	struct jit_row	rows[JIT_ROWS_MAX];
};

/* The fields of the table's header that depend on the architecture */
extern const __u8 jit_code_abi;
extern const __s8 jit_code_fixed_ra;

/* Bytes of a function's code */
__u32 jit_code_size(const struct jit_func *func);

/* Write the code; it runs at the address to which it is written */
void jit_code_emit(void *to, const struct jit_func *func, struct jit_code *code);

#endif /* SAMPLES_UNWIND_JIT_CODE_H */
