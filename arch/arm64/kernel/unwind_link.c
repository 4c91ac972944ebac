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
 *	str x30, [sp, #-N]!		Go's, whose record begins below the frame
 *	stur x29, [sp, #-8]
 *	sub x29, sp, #8
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
 *
 * A compiler's code has the return address in one place at each instruction, however
 * that was come to.  So one way that leads from there to the end of the function without
 * a write to the register shows that it is there, whether or not it will be taken: ways
 * are tried at conditional branches until one does.  And so does the way straight back
 * to the beginning, if nothing on it has saved the register: what has may come again, in a
 * loop, after a call.  Instructions that are never executed tell nothing: compilers leave
 * branches to where nothing is, which is the next function then.
 *
 * Nothing is claimed where none of this is near.  To find the caller of a leaf there that
 * has no frame record takes a table.
 *
 * How far the stack pointer has moved may be unknown, where it was moved by a register,
 * or further away than is looked.  The return address is then known all the same, and
 * the caller's frame by its frame record only.
 *
 * The instructions are the process's own and may be chosen to mislead: what comes out
 * is an address of that process, in its text.
 */

#include <linux/align.h>
#include <linux/array_size.h>
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <asm/insn.h>
#include <asm/unwind_user.h>

#include "unwind_code.h"

/* How far is looked for a frame record, either way */
#define NEAR		16
/* And back to where a function begins that has none */
#define FAR		256
/* On ways to a function's end: so many instructions on all of them, and so far off */
#define ON_WAYS		512
#define OFF		512
#define WAYS		8
/* From the check of a switch to its jump through a table */
#define DISPATCH	16

/*
 * Instructions
 */

/* Where a function begins or ends, and nothing but its stack pointer may have changed */
static const struct unwind_insn at_ends[] = {
	{ ~0x80U, 0xd503245f },			/* bti c; bti jc */
	{ ~0x40U, 0xd503233f },			/* paciasp; pacibsp */
	{ ~0x40U, 0xd50323bf },			/* autiasp; autibsp */
	{ ~0U, 0xd65f03c0 },			/* ret */
	{ ~0x400U, 0xd65f0bff },		/* retaa; retab */
	{ ~0U, 0xa9bf7bf0 },			/* stp x16, x30, [sp, #-16]! */
};

/* Back from another register */
static const struct unwind_insn gets_link = { ~0x1f0000U, 0xaa0003fe };

/* b.hi, as where a value is not one of a switch */
static const struct unwind_insn is_higher = { 0xff00001f, 0x54000008 };

/* stp x29, x30, [sp, #]! */
static const struct unwind_insn pushes_record = { ~UNWIND_INSN_PAIR_OFFSET, 0xa9807bfd };

/* A store of two, which changes neither them nor the base */
static const struct unwind_insn stores_pair = { 0xffc00000, 0xa9000000 };

/* What stubs are made of, before the jump; there are so many at most */
static const struct unwind_insn in_stubs[] = {
	{ ~0x80U, 0xd503245f },			/* bti c */
	{ 0x9f00001f, 0x90000010 },		/* adrp x16, # */
	{ 0xff00001f, 0x58000010 },		/* ldr x16, # */
	{ ~UNWIND_INSN_ADD_OFFSET, 0xf9400211 },		/* ldr x17, [x16, #] */
	{ ~UNWIND_INSN_ADD_OFFSET, 0x91000210 },		/* add x16, x16, # */
	{ 0x9f00001f, 0x10000011 },		/* adr x17, # */
	{ ~0U, 0x8b110210 },			/* add x16, x16, x17 */
	{ ~0x40U, 0xd503219f },			/* autia1716; autib1716 */
	{ ~0U, 0xd503201f },			/* nop */
};

#define STUB_INSNS	5

/* And what comes before the jump where GCC calls a function by its address, at last: mov x16, x */
static const struct unwind_insn sets_target = { ~0x1f0001U, 0xaa0003f0 };
static const struct unwind_insn push_x16 = { ~0U, 0xa9bf7bf0 };

#define PUSHED_BY_STUB	16

/**
 * struct way - from the next instruction on, one of which the rest is to be looked at
 * @at: so many instructions after the next one it goes on
 * @moved: bytes by which the stack pointer has gone up until there
 * @sp_known: whether that is so
 * @called: there was a system call on it
 * @forked: it has come there by a conditional branch
 * @checked_at: where that is, if it is one like a switch's; else INT_MIN
 */
struct way {
	int	at;
	int	moved;
	bool	sp_known;
	bool	called;
	bool	forked;
	int	checked_at;
};

/**
 * struct ways - those that are left
 * @passed: instructions that some way has passed
 * @looked_max: enough is looked at by then
 * @nr: how many are left
 * @way: they
 */
struct ways {
	DECLARE_BITMAP(passed, 2 * OFF);
	unsigned int	looked_max;
	unsigned int	nr;
	struct way	way[WAYS];
};

/* No function frees more than it has: then it is not what it looks like */
static int held_below(const struct unwind_code *code, int moved)
{
	if (!code->sp_known)
		return 0;
	return moved < 0 ? -ENOENT : moved;
}

/* Where it branches: may that have moved the stack pointer? */
static noinline bool branch_moves_sp(struct unwind_code *code, int at, u32 insn)
{
	return unwind_insn_is_conditional(insn) &&
	       unwind_code_loop_moves_sp(code, at, insn);
}

/* Is it known how far @insn moves the stack pointer? */
static __always_inline bool moves_sp(struct unwind_code *code, int at, u32 insn,
				     int *moved)
{
	if (unwind_insn_is_plain(insn))
		return unwind_insn_moves_sp(insn, moved);
	*moved = 0;
	return !branch_moves_sp(code, at, insn);
}

/* Stores apart: nothing else has that number there, but where it branches */
static bool overwrites_fp_or_lr(u32 insn)
{
	return unwind_insn_is_plain(insn) && unwind_insn_writes_fp_or_lr(insn) &&
	       !unwind_insn_is(insn, &UNWIND_INSN_SAVES_PAIR) &&
	       !unwind_insn_is(insn, &UNWIND_INSN_SAVES_SINGLE);
}

/*
 * Where a frame record is made
 */

/*
 * How far down is the stack pointer by now, as far as can be seen?  Where one of the two is
 * written, @saved becomes false: once it is saved, the link register is free.
 */
static int moved_so_far(struct unwind_code *code, bool *saved)
{
	int at, by, moved = 0;
	bool before = false;
	u32 insn;

	for (at = -1; at >= -NEAR; at--) {
		insn = unwind_code_insn(code, at);
		if (unwind_insn_ends_block(insn)) {
			/* Most of all, it is where a function begins that is probed */
			*saved |= code->probed;
			return moved;
		}
		if (unwind_insn_saves_both(insn)) {
			*saved = true;
			before = true;
		} else if (!before && overwrites_fp_or_lr(insn)) {
			*saved = false;
			return 0;
		}
		/* Before a system call that does not return may be another function */
		code->sp_known &= moves_sp(code, at, insn, &by) &&
				  !aarch64_insn_is_svc(insn);
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
static int held_at_begin(struct unwind_code *code)
{
	bool saved = false, loops = false;
	u32 insn = code->insn;
	int at = 0, moved;

	while (!unwind_insn_makes_fp(insn)) {
		if (unwind_insn_is_plain(insn))
			saved |= unwind_insn_saves_both(insn);
		else if (unwind_insn_is_conditional(insn))
			loops |= unwind_code_loop_moves_sp(code, at, insn);
		else if (unwind_insn_ends_code(insn) || aarch64_insn_is_svc(insn))
			return -ENOENT;
		if (++at == NEAR)
			return -ENOENT;
		insn = unwind_code_insn(code, at);
	}
	code->sp_known = !loops;
	moved = moved_so_far(code, &saved);
	return saved ? held_below(code, moved) : -ENOENT;
}

/*
 * Since it began
 */

/*
 * Is @insn, a move to the register, @at instructions after the next one, where it is got
 * back?  Then from which register, by its number; else -1.
 */
static int got_back_from(struct unwind_code *code, u32 insn, int at)
{
	const unsigned int reg = insn >> 16 & 0x1f;

	if (!aarch64_insn_is_bl(unwind_code_insn(code, at - 1)) ||
	    unwind_code_insn(code, at - 2) != (UNWIND_INSN_COPIES_LINK.insn | reg))
		return -1;
	/* Most of all, it is where a function begins that is probed */
	if (!unwind_insn_is_begin(unwind_code_insn(code, at - 3)) && !code->probed)
		return -1;
	return reg;
}

/* Is that kept in the meantime, for a call?  The register has it until then. */
static int held_for_call(struct unwind_code *code, unsigned int *reg)
{
	const bool is_call = aarch64_insn_is_bl(code->insn);
	u32 insn = is_call ? unwind_code_insn(code, 1) : code->insn;
	int kept;

	if (!unwind_insn_is(insn, &gets_link))
		return -ENOENT;
	code->sp_known = true;
	kept = got_back_from(code, insn, is_call);
	if (kept < 0)
		return -ENOENT;
	if (!is_call)
		*reg = kept;
	return 0;
}

/*
 * Neither is written since the function began, or since it was got back: how far down is
 * the stack pointer by now?
 */
static int held_since(struct unwind_code *code)
{
	int at, by, moved = 0;
	bool copied = false;
	u32 insn;

	code->sp_known = true;
	for (at = -1; at >= -FAR; at--) {
		insn = unwind_code_insn(code, at);
		if (!unwind_insn_is_plain(insn)) {
			if (!copied && unwind_insn_is_begin(insn))
				return held_below(code, moved);
			if (unwind_insn_ends_block(insn))
				break;
		} else if (unwind_insn_is(insn, &gets_link)) {
			return got_back_from(code, insn, at) < 0 ? -ENOENT :
								   held_below(code, moved);
		} else if (unwind_insn_writes_fp_or_lr(insn) &&
			   !unwind_insn_is(insn, &stores_pair)) {
			break;
		}
		copied |= unwind_insn_copies_fp_or_lr(insn);
		code->sp_known &= moves_sp(code, at, insn, &by);
		moved -= by;
	}
	return -ENOENT;
}

/*
 * Stubs
 */

/* Is there a stub from @at on, to its end?  So many instructions before the jump, or -1 */
static int stub_insns(struct unwind_code *code, int at)
{
	u32 insn = unwind_code_insn(code, at);
	int nr = 0;

	while (nr < STUB_INSNS && unwind_insn_is_any(insn, in_stubs, ARRAY_SIZE(in_stubs)))
		insn = unwind_code_insn(code, at + ++nr);
	return unwind_insn_is(insn, &UNWIND_INSN_LEAVES) ? nr : -1;
}

/*
 * Ways out
 */

/*
 * A way has come to where a function begins.  Is that the end of this one, or where it makes
 * its record at last?  Where it cannot go on, another function may lie that nobody goes on
 * to: behind a system call that does not return, or where a switch branches to for a value
 * that it never has.  A jump leads to what it is for.
 */
static bool is_out(const struct way *way, u32 insn, bool jumped)
{
	if (way->called)
		return false;
	return jumped || (!way->forked && unwind_insn_is(insn, &UNWIND_INSN_SIGNS_LINK));
}

/* On to the next instruction; most are passed here, and none of them is a branch */
static __always_inline void pass(struct way *way, u32 insn)
{
	int by;

	way->sp_known &= unwind_insn_moves_sp(insn, &by);
	way->moved += by;
	way->at++;
	way->forked = false;
}

/* Where it branches, or is no instruction: does it lead on to the next one? */
static bool pass_branch(struct unwind_code *code, struct way *way, u32 insn)
{
	if (unwind_insn_ends_block(insn))
		return false;
	way->sp_known &= !branch_moves_sp(code, way->at, insn);
	if (aarch64_insn_is_svc(insn)) {
		way->called = true;
		way->sp_known = false;
	}
	way->at++;
	/* No more than a landing pad may be left of what nobody goes to */
	way->forked &= unwind_insn_is(insn, &UNWIND_INSN_JUMP_PAD);
	return true;
}

/* Is it straight from there to where a record is made?  What is saved may be overwritten. */
static bool leads_to_record(struct unwind_code *code, const struct way *way, u32 insn)
{
	int at = way->at, end = at + NEAR;

	if (way->called)
		return false;
	for (; at < end; insn = unwind_code_insn(code, ++at)) {
		if (unwind_insn_makes_fp(insn))
			return true;
		if (unwind_insn_ends_block(insn) || aarch64_insn_is_svc(insn))
			return false;
	}
	return false;
}

/* Is @insn a jump to a function whose address was moved into its register, shortly before? */
static bool calls_last(struct unwind_code *code, const struct way *way, u32 insn)
{
	const unsigned int reg = insn >> 5 & 0x1f;
	int at = way->at;

	if (!unwind_insn_is(insn, &UNWIND_INSN_LEAVES))
		return false;
	do {
		insn = unwind_code_insn(code, --at);
		if (unwind_insn_is(insn, &sets_target) && (insn & 0x1f) == reg)
			return true;
	} while (way->at - at < NEAR && unwind_insn_is_plain(insn) && (insn & 0x1f) != reg);
	return false;
}

/*
 * Is it straight from where a jump leads to, with all jumps, to an end, a stub, or a
 * record?  This may be as far off as jumps lead.
 */
static bool leads_straight_out(struct unwind_code *code, struct way *way)
{
	bool jumped = true;
	u32 insn;
	int nr;

	for (nr = 0; nr < NEAR; nr++) {
		if (jumped && stub_insns(code, way->at) > 0)
			return true;
		insn = unwind_code_insn(code, way->at);
		if (unwind_insn_saves_both(insn)) {
			/* A function begins with it; else, what was pushed is not known of */
			way->sp_known &= jumped && unwind_insn_is(insn, &pushes_record);
			return leads_to_record(code, way, insn);
		}
		if (unwind_insn_is_plain(insn)) {
			if (unwind_insn_writes_fp_or_lr(insn))
				return false;
			pass(way, insn);
			jumped = false;
			continue;
		}
		if (unwind_insn_returns(insn) || calls_last(code, way, insn))
			return true;
		if (unwind_insn_is_begin(insn))
			return is_out(way, insn, jumped);
		jumped = aarch64_insn_is_b(insn);
		if (jumped)
			way->at += unwind_insn_jumps_by(insn);
		else if (!pass_branch(code, way, insn))
			return false;
	}
	return false;
}

/* Is there something to be seen on a way that no other has passed? */
static bool may_go_on(const struct unwind_code *code, struct ways *ways, int at)
{
	return at >= -OFF && at < OFF && code->looked < ways->looked_max &&
	       !__test_and_set_bit(at + OFF, ways->passed);
}

/* @insn is a branch that may be taken: that is for later, if there is room */
static void fork_way(struct ways *ways, const struct way *way, u32 insn)
{
	struct way *other;

	if (ways->nr == ARRAY_SIZE(ways->way))
		return;
	other = &ways->way[ways->nr++];
	*other = *way;
	other->at += unwind_insn_jumps_by(insn);
	other->forked = true;
	other->checked_at = unwind_insn_is(insn, &is_higher) ? way->at : INT_MIN;
}

/*
 * A way ends with a jump to where a register says.  If it is a switch's, the branch of its
 * check may lead to where nothing is: clang keeps it although no other value comes.
 */
static void drop_default(struct ways *ways, const struct way *way)
{
	int from;

	if (!ways->nr)
		return;
	from = ways->way[ways->nr - 1].checked_at;
	if (from < way->at && from >= way->at - DISPATCH)
		ways->nr--;
}

/* One of the registers is written, or stored: for a record? */
static bool may_save(struct unwind_code *code, struct way *way, u32 insn)
{
	/* What was pushed before is not known of */
	way->sp_known = false;
	return unwind_insn_saves_both(insn) && leads_to_record(code, way, insn);
}

/* A way jumps: does it lead out, straight from there? */
static bool jumps_out(struct unwind_code *code, struct way *way, u32 insn)
{
	struct way out;

	way->at += unwind_insn_jumps_by(insn);
	way->forked = false;
	out = *way;
	if (!leads_straight_out(code, &out))
		return false;
	*way = out;
	return true;
}

/* Does a way lead out of the function, and neither register is written on it? */
static bool leads_out(struct unwind_code *code, struct ways *ways, struct way *way)
{
	u32 insn;

	while (may_go_on(code, ways, way->at)) {
		insn = unwind_code_insn(code, way->at);
		if (unwind_insn_is_plain(insn)) {
			if (unwind_insn_writes_fp_or_lr(insn))
				return may_save(code, way, insn);
			pass(way, insn);
			continue;
		}
		if (unwind_insn_returns(insn) || calls_last(code, way, insn))
			return true;
		if (unwind_insn_is_begin(insn))
			return is_out(way, insn, false);
		if (aarch64_insn_is_b(insn)) {
			if (jumps_out(code, way, insn))
				return true;
			continue;
		}
		if (unwind_insn_is_conditional(insn))
			fork_way(ways, way, insn);
		if (aarch64_insn_is_br(insn))
			drop_default(ways, way);
		if (!pass_branch(code, way, insn))
			return false;
	}
	return false;
}

/* One way leads to the function's end: how far up will the stack pointer go on it? */
static int held_on_the_way(struct unwind_code *code)
{
	struct ways ways = {
		.nr = 1,
		.way[0].sp_known = true,
		.looked_max = code->looked + ON_WAYS,
	};
	struct way way;

	while (ways.nr) {
		way = ways.way[--ways.nr];
		if (!leads_out(code, &ways, &way))
			continue;
		code->sp_known = way.sp_known;
		return held_below(code, way.moved);
	}
	return -ENOENT;
}

static bool was_restored(struct unwind_code *code)
{
	u32 insn;
	int at;

	for (at = -1; at >= -NEAR; at--) {
		insn = unwind_code_insn(code, at);
		if (unwind_insn_ends_code(insn))
			return false;
		if (unwind_insn_restores_record(insn))
			return true;
	}
	return false;
}

/* Both were restored, and then comes a jump: how far up will the stack pointer go? */
static int held_before_jump(struct unwind_code *code)
{
	int at = 0, by, moved = 0;
	u32 insn = code->insn;

	if (!was_restored(code))
		return -ENOENT;
	code->sp_known = true;
	for (; !unwind_insn_ends_block(insn); insn = unwind_code_insn(code, at)) {
		if (unwind_insn_writes_fp_or_lr(insn) || at + 1 == NEAR)
			return -ENOENT;
		code->sp_known &= moves_sp(code, at++, insn, &by);
		moved += by;
	}
	return unwind_insn_ends_code(insn) && aarch64_insn_is_branch(insn) ?
	       held_below(code, moved) : -ENOENT;
}

static int held_in_stub(struct unwind_code *code)
{
	int at, nr = stub_insns(code, 0);
	u32 insn;

	if (nr < 0)
		return -ENOENT;
	/* Such a jump alone may be any function's */
	insn = unwind_code_insn(code, -1);
	if (!nr && !unwind_insn_is_any(insn, in_stubs, ARRAY_SIZE(in_stubs)))
		return -ENOENT;
	code->sp_known = true;
	for (at = -1; at > -STUB_INSNS; insn = unwind_code_insn(code, --at))
		if (!unwind_insn_is_any(insn, in_stubs, ARRAY_SIZE(in_stubs)))
			break;
	return unwind_insn_is(insn, &push_x16) ? PUSHED_BY_STUB : 0;
}

/*
 * All of these, those first that are soonest found
 */

/* @reg: where, if it is another register */
static int held(struct unwind_code *code, unsigned int *reg)
{
	int ret;

	code->sp_known = true;
	if (unwind_insn_is_any(code->insn, at_ends, ARRAY_SIZE(at_ends)))
		return 0;
	ret = held_for_call(code, reg);
	if (ret == -ENOENT)
		ret = held_at_begin(code);
	if (ret == -ENOENT)
		ret = held_since(code);
	if (ret == -ENOENT)
		ret = held_on_the_way(code);
	if (ret == -ENOENT)
		ret = held_before_jump(code);
	if (ret == -ENOENT)
		ret = held_in_stub(code);
	return ret;
}

/**
 * unwind_user_link_holds_ra - whether a return address is still in the link register
 * @ip: the next instruction of what was interrupted, of which no table tells
 * @link: filled in; its stack pointer and register only if the return address is there
 *
 * Context: as unwind_user_start().
 * Return: 0 if it is there; -ENOENT if nothing is known.  Where @link has an address that
 * could not be read, more may be known another time.
 */
int unwind_user_link_holds_ra(unsigned long ip, struct unwind_user_link *link)
{
	struct unwind_code code;
	unsigned long unread;
	int ret;

	*link = (struct unwind_user_link){};
	if (!IS_ALIGNED(ip, INSN_SIZE))
		return -ENOENT;
	unwind_code_start(&code, ip);
	link->reg = UNWIND_USER_LINK_REG;
	ret = held(&code, &link->reg);
	/* What could not be read of the ways to an end says nothing of a record */
	unread = code.unread;
	code.unread = 0;
	link->ambiguous = ret < 0 && !unwind_code_has_record(&code);
	if (!code.unread)
		code.unread = unread;
	link->unread = code.unread;
	link->looked = code.looked;
	if (ret < 0)
		return ret;
	link->pushed = ret;
	link->sp_known = code.sp_known;
	return 0;
}
