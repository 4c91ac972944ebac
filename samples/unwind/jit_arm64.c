// SPDX-License-Identifier: GPL-2.0
/*
 * The sample JIT's code generator for arm64, see jit_code.h.
 *
 * A call leaves the return address in a register, and the function pushes it.  So there
 * is a row for before the push, and one for after, beside the rows of the locals.
 */
#include <stdint.h>
#include <string.h>

#include "jit_code.h"

#if !defined(__aarch64__)
#error "this generates code for arm64"
#endif

/* SFrame: AArch64, big- or little-endian; the return address has no fixed place */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
const __u8 jit_code_abi = 1;
#else
const __u8 jit_code_abi = 2;
#endif
const __s8 jit_code_fixed_ra;

/* The push: one decoy, as the stack pointer is a multiple of 16, and x30 */
#define PUSHED		16
#define RA		(-8)

/*
 * One function without its work.  All moves of immediates are there, zero or
 * not, so functions that differ only in their values have the same layout.
 * Instructions are little-endian, in either byte order of data.
 */
static const __u32 head[] = {
	0xd2800009, 0xf2a00009,		/* movz, movk	x9, #decoy */
	0xf2c00009, 0xf2e00009,		/* movk, movk */
	0xa9bf7be9,			/* stp	x9, x30, [sp, #-16]! */
	0xd2800010,			/* movz	x16, #locals */
	0xcb3063ff,			/* sub	sp, sp, x16 */
	0xd2800011,			/* movz	x17, #words */
	0xb4000091,			/* 1: cbz x17, 2f */
	0xd1000631,			/* sub	x17, x17, #1 */
	0xf8317be9,			/* str	x9, [sp, x17, lsl #3] */
	0x17fffffd,			/* b	1b */
	/* 2: here is the work */
};

static const __u32 tail[] = {
	0xd2800009, 0xf2a00009,		/* movz, movk	x9, #callee */
	0xf2c00009, 0xf2e00009,		/* movk, movk */
	0xd63f0120,			/* blr	x9 */
	0xd2800010,			/* movz	x16, #locals */
	0x8b3063ff,			/* add	sp, sp, x16 */
	0xa8c17be9,			/* ldp	x9, x30, [sp], #16 */
	0xd65f03c0,			/* ret */
};

/* Indices of these instructions */
#define AT_DECOY	0
#define AFTER_PUSH	5
#define AT_LOCALS	5
#define AFTER_SUB	7
#define AT_WORDS	7

#define AT_CALLEE	0
#define AFTER_CALL	5
#define AT_SIZE		5
#define AFTER_ADD	7
#define AFTER_POP	8

#define NOP		0xd503201f

static void put(__u8 *to, unsigned int at, __u32 insn)
{
	to += at * sizeof(insn);
	to[0] = insn;
	to[1] = insn >> 8;
	to[2] = insn >> 16;
	to[3] = insn >> 24;
}

/* A movz, and a movk for each other part of the value, 16 bits each */
static void put_moves(__u8 *to, unsigned int at, const __u32 *insns,
		      unsigned int nr, __u64 value)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		put(to, at + i, insns[at + i] | (value >> 16 * i & 0xffff) << 5);
}

__u32 jit_code_size(const struct jit_func *func)
{
	return sizeof(head) + func->work + sizeof(tail);
}

void jit_code_emit(void *to, const struct jit_func *func, struct jit_code *code)
{
	__u8 *begin = to, *end = begin + sizeof(head) + func->work;
	const __u32 at_end = end - begin;
	const __s16 cfa = func->locals + PUSHED;
	unsigned int i;

	for (i = 0; i < sizeof(head) / sizeof(*head); i++)
		put(begin, i, head[i]);
	for (i = 0; i < func->work / sizeof(*head); i++)
		put(begin + sizeof(head), i, NOP);
	for (i = 0; i < sizeof(tail) / sizeof(*tail); i++)
		put(end, i, tail[i]);

	put_moves(begin, AT_DECOY, head, 4, JIT_DECOY);
	put_moves(begin, AT_LOCALS, head, 1, func->locals);
	put_moves(begin, AT_WORDS, head, 1, func->locals / 8);
	put_moves(end, AT_CALLEE, tail, 4, (uintptr_t)func->callee);
	put_moves(end, AT_SIZE, tail, 1, func->locals);

	*code = (struct jit_code){
		.size = jit_code_size(func),
		.ra = at_end + AFTER_CALL * sizeof(*tail),
		.nr_rows = 5,
		.rows = {
			{ .start = 0, .cfa = 0 },
			{ .start = AFTER_PUSH * sizeof(*head), .cfa = PUSHED, .ra = RA },
			{ .start = AFTER_SUB * sizeof(*head), .cfa = cfa, .ra = RA },
			{ .start = at_end + AFTER_ADD * sizeof(*tail), .cfa = PUSHED, .ra = RA },
			{ .start = at_end + AFTER_POP * sizeof(*tail), .cfa = 0 },
		},
	};
}
