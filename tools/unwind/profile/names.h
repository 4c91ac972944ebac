/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of locations
 *
 * A location is looked up once, and its name is kept until another file takes the place of
 * its file. A file's symbols are read when the first of its names is wanted. They are given
 * back when too many of all files are in memory: so ask for names file by file, where there
 * is a choice.
 */
#ifndef UNWIND_PROFILE_NAMES_H
#define UNWIND_PROFILE_NAMES_H

#include <stdbool.h>

#include "image.h"

struct name {
	/* A string */
	unsigned int		text;
	/* Is the text a function's name? Else it describes the address */
	bool			known;
	/* The address as linked, and how far it is into the function */
	unsigned long long	address;
	unsigned long long	into;
};

void init_names(void);
const struct name *name_of(unsigned int location);
/* Look up the names of all locations, file by file */
void name_all(void);
/* The file's image, without its symbols */
const struct image *image_of(unsigned int file);
/* The limits of the kernel's functions; 0 if they are not known */
void kernel_limits(unsigned long long *start, unsigned long long *end);

#endif /* UNWIND_PROFILE_NAMES_H */
