// SPDX-License-Identifier: GPL-2.0
/*
 * Registrations that are refused, and those that are not though they look odd.
 *
 * What is refused leaves nothing behind: the same registration without its
 * mistake works afterwards, and there is nothing more to drop than that. Why a
 * table was refused is said by a tracepoint; the kernel log stays silent whatever
 * a process asks for.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "code.h"
#include "image.h"
#include "trace.h"
#include "../../kselftest_harness.h"

#define KEY		0x1001
#define KEY_OTHER	0x1002
#define FUNCTIONS	16

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/*
 * What can be wrong. All functions that change a registration are here.
 */

struct ask {
	struct unwind_table_attr attr;
	struct sframe_header *hdr;	/* of the table, which may be changed */
	struct code *code;
};

#define CHANGE(name, change)						\
static void name(struct ask *ask)					\
{									\
	struct unwind_table_attr *attr = &ask->attr;			\
	struct sframe_header *hdr = ask->hdr;				\
									\
	/* Of these, a change uses what it needs */			\
	(void)attr;							\
	(void)hdr;							\
	change;								\
}

/* An address that no address space has, and the end of the smallest */
#define KERNEL_ADDRESS		0xffff888000000000ULL
#define NOT_CANONICAL		0x1000000000000000ULL
#define LOW_END			0x800000000000ULL

CHANGE(format_0, attr->format = 0)
CHANGE(format_2, attr->format = 2)
CHANGE(format_max, attr->format = -1U)
CHANGE(table_size_0, attr->table_size = 0)
CHANGE(text_size_0, attr->text_size = 0)
CHANGE(table_wraps, attr->table_size = -attr->table_start + 1)
CHANGE(table_wraps_to_0, attr->table_size = -attr->table_start)
CHANGE(table_size_max, attr->table_size = -1ULL)
CHANGE(text_wraps, attr->text_size = -attr->text_start + 1)
CHANGE(text_wraps_to_0, attr->text_size = -attr->text_start)
CHANGE(text_size_max, attr->text_size = -1ULL)

CHANGE(table_kernel, attr->table_start = KERNEL_ADDRESS)
CHANGE(table_not_canonical, attr->table_start = NOT_CANONICAL)
CHANGE(table_leaves, attr->table_size = NOT_CANONICAL)
CHANGE(text_kernel, attr->text_start = KERNEL_ADDRESS)
CHANGE(text_not_canonical, attr->text_start = NOT_CANONICAL)
CHANGE(text_leaves, attr->text_size = NOT_CANONICAL)
CHANGE(text_at_end, attr->text_start = LOW_END - 0x1000;
	attr->text_size = NOT_CANONICAL - LOW_END)

CHANGE(header_null, attr->table_start = 0)
CHANGE(header_unmapped, munmap(ask->code->table, ask->code->table_mapped))
CHANGE(header_no_access, mprotect(ask->code->table, ask->code->table_mapped,
				  PROT_NONE))
/* Its last field lies in the page behind, which has no access */
CHANGE(header_straddles, attr->table_start += 2 * page_size() - 24;
	memcpy((void *)attr->table_start, hdr, 24);
	mprotect((char *)hdr + 2 * page_size(), page_size(), PROT_NONE))

CHANGE(size_1, attr->table_size = 1)
CHANGE(size_27, attr->table_size = 27)
CHANGE(size_28, attr->table_size = 28)
CHANGE(size_one_less, attr->table_size--)
CHANGE(magic_0, hdr->magic = 0)
CHANGE(magic_other, hdr->magic ^= 0x100)
CHANGE(magic_swapped, hdr->magic = 0xe2de)
CHANGE(all_swapped, hdr->magic = 0xe2de; hdr->abi_arch = 1;
	hdr->num_fdes = __builtin_bswap32(hdr->num_fdes);
	hdr->num_fres = __builtin_bswap32(hdr->num_fres);
	hdr->fre_len = __builtin_bswap32(hdr->fre_len);
	hdr->freoff = __builtin_bswap32(hdr->freoff))
CHANGE(flag_of_version_2, hdr->flags |= 0x02)
CHANGE(flag_unknown_3, hdr->flags |= 0x08)
CHANGE(flag_unknown_7, hdr->flags |= 0x80)
CHANGE(abi_0, hdr->abi_arch = 0)
CHANGE(abi_aarch64_big, hdr->abi_arch = 1)
/* As it is where this runs is none of them */
#if defined(__x86_64__)
CHANGE(abi_other, hdr->abi_arch = 2)
#else
CHANGE(abi_other, hdr->abi_arch = 3)
#endif
CHANGE(abi_s390, hdr->abi_arch = 4)
CHANGE(abi_unknown, hdr->abi_arch = 77)
CHANGE(auxhdr_past_end, hdr->auxhdr_len = 255)
CHANGE(fdes_past_end, hdr->fdeoff = 0x100000)
CHANGE(fdes_wrap, hdr->fdeoff = -1U)
CHANGE(fdes_into_fres, hdr->fdeoff = 1)
CHANGE(fres_past_end, hdr->freoff = 0x100000)
CHANGE(fres_wrap, hdr->freoff = -4U)
CHANGE(fres_within_fdes, hdr->freoff = 8)
CHANGE(num_fdes_one_more, hdr->num_fdes++)
CHANGE(num_fdes_wraps, hdr->num_fdes = 0x10000000 + FUNCTIONS)
CHANGE(num_fdes_huge, hdr->num_fdes = -1U)
CHANGE(fre_len_one_more, hdr->fre_len++)
CHANGE(fre_len_huge, hdr->fre_len = -1U)
CHANGE(version_0, hdr->version = 0)
CHANGE(version_1, hdr->version = 1)
CHANGE(version_4, hdr->version = 4)
CHANGE(version_255, hdr->version = 255)

FIXTURE(refused)
{
	struct trace trace;
	struct code code;
	int klog;
};

/*
 * @error: what the call returns
 * @table: is it the table's header that is wrong?  Then the tracepoint says so.
 */
FIXTURE_VARIANT(refused)
{
	void (*change)(struct ask *ask);
	int error;
	bool table;
};

FIXTURE_VARIANT_ADD(refused, format_0) {
	.change = format_0,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, format_2) {
	.change = format_2,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, format_max) {
	.change = format_max,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, table_size_0) {
	.change = table_size_0,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, text_size_0) {
	.change = text_size_0,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, table_wraps) {
	.change = table_wraps,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, table_wraps_to_0) {
	.change = table_wraps_to_0,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, table_size_max) {
	.change = table_size_max,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, text_wraps) {
	.change = text_wraps,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, text_wraps_to_0) {
	.change = text_wraps_to_0,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, text_size_max) {
	.change = text_size_max,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, table_kernel) {
	.change = table_kernel,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(refused, table_not_canonical) {
	.change = table_not_canonical,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(refused, table_leaves) {
	.change = table_leaves,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(refused, text_kernel) {
	.change = text_kernel,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(refused, text_not_canonical) {
	.change = text_not_canonical,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(refused, text_leaves) {
	.change = text_leaves,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(refused, text_at_end) {
	.change = text_at_end,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(refused, header_null) {
	.change = header_null,
	.error = -EFAULT,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, header_unmapped) {
	.change = header_unmapped,
	.error = -EFAULT,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, header_no_access) {
	.change = header_no_access,
	.error = -EFAULT,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, header_straddles) {
	.change = header_straddles,
	.error = -EFAULT,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, size_1) {
	.change = size_1,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, size_27) {
	.change = size_27,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, size_28) {
	.change = size_28,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, size_one_less) {
	.change = size_one_less,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, magic_0) {
	.change = magic_0,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, magic_other) {
	.change = magic_other,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, magic_swapped) {
	.change = magic_swapped,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, all_swapped) {
	.change = all_swapped,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, flag_of_version_2) {
	.change = flag_of_version_2,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, flag_unknown_3) {
	.change = flag_unknown_3,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, flag_unknown_7) {
	.change = flag_unknown_7,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, abi_0) {
	.change = abi_0,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, abi_aarch64_big) {
	.change = abi_aarch64_big,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, abi_other) {
	.change = abi_other,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, abi_s390) {
	.change = abi_s390,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, abi_unknown) {
	.change = abi_unknown,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, auxhdr_past_end) {
	.change = auxhdr_past_end,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, fdes_past_end) {
	.change = fdes_past_end,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, fdes_wrap) {
	.change = fdes_wrap,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, fdes_into_fres) {
	.change = fdes_into_fres,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, fres_past_end) {
	.change = fres_past_end,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, fres_wrap) {
	.change = fres_wrap,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, fres_within_fdes) {
	.change = fres_within_fdes,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, num_fdes_one_more) {
	.change = num_fdes_one_more,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, num_fdes_wraps) {
	.change = num_fdes_wraps,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, num_fdes_huge) {
	.change = num_fdes_huge,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, fre_len_one_more) {
	.change = fre_len_one_more,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, fre_len_huge) {
	.change = fre_len_huge,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, version_0) {
	.change = version_0,
	.error = -EOPNOTSUPP,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, version_1) {
	.change = version_1,
	.error = -EOPNOTSUPP,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, version_4) {
	.change = version_4,
	.error = -EOPNOTSUPP,
	.table = true,
};

FIXTURE_VARIANT_ADD(refused, version_255) {
	.change = version_255,
	.error = -EOPNOTSUPP,
	.table = true,
};

FIXTURE_SETUP(refused)
{
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*, or not root");
	self->klog = klog_open();
	ASSERT_LE(0, self->klog);
	/* More than two pages of table, for those that straddle */
	ASSERT_EQ(0, code_map(&self->code, 3 * page_size() /
				sizeof(struct sframe_fde)));
	((struct sframe_header *)self->code.table)->num_fdes = FUNCTIONS;
	((struct sframe_header *)self->code.table)->freoff =
		FUNCTIONS * sizeof(struct sframe_fde);
	self->code.table_size = code_table_size(FUNCTIONS);
}

FIXTURE_TEARDOWN(refused)
{
	code_unmap(&self->code);
	close(self->klog);
	trace_stop(&self->trace);
}

static void expect_refused(struct __test_metadata *_metadata,
			   struct _test_data_refused *self,
			   const struct _fixture_variant_refused *variant,
			   unsigned int flags)
{
	struct code good, code = self->code;
	struct ask ask = {
		.hdr = (struct sframe_header *)code.table, .code = &code,
	};
	char message[256], text[96];

	ASSERT_EQ(0, trace_clear(&self->trace));
	code_attr(&ask.attr, &code, KEY);
	ask.attr.flags = flags;
	variant->change(&ask);
	EXPECT_EQ(variant->error, unwind_table_add(&ask.attr));

	ASSERT_EQ(0, trace_read(&self->trace));
	snprintf(text, sizeof(text), "text=0x%llx-0x%llx table=0x%llx ",
		 ask.attr.text_start, ask.attr.text_start + ask.attr.text_size,
		 ask.attr.table_start);
	if (variant->table) {
		EXPECT_EQ(1, trace_count(&self->trace, "table_invalid", text,
					 message, sizeof(message)));
		EXPECT_EQ(variant->error, trace_field(message, "error"));
	}
	EXPECT_EQ(0, trace_count(&self->trace, "table_added", NULL, NULL, 0));
	EXPECT_TRUE(klog_silent(self->klog));

	/* Nothing is left behind: not the key, and not the text */
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
	ASSERT_EQ(0, code_map(&good, FUNCTIONS));
	code_attr(&ask.attr, &good, KEY);
	ask.attr.text_start = (uintptr_t)code.text;
	ask.attr.flags = flags;
	EXPECT_EQ(0, unwind_table_add(&ask.attr));
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
	code_unmap(&good);
}

TEST_F(refused, is_refused)
{
	expect_refused(_metadata, self, variant, 0);
}

TEST_F(refused, is_refused_as_jit)
{
	expect_refused(_metadata, self, variant, UNWIND_TABLE_JIT);
}

/*
 * What is not refused, though it looks odd
 */

FIXTURE(accepted)
{
	struct trace trace;
	struct code code;
	struct unwind_table_attr attr;
};

FIXTURE_SETUP(accepted)
{
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*, or not root");
	ASSERT_EQ(0, code_map(&self->code, 1024));
	code_attr(&self->attr, &self->code, KEY);
}

FIXTURE_TEARDOWN(accepted)
{
	code_unmap(&self->code);
	trace_stop(&self->trace);
}

TEST_F(accepted, is_traced)
{
	char text[160];

	EXPECT_EQ(0, unwind_table_add(&self->attr));
	EXPECT_EQ(0, unwind_table_del(KEY));
	ASSERT_EQ(0, trace_read(&self->trace));
	snprintf(text, sizeof(text),
		 "text=0x%llx-0x%llx table=0x%llx size=%llu key=0x%llx",
		 self->attr.text_start,
		 self->attr.text_start + self->attr.text_size,
		 self->attr.table_start, self->attr.table_size, self->attr.key);
	EXPECT_EQ(1, trace_count(&self->trace, "table_added", text, NULL, 0))
		TH_LOG("%s", text);
	snprintf(text, sizeof(text), "text=0x%llx-0x%llx",
		 self->attr.text_start,
		 self->attr.text_start + self->attr.text_size);
	EXPECT_EQ(1, trace_count(&self->trace, "table_dropped", text, NULL, 0));
}

TEST_F(accepted, text_not_mapped)
{
	ASSERT_EQ(0, munmap(self->code.text, self->code.text_mapped));
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(accepted, text_of_one_byte)
{
	self->attr.text_size = 1;
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

/* Only the header has to be there */
TEST_F(accepted, rest_of_table_not_mapped)
{
	ASSERT_EQ(0, munmap(self->code.table + page_size(), page_size()));
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(accepted, table_larger_than_its_contents)
{
	self->attr.table_size += 1 << 20;
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(accepted, table_without_functions)
{
	struct sframe_header *hdr = (struct sframe_header *)self->code.table;

	hdr->num_fdes = 0;
	hdr->num_fres = 0;
	hdr->fre_len = 0;
	hdr->freoff = 0;
	self->attr.table_size = sizeof(*hdr);
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(accepted, table_not_aligned)
{
	uint64_t fn = (uintptr_t)code_fn(&self->code, 0);
	char *table = self->code.table + 3;

	code_table_write(table, (uintptr_t)table, &fn, 1, CODE_FRAME);
	self->attr.table_start = (uintptr_t)table;
	self->attr.table_size = code_table_size(1);
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(accepted, version_2)
{
	struct sframe_header *hdr = (struct sframe_header *)self->code.table;

	/* Its index entries are 20 bytes long; there are none */
	hdr->version = 2;
	hdr->flags |= 0x02;
	hdr->num_fdes = 0;
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

/* Magic and header may lie in different pages */
TEST_F(accepted, header_straddles)
{
	char *table = self->code.table + page_size() - 5;
	uint64_t fn = (uintptr_t)code_fn(&self->code, 0);

	code_table_write(table, (uintptr_t)table, &fn, 1, CODE_FRAME);
	self->attr.table_start = (uintptr_t)table;
	self->attr.table_size = code_table_size(1);
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

/* Refusals that are not the table's fault have their reason told as well */
TEST_F(accepted, but_not_twice)
{
	char message[256];

	ASSERT_EQ(0, unwind_table_add(&self->attr));
	ASSERT_EQ(-EEXIST, unwind_table_add(&self->attr));
	ASSERT_EQ(0, trace_read(&self->trace));
	EXPECT_EQ(1, trace_count(&self->trace, "table_added", NULL, NULL, 0));
	EXPECT_EQ(1, trace_count(&self->trace, "table_invalid", NULL, message,
				 sizeof(message)));
	EXPECT_EQ(-EEXIST, trace_field(message, "error"));
	EXPECT_EQ(self->attr.text_start, trace_field(message, "text"));
}

/*
 * Text that overlaps what is registered: that are functions 4 ... 7
 */

#define FIRST	(4 * CODE_STRIDE)
#define LAST	(8 * CODE_STRIDE - 1)

FIXTURE(overlap)
{
	struct code code;
	struct unwind_table_attr attr;
};

FIXTURE_VARIANT(overlap)
{
	int first;
	int last;
	int error;
};

FIXTURE_VARIANT_ADD(overlap, identical) {
	.first = FIRST,
	.last = LAST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, inside) {
	.first = FIRST + 8,
	.last = LAST - 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, inside_from_start) {
	.first = FIRST,
	.last = LAST - 1,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, inside_to_end) {
	.first = FIRST + 1,
	.last = LAST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, one_byte_inside) {
	.first = FIRST + 8,
	.last = FIRST + 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, around) {
	.first = FIRST - 8,
	.last = LAST + 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, around_from_start) {
	.first = FIRST,
	.last = LAST + 1,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, around_to_end) {
	.first = FIRST - 1,
	.last = LAST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, left) {
	.first = FIRST - 8,
	.last = FIRST + 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, left_by_one_byte) {
	.first = FIRST - 8,
	.last = FIRST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, first_byte) {
	.first = FIRST,
	.last = FIRST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, right) {
	.first = LAST - 8,
	.last = LAST + 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, right_by_one_byte) {
	.first = LAST,
	.last = LAST + 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, last_byte) {
	.first = LAST,
	.last = LAST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(overlap, adjacent_left) {
	.first = FIRST - 8,
	.last = FIRST - 1,
};

FIXTURE_VARIANT_ADD(overlap, adjacent_right) {
	.first = LAST + 1,
	.last = LAST + 8,
};

FIXTURE_VARIANT_ADD(overlap, apart_left) {
	.first = 0,
	.last = FIRST - 2,
};

FIXTURE_VARIANT_ADD(overlap, apart_right) {
	.first = LAST + 2,
	.last = LAST + 8,
};

FIXTURE_SETUP(overlap)
{
	ASSERT_EQ(0, code_map(&self->code, FUNCTIONS));
	code_attr(&self->attr, &self->code, KEY);
	self->attr.text_start += FIRST;
	self->attr.text_size = LAST + 1 - FIRST;
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	self->attr.text_start += variant->first - FIRST;
	self->attr.text_size = variant->last + 1 - variant->first;
}

FIXTURE_TEARDOWN(overlap)
{
	code_unmap(&self->code);
}

TEST_F(overlap, of_other_key)
{
	self->attr.key = KEY_OTHER;
	EXPECT_EQ(variant->error, unwind_table_add(&self->attr));
	EXPECT_EQ(variant->error ? -ENOENT : 0, unwind_table_del(KEY_OTHER));
	/* The first one is still there, once */
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
	/* With it gone, so is the reason */
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(overlap, of_same_key)
{
	EXPECT_EQ(variant->error, unwind_table_add(&self->attr));
	/* One DEL takes both, if there are two */
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_HARNESS_MAIN
