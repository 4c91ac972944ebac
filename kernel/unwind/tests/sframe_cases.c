// SPDX-License-Identifier: GPL-2.0
/*
 * From a case to the bytes of its section, and to the lookups that it asks for.
 * See sframe_cases.h.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sframe_cases.h"

/* Bytes of a good function, and of the case's function unless the case gives its size */
#define FUNC_SIZE	16

#define BEFORE_CFA	72
#define AFTER_CFA	720

static const struct sfb_fre before_fre = SFB_FRE(0, SFB_SP, 0, BEFORE_CFA);
static const struct sfb_fre after_fre = SFB_FRE(0, SFB_SP, 1, AFTER_CFA);

static u32 case_size(const struct sframe_case *c)
{
	return c->size ?: FUNC_SIZE;
}

static s64 before_start(const struct sframe_case *c)
{
	return CASE_START - FUNC_SIZE * ((s64)c->fill_before + 1);
}

unsigned int sframe_case_variants(const struct sframe_case *c,
				  struct sframe_case_variant v[CASE_MAX_VARIANTS])
{
	static const u8 all_flags[] = {
		SFB_SORTED | SFB_PCREL, SFB_SORTED, SFB_PCREL, 0,
	};
	unsigned int num = 0, i;
	u8 version;

	for (version = 2; version <= 3; version++) {
		for (i = 0; i < ARRAY_SIZE(all_flags); i++) {
			if (c->version && c->version != version)
				continue;
			if (c->flags & CASE_ONLY &&
			    (c->flags & 0xff) != all_flags[i])
				continue;
			v[num++] = (struct sframe_case_variant){
				.version = version,
				.flags = all_flags[i] | (c->sums ? SFB_CFA_SUM : 0),
			};
		}
	}
	return num;
}

/*
 * The functions
 */

static struct sfb_func good_func(s64 start, const struct sfb_fre *fre)
{
	return (struct sfb_func){
		.start = start, .size = FUNC_SIZE, .fres = fre, .num_fres = 1,
	};
}

static struct sfb_func case_func(const struct sframe_case *c,
				 const struct sfb_fre *many)
{
	struct sfb_func func = {
		.start = CASE_START, .size = case_size(c),
		.fre_type = c->fre_type, .flags = c->func_flags,
		.type = c->type, .rep_size = c->rep_size,
		.fres = &c->fre, .num_fres = 1,
	};

	if (c->no_fres) {
		func.num_fres = 0;
	} else if (c->fres) {
		func.fres = c->fres;
		func.num_fres = c->num_fres;
	} else if (many) {
		func.fres = many;
		func.num_fres = c->many_fres;
	}
	return func;
}

static u32 case_index(const struct sframe_case *c)
{
	return 1 + c->fill_before;
}

static u32 num_funcs(const struct sframe_case *c)
{
	return case_index(c) + 1 + c->empties + !c->last + c->fill_after;
}

static void fill_funcs(const struct sframe_case *c, struct sfb_func *func,
		       const struct sfb_fre *many)
{
	s64 start = before_start(c);
	u32 i;

	for (i = 0; i < 1 + c->fill_before; i++, start += FUNC_SIZE)
		*func++ = good_func(start, &before_fre);
	*func++ = case_func(c, many);
	for (i = 0; i < c->empties; i++)
		*func++ = (struct sfb_func){ .start = start };
	start += case_size(c);
	if (!c->last)
		*func++ = good_func(start, &after_fre);
	for (i = 0; i < c->fill_after; i++) {
		start += FUNC_SIZE;
		*func++ = good_func(start, &after_fre);
	}
}

static int build_table(const struct sframe_case *c,
		       const struct sframe_case_variant *v,
		       struct sfb_image *img)
{
	struct sfb_table table = {
		.version = v->version, .flags = v->flags, .abi = c->abi,
		.fixed_ra = c->ra, .fixed_fp = c->fp, .aux_len = c->aux_len,
		.fde_gap = c->gap, .fre_gap = c->gap, .num_funcs = num_funcs(c),
	};
	struct sfb_fre *many = NULL;
	struct sfb_func *funcs;
	int ret = -ENOMEM;
	u32 i;

	/* A hole in the index must not reach the FREs, if the case's entry is the last one */
	if (c->hole.base == CASE_FDE && c->last)
		table.fre_gap += CASE_HOLE;

	funcs = kvcalloc(table.num_funcs, sizeof(*funcs), GFP_KERNEL);
	if (c->many_fres)
		many = kvcalloc(c->many_fres, sizeof(*many), GFP_KERNEL);
	if (funcs && (many || !c->many_fres)) {
		for (i = 0; i < c->many_fres; i++)
			many[i] = (struct sfb_fre)SFB_FRE(i, SFB_SP, 2, i);
		fill_funcs(c, funcs, many);
		table.funcs = funcs;
		ret = sfb_build(img, &table);
	}
	kvfree(many);
	kvfree(funcs);
	return ret;
}

/*
 * Changes of the section
 */

static u32 position(const struct sframe_case *c, const struct sfb_image *img,
		    const struct sframe_case_pos *at)
{
	switch (at->base) {
	case CASE_FDE:
		return sfb_fde(img, case_index(c)) + at->pos;
	case CASE_FRES:
		return img->func_fres[case_index(c)] + at->pos;
	default:
		return at->pos;
	}
}

/* One piece without the hole, which may reach to the end of the section */
static void make_hole(const struct sframe_case *c,
		      struct sframe_case_image *image)
{
	u32 start = position(c, &image->img, &c->hole);
	u32 end = start + CASE_HOLE;

	image->pieces[0].len = start;
	if (end >= image->img.size)
		return;
	image->pieces[1] = (struct sframe_case_piece){
		.pos = end, .len = image->img.size - end, .at = end,
	};
	image->num_pieces = 2;
}

static void move_tail(const struct sframe_case *c,
		      const struct sframe_case_variant *v,
		      struct sframe_case_image *image)
{
	const u32 fre_len = 0xffffffff, fre_off = fre_len - c->tail;
	struct sfb_image *img = &image->img;
	u32 pos = img->func_fres[case_index(c)];
	u32 fde = sfb_fde(img, case_index(c));

	sfb_put(img, SFB_HDR_FRE_LEN, 4, fre_len);
	sfb_put(img, fde + (v->version == 2 ? 8 : 12), 4, fre_off);
	image->pieces[0].len = pos;
	image->pieces[1] = (struct sframe_case_piece){
		.pos = pos, .len = c->tail, .at = (u64)img->fres + fre_off,
	};
	image->num_pieces = 2;
	image->size = (unsigned long)img->fres + fre_len;
}

int sframe_case_build(const struct sframe_case *c,
		      const struct sframe_case_variant *v,
		      struct sframe_case_image *image)
{
	struct sfb_image *img = &image->img;
	unsigned int i;
	int ret;

	ret = build_table(c, v, img);
	if (ret)
		return ret;

	if (c->cut.base) {
		img->size = position(c, img, &c->cut);
		sfb_put(img, SFB_HDR_FRE_LEN, 4, img->size - img->fres);
	}
	for (i = 0; i < CASE_MAX_CHANGES && c->changes[i].size; i++)
		sfb_put(img, position(c, img, &c->changes[i].at),
			c->changes[i].size, c->changes[i].val);

	image->size = img->size;
	image->num_pieces = 1;
	image->pieces[0] = (struct sframe_case_piece){ .len = img->size };
	if (c->hole.base)
		make_hole(c, image);
	if (c->tail)
		move_tail(c, v, image);
	if (c->claimed_size)
		image->size = c->claimed_size;
	return 0;
}

/*
 * Lookups
 */

static struct unwind_frame_rule good_rule(const struct sframe_case *c, s32 cfa)
{
	struct unwind_frame_rule rule = { .cfa = SP(cfa), .ra = SAME, .fp = SAME };

	if (c->ra)
		rule.ra = (struct unwind_reg_rule)AT_CFA(c->ra);
	if (c->fp)
		rule.fp = (struct unwind_reg_rule)AT_CFA(c->fp);
	return rule;
}

/* The case's own lookup first, then one in each neighbour, at the end next to the case */
unsigned int sframe_case_lookups(const struct sframe_case *c,
				 struct sframe_case_lookup lookups[CASE_MAX_LOOKUPS])
{
	struct sframe_case_lookup *l = lookups;

	if (c->header)
		return 0;
	*l++ = (struct sframe_case_lookup){
		.offset = CASE_START + c->offset, .error = c->error,
		.want = c->want,
	};
	if (c->neighbours == CASE_AROUND || c->neighbours == CASE_BEFORE)
		*l++ = (struct sframe_case_lookup){
			.offset = before_start(c) + FUNC_SIZE - 1,
			.want = good_rule(c, BEFORE_CFA),
		};
	if (!c->last &&
	    (c->neighbours == CASE_AROUND || c->neighbours == CASE_AFTER))
		*l++ = (struct sframe_case_lookup){
			.offset = CASE_START + (s64)case_size(c),
			.want = good_rule(c, AFTER_CFA),
		};
	return l - lookups;
}
