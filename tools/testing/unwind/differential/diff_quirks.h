/* SPDX-License-Identifier: GPL-2.0 */
/* Cases in which libsframe is known to be wrong; see diff_quirks.c. */
#ifndef _UNWIND_TEST_DIFF_QUIRKS_H
#define _UNWIND_TEST_DIFF_QUIRKS_H

#include <linux/kernel.h>

#include "diff_libsframe.h"
#include "sframe_build.h"

struct quirk {
	const char		*name;
	struct sfb_table	table;
	s64			offset;	/* that is looked up */
	struct unwind_frame_rule	want;
	/* Does libsframe have another answer, without the workarounds of diff_oracle.c? */
	bool (*errs)(sframe_decoder_ctx *ctx, s64 offset);
};

extern const struct quirk quirks[];
extern const size_t num_quirks;

/* It finds no FRE, where there is an answer */
static inline bool quirk_finds_none(sframe_decoder_ctx *ctx, s64 offset)
{
	sframe_frame_row_entry fre;

	return sframe_find_fre(ctx, offset, &fre) != 0;
}

#define QUIRK_TABLE(version_, flags_, funcs_) {				\
	.version = (version_), .flags = (flags_), .abi = SFB_AMD64,	\
	.fixed_ra = -8, SFB_FUNCS(funcs_) }
#define QUIRK_SAVED(offset_) { .base = UNWIND_RULE_CFA, .deref = true,	\
			       .offset = (offset_) }
#define QUIRK_PLAIN_FRE(cfa_) {						\
	.cfa = { .base = UNWIND_RULE_SP, .offset = (cfa_) },		\
	.ra = QUIRK_SAVED(-8) }

#endif /* _UNWIND_TEST_DIFF_QUIRKS_H */
