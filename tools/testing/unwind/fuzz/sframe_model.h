/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table taken apart, for a fuzzer to change its parts.
 *
 * What is put together again is well formed as far as sframe_build.h can say:
 * counts, lengths and offsets fit.  What a table says (starts, sizes, types,
 * flags, words) may be anything.
 */
#ifndef _UNWIND_TEST_SFRAME_MODEL_H
#define _UNWIND_TEST_SFRAME_MODEL_H

#include "sframe_build.h"

#define MODEL_MAX_FUNCS	1024
#define MODEL_MAX_FRES	8192

/* Functions may share FREs; who changes FREs takes a copy at the end first */
struct model {
	struct sfb_table	table;
	struct sfb_func		funcs[MODEL_MAX_FUNCS];
	struct sfb_fre		fres[MODEL_MAX_FRES];
	u32			num_fres;
};

/*
 * Take a section apart.  Where it makes no sense, that part is left out; false
 * where that leaves nothing.
 */
bool model_parse(struct model *model, const u8 *bytes, u32 size);

/* Put it together in @bytes; returns the size, or 0 if it exceeds @max */
u32 model_build(const struct model *model, u8 *bytes, u32 max);

/* Change one thing at random */
void model_change(struct model *model, u64 *state);

/* Add some functions of @from */
void model_graft(struct model *model, const struct model *from, u64 *state);

/* A number as hostile tables have them: near a limit, or near @old */
u64 hostile_number(u64 *state, u64 old);

#endif /* _UNWIND_TEST_SFRAME_MODEL_H */
