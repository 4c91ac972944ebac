// SPDX-License-Identifier: GPL-2.0
/* libsframe's side of sframe_bench. */
#include <sframe-api.h>

#include "sframe_bench.h"

struct sframe_decoder_ctx *libsframe_open(const u8 *bytes, size_t size)
{
	int err = 0;

	return sframe_decode((const char *)bytes, size, &err);
}

void libsframe_close(struct sframe_decoder_ctx *ctx)
{
	sframe_decoder_free(&ctx);
}

int libsframe_lookups(const struct sframe_decoder_ctx *ctx, const s64 *addrs,
		      s32 *cfas, u32 num)
{
	sframe_frame_row_entry fre;
	int err = 0;
	u32 i;

	for (i = 0; i < num && !err; i++) {
		err = sframe_find_fre(ctx, addrs[i], &fre);
		if (!err)
			cfas[i] = sframe_fre_get_cfa_offset(ctx, &fre,
							    SFRAME_FDE_TYPE_DEFAULT,
							    &err);
	}
	return err;
}
