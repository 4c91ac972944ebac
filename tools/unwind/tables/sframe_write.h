/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write an SFrame section, version 3. The format: libsframe/doc/sframe-spec of GNU
 * binutils.
 */
#ifndef _UNWIND_TABLES_SFRAME_WRITE_H
#define _UNWIND_TABLES_SFRAME_WRITE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "rules.h"

#define SFRAME_ABI_AARCH64_LE	2
#define SFRAME_ABI_AMD64_LE	3

/*
 * Readers search the rows of a function one after another, so a function with more rows
 * than this becomes several entries.
 */
#define SFRAME_PIECE_ROWS	256

/**
 * struct bytes - bytes that become more
 * @buf: they
 * @len: how many there are
 * @room: for how many there is memory
 */
struct bytes {
	__u8	*buf;
	size_t	len;
	size_t	room;
};

/**
 * struct sframe_row - a row in its function
 * @offset: from the start of the piece
 * @row: the rules
 */
struct sframe_row {
	__u32		offset;
	struct row	row;
};

/**
 * struct sframe_writer - a section that is being written
 * @machine: the architecture
 * @index: start, size and offset of the FREs of each piece; starts are addresses
 * @fres: attributes and rows
 * @nr_fdes: pieces
 * @nr_rows: rows
 * @signal: the current function is a signal frame
 * @key_b: its return addresses are signed with key B
 * @has_sums: there are rules that only the kernel reads
 * @start: of the current piece
 * @end: of the current piece
 * @block: size of the block of code that it repeats, 0 if it does not
 * @flex: a row of it is one that only flexible FDEs have
 * @nr: rows of the current piece
 * @rows: they
 */
struct sframe_writer {
	const struct machine	*machine;
	struct bytes		index;
	struct bytes		fres;
	__u64			nr_fdes;
	__u64			nr_rows;
	bool			signal;
	bool			key_b;
	bool			has_sums;
	__u64			start;
	__u64			end;
	__u8			block;
	bool			flex;
	unsigned int		nr;
	struct sframe_row	rows[SFRAME_PIECE_ROWS];
};

void sframe_begin(struct sframe_writer *w, bool is_signal, bool key_b);
int sframe_add_row(struct sframe_writer *w, __u64 start, __u64 end,
		   const struct row *row);
int sframe_add_block(struct sframe_writer *w, __u64 start, __u64 end,
		     const struct row *rows, unsigned int size);
int sframe_end(struct sframe_writer *w);
int sframe_finish(struct sframe_writer *w, __u64 addr, __u8 **section,
		  size_t *size);
void sframe_free(struct sframe_writer *w);

#endif /* _UNWIND_TABLES_SFRAME_WRITE_H */
