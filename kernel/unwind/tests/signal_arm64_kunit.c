// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the frame loop at arm64's signal frames, which the tests lay out as
 * the kernel does, with the frame record above.  They are found by the stack pointer and
 * by that record, at each instruction of the trampoline.  Some are not what they seem.
 *
 * No stack may have the return address that is in the record.
 */

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <asm/ucontext.h>
#include <asm/unwind_arch.h>

#include "sframe_build.h"
#include "sframe_data.h"
#include "user_fixture.h"

/* Places in the text */
#define TRAMPOLINE	0x400
#define HANDLER		0x800
#define INTERRUPTED	0x900
#define CALLER		0xa00
#define NEVER		0xb00

/* Words of the stack: the signal's frame, the record above, the interrupted frame */
#define FRAME		64
#define RECORD		(FRAME + UNWIND_ARCH_SIGNAL_RECORD / sizeof(u64))
#define OUTSIDE		(RECORD + 40)

/* Instructions of the trampoline */
#define INSN		sizeof(u32)

static const __le32 trampoline[] = {
	cpu_to_le32(0xd2801168),	/* mov x8, #139 */
	cpu_to_le32(0xd4000001),	/* svc #0 */
};

struct signal_frame {
	struct siginfo	info;
	struct ucontext	uc;
};

static void put_text_at(struct kunit *test, unsigned long at, const void *insns, size_t size)
{
	struct user_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)(t->text + at), insns, size), 0);
}

static void put_text(struct kunit *test, const void *insns, size_t size)
{
	put_text_at(test, TRAMPOLINE, insns, size);
}

/* A function without a rule that has a frame record */
static void put_record_user(struct kunit *test, unsigned long at)
{
	const __le32 insn = cpu_to_le32(0x910003bf);	/* mov sp, x29 */

	put_text_at(test, at, &insn, sizeof(insn));
}

/* A frame at a word of the stack */
static void put_frame(struct kunit *test, unsigned int index,
		      const struct sigcontext *sc)
{
	const struct _aarch64_ctx head = {
		.magic = FPSIMD_MAGIC,
		.size = sizeof(struct fpsimd_context),
	};
	struct user_test *t = test->priv;
	struct sigcontext __user *to = (void __user *)
		(word_addr(t, index) + offsetof(struct signal_frame,
						uc.uc_mcontext));

	KUNIT_ASSERT_EQ(test, copy_to_user(to, sc,
					   offsetof(struct sigcontext, __reserved)),
			0);
	KUNIT_ASSERT_EQ(test, copy_to_user(to->__reserved, &head, sizeof(head)), 0);
}

/* Registers of the interrupted frame, which has a frame record for its caller */
static struct sigcontext *interrupted(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct sigcontext *sc;

	sc = kunit_kzalloc(test, sizeof(*sc), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sc);
	sc->pc = t->text + INTERRUPTED;
	sc->sp = word_addr(t, OUTSIDE);
	sc->regs[29] = word_addr(t, OUTSIDE + 10);
	sc->regs[30] = t->text + NEVER;
	put_word(test, OUTSIDE + 10, 0);
	put_word(test, OUTSIDE + 11, t->text + CALLER);

	put_text(test, trampoline, sizeof(trampoline));
	put_record_user(test, HANDLER);
	put_record_user(test, INTERRUPTED);
	put_frame(test, FRAME, sc);
	put_word(test, RECORD, sc->regs[29]);
	put_word(test, RECORD + 1, sc->regs[30]);
	return sc;
}

/* A handler with a frame record, somewhere in its frame */
static void start_in_handler(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_word(test, FRAME - 12, word_addr(t, RECORD));
	put_word(test, FRAME - 11, t->text + TRAMPOLINE);
	start_at(test, t->text + HANDLER, word_addr(t, FRAME - 20),
		 word_addr(t, FRAME - 12));
}

/* By the record: the handler's frame need not be known */
static void signal_by_record(struct kunit *test)
{
	struct user_test *t = test->priv;

	interrupted(test);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + HANDLER,
		     t->text + TRAMPOLINE, t->text + INTERRUPTED,
		     t->text + CALLER);
}

/* By the stack pointer, which a table gives; no record is needed */
static void signal_by_table(struct kunit *test)
{
	struct user_test *t = test->priv;

	interrupted(test);
	put_word(test, RECORD, 0);
	put_word(test, FRAME - 1, t->text + TRAMPOLINE);
	start_at(test, t->text + TEST_SP_FUNC, word_addr(t, FRAME - 1), 1);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + TEST_SP_FUNC,
		     t->text + TRAMPOLINE, t->text + INTERRUPTED,
		     t->text + CALLER);
}

/* A sample in the trampoline itself, at each of its instructions */
static void signal_topmost(struct kunit *test)
{
	struct user_test *t = test->priv;
	unsigned long ip = t->text + TRAMPOLINE;

	interrupted(test);
	start_at(test, ip, word_addr(t, FRAME), word_addr(t, RECORD));
	EXPECT_STACK(test, UNWIND_STOP_END_FP, ip, t->text + INTERRUPTED,
		     t->text + CALLER);

	ip += INSN;
	set_regs(t, ip, word_addr(t, FRAME), word_addr(t, RECORD));
	t->regs.regs[8] = 139;
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, ip, t->text + INTERRUPTED,
		     t->text + CALLER);

	/* Any other system call is no end of a handler: it is in some function */
	t->regs.regs[8] = 138;
	put_word(test, RECORD, 0);
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, ip, t->text + NEVER);
}

/*
 * The trampoline interrupted by another signal, at each instruction. The frames
 * overlap, but not in the words that are read.
 */
static void signal_nested(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct sigcontext *sc = interrupted(test);

	put_frame(test, FRAME + 200, sc);
	sc->pc = t->text + TRAMPOLINE;
	sc->sp = word_addr(t, FRAME + 200);
	put_frame(test, FRAME, sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + HANDLER,
		     t->text + TRAMPOLINE, t->text + TRAMPOLINE,
		     t->text + INTERRUPTED, t->text + CALLER);

	/* The system call's number is in a saved register */
	sc->pc = t->text + TRAMPOLINE + INSN;
	sc->regs[8] = 139;
	put_frame(test, FRAME, sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + HANDLER,
		     t->text + TRAMPOLINE, t->text + TRAMPOLINE + INSN,
		     t->text + INTERRUPTED, t->text + CALLER);
}

/* The table of all text, as start() has left it */
static void use_funcs(struct kunit *test, const struct sfb_func *funcs, unsigned int nr)
{
	const struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED, .abi = UNWIND_ARCH_SFRAME_ABI,
		.funcs = funcs, .num_funcs = nr,
	};
	struct user_test *t = test->priv;
	struct sfb_image img = {};

	KUNIT_ASSERT_EQ(test, sfb_build(&img, &table), 0);
	KUNIT_EXPECT_EQ(test, copy_to_user((void __user *)t->section, img.bytes,
					   img.size), 0);
	use_table_of(test, img.size);
	sfb_free(&img);
}

/* All registers of the interrupted frame are known, the link register too */
static void signal_leaf(struct kunit *test)
{
	static const struct sfb_fre fres[] = { SFB_FRE(0, SFB_SP, 0, 0) };
	const struct sfb_func funcs[] = {
		{ .start = PAGE_SIZE + INTERRUPTED, .size = INSN, SFB_FRES(fres) },
		{ .start = PAGE_SIZE + CALLER - INSN, .size = 2 * INSN },
	};
	struct sigcontext *sc = interrupted(test);
	struct user_test *t = test->priv;

	/* Tags in registers do not count */
	sc->sp |= 0xa5UL << 56;
	sc->regs[29] = 0xa5UL << 56;
	sc->regs[30] = t->text + CALLER;
	put_frame(test, FRAME, sc);
	start_in_handler(test);
	use_funcs(test, funcs, ARRAY_SIZE(funcs));
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + HANDLER,
		     t->text + TRAMPOLINE, t->text + INTERRUPTED,
		     t->text + CALLER);
	KUNIT_EXPECT_EQ(test, t->state.sp, word_addr(t, OUTSIDE));
	KUNIT_EXPECT_EQ(test, t->state.fp, 0);
}

/*
 * The trampoline lies right after a function that has a table, so the lookup gives the
 * function's last rule. The function's frame is on the stack, or is not.
 */
static void signal_behind_function(struct kunit *test)
{
	static const struct sfb_fre returns[] = { SFB_FRE(0, SFB_SP, 0, 0) };
	static const struct sfb_fre calls[] = {
		SFB_FRE(0, SFB_SP, 0, 0),
		SFB_FRE(4, SFB_SP, 0, 32, -24, -32),
	};
	static const u32 prologue[] = {
		0xa9be7bfd,	/* stp x29, x30, [sp, #-32]! */
		0x910003fd,	/* mov x29, sp */
	};
	const struct sfb_func funcs[][1] = {
		{ { .start = PAGE_SIZE + TRAMPOLINE - 2 * INSN, .size = 2 * INSN,
		    SFB_FRES(returns) } },
		{ { .start = PAGE_SIZE + TRAMPOLINE - 3 * INSN, .size = 3 * INSN,
		    SFB_FRES(calls) } },
	};
	struct sigcontext *sc = interrupted(test);
	struct user_test *t = test->priv;
	__le32 __user *code = (__le32 __user *)(t->text + TRAMPOLINE - 3 * INSN);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(funcs); i++) {
		start_in_handler(test);
		use_funcs(test, funcs[i], 1);
		EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + HANDLER,
			     t->text + TRAMPOLINE, t->text + INTERRUPTED,
			     t->text + CALLER);
	}

	/* The interrupted address is not in user space: the rule must not be used instead */
	sc->pc = (unsigned long)signal_behind_function;
	put_frame(test, FRAME, sc);
	start_in_handler(test);
	use_funcs(test, funcs[1], 1);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + HANDLER,
		     t->text + TRAMPOLINE);

	/* The function itself, in its last call: there is no signal frame */
	for (i = 0; i < ARRAY_SIZE(prologue); i++)
		KUNIT_ASSERT_EQ(test, put_user(cpu_to_le32(prologue[i]), code + i), 0);
	put_word(test, FRAME - 12, word_addr(t, RECORD + 2));
	put_word(test, RECORD + 2, 0);
	put_word(test, RECORD + 3, t->text + CALLER);
	start(test);
	use_funcs(test, funcs[1], 1);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + HANDLER,
		     t->text + TRAMPOLINE, t->text + CALLER);
}

/* A signed address that failed authentication: the rest of the stack is still there */
static void signal_astray(struct kunit *test)
{
	struct sigcontext *sc = interrupted(test);
	struct user_test *t = test->priv;

	sc->pc |= 1UL << 54;
	put_frame(test, FRAME, sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + HANDLER,
		     t->text + TRAMPOLINE, t->text + INTERRUPTED,
		     t->text + CALLER);

	put_word(test, OUTSIDE, 0);
	put_word(test, OUTSIDE + 1, t->text + CALLER);
	start_at(test, t->text + INTERRUPTED + (1UL << 54), word_addr(t, OUTSIDE),
		 word_addr(t, OUTSIDE));
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + INTERRUPTED, t->text + CALLER);
}

/* Frames that lie, or are not where the unwinder looks for them */
static void signal_hostile(struct kunit *test)
{
	struct sigcontext *sc = interrupted(test);
	struct user_test *t = test->priv;

	/* A jump or a call to nowhere may be why there was a signal */
	sc->pc = 0x111;
	sc->regs[30] = 0;
	put_frame(test, FRAME, sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + HANDLER,
		     t->text + TRAMPOLINE, 0x111, t->text + CALLER);
	sc->regs[30] = t->text + CALLER + 4;
	put_frame(test, FRAME, sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + HANDLER,
		     t->text + TRAMPOLINE, 0x111, t->text + CALLER + 4,
		     t->text + CALLER);
	sc->regs[30] = t->text + NEVER;

	sc->pc = (unsigned long)signal_hostile;
	put_frame(test, FRAME, sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_BAD_FRAME, t->text + HANDLER,
		     t->text + TRAMPOLINE);

	/* A frame that leads to itself repeats until there is no more room */
	sc->pc = t->text + TRAMPOLINE;
	sc->sp = word_addr(t, FRAME);
	put_frame(test, FRAME, sc);
	start_in_handler(test);
	take_stack(test);
	KUNIT_EXPECT_EQ(test, t->trace.nr, MAX_FRAMES);
	KUNIT_EXPECT_EQ(test, t->state.stop, UNWIND_STOP_LIMIT);

	/* With extra space, the record does not show where the frame is */
	put_word(test, FRAME - 12, word_addr(t, RECORD + 2));
	put_word(test, RECORD + 2, sc->regs[29]);
	put_word(test, RECORD + 3, sc->regs[30]);
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_UNREADABLE, t->text + HANDLER,
		     t->text + TRAMPOLINE);

	start_at(test, t->text + TRAMPOLINE, -8UL, word_addr(t, RECORD));
	EXPECT_STACK(test, UNWIND_STOP_UNREADABLE, t->text + TRAMPOLINE);
}

static struct kunit_case signal_cases[] = {
	KUNIT_CASE(signal_by_record),
	KUNIT_CASE(signal_by_table),
	KUNIT_CASE(signal_topmost),
	KUNIT_CASE(signal_nested),
	KUNIT_CASE(signal_leaf),
	KUNIT_CASE(signal_behind_function),
	KUNIT_CASE(signal_astray),
	KUNIT_CASE(signal_hostile),
	{}
};

static struct kunit_suite signal_suite = {
	.name = "unwind_signal_arm64",
	.init = user_test_init,
	.test_cases = signal_cases,
};

kunit_test_suite(signal_suite);

MODULE_DESCRIPTION("KUnit tests of signal frames on arm64");
MODULE_LICENSE("GPL");
