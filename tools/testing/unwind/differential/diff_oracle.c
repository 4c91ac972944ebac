// SPDX-License-Identifier: GPL-2.0
/*
 * What libsframe says about an address.
 *
 * libsframe finds FREs; what they mean it says only in part, and in a few
 * places what it says must be taken with care (as of binutils 2.47; diff_quirks3.c
 * has a case for each):
 *
 * - sframe_find_fre() refuses sections that are not sorted, and takes starts of
 *   functions as PC-relative even where the flag is not set.  The specification
 *   ("The SFrame FDE Index"): "Otherwise, it is the offset in bytes from the
 *   start of the SFrame section."  For both, its FREs are walked one by one.
 * - An empty function (its code was unreachable) is in the index with the address
 *   of the function after it, and misleads sframe_find_fre()'s binary search when
 *   it meets it.  The specification ("The SFrame FDE Index"): "specifying the
 *   size of the function in bytes"; no address lies within none.  Where it finds
 *   nothing, and there are such functions, FREs are walked as well.
 * - A function without FREs is an error to it.  The specification ("Changes from
 *   Version 2 to Version 3"): "An SFrame FDE of type SFRAME_FDE_TYPE_DEFAULT
 *   with no FREs is used to indicate an outermost frame."
 * - sframe_fre_get_ra_offset() of a flexible FRE whose RA is padded returns the
 *   FP's control word.  The specification ("Encoding of Data Word 1"): "A value
 *   of 0 [...] is used to indicate that no further data words follow for the
 *   tracked entity."  So the control word is looked at first.
 * - sframe_fre_get_fp_offset() likewise when the FP is padded.
 *
 * The libsframe that knows version 2 only (binutils 2.44; diff_quirks2.c) finds no
 * FREs of functions made of repeated blocks, that is PLTs: these are walked too.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "diff_libsframe.h"
#include "diff_oracle.h"

struct oracle {
	sframe_decoder_ctx	*ctx;
	struct oracle_func	*funcs;
	u32			num_funcs;
	u8			flags;
	bool			has_empty;
};

static int by_start(const void *a, const void *b)
{
	const struct oracle_func *fa = a, *fb = b;

	if (fa->start != fb->start)
		return fa->start < fb->start ? -1 : 1;
	/* An empty function first: it must not hide one that is not */
	return (fa->size > fb->size) - (fa->size < fb->size);
}

static void read_func(const struct oracle *oracle, u32 i,
		      struct oracle_func *func)
{
	if (sframe_decoder_get_version(oracle->ctx) == SFRAME_VERSION_2) {
		s32 start;

		sframe_decoder_get_funcdesc_v2(oracle->ctx, i, &func->num_fres,
					       &func->size, &start,
					       &func->info, &func->rep_size);
		func->start = start;
		/* Version 2 knows nothing of the bit for signal frames */
		func->info &= 0x7f;
	} else {
		sframe_decoder_get_funcdesc_v3(oracle->ctx, i, &func->num_fres,
					       &func->size, &func->start,
					       &func->info, &func->info2,
					       &func->rep_size);
	}
	if (oracle->flags & SFRAME_F_FDE_FUNC_START_PCREL)
		func->start += libsframe_fde_offset(oracle->ctx, i);
	func->index = i;
}

u8 oracle_max_version(void)
{
	return LIBSFRAME_MAX_VERSION;
}

bool oracle_reads(const u8 *bytes)
{
	return bytes[offsetof(sframe_preamble, sfp_version)] <=
	       LIBSFRAME_MAX_VERSION &&
	       !(bytes[offsetof(sframe_preamble, sfp_flags)] &
		 LIBSFRAME_UNKNOWN_FLAGS);
}

struct oracle *oracle_open(const u8 *bytes, size_t size)
{
	struct oracle *oracle = calloc(1, sizeof(*oracle));
	u32 i;
	int err = 0;

	oracle->ctx = sframe_decode((const char *)bytes, size, &err);
	if (!oracle->ctx) {
		free(oracle);
		return NULL;
	}
	oracle->flags = bytes[offsetof(sframe_header, sfh_preamble.sfp_flags)];
	oracle->num_funcs = sframe_decoder_get_num_fidx(oracle->ctx);
	oracle->funcs = calloc(oracle->num_funcs + 1, sizeof(*oracle->funcs));
	for (i = 0; i < oracle->num_funcs; i++) {
		read_func(oracle, i, &oracle->funcs[i]);
		oracle->has_empty |= !oracle->funcs[i].size;
	}
	qsort(oracle->funcs, oracle->num_funcs, sizeof(*oracle->funcs),
	      by_start);
	return oracle;
}

void oracle_close(struct oracle *oracle)
{
	sframe_decoder_free(&oracle->ctx);
	free(oracle->funcs);
	free(oracle);
}

u8 oracle_abi(const struct oracle *oracle)
{
	return sframe_decoder_get_abi_arch(oracle->ctx);
}

u32 oracle_num_funcs(const struct oracle *oracle)
{
	return oracle->num_funcs;
}

const struct oracle_func *oracle_func(const struct oracle *oracle, u32 i)
{
	return &oracle->funcs[i];
}

s64 oracle_fre_start(const struct oracle *oracle,
		     const struct oracle_func *func, u32 i)
{
	sframe_frame_row_entry fre;

	if (sframe_decoder_get_fre(oracle->ctx, func->index, i, &fre))
		return -1;
	return fre.fre_start_addr;
}

static const struct oracle_func *func_of(const struct oracle *oracle,
					 s64 offset)
{
	u32 lo = 0, hi = oracle->num_funcs;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (oracle->funcs[mid].start <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	if ((u64)offset - oracle->funcs[lo - 1].start >=
	    oracle->funcs[lo - 1].size)
		return NULL;
	return &oracle->funcs[lo - 1];
}

/* Whether sframe_find_fre() is up to it */
static bool can_find(const struct oracle *oracle,
		     const struct oracle_func *func)
{
	if ((oracle->flags & LIBSFRAME_FIND_FLAGS) != LIBSFRAME_FIND_FLAGS)
		return false;
	return LIBSFRAME_FINDS_PCMASK ||
	       SFRAME_V3_FDE_PC_TYPE(func->info) != SFRAME_V3_FDE_PCTYPE_MASK;
}

static int walk_fres(const struct oracle *oracle,
		     const struct oracle_func *func, s64 offset,
		     sframe_frame_row_entry *found)
{
	u32 pc = offset - func->start, i;
	sframe_frame_row_entry fre;
	int ret = -ENOENT;

	if (SFRAME_V3_FDE_PC_TYPE(func->info) == SFRAME_V3_FDE_PCTYPE_MASK)
		pc %= func->rep_size;
	for (i = 0; i < func->num_fres; i++) {
		if (sframe_decoder_get_fre(oracle->ctx, func->index, i, &fre))
			return -ENOENT;
		if (fre.fre_start_addr > pc)
			break;
		*found = fre;
		ret = 0;
	}
	return ret;
}

static void default_fre(const struct oracle *oracle,
			const sframe_frame_row_entry *fre,
			struct unwind_frame_rule *rule)
{
	s32 offset;
	int err;

	rule->cfa.base = sframe_fre_get_base_reg_id(fre, &err) ==
			SFRAME_BASE_REG_SP ? UNWIND_RULE_SP : UNWIND_RULE_FP;
	rule->cfa.offset = sframe_fre_get_cfa_offset(oracle->ctx, fre,
						     SFRAME_FDE_TYPE_DEFAULT,
						     &err);
	offset = sframe_fre_get_ra_offset(oracle->ctx, fre,
					  SFRAME_FDE_TYPE_DEFAULT, &err);
	rule->ra = saved_at(err, offset);
	offset = sframe_fre_get_fp_offset(oracle->ctx, fre,
					  SFRAME_FDE_TYPE_DEFAULT, &err);
	rule->fp = saved_at(err, offset);
}

int oracle_find_rule(const struct oracle *oracle, s64 offset,
		     struct unwind_frame_rule *rule)
{
	const struct oracle_func *func = func_of(oracle, offset);
	sframe_frame_row_entry fre;
	int err = 0;
	bool find;
	u8 type;

	*rule = (struct unwind_frame_rule){};
	if (!func)
		return -ENOENT;
	type = SFRAME_V3_FDE_TYPE(func->info2);
	rule->at_end = offset - func->start == (s64)func->size - 1;
	rule->signal = SFRAME_V3_FDE_SIGNAL_P(func->info);
	rule->pauth_key_b = is_aarch64(oracle->ctx) &&
			   SFRAME_V3_AARCH64_FDE_PAUTH_KEY(func->info);
	if (!func->num_fres && type == SFRAME_FDE_TYPE_DEFAULT &&
	    sframe_decoder_get_version(oracle->ctx) == SFRAME_VERSION_3) {
		rule->outermost = true;
		return 0;
	}

	find = can_find(oracle, func);
	if (find)
		err = sframe_find_fre(oracle->ctx, offset, &fre);
	if (!find || (err && oracle->has_empty))
		err = walk_fres(oracle, func, offset, &fre);
	if (err)
		return -ENOENT;
	if (sframe_fre_get_ra_undefined_p(oracle->ctx, &fre, &err)) {
		rule->outermost = true;
		return 0;
	}
	rule->mangled_ra = is_aarch64(oracle->ctx) &&
			  sframe_fre_get_ra_mangled_p(oracle->ctx, &fre, &err);
	if (type == SFRAME_FDE_TYPE_FLEX)
		flex_fre(oracle->ctx, &fre, rule);
	else
		default_fre(oracle, &fre, rule);
	return 0;
}
