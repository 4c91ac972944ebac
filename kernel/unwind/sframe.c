// SPDX-License-Identifier: GPL-2.0
/*
 * The SFrame decoder: from an address to the row that describes it.  The iterator
 * calls it for a frame of which no row is kept (rows.c), when tables.c has said which
 * section it is.
 *
 * A pure function of (section, address, memory): it allocates nothing, takes no
 * lock, keeps no state, and works in whatever context its reads of memory work
 * (see unwind_mem.h).  The file follows a lookup: check the header, find the
 * function (FDE), find the row (FRE), turn its data words into rules.
 *
 * User memory is opened once per lookup.  While it is, no function may be called,
 * so all that reads is inlined: see the end of the file.
 *
 * The section is hostile.  What the decoder promises all the same:
 *
 * - It reads nothing outside the section.  Bounds come from the header as it
 *   was checked once; every position is computed in 64 bits from values of at
 *   most 32 bits, so that nothing wraps, and compared before it is read.
 *   Those of a section that changes are checked anew by each lookup.
 * - It reads each value that it uses once.  A section that changes between two
 *   reads yields a wrong row at worst; the iterator trusts no row.
 * - It ends.  A lookup makes at most 163,892 reads of at most 8 bytes, and 2,612
 *   where faults are not allowed.  That is 2 * (scan + fres) + 52: start and size
 *   of "scan" index entries (all that are looked at of an unsorted section, the
 *   empty functions that are stepped over in a sorted one), start and info byte
 *   of "fres" rows (see limits[]), 32 more to search an index of up to 2^32 - 1
 *   entries, 5 about the function, and 15 data words.  5 more in a section that
 *   changes: its counts, and what to compare its entry by.
 *
 * Start offsets of functions are the exception in arithmetic: they are signed
 * and up to 64 bits wide, and anything can stand there.  They are added modulo
 * 2^64, and serve only to be compared with the address.
 *
 * Errors: -ENOENT no function or row describes the address; -EFAULT memory
 * could not be read; -EINVAL an entry makes no sense; -E2BIG the lookup would
 * exceed its bound; -EAGAIN the entry of a section that changes did so meanwhile.
 */

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <asm/barrier.h>

#include "sframe.h"
#include "sframe_format.h"
#include "unwind_mem.h"

/*
 * What one lookup looks at: index entries besides those of a binary search, and
 * rows of one function.
 */
static const struct sframe_limits {
	u32	scan;
	u32	fres;
} limits[] = {
	[UNWIND_USER_FAULTABLE]	= { .scan = 16384, .fres = 65536 },
	[UNWIND_USER_NOFAULT]	= { .scan = 256, .fres = 1024 },
};

/* A function, put together from what either version says about it */
struct sframe_func {
	unsigned long	fde;		/* its entry in the index */
	u64		index;		/* which one that is */
	s64		start;		/* of its code, from the section's origin */
	u64		offset;		/* of the address, from its start */
	u32		size;		/* of its code */
	u32		fre_off;	/* as its entry has it */
	unsigned long	rep_size;	/* where that is, if it is needed */
	u64		fre_pos;	/* of its rows in the FRE sub-section */
	u32		num_fres;
	u32		type;
	u32		looked;		/* see struct unwind_row */
	u8		info;
};

/* A row: what follows its start */
struct sframe_fre {
	u64	words;		/* in the FRE sub-section; never 0 */
	u64	end;		/* of its words */
	u8	info;
};

/* One of SFRAME_FRE_DATAWORD_*, or 3, which walk_rows() refuses */
static __always_inline unsigned int fre_word_size(u8 info)
{
	return FIELD_GET(SFRAME_FRE_DATAWORD_SIZE, info);
}

static __always_inline size_t fde_size(bool v2)
{
	return v2 ? sizeof(struct sframe_fde_v2) : sizeof(struct sframe_fde_v3);
}

static __always_inline struct unwind_rule saved_at(s32 offset)
{
	return (struct unwind_rule){
		.base = UNWIND_RULE_CFA, .deref = true, .offset = offset,
	};
}

/*
 * s390x is not among them.  It scales and shifts offsets of the CFA, pads rows with
 * an invalid RA, and in version 2 has numbers of registers among the offsets; its
 * caller's SP is the CFA - 160, where the iterator takes SP and CFA for the same.
 * Rows decoded without all of that are wrong without looking wrong.
 */
static bool abi_is_known(u8 abi)
{
	switch (abi) {
	case SFRAME_ABI_AARCH64_ENDIAN_BIG:
	case SFRAME_ABI_AARCH64_ENDIAN_LITTLE:
	case SFRAME_ABI_AMD64_ENDIAN_LITTLE:
		return true;
	default:
		return false;
	}
}

static bool abi_is_aarch64(u8 abi)
{
	return abi == SFRAME_ABI_AARCH64_ENDIAN_LITTLE ||
	       abi == SFRAME_ABI_AARCH64_ENDIAN_BIG;
}

/*
 * The header
 */

/* Bytes @from to @to of the header */
static int read_header(struct sframe_header *hdr, unsigned long addr,
		       unsigned int from, unsigned int to)
{
	u8 *bytes = (u8 *)hdr;
	u32 word;
	int ret;

	BUILD_BUG_ON(sizeof(*hdr) != 28);

	for (; from < to; from += sizeof(word)) {
		ret = unwind_read_u32(&word, addr + from);
		if (ret)
			return ret;
		memcpy(bytes + from, &word, sizeof(word));
	}
	return 0;
}

/**
 * sframe_read_header - read and check the header of an SFrame section
 * @sec: filled in on success
 * @start: address of the section
 * @size: its size in bytes
 * @abi: the SFRAME_ABI_* that the section must be for
 *
 * Implements "SFrame Preamble" and "SFrame Header" of the specification.
 *
 * Context: any in which @start may be read.
 * Return: 0; -EFAULT unreadable; -EOPNOTSUPP a version that is not read;
 * -ENOEXEC anything else that makes no sense: magic (also of the other byte
 * order), ABI, flags, sub-sections that do not lie within the section.
 */
int sframe_read_header(struct sframe_section *sec, unsigned long start,
		       unsigned long size, u8 abi)
{
	struct sframe_header hdr;
	u64 base, fdes_end;
	u8 known_flags;
	int ret;

	/* "The only part [...] whose format cannot vary between versions" */
	if (size < SFRAME_PREAMBLE_SIZE || start + size < start)
		return -ENOEXEC;
	ret = read_header(&hdr, start, 0, SFRAME_PREAMBLE_SIZE);
	if (ret)
		return ret;
	if (hdr.magic != SFRAME_MAGIC)
		return -ENOEXEC;

	switch (hdr.version) {
	case SFRAME_VERSION_2:
		known_flags = SFRAME_V2_FLAGS;
		break;
	case SFRAME_VERSION_3:
		known_flags = SFRAME_V3_FLAGS;
		break;
	default:
		return -EOPNOTSUPP;
	}

	if (size < sizeof(hdr))
		return -ENOEXEC;
	ret = read_header(&hdr, start, SFRAME_PREAMBLE_SIZE, sizeof(hdr));
	if (ret)
		return ret;
	if (hdr.flags & ~known_flags || hdr.abi_arch != abi ||
	    !abi_is_known(abi))
		return -ENOEXEC;

	sec->start = start;
	sec->end = start + size;
	sec->changes = false;
	sec->num_fdes = hdr.num_fdes;
	sec->fre_len = hdr.fre_len;
	sec->version = hdr.version;
	sec->flags = hdr.flags;
	sec->fixed_fp = hdr.cfa_fixed_fp_offset;
	sec->fixed_ra = hdr.cfa_fixed_ra_offset;
	sec->aarch64 = abi_is_aarch64(abi);
	sec->fixed = (struct unwind_row){};	/* SAME, unless: */
	if (sec->fixed_ra)
		sec->fixed.ra = saved_at(sec->fixed_ra);
	if (sec->fixed_fp)
		sec->fixed.fp = saved_at(sec->fixed_fp);

	/* Sums of three 32-bit values, and a product of 32 bits and 5: no wrap */
	base = sizeof(hdr) + hdr.auxhdr_len;
	fdes_end = base + hdr.fdeoff + (u64)hdr.num_fdes *
		   fde_size(hdr.version == SFRAME_VERSION_2);
	if (fdes_end > base + hdr.freoff ||
	    base + hdr.freoff + hdr.fre_len > size)
		return -ENOEXEC;

	sec->fdes = start + base + hdr.fdeoff;
	sec->fres = start + base + hdr.freoff;
	sec->origin = hdr.flags & SFRAME_F_FDE_FUNC_START_PCREL ? sec->fdes :
								  start;
	return 0;
}

/*
 * The function
 */

/*
 * The index as one lookup sees it.  Starts of functions are compared as offsets
 * from the section's @origin: where they count from their own entries, an entry's
 * position in the index makes an offset of the value in it.
 */
struct sframe_index {
	unsigned long	fdes;
	u32		num;
	const struct sframe_limits *max;
	bool		v2;
	bool		pcrel;
	bool		changes;
};

/* @changes as in @sec, as a constant: whoever looks up knows which it is */
static __always_inline struct sframe_index
index_of(const struct sframe_section *sec, const struct sframe_limits *max,
	 bool changes)
{
	return (struct sframe_index){
		.fdes = sec->fdes,
		.num = sec->num_fdes,
		.max = max,
		.v2 = sec->version == SFRAME_VERSION_2,
		.pcrel = sec->flags & SFRAME_F_FDE_FUNC_START_PCREL,
		.changes = changes,
	};
}

static __always_inline u64 fde_pos(const struct sframe_index *idx, u64 i)
{
	return i * fde_size(idx->v2);
}

/* There is an entry at @pos, so it lies within the section */
static __always_inline int read_func_start_at(const struct sframe_index *idx,
					      u64 pos, s64 *start)
{
	u64 val64 = 0;
	u32 val32 = 0;
	int ret;

	if (idx->v2) {
		ret = unwind_unsafe_read_u32(&val32, idx->fdes + pos);
		val64 = (s32)val32;
	} else {
		ret = unwind_unsafe_read_u64(&val64, idx->fdes + pos);
	}
	*start = val64 + (idx->pcrel ? pos : 0);
	return ret;
}

static __always_inline int read_func_start(const struct sframe_index *idx,
					   u64 i, s64 *start)
{
	return read_func_start_at(idx, fde_pos(idx, i), start);
}

/*
 * An entry that is made anew while we look has its size written last, and one
 * that is taken back first: what is read before the size is at least as old, and
 * what is read after it at least as new.
 */
static __always_inline int read_func_size(const struct sframe_index *idx,
					  u64 i, u32 *size)
{
	unsigned long addr = idx->fdes + fde_pos(idx, i) +
			     (idx->v2 ? offsetof(struct sframe_fde_v2, size) :
					offsetof(struct sframe_fde_v3, size));
	int ret;

	if (idx->changes)
		smp_rmb();	/* the start before it, see above */
	ret = unwind_unsafe_read_u32(size, addr);
	if (idx->changes)
		smp_rmb();	/* all else after it */
	return ret;
}

static __always_inline int read_fre_off(const struct sframe_index *idx,
					u64 i, u32 *fre_off)
{
	return unwind_unsafe_read_u32(fre_off, idx->fdes + fde_pos(idx, i) +
				      (idx->v2 ?
				       offsetof(struct sframe_fde_v2, fre_off) :
				       offsetof(struct sframe_fde_v3, fre_off)));
}

/*
 * The last function that starts at or before @target; the first one if none does, or
 * any if the entries change meanwhile: @target is none of its addresses then.
 * "Sorted on PC": by the addresses, not by the values that are in the entries.
 *
 * It is one of the @step entries from @pos on: first of a power of two that is no
 * more than there are, from either end, then of half as many each time. All are
 * positions in bytes, so that a step is few instructions; this is what most of a
 * lookup in a large section takes.
 */
static __always_inline int search(struct sframe_index idx, bool v2, bool pcrel,
				  s64 target, u64 *index, s64 *start)
{
	u64 size, step, pos = 0;
	s64 val;
	int ret;

	if (!idx.num)
		return -ENOENT;
	/* Constants when compiled: the loop does not ask */
	idx.v2 = v2;
	idx.pcrel = pcrel;
	size = fde_size(v2);
	step = fde_pos(&idx, 1ULL << __fls(idx.num));

	ret = read_func_start_at(&idx, fde_pos(&idx, idx.num) - step, &val);
	if (ret)
		return ret;
	if (val <= target)
		pos = fde_pos(&idx, idx.num) - step;
	while ((step /= 2) >= size) {
		ret = read_func_start_at(&idx, pos + step, &val);
		if (ret)
			return ret;
		pos = val <= target ? pos + step : pos;
	}
	*index = pos / size;
	return read_func_start_at(&idx, pos, start);
}

/*
 * Function @index is empty: one before it with the same start may not be.
 * Functions whose code was unreachable have entries at the address of the next
 * function, on either side of its own.
 */
static __always_inline int step_over_empty(const struct sframe_index *idx,
					   s64 start, u64 *index, u32 *size)
{
	u32 i;

	for (i = 1; *index; i++) {
		s64 prev;
		int ret;

		ret = read_func_start(idx, *index - 1, &prev);
		if (ret)
			return ret;
		if (prev != start)
			break;
		if (i >= idx->max->scan)
			return -E2BIG;
		(*index)--;
		ret = read_func_size(idx, *index, size);
		if (ret || *size)
			return ret;
	}
	return -ENOENT;
}

/* The last function that starts at or before @target */
static __always_inline int find_sorted(const struct sframe_index *idx,
				       s64 target, u64 *index, s64 *start,
				       u32 *size, u32 *looked)
{
	int ret;

	if (idx->v2 && idx->pcrel)
		ret = search(*idx, true, true, target, index, start);
	else if (idx->v2)
		ret = search(*idx, true, false, target, index, start);
	else if (idx->pcrel)
		ret = search(*idx, false, true, target, index, start);
	else
		ret = search(*idx, false, false, target, index, start);
	if (ret)
		return ret;
	ret = read_func_size(idx, *index, size);
	if (ret || *size)
		return ret;
	*looked = idx->max->scan;
	return step_over_empty(idx, *start, index, size);
}

/* The first function that covers @target */
static __always_inline int find_unsorted(const struct sframe_index *idx,
					 s64 target, u64 *index, s64 *start,
					 u32 *size)
{
	u32 i;

	for (i = 0; i < idx->num; i++) {
		int ret;

		if (i >= idx->max->scan)
			return -E2BIG;
		ret = read_func_start(idx, i, start);
		if (ret)
			return ret;
		if (*start > target)
			continue;
		ret = read_func_size(idx, i, size);
		if (ret)
			return ret;
		if ((u64)target - (u64)*start < *size) {
			*index = i;
			return 0;
		}
	}
	return -ENOENT;
}

/* Fill in what the index says */
static __always_inline int find_fde(const struct sframe_section *sec,
				    const struct sframe_index *idx,
				    unsigned long ip, struct sframe_func *func)
{
	s64 target = (u64)ip - sec->origin;
	int ret;

	func->index = 0;
	func->start = 0;
	func->looked = sec->flags & SFRAME_F_FDE_SORTED ?
		       0 : min(idx->num, idx->max->scan);
	if (sec->flags & SFRAME_F_FDE_SORTED)
		ret = find_sorted(idx, target, &func->index, &func->start,
				  &func->size, &func->looked);
	else
		ret = find_unsorted(idx, target, &func->index, &func->start,
				    &func->size);
	if (ret)
		return ret;

	func->offset = (u64)target - (u64)func->start;
	if (func->offset >= func->size)
		return -ENOENT;
	func->fde = idx->fdes + fde_pos(idx, func->index);
	return read_fre_off(idx, func->index, &func->fre_off);
}

static __always_inline int read_func_v2(struct sframe_func *func)
{
	int ret;

	ret = unwind_unsafe_read_u32(&func->num_fres, func->fde +
				     offsetof(struct sframe_fde_v2, num_fres));
	if (!ret)
		ret = unwind_unsafe_read_u8(&func->info, func->fde +
					    offsetof(struct sframe_fde_v2, info));
	/* Bit 7 has no meaning in version 2 */
	func->info &= ~SFRAME_FDE_SIGNAL;
	func->type = SFRAME_FDE_TYPE_DEFAULT;
	func->rep_size = func->fde + offsetof(struct sframe_fde_v2, rep_size);
	func->fre_pos = func->fre_off;
	return ret;
}

static __always_inline int read_func_attr_v3(const struct sframe_section *sec,
					     struct sframe_func *func)
{
	unsigned long addr = sec->fres + func->fre_off;
	u16 num_fres = 0;
	u8 info2 = 0;
	int ret;

	func->fre_pos = (u64)func->fre_off + sizeof(struct sframe_fde_attr_v3);
	if (func->fre_pos > sec->fre_len)
		return -EINVAL;

	ret = unwind_unsafe_read_u16(&num_fres, addr +
				     offsetof(struct sframe_fde_attr_v3, num_fres));
	if (!ret)
		ret = unwind_unsafe_read_u8(&func->info, addr +
					    offsetof(struct sframe_fde_attr_v3, info));
	if (!ret)
		ret = unwind_unsafe_read_u8(&info2, addr +
					    offsetof(struct sframe_fde_attr_v3, info2));
	func->num_fres = num_fres;
	func->type = FIELD_GET(SFRAME_FDE_TYPE, info2);
	func->rep_size = addr + offsetof(struct sframe_fde_attr_v3, rep_size);
	return ret;
}

static __always_inline int find_func(const struct sframe_section *sec,
				     const struct sframe_index *idx,
				     unsigned long ip, struct sframe_func *func)
{
	int ret;

	ret = find_fde(sec, idx, ip, func);
	if (ret)
		return ret;
	return idx->v2 ? read_func_v2(func) : read_func_attr_v3(sec, func);
}

/*
 * The row
 */

static __always_inline int read_fre_start(unsigned long addr, u8 fre_type,
					  u32 *start)
{
	u16 val16 = 0;
	u8 val8 = 0;
	int ret;

	switch (fre_type) {
	case SFRAME_FRE_TYPE_ADDR1:
		ret = unwind_unsafe_read_u8(&val8, addr);
		*start = val8;
		return ret;
	case SFRAME_FRE_TYPE_ADDR2:
		ret = unwind_unsafe_read_u16(&val16, addr);
		*start = val16;
		return ret;
	default:
		return unwind_unsafe_read_u32(start, addr);
	}
}

/*
 * Walk the function's rows to the last one that starts at or before @offset.
 * Rows differ in size, so there is no other way than one after another.
 * There is one at least.  @fre_type is a constant: there is a loop for each.
 */
static __always_inline int walk_rows(const struct sframe_section *sec,
				     const struct sframe_func *func,
				     u8 fre_type, u32 offset, u32 max,
				     struct sframe_fre *fre)
{
	const unsigned int fixed_size = (1U << fre_type) + sizeof(u8);
	u32 left = min(func->num_fres, max);

	fre->words = 0;
	fre->end = func->fre_pos;
	do {
		unsigned long addr = sec->fres + fre->end;
		u32 start = 0;
		u8 info = 0;
		int ret;

		/* In 64 bits, and no more than 65 beyond fre_len: no wrap */
		if (fre->end + fixed_size > sec->fre_len)
			return -EINVAL;
		ret = read_fre_start(addr, fre_type, &start);
		if (ret)
			return ret;
		if (start > offset)
			return fre->words ? 0 : -ENOENT;
		ret = unwind_unsafe_read_u8(&info, addr + (1U << fre_type));
		if (ret)
			return ret;
		fre->info = info;
		if (fre_word_size(info) > SFRAME_FRE_DATAWORD_4B)
			return -EINVAL;
		fre->words = fre->end + fixed_size;
		fre->end = fre->words +
			   (FIELD_GET(SFRAME_FRE_DATAWORD_COUNT, info) <<
			    fre_word_size(info));
	} while (--left);
	return func->num_fres > max ? -E2BIG : 0;
}

static __always_inline int find_fre(const struct sframe_section *sec,
				    const struct sframe_func *func, u32 max,
				    struct sframe_fre *found)
{
	u32 offset = func->offset;
	u8 rep_size = 0, fre_type;
	int ret;

	if (func->info & SFRAME_FDE_PCTYPE_MASK) {
		ret = unwind_unsafe_read_u8(&rep_size, func->rep_size);
		if (ret)
			return ret;
		if (!rep_size)
			return -EINVAL;
		/* "PC % REP_BLOCK_SIZE", as the rows: from the function's start */
		offset %= rep_size;
	}

	fre_type = FIELD_GET(SFRAME_FDE_FRE_TYPE, func->info);
	if (fre_type == SFRAME_FRE_TYPE_ADDR1)
		return walk_rows(sec, func, SFRAME_FRE_TYPE_ADDR1, offset, max,
				 found);
	if (fre_type == SFRAME_FRE_TYPE_ADDR2)
		return walk_rows(sec, func, SFRAME_FRE_TYPE_ADDR2, offset, max,
				 found);
	if (fre_type == SFRAME_FRE_TYPE_ADDR4)
		return walk_rows(sec, func, SFRAME_FRE_TYPE_ADDR4, offset, max,
				 found);
	return -EINVAL;
}

/*
 * The next data word of a row, at @pos; the caller has checked that it is one.
 * @word_size is the row's, or a constant where that is known.
 */
static __always_inline int read_word(const struct sframe_section *sec,
				     u8 word_size, u64 *pos, s32 *word)
{
	unsigned long addr = sec->fres + *pos;
	u32 val32 = 0;
	u16 val16 = 0;
	u8 val8 = 0;
	int ret;

	*pos += 1U << word_size;
	if (word_size == SFRAME_FRE_DATAWORD_1B) {
		ret = unwind_unsafe_read_u8(&val8, addr);
		*word = (s8)val8;
	} else if (word_size == SFRAME_FRE_DATAWORD_2B) {
		ret = unwind_unsafe_read_u16(&val16, addr);
		*word = (s16)val16;
	} else {
		ret = unwind_unsafe_read_u32(&val32, addr);
		*word = (s32)val32;
	}
	return ret;
}

/*
 * The rules
 */

/* Default FDE Type Interpretation: CFA, then RA where it is not fixed, then FP */
static __always_inline int default_rules(const struct sframe_section *sec,
					 const struct sframe_fre *fre,
					 u8 word_size, struct unwind_row *row)
{
	u64 pos = fre->words;
	s32 offset;
	int ret;

	ret = read_word(sec, word_size, &pos, &offset);
	if (ret)
		return ret;
	row->cfa.base = fre->info & SFRAME_FRE_BASE_SP ? UNWIND_RULE_SP :
							 UNWIND_RULE_FP;
	row->cfa.offset = offset;
	if (pos < fre->end && !sec->fixed_ra) {
		ret = read_word(sec, word_size, &pos, &offset);
		if (ret)
			return ret;
		row->ra = saved_at(offset);
	}
	if (pos < fre->end && !sec->fixed_fp) {
		ret = read_word(sec, word_size, &pos, &offset);
		if (ret)
			return ret;
		row->fp = saved_at(offset);
	}
	return pos == fre->end ? 0 : -EINVAL;
}

/* "Encoding of Data Word 1": DWARF numbers of the two registers we track */
static __always_inline u8 rule_base_of_reg(const struct sframe_section *sec,
					   u32 reg)
{
	u32 fp = sec->aarch64 ? 29 : 6;
	u32 sp = sec->aarch64 ? 31 : 7;

	if (reg == sp)
		return UNWIND_RULE_SP;
	return reg == fp ? UNWIND_RULE_FP : UNWIND_RULE_REG;
}

static __always_inline int flex_rule(const struct sframe_section *sec,
				     u32 control, s32 offset,
				     struct unwind_rule *rule)
{
	u32 reg = control >> SFRAME_FLEX_REGNUM_SHIFT;

	if (control & SFRAME_FLEX_UNUSED)
		return -EINVAL;
	rule->deref = control & SFRAME_FLEX_DEREF;
	rule->offset = offset;
	if (!(control & SFRAME_FLEX_REG)) {
		rule->base = UNWIND_RULE_CFA;
		return 0;
	}
	if (reg > U8_MAX)
		return -EINVAL;
	rule->base = rule_base_of_reg(sec, reg);
	rule->reg = reg;
	return 0;
}

/* What the data words of a flexible row are about, in turn */
static __always_inline struct unwind_rule *
flex_entity(struct unwind_row *row, unsigned int i)
{
	switch (i) {
	case 0:
		return &row->cfa;
	case 1:
		return &row->ra;
	case 2:
		return &row->fp;
	default:
		return NULL;
	}
}

/*
 * Flexible FDE Type Interpretation: for CFA, RA and FP in turn either a pair of
 * control and offset words, or one padding word (0) where the fixed rule holds.
 * Words that pad the row to its end say nothing.
 */
static __always_inline int flex_rules(const struct sframe_section *sec,
				      const struct sframe_fre *fre,
				      struct unwind_row *row)
{
	u32 control_mask = GENMASK((8 << fre_word_size(fre->info)) - 1, 0);
	u64 pos = fre->words;
	s32 control, offset;
	unsigned int i;
	int ret;

	for (i = 0; pos < fre->end; i++) {
		struct unwind_rule *rule = flex_entity(row, i);

		ret = read_word(sec, fre_word_size(fre->info), &pos, &control);
		if (ret)
			return ret;
		if (!control)
			continue;
		if (!rule || pos == fre->end)
			return -EINVAL;
		ret = read_word(sec, fre_word_size(fre->info), &pos, &offset);
		if (!ret)
			ret = flex_rule(sec, control & control_mask, offset,
					rule);
		if (ret)
			return ret;
	}
	/* A CFA relative to the CFA, or none at all */
	return row->cfa.base == UNWIND_RULE_CFA ||
	       row->cfa.base == UNWIND_RULE_SAME ? -EINVAL : 0;
}

static __always_inline int read_row(const struct sframe_section *sec,
				    const struct sframe_func *func,
				    const struct sframe_fre *fre,
				    struct unwind_row *row)
{
	/* Errata 2 of version 2, and version 3: no data words, RA undefined */
	if (fre->words == fre->end) {
		row->outermost = true;
		return 0;
	}
	if (fre->end > sec->fre_len)
		return -EINVAL;
	if (fre->info & SFRAME_FRE_MANGLED_RA)
		row->mangled_ra = sec->aarch64;

	if (func->type != SFRAME_FDE_TYPE_DEFAULT)
		return func->type == SFRAME_FDE_TYPE_FLEX ?
		       flex_rules(sec, fre, row) : -EINVAL;
	if (fre_word_size(fre->info) == SFRAME_FRE_DATAWORD_1B)
		return default_rules(sec, fre, SFRAME_FRE_DATAWORD_1B, row);
	return default_rules(sec, fre, fre_word_size(fre->info), row);
}

static __always_inline int find_row(const struct sframe_section *sec,
				    const struct sframe_index *idx,
				    unsigned long ip, struct sframe_func *func,
				    struct unwind_row *row)
{
	struct sframe_fre fre;
	int ret;

	ret = find_func(sec, idx, ip, func);
	row->looked = func->looked;
	if (ret)
		return ret;
	row->at_end = func->offset == func->size - 1;
	if (func->info & (SFRAME_FDE_SIGNAL | SFRAME_FDE_PAUTH_KEY_B)) {
		row->signal = func->info & SFRAME_FDE_SIGNAL;
		row->pauth_key_b = sec->aarch64 &&
				   func->info & SFRAME_FDE_PAUTH_KEY_B;
	}

	/* The SFrame FDE Types: a default FDE without FREs is an outermost frame */
	if (!func->num_fres) {
		if (idx->v2 || func->type != SFRAME_FDE_TYPE_DEFAULT)
			return -ENOENT;
		row->outermost = true;
		return 0;
	}
	row->looked += min(func->num_fres, idx->max->fres);
	ret = find_fre(sec, func, idx->max->fres, &fre);
	return ret ?: read_row(sec, func, &fre, row);
}

/*
 * Sections that change
 *
 * Their writer adds FREs, then an entry, then counts it; takes an entry back by
 * setting its size to 0 and a full fence, and makes it anew by setting the size
 * last.  FREs stay as they are while anything refers to them.
 */

/* The section as it is now.  The count covers entries and FREs before it. */
static __always_inline int refresh_counts(struct sframe_section *sec)
{
	u64 fdes_len;
	int ret;

	ret = unwind_unsafe_read_u32(&sec->num_fdes, sec->start +
				     offsetof(struct sframe_header, num_fdes));
	if (ret)
		return ret;
	/* What is counted was written before the count */
	smp_rmb();
	ret = unwind_unsafe_read_u32(&sec->fre_len, sec->start +
				     offsetof(struct sframe_header, fre_len));
	if (ret)
		return ret;
	fdes_len = (u64)sec->num_fdes *
		   fde_size(sec->version == SFRAME_VERSION_2);
	if (fdes_len > sec->fres - sec->fdes ||
	    sec->fre_len > sec->end - sec->fres)
		return -EINVAL;
	return 0;
}

/*
 * Does the entry still say where the function and its rows are?  If so, then what
 * else was read of it belongs to the same function.
 */
static __always_inline int entry_unchanged(const struct sframe_index *idx,
					   const struct sframe_func *func)
{
	u32 size = 0, fre_off = 0;
	s64 start;
	int ret;

	/* First all that was used of it, then whether it still says so */
	smp_rmb();
	ret = read_func_start(idx, func->index, &start);
	if (!ret)
		ret = read_func_size(idx, func->index, &size);
	if (!ret)
		ret = read_fre_off(idx, func->index, &fre_off);
	if (ret)
		return ret;
	return start == func->start && size == func->size &&
	       fre_off == func->fre_off ? 0 : -EAGAIN;
}

static __always_inline int find_row_changing(struct sframe_section *sec,
					     unsigned long ip,
					     const struct sframe_limits *max,
					     struct unwind_row *row)
{
	struct sframe_index idx;
	struct sframe_func func;
	int ret;

	ret = refresh_counts(sec);
	if (ret)
		return ret;
	idx = index_of(sec, max, true);
	ret = find_row(sec, &idx, ip, &func, row);
	return ret ?: entry_unchanged(&idx, &func);
}

/*
 * The whole lookup, from the opening of user memory to its end.  It is there
 * twice, so that sections that do not change need not ask whether they do.
 */
static noinline int lookup_changing(const struct sframe_section *sec,
				    unsigned long ip,
				    const struct sframe_limits *max,
				    struct unwind_row *row)
{
	struct sframe_section now = *sec;
	int ret;

	if (!unwind_read_begin(sec->start, sec->end - sec->start))
		return -EFAULT;
	ret = find_row_changing(&now, ip, max, row);
	unwind_read_end();
	return ret;
}

static __always_inline int lookup(const struct sframe_section *sec,
				  unsigned long ip,
				  const struct sframe_limits *max,
				  struct unwind_row *row)
{
	struct sframe_index idx = index_of(sec, max, false);
	struct sframe_func func;
	int ret;

	if (!unwind_read_begin(sec->start,
			       sec->fres + sec->fre_len - sec->start))
		return -EFAULT;
	ret = find_row(sec, &idx, ip, &func, row);
	unwind_read_end();
	return ret;
}

/**
 * sframe_find_row - look up an address
 * @sec: a section that sframe_read_header() accepted
 * @ip: address of an instruction (for a return address: one less than it)
 * @access: selects the bounds of the lookup; page faults are the caller's
 * @row: filled in on success
 *
 * Implements "SFrame FDE", "SFrame FRE" and "Interpretation of SFrame FREs" of
 * the specification.
 *
 * Context: any in which the section may be read.
 * Return: 0, or one of the errors in this file's opening comment.
 */
int sframe_find_row(const struct sframe_section *sec, unsigned long ip,
		    enum unwind_user_access access, struct unwind_row *row)
{
	const struct sframe_limits *max = &limits[access];

	*row = sec->fixed;
	return sec->changes ? lookup_changing(sec, ip, max, row) :
			      lookup(sec, ip, max, row);
}
