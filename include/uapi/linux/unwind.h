/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Tables that describe the stack frames of the calling process.
 *
 * A C library, or a runtime that compiles code, registers a table for a range of text:
 *
 *	prctl(PR_UNWIND_TABLE, op, &attr, sizeof(attr), 0)
 *
 * Tables of files that are mapped the usual way need not be registered: the kernel
 * finds them by the files' program headers.  For files without tables, a service makes
 * them: the second part of this file.
 */
#ifndef _UAPI_LINUX_UNWIND_H
#define _UAPI_LINUX_UNWIND_H

#include <linux/ioctl.h>
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

/*
 * The table service: /dev/unwind
 *
 * read() gives requests, struct unwind_request: files that a stack has met, and that have
 * no table.  UNWIND_IOC_ADD and UNWIND_IOC_NONE answer them.  One process at a time can
 * have the device open for reading and writing.  Whatever it has provided is dropped
 * when that descriptor, with all its duplicates, is closed.  A descriptor for reading can
 * only list tables.  To open the device needs CAP_PERFMON and CAP_DAC_READ_SEARCH.
 */

/**
 * struct unwind_request - a file that has no table
 * @id: names the request
 * @fd: a new descriptor of the file, for reading, which the reader is to close
 * @reserved: 0
 */
struct unwind_request {
	__u64	id;
	__s32	fd;
	__u32	reserved;
};

/**
 * struct unwind_answer - argument of UNWIND_IOC_ADD and UNWIND_IOC_NONE
 * @id: of the request; 0 for a file that was not asked for, and set to the table's
 * @fd: the file
 * @flags: 0
 * @table_start: address of an SFrame section for the file, of version 2 or 3
 * @table_size: its size in bytes
 * @address: link-time address that the section was made for
 *
 * UNWIND_IOC_NONE uses only @id and @fd; the others have to be 0.  The structure may
 * grow, as &struct unwind_table_attr may.
 */
struct unwind_answer {
	__u64	id;
	__s32	fd;
	__u32	flags;
	__u64	table_start;
	__u64	table_size;
	__u64	address;
};

/* Size of the first published structure */
#define UNWIND_ANSWER_SIZE_VER0		40

/* Bits of @flags of &struct unwind_table_info */
#define UNWIND_TABLE_PROVIDED		0x1	/* by the service; else from the file */
#define UNWIND_TABLE_USED		0x2	/* since it was last considered for removal */

/**
 * struct unwind_table_info - the table of a file
 * @id: names it, for UNWIND_IOC_DEL
 * @ino: number of the file's inode
 * @dev_major: major number of its device
 * @dev_minor: minor number
 * @bytes: memory that the table takes
 * @entries: how many entries it has
 * @flags: UNWIND_TABLE_PROVIDED, UNWIND_TABLE_USED
 */
struct unwind_table_info {
	__u64	id;
	__u64	ino;
	__u32	dev_major;
	__u32	dev_minor;
	__u64	bytes;
	__u32	entries;
	__u32	flags;
};

/**
 * struct unwind_list - argument of UNWIND_IOC_LIST
 * @infos: address of an array of &struct unwind_table_info, in no order
 * @room: how many it has room for; not more than 65536 are set
 * @nr: set to how many were set
 * @cursor: 0 at first; set to where to continue, and to 0 at the end
 * @reserved: 0
 */
struct unwind_list {
	__u64	infos;
	__u32	room;
	__u32	nr;
	__u32	cursor;
	__u32	reserved;
};

#define UNWIND_IOC_ADD		_IOWR(0xF9, 1, struct unwind_answer)
#define UNWIND_IOC_NONE		_IOW(0xF9, 2, struct unwind_answer)
#define UNWIND_IOC_DEL		_IOW(0xF9, 3, __u64)
#define UNWIND_IOC_LIST		_IOWR(0xF9, 4, struct unwind_list)

#endif /* _UAPI_LINUX_UNWIND_H */
