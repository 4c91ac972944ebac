/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table: the kernel's own form of an SFrame section.
 *
 * Text is divided into blocks of 128 bytes and pages of 64 KiB.  An entry says which
 * rule is in force from its offset on.  There are few different rules, so an entry
 * takes three bytes: its offset in its block, and the number of its rule.
 *
 *	page	number of the first entry in each page
 *	block	low half of the number of the first entry in each block
 *	low	per entry: offset in its block
 *	rule	per entry: index into rules
 *	rules	the different rules, see SFRAME_RULE_*
 *	complex	the rules that do not fit into 64 bits
 *
 *	offset ──┬─> page, block ──> first entry of the block
 *	         └─> low 7 bits  ──> the last entry that begins at or before it
 *
 * The entry may begin in an earlier block: entry i - 1 precedes the first entry of a
 * block.  Entry 0 lies in no block; its rule is SFRAME_RULE_NONE.
 *
 * A table is checked while it is built (sframe_table.c) and never changes.  A lookup
 * reads no user memory, calls nothing and takes at most 17 steps.
 */
#ifndef _KERNEL_UNWIND_SFRAME_TABLE_H
#define _KERNEL_UNWIND_SFRAME_TABLE_H

#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/nospec.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "rule.h"

struct unwind_chain;

#define SFRAME_BLOCK_SHIFT	7
#define SFRAME_BLOCK		BIT(SFRAME_BLOCK_SHIFT)
#define SFRAME_PAGE_SHIFT	16

/* Entries are compared eight at a time */
#define SFRAME_PADDING		8

/* Larger sections are refused, in bytes; linkers write much smaller ones */
#define UNWIND_MAX_SECTION	BIT(26)

/*
 * A rule in a table.  In an ordinary frame, the CFA lies at an offset from SP or
 * FP, the return address is saved at an offset from the CFA, and so is the caller's FP,
 * or it is still in its register.  SFRAME_RULE_LINK differs only in that the return
 * address is in the link register.  Offsets are signed and count words of 8 bytes: bits
 * 16 to 31 have the CFA's, 32 to 47 the return address's, 48 to 63 the FP's.  An ordinary
 * frame's return address lies below the CFA: right below it if calls push it (x86).
 */
#define SFRAME_RULE_NONE	0	/* nothing describes the address */
#define SFRAME_RULE_ORDINARY	BIT(0)
#define SFRAME_RULE_CFA_FP	BIT(1)	/* the CFA counts from FP, not from SP */
#define SFRAME_RULE_FP_SAVED	BIT(2)	/* FP is saved in the frame */
#define SFRAME_RULE_LINK	BIT(3)
#define SFRAME_RULE_COMPLEX	BIT(4)	/* bits 16 to 31 are an index into complex */
#define SFRAME_RULE_BAD		BIT(5)	/* the address has an invalid entry */

/**
 * struct sframe_place - the section of a file's own table, if the file has one segment of text
 * @section: offset of the section in the file; 0 if the table was not built from a section
 *	there, or there are several segments
 * @text: offset of the segment in the file
 * @text_size: bytes of the segment in the file
 * @to_text: distance from the section to the segment where they were linked, in bytes
 */
struct sframe_place {
	u64	section;
	u64	text;
	u64	text_size;
	u64	to_text;
};

/**
 * struct sframe_table - the rules for one range of text
 * @start: first offset that is described, a multiple of SFRAME_BLOCK
 * @span: bytes from there to the end of the described text
 * @nr: number of entries
 * @nr_rules: number of rules
 * @nr_complex: number of complex rules
 * @bytes: size of the table in memory
 * @place: where its section is, set by load.c
 * @chain: chain of the file's interpreter, set by device.c; NULL if there is none
 * @rules: different rules
 * @complex: rules that need more than 64 bits
 * @page: one for each 64 KiB of text
 * @block: one for each 128 bytes of text, and one more
 * @rule: one for each entry
 * @low: one for each entry, and SFRAME_PADDING more
 */
struct sframe_table {
	u64			start;
	u32			span;
	u32			nr;
	u32			nr_rules;
	u32			nr_complex;
	size_t			bytes;
	struct sframe_place	place;
	struct unwind_chain	*chain;
	const u64		*rules;
	const struct unwind_frame_rule	*complex;
	const u32		*page;
	const u16		*block;
	const u16		*rule;
	const u8		*low;
};

/**
 * struct sframe_segment - text of an ELF file
 * @vaddr: address at which it was linked
 * @offset: offset for @vaddr in the table: usually that in the file
 * @size: its size in bytes
 */
struct sframe_segment {
	u64	vaddr;
	u64	offset;
	u64	size;
};

/**
 * struct sframe_image - an SFrame section and the text that it describes
 * @section: the section, in kernel memory; aligned to 4 bytes
 * @size: its size in bytes
 * @vaddr: address at which it was linked
 * @segments: the text
 * @nr_segments: number of segments
 */
struct sframe_image {
	const void			*section;
	size_t				size;
	u64				vaddr;
	const struct sframe_segment	*segments;
	unsigned int			nr_segments;
};

struct sframe_table *sframe_table_build(const struct sframe_image *image, u8 abi);
void sframe_table_free(struct sframe_table *table);
int sframe_table_rule(const struct sframe_table *table, u64 packed,
		      struct unwind_frame_rule *rule);
u64 sframe_table_begin(const struct sframe_table *table, u64 off, u64 lowest);
bool sframe_table_describes_around(const struct sframe_table *table, u64 off);

/* The byte, repeated eight times */
#define SFRAME_BYTES(byte)	((byte) * 0x0101010101010101ULL)

/*
 * Find which of eight bytes are above 127 - @rest.  The bytes are at most 128, and @rest is at
 * most 127, so bit 7 of a byte of the sum is set if, and only if, the byte is above.  The result
 * has this bit as bit 0 of each byte.
 */
static __always_inline u64 sframe_above(const u8 *bytes, u64 rest)
{
	return (get_unaligned_le64(bytes) + SFRAME_BYTES(rest)) >> 7 & SFRAME_BYTES(1ULL);
}

/**
 * sframe_table_find_inside - sframe_table_find_edge() for an offset in the table's span
 * @table: the table
 * @off: the offset from @start of @table, less than @span
 * @edge: as there
 *
 * Context: any.
 * Return: as there.
 */
static __always_inline u64 sframe_table_find_inside(const struct sframe_table *table,
						    u64 off, bool *edge)
{
	/* @off comes from the program's stack, and its comparison may be mispredicted */
	const u64 inside = array_index_nospec(off, table->span);
	const u64 block = inside >> SFRAME_BLOCK_SHIFT;
	const u64 rest = ~inside & (SFRAME_BLOCK - 1);
	const u16 number = table->block[block];
	u16 n = table->block[block + 1] - number;
	u64 i = table->page[inside >> SFRAME_PAGE_SHIFT];
	u64 above;

	i += (u16)(number - i);
	above = sframe_above(table->low + i, rest);
	/* Eight entries at once; few blocks have more */
	while (unlikely(n >= 8)) {
		if (above)
			goto found;
		n -= 8;
		i += 8;
		above = sframe_above(table->low + i, rest);
	}
	/* Pretend that the entry after the last one of the block is above the offset */
	above |= 1ULL << n * 8;
found:
	i += __ffs(above) / 8;
	/* The next entry may be in a later block: that counts as an edge, too */
	*edge = !((table->low[i] + rest) % SFRAME_BLOCK);
	return table->rules[table->rule[i - 1]];
}

/**
 * sframe_table_find_edge - find the rule at an offset, and whether it ends there
 * @table: the table
 * @off: the offset from @start of @table
 * @edge: set to whether another rule may be in force at the next offset; also if nothing
 *	describes the offset
 *
 * Context: any.
 * Return: the rule; SFRAME_RULE_NONE if nothing describes the offset.
 */
static __always_inline u64 sframe_table_find_edge(const struct sframe_table *table,
						  u64 off, bool *edge)
{
	*edge = true;
	return off < table->span ? sframe_table_find_inside(table, off, edge) :
				   SFRAME_RULE_NONE;
}

/* Offsets of an ordinary rule, in bytes */
static __always_inline long sframe_rule_cfa(u64 rule)
{
	return (s16)(rule >> 16) * 8L;
}

static __always_inline long sframe_rule_ra(u64 rule)
{
	return (s16)(rule >> 32) * 8L;
}

static __always_inline long sframe_rule_fp(u64 rule)
{
	return (s16)(rule >> 48) * 8L;
}

#endif /* _KERNEL_UNWIND_SFRAME_TABLE_H */
