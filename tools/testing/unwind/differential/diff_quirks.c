// SPDX-License-Identifier: GPL-2.0
/*
 * Where libsframe is wrong: a table for each case, with what the specification
 * says about it.
 *
 * A case passes if the kernel's decoder has the right answer, and if the differ's
 * way of asking libsframe (diff_oracle.c) gets it in spite of the error.  Whether
 * libsframe still errs is printed, not judged.  If it is right by now, the case
 * can go, and with it the workaround in diff_oracle.c.
 *
 * As there are two libraries, there are two such programs, which differ in their
 * cases: diff_quirks2.c and diff_quirks3.c, for the version each reads at most.
 */
#include <stdio.h>

#include "diff_oracle.h"
#include "diff_quirks.h"
#include "lookup.h"
#include "tap.h"
#include "umem.h"

#define BASE	0x7f1234567000UL

static void check_rule(const char *who, int ret, const struct unwind_frame_rule *rule,
		       const struct unwind_frame_rule *want)
{
	if (ret)
		tap_fail("%s: %d, not %s", who, ret, frame_rule_string(want));
	else if (!frame_rule_equal(rule, want))
		tap_fail("%s: %s, not %s", who, frame_rule_string(rule),
			 frame_rule_string(want));
}

static void run_quirk(const struct quirk *quirk)
{
	struct sframe_section sec;
	struct unwind_frame_rule rule;
	struct oracle *oracle;
	struct sfb_image img;
	const char *broken;
	sframe_decoder_ctx *ctx;
	int ret, err;

	tap_begin("diff: libsframe and %s", quirk->name);
	sfb_build(&img, &quirk->table);

	umem_map(BASE, img.bytes, img.size);
	CHECK_EQ(sframe_read_header(&sec, BASE, img.size, SFB_AMD64), 0);
	ret = lookup_rule(&sec, BASE + quirk->offset, &rule, &broken);
	check_rule("the kernel", ret, &rule, &quirk->want);
	umem_unmap_all();

	oracle = oracle_open(img.bytes, img.size);
	ret = oracle_find_rule(oracle, quirk->offset, &rule);
	check_rule("the differ", ret, &rule, &quirk->want);
	oracle_close(oracle);

	ctx = sframe_decode((const char *)img.bytes, img.size, &err);
	printf("# libsframe for version %u is %s about %s\n",
	       LIBSFRAME_MAX_VERSION,
	       quirk->errs(ctx, quirk->offset) ? "wrong" : "right (now)",
	       quirk->name);
	sframe_decoder_free(&ctx);

	sfb_free(&img);
}

int main(void)
{
	size_t i;

	for (i = 0; i < num_quirks; i++)
		run_quirk(&quirks[i]);
	return tap_finish();
}
