// SPDX-License-Identifier: GPL-2.0
/*
 * The SFrame decoder: checks the header of a section, and looks up the rule of an address.
 *
 * The kernel looks addresses up only in sections that may change (UNWIND_TABLE_JIT), in
 * the memory of their process: tables.c calls this for each frame.  sframe_table.c makes
 * tables of all other sections, so unwinding does not read them.
 *
 * A lookup is a pure function of (section, address, memory): it allocates nothing, takes
 * no lock, keeps no state, and works in any context in which its reads of memory work.  The
 * file has its steps in order: find the function (FDE), find its FRE; sframe_decode.h turns
 * the FRE's data words into rules.  User memory is opened once per lookup.  While it is, no
 * function may be called, so all code that reads is inlined.
 *
 * The section is hostile.  The decoder reads nothing outside it: positions are computed in
 * 64 bits from values of at most 32 bits, and compared before they are read.  Start offsets
 * of functions may be anything: they are added modulo 2^64, and only compared with the
 * address.  Each value is read once, so a section that changes meanwhile yields a wrong
 * rule at worst; the frame loop trusts no rule.  A lookup ends: see
 * Documentation/core-api/unwind-sframe.rst for the number of its reads.
 *
 * Errors: -ENOENT no function or FRE describes the address; -EFAULT memory could not be
 * read; -EINVAL an entry is invalid; -E2BIG the lookup would exceed its bound;
 * -EAGAIN the entry changed meanwhile.
 */

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/uaccess.h>
#include <asm/barrier.h>
#include <asm/unwind_arch.h>

#include "sframe.h"
#include "sframe_format.h"

/* Read one value while user memory is open; it may be another one the next time */
#define sframe_get(val, addr)						\
({									\
	__label__ fault;						\
	typeof(val) __val = (val);					\
	int __ret = -EFAULT;						\
									\
	unsafe_get_user(*__val, (const typeof(*__val) __user *)(addr), fault); \
	__ret = 0;							\
fault:									\
	__ret;								\
})
#include "sframe_decode.h"

/* Limits of one lookup: index entries besides a binary search's, and FREs of a function */
#define MAX_SCAN	16384
#define MAX_FRES	65536

/*
 * s390x is not supported.  It scales and shifts offsets of the CFA, pads FREs with an invalid
 * RA, and in version 2 has register numbers among the offsets.  Its caller's SP is CFA - 160,
 * while the frame loop takes the CFA for the caller's SP.  Entries that are decoded without
 * all of that would be wrong, without looking wrong.
 */
static bool abi_is_aarch64(u8 abi)
{
	return abi == SFRAME_ABI_AARCH64_ENDIAN_LITTLE ||
	       abi == SFRAME_ABI_AARCH64_ENDIAN_BIG;
}

/*
 * The header
 */

static int read_header(void *to, unsigned long addr, size_t size)
{
	unsigned long left;

	BUILD_BUG_ON(sizeof(struct sframe_header) != 28);
	unwind_arch_tags_off();
	left = copy_from_user(to, (const void __user *)addr, size);
	unwind_arch_tags_on();
	return left ? -EFAULT : 0;
}

/* "The only part [...] whose format cannot vary between versions" */
static int check_preamble(const struct sframe_header *hdr)
{
	if (hdr->magic != SFRAME_MAGIC)
		return -ENOEXEC;
	if (hdr->version != SFRAME_VERSION_2 && hdr->version != SFRAME_VERSION_3)
		return -EOPNOTSUPP;
	return 0;
}

/* Check the rest of the header, and fill in @sec */
static int set_section(struct sframe_section *sec, const struct sframe_header *hdr,
		       unsigned long start, unsigned long size, u8 abi)
{
	u64 base, fdes_end;

	sec->version = hdr->version;
	if (hdr->flags & ~(is_v2(sec) ? SFRAME_V2_FLAGS : SFRAME_V3_FLAGS) ||
	    hdr->abi_arch != abi ||
	    (abi != SFRAME_ABI_AMD64_ENDIAN_LITTLE && !abi_is_aarch64(abi)))
		return -ENOEXEC;

	sec->start = start;
	sec->end = start + size;
	sec->changes = false;
	sec->num_fdes = hdr->num_fdes;
	sec->fre_len = hdr->fre_len;
	sec->flags = hdr->flags;
	sec->aarch64 = abi_is_aarch64(abi);
	sec->fixed = (struct unwind_frame_rule){};	/* SAME, unless: */
	if (hdr->cfa_fixed_ra_offset)
		sec->fixed.ra = saved_at(hdr->cfa_fixed_ra_offset);
	if (hdr->cfa_fixed_fp_offset)
		sec->fixed.fp = saved_at(hdr->cfa_fixed_fp_offset);

	/* Sums of three 32-bit values, and a product of 32 bits and 5: no wrap */
	base = sizeof(*hdr) + hdr->auxhdr_len;
	fdes_end = base + hdr->fdeoff + fde_pos(sec, hdr->num_fdes);
	if (fdes_end > base + hdr->freoff ||
	    base + hdr->freoff + hdr->fre_len > size)
		return -ENOEXEC;

	sec->fdes = start + base + hdr->fdeoff;
	sec->fres = start + base + hdr->freoff;
	sec->origin = hdr->flags & SFRAME_F_FDE_FUNC_START_PCREL ? sec->fdes :
								   start;
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
	int ret;

	if (size < SFRAME_PREAMBLE_SIZE || start + size < start)
		return -ENOEXEC;
	ret = read_header(&hdr, start, SFRAME_PREAMBLE_SIZE);
	if (!ret)
		ret = check_preamble(&hdr);
	if (ret)
		return ret;

	if (size < sizeof(hdr))
		return -ENOEXEC;
	ret = read_header((void *)&hdr + SFRAME_PREAMBLE_SIZE, start + SFRAME_PREAMBLE_SIZE,
			  sizeof(hdr) - SFRAME_PREAMBLE_SIZE);
	return ret ?: set_section(sec, &hdr, start, size, abi);
}

/**
 * sframe_check_header - check the header of an SFrame section in kernel memory
 * @sec: filled in on success; its addresses are addresses of the copy
 * @copy: the section
 * @size: its size in bytes
 * @abi: the SFRAME_ABI_* that the section must be for
 *
 * Context: any.
 * Return: as sframe_read_header(), but for -EFAULT.
 */
int sframe_check_header(struct sframe_section *sec, const void *copy,
			size_t size, u8 abi)
{
	const struct sframe_header *hdr = copy;
	int ret;

	if (size < SFRAME_PREAMBLE_SIZE)
		return -ENOEXEC;
	ret = check_preamble(hdr);
	if (ret)
		return ret;
	if (size < sizeof(*hdr))
		return -ENOEXEC;
	return set_section(sec, hdr, (unsigned long)copy, size, abi);
}

/*
 * The function
 */

/*
 * The writer of a new entry writes its size last, and clears the size first when it
 * takes an entry back.  So values that are read before the size are at least as old as
 * it, and values that are read after it at least as new.
 */
static __always_inline int read_size_in_order(const struct sframe_section *sec,
					      u64 i, u32 *size)
{
	int ret;

	smp_rmb();	/* the start before it, see above */
	ret = read_func_size(sec, i, size);
	smp_rmb();	/* all else after it */
	return ret;
}

/*
 * Find the last function that starts at or before @target.  If none does, this is the first
 * one, and if the entries change meanwhile, it may be any: the caller checks that @target is
 * one of its addresses.  "Sorted on PC": by the addresses, not by the values in the entries.
 *
 * Invariant: it is among the entries in the @step bytes from @pos on.  At first, these are the
 * largest power of two of entries, at either end of the index; each time, they are halved.
 * Positions are in bytes, which saves multiplications.
 */
static __always_inline int search(const struct sframe_section *sec, s64 target,
				  u64 *index, s64 *start)
{
	const u64 size = fde_size(sec), all = fde_pos(sec, sec->num_fdes);
	u64 step, pos = 0;
	s64 val;
	int ret;

	if (!sec->num_fdes)
		return -ENOENT;
	step = size << __fls(sec->num_fdes);
	ret = read_func_start_at(sec, all - step, &val);
	if (ret)
		return ret;
	if (val <= target)
		pos = all - step;
	while ((step /= 2) >= size) {
		ret = read_func_start_at(sec, pos + step, &val);
		if (ret)
			return ret;
		pos = val <= target ? pos + step : pos;
	}
	*index = pos / size;
	return read_func_start_at(sec, pos, start);
}

/*
 * The function is empty: one before it with the same start may not be.
 * Functions whose code was unreachable have entries at the address of the next
 * function, on either side of its own.
 */
static __always_inline int step_over_empty(const struct sframe_section *sec,
					   struct sframe_func *func)
{
	u32 i;

	for (i = 1; func->index; i++) {
		s64 prev;
		int ret;

		ret = read_func_start(sec, func->index - 1, &prev);
		if (ret)
			return ret;
		if (prev != func->start)
			break;
		if (i >= MAX_SCAN)
			return -E2BIG;
		func->index--;
		ret = read_size_in_order(sec, func->index, &func->size);
		if (ret || func->size)
			return ret;
	}
	return -ENOENT;
}

/* The last function that starts at or before @target */
static __always_inline int find_sorted(const struct sframe_section *sec,
				       s64 target, struct sframe_func *func)
{
	int ret;

	ret = search(sec, target, &func->index, &func->start);
	if (ret)
		return ret;
	ret = read_size_in_order(sec, func->index, &func->size);
	if (ret || func->size)
		return ret;
	return step_over_empty(sec, func);
}

/* The first function that covers @target */
static __always_inline int find_unsorted(const struct sframe_section *sec,
					 s64 target, struct sframe_func *func)
{
	for (func->index = 0; func->index < sec->num_fdes; func->index++) {
		int ret;

		if (func->index >= MAX_SCAN)
			return -E2BIG;
		ret = read_func_start(sec, func->index, &func->start);
		if (ret)
			return ret;
		if (func->start > target)
			continue;
		ret = read_size_in_order(sec, func->index, &func->size);
		if (ret)
			return ret;
		if ((u64)target - (u64)func->start < func->size)
			return 0;
	}
	return -ENOENT;
}

static __always_inline int find_func(const struct sframe_section *sec,
				     unsigned long ip, struct sframe_func *func)
{
	s64 target = (u64)ip - sec->origin;
	int ret;

	ret = sec->flags & SFRAME_F_FDE_SORTED ? find_sorted(sec, target, func) :
						 find_unsorted(sec, target, func);
	if (ret)
		return ret;

	func->offset = (u64)target - (u64)func->start;
	if (func->offset >= func->size)
		return -ENOENT;
	return read_func(sec, func);
}

/*
 * The FRE
 */

/*
 * Walk the function's FREs to the last one that starts at or before @offset.
 * FREs differ in size, so they can only be visited one after another.
 * There is one at least.
 */
static __always_inline int walk_fres(const struct sframe_section *sec,
				     const struct sframe_func *func,
				     u8 fre_type, u32 offset,
				     struct sframe_fre *fre)
{
	u32 left = min_t(u32, func->num_fres, MAX_FRES);

	fre->words = 0;
	fre->end = func->fre_pos;
	do {
		u32 start = 0;
		int ret;

		ret = read_fre_start(sec, fre->end, fre_type, &start);
		if (ret)
			return ret;
		if (start > offset)
			return fre->words ? 0 : -ENOENT;
		ret = read_fre_info(sec, fre_type, fre);
		if (ret)
			return ret;
	} while (--left);
	return func->num_fres > MAX_FRES ? -E2BIG : 0;
}

static __always_inline int find_fre(const struct sframe_section *sec,
				    const struct sframe_func *func,
				    struct sframe_fre *found)
{
	const u8 fre_type = FIELD_GET(SFRAME_FDE_FRE_TYPE, func->info);
	u32 offset = func->offset;
	u8 rep_size = 0;
	int ret;

	if (func->info & SFRAME_FDE_PCTYPE_MASK) {
		ret = sframe_get(&rep_size, func->rep_size);
		if (ret)
			return ret;
		if (!rep_size)
			return -EINVAL;
		/* "PC % REP_BLOCK_SIZE", as the FREs: from the function's start */
		offset %= rep_size;
	}
	return fre_type <= SFRAME_FRE_TYPE_ADDR4 ?
	       walk_fres(sec, func, fre_type, offset, found) : -EINVAL;
}

/*
 * The changes
 *
 * The section's writer adds FREs, then an entry, then counts it; takes an entry back by
 * setting its size to 0 and a full fence, and makes it anew by setting the size
 * last.  FREs stay as they are while anything refers to them.
 */

/* The section as it is now.  The count covers entries and FREs before it. */
static __always_inline int refresh_counts(struct sframe_section *sec)
{
	int ret;

	ret = sframe_get(&sec->num_fdes, sec->start +
			 offsetof(struct sframe_header, num_fdes));
	if (ret)
		return ret;
	/* Entries and FREs are written before they are counted */
	smp_rmb();
	ret = sframe_get(&sec->fre_len, sec->start +
			 offsetof(struct sframe_header, fre_len));
	if (ret)
		return ret;
	if (fde_pos(sec, sec->num_fdes) > sec->fres - sec->fdes ||
	    sec->fre_len > sec->end - sec->fres)
		return -EINVAL;
	return 0;
}

/*
 * Does the entry still say where the function and its FREs are?  If so, all other
 * values that were read from it belong to the same function.
 */
static __always_inline int entry_unchanged(const struct sframe_section *sec,
					   const struct sframe_func *func)
{
	u32 size = 0, fre_off = 0;
	s64 start;
	int ret;

	/* All values that were used have been read before the entry is checked again */
	smp_rmb();
	ret = read_func_start(sec, func->index, &start);
	if (!ret)
		ret = read_size_in_order(sec, func->index, &size);
	if (!ret)
		ret = read_fre_off(sec, func->index, &fre_off);
	if (ret)
		return ret;
	return start == func->start && size == func->size &&
	       fre_off == func->fre_off ? 0 : -EAGAIN;
}

static __always_inline int find_rule(struct sframe_section *sec, unsigned long ip,
				     struct unwind_frame_rule *rule)
{
	struct sframe_func func;
	struct sframe_fre fre;
	int ret;

	ret = refresh_counts(sec);
	if (!ret)
		ret = find_func(sec, ip, &func);
	if (ret)
		return ret;
	rule->at_end = func.offset == func.size - 1;
	set_func_flags(sec, &func, rule);
	if (func.num_fres) {
		ret = find_fre(sec, &func, &fre);
		if (!ret)
			ret = read_rule(sec, &func, &fre, rule);
	} else {
		ret = set_outermost(sec, &func, rule);
	}
	return ret ?: entry_unchanged(sec, &func);
}

/*
 * Open the section for many reads: get_user() would check the address, open user memory and
 * close it again for each.
 *
 * User memory is open in between, so no function may be called there: the code that
 * reads is inlined as a whole (objtool checks that).  That code keeps its reads within
 * the section.  A speculated read may leave it, but reaches no kernel address: positions
 * have 32 bits, and even times the size of an entry they do not go that far.
 *
 * Memory may have tags (arm64's MTE).  The addresses here have none, so tag checks are
 * off during reads.
 */
static __always_inline bool open_section(const struct sframe_section *sec)
{
	might_fault();
	if (!user_read_access_begin((const void __user *)sec->start, sec->end - sec->start))
		return false;
	unwind_arch_tags_off();
	return true;
}

static __always_inline void close_section(void)
{
	unwind_arch_tags_on();
	user_read_access_end();
}

/**
 * sframe_find_rule - look up an address
 * @sec: a section that sframe_read_header() accepted
 * @ip: address of an instruction (for a return address: one less than it)
 * @rule: filled in on success
 *
 * Implements "SFrame FDE", "SFrame FRE" and "Interpretation of SFrame FREs" of
 * the specification.
 *
 * Context: any in which the section may be read.
 * Return: 0, or one of the errors in this file's opening comment.
 */
int sframe_find_rule(const struct sframe_section *sec, unsigned long ip,
		     struct unwind_frame_rule *rule)
{
	struct sframe_section now = *sec;
	int ret;

	*rule = sec->fixed;
	if (!open_section(sec))
		return -EFAULT;
	ret = find_rule(&now, ip, rule);
	close_section();
	return ret;
}
