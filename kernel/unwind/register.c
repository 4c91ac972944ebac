// SPDX-License-Identifier: GPL-2.0
/*
 * Registered tables: prctl(PR_UNWIND_TABLE, ...).
 *
 * A C library, or a runtime that compiles code, names the table that describes a range
 * of its text.  The table's header is checked here (by sframe.c), the rest when the table
 * is first needed, or at each use if it changes.  The kernel does not check the range of
 * text: a process can only spoil its own stacks.
 *
 * Each reason for a refusal has a separate error.  If the table is at fault, the tracepoint
 * unwind:unwind_table_invalid shows the reason, too.
 */

#include <linux/compat.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>
#include <linux/unwind_tables.h>
#include <asm/unwind_arch.h>
#include <trace/events/unwind_tables.h>
#include <uapi/linux/unwind.h>

#include "ranges.h"
#include "tables.h"

/* Ranges that one process may register: they take about 20 MB, besides their tables */
static unsigned int max_ranges __read_mostly = 65536;

/*
 * Both ends of a range are addresses, and it is not empty.  If the process has enabled
 * tagged addresses (arm64's tagged address ABI), the tag of the address is removed.
 */
static int check_range(__u64 *start, u64 size)
{
	u64 end;

	if (access_ok(u64_to_user_ptr(*start), size))
		*start = unwind_arch_untag(*start);
	if (!size || check_add_overflow(*start, size, &end))
		return -EINVAL;
	return end <= TASK_SIZE ? 0 : -EFAULT;
}

static int check_attr(struct unwind_table_attr *attr)
{
	int ret;

	if (attr->format != UNWIND_FORMAT_SFRAME)
		return -EINVAL;
	/* Check both for -EINVAL first: report invalid arguments before bad addresses */
	ret = check_range(&attr->table_start, attr->table_size);
	if (ret == -EINVAL)
		return ret;
	return check_range(&attr->text_start, attr->text_size) ?: ret;
}

static int add_table(const struct unwind_table_attr *attr)
{
	struct sframe_section section;
	struct unwind_range *range;
	int ret;

	ret = sframe_read_header(&section, attr->table_start, attr->table_size,
				 UNWIND_ARCH_SFRAME_ABI);
	if (ret)
		return ret;
	section.changes = attr->flags & UNWIND_TABLE_JIT;

	range = unwind_range_alloc(attr->text_start, attr->text_start + attr->text_size,
				   &section, attr->key, UNWIND_GFP_RANGES);
	if (!range)
		return -ENOMEM;
	ret = unwind_tables_register(current->mm, range, READ_ONCE(max_ranges));
	if (ret)
		unwind_range_free(range);
	return ret;
}

static int table_add(struct unwind_table_attr *attr)
{
	int ret;

	ret = check_attr(attr);
	if (ret)
		return ret;
	ret = add_table(attr);
	if (ret)
		unwind_tables_trace_invalid(attr->text_start, attr->text_start + attr->text_size,
					    attr->table_start, ret);
	else
		trace_unwind_table_added(attr->text_start,
					 attr->text_start + attr->text_size,
					 attr->table_start, attr->table_size,
					 attr->key);
	return ret;
}

/**
 * unwind_table_prctl - prctl(PR_UNWIND_TABLE, @op, @uattr, @size, @arg5)
 * @op: PR_UNWIND_TABLE_*
 * @uattr: &struct unwind_table_attr; NULL for PR_UNWIND_TABLE_VERSION
 * @size: its size as the caller knows it; 0 for PR_UNWIND_TABLE_VERSION
 * @arg5: 0
 *
 * Context: system call of a user task.
 * Return: 0, or the version of the ABI for PR_UNWIND_TABLE_VERSION;
 * -EINVAL unknown operation, format or flag, zero key, empty range or one that
 * wraps, @arg5 not 0, structure shorter than its first version, @uattr or @size not
 * 0 for PR_UNWIND_TABLE_VERSION;
 * -E2BIG structure longer than the kernel's with a tail that is not zero, or longer
 * than a page;
 * -EFAULT structure or header unreadable, range outside the address space;
 * -ENOEXEC the header makes no sense;
 * -EOPNOTSUPP a version of SFrame that the kernel does not read, or a 32-bit system call;
 * -EEXIST the text overlaps a registered range;
 * -ENOENT nothing is registered under the key;
 * -ENOSPC the limit is reached, sysctl kernel.unwind_max_ranges;
 * -ENOMEM.
 */
int unwind_table_prctl(unsigned long op, unsigned long uattr,
		       unsigned long size, unsigned long arg5)
{
	struct unwind_table_attr attr;
	int ret;

	if (arg5)
		return -EINVAL;

	/* SFrame describes 64-bit programs only */
	if (in_compat_syscall())
		return -EOPNOTSUPP;

	switch (op) {
	case PR_UNWIND_TABLE_VERSION:
		return uattr || size ? -EINVAL : UNWIND_TABLE_ABI_VERSION;
	case PR_UNWIND_TABLE_ADD:
	case PR_UNWIND_TABLE_DEL:
		break;
	default:
		return -EINVAL;
	}
	BUILD_BUG_ON(sizeof(attr) != UNWIND_TABLE_ATTR_SIZE_VER0);
	ret = unwind_copy_attr(&attr, sizeof(attr), uattr, size);
	if (ret)
		return ret;
	if (attr.flags & ~UNWIND_TABLE_JIT || !attr.key)
		return -EINVAL;
	return op == PR_UNWIND_TABLE_ADD ?
	       table_add(&attr) : unwind_tables_unregister(current->mm, attr.key);
}

static struct ctl_table unwind_sysctls[] = {
	{
		.procname	= "unwind_max_ranges",
		.data		= &max_ranges,
		.maxlen		= sizeof(max_ranges),
		.mode		= 0644,
		.proc_handler	= proc_douintvec,
	},
};

static int __init unwind_sysctl_init(void)
{
	register_sysctl_init("kernel", unwind_sysctls);
	return 0;
}
late_initcall(unwind_sysctl_init);
