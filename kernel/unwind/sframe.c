// SPDX-License-Identifier: GPL-2.0
/*
 * The SFrame decoder: from an address to the row that describes it.
 *
 * A pure function of (section, address, memory): it allocates nothing, takes no
 * lock, keeps no state, and works in whatever context its reads of memory work
 * (see unwind_mem.h).  The file follows a lookup: check the header, find the
 * function (FDE), find the row (FRE), turn its data words into rules.
 *
 * The section is hostile.  What the decoder promises all the same:
 *
 * - It reads nothing outside the section.  Bounds come from the header as it
 *   was checked once; every position is computed in 64 bits from values of at
 *   most 32 bits, so that nothing wraps, and compared before it is read.
 * - It reads each value that it uses once.  A section that changes between two
 *   reads yields a wrong row at worst; the iterator trusts no row.
 * - It ends.  A lookup reads at most 32 index entries of a sorted section and
 *   SFRAME_MAX_SCAN of empty functions there, or SFRAME_MAX_SCAN of an unsorted
 *   one, and at most SFRAME_MAX_FRES rows; less where faults are not allowed.
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
#include <linux/errno.h>
#include <linux/kernel.h>
#include <asm/barrier.h>

#include "sframe.h"
#include "sframe_format.h"
#include "unwind_mem.h"

/* Index entries of an unsorted section that one lookup looks at */
#define SFRAME_MAX_SCAN			16384
#define SFRAME_MAX_SCAN_NOFAULT		256

/* Rows of one function that one lookup looks at */
#define SFRAME_MAX_FRES			65536
#define SFRAME_MAX_FRES_NOFAULT		1024

/* A function, put together from what either version says about it */
struct sframe_func {
	u64	start;		/* of its code */
	u32	size;		/* of its code */
	u32	index;		/* of its entry */
	u32	fre_off;	/* as the entry has it */
	u32	fre_pos;	/* next byte to read in the FRE sub-section */
	u32	num_fres;
	u8	info;
	u8	type;
	u8	rep_size;
};

/* A row's fixed part, and where its data words are */
struct sframe_fre {
	u32	start;		/* offset of its first instruction */
	u32	words_pos;	/* in the FRE sub-section */
	u8	info;
};

static unsigned int fre_num_words(const struct sframe_fre *fre)
{
	return FIELD_GET(SFRAME_FRE_DATAWORD_COUNT, fre->info);
}

static unsigned int fre_word_size(const struct sframe_fre *fre)
{
	return 1U << FIELD_GET(SFRAME_FRE_DATAWORD_SIZE, fre->info);
}

static bool fre_word_size_valid(const struct sframe_fre *fre)
{
	return FIELD_GET(SFRAME_FRE_DATAWORD_SIZE, fre->info) <=
	       SFRAME_FRE_DATAWORD_4B;
}

static size_t fde_size(const struct sframe_section *sec)
{
	return sec->version == SFRAME_VERSION_2 ?
	       sizeof(struct sframe_fde_v2) : sizeof(struct sframe_fde_v3);
}

/*
 * The header
 */

static int read_header(struct sframe_header *hdr, unsigned long addr)
{
	u8 *bytes = (u8 *)hdr;
	unsigned int i;
	u32 word;
	int ret;

	BUILD_BUG_ON(sizeof(*hdr) != 28);

	for (i = 0; i < sizeof(*hdr); i += sizeof(word)) {
		ret = unwind_read_u32(&word, addr + i);
		if (ret)
			return ret;
		memcpy(bytes + i, &word, sizeof(word));
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

	if (size < sizeof(hdr) || start + size < start)
		return -ENOEXEC;
	ret = read_header(&hdr, start);
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
	if (hdr.flags & ~known_flags || hdr.abi_arch != abi)
		return -ENOEXEC;

	sec->start = start;
	sec->end = start + size;
	sec->changes = false;
	sec->num_fdes = hdr.num_fdes;
	sec->fre_len = hdr.fre_len;
	sec->version = hdr.version;
	sec->flags = hdr.flags;
	sec->abi = hdr.abi_arch;
	sec->fixed_fp = hdr.cfa_fixed_fp_offset;
	sec->fixed_ra = hdr.cfa_fixed_ra_offset;

	/* Sums of three 32-bit values, and a product of 32 bits and 5: no wrap */
	base = sizeof(hdr) + hdr.auxhdr_len;
	fdes_end = base + hdr.fdeoff + (u64)hdr.num_fdes * fde_size(sec);
	if (fdes_end > base + hdr.freoff ||
	    base + hdr.freoff + hdr.fre_len > size)
		return -ENOEXEC;

	sec->fdes = start + base + hdr.fdeoff;
	sec->fres = start + base + hdr.freoff;
	return 0;
}

/*
 * The function
 */

/*
 * Where function @i starts, relative to the section.  @i is below num_fdes, so
 * the entry lies within the section.
 */
static int read_func_start(const struct sframe_section *sec, u32 i, s64 *start)
{
	unsigned long addr = sec->fdes + i * fde_size(sec);
	s64 offset;
	int ret;

	if (sec->version == SFRAME_VERSION_2) {
		u32 val;

		ret = unwind_read_u32(&val, addr);
		offset = (s32)val;
	} else {
		u64 val;

		ret = unwind_read_u64(&val, addr);
		offset = (s64)val;
	}
	if (ret)
		return ret;

	if (sec->flags & SFRAME_F_FDE_FUNC_START_PCREL)
		offset = (u64)offset + (addr - sec->start);
	*start = offset;
	return 0;
}

/* Where function @i has its size */
static unsigned long func_size_addr(const struct sframe_section *sec, u32 i)
{
	return sec->fdes + i * fde_size(sec) +
	       (sec->version == SFRAME_VERSION_2 ?
		offsetof(struct sframe_fde_v2, size) :
		offsetof(struct sframe_fde_v3, size));
}

/*
 * An entry that is made anew while we look has its size written last, and one
 * that is taken back first: what is read before the size is at least as old, and
 * what is read after it at least as new.
 */
static int read_func_size(const struct sframe_section *sec, u32 i, u32 *size)
{
	int ret;

	/* The start before it, see above */
	if (sec->changes)
		smp_rmb();
	ret = unwind_read_u32(size, func_size_addr(sec, i));
	/* All else after it */
	if (sec->changes)
		smp_rmb();
	return ret;
}

/*
 * The size of function @index, or of one before it with the same start if that
 * one is empty: functions whose code was unreachable have entries at the address
 * of the next function, on either side of its own.
 */
static int step_over_empty(const struct sframe_section *sec, s64 start,
			   enum unwind_user_access access, u32 *index,
			   u32 *size)
{
	u32 max = access == UNWIND_USER_NOFAULT ? SFRAME_MAX_SCAN_NOFAULT :
						  SFRAME_MAX_SCAN;
	u32 i;

	for (i = 0; i < max; i++) {
		s64 prev;
		int ret;

		ret = read_func_size(sec, *index, size);
		if (ret || *size || !*index)
			return ret;
		ret = read_func_start(sec, *index - 1, &prev);
		if (ret || prev != start)
			return ret;
		(*index)--;
	}
	return -E2BIG;
}

/* The last function that starts at or before @target */
static int search_sorted(const struct sframe_section *sec, s64 target,
			 enum unwind_user_access access, u32 *index, s64 *start,
			 u32 *size)
{
	u32 lo = 0, hi = sec->num_fdes;
	bool found = false;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		s64 val;
		int ret;

		ret = read_func_start(sec, mid, &val);
		if (ret)
			return ret;
		if (val <= target) {
			*index = mid;
			*start = val;
			found = true;
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return found ? step_over_empty(sec, *start, access, index, size) :
		       -ENOENT;
}

/* The first function that covers @target */
static int search_unsorted(const struct sframe_section *sec, s64 target,
			   enum unwind_user_access access, u32 *index,
			   s64 *start, u32 *size)
{
	u32 max = access == UNWIND_USER_NOFAULT ? SFRAME_MAX_SCAN_NOFAULT :
						  SFRAME_MAX_SCAN;
	u32 i;

	for (i = 0; i < sec->num_fdes; i++) {
		s64 val;
		int ret;

		if (i >= max)
			return -E2BIG;
		ret = read_func_start(sec, i, &val);
		if (ret)
			return ret;
		if (val > target)
			continue;
		ret = read_func_size(sec, i, size);
		if (ret)
			return ret;
		if ((u64)target - (u64)val < *size) {
			*index = i;
			*start = val;
			return 0;
		}
	}
	return -ENOENT;
}

static int read_func_v2(unsigned long addr, struct sframe_func *func)
{
	int ret;

	ret = unwind_read_u32(&func->num_fres,
			      addr + offsetof(struct sframe_fde_v2, num_fres));
	if (!ret)
		ret = unwind_read_u8(&func->info,
				     addr + offsetof(struct sframe_fde_v2, info));
	if (!ret)
		ret = unwind_read_u8(&func->rep_size,
				     addr + offsetof(struct sframe_fde_v2, rep_size));
	/* Bit 7 has no meaning in version 2 */
	func->info &= ~SFRAME_FDE_SIGNAL;
	func->type = SFRAME_FDE_TYPE_DEFAULT;
	return ret;
}

static int read_func_attr_v3(const struct sframe_section *sec,
			     struct sframe_func *func)
{
	unsigned long addr = sec->fres + func->fre_pos;
	u16 num_fres = 0;
	u8 info2 = 0;
	int ret;

	if (sec->fre_len < sizeof(struct sframe_fde_attr_v3) ||
	    func->fre_pos > sec->fre_len - sizeof(struct sframe_fde_attr_v3))
		return -EINVAL;

	ret = unwind_read_u16(&num_fres,
			      addr + offsetof(struct sframe_fde_attr_v3, num_fres));
	if (!ret)
		ret = unwind_read_u8(&func->info,
				     addr + offsetof(struct sframe_fde_attr_v3, info));
	if (!ret)
		ret = unwind_read_u8(&info2,
				     addr + offsetof(struct sframe_fde_attr_v3, info2));
	if (!ret)
		ret = unwind_read_u8(&func->rep_size,
				     addr + offsetof(struct sframe_fde_attr_v3, rep_size));
	func->num_fres = num_fres;
	func->type = FIELD_GET(SFRAME_FDE_TYPE, info2);
	func->fre_pos += sizeof(struct sframe_fde_attr_v3);
	return ret;
}

/* In both versions the FREs' offset follows the size */
static int read_fre_off(const struct sframe_section *sec, u32 i, u32 *fre_off)
{
	return unwind_read_u32(fre_off, func_size_addr(sec, i) + sizeof(u32));
}

static int find_func(const struct sframe_section *sec, unsigned long ip,
		     enum unwind_user_access access, struct sframe_func *func)
{
	s64 target = (s64)((u64)ip - sec->start), start;
	unsigned long addr;
	u32 index;
	int ret;

	if (sec->flags & SFRAME_F_FDE_SORTED)
		ret = search_sorted(sec, target, access, &index, &start,
				    &func->size);
	else
		ret = search_unsorted(sec, target, access, &index, &start,
				      &func->size);
	if (ret)
		return ret;

	func->start = sec->start + (u64)start;
	if (ip - func->start >= func->size)
		return -ENOENT;

	ret = read_fre_off(sec, index, &func->fre_off);
	if (ret)
		return ret;
	func->index = index;
	func->fre_pos = func->fre_off;

	addr = sec->fdes + index * fde_size(sec);
	return sec->version == SFRAME_VERSION_2 ?
	       read_func_v2(addr, func) : read_func_attr_v3(sec, func);
}

/*
 * The row
 */

static int read_fre_start(unsigned long addr, u8 fre_type, u32 *start)
{
	u16 val16 = 0;
	u8 val8 = 0;
	int ret;

	switch (fre_type) {
	case SFRAME_FRE_TYPE_ADDR1:
		ret = unwind_read_u8(&val8, addr);
		*start = val8;
		return ret;
	case SFRAME_FRE_TYPE_ADDR2:
		ret = unwind_read_u16(&val16, addr);
		*start = val16;
		return ret;
	default:
		return unwind_read_u32(start, addr);
	}
}

/*
 * Walk the function's rows to the last one that starts at or before @ip.  Rows
 * differ in size, so there is no other way than one after another.
 */
static int find_fre(const struct sframe_section *sec,
		    const struct sframe_func *func, unsigned long ip,
		    enum unwind_user_access access, struct sframe_fre *found)
{
	u32 max = access == UNWIND_USER_NOFAULT ? SFRAME_MAX_FRES_NOFAULT :
						  SFRAME_MAX_FRES;
	u8 fre_type = FIELD_GET(SFRAME_FDE_FRE_TYPE, func->info);
	u32 offset = ip - func->start, pos = func->fre_pos, i;
	unsigned int start_size = 1U << fre_type;
	bool any = false;

	if (fre_type > SFRAME_FRE_TYPE_ADDR4)
		return -EINVAL;
	if (func->info & SFRAME_FDE_PCTYPE_MASK) {
		if (!func->rep_size)
			return -EINVAL;
		offset %= func->rep_size;
	}

	for (i = 0; i < func->num_fres; i++) {
		struct sframe_fre fre;
		int ret;

		if (i >= max)
			return -E2BIG;
		if (pos > sec->fre_len || sec->fre_len - pos < start_size + 1)
			return -EINVAL;
		ret = read_fre_start(sec->fres + pos, fre_type, &fre.start);
		if (ret)
			return ret;
		if (fre.start > offset)
			break;
		ret = unwind_read_u8(&fre.info, sec->fres + pos + start_size);
		if (ret)
			return ret;
		if (!fre_word_size_valid(&fre))
			return -EINVAL;

		/* At most fre_len; what follows can wrap by at most 60 */
		fre.words_pos = pos + start_size + 1;
		pos = fre.words_pos + fre_num_words(&fre) * fre_word_size(&fre);
		if (pos < fre.words_pos)
			return -EINVAL;
		*found = fre;
		any = true;
	}
	return any ? 0 : -ENOENT;
}

/* Data word @i of a row; the caller has checked that the row has it */
static int read_word(const struct sframe_section *sec,
		     const struct sframe_fre *fre, unsigned int i, s32 *word)
{
	unsigned int size = fre_word_size(fre);
	unsigned long addr = sec->fres + fre->words_pos + i * size;
	u32 val32 = 0;
	u16 val16 = 0;
	u8 val8 = 0;
	int ret;

	switch (size) {
	case 1:
		ret = unwind_read_u8(&val8, addr);
		*word = (s8)val8;
		return ret;
	case 2:
		ret = unwind_read_u16(&val16, addr);
		*word = (s16)val16;
		return ret;
	default:
		ret = unwind_read_u32(&val32, addr);
		*word = (s32)val32;
		return ret;
	}
}

static int read_words(const struct sframe_section *sec,
		      const struct sframe_fre *fre, s32 *words)
{
	unsigned int num = fre_num_words(fre), i;
	u32 bytes = num * fre_word_size(fre);
	int ret;

	/* find_fre() left words_pos within the sub-section */
	if (sec->fre_len - fre->words_pos < bytes)
		return -EINVAL;
	for (i = 0; i < num; i++) {
		ret = read_word(sec, fre, i, &words[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * The rules
 */

static struct unwind_rule saved_at(s32 offset)
{
	return (struct unwind_rule){
		.base = UNWIND_RULE_CFA, .deref = true, .offset = offset,
	};
}

/* RA and FP as the header has them for all rows; SAME where it does not */
static void fixed_rules(const struct sframe_section *sec,
			struct unwind_row *row)
{
	row->ra = (struct unwind_rule){ .base = UNWIND_RULE_SAME };
	row->fp = (struct unwind_rule){ .base = UNWIND_RULE_SAME };
	if (sec->fixed_ra)
		row->ra = saved_at(sec->fixed_ra);
	if (sec->fixed_fp)
		row->fp = saved_at(sec->fixed_fp);
}

static bool abi_is_aarch64(const struct sframe_section *sec)
{
	return sec->abi == SFRAME_ABI_AARCH64_ENDIAN_LITTLE ||
	       sec->abi == SFRAME_ABI_AARCH64_ENDIAN_BIG;
}

/* Default FDE Type Interpretation: CFA, then RA where it is not fixed, then FP */
static int default_rules(const struct sframe_section *sec,
			 const struct sframe_fre *fre, const s32 *words,
			 struct unwind_row *row)
{
	unsigned int num = fre_num_words(fre), i = 0;

	row->cfa = (struct unwind_rule){
		.base = fre->info & SFRAME_FRE_BASE_SP ? UNWIND_RULE_SP :
							 UNWIND_RULE_FP,
		.offset = words[i++],
	};
	if (!sec->fixed_ra && i < num)
		row->ra = saved_at(words[i++]);
	if (!sec->fixed_fp && i < num)
		row->fp = saved_at(words[i++]);
	return i == num ? 0 : -EINVAL;
}

/* "Encoding of Data Word 1": DWARF numbers of the two registers we track */
static u8 rule_base_of_reg(const struct sframe_section *sec, u32 reg)
{
	u32 fp = abi_is_aarch64(sec) ? 29 : 6;
	u32 sp = abi_is_aarch64(sec) ? 31 : 7;

	if (reg == sp)
		return UNWIND_RULE_SP;
	return reg == fp ? UNWIND_RULE_FP : UNWIND_RULE_REG;
}

static int flex_rule(const struct sframe_section *sec, u32 control, s32 offset,
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

/*
 * Flexible FDE Type Interpretation: for CFA, RA and FP in turn either a pair of
 * control and offset words, or one padding word (0) where the fixed rule holds.
 */
static int flex_rules(const struct sframe_section *sec,
		      const struct sframe_fre *fre, const s32 *words,
		      struct unwind_row *row)
{
	struct unwind_rule *rules[] = { &row->cfa, &row->ra, &row->fp };
	u32 control_mask = GENMASK(8 * fre_word_size(fre) - 1, 0);
	unsigned int num = fre_num_words(fre), i = 0, r;
	int ret;

	for (r = 0; r < ARRAY_SIZE(rules) && i < num; r++) {
		u32 control = (u32)words[i++] & control_mask;

		if (!control)
			continue;
		if (i == num)
			return -EINVAL;
		ret = flex_rule(sec, control, words[i++], rules[r]);
		if (ret)
			return ret;
	}
	/* Words that pad the row to its end say nothing */
	while (i < num)
		if (words[i++])
			return -EINVAL;
	/* A CFA relative to the CFA, or none at all */
	return row->cfa.base == UNWIND_RULE_CFA ||
	       row->cfa.base == UNWIND_RULE_SAME ? -EINVAL : 0;
}

static int make_row(const struct sframe_section *sec,
		    const struct sframe_func *func,
		    const struct sframe_fre *fre, struct unwind_row *row)
{
	s32 words[SFRAME_FRE_MAX_DATAWORDS];
	int ret;

	/* Errata 2 of version 2, and version 3: no data words, RA undefined */
	if (!fre_num_words(fre)) {
		row->outermost = true;
		return 0;
	}
	ret = read_words(sec, fre, words);
	if (ret)
		return ret;

	fixed_rules(sec, row);
	row->mangled_ra = abi_is_aarch64(sec) && fre->info & SFRAME_FRE_MANGLED_RA;

	switch (func->type) {
	case SFRAME_FDE_TYPE_DEFAULT:
		return default_rules(sec, fre, words, row);
	case SFRAME_FDE_TYPE_FLEX:
		return flex_rules(sec, fre, words, row);
	default:
		return -EINVAL;
	}
}

static int find_row(const struct sframe_section *sec, unsigned long ip,
		    enum unwind_user_access access, struct sframe_func *func,
		    struct unwind_row *row)
{
	struct sframe_fre fre;
	int ret;

	*row = (struct unwind_row){};

	ret = find_func(sec, ip, access, func);
	if (ret)
		return ret;
	row->signal = func->info & SFRAME_FDE_SIGNAL;
	row->pauth_key_b = abi_is_aarch64(sec) &&
			   func->info & SFRAME_FDE_PAUTH_KEY_B;

	/* The SFrame FDE Types: a default FDE without FREs is an outermost frame */
	if (!func->num_fres && func->type == SFRAME_FDE_TYPE_DEFAULT &&
	    sec->version != SFRAME_VERSION_2) {
		row->outermost = true;
		return 0;
	}
	ret = find_fre(sec, func, ip, access, &fre);
	if (ret)
		return ret;
	return make_row(sec, func, &fre, row);
}

/*
 * Sections that change
 *
 * Their writer adds FREs, then an entry, then counts it; takes an entry back by
 * setting its size to 0 and a full fence, and makes it anew by setting the size
 * last.  FREs stay as they are while anything refers to them.
 */

/* The section as it is now.  The count covers entries and FREs before it. */
static int refresh_counts(struct sframe_section *sec)
{
	int ret;

	ret = unwind_read_u32(&sec->num_fdes, sec->start +
			      offsetof(struct sframe_header, num_fdes));
	if (ret)
		return ret;
	/* What is counted was written before the count */
	smp_rmb();
	ret = unwind_read_u32(&sec->fre_len, sec->start +
			      offsetof(struct sframe_header, fre_len));
	if (ret)
		return ret;
	if ((u64)sec->num_fdes * fde_size(sec) > sec->fres - sec->fdes ||
	    sec->fre_len > sec->end - sec->fres)
		return -EINVAL;
	return 0;
}

/*
 * Does the entry still say where the function and its rows are?  If so, then what
 * else was read of it belongs to the same function.
 */
static int entry_unchanged(const struct sframe_section *sec,
			   const struct sframe_func *func)
{
	u32 size, fre_off;
	s64 start;
	int ret;

	/* First all that was used of it, then whether it still says so */
	smp_rmb();
	ret = read_func_start(sec, func->index, &start);
	if (!ret)
		ret = read_func_size(sec, func->index, &size);
	if (!ret)
		ret = read_fre_off(sec, func->index, &fre_off);
	if (ret)
		return ret;
	return sec->start + (u64)start == func->start && size == func->size &&
	       fre_off == func->fre_off ? 0 : -EAGAIN;
}

static int find_row_changing(const struct sframe_section *sec, unsigned long ip,
			     enum unwind_user_access access,
			     struct unwind_row *row)
{
	struct sframe_section now = *sec;
	struct sframe_func func = {};
	int ret;

	ret = refresh_counts(&now);
	if (!ret)
		ret = find_row(&now, ip, access, &func, row);
	return ret ?: entry_unchanged(&now, &func);
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
	struct sframe_func func = {};

	if (sec->changes)
		return find_row_changing(sec, ip, access, row);
	return find_row(sec, ip, access, &func, row);
}
