/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libsframe under the names of its present version, whichever is there.
 *
 * sframe_diff is built a second time with the libsframe of those binutils that
 * wrote SFrame version 2: who wrote a table knows best what it means.  That
 * library reads no other version, has fewer functions, and is not const-correct;
 * what it lacks is supplied here, from what its header defines.
 */
#ifndef _UNWIND_TEST_DIFF_LIBSFRAME_H
#define _UNWIND_TEST_DIFF_LIBSFRAME_H

#include <stdbool.h>
#include <stdlib.h>

#include <sframe-api.h>

#include "rule.h"

#if SFRAME_VERSION > SFRAME_VERSION_2

#define LIBSFRAME_MAX_VERSION	SFRAME_VERSION_3
#define LIBSFRAME_UNKNOWN_FLAGS	0
/* What sframe_find_fre() takes as given */
#define LIBSFRAME_FIND_FLAGS	(SFRAME_F_FDE_SORTED | \
				 SFRAME_F_FDE_FUNC_START_PCREL)
/* Whether it finds FREs of functions made of repeated blocks */
#define LIBSFRAME_FINDS_PCMASK	true

/* Where in the section FDE @i has the start of its function */
static inline u32 libsframe_fde_offset(sframe_decoder_ctx *ctx, u32 i)
{
	int err;

	return sframe_decoder_get_offsetof_fde_start_addr(ctx, i, &err);
}

void flex_fre(struct sframe_decoder_ctx *ctx,
	      const struct sframe_frame_row_entry *fre, struct unwind_frame_rule *rule);

#else

#define LIBSFRAME_MAX_VERSION	SFRAME_VERSION_2
#define LIBSFRAME_UNKNOWN_FLAGS	SFRAME_F_FDE_FUNC_START_PCREL
/* Starts are relative to the section, there is no other way yet */
#define LIBSFRAME_FIND_FLAGS	SFRAME_F_FDE_SORTED
#define LIBSFRAME_FINDS_PCMASK	false

#define SFRAME_VERSION_3			3
#define SFRAME_F_FDE_FUNC_START_PCREL		0x4
#define SFRAME_FDE_TYPE_DEFAULT			0
#define SFRAME_FDE_TYPE_FLEX			1
#define SFRAME_V3_FDE_PCTYPE_MASK		SFRAME_FDE_TYPE_PCMASK
#define SFRAME_V3_FDE_PC_TYPE(info)		SFRAME_V1_FUNC_FDE_TYPE(info)
#define SFRAME_V3_AARCH64_FDE_PAUTH_KEY(info)	SFRAME_V1_FUNC_PAUTH_KEY(info)
/* Of what version 2 does not have */
#define SFRAME_V3_FDE_TYPE(info2)		((void)(info2), SFRAME_FDE_TYPE_DEFAULT)
#define SFRAME_V3_FDE_SIGNAL_P(info)		((void)(info), false)

static inline u32 libsframe_fde_offset(sframe_decoder_ctx *ctx, u32 i)
{
	abort();
}

static inline int sframe_decoder_get_funcdesc_v3(sframe_decoder_ctx *ctx,
						 unsigned int i, u32 *num_fres,
						 u32 *size, s64 *start,
						 u8 *info, u8 *info2, u8 *rep_size)
{
	abort();
}

/* Errata 2 of version 2, later than this library */
static inline bool sframe_fre_get_ra_undefined_p(sframe_decoder_ctx *ctx,
						 sframe_frame_row_entry *fre,
						 int *err)
{
	*err = 0;
	return !SFRAME_V1_FRE_OFFSET_COUNT(fre->fre_info);
}

static inline void flex_fre(sframe_decoder_ctx *ctx,
			    const sframe_frame_row_entry *fre,
			    struct unwind_frame_rule *rule)
{
	abort();
}

#define sframe_fre_get_base_reg_id(fre, err) \
	sframe_fre_get_base_reg_id((sframe_frame_row_entry *)(fre), err)
#define sframe_fre_get_cfa_offset(ctx, fre, type, err) \
	sframe_fre_get_cfa_offset(ctx, (sframe_frame_row_entry *)(fre), err)
#define sframe_fre_get_ra_offset(ctx, fre, type, err) \
	sframe_fre_get_ra_offset(ctx, (sframe_frame_row_entry *)(fre), err)
#define sframe_fre_get_fp_offset(ctx, fre, type, err) \
	sframe_fre_get_fp_offset(ctx, (sframe_frame_row_entry *)(fre), err)

#endif

static inline bool is_aarch64(sframe_decoder_ctx *ctx)
{
	u8 abi = sframe_decoder_get_abi_arch(ctx);

	return abi == SFRAME_ABI_AARCH64_ENDIAN_LITTLE ||
	       abi == SFRAME_ABI_AARCH64_ENDIAN_BIG;
}

/* A rule for what is saved at an offset from the CFA; SAME if it is not */
static inline struct unwind_reg_rule saved_at(int err, s32 offset)
{
	if (err)
		return (struct unwind_reg_rule){ .base = UNWIND_RULE_SAME };
	return (struct unwind_reg_rule){
		.base = UNWIND_RULE_CFA, .deref = true, .offset = offset,
	};
}

#endif /* _UNWIND_TEST_DIFF_LIBSFRAME_H */
