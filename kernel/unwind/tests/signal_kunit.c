// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the frame loop at signal frames, which the tests lay out as the
 * kernel does: trampolines in all spellings, at each of their instructions, for
 * 64-bit and 32-bit handlers; and frames that are not what they seem.
 */

#include <kunit/test.h>
#include <linux/compat.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "sframe_build.h"
#include "sframe_data.h"
#include "user_fixture.h"

#ifdef CONFIG_X86_64

#include <asm/ia32.h>
#include <asm/sigframe.h>
#include <asm/ucontext.h>

/* The trampoline's place in the text */
#define TRAMPOLINE	0x400
/* Word of the stack at which the handler's return leaves the stack pointer */
#define FRAME		64

struct trampoline {
	u8		insns[9];
	u8		len;
	u8		syscall;	/* where that instruction is */
};

static const struct trampoline movq = {
	{ 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 }, 9, 7
};

static const struct trampoline movl = {
	{ 0xb8, 15, 0, 0, 0, 0x0f, 0x05 }, 7, 5
};

static void put_text(struct kunit *test, unsigned int offset, const u8 *insns,
		     unsigned int len)
{
	struct user_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)(t->text + offset),
					   insns, len), 0);
}

/* A 64-bit frame at a word of the stack: the interrupted frame's registers */
static void put_frame(struct kunit *test, unsigned int index,
		      const struct sigcontext_64 *sc)
{
	struct user_test *t = test->priv;
	unsigned long addr = word_addr(t, index) +
			     offsetof(struct ucontext, uc_mcontext);

	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)addr, sc, sizeof(*sc)),
			0);
}

/* Instructions that show a frame record */
static const u8 leave_ret[] = { 0xc9, 0xc3 };

/* A handler without table that keeps frame pointers, called by the trampoline */
static void start_in_handler(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_text(test, 0x800, leave_ret, sizeof(leave_ret));
	put_word(test, FRAME - 2, 0x77);
	put_word(test, FRAME - 1, t->text + TRAMPOLINE);
	start_at(test, t->text + 0x800, word_addr(t, FRAME - 4),
		 word_addr(t, FRAME - 2));
}

static void interrupted_by(struct kunit *test, const struct trampoline *code)
{
	struct user_test *t = test->priv;
	struct sigcontext_64 sc = {
		.ip = t->text + 0x900,
		.sp = word_addr(t, 200),
		.bp = word_addr(t, 210),
		.cs = __USER_CS,
	};

	put_text(test, TRAMPOLINE, code->insns, code->len);
	put_text(test, 0x900, leave_ret, sizeof(leave_ret));
	put_frame(test, FRAME, &sc);
	put_words(test, 210, 0, t->text + 0xa00);
}

static void signal_frame(struct kunit *test)
{
	const struct trampoline *codes[] = { &movq, &movl };
	struct user_test *t = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		interrupted_by(test, codes[i]);
		start_in_handler(test);
		EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
			     t->text + TRAMPOLINE, t->text + 0x900,
			     t->text + 0xa00);
	}
}

/* As start_in_handler(), but the frame is where the test says */
static void start_at_frame(struct kunit *test, unsigned int frame)
{
	struct user_test *t = test->priv;

	start_at(test, t->text + 0x800, word_addr(t, frame - 4),
		 word_addr(t, frame - 2));
}

/*
 * The frame is on a page that is not resident: the unwind has to wait for it, and must
 * not trust the frame pointer, which skips the interrupted frame
 */
static void frame_not_resident(struct kunit *test, unsigned int frame)
{
	struct user_test *t = test->priv;
	unsigned long other = t->stack + PAGE_SIZE;
	struct sigcontext_64 sc = {
		.ip = t->text + 0x900,
		.sp = word_addr(t, frame + 100),
		.cs = __USER_CS,
	};

	put_text(test, TRAMPOLINE, movq.insns, movq.len);
	put_word(test, frame - 2, 0);
	put_word(test, frame - 1, t->text + TRAMPOLINE);
	KUNIT_ASSERT_EQ(test, vm_mmap(NULL, other, PAGE_SIZE, PROT_READ | PROT_WRITE,
				      MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED, 0),
			other);

	start_at_frame(test, frame);
	EXPECT_NEED(test, UNWIND_NEED_PAGE, t->text + 0x800, t->text + TRAMPOLINE);
	KUNIT_EXPECT_EQ(test, t->state.need_addr & PAGE_MASK, other);

	put_frame(test, frame, &sc);
	start_at_frame(test, frame);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
		     t->text + TRAMPOLINE, t->text + 0x900);
}

/* No register is on a resident page; or some are, which does not help */
static void signal_frame_not_resident(struct kunit *test)
{
	frame_not_resident(test, PAGE_SIZE / sizeof(u64) - 4);
	frame_not_resident(test, PAGE_SIZE / sizeof(u64) - 13);
}

/* A sample in the trampoline itself: at its first, and at its last instruction */
static void signal_topmost(struct kunit *test)
{
	const struct trampoline *codes[] = { &movq, &movl };
	struct user_test *t = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		unsigned long ip = t->text + TRAMPOLINE;

		interrupted_by(test, codes[i]);
		start_at(test, ip, word_addr(t, FRAME), 1);
		EXPECT_STACK(test, UNWIND_STOP_END_FP, ip, t->text + 0x900,
			     t->text + 0xa00);

		ip += codes[i]->syscall;
		set_regs(t, ip, word_addr(t, FRAME), 1);
		t->regs.ax = 15;
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_END_FP, ip, t->text + 0x900,
			     t->text + 0xa00);

		/* Any other system call is no end of a handler */
		t->regs.ax = 14;
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, ip);
	}
}

/* The interrupted stack may lie on either side of the handler's */
static void signal_other_stack(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct sigcontext_64 sc = {
		.ip = t->text + 0x900,
		.sp = word_addr(t, 10),
		.bp = word_addr(t, 20),
		.cs = __USER_CS,
	};

	interrupted_by(test, &movq);
	put_frame(test, FRAME, &sc);
	put_words(test, 20, 0, t->text + 0xb00);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
		     t->text + TRAMPOLINE, t->text + 0x900, t->text + 0xb00);
}

/* A handler interrupted by another one */
static void signal_nested(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct sigcontext_64 sc = {
		.ip = t->text + TRAMPOLINE,
		.sp = word_addr(t, FRAME + 64),
		.cs = __USER_CS,
	};

	interrupted_by(test, &movq);
	put_frame(test, FRAME, &sc);
	sc.ip = t->text + 0x900;
	sc.sp = word_addr(t, 200);
	put_frame(test, FRAME + 64, &sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
		     t->text + TRAMPOLINE, t->text + TRAMPOLINE,
		     t->text + 0x900);

	/* At its last instruction: the system call's number is in a saved register */
	sc.ip = t->text + TRAMPOLINE + movq.syscall;
	sc.sp = word_addr(t, FRAME + 64);
	sc.ax = 15;
	put_frame(test, FRAME, &sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
		     t->text + TRAMPOLINE,
		     t->text + TRAMPOLINE + movq.syscall, t->text + 0x900);
	sc.ax = 14;
	sc.bp = 1;
	put_frame(test, FRAME, &sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, t->text + 0x800,
		     t->text + TRAMPOLINE,
		     t->text + TRAMPOLINE + movq.syscall);
}

/*
 * The interrupted frame has an exact address, and all of its registers are known:
 * at a function's first instruction, and for a rule that needs a register.
 */
static void signal_table(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct sigcontext_64 sc = {
		.ip = t->text + TEST_SP_FUNC,
		.sp = word_addr(t, 200),
		.cs = __USER_CS,
	};

	interrupted_by(test, &movq);
	put_frame(test, FRAME, &sc);
	put_word(test, 200, t->text + TEST_END_FUNC + 1);
	start_in_handler(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + 0x800,
		     t->text + TRAMPOLINE, t->text + TEST_SP_FUNC,
		     t->text + TEST_END_FUNC + 1);

	/* CFA = *(R10 - 8) */
	sc.ip = t->text + TEST_FLEX_FUNC;
	sc.r10 = word_addr(t, 221);
	put_frame(test, FRAME, &sc);
	put_word(test, 220, word_addr(t, 203));
	put_word(test, 202, t->text + TEST_END_FUNC + 1);
	start_in_handler(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + 0x800,
		     t->text + TRAMPOLINE, t->text + TEST_FLEX_FUNC,
		     t->text + TEST_END_FUNC + 1);
}

/* The interrupted function's caller was called on a stack that lies above the signal's */
static void signal_caller_on_other_stack(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct sigcontext_64 sc = {
		.ip = t->text + TEST_SP_FUNC,
		.sp = word_addr(t, 200),
		.bp = word_addr(t, 160),
		.cs = __USER_CS,
	};

	interrupted_by(test, &movq);
	put_frame(test, FRAME, &sc);
	put_word(test, 200, t->text + TEST_FP_FUNC + 1);
	put_word(test, 160, 0);
	put_word(test, 161, t->text + 0x110);
	start_in_handler(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
		     t->text + TRAMPOLINE, t->text + TEST_SP_FUNC,
		     t->text + TEST_FP_FUNC + 1, t->text + 0x110);
}

/* A table's own rule for a trampoline counts if the kernel's frame is not there */
static void signal_marked_rule(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct sigcontext_64 sc = {
		.ip = t->text + TEST_END_FUNC,
		.sp = word_addr(t, 200),
		.cs = __USER_CS,
	};

	put_word(test, FRAME, t->text + TEST_END_FUNC + 8);
	start_at(test, t->text + TEST_SIG_FUNC, word_addr(t, FRAME), 1);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SIG_FUNC,
		     t->text + TEST_END_FUNC + 8);
	KUNIT_EXPECT_EQ(test, t->state.method, UNWIND_METHOD_SFRAME);

	put_text(test, TEST_SIG_FUNC, movq.insns, movq.len);
	put_frame(test, FRAME, &sc);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + TEST_SIG_FUNC,
		     t->text + TEST_END_FUNC);
	KUNIT_EXPECT_EQ(test, t->state.method, UNWIND_METHOD_SIGNAL);
}

/* Right after a function that has a table: the lookup gives that function's last rule */
static void signal_behind_function(struct kunit *test)
{
	static const struct sfb_fre fres[] = { SFB_FRE(0, SFB_SP, 0, 8) };
	const struct sfb_func funcs[] = {
		{ .start = PAGE_SIZE + TRAMPOLINE - 8, .size = 8, SFB_FRES(fres) },
	};
	const struct sfb_table table = {
		.version = 3, .flags = SFB_SORTED, .abi = SFB_AMD64, .fixed_ra = -8,
		SFB_FUNCS(funcs),
	};
	const struct sigcontext_64 none = {};
	struct user_test *t = test->priv;
	struct sfb_image img = {};

	KUNIT_ASSERT_EQ(test, sfb_build(&img, &table), 0);
	KUNIT_EXPECT_EQ(test, copy_to_user((void __user *)t->section, img.bytes,
					   img.size), 0);
	/* By the rule, this would be a caller */
	put_word(test, FRAME, t->text + 0xb00);
	interrupted_by(test, &movq);
	start_in_handler(test);
	use_table_of(test, img.size);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
		     t->text + TRAMPOLINE, t->text + 0x900, t->text + 0xa00);

	/* And it is one, if there is no signal frame */
	put_frame(test, FRAME, &none);
	put_word(test, FRAME - 2, 0);
	start(test);
	use_table_of(test, img.size);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
		     t->text + TRAMPOLINE, t->text + 0xb00);
	sfb_free(&img);
}

/* Frames that lie */
static void signal_hostile(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct sigcontext_64 sc = {
		.ip = t->text + TRAMPOLINE,
		.sp = word_addr(t, FRAME),
		.cs = __USER_CS,
	};

	/* One that leads to itself goes on until there is no more room */
	interrupted_by(test, &movq);
	put_frame(test, FRAME, &sc);
	start_in_handler(test);
	take_stack_nofault(test);
	KUNIT_EXPECT_EQ(test, t->trace.nr, MAX_FRAMES);
	KUNIT_EXPECT_EQ(test, t->state.stop, UNWIND_STOP_LIMIT);

	/* No such code segment; next, a kernel address, and no address */
	sc.cs = __KERNEL_CS;
	put_frame(test, FRAME, &sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, t->text + 0x800,
		     t->text + TRAMPOLINE);

	/* A jump to nowhere may be why there was a signal */
	sc.cs = __USER_CS;
	sc.ip = 0x111;
	put_frame(test, FRAME, &sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
		     t->text + TRAMPOLINE, 0x111);

	sc.ip = (unsigned long)signal_hostile;
	put_frame(test, FRAME, &sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, t->text + 0x800,
		     t->text + TRAMPOLINE);

	start_at(test, t->text + TRAMPOLINE, -8UL, 1);
	EXPECT_STACK(test, UNWIND_STOP_NO_FRAME, t->text + TRAMPOLINE);
}

#ifdef CONFIG_IA32_EMULATION

struct low_memory {
	unsigned long	text;
	unsigned long	stack;
};

static void low_memory(struct kunit *test, struct low_memory *low)
{
	low->text = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE,
				  PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_ANONYMOUS | MAP_PRIVATE | MAP_32BIT, 0);
	KUNIT_ASSERT_NE(test, low->text, 0);
	KUNIT_ASSERT_LT(test, low->text, U32_MAX);
	low->stack = low->text + PAGE_SIZE;
}

static void put_frame_32(struct kunit *test, const struct low_memory *low,
			 unsigned long addr)
{
	const struct sigcontext_32 sc = {
		.ip = low->text + 0x300,
		.sp = low->stack + 0x800,
		.bp = low->stack + 0x900,
		.cs = __USER32_CS,
	};
	u32 __user *record = (u32 __user *)(low->stack + 0x900);

	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)addr, &sc, sizeof(sc)),
			0);
	KUNIT_ASSERT_EQ(test, put_user(0, record), 0);
	KUNIT_ASSERT_EQ(test, put_user((u32)low->text + 0x400, record + 1), 0);
}

/* Each instruction of the trampolines of sigreturn and rt_sigreturn */
static void signal_compat(struct kunit *test)
{
	static const u8 sigreturn[] = { 0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80 };
	static const u8 rt_sigreturn[] = { 0xb8, 173, 0, 0, 0, 0xcd, 0x80 };
	const struct {
		const u8	*insns;
		unsigned int	len;
		unsigned int	ip;	/* of the topmost frame */
		unsigned int	ax;
		unsigned int	sc;	/* from there to the saved registers */
	} cases[] = {
		{ sigreturn, sizeof(sigreturn), 0, 0, 4 },
		{ sigreturn, sizeof(sigreturn), 1, 0, 0 },
		{ sigreturn, sizeof(sigreturn), 6, 119, 0 },
		{ rt_sigreturn, sizeof(rt_sigreturn), 0, 0,
		  offsetof(struct rt_sigframe_ia32, uc.uc_mcontext) - 4 },
		{ rt_sigreturn, sizeof(rt_sigreturn), 5, 173,
		  offsetof(struct rt_sigframe_ia32, uc.uc_mcontext) - 4 },
	};
	struct user_test *t = test->priv;
	struct low_memory low;
	unsigned int i;

	low_memory(test, &low);
	t->regs.cs = __USER32_CS;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned long ip = low.text + cases[i].ip;

		KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)low.text,
						   cases[i].insns, cases[i].len),
				0);
		put_frame_32(test, &low, low.stack + 0x100 + cases[i].sc);
		set_regs(t, ip, low.stack + 0x100, 1);
		t->regs.ax = cases[i].ax;
		start(test);
		EXPECT_STACK(test, UNWIND_STOP_END_FP, ip, low.text + 0x300,
			     low.text + 0x400);
	}
}

/* The trampoline of rt_sigreturn, at its last instruction, interrupted itself */
static void signal_compat_nested(struct kunit *test)
{
	static const u8 rt_sigreturn[] = { 0xb8, 173, 0, 0, 0, 0xcd, 0x80 };
	const unsigned int regs = offsetof(struct rt_sigframe_ia32,
					   uc.uc_mcontext) - 4;
	struct user_test *t = test->priv;
	struct sigcontext_32 sc = { .ax = 173, .cs = __USER32_CS };
	struct low_memory low;

	low_memory(test, &low);
	t->regs.cs = __USER32_CS;
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)low.text,
					   rt_sigreturn, sizeof(rt_sigreturn)),
			0);
	sc.ip = low.text + 5;
	sc.sp = low.stack + 0x400;
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)(low.stack + 0x100 + regs),
					   &sc, sizeof(sc)), 0);
	put_frame_32(test, &low, low.stack + 0x400 + regs);
	start_at(test, low.text, low.stack + 0x100, 1);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, low.text, low.text + 5,
		     low.text + 0x300, low.text + 0x400);
}

/* A 64-bit handler that interrupted 32-bit code: its words are smaller */
static void signal_mixed_words(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct sigcontext_64 sc = { .cs = __USER32_CS };
	struct low_memory low;

	low_memory(test, &low);
	put_frame_32(test, &low, low.stack);
	sc.ip = low.text + 0x300;
	sc.sp = low.stack + 0x800;
	sc.bp = low.stack + 0x900;
	interrupted_by(test, &movq);
	put_frame(test, FRAME, &sc);
	start_in_handler(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + 0x800,
		     t->text + TRAMPOLINE, low.text + 0x300, low.text + 0x400);
}

#endif /* CONFIG_IA32_EMULATION */

static struct kunit_case signal_cases[] = {
	KUNIT_CASE(signal_frame),
	KUNIT_CASE(signal_frame_not_resident),
	KUNIT_CASE(signal_topmost),
	KUNIT_CASE(signal_other_stack),
	KUNIT_CASE(signal_nested),
	KUNIT_CASE(signal_table),
	KUNIT_CASE(signal_caller_on_other_stack),
	KUNIT_CASE(signal_marked_rule),
	KUNIT_CASE(signal_behind_function),
	KUNIT_CASE(signal_hostile),
#ifdef CONFIG_IA32_EMULATION
	KUNIT_CASE(signal_compat),
	KUNIT_CASE(signal_compat_nested),
	KUNIT_CASE(signal_mixed_words),
#endif
	{}
};

static struct kunit_suite signal_suite = {
	.name = "unwind_signal",
	.init = user_test_init,
	.test_cases = signal_cases,
};

kunit_test_suite(signal_suite);

#endif /* CONFIG_X86_64 */

MODULE_DESCRIPTION("KUnit tests of signal frames");
MODULE_LICENSE("GPL");
