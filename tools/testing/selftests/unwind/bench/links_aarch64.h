/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of links.h that depend on the machine, for arm64. */
#ifndef SELFTEST_UNWIND_BENCH_LINKS_AARCH64_H
#define SELFTEST_UNWIND_BENCH_LINKS_AARCH64_H

#include "image.h"

#define LINK_ABI	2	/* AArch64, little-endian */
#define LINK_MACHINE	EM_AARCH64
#define LINK_FIXED_RA	0	/* none: each row locates it */

#define LINK_SFRAME							\
{									\
	0xff, 0x83, 0x00, 0xd1,		/* sub sp, sp, #32 */		\
	0xfe, 0x07, 0x00, 0xf9,		/* str x30, [sp, #8] */		\
	0x01, 0x84, 0x40, 0xf8,		/* ldr x1, [x0], #8 */		\
	0x20, 0x00, 0x3f, 0xd6,		/* blr x1 */			\
	0xfe, 0x07, 0x40, 0xf9,		/* ldr x30, [sp, #8] */		\
	0xff, 0x83, 0x00, 0x91,		/* add sp, sp, #32 */		\
	0xc0, 0x03, 0x5f, 0xd6,		/* ret */			\
}

#define LINK_FP								\
{									\
	0xfd, 0x7b, 0xbf, 0xa9,		/* stp x29, x30, [sp, #-16]! */	\
	0xfd, 0x03, 0x00, 0x91,		/* mov x29, sp */		\
	0x01, 0x84, 0x40, 0xf8,		/* ldr x1, [x0], #8 */		\
	0x20, 0x00, 0x3f, 0xd6,		/* blr x1 */			\
	0xfd, 0x7b, 0xc1, 0xa8,		/* ldp x29, x30, [sp], #16 */	\
	0xc0, 0x03, 0x5f, 0xd6,		/* ret */			\
}

/* Offsets in the functions: the return address of both, and the rows of the one with a table */
enum {
	FN_IN_FRAME	= 4,
	FN_SAVED	= 8,
	FN_RETURNED	= 16,
	FN_LEFT		= 24,
};

/* Rows locate the CFA and the return address, which one row finds in the link register */
struct link_row {
	uint8_t		start;
	uint8_t		info;
	int16_t		cfa;
} __packed;

struct link_row_saved {
	struct link_row	row;
	int16_t		ra;
} __packed;

#define ROW_INFO	0x23	/* the stack pointer and one word of 2 bytes */
#define ROW_INFO_SAVED	0x25	/* and two */
#define LINK_NR_ROWS	4

/* The table's data for one function, in addition to its index entry */
struct link_rows {
	struct sframe_attr	attr;
	struct link_row		entry;
	struct link_row		in_frame;
	struct link_row_saved	saved;
	struct link_row		left;
} __packed;

#define LINK_ROWS							\
((struct link_rows){							\
	.attr = { .num_fres = LINK_NR_ROWS },				\
	.entry = { 0, ROW_INFO, 0 },					\
	.in_frame = { FN_IN_FRAME, ROW_INFO, 32 },			\
	.saved = { { FN_SAVED, ROW_INFO_SAVED, 32 }, -24 },		\
	.left = { FN_LEFT, ROW_INFO, 0 },				\
})

#endif /* SELFTEST_UNWIND_BENCH_LINKS_AARCH64_H */
