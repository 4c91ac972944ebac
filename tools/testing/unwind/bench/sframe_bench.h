/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for both sides of sframe_bench. The sides are separate files, because
 * libsframe's header and the kernel's use the same names.
 */
#ifndef _UNWIND_SFRAME_BENCH_H
#define _UNWIND_SFRAME_BENCH_H

#include <linux/types.h>

struct sframe_decoder_ctx;

/* Open a section for libsframe, which must stay; NULL if libsframe refuses it */
struct sframe_decoder_ctx *libsframe_open(const u8 *bytes, size_t size);
void libsframe_close(struct sframe_decoder_ctx *ctx);

/*
 * Look up each of @num addresses, relative to the section, by one call of
 * sframe_find_fre(), and store the CFA's offset that it finds.
 */
int libsframe_lookups(const struct sframe_decoder_ctx *ctx, const s64 *addrs,
		      s32 *cfas, u32 num);

#endif /* _UNWIND_SFRAME_BENCH_H */
