// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the entries of files and of registered sections, without tables: file.c
 * bounds how many there are, and leaves none where there will be no table.
 *
 * All belong to one file in memory that nobody maps.  UNWIND_FILE_SEALED stands for a file
 * that can have a table at once.
 */

#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/rcupdate.h>
#include <linux/shmem_fs.h>
#include <linux/spinlock.h>
#include <linux/unwind_base.h>

#include "../file.h"
#include "../file_entry.h"

/* As in file.c */
#define MAX_FILES	16384
#define MAX_PARTS	4096

/* So many more that the clock's hand meets each entry twice */
#define NR_PARTS	(MAX_PARTS + MAX_PARTS / 4)
#define NR_FILES	(MAX_FILES + MAX_FILES / 4)

static struct unwind_part part_of(unsigned int i)
{
	return (struct unwind_part){
		.offset = i * PAGE_SIZE,
		.size = PAGE_SIZE,
		.to_text = PAGE_SIZE,
		.text_size = PAGE_SIZE,
	};
}

/* Is there an entry that says something? */
static bool is_known(const struct inode *inode, const struct unwind_part *part)
{
	const struct sframe_table *table;

	guard(rcu)();
	return unwind_file_find(inode, part, &table) >= 0;
}

/* Claim the file or a part, and find no table; 0 or an error */
static int load_none(struct inode *inode, enum unwind_file_kind kind,
		     const struct unwind_part *part)
{
	struct unwind_file *file = unwind_file_claim(inode, kind, part);

	if (IS_ERR(file))
		return PTR_ERR(file);
	guard(spinlock)(&unwind_files_lock);
	unwind_entry_set_state(file, UNWIND_FILE_NONE, 0);
	unwind_entries_keep_limit();
	return 0;
}

static void load_parts(struct kunit *test, struct inode *inode)
{
	struct unwind_part part;
	unsigned int i;

	for (i = 0; i < NR_PARTS; i++) {
		part = part_of(i);
		KUNIT_ASSERT_EQ(test, load_none(inode, UNWIND_FILE_SEALED, &part), 0);
		KUNIT_ASSERT_TRUE(test, is_known(inode, &part));
	}
}

static void forget(const struct inode *inode, const struct unwind_part *part)
{
	struct unwind_file *file;

	guard(spinlock)(&unwind_files_lock);
	file = unwind_entry_find(atomic64_read(&inode->i_sequence), part);
	if (file)
		unwind_entry_remove(file);
}

static int file_test_init(struct kunit *test)
{
	struct file *file = shmem_file_setup("unwind", PAGE_SIZE, mk_vma_flags(VMA_NORESERVE_BIT));

	if (IS_ERR(file))
		return PTR_ERR(file);
	test->priv = file;
	return 0;
}

static void file_test_exit(struct kunit *test)
{
	struct file *file = test->priv;
	struct unwind_part part;
	unsigned int i;

	if (!file)
		return;
	forget(file_inode(file), NULL);
	for (i = 0; i < NR_PARTS; i++) {
		part = part_of(i);
		forget(file_inode(file), &part);
	}
	fput(file);
}

/* A process can register any number, and have a table loaded for each */
static void parts_beyond_the_limit_replace_others(struct kunit *test)
{
	struct inode *inode = file_inode(test->priv);
	struct unwind_part part;
	unsigned int i, nr = 0;

	load_parts(test, inode);
	for (i = 0; i < NR_PARTS; i++) {
		part = part_of(i);
		nr += is_known(inode, &part);
	}
	KUNIT_EXPECT_LE(test, nr, MAX_PARTS);
	/* Of other files there are few */
	KUNIT_EXPECT_GE(test, nr, MAX_PARTS / 2);
}

static void parts_beyond_the_limit_do_not_replace_a_file(struct kunit *test)
{
	struct inode *inode = file_inode(test->priv);

	KUNIT_ASSERT_EQ(test, load_none(inode, UNWIND_FILE_SEALED, NULL), 0);
	load_parts(test, inode);
	KUNIT_EXPECT_TRUE(test, is_known(inode, NULL));
}

/* The file itself has one, so that it is not tried with each stack */
static void part_of_a_file_that_cannot_have_a_table_has_no_entry(struct kunit *test)
{
	const struct unwind_part part = part_of(0);
	struct inode *inode = file_inode(test->priv);

	KUNIT_EXPECT_EQ(test, load_none(inode, UNWIND_FILE_INELIGIBLE, &part), -EALREADY);
	KUNIT_EXPECT_FALSE(test, is_known(inode, &part));
	KUNIT_EXPECT_EQ(test, load_none(inode, UNWIND_FILE_INELIGIBLE, NULL), -EALREADY);
	KUNIT_EXPECT_TRUE(test, is_known(inode, NULL));
	KUNIT_EXPECT_FALSE(test, is_known(inode, &part));
}

/* It may be loaded as soon as it is not */
static void part_of_a_file_open_for_writing_has_no_entry(struct kunit *test)
{
	const struct unwind_part part = part_of(0);
	struct inode *inode = file_inode(test->priv);

	KUNIT_ASSERT_EQ(test, get_write_access(inode), 0);
	KUNIT_EXPECT_EQ(test, load_none(inode, UNWIND_FILE_PLAIN, &part), -EALREADY);
	KUNIT_EXPECT_FALSE(test, is_known(inode, &part));
	KUNIT_EXPECT_EQ(test, load_none(inode, UNWIND_FILE_PLAIN, NULL), -EALREADY);
	KUNIT_EXPECT_TRUE(test, is_known(inode, NULL));
	put_write_access(inode);
	KUNIT_EXPECT_EQ(test, load_none(inode, UNWIND_FILE_SEALED, &part), 0);
	KUNIT_EXPECT_TRUE(test, is_known(inode, &part));
}

/* A table for one is no table for another, whatever they differ in */
static void parts_that_differ_have_entries_of_their_own(struct kunit *test)
{
	const struct unwind_part part = part_of(0);
	struct inode *inode = file_inode(test->priv);
	struct unwind_part other;

	KUNIT_ASSERT_EQ(test, load_none(inode, UNWIND_FILE_SEALED, &part), 0);
	KUNIT_EXPECT_EQ(test, load_none(inode, UNWIND_FILE_SEALED, &part), -EALREADY);
	KUNIT_EXPECT_FALSE(test, is_known(inode, NULL));
	other = part;
	other.offset += PAGE_SIZE;
	KUNIT_EXPECT_FALSE(test, is_known(inode, &other));
	other = part;
	other.size--;
	KUNIT_EXPECT_FALSE(test, is_known(inode, &other));
	other = part;
	other.to_text++;
	KUNIT_EXPECT_FALSE(test, is_known(inode, &other));
	other = part;
	other.text_size--;
	KUNIT_EXPECT_FALSE(test, is_known(inode, &other));
}

/* Whole files, of any users: the inode's number is what tells them apart */
static void files_beyond_the_limit_replace_others(struct kunit *test)
{
	struct inode *inode = file_inode(test->priv);
	u64 *number = kunit_kcalloc(test, NR_FILES, sizeof(*number), GFP_KERNEL);
	unsigned int i, nr = 0;

	KUNIT_ASSERT_NOT_NULL(test, number);
	for (i = 0; i < NR_FILES; i++) {
		/* As if it was another inode, which has no number so far */
		atomic64_set(&inode->i_sequence, 0);
		KUNIT_ASSERT_EQ(test, load_none(inode, UNWIND_FILE_SEALED, NULL), 0);
		KUNIT_ASSERT_TRUE(test, is_known(inode, NULL));
		number[i] = atomic64_read(&inode->i_sequence);
	}
	for (i = 0; i < NR_FILES; i++) {
		atomic64_set(&inode->i_sequence, number[i]);
		nr += is_known(inode, NULL);
		forget(inode, NULL);
	}
	KUNIT_EXPECT_LE(test, nr, MAX_FILES);
	/* Of other files there are few */
	KUNIT_EXPECT_GE(test, nr, MAX_FILES / 2);
}

static struct kunit_case file_cases[] = {
	KUNIT_CASE(parts_beyond_the_limit_replace_others),
	KUNIT_CASE(parts_beyond_the_limit_do_not_replace_a_file),
	KUNIT_CASE(files_beyond_the_limit_replace_others),
	KUNIT_CASE(part_of_a_file_that_cannot_have_a_table_has_no_entry),
	KUNIT_CASE(part_of_a_file_open_for_writing_has_no_entry),
	KUNIT_CASE(parts_that_differ_have_entries_of_their_own),
	{}
};

static struct kunit_suite file_suite = {
	.name = "unwind_file",
	.init = file_test_init,
	.exit = file_test_exit,
	.test_cases = file_cases,
};

kunit_test_suite(file_suite);
