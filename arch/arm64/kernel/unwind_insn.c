// SPDX-License-Identifier: GPL-2.0
/*
 * Find the return address of an interrupted function without a rule, by its
 * instructions.
 *
 * As on x86-64: follow the instructions to the function's return.  A register that they restore
 * is on the stack until then, and a register that they leave alone has its value:
 *
 *	ip ->	add x0, x0, #1			the return address is in x30,
 *		ret				the caller's stack pointer is sp
 *
 *	ip ->	mov x0, x19			the return address is at sp + 8, the
 *		ldp x29, x30, [sp], #32		caller's frame pointer at sp, and its
 *		ret				stack pointer is sp + 32
 *
 * The search is given up if the path calls another function, jumps, or has an instruction
 * that is not understood.  A prologue is recognized by its instructions alone, because its path
 * would lead through the whole function; so are stubs of the linker, which end with br x16 or
 * br x17.
 *
 * The code is the program's, and may be anything: MAX_PATH instructions are read, and a few
 * around @ip.
 */

#include <linux/align.h>
#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/byteorder.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/unwind_arch.h>

#define MAX_PATH	64
/* Instructions of a loop on the path; longer loops are not understood */
#define MAX_LOOP	16
/* Number of instructions read in all, after which no further loop is examined */
#define MAX_READS	128
/* Cost of reading one instruction, in ordinary frames */
#define READ_COST	2
#define MAX_PROLOGUE	16
/* From the save of a frame record to where the frame pointer is set */
#define MAX_SAVED	12

/* stp x16, x30, [sp, #-16]!, in the stub that calls the dynamic linker */
#define STUB_PUSHES	0xa9bf7bf0
#define STUB_PUSHED	16
#define STUB_INSNS	5

/* Numbers of registers in instructions */
#define REG_FP		29
#define REG_LINK	30
#define REG_SP		31

#define IN_REGISTER	INT_MIN

enum outcome { GO_ON, RETURNS, RECORD, UNKNOWN };

/**
 * struct insn_path - instructions that are followed
 * @sp: the stack pointer, in bytes above the one at the interrupt
 * @saved: where x29 and x30 were restored from, as @sp; or IN_REGISTER
 */
struct insn_path {
	s32	sp;
	s32	saved[2];
};

struct pattern {
	u32	mask;
	u32	insn;
};

/* @patterns end with an empty one */
static bool is_any(u32 insn, const struct pattern *patterns)
{
	for (; patterns->mask; patterns++)
		if ((insn & patterns->mask) == patterns->insn)
			return true;
	return false;
}

static const struct pattern saves_record[] = {
	{ 0xfec07fff, 0xa8807bfd },	/* stp x29, x30, [sp, #]! */
	{ 0xffc07fff, 0xa9007bfd },	/* stp x29, x30, [sp, #] */
	{}
};

/* What follows these, and a call that does not return, is another part of the code */
static const struct pattern ends[] = {
	{ 0x7c000000, 0x14000000 },	/* b; bl */
	{ 0xfe000000, 0xd6000000 },	/* br; blr; ret; and with authentication */
	{ ~0U, 0xd503201f },		/* nop, before what is aligned */
	{}
};

static const struct pattern returns[] = {
	{ ~0U, 0xd65f03c0 },		/* ret */
	{ ~0x400U, 0xd65f0bff },	/* retaa; retab */
	{}
};

/* The first instruction of a function */
static const struct pattern begins[] = {
	{ ~0x80U, 0xd503245f },		/* bti c; bti jc */
	{ ~0x40U, 0xd503233f },		/* paciasp; pacibsp */
	{}
};

/* Before the jump of a stub, or of a function's last call */
static const struct pattern sets_target[] = {
	{ 0xffc003ff, 0xf9400211 },	/* ldr x17, [x16, #] */
	{ 0xff8003ff, 0x91000210 },	/* add x16, x16, # */
	{ 0xffe0fffe, 0xaa0003f0 },	/* mov x16, x; mov x17, x */
	{}
};

/* These set the stack pointer, and not to a sum with a constant */
static const struct pattern sets_sp[] = {
	{ 0x3fe0001f, 0x0b20001f },	/* add sp, x, x; sub sp, x, x */
	{ 0x5f80001f, 0x1200001f },	/* and sp, x, #; orr sp, x, # */
	{ 0x7f80001f, 0x5200001f },	/* eor sp, x, # */
	{ 0xffa0f01f, 0x0420501f },	/* addvl sp, x, #; addpl */
	{ 0xff2007e0, 0xd92007e0 },	/* stg [sp], #, and the like */
	{ 0xfec003e0, 0x688003e0 },	/* stgp [sp], #, and the like */
	{ 0xbe8003e0, 0x0c8003e0 },	/* ld1 [sp], #, and the like */
	{}
};

/*
 * The instruction that a uprobe's breakpoint has replaced, if the program is there.  It is known
 * while the uprobe's handlers run, and afterwards, until the instruction is executed elsewhere.
 */
static u32 replaced_insn(unsigned long ip)
{
#ifdef CONFIG_UPROBES
	const struct uprobe_task *utask = current->utask;

	/* The task changes it without protection against interrupts */
	if (!in_task() || !utask)
		return 0;
	if (utask->auprobe && ip == instruction_pointer(task_pt_regs(current)))
		return le32_to_cpu(utask->auprobe->insn);
	if (utask->active_uprobe && ip == utask->vaddr)
		return utask->autask.insn;
#endif
	return 0;
}

static void pay(struct unwind_arch_caller *to, unsigned int cost)
{
	to->left = to->left > cost ? to->left - cost : 0;
}

static u32 read_insn(struct unwind_arch_caller *to, unsigned long ip)
{
	__le32 insn;

	to->looked++;
	pay(to, READ_COST);
	if (!to->left)
		return 0;
	if (!unwind_read_code(insn, (const __le32 __user *)ip, to->code)) {
		to->unread = ip;
		pay(to, UNWIND_UNREAD_COST);
		return 0;
	}
	return insn == cpu_to_le32(BRK64_OPCODE_UPROBES) ? replaced_insn(ip) : le32_to_cpu(insn);
}

/* Branches, exceptions, system instructions, and invalid instructions */
static bool may_branch(u32 insn)
{
	return (insn & 0x1c000000) == 0x14000000 || !insn;
}

static bool is_pair(u32 insn)
{
	return (insn & 0x3a000000) == 0x28000000;
}

/* Load or store: offset from the base, and whether the base is updated @before or @after it */
static bool counts_from(u32 insn, s32 *offset, bool *before, bool *after)
{
	*before = false;
	*after = false;
	if (is_pair(insn)) {
		*offset = sign_extend32(insn >> 15, 6) *
			  (4 << (insn & BIT(26) ? insn >> 30 : insn >> 31));
		*before = (insn & 0x01800000) == 0x01800000;
		*after = (insn & 0x01800000) == 0x00800000;
	} else if ((insn & 0x3b200000) == 0x38000000) {
		*offset = sign_extend32(insn >> 12, 8);
		*before = (insn & 0xc00) == 0xc00;
		*after = (insn & 0xc00) == 0x400;
	} else if ((insn & 0x3b000000) == 0x39000000) {
		*offset = (insn >> 10 & 0xfff) << (insn >> 30);
	} else {
		return false;
	}
	return true;
}

/* Is x29 or x30 an operand that may be written, or stored?  Vectors have the same numbers. */
static bool has_fp_or_lr(u32 insn)
{
	const u32 first = insn & 0x1f, second = is_pair(insn) ? insn >> 10 & 0x1f : 0;

	return first == REG_FP || first == REG_LINK || second == REG_FP || second == REG_LINK;
}

/* Bytes by which the stack pointer goes up; false if that is not known */
static bool moves_sp(u32 insn, s32 *by)
{
	bool before, after;

	if (is_any(insn, sets_sp))
		return false;
	/* add sp, x, #; sub sp, x, # */
	if ((insn & 0xbf80001f) == 0x9100001f) {
		*by = (insn >> 10 & 0xfff) << (insn & BIT(22) ? 12 : 0);
		if (insn & BIT(30))
			*by = -*by;
		return (insn >> 5 & 0x1f) == REG_SP;
	}
	if ((insn >> 5 & 0x1f) != REG_SP || !counts_from(insn, by, &before, &after) ||
	    (!before && !after))
		*by = 0;
	return true;
}

/* ldp and ldr of 64 bits, by the stack pointer, restore what was saved */
static enum outcome follow_restore(struct insn_path *path, u32 insn)
{
	const u32 regs[] = { insn & 0x1f, is_pair(insn) ? insn >> 10 & 0x1f : REG_SP };
	bool before, after;
	unsigned int i;
	s32 slot;

	if (((insn & 0xfe400000) != 0xa8400000 && (insn & 0xfec00000) != 0xf8400000) ||
	    (insn >> 5 & 0x1f) != REG_SP || !counts_from(insn, &slot, &before, &after))
		return UNKNOWN;
	slot = path->sp + (after ? 0 : slot);
	for (i = 0; i < ARRAY_SIZE(regs); i++, slot += sizeof(u64)) {
		if (regs[i] != REG_FP && regs[i] != REG_LINK)
			continue;
		if (slot < 0 || path->saved[regs[i] - REG_FP] != IN_REGISTER)
			return UNKNOWN;
		path->saved[regs[i] - REG_FP] = slot;
	}
	return GO_ON;
}

static enum outcome follow(struct insn_path *path, u32 insn)
{
	s32 by;

	/* mov sp, x29; add sp, x29, #; sub sp, x29, #: the stack is freed by the record */
	if ((insn & 0xbf8003ff) == 0x910003bf)
		return path->saved[0] == IN_REGISTER ? RECORD : UNKNOWN;
	if (!moves_sp(insn, &by) || (has_fp_or_lr(insn) && follow_restore(path, insn)))
		return UNKNOWN;
	path->sp += by;
	return GO_ON;
}

/* br x16, br x17: does it leave the function?  A stub may have pushed two registers. */
static enum outcome follow_leave(struct unwind_arch_caller *to, struct insn_path *path,
				 unsigned long ip)
{
	unsigned int i;

	if (!is_any(read_insn(to, ip - AARCH64_INSN_SIZE), sets_target))
		return UNKNOWN;
	for (i = 2; i < STUB_INSNS; i++)
		if (read_insn(to, ip - i * AARCH64_INSN_SIZE) == STUB_PUSHES)
			path->sp += STUB_PUSHED;
	return RETURNS;
}

/* Does a conditional branch end a loop that moves the stack pointer each time? */
static bool loop_moves_sp(struct unwind_arch_caller *to, unsigned long ip, u32 insn)
{
	const unsigned long start = ip + aarch64_get_branch_offset(insn);
	s32 by;

	if (start > ip)
		return false;
	if (ip - start > MAX_LOOP * AARCH64_INSN_SIZE || to->looked > MAX_READS)
		return true;
	for (ip -= AARCH64_INSN_SIZE; ip >= start; ip -= AARCH64_INSN_SIZE) {
		insn = read_insn(to, ip);
		if (!insn || !moves_sp(insn, &by) || by)
			return true;
	}
	return false;
}

static enum outcome follow_branch(struct unwind_arch_caller *to, struct insn_path *path, u32 insn,
				  unsigned long ip)
{
	if (is_any(insn, returns))
		return RETURNS;
	if ((insn & ~0x20U) == 0xd61f0200)
		return follow_leave(to, path, ip);
	/* Both paths lead to the same result, except after a loop that moves the stack pointer */
	if (aarch64_insn_is_bcond(insn) || aarch64_insn_is_cbz(insn) ||
	    aarch64_insn_is_cbnz(insn) || aarch64_insn_is_tbz(insn) || aarch64_insn_is_tbnz(insn))
		return loop_moves_sp(to, ip, insn) ? UNKNOWN : GO_ON;
	/* Hints, barriers, system registers; not calls, jumps and exceptions */
	return (insn & 0xffc00000) == 0xd5000000 && !has_fp_or_lr(insn) ? GO_ON : UNKNOWN;
}

static enum outcome follow_path(struct unwind_arch_caller *to, struct insn_path *path,
				unsigned long ip)
{
	enum outcome outcome = GO_ON;
	unsigned int i;
	u32 insn;

	for (i = 0; i < MAX_PATH && outcome == GO_ON; i++, ip += AARCH64_INSN_SIZE) {
		insn = read_insn(to, ip);
		outcome = may_branch(insn) ? follow_branch(to, path, insn, ip) :
					     follow(path, insn);
	}
	return outcome == GO_ON ? UNKNOWN : outcome;
}

/* Does the function set up a frame record next, without a call before that? */
static bool in_prologue(struct unwind_arch_caller *to, unsigned long ip)
{
	bool saved = false;
	unsigned int i;
	u32 insn;

	for (i = 1; i <= MAX_SAVED && !saved; i++) {
		insn = read_insn(to, ip - i * AARCH64_INSN_SIZE);
		saved = is_any(insn, saves_record);
		if (may_branch(insn) || has_fp_or_lr(insn))
			break;
	}
	for (i = 0; i < MAX_PROLOGUE; i++, ip += AARCH64_INSN_SIZE) {
		insn = read_insn(to, ip);
		/* add x29, sp, #; mov x29, sp */
		if ((insn & 0xff8003ff) == 0x910003fd)
			return saved;
		if (is_any(insn, saves_record))
			saved = true;
		else if (has_fp_or_lr(insn) ||
			 (may_branch(insn) && (insn & 0xfffff000) != 0xd5032000))
			return false;
	}
	return false;
}

/**
 * unwind_arch_find_caller - find an interrupted function's caller by its instructions
 * @ip: the interrupted instruction, of a 64-bit program
 * @to: result; the caller of this function has set @left and @code
 *
 * Context: any with page faults disabled; else task context that may sleep.
 * Return: 0; -EEXIST there is a frame record, and the frame pointer points to it; -ENOENT
 * the instructions do not show it.
 */
int unwind_arch_find_caller(unsigned long ip, struct unwind_arch_caller *to)
{
	struct insn_path path = { .saved = { IN_REGISTER, IN_REGISTER } };
	enum outcome outcome;

	*to = (struct unwind_arch_caller){
		.left = to->left,
		.code = to->code,
		.ra_in_link = true,
	};
	if (!IS_ALIGNED(ip, AARCH64_INSN_SIZE))
		return -ENOENT;
	if (in_prologue(to, ip))
		goto found;
	to->sp_known = true;
	if (is_any(read_insn(to, ip), begins))
		goto found;
	outcome = follow_path(to, &path, ip);
	if (outcome == RECORD) {
		to->unread = 0;
		return -EEXIST;
	}
	if (outcome == UNKNOWN || path.sp < 0)
		return -ENOENT;
	to->cfa = path.sp;
	to->ra_in_link = path.saved[1] == IN_REGISTER;
	to->ra = to->ra_in_link ? 0 : path.saved[1];
	to->fp_saved = path.saved[0] != IN_REGISTER;
	to->fp = to->fp_saved ? path.saved[0] : 0;
found:
	to->unread = 0;
	return 0;
}

/**
 * unwind_arch_sets_fp - do instructions set the frame pointer to a place in the frame?
 * @from: the first instruction
 * @last: address of the last one; of a longer range, only the beginning is examined
 * @offset: of the place, from the stack pointer
 * @insns: see there
 *
 * Context: as unwind_arch_find_caller().
 * Return: whether there is such an instruction.
 */
bool unwind_arch_sets_fp(unsigned long from, unsigned long last, long offset,
			 struct unwind_arch_caller *insns)
{
	/* add x29, sp, #; mov x29, sp */
	const u32 sets = 0x910003fd | (u32)offset << 10;
	unsigned int i;
	u32 insn;

	if (!IS_ALIGNED(from, AARCH64_INSN_SIZE) || offset < 0 || offset > 0xfff)
		return false;
	for (i = 0; i < MAX_PROLOGUE && from <= last; i++, from += AARCH64_INSN_SIZE) {
		insn = read_insn(insns, from);
		if (insn == sets || insns->unread)
			return insn == sets;
	}
	return false;
}

/**
 * unwind_arch_goes_on - does the code before an instruction go on there?
 * @ip: the instruction
 * @insns: see there
 *
 * Context: as unwind_arch_find_caller().
 * Return: 1; 0 if it is a branch or padding; -ENOENT that is not known.
 */
int unwind_arch_goes_on(unsigned long ip, struct unwind_arch_caller *insns)
{
	u32 insn;

	if (!IS_ALIGNED(ip, AARCH64_INSN_SIZE))
		return -ENOENT;
	insn = read_insn(insns, ip - AARCH64_INSN_SIZE);
	/* Another breakpoint than uprobes' may have replaced it */
	if (!insn || aarch64_insn_is_brk(insn))
		return -ENOENT;
	return !is_any(insn, ends);
}
