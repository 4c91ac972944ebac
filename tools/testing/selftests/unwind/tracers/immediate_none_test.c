// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate user stacks of a process in which nothing has tables, this program included:
 * they are, byte for byte, the stacks that a kernel without tables takes. The kernel asks
 * for what it does not know once, and again only if the process maps other text.
 */
#include <stdio.h>
#include <string.h>

#include "shots.h"
#include "../../kselftest_harness.h"

FIXTURE(no_table)
{
	struct subject subject;
};

FIXTURE_VARIANT(no_table)
{
	const char *file;
};

FIXTURE_VARIANT_ADD(no_table, fp) {
	.file = "chain_fp.so",
};

FIXTURE_VARIANT_ADD(no_table, none) {
	.file = "chain_none.so",
};

FIXTURE_SETUP(no_table)
{
	if (subject_open(&self->subject))
		SKIP(return, CANNOT);
}

FIXTURE_TEARDOWN(no_table)
{
	subject_close(&self->subject);
}

TEST_F(no_table, stacks_are_unchanged)
{
	static const char modes[] = "01111111111111111111";
	struct shot shots[sizeof(modes)];
	struct stack expected;
	chain_fn fn;
	int i;

	fn = image_load(&self->subject.image, variant->file);
	ASSERT_NE(NULL, fn);
	ASSERT_EQ(0, shoot(&self->subject, fn, modes, shots, &expected));
	for (i = 1; modes[i]; i++) {
		EXPECT_TRUE(shot_is_same(&shots[0], &shots[i]));
		EXPECT_EQ(0, shots[i].counts[TAKEN]);
	}
}

/* A worker may have to read this program's files first */
TEST_F(no_table, is_found_out_once)
{
	static const char modes[] = "11111111111111111111";
	struct shot shots[sizeof(modes)];
	struct stack expected;
	chain_fn fn;
	int i;

	fn = image_load(&self->subject.image, variant->file);
	ASSERT_NE(NULL, fn);
	ASSERT_EQ(0, shoot(&self->subject, fn, modes, shots, &expected));
	EXPECT_EQ(1, shots[0].counts[ASKED]);
	for (i = 1; modes[i]; i++) {
		EXPECT_EQ(0, shots[i].counts[ASKED]);
		EXPECT_EQ(1, shots[i].counts[NO_TABLE]);
	}
}

TEST_F(no_table, file_mapped_later_has_its_table)
{
	struct stack expected;
	struct shot shots[4];
	struct image later;
	chain_fn fn;

	fn = image_load(&self->subject.image, variant->file);
	ASSERT_NE(NULL, fn);
	ASSERT_EQ(0, shoot(&self->subject, fn, "1111", shots, &expected));
	EXPECT_EQ(1, shots[3].counts[NO_TABLE]);

	fn = image_load(&later, "chain_table.so");
	ASSERT_NE(NULL, fn);
	ASSERT_EQ(0, shoot(&self->subject, fn, "1111", shots, &expected));
	EXPECT_EQ(1, shots[0].counts[MISSING]);
	EXPECT_EQ(1, shots[0].counts[ASKED]);
	EXPECT_EQ(1, shots[3].counts[TAKEN]);
	EXPECT_TRUE(shot_is_whole(&shots[3], &expected));
}

TEST_HARNESS_MAIN
