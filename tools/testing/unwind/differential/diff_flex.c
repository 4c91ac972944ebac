// SPDX-License-Identifier: GPL-2.0
/*
 * An FRE of a flexible FDE (version 3), by libsframe: it returns offsets, but its
 * callers have to decode control words themselves.
 */
#include "diff_libsframe.h"

/* A control word; 0 if there is none */
static u32 control_word(const sframe_frame_row_entry *fre, int i)
{
	int err = 0;
	u32 word = sframe_get_fre_udata(fre, i, &err);

	return err ? 0 : word;
}

static struct unwind_reg_rule flex_rule(sframe_decoder_ctx *ctx, u32 control,
					s32 offset)
{
	u32 reg = SFRAME_V3_FLEX_FDE_CTRLWORD_REGNUM(control);
	struct unwind_reg_rule rule = {
		.base = UNWIND_RULE_CFA,
		.deref = SFRAME_V3_FLEX_FDE_CTRLWORD_DEREF_P(control),
		.offset = offset,
	};

	if (!SFRAME_V3_FLEX_FDE_CTRLWORD_REG_P(control))
		return rule;
	rule.reg = reg;
	rule.base = UNWIND_RULE_REG;
	if (reg == (is_aarch64(ctx) ? 31 : 7))
		rule.base = UNWIND_RULE_SP;
	if (reg == (is_aarch64(ctx) ? 29 : 6))
		rule.base = UNWIND_RULE_FP;
	return rule;
}

void flex_fre(sframe_decoder_ctx *ctx, const sframe_frame_row_entry *fre,
	      struct unwind_frame_rule *rule)
{
	s32 fixed_ra = sframe_decoder_get_fixed_ra_offset(ctx);
	s32 fixed_fp = sframe_decoder_get_fixed_fp_offset(ctx);
	u32 control;
	s32 offset;
	int err;

	control = control_word(fre, 0);
	offset = sframe_fre_get_cfa_offset(ctx, fre, SFRAME_FDE_TYPE_FLEX,
					   &err);
	rule->cfa = flex_rule(ctx, control, offset);

	rule->ra = saved_at(!fixed_ra, fixed_ra);
	control = control_word(fre, 2);
	if (control) {
		offset = sframe_fre_get_ra_offset(ctx, fre,
						  SFRAME_FDE_TYPE_FLEX, &err);
		rule->ra = flex_rule(ctx, control, offset);
	}

	rule->fp = saved_at(!fixed_fp, fixed_fp);
	control = control_word(fre, control ? 4 : 3);
	if (control) {
		offset = sframe_fre_get_fp_offset(ctx, fre,
						  SFRAME_FDE_TYPE_FLEX, &err);
		rule->fp = flex_rule(ctx, control, offset);
	}
}
