/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the SFrame decoder that read a section: functions, FREs and rules.
 *
 * Two files decode sections, and read them differently.  sframe.c looks up one
 * address in a section in user memory, where each read may fail.  sframe_table.c
 * goes through a section that was copied into the kernel.  The includer defines
 * sframe_get(), which takes a pointer to the value, of any type, and an address, and
 * returns 0 or -EFAULT.
 *
 * The section is hostile in both cases.  Nothing outside it is read: every
 * position is computed in 64 bits from values of at most 32 bits, and compared
 * with the bounds in struct sframe_section before it is read.
 *
 * Everything here is inlined, because user memory may be open.
 */
#ifndef _KERNEL_UNWIND_SFRAME_DECODE_H
#define _KERNEL_UNWIND_SFRAME_DECODE_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <asm/barrier.h>

#include "sframe.h"
#include "sframe_format.h"

/* A function, in a form common to both versions */
struct sframe_func {
	unsigned long	fde;		/* its entry in the index */
	u64		index;		/* the number of that entry */
	s64		start;		/* of its code, from the section's origin */
	u64		offset;		/* of the address, from its start */
	u32		size;		/* of its code */
	u32		fre_off;	/* as in its entry */
	unsigned long	rep_size;	/* where that is, if it is needed */
	u64		fre_pos;	/* of its FREs in the FRE sub-section */
	u32		num_fres;
	u32		type;
	u8		info;
};

/* An FRE, without its start */
struct sframe_fre {
	u64	words;		/* in the FRE sub-section; never 0 */
	u64	end;		/* of its words */
	u8	info;
};

/* One of SFRAME_FRE_DATAWORD_*, or 3, which read_fre_info() refuses */
static __always_inline unsigned int fre_word_size(u8 info)
{
	return FIELD_GET(SFRAME_FRE_DATAWORD_SIZE, info);
}

static __always_inline bool is_v2(const struct sframe_section *sec)
{
	return sec->version == SFRAME_VERSION_2;
}

static __always_inline size_t fde_size(const struct sframe_section *sec)
{
	return is_v2(sec) ? sizeof(struct sframe_fde_v2) : sizeof(struct sframe_fde_v3);
}

static __always_inline struct unwind_reg_rule saved_at(s32 offset)
{
	return (struct unwind_reg_rule){
		.base = UNWIND_RULE_CFA, .deref = true, .offset = offset,
	};
}

/*
 * The function
 */

static __always_inline u64 fde_pos(const struct sframe_section *sec, u64 i)
{
	return i * fde_size(sec);
}

/*
 * Starts of functions are compared as offsets from the section's @origin.  If a start counts
 * from its own entry, the entry's position in the index is added to it.
 */
static __always_inline int read_func_start_at(const struct sframe_section *sec,
					      u64 pos, s64 *start)
{
	u64 val64 = 0;
	u32 val32 = 0;
	int ret;

	if (is_v2(sec)) {
		ret = sframe_get(&val32, sec->fdes + pos);
		val64 = (s32)val32;
	} else {
		ret = sframe_get(&val64, sec->fdes + pos);
	}
	*start = val64 + (sec->flags & SFRAME_F_FDE_FUNC_START_PCREL ? pos : 0);
	return ret;
}

static __always_inline int read_func_start(const struct sframe_section *sec,
					   u64 i, s64 *start)
{
	return read_func_start_at(sec, fde_pos(sec, i), start);
}

static __always_inline int read_func_size(const struct sframe_section *sec,
					  u64 i, u32 *size)
{
	return sframe_get(size, sec->fdes + fde_pos(sec, i) +
				    (is_v2(sec) ? offsetof(struct sframe_fde_v2, size) :
						  offsetof(struct sframe_fde_v3, size)));
}

static __always_inline int read_fre_off(const struct sframe_section *sec,
					u64 i, u32 *fre_off)
{
	return sframe_get(fre_off, sec->fdes + fde_pos(sec, i) +
				       (is_v2(sec) ? offsetof(struct sframe_fde_v2, fre_off) :
						     offsetof(struct sframe_fde_v3, fre_off)));
}

static __always_inline int read_func_v2(struct sframe_func *func)
{
	int ret;

	ret = sframe_get(&func->num_fres, func->fde +
			 offsetof(struct sframe_fde_v2, num_fres));
	if (!ret)
		ret = sframe_get(&func->info, func->fde +
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

	ret = sframe_get(&num_fres, addr +
			 offsetof(struct sframe_fde_attr_v3, num_fres));
	if (!ret)
		ret = sframe_get(&func->info, addr +
				 offsetof(struct sframe_fde_attr_v3, info));
	if (!ret)
		ret = sframe_get(&info2, addr +
				 offsetof(struct sframe_fde_attr_v3, info2));
	func->num_fres = num_fres;
	func->type = FIELD_GET(SFRAME_FDE_TYPE, info2);
	func->rep_size = addr + offsetof(struct sframe_fde_attr_v3, rep_size);
	return ret;
}

/* The rest of the function whose @index and @size are known */
static __always_inline int read_func(const struct sframe_section *sec,
				     struct sframe_func *func)
{
	int ret;

	func->fde = sec->fdes + fde_pos(sec, func->index);
	ret = read_fre_off(sec, func->index, &func->fre_off);
	if (ret)
		return ret;
	return is_v2(sec) ? read_func_v2(func) : read_func_attr_v3(sec, func);
}

/* The attributes that every FRE of the function has */
static __always_inline void set_func_flags(const struct sframe_section *sec,
					   const struct sframe_func *func,
					   struct unwind_frame_rule *rule)
{
	if (!(func->info & (SFRAME_FDE_SIGNAL | SFRAME_FDE_PAUTH_KEY_B)))
		return;
	rule->signal = func->info & SFRAME_FDE_SIGNAL;
	rule->pauth_key_b = sec->aarch64 && func->info & SFRAME_FDE_PAUTH_KEY_B;
}

/* The SFrame FDE Types: a default FDE without FREs is an outermost frame */
static __always_inline int set_outermost(const struct sframe_section *sec,
					 const struct sframe_func *func,
					 struct unwind_frame_rule *rule)
{
	if (is_v2(sec) || func->type != SFRAME_FDE_TYPE_DEFAULT)
		return -ENOENT;
	rule->outermost = true;
	return 0;
}

/*
 * The FRE
 */

/*
 * Where the FRE at @pos starts, from its function's start.  Bounds are checked in 64
 * bits, and @pos is no more than 65 beyond fre_len: nothing wraps.
 */
static __always_inline int read_fre_start(const struct sframe_section *sec,
					  u64 pos, u8 fre_type, u32 *start)
{
	unsigned long addr = sec->fres + pos;
	u16 val16 = 0;
	u8 val8 = 0;
	int ret;

	if (pos + (1U << fre_type) + sizeof(u8) > sec->fre_len)
		return -EINVAL;
	switch (fre_type) {
	case SFRAME_FRE_TYPE_ADDR1:
		ret = sframe_get(&val8, addr);
		*start = val8;
		return ret;
	case SFRAME_FRE_TYPE_ADDR2:
		ret = sframe_get(&val16, addr);
		*start = val16;
		return ret;
	default:
		return sframe_get(start, addr);
	}
}

/* Read the rest of the FRE that begins at the end of @fre; its start was read */
static __always_inline int read_fre_info(const struct sframe_section *sec,
					 u8 fre_type, struct sframe_fre *fre)
{
	u8 info = 0;
	int ret;

	ret = sframe_get(&info, sec->fres + fre->end + (1U << fre_type));
	if (ret)
		return ret;
	if (fre_word_size(info) > SFRAME_FRE_DATAWORD_4B)
		return -EINVAL;
	fre->info = info;
	fre->words = fre->end + (1U << fre_type) + sizeof(info);
	fre->end = fre->words +
		   (FIELD_GET(SFRAME_FRE_DATAWORD_COUNT, info) <<
		    fre_word_size(info));
	return 0;
}

/*
 * Read the next data word of an FRE, at @pos; the caller has checked that there is one.
 * @word_size is the FRE's, or a constant if that is known.
 */
static __always_inline int read_dataword(const struct sframe_section *sec,
					 u8 word_size, u64 *pos, s32 *word)
{
	unsigned long addr = sec->fres + *pos;
	u32 val32 = 0;
	u16 val16 = 0;
	u8 val8 = 0;
	int ret;

	*pos += 1U << word_size;
	if (word_size == SFRAME_FRE_DATAWORD_1B) {
		ret = sframe_get(&val8, addr);
		*word = (s8)val8;
	} else if (word_size == SFRAME_FRE_DATAWORD_2B) {
		ret = sframe_get(&val16, addr);
		*word = (s16)val16;
	} else {
		ret = sframe_get(&val32, addr);
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
					 u8 word_size, struct unwind_frame_rule *rule)
{
	u64 pos = fre->words;
	s32 offset;
	int ret;

	ret = read_dataword(sec, word_size, &pos, &offset);
	if (ret)
		return ret;
	rule->cfa.base = fre->info & SFRAME_FRE_BASE_SP ? UNWIND_RULE_SP :
							 UNWIND_RULE_FP;
	rule->cfa.offset = offset;
	if (pos < fre->end && !sec->fixed.ra.deref) {
		ret = read_dataword(sec, word_size, &pos, &offset);
		if (ret)
			return ret;
		rule->ra = saved_at(offset);
	}
	if (pos < fre->end && !sec->fixed.fp.deref) {
		ret = read_dataword(sec, word_size, &pos, &offset);
		if (ret)
			return ret;
		rule->fp = saved_at(offset);
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
				     struct unwind_reg_rule *rule)
{
	u32 reg = control >> SFRAME_FLEX_REGNUM_SHIFT;

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
 * The CFA's rule has SFRAME_FLEX_SUM: two more words follow, an addend and an index, see
 * Documentation/core-api/unwind-sframe.rst.
 */
static __always_inline int flex_sum(const struct sframe_section *sec,
				    const struct sframe_fre *fre, u32 control_mask,
				    u64 *pos, struct unwind_frame_rule *rule)
{
	u8 word_size = fre_word_size(fre->info);
	s32 word;
	u32 index;
	int ret;

	if (*pos + (2U << word_size) > fre->end)
		return -EINVAL;
	ret = read_dataword(sec, word_size, pos, &rule->cfa_addend);
	if (!ret)
		ret = read_dataword(sec, word_size, pos, &word);
	if (ret)
		return ret;
	index = word & control_mask;
	if (!index)
		return 0;
	if (!(index & SFRAME_FLEX_REG) || index >> SFRAME_FLEX_REGNUM_SHIFT > U8_MAX)
		return -EINVAL;
	rule->cfa_scale = 1U << FIELD_GET(SFRAME_INDEX_SCALE, index);
	rule->cfa_index = index >> SFRAME_FLEX_REGNUM_SHIFT;
	return 0;
}

/* Only a CFA that is read from memory may be a sum, and only if the section has the flag */
static __always_inline bool may_be_sum(const struct sframe_section *sec, unsigned int i,
				       u32 control)
{
	return !i && control & SFRAME_FLEX_DEREF && sec->flags & SFRAME_F_CFA_SUM;
}

/* The rules to which the data words of a flexible FRE belong, in turn */
static __always_inline struct unwind_reg_rule *
flex_entity(struct unwind_frame_rule *rule, unsigned int i)
{
	switch (i) {
	case 0:
		return &rule->cfa;
	case 1:
		return &rule->ra;
	case 2:
		return &rule->fp;
	default:
		return NULL;
	}
}

/*
 * Flexible FDE Type Interpretation: for CFA, RA and FP in turn either a pair of
 * control and offset words, or one padding word (0) where the fixed rule holds.
 * Words that pad the FRE to its end are ignored.
 */
static __always_inline int flex_rules(const struct sframe_section *sec,
				      const struct sframe_fre *fre,
				      struct unwind_frame_rule *rule)
{
	u32 control_mask = GENMASK((8 << fre_word_size(fre->info)) - 1, 0);
	u64 pos = fre->words;
	s32 control, offset;
	unsigned int i;
	int ret;

	for (i = 0; pos < fre->end; i++) {
		struct unwind_reg_rule *reg_rule = flex_entity(rule, i);

		ret = read_dataword(sec, fre_word_size(fre->info), &pos, &control);
		if (ret)
			return ret;
		if (!control)
			continue;
		if (!reg_rule || pos == fre->end ||
		    (control & SFRAME_FLEX_SUM && !may_be_sum(sec, i, control)))
			return -EINVAL;
		ret = read_dataword(sec, fre_word_size(fre->info), &pos, &offset);
		if (!ret)
			ret = flex_rule(sec, control & control_mask, offset,
					reg_rule);
		if (!ret && control & SFRAME_FLEX_SUM)
			ret = flex_sum(sec, fre, control_mask, &pos, rule);
		if (ret)
			return ret;
	}
	/* A CFA relative to the CFA, or none at all */
	return rule->cfa.base == UNWIND_RULE_CFA ||
	       rule->cfa.base == UNWIND_RULE_SAME ? -EINVAL : 0;
}

static __always_inline int read_rule(const struct sframe_section *sec,
				     const struct sframe_func *func,
				     const struct sframe_fre *fre,
				     struct unwind_frame_rule *rule)
{
	/* Errata 2 of version 2, and version 3: no data words, RA undefined */
	if (fre->words == fre->end) {
		rule->outermost = true;
		return 0;
	}
	if (fre->end > sec->fre_len)
		return -EINVAL;
	if (fre->info & SFRAME_FRE_MANGLED_RA)
		rule->mangled_ra = sec->aarch64;

	if (func->type != SFRAME_FDE_TYPE_DEFAULT)
		return func->type == SFRAME_FDE_TYPE_FLEX ?
		       flex_rules(sec, fre, rule) : -EINVAL;
	if (fre_word_size(fre->info) == SFRAME_FRE_DATAWORD_1B)
		return default_rules(sec, fre, SFRAME_FRE_DATAWORD_1B, rule);
	return default_rules(sec, fre, fre_word_size(fre->info), rule);
}

#endif /* _KERNEL_UNWIND_SFRAME_DECODE_H */
