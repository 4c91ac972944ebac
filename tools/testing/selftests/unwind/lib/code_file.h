/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ELF files made of the function of code.h, laid out by the test: several executable
 * segments, and a table before or after them, at offsets and addresses that no linker
 * would choose.
 */
#ifndef SELFTEST_UNWIND_CODE_FILE_H
#define SELFTEST_UNWIND_CODE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code.h"

/*
 * Segments are one page each, of the largest size that a kernel for this machine can have, so that
 * any kernel can map them
 */
#if defined(__aarch64__)
#define CODE_PAGE		0x10000UL
#else
#define CODE_PAGE		0x1000UL
#endif

/* Where page @n begins, in the file or in memory */
#define PG(n)			((n) * CODE_PAGE)

#define CODE_FILE_TEXTS		3
/* Functions in each segment: so many that a file's table describes more than next to nothing */
#define CODE_FILE_FUNCTIONS	(CODE_PAGE > 4096 ? 16 : 4)

/* Where a segment lies in the file and in memory; pages both */
struct code_segment {
	uint64_t	offset;
	uint64_t	vaddr;
};

/*
 * @text: executable segments in ascending order of @vaddr, @nr_texts of them
 * @table: the segment of the table
 * @frame, @frame_table: frame size of the functions, and the size in the table
 * @hidden: the program headers do not say that there is a table
 */
struct code_file {
	unsigned int		nr_texts;
	struct code_segment	text[CODE_FILE_TEXTS];
	struct code_segment	table;
	unsigned int		frame;
	unsigned int		frame_table;
	bool			hidden;
};

/* One executable segment, then its table, which is right */
extern const struct code_file code_file_usual;

/* Two so far apart that the kernel's table, which indexes the text between, is larger than this */
#define CODE_FILE_WIDE		8192

extern const struct code_file code_file_wide;

/* Bytes of the table */
size_t code_file_table_size(const struct code_file *file);

/* Write the whole file; 0, or -1 with errno */
int code_file_write(const struct code_file *file, int fd);
/* A new file in memory, which a test may change before file_seal(); or -1 with errno */
int code_file_unsealed(const struct code_file *file);
/* The same, sealed */
int code_file_memfd(const struct code_file *file);

struct code_image {
	const struct code_file	*file;
	char			*base;
	size_t			size;
};

/* Map the segments of @fd; at @where, over existing mappings, if not NULL */
int code_image_map(struct code_image *image, const struct code_file *file,
		   int fd, void *where);
void code_image_unmap(struct code_image *image);

/* Functions of an executable segment, all the same */
chain_fn code_image_fn(const struct code_image *image, unsigned int text,
		       unsigned int i);

#endif /* SELFTEST_UNWIND_CODE_FILE_H */
