// SPDX-License-Identifier: GPL-2.0
/*
 * The cases that KUnit runs on user memory, here under sanitizers.
 *
 * Each piece of a section is a separate buffer in its exact size. Reads of missing pieces
 * are allowed, and fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "sframe_cases.h"
#include "sframe_test.h"
#include "umem.h"

/* Put the section into memory; the caller frees @bufs */
static void map_pieces(const struct sframe_case_image *image, u8 *bufs[2])
{
	unsigned int i;

	for (i = 0; i < image->num_pieces; i++) {
		const struct sframe_case_piece *p = &image->pieces[i];

		bufs[i] = malloc(p->len);
		memcpy(bufs[i], image->img.bytes + p->pos, p->len);
		umem_map(DEFAULT_BASE + p->at, bufs[i], p->len);
	}
}

static void run_lookups(const struct sframe_case *c, struct env *env,
			const char *variant)
{
	struct sframe_case_lookup lookups[CASE_MAX_LOOKUPS];
	unsigned int num = sframe_case_lookups(c, lookups), i;
	struct unwind_frame_rule rule;

	for (i = 0; i < num; i++) {
		const struct sframe_case_lookup *l = &lookups[i];
		int ret = env_find(env, l->offset, &rule);

		if (ret != l->error)
			tap_fail("%s, at %#llx: %d, not %d", variant,
				 (long long)l->offset, ret, l->error);
		else if (!ret && !frame_rule_equal(&rule, &l->want))
			tap_fail("%s, at %#llx: %s, not %s", variant,
				 (long long)l->offset, frame_rule_string(&rule),
				 frame_rule_string(&l->want));
	}
}

static void run_variant(const struct sframe_case *c,
			const struct sframe_case_variant *v)
{
	struct sframe_case_image image;
	struct env env = { .base = DEFAULT_BASE };
	u8 *bufs[2] = { NULL, NULL };
	char variant[32];
	int ret;

	snprintf(variant, sizeof(variant), "v%u, flags %u", v->version, v->flags);
	sframe_case_build(c, v, &image);
	map_pieces(&image, bufs);
	umem_allow_holes(c->hole.base);

	ret = sframe_read_header(&env.sec, env.base, image.size, c->abi);
	if (ret != (c->header ? c->error : 0))
		tap_fail("%s, header: %d", variant, ret);
	if (!ret)
		run_lookups(c, &env, variant);

	umem_allow_holes(false);
	umem_unmap_all();
	free(bufs[0]);
	free(bufs[1]);
	sfb_free(&image.img);
}

static void run_set(const struct sframe_case_set *set)
{
	struct sframe_case_variant v[CASE_MAX_VARIANTS];
	unsigned int num, i, k;

	for (i = 0; i < set->num; i++) {
		const struct sframe_case *c = &set->cases[i];

		num = sframe_case_variants(c, v);
		tap_begin("%s: %s%s", set->name,
			  c->version == 2 ? "v2, " : c->version == 3 ? "v3, " : "",
			  c->name);
		if (!num)
			tap_fail("there is no such section");
		for (k = 0; k < num; k++)
			run_variant(c, &v[k]);
	}
}

void test_cases(void)
{
	run_set(&sframe_header_set);
	run_set(&sframe_amd64_set);
	run_set(&sframe_aarch64_set);
	run_set(&sframe_flex_set);
	run_set(&sframe_lookup_set);
	run_set(&sframe_invalid_set);
	run_set(&sframe_limit_set);
	run_set(&sframe_unreadable_set);
}
