/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mappings of the program: which object has an address.
 *
 * An object counts from its first executable mapping to the end of the recording; none of
 * the programs unloads any. Two objects at one address are an error.
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
	char		*name;		/* as the program names it */
	uint64_t	start;		/* of its executable mapping */
	uint64_t	end;
	uint64_t	bias;		/* mapped address - address in the file */
	Dwfl_Module	*module;
	struct table	*table;
};

/* @pgoff: the file offset of @start. Exits when the file cannot be read. */
void map_add(const char *path, const char *name, uint64_t start, uint64_t len,
	     uint64_t pgoff);

/* NULL: none */
const struct object *map_find(uint64_t address);

/* Call it after all are added; the modules are libdwfl's view of them */
Dwfl *map_dwfl(void);

/* Read the object's text there; false: no object, or not its text */
bool map_read(uint64_t address, void *to, size_t len);

/* "object:symbol"; the eighth next call reuses the buffer */
const char *map_name(uint64_t address);

#endif /* _UNWIND_TEST_SAME_MAP_H */
