// SPDX-License-Identifier: GPL-2.0
/*
 * Where the libsframe of binutils 2.44, which reads version 2, is wrong.
 */
#include "diff_quirks.h"

static const struct sfb_fre fres_plt[] = {
	SFB_FRE(0, SFB_SP, 0, 8),
	SFB_FRE(11, SFB_SP, 0, 16),
};

static const struct sfb_func func_plt[] = {
	{
		.start = -0x40, .size = 0x30, .flags = SFB_PCMASK,
		.rep_size = 16, SFB_FRES(fres_plt),
	},
};

const struct quirk quirks[] = {
	{
		/*
		 * It takes the remainder of the address relative to the section,
		 * which is negative for code before the section, instead of the
		 * address within the function.  "The SFrame FDE": "(PC %
		 * REP_BLOCK_SIZE >= FRE_START_ADDR)", for a block "of
		 * repetitive instructions": one byte into the second block is
		 * one byte into a block.
		 */
		.name = "repeated blocks of code before the section",
		.table = QUIRK_TABLE(2, SFB_SORTED, func_plt),
		.offset = -0x40 + 16 + 1,
		.want = QUIRK_PLAIN_FRE(8),
		.errs = quirk_finds_none,
	},
};

const size_t num_quirks = ARRAY_SIZE(quirks);
