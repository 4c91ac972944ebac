// SPDX-License-Identifier: GPL-2.0
/*
 * Cases: from an address to a function and an FRE of it, in sections that are
 * right and in sections that are not.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "sframe_cases.h"

#define AMD64	.abi = SFB_AMD64, .ra = -8

/* An FRE that says no more than which it is */
#define IS(cfa_)	{ .cfa = SP(cfa_), .ra = AT_CFA(-8), .fp = SAME }

/* Rows whose starts have 1, 2, 4 bytes, all unsigned; words too */
#define FRES_1	.size = 0x100,						\
		CASE_FRES(SFB_FRE(0, SFB_SP, 0, 8),			\
			  SFB_FRE(0x80, SFB_SP, 0, 16),			\
			  SFB_FRE(0xff, SFB_SP, 0, 24))
#define FRES_2	.size = 0x10000, .fre_type = 1,				\
		CASE_FRES(SFB_FRE(0, SFB_SP, 1, 8),			\
			  SFB_FRE(0x8000, SFB_SP, 1, 16),		\
			  SFB_FRE(0xffff, SFB_SP, 1, 24))
#define FRES_4	.size = 0xffffffff, .fre_type = 2, .last = true,	\
		CASE_FRES(SFB_FRE(0, SFB_SP, 2, 8),			\
			  SFB_FRE(0x80000000, SFB_SP, 2, 16),		\
			  SFB_FRE(0xfffffffe, SFB_SP, 2, 24))

#define FOUND(name_, offset_, cfa_, ...)				\
	{ .name = (name_), AMD64, .offset = (offset_), .want = IS(cfa_), \
	  __VA_ARGS__ }
#define NOTHING(name_, offset_, ...)					\
	{ .name = (name_), AMD64, .offset = (offset_), .error = -ENOENT, \
	  __VA_ARGS__ }

/* A PLT: five times the same 16 bytes, and 7 more that begin a sixth */
#define PLT	.size = 5 * 16 + 7, .func_flags = SFB_PCMASK, .rep_size = 16, \
		CASE_FRES(SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(11, SFB_SP, 0, 16))

#define TWICE	CASE_FRES(SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(4, SFB_SP, 0, 16), \
			  SFB_FRE(4, SFB_SP, 0, 24), SFB_FRE(0x80, SFB_SP, 0, 32))

#define LATE	.fre = SFB_FRE(4, SFB_SP, 0, 8)
#define ONE	.fre = SFB_FRE(0, SFB_SP, 0, 8)

static const struct sframe_case lookup[] = {
	FOUND("first byte", 0, 8, ONE),
	FOUND("last byte", 15, 8, ONE),
	FOUND("auxiliary header", 8, 8, ONE, .aux_len = 255),
	FOUND("gaps", 8, 8, ONE, .gap = 33),
	FOUND("auxiliary header and gaps", 8, 8, ONE, .aux_len = 7, .gap = 5),
	FOUND("in the middle of many", 8, 8, ONE, .fill_before = 100,
	      .fill_after = 50),
	FOUND("1-byte starts, first", 0x7f, 8, FRES_1),
	FOUND("1-byte starts, second", 0x80, 16, FRES_1),
	FOUND("1-byte starts, before the last", 0xfe, 16, FRES_1),
	FOUND("1-byte starts, last", 0xff, 24, FRES_1),
	FOUND("2-byte starts, first", 0x7fff, 8, FRES_2),
	FOUND("2-byte starts, second", 0x8000, 16, FRES_2),
	FOUND("2-byte starts, before the last", 0xfffe, 16, FRES_2),
	FOUND("2-byte starts, last", 0xffff, 24, FRES_2),
	FOUND("4-byte starts, first", 0x7fffffff, 8, FRES_4),
	FOUND("4-byte starts, second", 0x80000000, 16, FRES_4),
	FOUND("4-byte starts, before the last", 0xfffffffd, 16, FRES_4),
	FOUND("4-byte starts, last", 0xfffffffe, 24, FRES_4),
	FOUND("repeated (PCMASK), first FRE", 10, 8, PLT),
	FOUND("repeated, second FRE", 11, 16, PLT),
	FOUND("repeated, next repetition", 16, 8, PLT),
	FOUND("repeated, last whole repetition", 4 * 16 + 15, 16, PLT),
	FOUND("repeated, part of one at the end", 5 * 16 + 6, 8, PLT),
	FOUND("repetition size without PCMASK", 11, 16, .rep_size = 4,
	      CASE_FRES(SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(5, SFB_SP, 0, 16))),
	FOUND("late first FRE", 4, 8, LATE),
	FOUND("before two FREs at one address", 3, 8, TWICE),
	FOUND("two FREs at one address: the last", 4, 24, TWICE),
	FOUND("an FRE beyond the function", 15, 24, TWICE),
	FOUND("empty functions at its start", 8, 8, ONE, .empties = 3),
	NOTHING("function's start, before the first FRE", 0, LATE),
	NOTHING("last byte before the first FRE", 3, LATE),
	NOTHING("before all functions", -17, ONE),
	NOTHING("after all functions", 32, ONE),
	NOTHING("after the last function", 16, ONE, .last = true),
	NOTHING("after the largest function", 0xffffffff, FRES_4),
	NOTHING("address 2^32 above", 0x100000000LL, ONE),
	NOTHING("address 2^32 below", -0x100000000LL, ONE),
	NOTHING("function of size 0", 0, ONE, .version = 2,
		.changes = { CASE_PUT(CASE_FDE, 4, 4, 0) }),
	NOTHING("function of size 0", 0, ONE, .version = 3,
		.changes = { CASE_PUT(CASE_FDE, 8, 4, 0) }),
	NOTHING("only an empty function there, sorted", 0, ONE, .version = 3,
		.flags = CASE_ONLY | SFB_SORTED, .empties = 5,
		.changes = { CASE_PUT(CASE_FDE, 8, 4, 0) }),
};

const struct sframe_case_set sframe_lookup_set = CASE_SET("lookup", lookup);

/*
 * Entries that make no sense
 */

/* Function of three FREs, at which the following tamper */
#define VICTIM	.rep_size = 4, CASE_FRES(SFB_FRE(0, SFB_SP, 0, 8), \
					 SFB_FRE(4, SFB_SP, 0, 16, -16), \
					 SFB_FRE(8, SFB_FP, 0, 16, -16))

/* An info byte of an FRE: words of a size that there is not */
#define WORDS_OF_8(num_)	(3 << 5 | (num_) << 1)

#define INVALID(name_, version_, offset_, ...)				\
	{ .name = (name_), AMD64, .version = (version_),		\
	  .offset = (offset_), .error = -EINVAL, VICTIM,		\
	  .changes = { __VA_ARGS__ } }

/* Section and FREs end @pos_ bytes into the function's FREs */
#define CUT(name_, version_, offset_, pos_, ...)			\
	{ .name = (name_), AMD64, .version = (version_),		\
	  .offset = (offset_), .error = -EINVAL, .last = true,		\
	  .cut = CASE_AT(CASE_FRES, pos_), __VA_ARGS__ }

#define CUT_1	CASE_FRES(SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(8, SFB_SP, 0, 8, -16))
#define CUT_2	.fre_type = 1, CASE_FRES(SFB_FRE(0, SFB_SP, 1, 8), \
					 SFB_FRE(8, SFB_SP, 1, 8, -16))
#define CUT_4	.fre_type = 2, CASE_FRES(SFB_FRE(0, SFB_SP, 2, 8), \
					 SFB_FRE(8, SFB_SP, 2, 8, -16))

static const struct sframe_case invalid[] = {
	INVALID("FREs' offset 2^32 - 1", 2, 0, CASE_PUT(CASE_FDE, 8, 4, 0xffffffff)),
	INVALID("FREs' offset 2^32 - 1", 3, 0, CASE_PUT(CASE_FDE, 12, 4, 0xffffffff)),
	INVALID("FREs' offset 2^31", 2, 0, CASE_PUT(CASE_FDE, 8, 4, 0x80000000)),
	INVALID("FREs' offset 2^31", 3, 0, CASE_PUT(CASE_FDE, 12, 4, 0x80000000)),
	INVALID("FREs' offset + attributes wraps", 3, 0,
		CASE_PUT(CASE_FDE, 12, 4, 0xfffffffb)),
	INVALID("FREs beyond the section", 2, 15, CASE_PUT(CASE_FDE, 12, 4, 100)),
	INVALID("2^31 FREs", 2, 15, CASE_PUT(CASE_FDE, 12, 4, 0x80000000)),
	INVALID("2^32 - 1 FREs", 2, 15, CASE_PUT(CASE_FDE, 12, 4, 0xffffffff)),
	INVALID("FRE type 3", 2, 0, CASE_PUT(CASE_FDE, 16, 1, 3)),
	INVALID("FRE type 15", 2, 0, CASE_PUT(CASE_FDE, 16, 1, 15)),
	INVALID("FRE type 3", 3, 0, CASE_PUT(CASE_FRES, 2, 1, 3)),
	INVALID("FRE type 4", 3, 0, CASE_PUT(CASE_FRES, 2, 1, 4)),
	INVALID("FRE type 8", 3, 0, CASE_PUT(CASE_FRES, 2, 1, 8)),
	INVALID("FRE type 15", 3, 0, CASE_PUT(CASE_FRES, 2, 1, 15)),
	INVALID("repetition of 0", 2, 0, CASE_PUT(CASE_FDE, 16, 1, SFB_PCMASK),
		CASE_PUT(CASE_FDE, 17, 1, 0)),
	INVALID("repetition of 0", 3, 0, CASE_PUT(CASE_FRES, 2, 1, SFB_PCMASK),
		CASE_PUT(CASE_FRES, 4, 1, 0)),
	INVALID("word size 3", 2, 0, CASE_PUT(CASE_FRES, 1, 1, WORDS_OF_8(1))),
	INVALID("word size 3", 3, 0, CASE_PUT(CASE_FRES, 6, 1, WORDS_OF_8(1))),
	INVALID("word size 3 in a row before", 3, 8,
		CASE_PUT(CASE_FRES, 6, 1, WORDS_OF_8(1))),
	INVALID("word size 3 and no words", 3, 0,
		CASE_PUT(CASE_FRES, 6, 1, WORDS_OF_8(0))),
	{ .name = "2 FREs where there is one", AMD64, .version = 3, .offset = 15,
	  .error = -EINVAL, ONE, .last = true,
	  .changes = { CASE_PUT(CASE_FRES, 0, 2, 2) } },
	{ .name = "65535 FREs where there is one", AMD64, .version = 3,
	  .offset = 15, .error = -EINVAL, ONE, .last = true,
	  .changes = { CASE_PUT(CASE_FRES, 0, 2, 65535) } },
	{ .name = "FRE that wraps 4 GiB of FREs", AMD64, .error = -EINVAL,
	  .last = true, .tail = 32, .offset = 8,
	  CASE_FRES(SFB_FRE(0, SFB_SP, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
			    13, 14, 15), SFB_FRE(8, SFB_SP, 0, 8)) },
	/* Without attributes there are no functions: it has no neighbour */
	{ .name = "FREs shorter than attributes", AMD64, .version = 3,
	  .error = -EINVAL, ONE, .neighbours = CASE_ALONE,
	  .changes = { CASE_PUT(CASE_HEADER, SFB_HDR_FRE_LEN, 4, 4) } },
	CUT("no attributes", 3, 0, 0, CUT_1),
	CUT("cut off in its attributes", 3, 0, 4, CUT_1),
	CUT("no FRE", 2, 0, 0, CUT_1),
	CUT("no FRE", 3, 0, 5, CUT_1),
	CUT("cut off after a 1-byte start", 2, 0, 1, CUT_1),
	CUT("cut off after a 1-byte start", 3, 0, 6, CUT_1),
	CUT("cut off in a 2-byte start", 2, 0, 1, CUT_2),
	CUT("cut off after a 2-byte start", 2, 0, 2, CUT_2),
	CUT("cut off after a 2-byte start", 3, 0, 7, CUT_2),
	CUT("cut off in a 4-byte start", 2, 0, 3, CUT_4),
	CUT("cut off after a 4-byte start", 2, 0, 4, CUT_4),
	CUT("cut off after a 4-byte start", 3, 0, 9, CUT_4),
	CUT("no second FRE", 2, 0, 3, CUT_1),
	CUT("no second FRE", 3, 8, 8, CUT_1),
	CUT("second FRE without words", 2, 8, 5, CUT_1),
	CUT("second FRE with one word of two", 2, 8, 6, CUT_1),
	CUT("second FRE with one word of two", 3, 8, 11, CUT_1),
	CUT("second FRE with half a word less", 2, 8, 11, CUT_2),
	CUT("second FRE with half a word less", 3, 8, 16, CUT_2),
	CUT("second FRE with a quarter of a word less", 2, 8, 21, CUT_4),
	CUT("second FRE with a quarter of a word less", 3, 8, 26, CUT_4),
};

const struct sframe_case_set sframe_invalid_set = CASE_SET("invalid", invalid);
