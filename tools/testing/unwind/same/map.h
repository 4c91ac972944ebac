/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The program as it was mapped: which object has an address.
 *
 * An object counts from its first executable mapping to the end of the recording;
 * none of the programs unloads any.  Two at one address are an error.
 */
#ifndef _UNWIND_TEST_SAME_MAP_H
#define _UNWIND_TEST_SAME_MAP_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table;

struct object {
	char		*path;		/* where it can be read */
	char		*name;		/* as the program knows it */
	uint64_t	start;		/* of its executable mapping */
	uint64_t	end;
	uint64_t	bias;		/* address as mapped - address in the file */
	Dwfl_Module	*module;
	struct table	*table;
};

/* @pgoff: where in the file @start is.  Exits when it cannot be read. */
void map_add(const char *path, const char *name, uint64_t start, uint64_t len,
	     uint64_t pgoff);

/* NULL: none */
const struct object *map_find(uint64_t address);

/* After all are added; the modules are libdwfl's view of them */
Dwfl *map_dwfl(void);

/* What the object has there; false: there is none, or it is not its text */
bool map_read(uint64_t address, void *to, size_t len);

/* "object:symbol", in a buffer that the next call but seven reuses */
const char *map_name(uint64_t address);

#endif /* _UNWIND_TEST_SAME_MAP_H */
