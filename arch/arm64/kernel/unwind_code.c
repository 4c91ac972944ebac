// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of a user program: reading them around the one that comes next, and what
 * they do to the stack pointer and to the flow of control.  What follows from it for the
 * return address is in unwind_link.c and unwind_record.c.
 *
 * They are read a line at a time, as most are looked at more than once: a cache of a few
 * lines, for one frame.  So an instruction is the same each time, as long as its line is
 * there, whatever the program does meanwhile.
 *
 * Where a uprobe is, there stands a breakpoint.  What it has replaced is known of the
 * next instruction, and of no other.
 */

#include <linux/align.h>
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/debug-monitors.h>
#include <asm/ptrace.h>
#include <asm/unwind_user.h>

#include "unwind_code.h"

/* A loop's body that is longer is not looked at; nor any after so much was */
#define LOOP_INSNS	32
#define LOOKED_MAX	768

/* What moves the stack pointer, whatever is pushed or popped */
static const struct unwind_insn moves_by_pair = { 0x3a8003e0, 0x288003e0 };
static const struct unwind_insn moves_by_single = { 0x3b2007e0, 0x380007e0 };
static const struct unwind_insn moves_by_tagged = { 0xff2007e0, 0xd92007e0 };
/* An addition to it, or to another register; or of one, so that nobody knows how far */
static const struct unwind_insn adds_const = { 0xbf80001f, 0x9100001f };
static const struct unwind_insn adds_reg = { 0xbfe0001f, 0x8b20001f };
/* Of the vectors' length, or the predicates' */
static const struct unwind_insn adds_vectors = { 0xffa0f01f, 0x0420501f };
/* By some vectors that are loaded or stored; to a multiple, with and; not by ands */
static const struct unwind_insn moves_by_vectors = { 0xbe8003e0, 0x0c8003e0 };
static const struct unwind_insn aligns = { 0x1f80001f, 0x1200001f };
static const struct unwind_insn tests_bits = { 0x7f80001f, 0x7200001f };
/* A pair that is stored with tags, which loads and stores of 32 bits are not */
static const struct unwind_insn tagged_pair = { 0xfe400000, 0x68000000 };

/* Of vectors, whose registers have the same numbers as the general ones */
static const struct unwind_insn of_vectors = { 0x0c000000, 0x0c000000 };
/* But these write a general register, or may */
static const struct unwind_insn from_vectors[] = {
	{ 0x5f22fc00, 0x1e200000 },		/* fcvt.. */
	{ 0x5f27fc00, 0x1e260000 },		/* fmov */
	{ 0x5f200000, 0x1e000000 },		/* with a fixed point */
	{ 0xbfe0ec00, 0x0e002c00 },		/* umov, smov */
};

/* Likewise of vectors of any length, and of predicates: SVE */
static const struct unwind_insn of_sve = { 0x1e000000, 0x04000000 };
static const struct unwind_insn from_sve[] = {
	{ 0xff20f000, 0x04205000 },		/* addvl, addpl, rdvl */
	{ 0xff20e000, 0x0420e000 },		/* cntb.., incb.., sqincb.. */
	{ 0xff20e000, 0x0520a000 },		/* lasta.., clasta.. */
	{ 0xff20c000, 0x25208000 },		/* cntp, incp.. */
};

/* From where on the frame pointer is this frame's */
static const struct unwind_insn sets_fp[] = {
	{ ~UNWIND_INSN_ADD_OFFSET, 0x910003fd },	/* add x29, sp, #; mov x29, sp */
	{ ~0U, 0xd10023fd },				/* sub x29, sp, #8: Go's */
};

/* What saves both, or the register, beside which Go saves the other */
static const struct unwind_insn saves_record[] = {
	{ ~UNWIND_INSN_PAIR_OFFSET, 0xa9807bfd },	/* stp x29, x30, [sp, #]! */
	{ ~UNWIND_INSN_PAIR_OFFSET, 0xa9007bfd },	/* stp x29, x30, [sp, #] */
	{ ~0x1ff000U, 0xf8000ffe },			/* str x30, [sp, #]! */
	{ ~UNWIND_INSN_PAIR_OFFSET, 0xa9007a9d },	/* stp x29, x30, [x20, #] */
};

/* From where on both are the caller's */
static const struct unwind_insn restores_record[] = {
	{ ~UNWIND_INSN_PAIR_OFFSET, 0xa8c07bfd },	/* ldp x29, x30, [sp], # */
	{ ~UNWIND_INSN_PAIR_OFFSET, 0xa9407bfd },	/* ldp x29, x30, [sp, #] */
};

/* To the link register */
static const struct unwind_insn returns[] = {
	{ ~0U, 0xd65f03c0 },			/* ret */
	{ ~0x400U, 0xd65f0bff },		/* retaa; retab */
	{ 0xffc0001f, 0x5500001f },		/* retaasppc #; retabsppc # */
};

/*
 * Reading
 */

/* A line, which may lie in memory that has tags */
static bool read_line(struct unwind_line *line, unsigned long addr)
{
	const u64 __user *from = (const u64 __user *)addr;
	u64 *to = (u64 *)line->insns;
	unsigned int i;

	/* None, if it is read in part */
	line->addr = 1;
	if (!user_read_access_begin(from, LINE_BYTES))
		return false;
	unwind_user_tags_off();
	for (i = 0; i < LINE_BYTES / sizeof(*to); i++)
		unsafe_get_user(to[i], &from[i], fault);
	unwind_user_tags_on();
	user_read_access_end();
	line->addr = addr;
	return true;
fault:
	unwind_user_tags_on();
	user_read_access_end();
	return false;
}

/**
 * unwind_code_read - an instruction anywhere
 * @code: its lines are used
 * @addr: its address, a multiple of INSN_SIZE
 * @insn: set to it, as it lies in memory: it may be a breakpoint
 *
 * Context: as unwind_user_start().
 * Return: whether it could be read; if not, that is noted.
 */
bool unwind_code_read(struct unwind_code *code, unsigned long addr, u32 *insn)
{
	const unsigned long start = ALIGN_DOWN(addr, LINE_BYTES);
	struct unwind_line *line = &code->lines[addr / LINE_BYTES % LINES];

	if (line->addr != start && !read_line(line, start)) {
		code->unread = addr;
		return false;
	}
	*insn = le32_to_cpu(line->insns[addr % LINE_BYTES / INSN_SIZE]);
	return true;
}

/*
 * What a uprobe has replaced, where the program is.  While the uprobe's handlers run it
 * is at hand; after them, the program is about to execute it elsewhere.
 */
static u32 replaced_insn(struct unwind_code *code)
{
#ifdef CONFIG_UPROBES
	const struct uprobe_task *utask = current->utask;

	/* It is changed by the task itself, without precautions against interrupts */
	if (!in_task()) {
		code->unread = code->ip;
		return 0;
	}
	if (!utask)
		return 0;
	if (utask->auprobe && code->ip == instruction_pointer(task_pt_regs(current)))
		return le32_to_cpu(utask->auprobe->insn);
	if (utask->active_uprobe && code->ip == utask->vaddr)
		return utask->autask.insn;
#endif
	return 0;
}

/* unwind_code_insn(), also where the line has to be read, or a breakpoint is */
u32 unwind_code_read_insn(struct unwind_code *code, int at)
{
	const unsigned long addr = code->ip + (long)at * INSN_SIZE;
	u32 insn;

	code->probed = false;
	code->looked++;
	if (!at)
		return code->insn;
	if (!unwind_code_read(code, addr, &insn))
		return 0;
	code->probed = insn == BRK64_OPCODE_UPROBES;
	if (!code->probed)
		return insn;
	/* Whatever it is, it may move the stack pointer */
	code->sp_known = false;
	return 0;
}

/**
 * unwind_code_start - begin at the next instruction
 * @code: set up
 * @ip: its address, a multiple of INSN_SIZE
 *
 * Context: as unwind_user_start().
 */
void unwind_code_start(struct unwind_code *code, unsigned long ip)
{
	u32 insn = 0;
	int i;

	code->ip = ip;
	code->looked = 1;
	code->unread = 0;
	for (i = 0; i < LINES; i++)
		code->lines[i].addr = 1;
	unwind_code_read(code, ip, &insn);
	code->probed = insn == BRK64_OPCODE_UPROBES;
	code->insn = code->probed ? replaced_insn(code) : insn;
}

/*
 * What they do
 */

/* Has it general registers, or may it have, where it writes to? */
bool unwind_insn_of_general(u32 insn)
{
	if (unwind_insn_is(insn, &of_vectors))
		return unwind_insn_is_any(insn, from_vectors, ARRAY_SIZE(from_vectors));
	return !unwind_insn_is(insn, &of_sve) ||
	       unwind_insn_is_any(insn, from_sve, ARRAY_SIZE(from_sve));
}

bool unwind_insn_sets_fp(u32 insn)
{
	return unwind_insn_is_any(insn, sets_fp, ARRAY_SIZE(sets_fp));
}

bool unwind_insn_saves_record(u32 insn)
{
	return unwind_insn_is_any(insn, saves_record, ARRAY_SIZE(saves_record));
}

bool unwind_insn_restores_record(u32 insn)
{
	return unwind_insn_is_any(insn, restores_record, ARRAY_SIZE(restores_record));
}

bool unwind_insn_returns(u32 insn)
{
	return unwind_insn_is_any(insn, returns, ARRAY_SIZE(returns));
}

/* An offset of a pair is in units of its registers: of 4, 8 or 16 bytes */
static int pair_offset(u32 insn)
{
	const bool vector = insn & BIT(26);
	unsigned int size = insn >> 30;

	if (unwind_insn_is(insn, &tagged_pair))
		return sign_extend32(insn >> 15, 6) * 16;
	return sign_extend32(insn >> 15, 6) * (4 << (vector ? size : size >> 1));
}

static int add_offset(u32 insn)
{
	int offset = (insn >> 10 & 0xfff) << (insn & BIT(22) ? 12 : 0);

	return insn & BIT(30) ? -offset : offset;
}

/* For unwind_insn_moves_sp(), which has set @moved to 0 */
bool unwind_insn_moves_sp_by(u32 insn, int *moved)
{
	if (unwind_insn_is(insn, &moves_by_pair))
		*moved = pair_offset(insn);
	else if (unwind_insn_is(insn, &moves_by_single))
		*moved = sign_extend32(insn >> 12, 8);
	else if (unwind_insn_is(insn, &moves_by_tagged))
		*moved = sign_extend32(insn >> 12, 8) * 16;
	else if (unwind_insn_is(insn, &adds_const) &&
		 unwind_insn_is_sp(insn >> 5 & 0x1f))
		*moved = add_offset(insn);
	else if (unwind_insn_is(insn, &adds_const) || unwind_insn_is(insn, &adds_reg) ||
		 unwind_insn_is(insn, &adds_vectors) ||
		 unwind_insn_is(insn, &moves_by_vectors))
		return false;
	return !unwind_insn_is(insn, &aligns) || unwind_insn_is(insn, &tests_bits);
}

/*
 * @insn, @at instructions after the next one, is a conditional branch.  Where it leads
 * back, what is between may have been executed any number of times: does that move the
 * stack pointer, or may it?
 */
bool unwind_code_loop_moves_sp(struct unwind_code *code, int at, u32 insn)
{
	int by, to = at + unwind_insn_jumps_by(insn);

	if (at - to > LOOP_INSNS || (at > to && code->looked > LOOKED_MAX))
		return true;
	for (; to < at; to++) {
		insn = unwind_code_insn(code, to);
		if (!insn || !unwind_insn_moves_sp(insn, &by) || by)
			return true;
	}
	return false;
}
