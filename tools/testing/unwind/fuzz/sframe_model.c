// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of a table that leave it well formed.
 *
 * Each is made at a random place, and does nothing if the table has no place for
 * it.  Some repeat a function or an FRE hundreds of times, for long searches.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "sframe_gen.h"
#include "sframe_model.h"

/* For long searches, within the bounds of lookups: sframe_fuzz_main.c exceeds these */
#define MANY_FUNCS	300
#define MANY_FRES	1100

u64 hostile_number(u64 *state, u64 old)
{
	static const u8 widths[] = { 7, 8, 15, 16, 31, 32, 63 };
	static const u16 counts[] = { 255, 256, 1023, 1024, 16384 };

	switch (gen_below(state, 6)) {
	case 0:
		return gen_below(state, 17);
	case 1:
		return (1ULL << widths[gen_below(state, ARRAY_SIZE(widths))]) +
		       gen_below(state, 33) - 16;
	case 2:
		return counts[gen_below(state, ARRAY_SIZE(counts))] +
		       gen_below(state, 3) - 1;
	case 3:
		return -(u64)gen_below(state, 64);
	case 4:
		return old + gen_below(state, 65) - 32;
	default:
		return old ^ 1ULL << gen_below(state, 64);
	}
}

static struct sfb_func *any_func(struct model *model, u64 *state)
{
	return &model->funcs[gen_below(state, model->table.num_funcs)];
}

/* Make room for @num functions before @at; returns how many there is room for */
static u32 insert_funcs(struct model *model, u32 at, u32 num)
{
	num = min(num, MODEL_MAX_FUNCS - model->table.num_funcs);
	memmove(&model->funcs[at + num], &model->funcs[at],
		(model->table.num_funcs - at) * sizeof(model->funcs[0]));
	model->table.num_funcs += num;
	return num;
}

/* One function again and again: side by side, or empty ones at one place */
static void repeat_func(struct model *model, u64 *state)
{
	u32 at = gen_below(state, model->table.num_funcs), i;
	u32 num = insert_funcs(model, at, gen_below(state, 8) ?
			       1 + gen_below(state, 3) : MANY_FUNCS);
	bool empty = gen_below(state, 2);

	for (i = 0; i < num; i++) {
		struct sfb_func *func = &model->funcs[at + i];

		*func = model->funcs[at + num];
		if (empty)
			func->size = 0;
		else
			func->start -= (u64)func->size * (num - i);
	}
}

static void delete_func(struct model *model, u64 *state)
{
	u32 num = --model->table.num_funcs, at = gen_below(state, num + 1);

	memmove(&model->funcs[at], &model->funcs[at + 1],
		(num - at) * sizeof(model->funcs[0]));
	if (!num)
		model->table.num_funcs = 1;
}

static void swap_funcs(struct model *model, u64 *state)
{
	struct sfb_func *a = any_func(model, state);
	struct sfb_func *b = any_func(model, state);
	struct sfb_func tmp = *a;

	*a = *b;
	*b = tmp;
}

static int compare_starts(const void *a, const void *b)
{
	const struct sfb_func *func_a = a, *func_b = b;

	return func_a->start < func_b->start ? -1 :
	       func_a->start > func_b->start;
}

static void sort_funcs(struct model *model)
{
	qsort(model->funcs, model->table.num_funcs, sizeof(model->funcs[0]),
	      compare_starts);
	model->table.flags |= SFB_SORTED;
}

static void move_all(struct model *model, u64 *state)
{
	u64 by = hostile_number(state, 0);
	u32 i;

	for (i = 0; i < model->table.num_funcs; i++)
		model->funcs[i].start += by;
}

static void change_func(struct model *model, u64 *state)
{
	struct sfb_func *func = any_func(model, state);

	switch (gen_below(state, 6)) {
	case 0:
		func->start = hostile_number(state, func->start);
		break;
	case 1:
		func->size = hostile_number(state, func->size);
		break;
	case 2:
		func->fre_type = gen_below(state, 3);
		break;
	case 3:
		func->flags ^= 16 << gen_below(state, 4);
		break;
	case 4:
		func->type = gen_below(state, 4) ? gen_below(state, 2) :
						   hostile_number(state, 0);
		break;
	default:
		func->rep_size = hostile_number(state, func->rep_size);
		break;
	}
}

static void change_table(struct model *model, u64 *state)
{
	struct sfb_table *table = &model->table;

	switch (gen_below(state, 9)) {
	case 0:
		table->version ^= 1;
		break;
	case 1:
		table->flags ^= SFB_PCREL;
		break;
	case 2:
		table->flags ^= SFB_SORTED;
		break;
	case 7:
		table->flags ^= SFB_CFA_SUM;
		break;
	case 3:
		table->abi = 1 + gen_below(state, 3);
		break;
	case 4:
		table->fixed_fp = gen_below(state, 2) ? 0 :
				  hostile_number(state, table->fixed_fp);
		break;
	case 5:
		table->fixed_ra = gen_below(state, 2) ? 0 :
				  hostile_number(state, table->fixed_ra);
		break;
	case 6:
		table->aux_len = gen_below(state, 2) ? 0 : gen_below(state, 256);
		break;
	default:
		table->fde_gap = gen_below(state, 2) ? 0 : gen_below(state, 16);
		table->fre_gap = gen_below(state, 2) ? 0 : gen_below(state, 16);
		break;
	}
}

/* Copy the FREs of @func, so that no function shares them, with room for @more; or NULL */
static struct sfb_fre *own_fres(struct model *model, struct sfb_func *func,
				u32 more)
{
	struct sfb_fre *fres = &model->fres[model->num_fres];

	if (MODEL_MAX_FRES - model->num_fres < func->num_fres + more)
		return NULL;
	model->num_fres += func->num_fres + more;
	memcpy(fres, func->fres, func->num_fres * sizeof(*fres));
	func->fres = fres;
	return fres;
}

static void repeat_fre(struct model *model, u64 *state)
{
	struct sfb_func *func = any_func(model, state);
	u32 num = gen_below(state, 8) ? 1 + gen_below(state, 3) : MANY_FRES;
	struct sfb_fre *fres = own_fres(model, func, num);
	u32 step = gen_below(state, 2), at, i;

	if (!fres)
		return;
	if (!func->num_fres) {
		fres[0] = (struct sfb_fre)SFB_FRE(0, SFB_SP, 0, 8);
		func->num_fres = 1;
		return;
	}
	at = gen_below(state, func->num_fres);
	memmove(&fres[at + num], &fres[at],
		(func->num_fres - at) * sizeof(*fres));
	for (i = 0; i < num; i++) {
		fres[at + i] = fres[at + num];
		fres[at + i].start -= step * (num - i);
	}
	func->num_fres += num;
}

static void delete_fre(struct model *model, u64 *state)
{
	struct sfb_func *func = any_func(model, state);
	struct sfb_fre *fres = own_fres(model, func, 0);
	u32 at;

	if (!fres || !func->num_fres)
		return;
	at = gen_below(state, func->num_fres--);
	memmove(&fres[at], &fres[at + 1],
		(func->num_fres - at) * sizeof(*fres));
}

/* Words as they come, or controls of a flexible FDE */
static s32 any_word(u64 *state, s32 old)
{
	if (gen_below(state, 2))
		return hostile_number(state, old);
	return gen_below(state, 40) << 3 | gen_below(state, 8);
}

static void change_fre(struct model *model, u64 *state)
{
	struct sfb_func *func = any_func(model, state);
	struct sfb_fre *fres = own_fres(model, func, 0), *fre;
	u32 i;

	if (!fres || !func->num_fres)
		return;
	fre = &fres[gen_below(state, func->num_fres)];
	switch (gen_below(state, 6)) {
	case 0:
		fre->start = hostile_number(state, fre->start);
		break;
	case 1:
		fre->flags ^= gen_below(state, 2) ? SFB_SP : SFB_MANGLED;
		break;
	case 2:
		fre->word_size = gen_below(state, 3);
		break;
	case 3:
		/* What is beyond the words it had is zero: padding */
		fre->num_words = gen_below(state, 4) ? gen_below(state, 7) :
					gen_below(state, SFB_MAX_WORDS + 1);
		break;
	default:
		i = gen_below(state, fre->num_words ? fre->num_words : 1);
		fre->words[i] = any_word(state, fre->words[i]);
		break;
	}
}

void model_change(struct model *model, u64 *state)
{
	switch (gen_below(state, 16)) {
	case 0:
		repeat_func(model, state);
		break;
	case 1:
		delete_func(model, state);
		break;
	case 2:
		swap_funcs(model, state);
		break;
	case 3:
		sort_funcs(model);
		break;
	case 4:
		move_all(model, state);
		break;
	case 5 ... 7:
		change_func(model, state);
		break;
	case 8:
		change_table(model, state);
		break;
	case 9 ... 10:
		repeat_fre(model, state);
		break;
	case 11:
		delete_fre(model, state);
		break;
	default:
		change_fre(model, state);
		break;
	}
}

void model_graft(struct model *model, const struct model *from, u64 *state)
{
	u32 first = gen_below(state, from->table.num_funcs);
	u32 most = from->table.num_funcs - first;
	u32 num = 1 + gen_below(state, min(most, 8U));
	u32 at = gen_below(state, model->table.num_funcs + 1), i;

	num = insert_funcs(model, at, num);
	for (i = 0; i < num; i++) {
		struct sfb_func *func = &model->funcs[at + i];

		*func = from->funcs[first + i];
		if (!own_fres(model, func, 0))
			func->num_fres = 0;
	}
}
