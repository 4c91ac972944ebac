/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file of the cache: this header, and the section.  It is to be mapped at a distance
 * of UNWIND_CACHE_APART from the object: there the section describes the object.  Images are
 * larger than their tables, so the tables of neighbours do not overlap either.
 */
#ifndef _UNWIND_TABLES_CACHE_FORMAT_H
#define _UNWIND_TABLES_CACHE_FORMAT_H

#include "convert.h"

#define UNWIND_CACHE_MAGIC	"UNWTBL3\n"
#define UNWIND_CACHE_DIGEST	32	/* bytes of SHA-512/256 */

/* Below what the kernel places; above a program that is linked to a (low) address */
#define UNWIND_CACHE_APART	0x1000000000ULL

/* The environment variable by which "unwind-tables run" names its socket to audit.c */
#define UNWIND_CACHE_SOCKET	"UNWIND_TABLES_SOCKET"

/**
 * struct unwind_cache_entry - the header
 * @magic: UNWIND_CACHE_MAGIC
 * @digest: of all bytes that follow, to the end of the file
 * @key: what the table was made of, also the file's name
 * @addr: link-time address that the section is made for
 * @size: of the section
 * @machine: see &struct unwind_table, as the following
 * @has_chain: 0 or 1
 * @chain: if @has_chain
 * @stats: figures
 */
struct unwind_cache_entry {
	char				magic[8];
	__u8				digest[UNWIND_CACHE_DIGEST];
	__u8				key[UNWIND_CACHE_DIGEST];
	__u64				addr;
	__u64				size;
	__u32				machine;
	__u32				has_chain;
	struct unwind_chain_attr	chain;
	struct unwind_stats		stats;
};

#endif /* _UNWIND_TABLES_CACHE_FORMAT_H */
