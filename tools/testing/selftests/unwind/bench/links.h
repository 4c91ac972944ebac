/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chains of calls through functions that are made at run time. "make bench" takes their
 * stacks.
 *
 * Each function lies in its own slot. It calls the first function that its argument
 * points to, and passes the rest on. The last function is C, and takes the stack.
 */
#ifndef SELFTEST_UNWIND_BENCH_LINKS_H
#define SELFTEST_UNWIND_BENCH_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "image.h"

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#endif

typedef void (*link_fn)(const void *next);

/*
 * The code of a function without a frame pointer, LINK_SFRAME, and of one with a frame
 * pointer, LINK_FP. FN_RETURNED is the offset of the return address in both. struct
 * link_rows, LINK_ROWS and LINK_NR_ROWS are the table of the former; LINK_ABI and
 * LINK_FIXED_RA are the machine's fields in the table's header.
 */
#if defined(__x86_64__)
#include "links_x86_64.h"
#elif defined(__aarch64__)
#include "links_aarch64.h"
#else
#error "only x86-64 and arm64 are supported so far"
#endif

/* A table for one function */
struct link_table {
	struct sframe_header	hdr;
	struct sframe_fde	fde;
	struct link_rows	rows;
} __packed;

/* The header of a table for @nr such functions, whose entries follow it */
static inline struct sframe_header link_header(unsigned int nr)
{
	return (struct sframe_header){
		.magic = SFRAME_MAGIC,
		.version = 3,
		.flags = SFRAME_F_FDE_SORTED,
		.abi_arch = LINK_ABI,
		.cfa_fixed_ra_offset = LINK_FIXED_RA,
		.num_fdes = nr,
		.num_fres = LINK_NR_ROWS * nr,
		.fre_len = nr * sizeof(struct link_rows),
		.freoff = nr * sizeof(struct sframe_fde),
	};
}

/* Of the 510 frames that the benchmark allows, some are the program's own */
#define DEPTH_MAX	500

/* Successive functions of a chain are this many slots apart */
#define LINKS_APART	7919

/*
 * struct links - functions in a row
 * @text: the first one's slot
 * @slot: bytes from one to the next
 * @nr: how many there are
 */
struct links {
	char		*text;
	size_t		slot;
	unsigned int	nr;
};

/* Allocate memory, or end the program */
void *links_map(size_t size);

/* Make @nr functions of @code, or end the program */
void links_make(struct links *links, unsigned int nr, size_t slot,
		const uint8_t *code, size_t size);

/* Bytes of a table for @nr functions */
static inline size_t links_table_size(unsigned int nr)
{
	return sizeof(struct sframe_header) +
	       nr * (sizeof(struct sframe_fde) + sizeof(struct link_rows));
}

/* Write the table of @nr functions of @size bytes, the first one @text bytes from it */
void links_table(void *table, unsigned int nr, intptr_t text, size_t slot, size_t size);

/* Make @nr functions of @code in each of some files with tables, or end the program */
void links_make_files(struct links *links, unsigned int files, unsigned int nr, size_t slot,
		      const uint8_t *code, size_t size);

/* Register a table for a range, or end the program */
void links_register(uint64_t key, const void *table, size_t table_size,
		    const void *text, size_t text_size);

/* Return the @i'th function of a chain */
char *links_at(const struct links *links, unsigned int i);

/* Call a chain of @depth functions, and @last at its end */
void links_call(const struct links *links, unsigned int depth, link_fn last);

/* Are all of @ips return addresses in the chain, innermost first? */
bool links_are(const struct links *links, unsigned int depth,
	       const uint64_t *ips);

/*
 * Open an event of the system call getppid() with its stack, deferred or not, or end the
 * program. It is not enabled yet.
 */
struct ring;
int links_sampler(struct ring *ring, size_t pages, bool deferred);

/* Was exactly one stack sampled since the last call, and is it this chain's? */
bool links_sampled(const struct links *links, unsigned int depth,
		   struct ring *ring);

#endif /* SELFTEST_UNWIND_BENCH_LINKS_H */
