// SPDX-License-Identifier: GPL-2.0
/*
 * Random well-formed tables.
 *
 * libsframe can decode them, to give a second opinion: no FRE has more words than its
 * rules need.
 */
#include <stdlib.h>

#include "sframe_gen.h"

#define MAX_COMPLEX	12

u64 gen_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dULL >> 11;
}

static s32 random_word(u64 *state, u8 word_size)
{
	s32 val = gen_random(state);

	/* Mostly the form of a stack offset, sometimes any number */
	if (gen_below(state, 4))
		return (s32)gen_below(state, 32) * 8 - 128;
	return word_size == 0 ? (s8)val : word_size == 1 ? (s16)val : val;
}

static void default_words(u64 *state, const struct sfb_table *table,
			  struct sfb_fre *fre)
{
	u32 max = 1 + !table->fixed_ra + !table->fixed_fp;

	fre->num_words = 1 + gen_below(state, max);
	for (max = 0; max < fre->num_words; max++)
		fre->words[max] = random_word(state, fre->word_size);
}

static void flex_rule(u64 *state, struct sfb_fre *fre, bool cfa)
{
	u32 reg = gen_below(state, fre->word_size ? 256 : 32);
	u32 control = gen_below(state, 3) ? reg << 3 | 1 : 2;

	if (cfa || gen_below(state, 2))
		control |= 1;
	if (gen_below(state, 2))
		control |= 2;
	fre->words[fre->num_words++] = control;
	fre->words[fre->num_words++] = random_word(state, fre->word_size);
}

/* CFA; perhaps RA; perhaps FP, before which a missing RA is padded */
static void flex_words(u64 *state, struct sfb_fre *fre)
{
	u32 which = gen_below(state, 4);

	flex_rule(state, fre, true);
	if (which & 1)
		flex_rule(state, fre, false);
	else if (which & 2)
		fre->words[fre->num_words++] = 0;
	if (which & 2)
		flex_rule(state, fre, false);
}

static u32 random_size(u64 *state, u8 fre_type)
{
	static const u32 sizes[] = { 0x100, 0x1000, 0x10000 };

	return 1 + gen_below(state, sizes[fre_type]);
}

static void random_func(u64 *state, const struct sfb_table *table,
			struct sfb_func *func, struct sfb_fre *fres)
{
	u32 start = 0, i;

	func->fre_type = gen_below(state, 3);
	func->size = random_size(state, func->fre_type);
	func->num_fres = 1 + gen_below(state, MAX_COMPLEX);
	func->fres = fres;
	if (!gen_below(state, 4))
		func->flags |= SFB_KEY_B;
	if (table->version == 3) {
		func->type = !gen_below(state, 4);
		if (!gen_below(state, 8))
			func->flags |= SFB_SIGNAL;
		if (!gen_below(state, 16) && !func->type)
			func->num_fres = 0;
	}
	if (!gen_below(state, 8)) {
		func->flags |= SFB_PCMASK;
		func->rep_size = 1 + gen_below(state, 255);
	}
	for (i = 0; i < func->num_fres; i++) {
		struct sfb_fre *fre = &fres[i];

		/* A late first FRE is rare but allowed */
		if (i || !gen_below(state, 16))
			start += 1 + gen_below(state, 20);
		if (start >= func->size ||
		    (func->flags & SFB_PCMASK && start >= func->rep_size)) {
			func->num_fres = i;
			break;
		}
		*fre = (struct sfb_fre){
			.start = start,
			.flags = gen_below(state, 2),
			.word_size = gen_below(state, 3),
		};
		if (!gen_below(state, 16))
			continue;
		if (!gen_below(state, 4))
			fre->flags |= SFB_MANGLED;
		if (func->type)
			flex_words(state, fre);
		else
			default_words(state, table, fre);
	}
}

static void shuffle(u64 *state, struct sfb_func *funcs, u32 num)
{
	for (; num > 1; num--) {
		u32 other = gen_below(state, num);
		struct sfb_func func = funcs[num - 1];

		funcs[num - 1] = funcs[other];
		funcs[other] = func;
	}
}

void gen_table(struct sfb_image *img, u64 seed, u32 max_funcs)
{
	u64 state = seed * 0x9e3779b97f4a7c15ULL + 0x1234567;
	u32 num = 1 + gen_below(&state, max_funcs), i;
	struct sfb_func *funcs = calloc(num, sizeof(*funcs));
	struct sfb_fre *fres = calloc(num * MAX_COMPLEX, sizeof(*fres));
	struct sfb_table table = {
		.version = 2 + gen_below(&state, 2),
		.flags = gen_below(&state, 4) ? SFB_SORTED : 0,
		.abi = gen_below(&state, 2) ? SFB_AMD64 : SFB_AARCH64,
		.aux_len = gen_below(&state, 4) ? 0 : gen_below(&state, 256),
		.num_funcs = num, .funcs = funcs,
	};
	s64 start = (s64)gen_below(&state, 0x1000000) - 0x800000;

	if (gen_below(&state, 4))
		table.flags |= SFB_PCREL;
	if (table.abi == SFB_AMD64)
		table.fixed_ra = -8;
	if (!gen_below(&state, 4))
		table.fixed_fp = -16;
	for (i = 0; i < num; i++) {
		random_func(&state, &table, &funcs[i], &fres[i * MAX_COMPLEX]);
		funcs[i].start = start;
		start += funcs[i].size;
		if (gen_below(&state, 2))
			start += gen_below(&state, 64);
	}
	if (!(table.flags & SFB_SORTED))
		shuffle(&state, funcs, num);
	sfb_build(img, &table);
	free(funcs);
	free(fres);
}
