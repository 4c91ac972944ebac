/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Tables that describe the stack frames of the calling process.
 *
 * A C library, or a runtime that compiles code, registers a table for a range of text:
 *
 *	prctl(PR_UNWIND_TABLE, op, &attr, sizeof(attr), 0)
 *
 * Tables of files that are mapped the usual way need not be registered: the kernel
 * finds them by the files' program headers.
 */
#ifndef _UAPI_LINUX_UNWIND_H
#define _UAPI_LINUX_UNWIND_H

#include <linux/types.h>

/* The option of prctl(2); 'UNWT' */
#define PR_UNWIND_TABLE			0x554e5754

/* Operations: the second argument */
#define PR_UNWIND_TABLE_ADD		1	/* register one range of text */
#define PR_UNWIND_TABLE_DEL		2	/* drop all ranges of a key */
#define PR_UNWIND_TABLE_VERSION		3	/* the version of this interface */

/* The result of PR_UNWIND_TABLE_VERSION */
#define UNWIND_TABLE_ABI_VERSION	1

/* Values of @format */
#define UNWIND_FORMAT_SFRAME		1	/* an SFrame section, version 2 or 3 */

/* Bits of @flags */
#define UNWIND_TABLE_JIT		0x1	/* may still grow and change */

/**
 * struct unwind_table_attr - argument of PR_UNWIND_TABLE_ADD and _DEL
 * @format: UNWIND_FORMAT_SFRAME
 * @flags: 0 or UNWIND_TABLE_JIT
 * @key: names the registration; non-zero, otherwise free to choose. Several
 *	ranges of text may have the same key.
 * @table_start: address of the table
 * @table_size: its size in bytes; with UNWIND_TABLE_JIT, the size that it may
 *	grow to
 * @text_start: address of the text that it describes
 * @text_size: size of that text in bytes
 *
 * PR_UNWIND_TABLE_DEL uses only @key, and refuses bits of @flags that this kernel
 * does not know. So a caller may pass the structure of an ADD again.
 *
 * The structure may grow. A caller's structure that is shorter than the kernel's is
 * read as if zeros followed, but one shorter than the first version, 48 bytes, is
 * refused with EINVAL. A longer one is refused with E2BIG if a byte of its tail is not
 * zero, or if it is larger than a page.
 */
struct unwind_table_attr {
	__u32	format;
	__u32	flags;
	__u64	key;
	__u64	table_start;
	__u64	table_size;
	__u64	text_start;
	__u64	text_size;
};

/* Size of the first published structure */
#define UNWIND_TABLE_ATTR_SIZE_VER0	48

#endif /* _UAPI_LINUX_UNWIND_H */
