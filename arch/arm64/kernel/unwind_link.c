// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that were interrupted while their return address was in the link register,
 * and of which no table tells.  Asked by the iterator, kernel/unwind/user.c.
 *
 * A function saves its return address beside the frame pointer, and is found by this
 * frame record from then on.  Before, and once it has restored both, the frame pointer
 * is its caller's, and leads past that caller.  So it does in the stubs that the linker
 * makes for calls into libraries, of which it writes no tables.
 *
 * Where the return address is at an instruction is known from what comes before and
 * after it, as compilers and linkers write it:
 *
 *	bti c / paciasp			where a function, or a stub, begins
 *
 *	stp x29, x30, [sp, #-N]!	what saves both, and
 *	mov x29, sp			from where on they are a frame record; or
 *
 *	sub sp, sp, #N
 *	stp x29, x30, [sp, #M]		with the record further up in the frame
 *	add x29, sp, #M
 *
 *	autiasp / ret / retaa		where it returns to the register, which nothing has
 *					written on the way there; so it was there before
 *
 *	ldp x29, x30, [sp], #N		what restores both, and
 *	b / br				goes on in another function
 *
 *	bti c				a function without a frame, which keeps its return
 *	mov xN, x30			address in another register while it calls what
 *	bl ...				leaves that alone; and has it back, as glibc's setjmp()
 *	mov x30, xN
 *
 *	adrp x16, ...			a stub, all of it.  The first of them has pushed
 *	ldr x17, [x16, #...]		x16 and x30 before, for what the dynamic linker
 *	add x16, x16, #...		does when a function is called for the first time
 *	br x17
 *
 *	adrp x16, ...			a stub that leads to where a branch does not reach
 *	add x16, x16, #...
 *	br x16
 *
 * Other instructions may stand between these, some of which push and pop registers.
 * Nothing is claimed where none of this is near.  So a leaf that has no frame record is
 * known where it begins and not far from its return: elsewhere, to find its caller takes
 * a table.
 *
 * How far the stack pointer has moved may be unknown, where it was moved by a register,
 * or further away than is looked.  The return address is then known all the same, and
 * the caller's frame by its frame record only.
 *
 * Where a uprobe is, there stands a breakpoint.  What it has replaced is known of the
 * next instruction, and of no other.
 *
 * That nothing is known takes longest to find out.  It is kept for the next time (walk.c),
 * but where breakpoints are, which are gone some day.
 *
 * The instructions are the process's own and may be chosen to mislead: what comes out
 * is an address of that process, in its text.
 */

#include <linux/align.h>
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/ptrace.h>
#include <asm/unwind_user.h>

#define INSN_SIZE	4

/* How far is looked, either way */
#define NEAR		16
/* And where a function begins that has no frame */
#define FAR		32

/* brk #0: what debuggers take as a breakpoint */
#define BRK_OF_DEBUGGERS	0xd4200000

/* An instruction, and what of it is the same for all offsets and registers */
struct pattern {
	u32	mask;
	u32	insn;
};

/* Bits of offsets of pairs of registers, and of additions */
#define PAIR_OFFSET	((u32)GENMASK(21, 15))
#define ADD_OFFSET	((u32)GENMASK(21, 10))

/* Where a function begins or ends, and nothing but its stack pointer may have changed */
static const struct pattern at_ends[] = {
	{ ~0x80U, 0xd503245f },			/* bti c; bti jc */
	{ ~0x40U, 0xd503233f },			/* paciasp; pacibsp */
	{ ~0x40U, 0xd50323bf },			/* autiasp; autibsp */
	{ ~0U, 0xd65f03c0 },			/* ret */
	{ ~0x400U, 0xd65f0bff },		/* retaa; retab */
	{ ~0U, 0xa9bf7bf0 },			/* stp x16, x30, [sp, #-16]! */
};

/* From where on the frame pointer is this frame's: add x29, sp, #; mov x29, sp */
static const struct pattern sets_fp = { ~ADD_OFFSET, 0x910003fd };

/* What saves both */
static const struct pattern saves[] = {
	{ ~PAIR_OFFSET, 0xa9807bfd },		/* stp x29, x30, [sp, #]! */
	{ ~PAIR_OFFSET, 0xa9007bfd },		/* stp x29, x30, [sp, #] */
};

/* From where on both are the caller's */
static const struct pattern restores[] = {
	{ ~PAIR_OFFSET, 0xa8c07bfd },		/* ldp x29, x30, [sp], # */
	{ ~PAIR_OFFSET, 0xa9407bfd },		/* ldp x29, x30, [sp, #] */
};

/* Into another register, and back */
static const struct pattern keeps_link = { ~0x1fU, 0xaa1e03e0 };
static const struct pattern gets_link = { ~0x1f0000U, 0xaa0003fe };

/* To the link register */
static const struct pattern returns[] = {
	{ ~0U, 0xd65f03c0 },			/* ret */
	{ ~0x400U, 0xd65f0bff },		/* retaa; retab */
};

/* Loads of two registers, by any addressing */
static const struct pattern loads_pair = { 0xfe400000, 0xa8400000 };
/* A store of two, which changes neither them nor the base */
static const struct pattern stores_pair = { 0xffc00000, 0xa9000000 };

/* "Branches, exception generating and system instructions" of the Arm ARM */
static const struct pattern branches = { 0x1c000000, 0x14000000 };

/* What moves the stack pointer, whatever is pushed or popped */
static const struct pattern moves_by_pair = { 0x3a8003e0, 0x288003e0 };
static const struct pattern moves_by_single = { 0x3b2007e0, 0x380007e0 };
static const struct pattern moves_by_tagged = { 0xff2007e0, 0xd92007e0 };
/* An addition to it, or to another register; or of one, so that nobody knows how far */
static const struct pattern adds_const = { 0xbf80001f, 0x9100001f };
static const struct pattern adds_reg = { 0xbfe0001f, 0x8b20001f };
/* Of the vectors' length, or the predicates' */
static const struct pattern adds_vectors = { 0xffa0f01f, 0x0420501f };
/* By some vectors that are loaded or stored; to a multiple, with and; not by ands */
static const struct pattern moves_by_vectors = { 0xbe8003e0, 0x0c8003e0 };
static const struct pattern aligns = { 0x1f80001f, 0x1200001f };
static const struct pattern tests_bits = { 0x7f80001f, 0x7200001f };
/* A pair that is stored with tags, which loads and stores of 32 bits are not */
static const struct pattern tagged_pair = { 0xfe400000, 0x68000000 };

/* What stubs are made of, before the jump; there are so many at most */
static const struct pattern in_stubs[] = {
	{ ~0x80U, 0xd503245f },			/* bti c */
	{ 0x9f00001f, 0x90000010 },		/* adrp x16, # */
	{ 0xff00001f, 0x58000010 },		/* ldr x16, # */
	{ ~ADD_OFFSET, 0xf9400211 },		/* ldr x17, [x16, #] */
	{ ~ADD_OFFSET, 0x91000210 },		/* add x16, x16, # */
	{ 0x9f00001f, 0x10000011 },		/* adr x17, # */
	{ ~0U, 0x8b110210 },			/* add x16, x16, x17 */
	{ ~0x40U, 0xd503219f },			/* autia1716; autib1716 */
	{ ~0U, 0xd503201f },			/* nop */
};

#define STUB_INSNS	5

/* br x16; br x17 */
static const struct pattern leaves_stub = { ~0x20U, 0xd61f0200 };
static const struct pattern push_x16 = { ~0U, 0xa9bf7bf0 };

#define PUSHED_BY_STUB	16

/**
 * struct code - what is looked at
 * @ip: the next instruction
 * @looked: how many instructions were read
 * @unread: an address that could not be read, which may have told more; 0 if all could
 * @sp_known: how far the stack pointer has moved is known
 * @probed: the instruction that was looked at last is a uprobe's
 * @patched: one of them was a uprobe's, or a debugger's
 */
struct code {
	unsigned long	ip;
	unsigned int	looked;
	unsigned long	unread;
	bool		sp_known;
	bool		probed;
	bool		patched;
};

/* An instruction, which may lie in memory that has tags */
static bool read_insn(unsigned long addr, u32 *insn)
{
	__le32 val;
	int ret;

	unwind_user_tags_off();
	ret = get_user(val, (const __le32 __user *)addr);
	unwind_user_tags_on();
	*insn = ret ? 0 : le32_to_cpu(val);
	return !ret;
}

/*
 * What a uprobe has replaced, where the program is.  While the uprobe's handlers run it
 * is at hand; after them, the program is about to execute it elsewhere.
 */
static u32 replaced_insn(struct code *code)
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

/* The instruction that is @at instructions after the next one; 0 is none, or unknown */
static u32 insn_at(struct code *code, int at)
{
	const unsigned long addr = code->ip + at * INSN_SIZE;
	u32 insn;

	code->probed = false;
	code->looked++;
	if (!read_insn(addr, &insn)) {
		code->unread = addr;
		return 0;
	}
	code->probed = insn == BRK64_OPCODE_UPROBES;
	code->patched |= code->probed || insn == BRK_OF_DEBUGGERS;
	if (!code->probed)
		return insn;
	/* Whatever it is, it may move the stack pointer */
	code->sp_known = false;
	return 0;
}

static bool matches(u32 insn, const struct pattern *pattern)
{
	return (insn & pattern->mask) == pattern->insn;
}

static bool matches_any(u32 insn, const struct pattern *patterns, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (matches(insn, &patterns[i]))
			return true;
	return false;
}

/* An offset of a pair is in units of its registers: of 4, 8 or 16 bytes */
static int pair_offset(u32 insn)
{
	const bool vector = insn & BIT(26);
	unsigned int size = insn >> 30;

	if (matches(insn, &tagged_pair))
		return sign_extend32(insn >> 15, 6) * 16;
	return sign_extend32(insn >> 15, 6) * (4 << (vector ? size : size >> 1));
}

static int add_offset(u32 insn)
{
	int offset = (insn >> 10 & 0xfff) << (insn & BIT(22) ? 12 : 0);

	return insn & BIT(30) ? -offset : offset;
}

static bool is_sp(unsigned int reg)
{
	return reg == 31;
}

/* Bytes by which the stack pointer goes up (negative: down); false: nobody knows */
static bool moves_sp(u32 insn, int *moved)
{
	*moved = 0;
	/* Most are neither to it nor by it */
	if (!is_sp(insn & 0x1f) && !is_sp(insn >> 5 & 0x1f))
		return true;
	if (matches(insn, &moves_by_pair))
		*moved = pair_offset(insn);
	else if (matches(insn, &moves_by_single))
		*moved = sign_extend32(insn >> 12, 8);
	else if (matches(insn, &moves_by_tagged))
		*moved = sign_extend32(insn >> 12, 8) * 16;
	else if (matches(insn, &adds_const) && is_sp(insn >> 5 & 0x1f))
		*moved = add_offset(insn);
	else if (matches(insn, &adds_const) || matches(insn, &adds_reg) ||
		 matches(insn, &adds_vectors) || matches(insn, &moves_by_vectors))
		return false;
	return !matches(insn, &aligns) || matches(insn, &tests_bits);
}

/* Of the group that has all branches and breakpoints? */
static bool may_branch(u32 insn)
{
	return matches(insn, &branches);
}

/* None is, or another function's: what follows is not reached from what is before */
static bool ends_code(u32 insn)
{
	if (!may_branch(insn))
		return !insn;
	return aarch64_insn_is_branch(insn) || aarch64_insn_is_brk(insn);
}

/* May be passed by: what follows is there to be executed, too */
static bool is_conditional(u32 insn)
{
	if (!may_branch(insn))
		return false;
	return aarch64_insn_is_bcond(insn) || aarch64_insn_is_cbz(insn) ||
	       aarch64_insn_is_cbnz(insn) || aarch64_insn_is_tbz(insn) ||
	       aarch64_insn_is_tbnz(insn);
}

/* A branch back: what is between may have been executed any number of times */
static bool is_loop(u32 insn)
{
	const bool tests_bit = aarch64_insn_is_tbz(insn) || aarch64_insn_is_tbnz(insn);

	return is_conditional(insn) && insn & (tests_bit ? BIT(18) : BIT(23));
}

/* Does what comes after it belong to another function, or is reached from elsewhere? */
static bool ends_block(u32 insn)
{
	return ends_code(insn) && !is_conditional(insn);
}

/* No function frees more than it has: then it is not what it looks like */
static int held_below(const struct code *code, int moved)
{
	if (!code->sp_known)
		return 0;
	return moved < 0 ? -ENOENT : moved;
}

/* How far down is the stack pointer by now, as far as can be seen? */
static int moved_so_far(struct code *code, bool *saved)
{
	int at, by, moved = 0;
	u32 insn;

	for (at = -1; at >= -NEAR; at--) {
		insn = insn_at(code, at);
		if (ends_block(insn)) {
			/* Most of all, it is where a function begins that is probed */
			*saved |= code->probed;
			return moved;
		}
		*saved |= matches_any(insn, saves, ARRAY_SIZE(saves));
		code->sp_known &= moves_sp(insn, &by) && !is_loop(insn);
		moved -= by;
	}
	/* There may be more of it */
	code->sp_known = false;
	return moved;
}

/*
 * The frame pointer will be set to where it is saved, or was: how far down is the stack
 * pointer by now?  Where nothing is saved, the register has another use.
 */
static int held_at_begin(struct code *code, u32 insn)
{
	bool saved = false, loops = false;
	int at = 0, moved;

	while (!matches(insn, &sets_fp)) {
		saved |= matches_any(insn, saves, ARRAY_SIZE(saves));
		loops |= is_loop(insn);
		if (ends_block(insn) || ++at == NEAR)
			return -ENOENT;
		insn = insn_at(code, at);
	}
	code->sp_known = !loops;
	moved = moved_so_far(code, &saved);
	return saved ? held_below(code, moved) : -ENOENT;
}

static bool is_fp_or_lr(unsigned int reg)
{
	return reg == 29 || reg == 30;
}

/* Does it, or may it? What has the register's number there writes it, or stores it. */
static bool writes_fp_or_lr(u32 insn)
{
	return is_fp_or_lr(insn & 0x1f) ||
	       (matches(insn, &loads_pair) && is_fp_or_lr(insn >> 10 & 0x1f));
}

static bool was_restored(struct code *code)
{
	u32 insn;
	int at;

	for (at = -1; at >= -NEAR; at--) {
		insn = insn_at(code, at);
		if (ends_code(insn))
			return false;
		if (matches_any(insn, restores, ARRAY_SIZE(restores)))
			return true;
	}
	return false;
}

/* Neither is written up to the function's end: how far up will the stack pointer go? */
static int held_at_end(struct code *code, u32 insn)
{
	int at = 0, by, moved = 0;

	code->sp_known = true;
	for (; !ends_block(insn); insn = insn_at(code, at)) {
		if (++at == NEAR)
			return -ENOENT;
		if (is_conditional(insn)) {
			code->sp_known &= !is_loop(insn);
			continue;
		}
		if (writes_fp_or_lr(insn))
			return -ENOENT;
		code->sp_known &= moves_sp(insn, &by);
		moved += by;
	}
	if (matches_any(insn, returns, ARRAY_SIZE(returns)))
		return held_below(code, moved);
	/* Other branches may lead back into the function */
	return aarch64_insn_is_branch(insn) && was_restored(code) ?
	       held_below(code, moved) : -ENOENT;
}

/* Is @insn, which is @at instructions after the next one, where the register is got back? */
static bool gets_kept_link(struct code *code, u32 insn, int at)
{
	if (!matches(insn, &gets_link) || !aarch64_insn_is_bl(insn_at(code, at - 1)))
		return false;
	if (insn_at(code, at - 2) != (keeps_link.insn | (insn >> 16 & 0x1f)))
		return false;
	return matches_any(insn_at(code, at - 3), at_ends, ARRAY_SIZE(at_ends));
}

/* Neither is written since it was got back: how far down is the stack pointer by now? */
static int held_again(struct code *code)
{
	int at, by, moved = 0;
	u32 insn;

	code->sp_known = true;
	for (at = -1; at >= -FAR; at--) {
		insn = insn_at(code, at);
		if (gets_kept_link(code, insn, at))
			return held_below(code, moved);
		if (ends_block(insn) ||
		    (writes_fp_or_lr(insn) && !matches(insn, &stores_pair)))
			break;
		code->sp_known &= moves_sp(insn, &by) && !is_loop(insn);
		moved -= by;
	}
	return -ENOENT;
}

static int held_in_stub(struct code *code, u32 insn)
{
	int at = 0;

	code->sp_known = true;
	while (at < STUB_INSNS && matches_any(insn, in_stubs, ARRAY_SIZE(in_stubs)))
		insn = insn_at(code, ++at);
	if (!matches(insn, &leaves_stub))
		return -ENOENT;
	/* Such a jump alone may be any function's */
	insn = insn_at(code, -1);
	if (!at && !matches_any(insn, in_stubs, ARRAY_SIZE(in_stubs)))
		return -ENOENT;
	for (at = -1; at > -STUB_INSNS; insn = insn_at(code, --at))
		if (!matches_any(insn, in_stubs, ARRAY_SIZE(in_stubs)))
			break;
	return matches(insn, &push_x16) ? PUSHED_BY_STUB : 0;
}

static int held(struct code *code, u32 insn)
{
	int ret;

	code->sp_known = true;
	if (matches_any(insn, at_ends, ARRAY_SIZE(at_ends)))
		return 0;
	ret = held_at_begin(code, insn);
	if (ret == -ENOENT)
		ret = held_at_end(code, insn);
	if (ret == -ENOENT)
		ret = held_again(code);
	if (ret == -ENOENT)
		ret = held_in_stub(code, insn);
	return ret;
}

/**
 * unwind_user_link_holds_ra - whether a return address is still in the link register
 * @ip: the next instruction of what was interrupted, of which no table tells
 * @link: filled in; its stack pointer only if the return address is there
 *
 * Context: as unwind_user_start().
 * Return: 0 if it is there; -ENOENT if nothing is known; -EAGAIN if nothing is known while
 * there is a breakpoint near.  Where @link has an address that could not be read, more may
 * be known another time.
 */
int unwind_user_link_holds_ra(unsigned long ip, struct unwind_user_link *link)
{
	struct code code = { .ip = ip };
	u32 insn;
	int ret;

	*link = (struct unwind_user_link){};
	if (!IS_ALIGNED(ip, INSN_SIZE))
		return -ENOENT;
	insn = insn_at(&code, 0);
	if (code.probed)
		insn = replaced_insn(&code);
	ret = held(&code, insn);
	link->unread = code.unread;
	link->looked = code.looked;
	if (ret < 0)
		return code.patched ? -EAGAIN : ret;
	link->pushed = ret;
	link->sp_known = code.sp_known;
	return 0;
}
