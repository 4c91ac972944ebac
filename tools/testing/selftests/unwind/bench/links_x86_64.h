/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of links.h that depend on the machine, for x86-64. */
#ifndef SELFTEST_UNWIND_BENCH_LINKS_X86_64_H
#define SELFTEST_UNWIND_BENCH_LINKS_X86_64_H

#include "image.h"

#define LINK_ABI	3	/* AMD64, little-endian */
#define LINK_MACHINE	EM_X86_64
#define LINK_FIXED_RA	-8

/* A function without a frame pointer, and one with a frame pointer */
#define LINK_SFRAME							\
{									\
	0x48, 0x83, 0xec, 0x18,		/* sub $24, %rsp */		\
	0x48, 0x83, 0xc7, 0x08,		/* add $8, %rdi */		\
	0xff, 0x57, 0xf8,		/* call *-8(%rdi) */		\
	0x48, 0x83, 0xc4, 0x18,		/* add $24, %rsp */		\
	0xc3,				/* ret */			\
}

#define LINK_FP								\
{									\
	0x55,				/* push %rbp */			\
	0x48, 0x89, 0xe5,		/* mov %rsp, %rbp */		\
	0x48, 0x83, 0xc7, 0x08,		/* add $8, %rdi */		\
	0xff, 0x57, 0xf8,		/* call *-8(%rdi) */		\
	0x5d,				/* pop %rbp */			\
	0xc3,				/* ret */			\
}

/* Offsets in the functions: the return address of both, and the rows of the one with a table */
enum {
	FN_IN_FRAME	= 4,
	FN_RETURNED	= 11,
	FN_LEFT		= 15,
};

/* The rows of its table; each locates the CFA */
struct link_row {
	uint8_t		start;
	uint8_t		info;
	int16_t		cfa;
} __packed;

#define ROW_INFO	0x23	/* the stack pointer and one word of 2 bytes */

#define LINK_NR_ROWS	3

/* The table's data for one function, in addition to its index entry */
struct link_rows {
	struct sframe_attr	attr;
	struct link_row		row[LINK_NR_ROWS];
} __packed;

#define LINK_ROWS							\
((struct link_rows){							\
	.attr = { .num_fres = LINK_NR_ROWS },					\
	.row = {							\
		{ 0, ROW_INFO, 8 },					\
		{ FN_IN_FRAME, ROW_INFO, 32 },				\
		{ FN_LEFT, ROW_INFO, 8 },				\
	},								\
})

#endif /* SELFTEST_UNWIND_BENCH_LINKS_X86_64_H */
