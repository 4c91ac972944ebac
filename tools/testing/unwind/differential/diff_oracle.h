/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second opinion: what libsframe says about an address, as one of our rules.
 *
 * Apart from sframe_diff.c, since libsframe's header and the kernel's give the
 * same names to the same things.
 */
#ifndef _UNWIND_TEST_DIFF_ORACLE_H
#define _UNWIND_TEST_DIFF_ORACLE_H

#include <linux/types.h>

#include "rule.h"

struct oracle;

struct oracle_func {
	s64	start;		/* relative to the section */
	u32	size;
	u32	num_fres;
	u32	index;		/* of the FDE */
	u8	info;
	u8	info2;
	u8	rep_size;
};

/* The latest version of the format that this libsframe reads */
u8 oracle_max_version(void);

/*
 * Is this libsframe meant to read a section with the header @bytes?  Not if the
 * header's version, or one of its flags, is newer than this libsframe.
 */
bool oracle_reads(const u8 *bytes);

/* NULL if libsframe does not like it.  @bytes must stay. */
struct oracle *oracle_open(const u8 *bytes, size_t size);
void oracle_close(struct oracle *oracle);

u8 oracle_abi(const struct oracle *oracle);
u32 oracle_num_funcs(const struct oracle *oracle);

/* By rising address */
const struct oracle_func *oracle_func(const struct oracle *oracle, u32 i);

/* Start of FRE @i of @func, relative to the function; -1: there is none */
s64 oracle_fre_start(const struct oracle *oracle,
		     const struct oracle_func *func, u32 i);

/* 0 and a rule, or -ENOENT */
int oracle_find_rule(const struct oracle *oracle, s64 offset,
		     struct unwind_frame_rule *rule);

#endif /* _UNWIND_TEST_DIFF_ORACLE_H */
