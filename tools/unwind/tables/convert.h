/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Converts the call frame information (CFI) of an ELF file to an SFrame section.  It
 * reads .eh_frame, and .debug_frame for functions that .eh_frame does not describe; and for
 * Go's functions, which have neither, the table of Go's runtime.
 *
 * The section has SFrame version 3, for x86-64 or arm64.  It is sorted, little-endian,
 * and describes link-time addresses.  Addresses whose CFI cannot be expressed have no
 * row; the notes list them with the reason.  No row contradicts the CFI.
 *
 * The format's gap.  Some assembly saves the old stack pointer on the stack, and its CFI
 * says CFA = *(REG + N) + M.  SFrame has no word for M.  The kernel reads an extension of
 * the format that has one: see Documentation/core-api/unwind-sframe.rst.  A section with
 * such a row has a flag in its header for which other readers refuse it; all other
 * sections are plain SFrame.
 */
#ifndef _UNWIND_TABLES_CONVERT_H
#define _UNWIND_TABLES_CONVERT_H

#include <linux/types.h>
#include <linux/unwind.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * enum unwind_note_type - what a note is about
 * @UNWIND_NOTE_CFA: no rule says how to get the CFA
 * @UNWIND_NOTE_RA: nor the return address
 * @UNWIND_NOTE_SP: the caller's stack pointer is not the CFA
 * @UNWIND_NOTE_OFFSET: an offset does not fit in 32 bits
 * @UNWIND_NOTE_PROGRAM: the function's CFI makes no sense here
 * @UNWIND_NOTE_ENTRY: an entry (FDE) makes no sense, or none of its CIE
 * @UNWIND_NOTE_OUTSIDE: an entry is about addresses that are not executable
 * @UNWIND_NOTE_HIDDEN: another entry lies within the function; the function's own
 *	entry is used up to there
 * @UNWIND_NOTE_SECTION: the section makes no sense from here on; the note has the
 *	address of the section's bytes
 * @UNWIND_NOTE_NO_ENTRY: no entry describes this code; only unwind_check() looks for it
 * @UNWIND_NOTE_FP: SFrame has no rule for the caller's frame pointer, or the CFI says that
 *	it is lost; the row says so
 * @UNWIND_NOTE_OVERLAP: two entries describe these addresses; the one that starts
 *	last is used
 * @UNWIND_NOTE_BEYOND: the function's CFI goes on after the function's end
 * @UNWIND_NOTE_TYPES: how many there are
 *
 * Up to @UNWIND_NOTE_NO_ENTRY the addresses have no row in the table.  After
 * @UNWIND_NOTE_FP it is the CFI that is wrong.
 */
enum unwind_note_type {
	UNWIND_NOTE_CFA,
	UNWIND_NOTE_RA,
	UNWIND_NOTE_SP,
	UNWIND_NOTE_OFFSET,
	UNWIND_NOTE_PROGRAM,
	UNWIND_NOTE_ENTRY,
	UNWIND_NOTE_OUTSIDE,
	UNWIND_NOTE_HIDDEN,
	UNWIND_NOTE_SECTION,
	UNWIND_NOTE_NO_ENTRY,
	UNWIND_NOTE_FP,
	UNWIND_NOTE_OVERLAP,
	UNWIND_NOTE_BEYOND,
	UNWIND_NOTE_TYPES,
};

#define UNWIND_NOTE_NAME_LEN	64

/**
 * struct unwind_note - addresses that are not described, or CFI that is wrong
 * @start: first address
 * @end: first address after them
 * @type: one of &enum unwind_note_type
 * @offset: of @start in its function
 * @name: the function's symbol, cut where it is longer, or ""; printable
 */
struct unwind_note {
	__u64	start;
	__u64	end;
	__u32	type;
	__u32	offset;
	char	name[UNWIND_NOTE_NAME_LEN];
};

/* Further notes are counted, not listed */
#define UNWIND_NOTES_MAX	65536

/**
 * struct unwind_stats - what was found, and what was made of it
 * @fdes: entries of the CFI
 * @functions: entries that have rows in the table
 * @added: functions without CFI that are in the table, by the shape of their code
 * @rows: rows of the table
 * @cfi_bytes: size of the CFI sections
 * @hdr_bytes: size of .eh_frame_hdr
 * @notes: by &enum unwind_note_type, including notes that are not listed
 */
struct unwind_stats {
	__u64	fdes;
	__u64	functions;
	__u64	added;
	__u64	rows;
	__u64	cfi_bytes;
	__u64	hdr_bytes;
	__u64	notes[UNWIND_NOTE_TYPES];
};

/**
 * struct unwind_table - an SFrame section, and what is to be said about it
 * @sframe: the section; one without functions if the file has no CFI
 * @size: of the section, in bytes
 * @addr: the link-time address that it is made for
 * @machine: EM_X86_64 or EM_AARCH64
 * @has_chain: the file has an interpreter whose frames can be found
 * @chain: where they are
 * @stats: figures
 * @notes: in order of addresses
 * @nr_notes: number of them
 */
struct unwind_table {
	__u8			*sframe;
	size_t			size;
	__u64			addr;
	__u16			machine;
	bool			has_chain;
	struct unwind_chain_attr	chain;
	struct unwind_stats	stats;
	struct unwind_note	*notes;
	size_t			nr_notes;
};

int unwind_convert(int fd, __u64 addr, struct unwind_table *table);
int unwind_check(int fd, __u64 addr, struct unwind_table *table);
int unwind_convert_sandboxed(int fd, __u64 addr, struct unwind_table *table);
int unwind_check_sandboxed(int fd, __u64 addr, struct unwind_table *table);
int unwind_extract_sandboxed(int fd);
void unwind_table_free(struct unwind_table *table);

const char *unwind_note_text(unsigned int type);
bool unwind_note_is_gap(unsigned int type);
const char *unwind_convert_error(int err);

#endif /* _UNWIND_TABLES_CONVERT_H */
