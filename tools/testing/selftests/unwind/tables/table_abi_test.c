// SPDX-License-Identifier: GPL-2.0
/*
 * prctl(PR_UNWIND_TABLE): operations, sizes of the structure, keys, the limit.
 *
 * Each rule has a test of its own. What is refused does nothing: the same call
 * without its mistake works afterwards. What is wrong with a range or a table is
 * in table_refuse.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "code.h"
#include "trace.h"
#include "turns.h"
#include "../../kselftest_harness.h"

#define KEY		0x1001
#define KEY_OTHER	0x1002
#define FUNCTIONS	16

/* No task may have this address */
#define KERNEL_ADDRESS	0xffffffff81000000UL

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/*
 * The call itself
 */

TEST(version)
{
	EXPECT_EQ(UNWIND_TABLE_ABI_VERSION,
		  unwind_table(PR_UNWIND_TABLE_VERSION, NULL, 0));
}

TEST(version_with_attr)
{
	struct unwind_table_attr attr = {};

	EXPECT_EQ(-EINVAL, unwind_table(PR_UNWIND_TABLE_VERSION, &attr, 0));
}

TEST(version_with_size)
{
	EXPECT_EQ(-EINVAL, unwind_table(PR_UNWIND_TABLE_VERSION, NULL,
					sizeof(struct unwind_table_attr)));
}

TEST(version_with_attr_and_size)
{
	struct unwind_table_attr attr = {};

	EXPECT_EQ(-EINVAL, unwind_table(PR_UNWIND_TABLE_VERSION, &attr,
					sizeof(attr)));
}

TEST(version_with_argument_5)
{
	EXPECT_EQ(-1, syscall(SYS_prctl, PR_UNWIND_TABLE,
			      PR_UNWIND_TABLE_VERSION, NULL, 0, 1));
	EXPECT_EQ(EINVAL, errno);
}

/* What the first version of the structure was */
TEST(layout)
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

FIXTURE(op)
{
	struct code code;
	struct unwind_table_attr attr;
};

FIXTURE_SETUP(op)
{
	ASSERT_EQ(0, code_map(&self->code, FUNCTIONS));
	code_attr(&self->attr, &self->code, KEY);
}

FIXTURE_TEARDOWN(op)
{
	code_unmap(&self->code);
}

static int op(struct _test_data_op *self, unsigned long nr)
{
	return unwind_table(nr, &self->attr, sizeof(self->attr));
}

TEST_F(op, unknown_0)
{
	EXPECT_EQ(-EINVAL, op(self, 0));
}

TEST_F(op, unknown_next)
{
	EXPECT_EQ(-EINVAL, op(self, PR_UNWIND_TABLE_VERSION + 1));
}

TEST_F(op, unknown_max)
{
	EXPECT_EQ(-EINVAL, op(self, -1UL));
}

/* All bits of a long count */
TEST_F(op, unknown_high_bit)
{
	EXPECT_EQ(-EINVAL, op(self, (1UL << 32) | PR_UNWIND_TABLE_ADD));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
}

/* It is about the process's own stacks, so anybody may */
TEST_F(op, unprivileged)
{
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		/* Nothing to give up if it is nobody already */
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

/*
 * The structure, for both operations that have one
 */

FIXTURE(attr)
{
	struct code code;
	struct unwind_table_attr attr;
	char *pages;	/* two, and behind them a third without access */
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

/* The first page, that begins with the structure and is otherwise zero */
static int page_attr(struct _test_data_attr *self, unsigned long op, size_t size)
{
	return unwind_table(op, self->pages, size);
}

/* What failed did nothing: the operation is still possible */
#define EXPECT_REFUSED(error, ret) do {					\
	EXPECT_EQ(-(error), ret);					\
	EXPECT_EQ(0, unwind_table(variant->op, &self->attr,		\
				  sizeof(self->attr)));			\
} while (0)

TEST_F(attr, size_exact)
{
	EXPECT_EQ(0, page_attr(self, variant->op, sizeof(self->attr)));
}

TEST_F(attr, size_0)
{
	EXPECT_REFUSED(EINVAL, page_attr(self, variant->op, 0));
}

TEST_F(attr, size_short)
{
	EXPECT_REFUSED(EINVAL, page_attr(self, variant->op,
					 UNWIND_TABLE_ATTR_SIZE_VER0 - 1));
}

TEST_F(attr, size_long_with_zeros)
{
	EXPECT_EQ(0, page_attr(self, variant->op, sizeof(self->attr) + 8));
}

TEST_F(attr, size_odd_with_zeros)
{
	EXPECT_EQ(0, page_attr(self, variant->op, sizeof(self->attr) + 1));
}

TEST_F(attr, size_long_with_garbage_first)
{
	self->pages[sizeof(self->attr)] = 1;
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op,
					sizeof(self->attr) + 8));
}

TEST_F(attr, size_long_with_garbage_last)
{
	self->pages[sizeof(self->attr) + 7] = 0x80;
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op,
					sizeof(self->attr) + 8));
}

/* Garbage behind the size is not looked at */
TEST_F(attr, size_before_garbage)
{
	self->pages[sizeof(self->attr) + 8] = 1;
	EXPECT_EQ(0, page_attr(self, variant->op, sizeof(self->attr) + 8));
}

TEST_F(attr, size_page)
{
	EXPECT_EQ(0, page_attr(self, variant->op, page_size()));
}

TEST_F(attr, size_page_with_garbage)
{
	self->pages[page_size() - 1] = 1;
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op, page_size()));
}

TEST_F(attr, size_over_page)
{
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op, page_size() + 1));
}

/* All bits of a long count */
TEST_F(attr, size_high_bit)
{
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op,
					(1UL << 32) + sizeof(self->attr)));
}

TEST_F(attr, size_max)
{
	EXPECT_REFUSED(E2BIG, page_attr(self, variant->op, -1UL));
}

TEST_F(attr, argument_5)
{
	EXPECT_EQ(-1, syscall(SYS_prctl, PR_UNWIND_TABLE, variant->op,
			      &self->attr, sizeof(self->attr), 1));
	EXPECT_REFUSED(EINVAL, -errno);
}

TEST_F(attr, null)
{
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op, NULL,
					    sizeof(self->attr)));
}

TEST_F(attr, no_access)
{
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op,
					    self->pages + 2 * page_size(),
					    sizeof(self->attr)));
}

TEST_F(attr, unmapped)
{
	ASSERT_EQ(0, munmap(self->pages, page_size()));
	EXPECT_REFUSED(EFAULT, page_attr(self, variant->op, sizeof(self->attr)));
}

TEST_F(attr, kernel_address)
{
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op,
					    (void *)KERNEL_ADDRESS,
					    sizeof(self->attr)));
}

TEST_F(attr, address_wraps)
{
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op, (void *)-8UL,
					    sizeof(self->attr)));
}

/* Its last field lies in the page without access */
TEST_F(attr, straddles)
{
	char *at = self->pages + 2 * page_size() - sizeof(self->attr) + 8;

	memcpy(at, &self->attr, sizeof(self->attr) - 8);
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op, at,
					    sizeof(self->attr)));
}

TEST_F(attr, tail_straddles)
{
	char *at = self->pages + 2 * page_size() - sizeof(self->attr);

	memcpy(at, &self->attr, sizeof(self->attr));
	EXPECT_REFUSED(EFAULT, unwind_table(variant->op, at,
					    sizeof(self->attr) + 8));
}

TEST_F(attr, before_no_access)
{
	char *at = self->pages + 2 * page_size() - sizeof(self->attr);

	memcpy(at, &self->attr, sizeof(self->attr));
	EXPECT_EQ(0, unwind_table(variant->op, at, sizeof(self->attr)));
}

TEST_F(attr, unaligned)
{
	memmove(self->pages + 1, self->pages, sizeof(self->attr));
	EXPECT_EQ(0, unwind_table(variant->op, self->pages + 1,
				  sizeof(self->attr)));
}

TEST_F(attr, read_only)
{
	ASSERT_EQ(0, mprotect(self->pages, page_size(), PROT_READ));
	EXPECT_EQ(0, page_attr(self, variant->op, sizeof(self->attr)));
}

TEST_F(attr, key_0)
{
	struct unwind_table_attr attr = self->attr;

	attr.key = 0;
	EXPECT_REFUSED(EINVAL, unwind_table(variant->op, &attr, sizeof(attr)));
}

TEST_F(attr, unknown_flags)
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

TEST_F(attr, flag_jit)
{
	self->attr.flags = UNWIND_TABLE_JIT;
	EXPECT_EQ(0, unwind_table(variant->op, &self->attr,
				  sizeof(self->attr)));
}

TEST_F(attr, key_max)
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

/* Nothing was ever registered */
TEST_F(del, of_nothing)
{
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
}

TEST_F(del, of_unknown_key)
{
	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY - 1));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY + 1));
	/* All bits of a key count */
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY | 1ULL << 32));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY | 1ULL << 63));
	EXPECT_EQ(0, unwind_table_del(KEY));
}

TEST_F(del, twice)
{
	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
}

TEST_F(del, and_add_again)
{
	int i;

	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, code_register(&self->code, KEY));
		ASSERT_EQ(0, unwind_table_del(KEY));
	}
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
}

/* A key's ranges lie between those of others, which stay */
TEST_F(del, of_several_ranges)
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

TEST_F(del, of_many_keys)
{
	unsigned int i;

	for (i = 0; i < FUNCTIONS; i++)
		ASSERT_EQ(0, add_fn(self, i, (uint64_t)(i + 1) << 60 | i));
	for (i = FUNCTIONS; i--;)
		EXPECT_EQ(0, unwind_table_del((uint64_t)(i + 1) << 60 | i));
}

/* Everything but the key is ignored, whatever stands there */
TEST_F(del, looks_at_the_key_only)
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

/* The table need not be readable any more */
TEST_F(del, without_access_to_the_table)
{
	ASSERT_EQ(0, code_register(&self->code, KEY));
	ASSERT_EQ(0, mprotect(self->code.table, self->code.table_mapped,
			      PROT_NONE));
	EXPECT_EQ(0, unwind_table_del(KEY));
}

/*
 * The limit, which is one for all processes, so it has to be put back
 */

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

/* In the parent, so also after a test that died */
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

TEST_F(limit, can_be_reached)
{
	ASSERT_EQ(0, fill_up(self));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY + LIMIT));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY + LIMIT));
	/* The same key has no room either */
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
}

TEST_F(limit, is_told)
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

TEST_F(limit, has_room_after_del)
{
	int i;

	ASSERT_EQ(0, fill_up(self));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY + 2));
		EXPECT_EQ(0, unwind_table_del(KEY + 2));
		EXPECT_EQ(0, add_limited(self, LIMIT, KEY + 2));
	}
}

TEST_F(limit, has_room_after_munmap)
{
	ASSERT_EQ(0, fill_up(self));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
	code_unmap(&self->code);
	ASSERT_EQ(0, code_map(&self->code, FUNCTIONS));
	EXPECT_EQ(0, fill_up(self));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
}

/* What was refused is not counted */
TEST_F(limit, does_not_count_errors)
{
	int i;

	ASSERT_EQ(0, add_limited(self, 0, KEY));
	for (i = 0; i < 2 * LIMIT; i++)
		EXPECT_EQ(-EEXIST, add_limited(self, 0, KEY + 1));
	for (i = 1; i < LIMIT; i++)
		EXPECT_EQ(0, add_limited(self, i, KEY));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT, KEY));
}

TEST_F(limit, of_zero)
{
	ASSERT_EQ(0, limit_set(0));
	EXPECT_EQ(-ENOSPC, add_limited(self, 0, KEY));
	EXPECT_EQ(-ENOENT, unwind_table_del(KEY));
}

/* What there is stays, also beyond the limit */
TEST_F(limit, lowered)
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

TEST_F(limit, raised)
{
	ASSERT_EQ(0, fill_up(self));
	ASSERT_EQ(0, limit_set(LIMIT + 1));
	EXPECT_EQ(0, add_limited(self, LIMIT, KEY));
	EXPECT_EQ(-ENOSPC, add_limited(self, LIMIT + 1, KEY));
}

/* Each process has its own ranges; a child starts with those of its parent */
TEST_F(limit, is_per_process)
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

TEST_F(limit, refuses_nonsense)
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
TEST(compat)
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
	/* Does the kernel have these system calls at all? */
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

TEST_HARNESS_MAIN
