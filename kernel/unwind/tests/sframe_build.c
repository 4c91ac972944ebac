// SPDX-License-Identifier: GPL-2.0
/*
 * From a description to the bytes of an SFrame section: measure, allocate
 * exactly that, fill.  Bytes that no part of the format owns hold a pattern, so
 * that a reader that strays reads nonsense and not zeroes.
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sframe_build.h"

#define GAP_PATTERN	0xa5
#define ATTR_SIZE	5

/* In the byte order of the machine, as all sections that it reads */
void sfb_put(struct sfb_image *img, u32 pos, unsigned int size, u64 val)
{
	const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	unsigned int i;

	if (WARN_ON(pos + size > img->size))
		return;
	for (i = 0; i < size; i++, val >>= 8)
		img->bytes[pos + (big ? size - 1 - i : i)] = val;
}

static u32 fre_bytes(const struct sfb_func *func, const struct sfb_fre *fre)
{
	return (1 << func->fre_type) + 1 + (fre->num_words << fre->word_size);
}

static u32 func_bytes(const struct sfb_table *table,
		      const struct sfb_func *func)
{
	u32 bytes = table->version == 3 ? ATTR_SIZE : 0, i;

	for (i = 0; i < func->num_fres; i++)
		bytes += fre_bytes(func, &func->fres[i]);
	return bytes;
}

static void put_header(struct sfb_image *img, const struct sfb_table *table,
		       u32 num_fres)
{
	u32 header_end = SFB_HDR_SIZE + table->aux_len;

	sfb_put(img, SFB_HDR_MAGIC, 2, 0xdee2);
	sfb_put(img, SFB_HDR_VERSION, 1, table->version);
	sfb_put(img, SFB_HDR_FLAGS, 1, table->flags);
	sfb_put(img, SFB_HDR_ABI, 1, table->abi);
	sfb_put(img, SFB_HDR_FIXED_FP, 1, table->fixed_fp);
	sfb_put(img, SFB_HDR_FIXED_RA, 1, table->fixed_ra);
	sfb_put(img, SFB_HDR_AUX_LEN, 1, table->aux_len);
	sfb_put(img, SFB_HDR_NUM_FDES, 4, table->num_funcs);
	sfb_put(img, SFB_HDR_NUM_FRES, 4, num_fres);
	sfb_put(img, SFB_HDR_FRE_LEN, 4, img->size - img->fres);
	sfb_put(img, SFB_HDR_FDEOFF, 4, img->fdes - header_end);
	sfb_put(img, SFB_HDR_FREOFF, 4, img->fres - header_end);
}

static void put_fde(struct sfb_image *img, const struct sfb_table *table, u32 i)
{
	const struct sfb_func *func = &table->funcs[i];
	u32 pos = sfb_fde(img, i), fres = img->func_fres[i];
	u64 start = func->start;
	u8 info = func->flags | func->fre_type;

	if (table->flags & SFB_PCREL)
		start -= pos;
	if (table->version == 3) {
		sfb_put(img, pos, 8, start);
		sfb_put(img, pos + 8, 4, func->size);
		sfb_put(img, pos + 12, 4, fres - img->fres);

		sfb_put(img, fres, 2, func->num_fres);
		sfb_put(img, fres + 2, 1, info);
		sfb_put(img, fres + 3, 1, func->type);
		sfb_put(img, fres + 4, 1, func->rep_size);
		return;
	}
	sfb_put(img, pos, 4, start);
	sfb_put(img, pos + 4, 4, func->size);
	sfb_put(img, pos + 8, 4, fres - img->fres);
	sfb_put(img, pos + 12, 4, func->num_fres);
	sfb_put(img, pos + 16, 1, info);
	sfb_put(img, pos + 17, 1, func->rep_size);
	sfb_put(img, pos + 18, 2, 0);
}

static void put_fres(struct sfb_image *img, const struct sfb_table *table,
		     u32 i)
{
	const struct sfb_func *func = &table->funcs[i];
	u32 pos = img->func_fres[i] + (table->version == 3 ? ATTR_SIZE : 0);
	u32 r, w;

	for (r = 0; r < func->num_fres; r++) {
		const struct sfb_fre *fre = &func->fres[r];

		sfb_put(img, pos, 1 << func->fre_type, fre->start);
		pos += 1 << func->fre_type;
		sfb_put(img, pos++, 1, fre->flags | fre->num_words << 1 |
			fre->word_size << 5);
		for (w = 0; w < fre->num_words; w++) {
			sfb_put(img, pos, 1 << fre->word_size, fre->words[w]);
			pos += 1 << fre->word_size;
		}
	}
}

int sfb_build(struct sfb_image *img, const struct sfb_table *table)
{
	u32 num_fres = 0, i;

	img->fde_size = table->version == 3 ? 16 : 20;
	img->fdes = SFB_HDR_SIZE + table->aux_len + table->fde_gap;
	img->fres = sfb_fde(img, table->num_funcs) + table->fre_gap;
	img->size = img->fres;
	img->bytes = NULL;
	img->func_fres = kvcalloc(table->num_funcs + 1, sizeof(u32), GFP_KERNEL);
	if (!img->func_fres)
		return -ENOMEM;
	for (i = 0; i < table->num_funcs; i++) {
		img->func_fres[i] = img->size;
		img->size += func_bytes(table, &table->funcs[i]);
		num_fres += table->funcs[i].num_fres;
	}

	img->bytes = kvmalloc(img->size, GFP_KERNEL);
	if (!img->bytes) {
		sfb_free(img);
		return -ENOMEM;
	}
	memset(img->bytes, GAP_PATTERN, img->size);
	put_header(img, table, num_fres);
	for (i = 0; i < table->num_funcs; i++) {
		put_fde(img, table, i);
		put_fres(img, table, i);
	}
	return 0;
}

void sfb_free(struct sfb_image *img)
{
	kvfree(img->bytes);
	kvfree(img->func_fres);
}
