// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of a lookup, by the size of the table: of the kernel's decoder,
 * compiled as the kernel compiles it, and of libsframe's, on the same sections and
 * addresses.
 *
 * Run it under callgrind, with counting limited to sframe_find_rule() and
 * sframe_find_fre(): the figures have no other parts, and nothing is deducted. Each
 * series of lookups ends with a dump of the counts, named
 *
 *	bench IMPLEMENTATION VERSION FDES FRES_PER_FDE LOOKUPS
 *
 * Without callgrind the program only checks that both find the same FREs.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/kernel.h>

#include <valgrind/callgrind.h>

#include "sframe.h"
#include "sframe_bench.h"
#include "sframe_build.h"
#include "sframe_gen.h"

#define LOOKUPS		256
#define BYTES_PER_FRE	4
#define FEW_FDES	10
#define FEW_FRES	4

static void __noreturn die(const char *why)
{
	fprintf(stderr, "sframe_bench: %s\n", why);
	exit(1);
}

/* Rows like a compiler's: the frame is set up, lives, and is torn down */
static struct sfb_fre *make_fres(u32 num)
{
	struct sfb_fre *fres = calloc(num, sizeof(*fres));
	u32 i;

	for (i = 0; i < num; i++) {
		struct sfb_fre plain = SFB_FRE(i * BYTES_PER_FRE, SFB_SP, 0,
					       8 + i % 15 * 8);
		struct sfb_fre saved = SFB_FRE(i * BYTES_PER_FRE, SFB_SP, 0,
					       8 + i % 15 * 8, -16);

		fres[i] = i % 4 ? saved : plain;
	}
	return fres;
}

static void make_table(struct sfb_image *img, u8 version, u32 fdes, u32 num_fres)
{
	struct sfb_func *funcs = calloc(fdes, sizeof(*funcs));
	struct sfb_fre *fres = make_fres(num_fres);
	const u32 size = num_fres * BYTES_PER_FRE;
	const struct sfb_table table = {
		.version = version, .flags = SFB_SORTED | SFB_PCREL,
		.abi = SFB_AMD64, .fixed_ra = -8, .num_funcs = fdes,
		.funcs = funcs,
	};
	u32 i;

	for (i = 0; i < fdes; i++)
		funcs[i] = (struct sfb_func){
			.start = 0x10000000 + (s64)i * size, .size = size,
			.fre_type = size <= 0x100 ? 0 : size <= 0x10000 ? 1 : 2,
			.fres = fres, .num_fres = num_fres,
		};
	sfb_build(img, &table);
	free(fres);
	free(funcs);
}

static void dump(const char *name, u8 version, u32 fdes, u32 fres)
{
	char title[80];

	snprintf(title, sizeof(title), "bench %s %u %u %u %u", name, version,
		 fdes, fres, LOOKUPS);
	CALLGRIND_DUMP_STATS_AT(title);
}

static void bench_kernel(const struct sfb_image *img, const s64 *addrs,
			 s32 *cfas)
{
	unsigned long base = (unsigned long)img->bytes;
	struct sframe_section sec;
	struct unwind_frame_rule rule;
	u32 i;

	if (sframe_read_header(&sec, base, img->size, SFB_AMD64))
		die("the kernel's decoder does not like the section");
	for (i = 0; i < LOOKUPS; i++) {
		if (sframe_find_rule(&sec, base + addrs[i], &rule))
			die("the kernel's decoder does not find an FRE");
		cfas[i] = rule.cfa.offset;
	}
}

static void bench(u8 version, u32 fdes, u32 fres)
{
	s32 ours[LOOKUPS], theirs[LOOKUPS];
	struct sframe_decoder_ctx *ctx;
	struct sfb_image img;
	s64 addrs[LOOKUPS];
	u64 state = 1;
	u32 i;

	make_table(&img, version, fdes, fres);
	ctx = libsframe_open(img.bytes, img.size);
	if (!ctx)
		die("libsframe does not like the section");
	for (i = 0; i < LOOKUPS; i++)
		addrs[i] = 0x10000000 + gen_random(&state) %
			   ((u64)fdes * fres * BYTES_PER_FRE);

	CALLGRIND_START_INSTRUMENTATION;
	CALLGRIND_ZERO_STATS;
	bench_kernel(&img, addrs, ours);
	dump("kernel", version, fdes, fres);
	if (libsframe_lookups(ctx, addrs, theirs, LOOKUPS))
		die("libsframe does not find an FRE");
	dump("libsframe", version, fdes, fres);
	CALLGRIND_STOP_INSTRUMENTATION;

	for (i = 0; i < LOOKUPS; i++)
		if (ours[i] != theirs[i])
			die("the decoders do not find the same FREs");
	libsframe_close(ctx);
	sfb_free(&img);
}

int main(void)
{
	u32 version, n;

	for (version = 2; version <= 3; version++) {
		for (n = 10; n <= 1000000; n *= 10)
			bench(version, n, FEW_FRES);
		for (n = 1; n <= 10000; n *= 10)
			bench(version, FEW_FDES, n);
	}
	return 0;
}
