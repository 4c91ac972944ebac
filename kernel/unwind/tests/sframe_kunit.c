// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the SFrame decoder on real user memory.
 *
 * What the decoder makes of all the forms that the format has is tested on the
 * host (tools/testing/unwind). Here it is its reads: of user pages that are
 * there, not there yet, gone, or changed between header and lookup.
 */

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "../sframe.h"
#include "sframe_data.h"

#define ABI	SFRAME_ABI_AMD64_ENDIAN_LITTLE

/* Two pages of user memory; the section ends at the end of the first */
static unsigned long map_pages(struct kunit *test)
{
	unsigned long addr;

	addr = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, addr, 0);
	KUNIT_ASSERT_LT(test, addr, TASK_SIZE);
	return addr;
}

static void put_section(struct kunit *test, unsigned long addr,
			const struct test_sframe *sframe)
{
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)addr, sframe,
					   sizeof(*sframe)), 0);
}

/* A section in user memory, its header read; the text follows at +4096 */
static void make_section(struct kunit *test, unsigned long addr,
			 struct sframe_section *sec)
{
	struct test_sframe sframe;

	test_sframe_init(&sframe, PAGE_SIZE);
	put_section(test, addr, &sframe);
	KUNIT_ASSERT_EQ(test, sframe_read_header(sec, addr, sizeof(sframe), ABI), 0);
}

static int find(const struct sframe_section *sec, unsigned long offset,
		struct unwind_row *row)
{
	return sframe_find_row(sec, sec->start + PAGE_SIZE + offset,
			       UNWIND_USER_FAULTABLE, row);
}

static void sframe_rows(struct kunit *test)
{
	struct sframe_section sec;
	struct unwind_row row;

	make_section(test, map_pages(test), &sec);

	KUNIT_EXPECT_EQ(test, find(&sec, TEST_SP_FUNC, &row), 0);
	KUNIT_EXPECT_EQ(test, row.cfa.base, UNWIND_RULE_SP);
	KUNIT_EXPECT_EQ(test, row.cfa.offset, 8);
	KUNIT_EXPECT_EQ(test, row.ra.base, UNWIND_RULE_CFA);
	KUNIT_EXPECT_EQ(test, row.ra.offset, -8);
	KUNIT_EXPECT_TRUE(test, row.ra.deref);
	KUNIT_EXPECT_EQ(test, row.fp.base, UNWIND_RULE_SAME);

	KUNIT_EXPECT_EQ(test, find(&sec, TEST_SP_FUNC + 3, &row), 0);
	KUNIT_EXPECT_EQ(test, row.cfa.offset, 8);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_SP_FUNC + 4, &row), 0);
	KUNIT_EXPECT_EQ(test, row.cfa.offset, 24);
	KUNIT_EXPECT_EQ(test, row.fp.base, UNWIND_RULE_SAME);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_SP_FUNC + 15, &row), 0);
	KUNIT_EXPECT_EQ(test, row.fp.base, UNWIND_RULE_CFA);
	KUNIT_EXPECT_EQ(test, row.fp.offset, -16);

	KUNIT_EXPECT_EQ(test, find(&sec, TEST_END_FUNC, &row), 0);
	KUNIT_EXPECT_TRUE(test, row.outermost);

	KUNIT_EXPECT_EQ(test, find(&sec, TEST_SIG_FUNC, &row), 0);
	KUNIT_EXPECT_TRUE(test, row.signal);

	KUNIT_EXPECT_EQ(test, find(&sec, TEST_FLEX_FUNC, &row), 0);
	KUNIT_EXPECT_EQ(test, row.cfa.base, UNWIND_RULE_REG);
	KUNIT_EXPECT_EQ(test, row.cfa.reg, 10);
	KUNIT_EXPECT_TRUE(test, row.cfa.deref);
	KUNIT_EXPECT_EQ(test, row.cfa.offset, -8);

	KUNIT_EXPECT_EQ(test, find(&sec, -1, &row), -ENOENT);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_TEXT_SIZE, &row), -ENOENT);
}

/* A bad entry costs its function, not its neighbours */
static void sframe_bad_entry(struct kunit *test)
{
	struct sframe_section sec;
	struct unwind_row row;

	make_section(test, map_pages(test), &sec);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_BAD_FUNC, &row), -EINVAL);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_END_FUNC, &row), 0);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_FP_FUNC, &row), 0);
}

static void sframe_bad_header(struct kunit *test)
{
	unsigned long addr = map_pages(test);
	struct test_sframe good, bad;
	struct sframe_section sec;

	test_sframe_init(&good, PAGE_SIZE);

#define EXPECT_HEADER(err, change)					\
do {									\
	bad = good;							\
	change;								\
	put_section(test, addr, &bad);					\
	KUNIT_EXPECT_EQ(test, sframe_read_header(&sec, addr,		\
						 sizeof(bad), ABI), err);\
} while (0)

	EXPECT_HEADER(0, bad.hdr.num_fres++);
	EXPECT_HEADER(-ENOEXEC, bad.hdr.magic = 0xe2de);
	EXPECT_HEADER(-EOPNOTSUPP, bad.hdr.version = SFRAME_VERSION_1);
	EXPECT_HEADER(-EOPNOTSUPP, bad.hdr.version = SFRAME_VERSION_3 + 1);
	EXPECT_HEADER(-ENOEXEC, bad.hdr.flags |= SFRAME_F_FRAME_POINTER);
	EXPECT_HEADER(-ENOEXEC, bad.hdr.abi_arch = SFRAME_ABI_AARCH64_ENDIAN_BIG);
	EXPECT_HEADER(-ENOEXEC, bad.hdr.num_fdes = U32_MAX);
	EXPECT_HEADER(-ENOEXEC, bad.hdr.num_fdes++);
	EXPECT_HEADER(-ENOEXEC, bad.hdr.fre_len++);
	EXPECT_HEADER(-ENOEXEC, bad.hdr.freoff = U32_MAX);
	EXPECT_HEADER(-ENOEXEC, bad.hdr.fdeoff = U32_MAX);
	EXPECT_HEADER(-ENOEXEC, bad.hdr.auxhdr_len++);
#undef EXPECT_HEADER

	put_section(test, addr, &good);
	KUNIT_EXPECT_EQ(test, sframe_read_header(&sec, addr, 27, ABI), -ENOEXEC);
	KUNIT_EXPECT_EQ(test, sframe_read_header(&sec, -16UL, 64, ABI), -ENOEXEC);
}

/* The section runs into a page that is not mapped (any more) */
static void sframe_page_gone(struct kunit *test)
{
	unsigned long addr = map_pages(test);
	struct sframe_section sec;
	struct unwind_row row;
	unsigned long start;

	/* The index is in the first page, the rows are in the second */
	start = addr + PAGE_SIZE - offsetof(struct test_sframe, fres);
	make_section(test, start, &sec);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_SP_FUNC, &row), 0);

	KUNIT_ASSERT_EQ(test, vm_munmap(addr + PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_SP_FUNC, &row), -EFAULT);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_TEXT_SIZE, &row), -ENOENT);

	KUNIT_ASSERT_EQ(test, vm_munmap(addr, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_TEXT_SIZE, &row), -EFAULT);
	KUNIT_EXPECT_EQ(test, sframe_read_header(&sec, start,
						 sizeof(struct test_sframe), ABI),
			-EFAULT);
}

/* With page faults disabled, a page that was never touched is not readable */
static void sframe_nofault(struct kunit *test)
{
	unsigned long addr = map_pages(test);
	struct sframe_section sec;
	u8 byte;
	int ret;

	pagefault_disable();
	ret = sframe_read_header(&sec, addr, sizeof(struct test_sframe), ABI);
	pagefault_enable();
	KUNIT_EXPECT_EQ(test, ret, -EFAULT);

	KUNIT_ASSERT_EQ(test, get_user(byte, (u8 __user *)addr), 0);

	pagefault_disable();
	ret = sframe_read_header(&sec, addr, sizeof(struct test_sframe), ABI);
	pagefault_enable();
	KUNIT_EXPECT_EQ(test, ret, -ENOEXEC);
}

/* The index claims more after its header was read: the header's word counts */
static void sframe_changed_later(struct kunit *test)
{
	unsigned long addr = map_pages(test);
	struct test_sframe sframe;
	struct sframe_section sec;
	struct unwind_row row;

	make_section(test, addr, &sec);

	test_sframe_init(&sframe, PAGE_SIZE);
	sframe.hdr.num_fdes = U32_MAX;
	sframe.hdr.fre_len = U32_MAX;
	sframe.fdes[0].fre_off = U32_MAX;
	put_section(test, addr, &sframe);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_SP_FUNC, &row), -EINVAL);
	KUNIT_EXPECT_EQ(test, find(&sec, TEST_FP_FUNC, &row), 0);
}

static struct kunit_case sframe_cases[] = {
	KUNIT_CASE(sframe_rows),
	KUNIT_CASE(sframe_bad_entry),
	KUNIT_CASE(sframe_bad_header),
	KUNIT_CASE(sframe_page_gone),
	KUNIT_CASE(sframe_nofault),
	KUNIT_CASE(sframe_changed_later),
	{}
};

static struct kunit_suite sframe_suite = {
	.name = "unwind_sframe",
	.test_cases = sframe_cases,
};

kunit_test_suite(sframe_suite);

MODULE_DESCRIPTION("KUnit tests of the SFrame decoder");
MODULE_LICENSE("GPL");
