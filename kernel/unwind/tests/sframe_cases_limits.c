// SPDX-License-Identifier: GPL-2.0
/*
 * Cases: lookups at their bounds and one past them, and lookups that need what
 * cannot be read.
 *
 * The bounds are stated in Documentation/core-api/unwind-sframe.rst. They are
 * repeated here on purpose: a change that raises one breaks a guarantee.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "sframe_cases.h"

#define MAX_SCAN	16384
#define MAX_FRES	65536

#define AMD64	.abi = SFB_AMD64, .ra = -8
#define ONE	.fre = SFB_FRE(0, SFB_SP, 0, 8)
#define IS(cfa_)	{ .cfa = SP(cfa_), .ra = AT_CFA(-8), .fp = SAME }

/*
 * A scan of an unsorted index, in which the case's function is the @num_-th and
 * last. The first is found before any bound is met.
 */
#define SCAN(name_, num_, offset_)					\
	.name = (name_), AMD64, ONE, .flags = CASE_ONLY,		\
	.last = true, .fill_before = (num_) - 2, .offset = (offset_)

/* Empty functions that a lookup in a sorted index steps over */
#define EMPTY(name_, num_)						\
	.name = (name_), AMD64, ONE, .flags = CASE_ONLY | SFB_SORTED,	\
	.empties = (num_)

/* The @num_ FREs of one function. The lookup is for the one at @offset_. */
#define MANY(name_, num_, offset_)					\
	.name = (name_), AMD64, .fre_type = 2, .size = 0x20000,		\
	.many_fres = (num_), .offset = (offset_)

static const struct sframe_case limit[] = {
	{ SCAN("unsorted, as many as allowed", MAX_SCAN, 0), .want = IS(8) },
	{ SCAN("unsorted, as many as allowed, none fits", MAX_SCAN, 16),
	  .error = -ENOENT },
	{ SCAN("unsorted, one too many", MAX_SCAN + 1, 0), .error = -E2BIG },
	{ EMPTY("empty functions, as many as allowed", MAX_SCAN - 1),
	  .want = IS(8) },
	{ EMPTY("empty functions, one too many", MAX_SCAN), .error = -E2BIG },
	{ MANY("FREs, as many as allowed", MAX_FRES, MAX_FRES - 1),
	  .version = 2, .want = IS(MAX_FRES - 1) },
	{ MANY("FREs, and addresses after the last", MAX_FRES, MAX_FRES + 99),
	  .version = 2, .want = IS(MAX_FRES - 1) },
	{ MANY("FREs, the last but one allowed", MAX_FRES + 1, MAX_FRES - 2),
	  .version = 2, .want = IS(MAX_FRES - 2) },
	/* Only the next FRE would show that the last allowed one is the right one */
	{ MANY("FREs, one too many", MAX_FRES + 1, MAX_FRES - 1),
	  .version = 2, .error = -E2BIG },
	/* Version 3 counts in 16 bits: the largest function there can be */
	{ MANY("FREs, 65535 of them", 65535, 65534), .version = 3,
	  .want = IS(65534) },
	{ MANY("FREs, addresses after 65535 of them", 65535, 65535 + 99),
	  .version = 3, .want = IS(65534) },
};

const struct sframe_case_set sframe_limit_set = CASE_SET("limit", limit);

/*
 * From here on, the section is not mapped: the case's function comes last, so
 * that what its neighbour needs comes before.
 */
#define HOLE(name_, version_, base_, pos_, ...)				\
	{ .name = (name_ " unreadable"), AMD64, .version = (version_),	\
	  .error = -EFAULT, .last = true, .neighbours = CASE_BEFORE,	\
	  .hole = CASE_AT(base_, pos_), __VA_ARGS__ }

/* The entries in a hole that lies before the case's entry, in the middle of an index */
#define HOLE_ENTRIES	(CASE_HOLE / 16)

#define WORDS(size_)	.fre = SFB_FRE(0, SFB_SP, size_, 8, -16)

/* A flexible FRE of CFA = *(SP + 40) + 8 */
#define SUM_WORDS	.type = 1, .sums = true, .fre = SFB_FRE(0, SFB_SP, 0, 63, 40, 8, 0)

static const struct sframe_case unreadable[] = {
	HOLE("start", 2, CASE_FDE, 0, ONE, .fill_before = 1),
	HOLE("start", 3, CASE_FDE, 0, ONE, .fill_before = 1),
	HOLE("size", 2, CASE_FDE, 4, ONE),
	HOLE("size", 3, CASE_FDE, 8, ONE),
	HOLE("offset of FREs", 2, CASE_FDE, 8, ONE),
	HOLE("offset of FREs", 3, CASE_FDE, 12, ONE),
	HOLE("number of FREs", 2, CASE_FDE, 12, ONE),
	HOLE("info", 2, CASE_FDE, 16, ONE),
	HOLE("repetition size", 2, CASE_FDE, 17, ONE,
	     .func_flags = SFB_PCMASK, .rep_size = 16),
	HOLE("number of FREs", 3, CASE_FRES, 0, ONE),
	HOLE("half the number of FREs", 3, CASE_FRES, 1, ONE),
	HOLE("info", 3, CASE_FRES, 2, ONE),
	HOLE("second info", 3, CASE_FRES, 3, ONE),
	HOLE("repetition size", 3, CASE_FRES, 4, ONE,
	     .func_flags = SFB_PCMASK, .rep_size = 16),
	HOLE("FRE's 1-byte start", 2, CASE_FRES, 0, ONE),
	HOLE("FRE's 1-byte start", 3, CASE_FRES, 5, ONE),
	HOLE("half an FRE's 2-byte start", 2, CASE_FRES, 1, ONE, .fre_type = 1),
	HOLE("half an FRE's 2-byte start", 3, CASE_FRES, 6, ONE, .fre_type = 1),
	HOLE("half an FRE's 4-byte start", 2, CASE_FRES, 2, ONE, .fre_type = 2),
	HOLE("half an FRE's 4-byte start", 3, CASE_FRES, 7, ONE, .fre_type = 2),
	HOLE("FRE's info", 2, CASE_FRES, 1, ONE),
	HOLE("FRE's info", 3, CASE_FRES, 6, ONE),
	HOLE("1-byte word", 2, CASE_FRES, 2, WORDS(0)),
	HOLE("1-byte word", 3, CASE_FRES, 7, WORDS(0)),
	HOLE("second 1-byte word", 3, CASE_FRES, 8, WORDS(0)),
	HOLE("half a 2-byte word", 2, CASE_FRES, 3, WORDS(1)),
	HOLE("half a 2-byte word", 3, CASE_FRES, 8, WORDS(1)),
	HOLE("second 2-byte word", 3, CASE_FRES, 9, WORDS(1)),
	HOLE("half a 4-byte word", 2, CASE_FRES, 4, WORDS(2)),
	HOLE("half a 4-byte word", 3, CASE_FRES, 9, WORDS(2)),
	HOLE("second 4-byte word", 3, CASE_FRES, 11, WORDS(2)),
	HOLE("control word", 3, CASE_FRES, 7, SUM_WORDS),
	HOLE("offset of a sum", 3, CASE_FRES, 8, SUM_WORDS),
	HOLE("addend of a sum", 3, CASE_FRES, 9, SUM_WORDS),
	HOLE("index of a sum", 3, CASE_FRES, 10, SUM_WORDS),
	HOLE("second FRE", 3, CASE_FRES, 8, .offset = 8,
	     CASE_FRES(SFB_FRE(0, SFB_SP, 0, 8), SFB_FRE(8, SFB_SP, 0, 16))),
	/*
	 * The search of a sorted index begins at an empty function. A function with
	 * code may precede it: the entry that would show this is not there.
	 */
	{ .name = "start of what precedes an empty function unreadable", AMD64,
	  .version = 3, .flags = CASE_ONLY | SFB_SORTED, .error = -EFAULT, ONE,
	  .fill_before = HOLE_ENTRIES, .fill_after = 2 * HOLE_ENTRIES - 1,
	  .neighbours = CASE_AFTER, .hole = CASE_AT(CASE_FDE, -CASE_HOLE),
	  .changes = { CASE_PUT(CASE_FDE, 8, 4, 0) } },
};

const struct sframe_case_set sframe_unreadable_set =
	CASE_SET("unreadable", unreadable);
