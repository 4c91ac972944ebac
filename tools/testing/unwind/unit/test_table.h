/* SPDX-License-Identifier: GPL-2.0 */
/* Tests of tables: what their files share. */
#ifndef _UNWIND_TEST_TEST_TABLE_H
#define _UNWIND_TEST_TEST_TABLE_H

#include "sframe_build.h"
#include "sframe_table.h"

/* Where sections are linked */
#define SECTION		0x500000000000ULL

/* Rules as the sections in these tests have them, with the RA at CFA - 8 */
#define WORDS(offset, shift)	((u64)(u16)((offset) / 8) << (shift))
#define ORDINARY(cfa)	(SFRAME_RULE_ORDINARY | WORDS(cfa, 16) | WORDS(-8, 32))
#define SAVED(fp)	(SFRAME_RULE_FP_SAVED | WORDS(fp, 48))

/* Each fails the test if it breaks what holds for any table; an ERR_PTR() if there is none */
struct sframe_table *build(const struct sfb_table *section);
struct sframe_table *build_section(const struct sfb_table *section,
				   const struct sframe_segment *segments,
				   unsigned int nr_segments);
struct sframe_table *build_text(const struct sfb_image *img);
struct sframe_table *build_image(const struct sfb_image *img,
				 const struct sframe_segment *segments,
				 unsigned int nr_segments);
void close_table(struct sframe_table *table);

void expect_no_table(const struct sfb_table *section, int error);
/* Each offset from @from up to @to has that rule */
void expect_rules(const struct sframe_table *table, u64 from, u64 to, u64 rule);

void test_table_rules(void);
void test_table_edge(void);
void test_table_task(void);

#endif /* _UNWIND_TEST_TEST_TABLE_H */
