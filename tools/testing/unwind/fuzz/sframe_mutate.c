// SPDX-License-Identifier: GPL-2.0
/*
 * Mutations of fuzz inputs that know the format.
 *
 * There are two kinds, alone or one after the other.  The first takes the table
 * apart, changes a part, and puts it together again: counts, lengths and offsets
 * fit the change, so that lookups reach it.  The second spoils single fields in
 * place, so that these do not fit any more.
 */
#include <string.h>

#include <linux/kernel.h>

#include "sframe_fuzz.h"
#include "sframe_gen.h"
#include "sframe_model.h"
#include "sframe_mutate.h"

/* A field: offset in its structure, and bytes */
struct field {
	u8	pos;
	u8	size;
};

struct section {
	u8	*bytes;
	u32	size;
	u32	max;
};

static struct model model, other_model;

static u32 get32(const struct section *sec, u64 pos)
{
	u32 val = 0;

	if (pos + 4 <= sec->size)
		memcpy(&val, sec->bytes + pos, 4);
	return val;
}

static void put32(struct section *sec, u32 pos, u32 val)
{
	memcpy(sec->bytes + pos, &val, 4);
}

static void spoil(struct section *sec, u64 pos, struct field field, u64 *state)
{
	u64 val = 0;

	pos += field.pos;
	if (pos + field.size > sec->size)
		return;
	memcpy(&val, sec->bytes + pos, field.size);
	val = hostile_number(state, val);
	memcpy(sec->bytes + pos, &val, field.size);
}

static void spoil_header(struct section *sec, u64 *state)
{
	static const struct field fields[] = {
		{ SFB_HDR_FLAGS, 1 }, { SFB_HDR_VERSION, 1 },
		{ SFB_HDR_ABI, 1 }, { SFB_HDR_FIXED_FP, 1 },
		{ SFB_HDR_FIXED_RA, 1 }, { SFB_HDR_AUX_LEN, 1 },
		{ SFB_HDR_NUM_FDES, 4 }, { SFB_HDR_FRE_LEN, 4 },
		{ SFB_HDR_FDEOFF, 4 }, { SFB_HDR_FREOFF, 4 },
	};

	spoil(sec, 0, fields[gen_below(state, ARRAY_SIZE(fields))], state);
}

static u64 header_end(const struct section *sec)
{
	return SFB_HDR_SIZE + sec->bytes[SFB_HDR_AUX_LEN];
}

static void spoil_func(struct section *sec, u64 *state)
{
	static const struct field v2[] = {
		{ 0, 4 }, { 4, 4 }, { 8, 4 }, { 12, 4 }, { 16, 1 }, { 17, 1 },
	};
	static const struct field v3[] = { { 0, 8 }, { 8, 4 }, { 12, 4 } };
	/* Of the attributes, which precede the FREs */
	static const struct field attr[] = {
		{ 0, 2 }, { 2, 1 }, { 3, 1 }, { 4, 1 },
	};
	u64 fdes = header_end(sec) + get32(sec, SFB_HDR_FDEOFF);
	u64 fres = header_end(sec) + get32(sec, SFB_HDR_FREOFF);
	u32 num = get32(sec, SFB_HDR_NUM_FDES);
	u64 i = num ? gen_below(state, num) : 0;

	if (sec->bytes[SFB_HDR_VERSION] == 2)
		spoil(sec, fdes + 20 * i,
		      v2[gen_below(state, ARRAY_SIZE(v2))], state);
	else if (gen_below(state, 2))
		spoil(sec, fdes + 16 * i,
		      v3[gen_below(state, ARRAY_SIZE(v3))], state);
	else
		spoil(sec, fres + get32(sec, fdes + 16 * i + 12),
		      attr[gen_below(state, ARRAY_SIZE(attr))], state);
}

static void spoil_fres(struct section *sec, u64 *state)
{
	u64 fres = header_end(sec) + get32(sec, SFB_HDR_FREOFF);
	struct field byte = { 0, 1 };

	if (fres < sec->size)
		spoil(sec, fres + gen_below(state, sec->size - fres), byte,
		      state);
}

/* Cut off the end; mostly the header is adapted, because it would be refused otherwise */
static void shorten(struct section *sec, u64 *state)
{
	u32 len = gen_below(state, 64);

	if (sec->size - SFB_HDR_SIZE < len)
		return;
	sec->size -= len;
	if (gen_below(state, 4))
		put32(sec, SFB_HDR_FRE_LEN, get32(sec, SFB_HDR_FRE_LEN) - len);
}

/* Append bytes from another place in the section to the FREs */
static void lengthen(struct section *sec, u64 *state)
{
	u32 at = gen_below(state, sec->size);
	u32 len = min(sec->size - at, sec->max - sec->size);

	len = gen_below(state, min(len, 256U) + 1);
	memcpy(sec->bytes + sec->size, sec->bytes + at, len);
	sec->size += len;
	put32(sec, SFB_HDR_FRE_LEN, get32(sec, SFB_HDR_FRE_LEN) + len);
}

static void spoil_one(struct section *sec, u64 *state)
{
	switch (gen_below(state, 16)) {
	case 0:
		spoil_header(sec, state);
		break;
	case 1 ... 8:
		spoil_func(sec, state);
		break;
	case 9 ... 13:
		spoil_fres(sec, state);
		break;
	case 14:
		shorten(sec, state);
		break;
	default:
		lengthen(sec, state);
		break;
	}
}

static void change_model(struct section *sec, u64 *state)
{
	u32 n = 1 + gen_below(state, 4), size;

	if (!model_parse(&model, sec->bytes, sec->size))
		return;
	while (n--)
		model_change(&model, state);
	size = model_build(&model, sec->bytes, sec->max);
	if (size)
		sec->size = size;
}

/* Mostly the ABI that the section is for, or it is refused at once */
static void fit_control(u8 *data, u64 *state)
{
	if (gen_below(state, 32))
		data[0] = data[FUZZ_CONTROL + SFB_HDR_ABI];
	else
		data[0] = gen_below(state, 4);
}

static void new_seed(u8 *data, u64 *state)
{
	u32 i;

	for (i = 1; i < FUZZ_CONTROL; i++)
		data[i] = gen_random(state);
}

u32 fuzz_mutate(u8 *data, u32 size, u32 max, u64 *state)
{
	struct section sec = {
		.bytes = data + FUZZ_CONTROL,
		.size = size - FUZZ_CONTROL,
		.max = max - FUZZ_CONTROL,
	};
	u32 kind = gen_below(state, 4), n = 1 + gen_below(state, 3);

	if (size < FUZZ_CONTROL + SFB_HDR_SIZE) {
		struct sfb_image img;

		gen_table(&img, gen_random(state), 4);
		size = fuzz_input(img.bytes, img.size, data, max, state);
		sfb_free(&img);
		return size;
	}
	if (kind != 0)
		change_model(&sec, state);
	while (kind < 2 && n--)
		spoil_one(&sec, state);
	if (!gen_below(state, 4))
		new_seed(data, state);
	fit_control(data, state);
	return FUZZ_CONTROL + sec.size;
}

u32 fuzz_cross(const u8 *data, u32 size, const u8 *other, u32 other_size,
	       u8 *out, u32 max, u64 *state)
{
	u32 new_size;

	if (size < FUZZ_CONTROL || other_size < FUZZ_CONTROL ||
	    !model_parse(&model, data + FUZZ_CONTROL, size - FUZZ_CONTROL) ||
	    !model_parse(&other_model, other + FUZZ_CONTROL,
			 other_size - FUZZ_CONTROL))
		return 0;
	model_graft(&model, &other_model, state);
	new_size = model_build(&model, out + FUZZ_CONTROL, max - FUZZ_CONTROL);
	if (!new_size)
		return 0;
	memcpy(out, data, FUZZ_CONTROL);
	return FUZZ_CONTROL + new_size;
}

u32 fuzz_input(const u8 *section, u32 size, u8 *out, u32 max, u64 *state)
{
	size = min(size, max - FUZZ_CONTROL);
	memcpy(out + FUZZ_CONTROL, section, size);
	new_seed(out, state);
	fit_control(out, state);
	return FUZZ_CONTROL + size;
}
