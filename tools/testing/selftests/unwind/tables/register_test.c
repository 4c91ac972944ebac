// SPDX-License-Identifier: GPL-2.0
/*
 * prctl(PR_UNWIND_TABLE): its operations, arguments and errors, and the limit.
 *
 * Each rule has a test. A call that fails changes nothing: the same call without its
 * mistake succeeds afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "code_register.h"
#include "image.h"
#include "trace.h"
#include "turns.h"
#include "../../kselftest_harness.h"

#define KEY		0x1001
#define KEY_OTHER	0x1002
#define FUNCTIONS	16

/* Addresses that no task may have, and the end of the smallest address space */
#define KERNEL_ADDRESS	0xffff888000000000ULL
#define NOT_CANONICAL	0x1000000000000000ULL
#define LOW_END		0x800000000000ULL

/*
 * The call itself
 */

TEST(version_returns_the_abi_version)
{
	EXPECT_EQ(UNWIND_TABLE_ABI_VERSION,
		  unwind_table(PR_UNWIND_TABLE_VERSION, NULL, 0));
}

TEST(version_with_attr_returns_einval)
{
	struct unwind_table_attr attr = {};

	EXPECT_EQ(-EINVAL, unwind_table(PR_UNWIND_TABLE_VERSION, &attr, 0));
}

TEST(version_with_size_returns_einval)
{
	EXPECT_EQ(-EINVAL, unwind_table(PR_UNWIND_TABLE_VERSION, NULL,
					sizeof(struct unwind_table_attr)));
}

TEST(version_with_attr_and_size_returns_einval)
{
	struct unwind_table_attr attr = {};

	EXPECT_EQ(-EINVAL, unwind_table(PR_UNWIND_TABLE_VERSION, &attr,
					sizeof(attr)));
}

TEST(version_with_argument_5_returns_einval)
{
	EXPECT_EQ(-1, syscall(SYS_prctl, PR_UNWIND_TABLE,
			      PR_UNWIND_TABLE_VERSION, NULL, 0, 1));
	EXPECT_EQ(EINVAL, errno);
}

/* The first version of the structure */
TEST(attr_layout_is_that_of_version_0)
{
	EXPECT_EQ(UNWIND_TABLE_ATTR_SIZE_VER0, sizeof(struct unwind_table_attr));
	EXPECT_EQ(0, offsetof(struct unwind_table_attr, format));
	EXPECT_EQ(4, offsetof(struct unwind_table_attr, flags));
	EXPECT_EQ(8, offsetof(struct unwind_table_attr, key));
	EXPECT_EQ(16, offsetof(struct unwind_table_attr, table_start));
	EXPECT_EQ(24, offsetof(struct unwind_table_attr, table_size));
	EXPECT_EQ(32, offsetof(struct unwind_table_attr, text_start));
	EXPECT_EQ(40, offsetof(struct unwind_table_attr, text_size));
}

FIXTURE(operation)
{
	struct code code;
	struct unwind_table_attr attr;
};

FIXTURE_SETUP(operation)
{
	ASSERT_EQ(0, code_map(&self->code, FUNCTIONS));
	code_attr(&self->attr, &self->code, KEY);
}

FIXTURE_TEARDOWN(operation)
{
	code_unmap(&self->code);
}

static int op(struct _test_data_operation *self, unsigned long nr)
{
	return unwind_table(nr, &self->attr, sizeof(self->attr));
}

TEST_F(operation, number_0_returns_einval)
{
	EXPECT_EQ(-EINVAL, op(self, 0));
}

TEST_F(operation, number_after_the_last_returns_einval)
{
	EXPECT_EQ(-EINVAL, op(self, PR_UNWIND_TABLE_VERSION + 1));
}

TEST_F(operation, number_max_returns_einval)
{
	EXPECT_EQ(-EINVAL, op(self, -1UL));
}

/* All bits of a long count */
TEST_F(operation, number_with_high_bit_returns_einval)
{
	EXPECT_EQ(-EINVAL, op(self, (1UL << 32) | PR_UNWIND_TABLE_ADD));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
}

/* The call concerns only the task's own stacks: it needs no privilege */
TEST_F(operation, unprivileged_task_may_add_and_del)
{
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		/* It has no privilege to give up if it is nobody already */
		EXPECT_TRUE(geteuid() || (!setgid(65534) && !setuid(65534)));
		EXPECT_EQ(UNWIND_TABLE_ABI_VERSION,
			  unwind_table(PR_UNWIND_TABLE_VERSION, NULL, 0));
		EXPECT_EQ(0, op(self, PR_UNWIND_TABLE_ADD));
		EXPECT_EQ(0, op(self, PR_UNWIND_TABLE_DEL));
		EXPECT_EQ(-ENOENT, op(self, PR_UNWIND_TABLE_DEL));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
}

/* The structure, for both operations that have one */

FIXTURE(attr)
{
	struct code code;
	struct unwind_table_attr attr;
	char *pages;	/* two, then a third without access */
};

FIXTURE_VARIANT(attr)
{
	unsigned long op;
};

FIXTURE_VARIANT_ADD(attr, add) {
	.op = PR_UNWIND_TABLE_ADD,
};

FIXTURE_VARIANT_ADD(attr, del) {
	.op = PR_UNWIND_TABLE_DEL,
};

/* Afterwards the operation is possible: there is a range to drop, or none */
FIXTURE_SETUP(attr)
{
	const size_t page = page_size();

	ASSERT_EQ(0, code_map(&self->code, FUNCTIONS));
	code_attr(&self->attr, &self->code, KEY);
	if (variant->op == PR_UNWIND_TABLE_DEL)
		ASSERT_EQ(0, unwind_table_add(&self->attr));
	self->pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	ASSERT_EQ(0, mprotect(self->pages + 2 * page, page, PROT_NONE));
	memcpy(self->pages, &self->attr, sizeof(self->attr));
}

FIXTURE_TEARDOWN(attr)
{
	munmap(self->pages, 3 * page_size());
	code_unmap(&self->code);
}

/* The first page begins with the structure and is otherwise zero */
static int page_attr(struct _test_data_attr *self, unsigned long op, size_t size)
{
	return unwind_table(op, self->pages, size);
}

/* A failed call did nothing: the operation is still possible */
#define EXPECT_REFUSED(error, ret) do {					\
	EXPECT_EQ(-(error), ret);					\
	EXPECT_EQ(0, unwind_table(variant->op, &self->attr,		\
				  sizeof(self->attr)));			\
} while (0)

TEST_F(attr, size_exact_succeeds)
{
	EXPECT_EQ(0, page_attr(self, variant->op, sizeof(self->attr)));
}

TEST_F(attr, size_0_returns_einval)
{
	EXPECT_REFUSED(EINVAL, page_attr(self, variant->op, 0));
}

TEST_F(attr, size_short_returns_einval)
{
	EXPECT_REFUSED(EINVAL, page_attr(self, variant->op,
					 UNWIND_TABLE_ATTR_SIZE_VER0 - 1));
}

TEST_F(attr, size_long_with_zeros_succeeds)
{
	EXPECT_EQ(0, page_attr(self, variant->op, sizeof(self->attr) + 8));
}

TEST_F(attr, size_odd_with_zeros_succeeds)
{
	EXPECT_EQ(0, page_attr(self, variant->op, sizeof(self->attr) + 1));
}

TEST_F(attr, size_long_with_garbage_first_returns_e2big)
{
	self->pages[sizeof(self->attr)] = 1;
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op,
					sizeof(self->attr) + 8));
}

TEST_F(attr, size_long_with_garbage_last_returns_e2big)
{
	self->pages[sizeof(self->attr) + 7] = 0x80;
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op,
					sizeof(self->attr) + 8));
}

/* The kernel ignores what follows the size */
TEST_F(attr, size_before_garbage_succeeds)
{
	self->pages[sizeof(self->attr) + 8] = 1;
	EXPECT_EQ(0, page_attr(self, variant->op, sizeof(self->attr) + 8));
}

TEST_F(attr, size_page_succeeds)
{
	EXPECT_EQ(0, page_attr(self, variant->op, page_size()));
}

TEST_F(attr, size_page_with_garbage_returns_e2big)
{
	self->pages[page_size() - 1] = 1;
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op, page_size()));
}

TEST_F(attr, size_over_page_returns_e2big)
{
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op, page_size() + 1));
}

/* All bits of a long count */
TEST_F(attr, size_high_bit_returns_e2big)
{
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op,
					(1UL << 32) + sizeof(self->attr)));
}

TEST_F(attr, size_max_returns_e2big)
{
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op, -1UL));
}

TEST_F(attr, argument_5_returns_einval)
{
	EXPECT_EQ(-1, syscall(SYS_prctl, PR_UNWIND_TABLE, variant->op,
			      &self->attr, sizeof(self->attr), 1));
	EXPECT_REFUSED(EINVAL, -errno);
}

TEST_F(attr, null_returns_efault)
{
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op, NULL,
					    sizeof(self->attr)));
}

TEST_F(attr, no_access_returns_efault)
{
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op,
					    self->pages + 2 * page_size(),
					    sizeof(self->attr)));
}

TEST_F(attr, unmapped_returns_efault)
{
	ASSERT_EQ(0, munmap(self->pages, page_size()));
	EXPECT_REFUSED(EFAULT, page_attr(self, variant->op, sizeof(self->attr)));
}

TEST_F(attr, kernel_address_returns_efault)
{
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op,
					    (void *)KERNEL_ADDRESS,
					    sizeof(self->attr)));
}

TEST_F(attr, wrapping_address_returns_efault)
{
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op, (void *)-8UL,
					    sizeof(self->attr)));
}

/* Its last field lies in the page without access */
TEST_F(attr, last_field_without_access_returns_efault)
{
	char *at = self->pages + 2 * page_size() - sizeof(self->attr) + 8;

	memcpy(at, &self->attr, sizeof(self->attr) - 8);
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op, at,
					    sizeof(self->attr)));
}

TEST_F(attr, tail_without_access_returns_efault)
{
	char *at = self->pages + 2 * page_size() - sizeof(self->attr);

	memcpy(at, &self->attr, sizeof(self->attr));
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op, at,
					    sizeof(self->attr) + 8));
}

TEST_F(attr, end_before_no_access_succeeds)
{
	char *at = self->pages + 2 * page_size() - sizeof(self->attr);

	memcpy(at, &self->attr, sizeof(self->attr));
	EXPECT_EQ(0, unwind_table(variant->op, at, sizeof(self->attr)));
}

TEST_F(attr, unaligned_structure_succeeds)
{
	memmove(self->pages + 1, self->pages, sizeof(self->attr));
	EXPECT_EQ(0, unwind_table(variant->op, self->pages + 1,
				  sizeof(self->attr)));
}

TEST_F(attr, read_only_succeeds)
{
	ASSERT_EQ(0, mprotect(self->pages, page_size(), PROT_READ));
	EXPECT_EQ(0, page_attr(self, variant->op, sizeof(self->attr)));
}

TEST_F(attr, key_0_returns_einval)
{
	struct unwind_table_attr attr = self->attr;

	attr.key = 0;
	EXPECT_REFUSED(EINVAL, unwind_table(variant->op, &attr, sizeof(attr)));
}

TEST_F(attr, unknown_flags_return_einval)
{
	struct unwind_table_attr attr = self->attr;
	unsigned int bit;

	for (bit = 0; bit < 32; bit++) {
		if (1U << bit & UNWIND_TABLE_JIT)
			continue;
		attr.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, unwind_table(variant->op, &attr,
						sizeof(attr)));
		attr.flags |= UNWIND_TABLE_JIT;
		EXPECT_EQ(-EINVAL, unwind_table(variant->op, &attr,
						sizeof(attr)));
	}
	EXPECT_REFUSED(EINVAL, unwind_table(variant->op, &attr, sizeof(attr)));
}

TEST_F(attr, flag_jit_succeeds)
{
	self->attr.flags = UNWIND_TABLE_JIT;
	EXPECT_EQ(0, unwind_table(variant->op, &self->attr,
				  sizeof(self->attr)));
}

TEST_F(attr, key_max_succeeds)
{
	self->attr.key = -1ULL;
	if (variant->op == PR_UNWIND_TABLE_DEL) {
		ASSERT_EQ(0, unwind_table_del(KEY));
		ASSERT_EQ(0, unwind_table_add(&self->attr));
	}
	EXPECT_EQ(0, unwind_table(variant->op, &self->attr,
				  sizeof(self->attr)));
}

/*
 * Dropping
 */

FIXTURE(del)
{
	struct code code;
};

FIXTURE_SETUP(del)
{
	ASSERT_EQ(0, code_map(&self->code, FUNCTIONS));
}

FIXTURE_TEARDOWN(del)
{
	code_unmap(&self->code);
}

static int add_fn(struct _test_data_del *self, unsigned int i, uint64_t key)
{
	struct unwind_table_attr attr;

	code_attr_fn(&attr, &self->code, i, key);
	return unwind_table_add(&attr);
}

/* Nothing has been registered */
TEST_F(del, nothing_registered_returns_enoent)
{
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
}

TEST_F(del, unknown_key_returns_enoent)
{
	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY - 1));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY + 1));
	/* All bits of a key count */
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY | 1ULL << 32));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY | 1ULL << 63));
	EXPECT_EQ(0, unwind_table_del(KEY));
}

TEST_F(del, second_time_returns_enoent)
{
	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
}

TEST_F(del, add_again_succeeds)
{
	int i;

	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, code_register(&self->code, KEY));
		ASSERT_EQ(0, unwind_table_del(KEY));
	}
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
}

/* A key's ranges lie between another key's ranges, which stay */
TEST_F(del, drops_all_ranges_of_its_key)
{
	unsigned int i;

	for (i = 0; i < FUNCTIONS; i++)
		ASSERT_EQ(0, add_fn(self, i, i % 3 ? KEY : KEY_OTHER));
	EXPECT_EQ(0, unwind_table_del(KEY));
	for (i = 0; i < FUNCTIONS; i++)
		EXPECT_EQ(i % 3 ? 0 : -EEXIST, add_fn(self, i, KEY));
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
	EXPECT_EQ(0, unwind_table_del(KEY_OTHER));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY_OTHER));
}

TEST_F(del, many_keys_succeed)
{
	unsigned int i;

	for (i = 0; i < FUNCTIONS; i++)
		ASSERT_EQ(0, add_fn(self, i, (uint64_t)(i + 1) << 60 | i));
	for (i = FUNCTIONS; i--;)
		EXPECT_EQ(0, unwind_table_del((uint64_t)(i + 1) << 60 | i));
}

/* DEL ignores all fields but the key */
TEST_F(del, ignores_all_but_the_key)
{
	struct unwind_table_attr attr = {
		.format = 77, .key = KEY,
		.table_start = KERNEL_ADDRESS, .table_size = -1ULL,
		.text_start = 1, .text_size = -1ULL,
	};

	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(0, unwind_table(PR_UNWIND_TABLE_DEL, &attr, sizeof(attr)));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
}

/* The table may be unreadable by now */
TEST_F(del, table_without_access_succeeds)
{
	ASSERT_EQ(0, code_register(&self->code, KEY));
	ASSERT_EQ(0, mprotect(self->code.table, self->code.table_mapped,
			      PROT_NONE));
	EXPECT_EQ(0, unwind_table_del(KEY));
}

/* The limit, which applies to all processes, so the test restores it */

#define LIMIT_FILE	"/proc/sys/kernel/unwind_max_ranges"
#define LIMIT		5

FIXTURE(limit)
{
	struct code code;
	char old[32];
};

static int limit_write(const char *value)
{
	int fd = open(LIMIT_FILE, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, value, strlen(value)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static int limit_read(char *value, size_t size)
{
	int fd = open(LIMIT_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, value, size - 1);
	close(fd);
	value[len > 0 ? len : 0] = 0;
	return len > 0 ? 0 : -EIO;
}

static int limit_set(unsigned int limit)
{
	char value[16];

	snprintf(value, sizeof(value), "%u\n", limit);
	return limit_write(value);
}

FIXTURE_SETUP(limit)
{
	if (geteuid())
		SKIP(return, "not root");
	ASSERT_EQ(0, limit_read(self->old, sizeof(self->old)));
	ASSERT_EQ(0, limit_set(LIMIT));
	ASSERT_EQ(0, code_map(&self->code, FUNCTIONS));
}

/* In the parent, so it also runs after a test that died */
FIXTURE_TEARDOWN_PARENT(limit)
{
	if (self->old[0])
		limit_write(self->old);
}

static int add_limited(struct _test_data_limit *self, unsigned int i,
		       uint64_t key)
{
	struct unwind_table_attr attr;

	code_attr_fn(&attr, &self->code, i, key);
	return unwind_table_add(&attr);
}

static int fill_up(struct _test_data_limit *self)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < LIMIT && !ret; i++)
		ret = add_limited(self, i, KEY + i);
	return ret;
}

TEST_F(limit, add_at_limit_returns_enospc)
{
	ASSERT_EQ(0, fill_up(self));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY + LIMIT));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY + LIMIT));
	/* The same key gets no more ranges either */
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
}

TEST_F(limit, add_at_limit_is_traced)
{
	struct trace trace;
	char message[256];

	if (trace_start(&trace))
		SKIP(return, "no tracepoints unwind:*");
	ASSERT_EQ(0, fill_up(self));
	ASSERT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
	ASSERT_EQ(0, trace_read(&trace));
	EXPECT_EQ(1, trace_count(&trace, "table_invalid", NULL, message,
				 sizeof(message)));
	EXPECT_EQ(-ENOSPC, trace_field(message, "error"));
	trace_stop(&trace);
}

TEST_F(limit, del_makes_room)
{
	int i;

	ASSERT_EQ(0, fill_up(self));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY + 2));
		EXPECT_EQ(0, unwind_table_del(KEY + 2));
		EXPECT_EQ(0, add_limited(self, LIMIT, KEY + 2));
	}
}

TEST_F(limit, munmap_makes_room)
{
	ASSERT_EQ(0, fill_up(self));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
	code_unmap(&self->code);
	ASSERT_EQ(0, code_map(&self->code, FUNCTIONS));
	EXPECT_EQ(0, fill_up(self));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
}

/* A failed ADD is not counted */
TEST_F(limit, failed_add_is_not_counted)
{
	int i;

	ASSERT_EQ(0, add_limited(self, 0, KEY));
	for (i = 0; i < 2 * LIMIT; i++)
		EXPECT_EQ(-EEXIST, add_limited(self, 0, KEY + 1));
	for (i = 1; i < LIMIT; i++)
		EXPECT_EQ(0, add_limited(self, i, KEY));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
}

TEST_F(limit, limit_0_returns_enospc)
{
	ASSERT_EQ(0, limit_set(0));
	EXPECT_EQ(-ENOSPC, add_limited(self, 0, KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
}

/* Ranges stay registered beyond a lowered limit */
TEST_F(limit, lowered_limit_keeps_ranges)
{
	ASSERT_EQ(0, fill_up(self));
	ASSERT_EQ(0, limit_set(2));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(0, unwind_table_del(KEY + 1));
	EXPECT_EQ(0, unwind_table_del(KEY + 2));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
	EXPECT_EQ(0, unwind_table_del(KEY + 3));
	EXPECT_EQ(0, add_limited(self, LIMIT, KEY));
}

TEST_F(limit, raised_limit_makes_room)
{
	ASSERT_EQ(0, fill_up(self));
	ASSERT_EQ(0, limit_set(LIMIT + 1));
	EXPECT_EQ(0, add_limited(self, LIMIT, KEY));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT + 1, KEY));
}

/* Each process has its own ranges; a child starts with its parent's */
TEST_F(limit, counts_per_process)
{
	pid_t pid;

	ASSERT_EQ(0, fill_up(self));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
		EXPECT_EQ(0, unwind_table_del(KEY));
		EXPECT_EQ(0, unwind_table_del(KEY + 1));
		EXPECT_EQ(0, add_limited(self, LIMIT, KEY));
		EXPECT_EQ(0, add_limited(self, LIMIT + 1, KEY));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(0, add_limited(self, LIMIT, KEY));
}

TEST_F(limit, write_of_nonsense_fails)
{
	char value[32];

	EXPECT_EQ(-EINVAL, limit_write("-1\n"));
	EXPECT_EQ(-EINVAL, limit_write("many\n"));
	EXPECT_NE(0, limit_write("99999999999999999999\n"));
	ASSERT_EQ(0, limit_read(value, sizeof(value)));
	EXPECT_EQ(LIMIT, atoi(value));
}

/*
 * 32-bit programs
 */

#define I386_PRCTL	172

/* In the low 4 GiB, and by the system call of 32-bit programs */
TEST(add_from_32_bit_returns_eopnotsupp)
{
#ifdef __x86_64__
	struct unwind_table_attr *attr;
	struct code code;
	long ret;

	ASSERT_EQ(0, code_map(&code, FUNCTIONS));
	attr = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	ASSERT_NE(MAP_FAILED, attr);
	code_attr(attr, &code, KEY);
	/* Does the kernel have these system calls? */
	if (access("/proc/sys/abi/vsyscall32", F_OK))
		SKIP(return, "no 32-bit system calls");
	asm volatile("int $0x80"
		     : "=a" (ret)
		     : "0" (I386_PRCTL), "b" (PR_UNWIND_TABLE),
		       "c" (PR_UNWIND_TABLE_ADD), "d" (attr),
		       "S" (sizeof(*attr)), "D" (0)
		     : "r8", "r9", "r10", "r11", "memory");
	EXPECT_EQ(-EOPNOTSUPP, (int)ret);
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
	EXPECT_EQ(0, unwind_table_add(attr));
#else
	SKIP(return, "for x86-64");
#endif
}

/*
 * Bad registrations: each of these functions makes one mistake.
 *
 * The same registration without its mistake succeeds afterwards, and one DEL drops
 * it. A tracepoint reports the reason; the kernel log stays silent.
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
	/* A change uses what it needs */			\
	(void)attr;							\
	(void)hdr;							\
	change;								\
}

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
/* Its last field lies in the next page, which has no access */
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
CHANGE(flag_unknown_6, hdr->flags |= 0x40)
CHANGE(abi_0, hdr->abi_arch = 0)
CHANGE(abi_aarch64_big, hdr->abi_arch = 1)
/* None of these is the ABI of this machine */
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

FIXTURE(add_bad)
{
	struct trace trace;
	struct code code;
	int klog;
};

/*
 * @error: the call's return value
 * @table: is the table's header wrong? Then the tracepoint reports it.
 */
FIXTURE_VARIANT(add_bad)
{
	void (*change)(struct ask *ask);
	int error;
	bool table;
};

FIXTURE_VARIANT_ADD(add_bad, format_0) {
	.change = format_0,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(add_bad, format_2) {
	.change = format_2,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(add_bad, format_max) {
	.change = format_max,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(add_bad, table_size_0) {
	.change = table_size_0,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(add_bad, text_size_0) {
	.change = text_size_0,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(add_bad, table_wraps) {
	.change = table_wraps,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(add_bad, table_wraps_to_0) {
	.change = table_wraps_to_0,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(add_bad, table_size_max) {
	.change = table_size_max,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(add_bad, text_wraps) {
	.change = text_wraps,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(add_bad, text_wraps_to_0) {
	.change = text_wraps_to_0,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(add_bad, text_size_max) {
	.change = text_size_max,
	.error = -EINVAL,
};

FIXTURE_VARIANT_ADD(add_bad, table_kernel) {
	.change = table_kernel,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(add_bad, table_not_canonical) {
	.change = table_not_canonical,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(add_bad, table_leaves) {
	.change = table_leaves,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(add_bad, text_kernel) {
	.change = text_kernel,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(add_bad, text_not_canonical) {
	.change = text_not_canonical,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(add_bad, text_leaves) {
	.change = text_leaves,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(add_bad, text_at_end) {
	.change = text_at_end,
	.error = -EFAULT,
};

FIXTURE_VARIANT_ADD(add_bad, header_null) {
	.change = header_null,
	.error = -EFAULT,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, header_unmapped) {
	.change = header_unmapped,
	.error = -EFAULT,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, header_no_access) {
	.change = header_no_access,
	.error = -EFAULT,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, header_straddles) {
	.change = header_straddles,
	.error = -EFAULT,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, size_1) {
	.change = size_1,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, size_27) {
	.change = size_27,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, size_28) {
	.change = size_28,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, size_one_less) {
	.change = size_one_less,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, magic_0) {
	.change = magic_0,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, magic_other) {
	.change = magic_other,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, magic_swapped) {
	.change = magic_swapped,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, all_swapped) {
	.change = all_swapped,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, flag_of_version_2) {
	.change = flag_of_version_2,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, flag_unknown_3) {
	.change = flag_unknown_3,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, flag_unknown_6) {
	.change = flag_unknown_6,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, abi_0) {
	.change = abi_0,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, abi_aarch64_big) {
	.change = abi_aarch64_big,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, abi_other) {
	.change = abi_other,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, abi_s390) {
	.change = abi_s390,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, abi_unknown) {
	.change = abi_unknown,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, auxhdr_past_end) {
	.change = auxhdr_past_end,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, fdes_past_end) {
	.change = fdes_past_end,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, fdes_wrap) {
	.change = fdes_wrap,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, fdes_into_fres) {
	.change = fdes_into_fres,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, fres_past_end) {
	.change = fres_past_end,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, fres_wrap) {
	.change = fres_wrap,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, fres_within_fdes) {
	.change = fres_within_fdes,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, num_fdes_one_more) {
	.change = num_fdes_one_more,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, num_fdes_wraps) {
	.change = num_fdes_wraps,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, num_fdes_huge) {
	.change = num_fdes_huge,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, fre_len_one_more) {
	.change = fre_len_one_more,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, fre_len_huge) {
	.change = fre_len_huge,
	.error = -ENOEXEC,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, version_0) {
	.change = version_0,
	.error = -EOPNOTSUPP,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, version_1) {
	.change = version_1,
	.error = -EOPNOTSUPP,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, version_4) {
	.change = version_4,
	.error = -EOPNOTSUPP,
	.table = true,
};

FIXTURE_VARIANT_ADD(add_bad, version_255) {
	.change = version_255,
	.error = -EOPNOTSUPP,
	.table = true,
};

FIXTURE_SETUP(add_bad)
{
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*, or not root");
	self->klog = klog_open();
	ASSERT_LE(0, self->klog);
	/* More than two pages of table, for the variants that straddle a page */
	ASSERT_EQ(0, code_map(&self->code, 3 * page_size() /
				sizeof(struct sframe_fde)));
	((struct sframe_header *)self->code.table)->num_fdes = FUNCTIONS;
	((struct sframe_header *)self->code.table)->freoff =
		FUNCTIONS * sizeof(struct sframe_fde);
	self->code.table_size = code_table_size(FUNCTIONS);
}

FIXTURE_TEARDOWN(add_bad)
{
	code_unmap(&self->code);
	close(self->klog);
	trace_stop(&self->trace);
}

static void expect_refused(struct __test_metadata *_metadata,
			   struct _test_data_add_bad *self,
			   const struct _fixture_variant_add_bad *variant,
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

	/* Neither the key nor the text is registered */
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

TEST_F(add_bad, table_returns_its_error)
{
	expect_refused(_metadata, self, variant, 0);
}

TEST_F(add_bad, fails_with_flag_jit)
{
	expect_refused(_metadata, self, variant, UNWIND_TABLE_JIT);
}

/*
 * Odd registrations that succeed
 */

FIXTURE(add_odd)
{
	struct trace trace;
	struct code code;
	struct unwind_table_attr attr;
};

FIXTURE_SETUP(add_odd)
{
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*, or not root");
	/* Two pages of table, or more */
	ASSERT_EQ(0, code_map(&self->code, 3 * page_size() / sizeof(struct sframe_fde)));
	code_attr(&self->attr, &self->code, KEY);
}

FIXTURE_TEARDOWN(add_odd)
{
	code_unmap(&self->code);
	trace_stop(&self->trace);
}

TEST_F(add_odd, add_and_del_are_traced)
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

TEST_F(add_odd, unmapped_text_succeeds)
{
	ASSERT_EQ(0, munmap(self->code.text, self->code.text_mapped));
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(add_odd, text_of_one_byte_succeeds)
{
	self->attr.text_size = 1;
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

/* ADD reads only the header */
TEST_F(add_odd, unmapped_rest_of_table_succeeds)
{
	ASSERT_EQ(0, munmap(self->code.table + page_size(), page_size()));
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(add_odd, table_larger_than_its_contents_succeeds)
{
	self->attr.table_size += 1 << 20;
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(add_odd, table_without_functions_succeeds)
{
	struct sframe_header *hdr = (struct sframe_header *)self->code.table;

	hdr->num_fdes = 0;
	hdr->num_fres = 0;
	hdr->fre_len = 0;
	hdr->freoff = 0;
	self->attr.table_size = sizeof(*hdr);
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(add_odd, unaligned_table_succeeds)
{
	uint64_t fn = (uintptr_t)code_fn(&self->code, 0);
	char *table = self->code.table + 3;

	code_table_write(table, (uintptr_t)table, &fn, 1, CODE_FRAME);
	self->attr.table_start = (uintptr_t)table;
	self->attr.table_size = code_table_size(1);
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(add_odd, empty_version_2_succeeds)
{
	struct sframe_header *hdr = (struct sframe_header *)self->code.table;

	/* Its index entries are 20 bytes long; there are none */
	hdr->version = 2;
	hdr->flags |= 0x02;
	hdr->num_fdes = 0;
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

/* Magic and header may lie in different pages */
TEST_F(add_odd, header_across_pages_succeeds)
{
	char *table = self->code.table + page_size() - 5;
	uint64_t fn = (uintptr_t)code_fn(&self->code, 0);

	code_table_write(table, (uintptr_t)table, &fn, 1, CODE_FRAME);
	self->attr.table_start = (uintptr_t)table;
	self->attr.table_size = code_table_size(1);
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

/* The tracepoint also reports errors that are not the table's fault */
TEST_F(add_odd, second_add_is_traced_as_eexist)
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
 * Text that overlaps a registered range: functions 4 to 7
 */

#define FIRST	(4 * CODE_STRIDE)
#define LAST	(8 * CODE_STRIDE - 1)

FIXTURE(add_overlap)
{
	struct code code;
	struct unwind_table_attr attr;
};

FIXTURE_VARIANT(add_overlap)
{
	int first;
	int last;
	int error;
};

FIXTURE_VARIANT_ADD(add_overlap, identical) {
	.first = FIRST,
	.last = LAST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, inside) {
	.first = FIRST + 8,
	.last = LAST - 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, inside_from_start) {
	.first = FIRST,
	.last = LAST - 1,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, inside_to_end) {
	.first = FIRST + 1,
	.last = LAST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, one_byte_inside) {
	.first = FIRST + 8,
	.last = FIRST + 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, around) {
	.first = FIRST - 8,
	.last = LAST + 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, around_from_start) {
	.first = FIRST,
	.last = LAST + 1,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, around_to_end) {
	.first = FIRST - 1,
	.last = LAST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, left) {
	.first = FIRST - 8,
	.last = FIRST + 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, left_by_one_byte) {
	.first = FIRST - 8,
	.last = FIRST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, first_byte) {
	.first = FIRST,
	.last = FIRST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, right) {
	.first = LAST - 8,
	.last = LAST + 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, right_by_one_byte) {
	.first = LAST,
	.last = LAST + 8,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, last_byte) {
	.first = LAST,
	.last = LAST,
	.error = -EEXIST,
};

FIXTURE_VARIANT_ADD(add_overlap, adjacent_left) {
	.first = FIRST - 8,
	.last = FIRST - 1,
};

FIXTURE_VARIANT_ADD(add_overlap, adjacent_right) {
	.first = LAST + 1,
	.last = LAST + 8,
};

FIXTURE_VARIANT_ADD(add_overlap, apart_left) {
	.first = 0,
	.last = FIRST - 2,
};

FIXTURE_VARIANT_ADD(add_overlap, apart_right) {
	.first = LAST + 2,
	.last = LAST + 8,
};

FIXTURE_SETUP(add_overlap)
{
	ASSERT_EQ(0, code_map(&self->code, FUNCTIONS));
	code_attr(&self->attr, &self->code, KEY);
	self->attr.text_start += FIRST;
	self->attr.text_size = LAST + 1 - FIRST;
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	self->attr.text_start += variant->first - FIRST;
	self->attr.text_size = variant->last + 1 - variant->first;
}

FIXTURE_TEARDOWN(add_overlap)
{
	code_unmap(&self->code);
}

TEST_F(add_overlap, other_key_returns_eexist_on_overlap)
{
	self->attr.key = KEY_OTHER;
	EXPECT_EQ(variant->error, unwind_table_add(&self->attr));
	EXPECT_EQ(variant->error ? -ENOENT : 0, unwind_table_del(KEY_OTHER));
	/* The first one is still there, once */
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
	/* Without it, the error is gone, too */
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_F(add_overlap, same_key_returns_eexist_on_overlap)
{
	EXPECT_EQ(variant->error, unwind_table_add(&self->attr));
	/* One DEL takes both, if there are two */
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
	EXPECT_EQ(0, unwind_table_add(&self->attr));
}

TEST_HARNESS_MAIN
