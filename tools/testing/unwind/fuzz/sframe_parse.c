// SPDX-License-Identifier: GPL-2.0
/*
 * From the bytes of a section to a model and back.
 *
 * Reads any bytes: positions are 64 bits wide, so that sums of what is read do
 * not wrap, and bytes beyond the end read as zero.
 */
#include <string.h>

#include <linux/kernel.h>

#include "sframe_model.h"

/* One function does not take all FREs of the model */
#define MAX_FRES_PER_FUNC	1200

struct input {
	const u8	*bytes;
	u64		size;
	u64		fres;
	u64		end;	/* of the FREs */
};

static u64 get(const struct input *in, u64 pos, unsigned int size)
{
	u64 val = 0;

	while (size--)
		val = val << 8 | (pos + size < in->size ?
				  in->bytes[pos + size] : 0);
	return val;
}

static s64 get_word(const struct input *in, u64 pos, unsigned int size)
{
	unsigned int shift = 64 - 8 * size;

	return (s64)(get(in, pos, size) << shift) >> shift;
}

/* Returns the bytes of the FRE at @pos, or 0 if there is none */
static u32 parse_fre(const struct input *in, u64 pos, u8 fre_type,
		     struct sfb_fre *fre)
{
	u32 start_size = 1 << fre_type, bytes, i;
	u8 info = get(in, pos + start_size, 1);

	*fre = (struct sfb_fre){
		.start = get(in, pos, start_size),
		.flags = info & (SFB_SP | SFB_MANGLED),
		.word_size = info >> 5 & 3,
		.num_words = info >> 1 & 15,
	};
	bytes = start_size + 1 + (fre->num_words << fre->word_size);
	if (fre->word_size > 2 || pos + bytes > in->end)
		return 0;
	for (i = 0; i < fre->num_words; i++)
		fre->words[i] = get_word(in, pos + start_size + 1 +
					 (i << fre->word_size),
					 1 << fre->word_size);
	return bytes;
}

static void parse_fres(struct model *model, const struct input *in, u64 pos,
		       u32 num, struct sfb_func *func)
{
	func->fres = &model->fres[model->num_fres];
	num = min_t(u32, num, MAX_FRES_PER_FUNC);
	while (func->num_fres < num && model->num_fres < MODEL_MAX_FRES) {
		u32 bytes = parse_fre(in, pos, func->fre_type,
				      &model->fres[model->num_fres]);

		if (!bytes)
			break;
		pos += bytes;
		func->num_fres++;
		model->num_fres++;
	}
}

static void parse_func(struct model *model, const struct input *in, u64 pos)
{
	struct sfb_func *func = &model->funcs[model->table.num_funcs];
	u64 fres;
	u32 num;
	u8 info;

	if (model->table.version == 3) {
		fres = in->fres + get(in, pos + 12, 4);
		num = get(in, fres, 2);
		info = get(in, fres + 2, 1);
		*func = (struct sfb_func){
			.start = get_word(in, pos, 8),
			.size = get(in, pos + 8, 4),
			.type = get(in, fres + 3, 1),
			.rep_size = get(in, fres + 4, 1),
		};
		fres += 5;
	} else {
		fres = in->fres + get(in, pos + 8, 4);
		num = get(in, pos + 12, 4);
		info = get(in, pos + 16, 1);
		*func = (struct sfb_func){
			.start = get_word(in, pos, 4),
			.size = get(in, pos + 4, 4),
			.rep_size = get(in, pos + 17, 1),
		};
	}
	if (model->table.flags & SFB_PCREL)
		func->start = (u64)func->start + pos;
	func->flags = info & 0xf0;
	func->fre_type = (info & 15) % 3;
	parse_fres(model, in, fres, num, func);
	model->table.num_funcs++;
}

bool model_parse(struct model *model, const u8 *bytes, u32 size)
{
	struct input in = { .bytes = bytes, .size = size };
	struct sfb_table *table = &model->table;
	u64 header_end, fdes, fde_size;
	u32 num, i;

	model->num_fres = 0;
	*table = (struct sfb_table){
		.version = get(&in, SFB_HDR_VERSION, 1) == 2 ? 2 : 3,
		.flags = get(&in, SFB_HDR_FLAGS, 1),
		.abi = get(&in, SFB_HDR_ABI, 1),
		.fixed_fp = get(&in, SFB_HDR_FIXED_FP, 1),
		.fixed_ra = get(&in, SFB_HDR_FIXED_RA, 1),
		.aux_len = get(&in, SFB_HDR_AUX_LEN, 1),
		.funcs = model->funcs,
	};
	header_end = SFB_HDR_SIZE + table->aux_len;
	fdes = header_end + get(&in, SFB_HDR_FDEOFF, 4);
	in.fres = header_end + get(&in, SFB_HDR_FREOFF, 4);
	in.end = min(in.fres + get(&in, SFB_HDR_FRE_LEN, 4), in.size);
	table->fde_gap = fdes - header_end;
	fde_size = table->version == 3 ? 16 : 20;

	num = min_t(u32, get(&in, SFB_HDR_NUM_FDES, 4), MODEL_MAX_FUNCS);
	for (i = 0; i < num && fdes + (i + 1) * fde_size <= in.size; i++)
		parse_func(model, &in, fdes + i * fde_size);
	fdes += i * fde_size;
	/* Do not put together a section whose parts overlap, or lie gigabytes apart */
	if (in.fres < fdes || in.fres > in.size)
		return false;
	table->fre_gap = in.fres - fdes;
	return table->num_funcs;
}

u32 model_build(const struct model *model, u8 *bytes, u32 max)
{
	struct sfb_image img;
	u64 fres = 0;
	u32 size, i;

	/* Shared FREs are written once per function: do not build what cannot fit */
	for (i = 0; i < model->table.num_funcs; i++)
		fres += model->funcs[i].num_fres;
	if (2 * fres > max)
		return 0;
	sfb_build(&img, &model->table);
	size = img.size <= max ? img.size : 0;
	memcpy(bytes, img.bytes, size);
	sfb_free(&img);
	return size;
}
