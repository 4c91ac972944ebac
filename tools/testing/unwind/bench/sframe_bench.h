/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two sides of sframe_bench share.  They are apart since libsframe's
 * header and the kernel's give the same names to the same things.
 */
#ifndef _UNWIND_SFRAME_BENCH_H
#define _UNWIND_SFRAME_BENCH_H

#include <linux/types.h>

struct sframe_decoder_ctx;

/* libsframe's view of a section, which must stay; NULL if it does not like it */
struct sframe_decoder_ctx *libsframe_open(const u8 *bytes, size_t size);
void libsframe_close(struct sframe_decoder_ctx *ctx);

/*
 * Look up each of @num addresses, relative to the section, by one call of
 * sframe_find_fre(), and store the CFA's offset that it finds.
 */
int libsframe_lookups(const struct sframe_decoder_ctx *ctx, const s64 *addrs,
		      s32 *cfas, u32 num);

#endif /* _UNWIND_SFRAME_BENCH_H */
