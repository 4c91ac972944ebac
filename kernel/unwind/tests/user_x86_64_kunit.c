// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the frame loop on x86-64: return addresses of functions without a rule,
 * found by their instructions (arch/x86/kernel/unwind_insn.c).
 */

#include <linux/uaccess.h>
#include <asm/unwind_arch.h>

#include "sframe_data.h"
#include "user_fixture.h"

/* The interrupted text, in a page full of calls: a path that leaves the text ends at a call */
#define FUNC	(TEST_TEXT_SIZE + 64)

#define INSN_BYTES	16

/**
 * struct insn_case - instructions, and what they show
 * @name: what they are
 * @insns: from the interrupted one on
 * @ret: result of unwind_arch_find_caller()
 * @ra: where the return address is, in bytes above the stack pointer
 * @fp: where the caller's frame pointer is, as @ra; -1: in its register
 * @skip: bytes of @insns before the interrupted one
 */
struct insn_case {
	const char	*name;
	u8		insns[INSN_BYTES];
	int		ret;
	unsigned int	ra;
	int		fp;
	unsigned int	skip;
};

static const struct insn_case insn_cases[] = {
	{ "ret", { 0xc3 }, 0, 0, -1 },
	{ "ret $8", { 0xc2, 8, 0 }, 0, 0, -1 },
	{ "rep ret", { 0xf3, 0xc3 }, 0, 0, -1 },
	{ "div %r9; mov %rdi, %rdx; ret",
	  { 0x49, 0xf7, 0xf1, 0x48, 0x89, 0xfa, 0xc3 }, 0, 0, -1 },
	{ "pop %rbx; ret", { 0x5b, 0xc3 }, 0, 8, -1 },
	{ "HotSpot 8: pop %rbp; test %eax, 0x16ca8fc5(%rip); ret",
	  { 0x5d, 0x85, 0x05, 0xc5, 0x8f, 0xca, 0x16, 0xc3 }, 0, 8, 0 },
	{ "HotSpot 11: pop %rbp; mov 264(%r15), %r10; test %eax, (%r10); ret",
	  { 0x5d, 0x4d, 0x8b, 0x97, 8, 1, 0, 0, 0x41, 0x85, 0x02, 0xc3 }, 0, 8, 0 },
	{ "HotSpot 17: pop %rbp; cmp 840(%r15), %rsp; ja; ret",
	  { 0x5d, 0x49, 0x3b, 0xa7, 0x48, 3, 0, 0, 0x0f, 0x87, 0x42, 0, 0, 0, 0xc3 }, 0, 8, 0 },
	{ "pop %rbx; pop %rbp; pop %r12; ret", { 0x5b, 0x5d, 0x41, 0x5c, 0xc3 }, 0, 24, 8 },
	{ "pop %r13; ret: not the frame pointer", { 0x41, 0x5d, 0xc3 }, 0, 8, -1 },
	{ "push %rbx; mov %rsi, %rbx; pop %rbx; ret",
	  { 0x53, 0x48, 0x89, 0xf3, 0x5b, 0xc3 }, 0, 0, -1 },
	{ "push %rbp; mov %rdi, %rbp; pop %rbp; ret",
	  { 0x55, 0x48, 0x89, 0xfd, 0x5d, 0xc3 }, 0, 0, -1 },
	{ "add $24, %rsp; ret", { 0x48, 0x83, 0xc4, 0x18, 0xc3 }, 0, 24, -1 },
	{ "add $0x118, %rsp; ret", { 0x48, 0x81, 0xc4, 0x18, 1, 0, 0, 0xc3 }, 0, 0x118, -1 },
	{ "sub $-128, %rsp; ret", { 0x48, 0x83, 0xec, 0x80, 0xc3 }, 0, 128, -1 },
	{ "lea 40(%rsp), %rsp; ret", { 0x48, 0x8d, 0x64, 0x24, 0x28, 0xc3 }, 0, 40, -1 },
	{ "je over a call; ret", { 0x74, 5, 0xe8, 0, 0, 0, 0, 0xc3 }, 0, 0, -1 },
	{ "je to a call; ret", { 0x74, 1, 0xc3, 0xe8, 0, 0, 0, 0 }, 0, 0, -1 },
	{ "jne back to itself; ret", { 0x75, 0xfe, 0xc3 }, 0, 0, -1 },
	{ "jmp over ud2; ret", { 0xeb, 2, 0x0f, 0x0b, 0xc3 }, 0, 0, -1 },
	{ "jmp *0(%rip), as in a PLT", { 0xff, 0x25, 0, 0, 0, 0 }, 0, 0, -1 },
	{ "vmovups %ymm4, 32(%rdi); vzeroupper; ret",
	  { 0xc5, 0xfc, 0x11, 0x67, 0x20, 0xc5, 0xf8, 0x77, 0xc3 }, 0, 0, -1 },
	{ "movaps %xmm4, %xmm5; ret", { 0x0f, 0x28, 0xec, 0xc3 }, 0, 0, -1 },
	{ "syscall; ret", { 0x0f, 5, 0xc3 }, -ENOENT },
	{ "endbr64; push %rbp; mov %rsp, %rbp",
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5 }, 0, 0, -1 },
	{ "the same, probed", { 0xcc, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5 }, 0, 0, -1 },
	{ "push %rbp; mov %rsp, %rbp", { 0x55, 0x48, 0x89, 0xe5 }, 0, 0, -1 },
	{ "the same in its other form", { 0x55, 0x48, 0x8b, 0xec }, 0, 0, -1 },
	{ "the same, probed", { 0xcc, 0x48, 0x89, 0xe5 }, 0, 0, -1 },
	{ "after the push", { 0x55, 0x48, 0x89, 0xe5 }, 0, 8, -1, 1 },
	{ "after the push that is probed", { 0xcc, 0x48, 0x89, 0xe5 }, 0, 8, -1, 1 },
	{ "endbr64, which may be anywhere", { 0xf3, 0x0f, 0x1e, 0xfa }, -ENOENT },
	{ "push %r13; mov %rsp, %rbp", { 0x41, 0x55, 0x48, 0x89, 0xe5 }, -ENOENT, 0, 0, 2 },
	{ "push -8(%r10); push %rbp; mov %rsp, %rbp",
	  { 0x41, 0xff, 0x72, 0xf8, 0x55, 0x48, 0x89, 0xe5 }, -ENOENT, 0, 0, 4 },
	{ "the same, after both", { 0x41, 0xff, 0x72, 0xf8, 0x55, 0x48, 0x89, 0xe5 },
	  -ENOENT, 0, 0, 5 },
	{ "leave; ret", { 0xc9, 0xc3 }, -EEXIST },
	{ "mov %rbp, %rsp; pop %rbp; ret", { 0x48, 0x89, 0xec, 0x5d, 0xc3 }, -EEXIST },
	{ "the same in its other form", { 0x48, 0x8b, 0xe5, 0x5d, 0xc3 }, -EEXIST },
	{ "lea -8(%rbp), %rsp; pop %rbx; pop %rbp; ret",
	  { 0x48, 0x8d, 0x65, 0xf8, 0x5b, 0x5d, 0xc3 }, -EEXIST },
	{ "mov %rbp, %rsp; ret: no record", { 0x48, 0x89, 0xec, 0xc3 }, -ENOENT },
	{ "mov %rbp, %rsp; pop %rbx; pop %rbp; ret",
	  { 0x48, 0x89, 0xec, 0x5b, 0x5d, 0xc3 }, -ENOENT },
	{ "sub $0x1000, %rsp; cmp %r11, %rsp; jne back",
	  { 0x48, 0x81, 0xec, 0, 0x10, 0, 0, 0x4c, 0x39, 0xdc, 0x75, 0xf4, 0xc3 }, -ENOENT },
	{ "cmp %r11, %rsp; jne back; ret", { 0x4c, 0x39, 0xdc, 0x75, 0xf0, 0xc3 }, -ENOENT },
	{ "pop %rbx; dec %ecx; jne back; ret",
	  { 0x5b, 0xff, 0xc9, 0x75, 0xfb, 0xc3 }, -ENOENT },
	{ "mov %rax, (%rsp); ret: a jump", { 0x48, 0x89, 4, 0x24, 0xc3 }, -ENOENT },
	{ "mov %rax, 8(%rsp); add $24, %rsp; ret",
	  { 0x48, 0x89, 0x44, 0x24, 8, 0x48, 0x83, 0xc4, 0x18, 0xc3 }, 0, 24, -1 },
	{ "xchg %rax, (%rsp); ret", { 0x48, 0x87, 4, 0x24, 0xc3 }, -ENOENT },
	{ "add $8, %rsp; push %rax; ret", { 0x48, 0x83, 0xc4, 8, 0x50, 0xc3 }, -ENOENT },
	{ "vpsrldq $5, %xmm1, %xmm2; call; ret: no jump to the ret",
	  { 0xc5, 0xe9, 0x73, 0xd9, 5, 0xe8, 0, 0, 0, 0, 0xc3 }, -ENOENT },
	{ "vpaddd %ymm5, %ymm4, %ymm5; ret", { 0xc5, 0xdd, 0xfe, 0xed, 0xc3 }, 0, 0, -1 },
	{ "fxch %st(4); fldcw 4(%rdi); ret", { 0xd9, 0xcc, 0xd9, 0x6f, 4, 0xc3 }, 0, 0, -1 },
	{ "add $0x7fffffff, %rsp; pop %rbx; ret",
	  { 0x48, 0x81, 0xc4, 0xff, 0xff, 0xff, 0x7f, 0x5b, 0xc3 }, -ENOENT },
	{ "sub $-0x80000000, %rsp; ret",
	  { 0x48, 0x81, 0xec, 0, 0, 0, 0x80, 0xc3 }, -ENOENT },
	{ "push $1; pop %rbp; ret", { 0x6a, 1, 0x5d, 0xc3 }, -ENOENT },
	{ "push %ax; ret", { 0x66, 0x50, 0xc3 }, -ENOENT },
	{ "pop %fs; ret", { 0x0f, 0xa1, 0xc3 }, -ENOENT },
	{ "lea 8(%rsp, %r12), %rsp; ret", { 0x4a, 0x8d, 0x64, 0x24, 8, 0xc3 }, -ENOENT },
	{ "dec %rbp; ret", { 0x48, 0xff, 0xcd, 0xc3 }, -ENOENT },
	{ "movzbl %al, %ebp; ret", { 0x0f, 0xb6, 0xe8, 0xc3 }, -ENOENT },
	{ "int $0x80; ret", { 0xcd, 0x80, 0xc3 }, -ENOENT },
	{ "mov %rdi, %rbp; leave", { 0x48, 0x89, 0xfd, 0xc9 }, -ENOENT },
	{ "mov %rdi, %rbp; ret", { 0x48, 0x89, 0xfd, 0xc3 }, -ENOENT },
	{ "mov 8(%rsp), %rbp; ret", { 0x48, 0x8b, 0x6c, 0x24, 8, 0xc3 }, -ENOENT },
	{ "mov $1, %ebp; ret", { 0xbd, 1, 0, 0, 0, 0xc3 }, -ENOENT },
	{ "andn %rax, %rcx, %rbp; ret", { 0xc4, 0xe2, 0xf0, 0xf2, 0xe8, 0xc3 }, -ENOENT },
	{ "push %rbx; ret: a jump", { 0x53, 0xc3 }, -ENOENT },
	{ "pop %rsp", { 0x5c, 0xc3 }, -ENOENT },
	{ "mov %rdi, %rsp; ret", { 0x48, 0x89, 0xfc, 0xc3 }, -ENOENT },
	{ "mov (%rdi), %rsp; ret", { 0x48, 0x8b, 0x27, 0xc3 }, -ENOENT },
	{ "and $-16, %rsp; ret", { 0x48, 0x83, 0xe4, 0xf0, 0xc3 }, -ENOENT },
	{ "xchg %rax, %rsp; ret", { 0x48, 0x94, 0xc3 }, -ENOENT },
	{ "lea 8(%rdi), %rsp; ret", { 0x48, 0x8d, 0x67, 8, 0xc3 }, -ENOENT },
	{ "lea 8(%rsp, %rax), %rsp; ret", { 0x48, 0x8d, 0x64, 4, 8, 0xc3 }, -ENOENT },
	{ "call; ret", { 0xe8, 0, 0, 0, 0, 0xc3 }, -ENOENT },
	{ "call *%rax; ret", { 0xff, 0xd0, 0xc3 }, -ENOENT },
	{ "jmp *%rax", { 0xff, 0xe0 }, -ENOENT },
	{ "jmp to itself", { 0xeb, 0xfe }, -ENOENT },
	{ "jmp far away", { 0xe9, 0, 0, 1, 0 }, -ENOENT },
	{ "int3; ret", { 0xcc, 0xc3 }, -ENOENT },
	{ "ud2; ret", { 0x0f, 0x0b, 0xc3 }, -ENOENT },
};

static void put_code(struct kunit *test, unsigned long offset, const u8 *code, size_t len)
{
	struct user_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)(t->text + offset), code, len), 0);
}

static void x86_insns(struct kunit *test)
{
	const struct insn_case *c = test->param_value;
	struct user_test *t = test->priv;
	struct unwind_arch_caller at = { .left = U32_MAX };

	put_code(test, FUNC, c->insns, sizeof(c->insns));
	KUNIT_EXPECT_EQ(test, unwind_arch_find_caller(t->text + FUNC + c->skip, &at), c->ret);
	KUNIT_EXPECT_GE(test, 65, at.looked);
	KUNIT_EXPECT_EQ(test, at.unread, 0);
	if (c->ret)
		return;
	KUNIT_EXPECT_EQ(test, at.ra, c->ra);
	KUNIT_EXPECT_EQ(test, at.fp_saved, c->fp >= 0);
	if (c->fp >= 0)
		KUNIT_EXPECT_EQ(test, at.fp, c->fp);
}

KUNIT_ARRAY_PARAM_DESC(insns, insn_cases, name);

/* At the end of the mapping, instructions are read as far as they are there */
static void x86_insns_at_the_end(struct kunit *test)
{
	static const u8 nops_ret[] = { 0x90, 0x90, 0x90, 0xc3 };
	static const u8 record[] = { 0x55, 0x48, 0x89, 0xe5 };
	struct user_test *t = test->priv;
	struct unwind_arch_caller at = { .left = U32_MAX };
	unsigned long end = t->stack + 2 * PAGE_SIZE;

	put_code(test, end - sizeof(nops_ret) - t->text, nops_ret, sizeof(nops_ret));
	KUNIT_EXPECT_EQ(test, unwind_arch_find_caller(end - 8, &at), -ENOENT);
	KUNIT_EXPECT_EQ(test, unwind_arch_find_caller(end - 2, &at), -ENOENT);
	KUNIT_EXPECT_EQ(test, at.unread, end - 2);
	/* And at its start: nothing is before it */
	KUNIT_ASSERT_EQ(test, vm_munmap(t->section, PAGE_SIZE), 0);
	put_code(test, 0, record, sizeof(record));
	KUNIT_EXPECT_EQ(test, unwind_arch_find_caller(t->text, &at), 0);
	put_code(test, 0, record + 1, sizeof(record) - 1);
	KUNIT_EXPECT_EQ(test, unwind_arch_find_caller(t->text, &at), -ENOENT);
	KUNIT_EXPECT_EQ(test, at.unread, t->text - 1);
	KUNIT_EXPECT_EQ(test, unwind_arch_find_caller(TASK_SIZE_MAX - 4, &at), -ENOENT);
	KUNIT_EXPECT_EQ(test, unwind_arch_find_caller(-4UL, &at), -ENOENT);
}

/* Prefixes make an instruction cost more, and no more are read than the budget allows */
static void x86_insns_cost(struct kunit *test)
{
	static const u8 insn[] = {
		0x26, 0x2e, 0x36, 0x66, 0x66, 0x66, 0x66, 0x66,
		0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90,
	};
	struct user_test *t = test->priv;
	struct unwind_arch_caller at = { .left = 100 };
	unsigned int i;

	for (i = 0; i < 8; i++)
		put_code(test, FUNC + i * sizeof(insn), insn, sizeof(insn));
	KUNIT_EXPECT_EQ(test, unwind_arch_find_caller(t->text + FUNC, &at), -ENOENT);
	KUNIT_EXPECT_EQ(test, at.left, 0);
	KUNIT_EXPECT_EQ(test, at.looked, 6);

	/* Then the stack ends there: the frame pointer may skip a caller */
	put_words(test, 20, 0, t->text + 0x400);
	start_at(test, t->text + FUNC, word_addr(t, 10), word_addr(t, 20));
	t->state.budget = 100;
	EXPECT_STACK(test, UNWIND_STOP_LIMIT, t->text + FUNC);
}

/* The caller that a frame pointer would skip, of an object with and without a table */
static void x86_leaf(struct kunit *test)
{
	static const u8 leaf[] = { 0x5b, 0xc3 }, call[] = { 0xe8 };
	struct user_test *t = test->priv;

	put_code(test, FUNC, leaf, sizeof(leaf));
	put_word(test, 11, t->text + 0x300);
	put_word(test, 20, 0);
	put_word(test, 21, t->text + 0x400);
	start_at(test, t->text + FUNC, word_addr(t, 10), word_addr(t, 20));
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + FUNC, t->text + 0x300, t->text + 0x400);

	put_code(test, TEST_SP_FUNC - 1UL, call, sizeof(call));
	put_words(test, 11, t->text + TEST_SP_FUNC + 4, t->text + TEST_END_FUNC + 1);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END, t->text + FUNC,
		     t->text + TEST_SP_FUNC + 4, t->text + TEST_END_FUNC + 1);
}

/* The word is text, but no call is before it: a coroutine that is about to begin */
static void x86_not_called(struct kunit *test)
{
	static const u8 ret[] = { 0xc3 }, zeroes[8] = {};
	struct user_test *t = test->priv;

	put_code(test, FUNC, ret, sizeof(ret));
	put_code(test, 0x300 - sizeof(zeroes), zeroes, sizeof(zeroes));
	put_word(test, 10, t->text + 0x300);
	start_at(test, t->text + FUNC, word_addr(t, 10), 0);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_RULE, t->text + FUNC);
}

/* A rule counts a word that was dropped, as for gcc's return thunk; the other thunk keeps it */
static void x86_dropped_word(struct kunit *test)
{
	static const u8 returns[] = { 0x48, 0x8d, 0x64, 0x24, 8, 0xc3 };
	static const u8 jumps[] = { 0x48, 0x89, 4, 0x24, 0xc3 };
	static const u8 nops[] = { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 };
	static const u8 call[] = { 0xe8, 0, 0, 0, 0 };
	const size_t cfa = offsetof(struct test_sframe, fres) +
			   sizeof(struct sframe_fde_attr_v3) + 5;
	struct user_test *t = test->priv;
	const unsigned long ip = t->text + TEST_SP_FUNC + 7;

	/* The CFA of sp_func, from +4 on */
	KUNIT_ASSERT_EQ(test, put_user(16, (u8 __user *)(t->section + cfa)), 0);
	put_code(test, TEST_SP_FUNC + 8 - sizeof(returns), returns, sizeof(returns));
	put_code(test, TEST_END_FUNC + 1 - sizeof(nops), nops, sizeof(nops));
	put_words(test, 10, t->text + TEST_END_FUNC + 1, t->text + TEST_END_FUNC + 2);
	start_at(test, ip, word_addr(t, 10), 0);
	use_table(test);
	/* As in the thunk of indirect branches: the first word is no return address */
	EXPECT_STACK(test, UNWIND_STOP_END, ip, t->text + TEST_END_FUNC + 2);

	put_code(test, TEST_END_FUNC + 1 - sizeof(call), call, sizeof(call));
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_END, ip, t->text + TEST_END_FUNC + 1);

	put_code(test, TEST_SP_FUNC + 8 - sizeof(jumps), jumps, sizeof(jumps));
	start(test);
	EXPECT_STACK(test, UNWIND_STOP_END, ip, t->text + TEST_END_FUNC + 2);
}

/* Nothing shows where the caller is: the stack ends, but not if no function has a rule */
static void x86_unknown(struct kunit *test)
{
	struct user_test *t = test->priv;

	put_words(test, 20, 0, t->text + TEST_END_FUNC + 1);
	start_at(test, t->text + FUNC, word_addr(t, 10), word_addr(t, 20));
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + FUNC, t->text + TEST_END_FUNC + 1);
	start(test);
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_NO_RULE, t->text + FUNC);
}

/* A table of little says nothing about other functions: as if there was none */
static void x86_sparse_table(struct kunit *test)
{
	const size_t num_fdes = offsetof(struct test_sframe, hdr.num_fdes);
	struct user_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, put_user(2, (u32 __user *)(t->section + num_fdes)), 0);
	put_words(test, 20, 0, t->text + TEST_FP_FUNC + 1);
	start_at(test, t->text + FUNC, word_addr(t, 10), word_addr(t, 20));
	use_table(test);
	EXPECT_STACK(test, UNWIND_STOP_END_FP, t->text + FUNC, t->text + TEST_FP_FUNC + 1);
}

static struct kunit_case user_x86_64_cases[] = {
	KUNIT_CASE_PARAM(x86_insns, insns_gen_params),
	KUNIT_CASE(x86_insns_at_the_end),
	KUNIT_CASE(x86_insns_cost),
	KUNIT_CASE(x86_leaf),
	KUNIT_CASE(x86_not_called),
	KUNIT_CASE(x86_dropped_word),
	KUNIT_CASE(x86_unknown),
	KUNIT_CASE(x86_sparse_table),
	{}
};

static struct kunit_suite user_x86_64_suite = {
	.name = "unwind_user_x86_64",
	.init = user_test_init,
	.test_cases = user_x86_64_cases,
};

kunit_test_suite(user_x86_64_suite);

MODULE_DESCRIPTION("KUnit tests of the user stack iterator on x86-64");
MODULE_LICENSE("GPL");
