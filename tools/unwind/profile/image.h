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

#include "elf_file.h"
#include "files.h"
#include "symbols.h"

struct image {
	/* The file's, or NULL */
	const struct file	*file;
	struct elf_head		head;
	struct symbols		symbols;
	/* The result of reading, with the symbols; or NULL */
	void			*mapped;
	size_t			size;
	/* The file's count when it was read */
	unsigned int		opened;
	/* Have its symbols been read since they were given back? */
	bool			has_symbols;
};

/* From the file and, if it was stripped, its debug file; else the image is empty */
void read_image(struct image *image, const struct file *file);
/* Give back the symbols, if there are any */
void forget_symbols(struct image *image);
/* The address of an offset of the file; false if that is in no segment */
bool image_address(const struct image *image, unsigned long long offset,
		   unsigned long long *address);

#endif /* UNWIND_PROFILE_IMAGE_H */
