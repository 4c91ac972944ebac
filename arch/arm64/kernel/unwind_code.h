/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions of a user program, as far as they tell where a function's return address
 * and its caller's frame are: see unwind_code.c.
 */
#ifndef __KERNEL_UNWIND_CODE_H
#define __KERNEL_UNWIND_CODE_H

#include <linux/bits.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#include <asm/insn.h>

#define INSN_SIZE	4

/* What is read at once: no line lies in two pages */
#define LINE_BYTES	64
#define LINE_INSNS	(LINE_BYTES / INSN_SIZE)
#define LINES		4

/**
 * struct unwind_line - instructions that were read
 * @addr: where they are; no multiple of LINE_BYTES if none were
 * @insns: as they lie in memory
 */
struct unwind_line {
	unsigned long	addr;
	__le32		insns[LINE_INSNS] __aligned(8);
};

/**
 * struct unwind_code - what is looked at
 * @ip: the next instruction of what was interrupted
 * @insn: which that is, also where a uprobe is; 0 if that is not known
 * @looked: how many instructions were looked at
 * @unread: an address that could not be read, which may have told more; 0 if all could
 * @sp_known: how far the stack pointer has moved is known
 * @probed: the instruction that was looked at last is a uprobe's
 * @lines: what was read last
 */
struct unwind_code {
	unsigned long		ip;
	u32			insn;
	unsigned int		looked;
	unsigned long		unread;
	bool			sp_known;
	bool			probed;
	struct unwind_line	lines[LINES];
};

/* An instruction, and what of it is the same for all offsets and registers */
struct unwind_insn {
	u32	mask;
	u32	insn;
};

static inline bool unwind_insn_is(u32 insn, const struct unwind_insn *pattern)
{
	return (insn & pattern->mask) == pattern->insn;
}

static inline bool unwind_insn_is_any(u32 insn, const struct unwind_insn *patterns,
				      unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (unwind_insn_is(insn, &patterns[i]))
			return true;
	return false;
}

/* Of "Branches, exception generating and system instructions" of the Arm ARM? */
static inline bool unwind_insn_may_branch(u32 insn)
{
	return (insn & 0x1c000000) == 0x14000000;
}

/* As most are: there is one, and it goes on to the next */
static inline bool unwind_insn_is_plain(u32 insn)
{
	return insn && !unwind_insn_may_branch(insn);
}

/* May be passed by: what follows is there to be executed, too */
static inline bool unwind_insn_is_conditional(u32 insn)
{
	if (!unwind_insn_may_branch(insn))
		return false;
	return aarch64_insn_is_bcond(insn) || aarch64_insn_is_cbz(insn) ||
	       aarch64_insn_is_cbnz(insn) || aarch64_insn_is_tbz(insn) ||
	       aarch64_insn_is_tbnz(insn);
}

/* None is, or another function's: what follows is not reached from what is before */
static inline bool unwind_insn_ends_code(u32 insn)
{
	if (!unwind_insn_may_branch(insn))
		return !insn;
	return aarch64_insn_is_branch(insn) || aarch64_insn_is_brk(insn);
}

/* Does what comes after it belong to another function, or is reached from elsewhere? */
static inline bool unwind_insn_ends_block(u32 insn)
{
	return unwind_insn_ends_code(insn) && !unwind_insn_is_conditional(insn);
}

/* Does it leave the address behind it in the link register? */
static inline bool unwind_insn_is_call(u32 insn)
{
	return unwind_insn_may_branch(insn) &&
	       (aarch64_insn_is_bl(insn) || aarch64_insn_is_blr(insn) ||
		aarch64_insn_is_blr_auth(insn));
}

/* How many instructions further a jump leads, or a conditional branch */
static inline int unwind_insn_jumps_by(u32 insn)
{
	return aarch64_get_branch_offset(insn) / INSN_SIZE;
}

static inline bool unwind_insn_is_sp(unsigned int reg)
{
	return reg == 31;
}

static inline bool unwind_insn_is_fp_or_lr(unsigned int reg)
{
	return reg == 29 || reg == 30;
}

/* bti c, bti jc: what may be called by its address; paciasp, pacibsp: signs for a record */
#define UNWIND_INSN_LANDING_PAD	((struct unwind_insn){ ~0x80U, 0xd503245f })
#define UNWIND_INSN_SIGNS_LINK	((struct unwind_insn){ ~0x40U, 0xd503233f })

/* Where a function begins, or makes its record */
static inline bool unwind_insn_is_begin(u32 insn)
{
	return unwind_insn_is(insn, &UNWIND_INSN_LANDING_PAD) ||
	       unwind_insn_is(insn, &UNWIND_INSN_SIGNS_LINK);
}

/* bti j: where a jump through a register may lead */
#define UNWIND_INSN_JUMP_PAD	((struct unwind_insn){ ~0U, 0xd503249f })
/* br x16; br x17: what a stub jumps with, and a function to another one at its end */
#define UNWIND_INSN_LEAVES	((struct unwind_insn){ ~0x20U, 0xd61f0200 })

/* Bits of offsets of pairs of registers, and of additions */
#define UNWIND_INSN_PAIR_OFFSET	((u32)GENMASK(21, 15))
#define UNWIND_INSN_ADD_OFFSET	((u32)GENMASK(21, 10))

/* Loads, and stores, of two registers by any addressing */
#define UNWIND_INSN_LOADS_PAIR	((struct unwind_insn){ 0xfe400000, 0xa8400000 })
#define UNWIND_INSN_SAVES_PAIR	((struct unwind_insn){ 0xfe400000, 0xa8000000 })

/* A store of one, likewise; and mov x, x30 */
#define UNWIND_INSN_SAVES_SINGLE ((struct unwind_insn){ 0x3ac00000, 0x38000000 })
#define UNWIND_INSN_COPIES_LINK	((struct unwind_insn){ ~0x1fU, 0xaa1e03e0 })

bool unwind_insn_of_general(u32 insn);

/*
 * Is one of the two written, or may it be?  What has the register's number there writes it,
 * or stores it, or is of vectors, whose registers have the same numbers.
 */
static __always_inline bool unwind_insn_writes_fp_or_lr(u32 insn)
{
	if (unwind_insn_is_fp_or_lr(insn & 0x1f))
		return unwind_insn_of_general(insn);
	return unwind_insn_is(insn, &UNWIND_INSN_LOADS_PAIR) &&
	       unwind_insn_is_fp_or_lr(insn >> 10 & 0x1f);
}

/* Is it a copy of one of them?  From then on the register may have another use. */
static inline bool unwind_insn_copies_fp_or_lr(u32 insn)
{
	return unwind_insn_is(insn, &UNWIND_INSN_COPIES_LINK) ||
	       (unwind_insn_is(insn, &UNWIND_INSN_SAVES_PAIR) &&
		(unwind_insn_is_fp_or_lr(insn & 0x1f) ||
		 unwind_insn_is_fp_or_lr(insn >> 10 & 0x1f)));
}

bool unwind_insn_sets_fp(u32 insn);
bool unwind_insn_saves_record(u32 insn);
bool unwind_insn_restores_record(u32 insn);
bool unwind_insn_returns(u32 insn);

/* Is the frame pointer this frame's from there on? */
static inline bool unwind_insn_makes_fp(u32 insn)
{
	return unwind_insn_is_fp_or_lr(insn & 0x1f) && unwind_insn_sets_fp(insn);
}

/* Does it save both; or the link register, beside which Go saves the other? */
static inline bool unwind_insn_saves_both(u32 insn)
{
	return unwind_insn_is_fp_or_lr(insn & 0x1f) && unwind_insn_saves_record(insn);
}

bool unwind_insn_moves_sp_by(u32 insn, int *moved);

/* Bytes by which the stack pointer goes up (negative: down); false: nobody knows */
static inline bool unwind_insn_moves_sp(u32 insn, int *moved)
{
	*moved = 0;
	/* Most are neither to it nor by it */
	if (!unwind_insn_is_sp(insn & 0x1f) && !unwind_insn_is_sp(insn >> 5 & 0x1f))
		return true;
	return unwind_insn_moves_sp_by(insn, moved);
}

bool unwind_code_read(struct unwind_code *code, unsigned long addr, u32 *insn);
void unwind_code_start(struct unwind_code *code, unsigned long ip);
u32 unwind_code_read_insn(struct unwind_code *code, int at);
bool unwind_code_loop_moves_sp(struct unwind_code *code, int at, u32 insn);
bool unwind_code_has_record(struct unwind_code *code);

/**
 * unwind_code_insn - an instruction
 * @code: where
 * @at: so many instructions after the next one, or before it
 *
 * Context: as unwind_user_start().
 * Return: it; 0, which is none, if it is not known.
 */
static __always_inline u32 unwind_code_insn(struct unwind_code *code, int at)
{
	const unsigned long addr = code->ip + (long)at * INSN_SIZE;
	const struct unwind_line *line = &code->lines[addr / LINE_BYTES % LINES];
	u32 insn;

	if (line->addr != (addr & ~(LINE_BYTES - 1UL)))
		return unwind_code_read_insn(code, at);
	insn = le32_to_cpu(line->insns[addr % LINE_BYTES / INSN_SIZE]);
	/* Of a breakpoint there is more to be said */
	if (aarch64_insn_is_brk(insn))
		return unwind_code_read_insn(code, at);
	code->probed = false;
	code->looked++;
	return insn;
}

#endif /* __KERNEL_UNWIND_CODE_H */
