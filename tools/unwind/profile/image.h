/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ELF images: what a file says about its addresses
 *
 * The kernel reports offsets in a file. Symbols, debuggers and other profiles have the
 * addresses that the file was linked to.
 */
#ifndef UNWIND_PROFILE_IMAGE_H
#define UNWIND_PROFILE_IMAGE_H

#include <stdbool.h>

#include "files.h"
#include "symbols.h"

#define SEGMENTS	16

struct segment {
	unsigned long long	offset;
	unsigned long long	size;
	unsigned long long	addr;
	bool			executable;
};

struct image {
	/* The file's, or NULL */
	const struct file	*file;
	struct segment		segment[SEGMENTS];
	unsigned int		nr;
	/* 0 if there is none */
	unsigned int		id_size;
	unsigned char		id[64];
	struct symbols		symbols;
	bool			is_read;
	bool			has_symbols;
};

/* Fill in all but the symbols; without a readable file, the image is empty */
void read_image(struct image *image, const struct file *file);
/* From the file and, if it was stripped, its debug file */
void read_symbols(struct image *image);
/* Convert an offset of the file; unchanged if that is in no segment */
unsigned long long image_address(const struct image *image, unsigned long long offset);

#endif /* UNWIND_PROFILE_IMAGE_H */
