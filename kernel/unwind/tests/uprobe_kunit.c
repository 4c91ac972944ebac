// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of uprobe.c, with a made-up state of the task: in a real task, the moments that
 * matter are only a few instructions long.
 */

#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/uprobes.h>

#include "../uprobe.h"
#include "user_fixture.h"

#define COPY	0x700000UL
#define PROBED	0x400100UL

/* While it has this state, the task does not enter user space */
static unsigned long probed_ip(struct uprobe_task *utask, unsigned long ip)
{
	unsigned long ret;

	current->utask = utask;
	ret = unwind_uprobe_ip(ip);
	current->utask = NULL;
	return ret;
}

/* The copy of an instruction, and the address after it if it fills its slot */
static void uprobe_copy(struct kunit *test)
{
	struct uprobe_task utask = {
		.active_uprobe = (void *)1,
		.xol_vaddr = COPY,
		.vaddr = PROBED,
	};

	KUNIT_ASSERT_NULL(test, current->utask);
	KUNIT_EXPECT_EQ(test, probed_ip(&utask, COPY), PROBED);
	KUNIT_EXPECT_EQ(test, probed_ip(&utask, COPY + 4), PROBED + 4);
	KUNIT_EXPECT_EQ(test, probed_ip(&utask, COPY + UPROBE_XOL_SLOT_BYTES),
			PROBED + UPROBE_XOL_SLOT_BYTES);
	KUNIT_EXPECT_EQ(test, probed_ip(&utask, COPY + UPROBE_XOL_SLOT_BYTES + 1),
			COPY + UPROBE_XOL_SLOT_BYTES + 1);
	KUNIT_EXPECT_EQ(test, probed_ip(&utask, COPY - 1), COPY - 1);
	KUNIT_EXPECT_EQ(test, probed_ip(&utask, PROBED), PROBED);

	utask.active_uprobe = NULL;
	KUNIT_EXPECT_EQ(test, probed_ip(&utask, COPY), COPY);
}

/* The return address found, and the end of that function's frame; 0 if there is none */
static unsigned long record_ra(struct uprobe_task *utask, unsigned long *sp,
			       unsigned long fp)
{
	unsigned long ra = uprobe_get_trampoline_vaddr();
	bool found;

	current->utask = utask;
	found = unwind_uretprobe_record_ra(&ra, sp, fp);
	current->utask = NULL;
	return found ? ra : 0;
}

static void expect_frame(struct kunit *test, struct uprobe_task *utask,
			 unsigned long sp, unsigned long fp,
			 unsigned long ra, unsigned long end)
{
	KUNIT_EXPECT_EQ(test, record_ra(utask, &sp, fp), ra);
	KUNIT_EXPECT_EQ(test, sp, end);
}

/*
 * A handler and the function that it has interrupted: the handler has a stack of its own,
 * at higher addresses
 */
static void uretprobe_two_stacks(struct kunit *test)
{
	struct return_instance interrupted = { .stack = 0x10080, .orig_ret_vaddr = 0x4000 };
	struct return_instance handler = {
		.stack = 0x20080,
		.orig_ret_vaddr = 0x5000,
		.next = &interrupted,
	};
	struct uprobe_task utask = { .return_instances = &handler };

	KUNIT_ASSERT_NULL(test, current->utask);
	/* The handler's; a trampoline without a frame of its own has called it */
	expect_frame(test, &utask, 0x20010, 0x20080, 0x5000, 0x20080);
	expect_frame(test, &utask, 0x20010, 0, 0x5000, 0x20080);
	/* The function's: its caller's record is not in the handler's frame */
	expect_frame(test, &utask, 0x10010, 0x10100, 0x4000, 0x10080);
	expect_frame(test, &utask, 0x10010, 0x10080, 0x4000, 0x10080);
	/* The caller uses the register for something else: the first possible entry is taken */
	expect_frame(test, &utask, 0x10010, 1, 0x5000, 0x20080);
	/* No entry */
	expect_frame(test, &utask, 0x20090, 0x20100, 0, 0x20090);
}

/* An entry left by longjmp() is further in */
static void uretprobe_left_behind(struct kunit *test)
{
	struct return_instance outer = { .stack = 0x10080, .orig_ret_vaddr = 0x4000 };
	struct return_instance left = {
		.stack = 0x10000,
		.orig_ret_vaddr = 0x5000,
		.next = &outer,
	};
	struct uprobe_task utask = { .return_instances = &left };

	KUNIT_ASSERT_NULL(test, current->utask);
	expect_frame(test, &utask, 0x10010, 0x10100, 0x4000, 0x10080);
	expect_frame(test, &utask, 0x10010, 0, 0x4000, 0x10080);
}

static struct kunit_case uprobe_cases[] = {
	KUNIT_CASE(uprobe_copy),
	KUNIT_CASE(uretprobe_two_stacks),
	KUNIT_CASE(uretprobe_left_behind),
	{}
};

static struct kunit_suite uprobe_suite = {
	.name = "unwind_uprobe",
	.init = user_test_init,
	.test_cases = uprobe_cases,
};

kunit_test_suite(uprobe_suite);
