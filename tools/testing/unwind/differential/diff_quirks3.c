// SPDX-License-Identifier: GPL-2.0
/*
 * Where the libsframe of binutils 2.47, which reads version 3, is wrong.
 */
#include "diff_quirks.h"

static const struct sfb_fre fres_sp[] = { SFB_FRE(0, SFB_SP, 0, 16) };

/* CFA = SP + 16, padding for the RA, FP = *(CFA - 16) */
static const struct sfb_fre fres_ra_padded[] = {
	SFB_FRE(0, SFB_SP, 0, 7 << 3 | 1, 16, 0, 2, -16),
};

/* CFA = SP + 16, RA = *(CFA - 24), padding for the FP */
static const struct sfb_fre fres_fp_padded[] = {
	SFB_FRE(0, SFB_SP, 0, 7 << 3 | 1, 16, 2, -24, 0, 0),
};

static const struct sfb_func func_plain[] = {
	{ .start = 0x1000, .size = 16, SFB_FRES(fres_sp) },
};

static const struct sfb_func func_after_empty[] = {
	{ .start = 0x1000, .size = 16, SFB_FRES(fres_sp) },
	{ .start = 0x1010, .size = 0, SFB_FRES(fres_sp) },
	{ .start = 0x1010, .size = 16, SFB_FRES(fres_sp) },
};

static const struct sfb_func func_no_fres[] = {
	{ .start = 0x1000, .size = 16 },
};

static const struct sfb_func func_ra_padded[] = {
	{ .start = 0x1000, .size = 16, .type = 1, SFB_FRES(fres_ra_padded) },
};

static const struct sfb_func func_fp_padded[] = {
	{ .start = 0x1000, .size = 16, .type = 1, SFB_FRES(fres_fp_padded) },
};

/* The RA is at CFA - 8, which is the fixed offset */
static bool wrong_ra(sframe_decoder_ctx *ctx, s64 offset)
{
	sframe_frame_row_entry fre;
	int err;

	return sframe_find_fre(ctx, offset, &fre) ||
	       sframe_fre_get_ra_offset(ctx, &fre, SFRAME_FDE_TYPE_FLEX,
					&err) != -8 || err;
}

/* There is no FP offset, and no fixed one */
static bool has_fp(sframe_decoder_ctx *ctx, s64 offset)
{
	sframe_frame_row_entry fre;
	int err;

	if (sframe_find_fre(ctx, offset, &fre))
		return true;
	sframe_fre_get_fp_offset(ctx, &fre, SFRAME_FDE_TYPE_FLEX, &err);
	return !err;
}

const struct quirk quirks[] = {
	{
		/*
		 * sframe_find_fre() takes starts as PC-relative whether the flag is
		 * set or not.  "The SFrame FDE Index": "Otherwise, it is the offset
		 * in bytes from the start of the SFrame section."
		 */
		.name = "section-relative starts",
		.table = QUIRK_TABLE(3, SFB_SORTED, func_plain),
		.offset = 0x1000,
		.want = QUIRK_PLAIN_FRE(16),
		.errs = quirk_finds_none,
	}, {
		/*
		 * Its binary search gives up at an empty function whose start is the
		 * address.  "The SFrame FDE Index": "the size of the function in
		 * bytes"; nothing is within one of no bytes, but here something is
		 * within its neighbour.
		 */
		.name = "a function after an empty one",
		.table = QUIRK_TABLE(3, SFB_SORTED | SFB_PCREL, func_after_empty),
		.offset = 0x1010,
		.want = QUIRK_PLAIN_FRE(16),
		.errs = quirk_finds_none,
	}, {
		/*
		 * No FRE is to be found, but there is an answer.  "Changes from
		 * Version 2 to Version 3": "An SFrame FDE of type
		 * SFRAME_FDE_TYPE_DEFAULT with no FREs is used to indicate an
		 * outermost frame."
		 */
		.name = "a function without FREs",
		.table = QUIRK_TABLE(3, SFB_SORTED | SFB_PCREL, func_no_fres),
		.offset = 0x1000,
		.want = { .outermost = true },
		.errs = quirk_finds_none,
	}, {
		/*
		 * The word that it takes for the RA's offset is the FP's control
		 * word.  "Encoding of Data Word 1": "A value of 0 [...] is used to
		 * indicate that no further data words follow for the tracked entity."
		 */
		.name = "padding in place of the RA",
		.table = QUIRK_TABLE(3, SFB_SORTED | SFB_PCREL, func_ra_padded),
		.offset = 0x1000,
		.want = {
			.cfa = { .base = UNWIND_RULE_SP, .offset = 16 },
			.ra = QUIRK_SAVED(-8), .fp = QUIRK_SAVED(-16),
		},
		.errs = wrong_ra,
	}, {
		/* Likewise, and the FP's offset is said to be 0 */
		.name = "padding in place of the FP",
		.table = QUIRK_TABLE(3, SFB_SORTED | SFB_PCREL, func_fp_padded),
		.offset = 0x1000,
		.want = {
			.cfa = { .base = UNWIND_RULE_SP, .offset = 16 },
			.ra = QUIRK_SAVED(-24),
		},
		.errs = has_fp,
	},
};

const size_t num_quirks = ARRAY_SIZE(quirks);
