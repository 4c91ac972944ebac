// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the SFrame decoder: the cases of sframe_cases.h, one result
 * each, on real user memory, with page faults and without.
 *
 * A section ends where a page does, and the next page is not accessible: a
 * lookup that reads beyond the end returns -EFAULT instead of the answer.
 */

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/unwind_base.h>

#include "rule_compare.h"
#include "sframe_cases.h"
#include "sframe_user.h"

/* @piece of a section at @base; the rest of its pages is accessible, too */
static void put_piece(struct kunit *test, unsigned long base,
		      const struct sframe_case_image *image,
		      const struct sframe_case_piece *piece)
{
	unsigned long start = base + piece->at, end = start + piece->len, addr;

	if (!piece->len)
		return;
	addr = vm_mmap(NULL, start & PAGE_MASK,
		       PAGE_ALIGN(end) - (start & PAGE_MASK),
		       PROT_READ | PROT_WRITE,
		       MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED, 0);
	KUNIT_ASSERT_EQ(test, addr, start & PAGE_MASK);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)start,
					   image->img.bytes + piece->pos,
					   piece->len), 0);
}

/* The section in user memory, its first piece up to the end of a page */
static unsigned long put_section(struct kunit *test,
				 const struct sframe_case_image *image)
{
	const struct sframe_case_piece *first = &image->pieces[0];
	const struct sframe_case_piece *last = first + image->num_pieces - 1;
	unsigned long skip = -(unsigned long)first->len & ~PAGE_MASK, addr;
	unsigned int i;

	addr = kunit_vm_mmap(test, NULL, 0,
			     PAGE_ALIGN(skip + last->at + last->len) + PAGE_SIZE,
			     PROT_NONE, MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, addr, 0);
	KUNIT_ASSERT_LT(test, addr, TASK_SIZE);
	for (i = 0; i < image->num_pieces; i++)
		put_piece(test, addr + skip, image, &image->pieces[i]);
	return addr + skip;
}

static void run_lookup(struct kunit *test, const struct sframe_section *sec,
		       const struct sframe_case_lookup *l, enum user_faults faults)
{
	struct unwind_frame_rule rule;
	int ret;

	ret = user_find_rule(sec, l->offset, faults, &rule);
	if (ret != l->error)
		KUNIT_FAIL(test, "v%u, flags %u, at %#llx, faults %d: %d, not %d",
			   sec->version, sec->flags, l->offset, faults, ret,
			   l->error);
	else if (!ret && !frame_rule_equal(&rule, &l->want))
		KUNIT_FAIL(test, "v%u, flags %u, at %#llx, faults %d: %s, not %s",
			   sec->version, sec->flags, l->offset, faults,
			   frame_rule_string(&rule), frame_rule_string(&l->want));
}

static void free_image(void *image)
{
	sfb_free(&((struct sframe_case_image *)image)->img);
}

static void run_variant(struct kunit *test, const struct sframe_case *c,
			const struct sframe_case_variant *v)
{
	struct sframe_case_lookup *lookups;
	struct sframe_case_image *image;
	struct sframe_section sec;
	unsigned long start;
	unsigned int num, i;
	int ret;

	lookups = kunit_kcalloc(test, CASE_MAX_LOOKUPS, sizeof(*lookups),
				GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, lookups);
	image = kunit_kzalloc(test, sizeof(*image), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, image);
	KUNIT_ASSERT_EQ(test, sframe_case_build(c, v, image), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_image, image),
			0);

	start = put_section(test, image);
	ret = sframe_read_header(&sec, start, image->size, c->abi);
	if (ret != (c->header ? c->error : 0))
		KUNIT_FAIL(test, "v%u, flags %u, header: %d", v->version,
			   v->flags, ret);
	if (ret)
		return;
	num = sframe_case_lookups(c, lookups);
	for (i = 0; i < num; i++) {
		run_lookup(test, &sec, &lookups[i], USER_FAULTS);
		run_lookup(test, &sec, &lookups[i], USER_NO_FAULTS);
	}
}

static void run_case(struct kunit *test)
{
	struct sframe_case_variant v[CASE_MAX_VARIANTS];
	const struct sframe_case *c = test->param_value;
	unsigned int num = sframe_case_variants(c, v), i;

	KUNIT_EXPECT_NE(test, num, 0);
	for (i = 0; i < num; i++)
		run_variant(test, c, &v[i]);
}

static const void *next_case(const struct sframe_case_set *set,
			     const struct sframe_case *prev, char *desc)
{
	const struct sframe_case *c = prev ? prev + 1 : set->cases;

	if (c == set->cases + set->num)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s",
		 c->version == 2 ? "v2, " : c->version == 3 ? "v3, " : "",
		 c->name);
	return c;
}

/* As KUNIT_ARRAY_PARAM(), for an array whose size is known where it is defined */
#define CASE_SET_PARAM(name)						\
static const void *UNWIND_GEN_PARAMS(name)				\
{									\
	return next_case(&sframe_##name##_set, prev, desc);		\
}

CASE_SET_PARAM(header)
CASE_SET_PARAM(amd64)
CASE_SET_PARAM(aarch64)
CASE_SET_PARAM(flex)
CASE_SET_PARAM(lookup)
CASE_SET_PARAM(invalid)
CASE_SET_PARAM(limit)
CASE_SET_PARAM(unreadable)

#define CASE_SET_TEST(set) \
	{ .run_case = run_case, .name = "sframe_" #set, \
	  .generate_params = set##_gen_params, .module_name = KBUILD_MODNAME }

static struct kunit_case sframe_cases[] = {
	CASE_SET_TEST(header),
	CASE_SET_TEST(amd64),
	CASE_SET_TEST(aarch64),
	CASE_SET_TEST(flex),
	CASE_SET_TEST(lookup),
	CASE_SET_TEST(invalid),
	CASE_SET_TEST(limit),
	CASE_SET_TEST(unreadable),
	{}
};

static struct kunit_suite sframe_suite = {
	.name = "unwind_sframe",
	.test_cases = sframe_cases,
};

kunit_test_suite(sframe_suite);

MODULE_DESCRIPTION("KUnit tests of the SFrame decoder");
MODULE_LICENSE("GPL");
