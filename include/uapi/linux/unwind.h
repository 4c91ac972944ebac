/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Tables that describe the stack frames of the calling process.
 *
 * A C library, or a runtime that compiles code, registers a table for a range of text:
 *
 *	prctl(PR_UNWIND_TABLE, op, &attr, sizeof(attr), 0)
 *
 * The kernel finds the tables of mapped ELF files by itself, so these need not be registered.
 * A service can supply tables for files that have none: see the second part of this file.
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
 * Chains: the frames of a language, as its runtime links them
 *
 * An interpreter keeps a frame for each function of its language that is being called.  A
 * chain describes where these frames are, and which fields the kernel copies when it takes
 * the stack of a thread.  A runtime registers a chain by
 *
 *	prctl(PR_UNWIND_CHAIN, op, &attr, sizeof(attr), 0)
 *
 * or the table service gives it to a file, see &struct unwind_answer.
 */

/* The option of prctl(2); 'UNWC' */
#define PR_UNWIND_CHAIN			0x554e5743

/* Operations: the second argument */
#define PR_UNWIND_CHAIN_ADD		1	/* register a chain */
#define PR_UNWIND_CHAIN_DEL		2	/* drop the chain of a key */
#define PR_UNWIND_CHAIN_VERSION		3	/* the version of this interface */

/* The result of PR_UNWIND_CHAIN_VERSION */
#define UNWIND_CHAIN_ABI_VERSION	1

/* Bits of @flags: the properties of a function that can be found */
#define UNWIND_CHAIN_NAME		0x1	/* its name: @name */
#define UNWIND_CHAIN_FILE		0x2	/* the name of its file: @file */
#define UNWIND_CHAIN_LINE		0x4	/* its first line in that file: @line */

/* The largest offset or distance, in bytes */
#define UNWIND_CHAIN_MAX_OFFSET		0x100000
/* Maximum number of chains of one process */
#define UNWIND_CHAIN_MAX		4

/**
 * struct unwind_chain_list - a list that leads to the frames of a thread
 * @next: offset in each node of the pointer to the next node; NULL is the end
 * @first: offset of the node's pointer to the first node of the next list, or to the
 *	innermost frame
 */
struct unwind_chain_list {
	__u32	next;
	__u32	first;
};

/**
 * struct unwind_chain_string - how the runtime stores a string
 * @length: offset of the number of its bytes, which has 64 bits
 * @data: offset of its bytes
 * @check: offset of 32 bits that say whether a string is stored like this
 * @check_mask: the bits that are compared; 0 if all strings are stored like this
 * @check_value: the value that these bits have then
 */
struct unwind_chain_string {
	__u32	length;
	__u32	data;
	__u32	check;
	__u32	check_mask;
	__u32	check_value;
};

/**
 * struct unwind_chain_text - native text
 * @start: its address
 * @size: its size in bytes
 */
struct unwind_chain_text {
	__u64	start;
	__u64	size;
};

/**
 * struct unwind_chain_attr - argument of PR_UNWIND_CHAIN_ADD and _DEL
 * @flags: UNWIND_CHAIN_*
 * @nr_lists: number of lists in @lists, 0 to 2
 * @key: names the registration; non-zero, otherwise free to choose
 * @head: address of the pointer to the first node of the first list or, if there are
 *	none, to the innermost frame of the thread whose number is the process's
 * @lists: the lists: of interpreters and of their threads, for example.  The nodes of
 *	the last one are threads.
 * @thread: offset in a thread of its number, as gettid(2) gives it: 32 bits
 * @next: offset in a frame of the pointer to the caller's frame; NULL is the end
 * @stride: if it is not 0, the caller's frame is at this distance instead, and a frame
 *	without a function is the end
 * @function: offset in a frame of the pointer to its function.  Frames without one are
 *	not reported
 * @entry: offset in a frame of 32 bits, see below
 * @function_mask: bits of the pointer to the function that are an address
 * @entry_mask: the bits at @entry that are compared
 * @entry_value: the value of these bits in an entry frame
 * @text: the native function that executes frames.  A compiler may have split it, so there
 *	are two parts; a part of size 0 is not used.  Neither is used if there are entry frames
 * @kind: offset in a function of 32 bits that say whether it has code of the language
 * @kind_mask: the bits that are compared; 0 if all functions have code of the language
 * @kind_value: the value of these bits in a function that has such code
 * @name: offset in a function of the pointer to its name
 * @check: offsets in a function of two words that differ if another function has taken its
 *	place in memory
 * @file: offset of the pointer to the name of its file, if it has code
 * @line: offset of the number of its first line, if it has code: 32 bits.  Functions in
 *	line 0 are not reported: the runtime made them for itself
 * @string: how names are stored
 * @reserved: 0
 *
 * There are two ways to find the native frame that executes a frame of the language:
 *
 * - Without @text: by entry frames.  Before the interpreter executes a function from native code,
 *   it puts an entry frame into its own native frame on the thread's stack, and links it as the
 *   caller of that function's frame.  The frames before an entry frame belong to the native
 *   frame that contains it.  Entry frames themselves are not reported.
 * - With @text: an entry frame whose function has code is the first one that the interpreter
 *   executes in one of its native frames, and ends the group of frames that are executed there.
 *   The first group belongs to the first native frame in @text, the second one to the second.
 *
 * In the chain of a file, @head and the starts of @text are distances from the address at which
 * the file would begin if all of it were mapped as its text is.  Fields that the other fields
 * make unused must be 0.  The structure may grow, as &struct unwind_table_attr may.
 */
struct unwind_chain_attr {
	__u32				flags;
	__u32				nr_lists;
	__u64				key;
	__u64				head;
	struct unwind_chain_list	lists[2];
	__u32				thread;
	__u32				next;
	__s64				stride;
	__u32				function;
	__u32				entry;
	__u64				function_mask;
	__u32				entry_mask;
	__u32				entry_value;
	struct unwind_chain_text	text[2];
	__u32				kind;
	__u32				kind_mask;
	__u32				kind_value;
	__u32				name;
	__u32				check[2];
	__u32				file;
	__u32				line;
	struct unwind_chain_string	string;
	__u32				reserved;
};

/* Size of the first published structure */
#define UNWIND_CHAIN_ATTR_SIZE_VER0	168

/*
 * Threads that find their own frames
 *
 * Some runtimes keep their frames in a way that a chain cannot describe.  A thread of
 * such a runtime opts in by
 *
 *	prctl(PR_UNWIND_SELF, PR_UNWIND_SELF_ENABLE, &attr, sizeof(attr), 0)
 *
 * When a profiler wants a stack of the thread, the kernel calls the thread's handler, as for a
 * signal, with a nonce in siginfo_t's si_value, and SI_KERNEL in si_code.  The handler finds the
 * frames by any means, and answers:
 *
 *	prctl(PR_UNWIND_SELF, PR_UNWIND_SELF_ANSWER, &answer, sizeof(answer), 0)
 *
 * No other thread can answer.  Opting in is for one thread: children do not inherit it, and
 * exec ends it.
 */

/* The option of prctl(2); 'UNWS' */
#define PR_UNWIND_SELF			0x554e5753

/* Operations: the second argument */
#define PR_UNWIND_SELF_ENABLE		1	/* opt in */
#define PR_UNWIND_SELF_DISABLE		2	/* opt out */
#define PR_UNWIND_SELF_ANSWER		3	/* submit frames */
#define PR_UNWIND_SELF_VERSION		4	/* the version of this interface */

/* The result of PR_UNWIND_SELF_VERSION */
#define UNWIND_SELF_ABI_VERSION		1

/* The longest timeout, in milliseconds */
#define UNWIND_SELF_TIMEOUT_MAX		1000
/* The most frames of an answer.  A stack has at most 500, including the frames of chains */
#define UNWIND_SELF_FRAMES		500

/**
 * struct unwind_self_attr - argument of PR_UNWIND_SELF_ENABLE
 * @signal: a real-time signal, whose handler is called: it has to be installed with
 *	SA_SIGINFO and SA_ONSTACK, and not with SA_RESETHAND.  The signal is not sent; while it
 *	is blocked, the handler is not called
 * @flags: 0
 * @stack_start: address of the alternate stack, as the thread named it to sigaltstack(2):
 *	the handler runs there, and is not called while the thread has another one, or runs on
 *	this one
 * @stack_size: its size in bytes
 * @interval: the handler is not called again for this time, in microseconds; may be 0
 * @timeout: an answer after this time, in milliseconds, is late: 1 to
 *	UNWIND_SELF_TIMEOUT_MAX
 *
 * The structure may grow, as &struct unwind_table_attr may.
 */
struct unwind_self_attr {
	__u32	signal;
	__u32	flags;
	__u64	stack_start;
	__u64	stack_size;
	__u32	interval;
	__u32	timeout;
};

/* Size of the first published structure */
#define UNWIND_SELF_ATTR_SIZE_VER0	32

/* Bits of @flags of &struct unwind_self_answer */
#define UNWIND_SELF_CUT			0x1	/* there are more frames */
#define UNWIND_SELF_ALL			0x2	/* replaces the frames of chains */

/* Values of @format */
#define UNWIND_SELF_NAMES		1	/* frames have names */
#define UNWIND_SELF_BYTES		2	/* names are bytes in a format named by @tag */

/**
 * struct unwind_self_answer - argument of PR_UNWIND_SELF_ANSWER
 * @nonce: of the request
 * @frames: address of an array of &struct unwind_self_frame, the innermost first
 * @nr: number of frames, at most UNWIND_SELF_FRAMES; 0 if there are none
 * @flags: UNWIND_SELF_CUT, UNWIND_SELF_ALL
 * @format: UNWIND_SELF_NAMES or UNWIND_SELF_BYTES
 * @tag: 0; for UNWIND_SELF_BYTES, four letters or digits, the first one in the lowest bits
 *
 * With UNWIND_SELF_BYTES, tools show the letters, a colon, and the bytes in hexadecimal.
 * The structure may grow, as &struct unwind_table_attr may.
 */
struct unwind_self_answer {
	__u64	nonce;
	__u64	frames;
	__u32	nr;
	__u32	flags;
	__u32	format;
	__u32	tag;
};

/* Size of the first published structure */
#define UNWIND_SELF_ANSWER_SIZE_VER0	32

/**
 * struct unwind_self_frame - a frame that a thread has found
 * @function: any number but 0 that stands for the function in this process: its address
 * @sp: an address in the native frame that executes it; 0 if that is not known.  The frames
 *	come in the order of the native ones
 * @name: address of the function's name
 * @file: address of the name of its file; may be 0
 * @check: differs if another function gets the same @function later
 * @name_size: size of the name in bytes, without a 0 at its end
 * @file_size: the same for the file's
 * @line: the function's first line; 0 if that is not known
 */
struct unwind_self_frame {
	__u64	function;
	__u64	sp;
	__u64	name;
	__u64	file;
	__u32	check;
	__u32	name_size;
	__u32	file_size;
	__u32	line;
};

/*
 * The table service: /dev/unwind
 *
 * read() gives requests, struct unwind_request: files that a stack has met, and that have
 * no table.  UNWIND_IOC_ADD and UNWIND_IOC_NONE answer them.  One process at a time can
 * have the device open for reading and writing.  All tables that it has provided are dropped
 * when that descriptor, with all its duplicates, is closed.  A descriptor for reading can
 * only list tables.  Opening the device needs CAP_PERFMON and CAP_DAC_READ_SEARCH.
 */

/**
 * struct unwind_request - a file that has no table
 * @id: names the request
 * @fd: a new descriptor of the file, for reading; the reader has to close it
 * @reserved: 0
 */
struct unwind_request {
	__u64	id;
	__s32	fd;
	__u32	reserved;
};

/**
 * struct unwind_answer - argument of UNWIND_IOC_ADD and UNWIND_IOC_NONE
 * @id: of the request; or 0 for an answer without one, then set to the table's id
 * @fd: the file
 * @flags: 0
 * @table_start: address of an SFrame section for the file, of version 2 or 3
 * @table_size: its size in bytes
 * @address: link-time address that the section was made for
 * @chain: address of a &struct unwind_chain_attr with the key 0, if the file has a
 *	runtime; else 0
 * @chain_size: size of that structure
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
	__u64	chain;
	__u64	chain_size;
};

/* Size of the first published structure */
#define UNWIND_ANSWER_SIZE_VER0		40
#define UNWIND_ANSWER_SIZE_VER1		56

/* Bits of @flags of &struct unwind_table_info */
#define UNWIND_TABLE_PROVIDED		0x1	/* by the service; else from the file */
#define UNWIND_TABLE_USED		0x2	/* since it was last considered for removal */
#define UNWIND_TABLE_PART		0x4	/* of a registered section somewhere in the file */

/**
 * struct unwind_table_info - the table of a file
 * @id: names it, for UNWIND_IOC_DEL
 * @ino: number of the file's inode
 * @dev_major: major number of its device
 * @dev_minor: minor number
 * @bytes: memory that the table takes
 * @entries: number of its entries
 * @flags: UNWIND_TABLE_PROVIDED, UNWIND_TABLE_USED, UNWIND_TABLE_PART
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
 * @room: number of elements in the array; at most 65536 are set
 * @nr: set to the number of elements that were set
 * @cursor: 0 at first; set to the place to continue at, and to 0 at the end
 * @reserved: 0
 */
struct unwind_list {
	__u64	infos;
	__u32	room;
	__u32	nr;
	__u32	cursor;
	__u32	reserved;
};

#define UNWIND_IOC_ADD		_IOWR(0xFA, 1, struct unwind_answer)
#define UNWIND_IOC_NONE		_IOW(0xFA, 2, struct unwind_answer)
#define UNWIND_IOC_DEL		_IOW(0xFA, 3, __u64)
#define UNWIND_IOC_LIST		_IOWR(0xFA, 4, struct unwind_list)

#endif /* _UAPI_LINUX_UNWIND_H */
