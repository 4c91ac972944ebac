/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unit tests of the SFrame decoder: common declarations.
 *
 * A test opens a table: the table is built and mapped as user memory in its exact size,
 * and its header is read. Addresses in tests are relative to the section, as in the
 * format.
 */
#ifndef _UNWIND_TEST_SFRAME_TEST_H
#define _UNWIND_TEST_SFRAME_TEST_H

#include "lookup.h"
#include "sframe_cases.h"
#include "tap.h"

#define DEFAULT_BASE	0x7f1234560000UL

struct env {
	struct sfb_image	img;
	struct sframe_section	sec;
	unsigned long		base;
};

void env_open(struct env *env, const struct sfb_table *table);
void env_open_at(struct env *env, const struct sfb_table *table,
		 unsigned long base);
void env_close(struct env *env);

/* Like sframe_find_rule(), but the test fails if a guarantee is broken */
int env_find(const struct env *env, u64 offset, struct unwind_frame_rule *rule);

void expect_rule(const struct env *env, u64 offset,
		 const struct unwind_frame_rule *want);
void expect_error(const struct env *env, u64 offset, int error);

/* Expect a rule whose CFA is SP + @cfa, which is enough to distinguish rules */
void expect_cfa(const struct env *env, u64 offset, s32 cfa);

void test_header(void);
void test_lookup(void);
void test_cases(void);
void test_limits(void);
void test_edges(void);
void test_table(void);
void test_table_cases(void);
void test_hostile(void);
void test_changing(void);

#endif /* _UNWIND_TEST_SFRAME_TEST_H */
