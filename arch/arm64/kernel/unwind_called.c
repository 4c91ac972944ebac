// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that were interrupted while their return address was in the link register,
 * and that are known by the call that put it there.  Asked by the iterator,
 * kernel/unwind/user.c, where the instructions around do not tell (unwind_link.c): in the
 * midst of a long function without a frame record, most of all.
 *
 * A call leaves the address behind it in the link register.  As long as the register has
 * that, either the function that is interrupted was called there, or it has made that call
 * itself, and what it called has returned.  It is the former if nothing from where it
 * begins to where it was interrupted calls, or saves, copies or writes either register:
 * then there is no frame record of it, and the frame pointer is its caller's, too.
 *
 * It begins where a landing pad is, the first one on the way back; and if programs of this
 * kind have none, where the call leads to, by itself (bl), or by the jumps that are there:
 * those of a veneer, or of a stub, which loads the address.
 *
 * It does not suffice that the call lies in another function, as one begins between the
 * two: longjmp() loads into the register where setjmp() was called, and is itself at the
 * end of a stack of other callers for some twenty instructions more.
 *
 * What the link register has is true of one stack alone, so nothing of this is kept.
 */

#include <linux/align.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/insn.h>
#include <asm/unwind_user.h>

#include "unwind_code.h"

/* How far back what was called may begin */
#define CALLED		4096
/* Jumps from there to where it begins: a stub's, and that of a veneer or an alias */
#define JUMPS		3

/* What adrp takes for a page, whatever the kernel does */
#define ADRP_PAGE	4096

/* adrp x16, # */
static const struct unwind_insn gets_page = { 0x9f00001f, 0x90000010 };
/* ldr x17, [x16, #]; add x16, x16, # */
static const struct unwind_insn loads_target = { ~(u32)GENMASK(21, 10), 0xf9400211 };
static const struct unwind_insn adds_target = { ~(u32)GENMASK(21, 10), 0x91000210 };

/* A stub, or a veneer, has begun at @addr with @insn: where does it lead to? */
static bool stub_leads_to(struct unwind_code *code, unsigned long addr, u32 insn,
			  unsigned long *to)
{
	const unsigned long page = ALIGN_DOWN(addr, ADRP_PAGE) +
				   aarch64_insn_adrp_get_offset(insn);
	unsigned int imm;

	if (!unwind_code_read(code, addr + INSN_SIZE, &insn))
		return false;
	imm = insn >> 10 & 0xfff;
	if (unwind_insn_is(insn, &adds_target)) {
		*to = page + imm;
		return true;
	}
	return unwind_insn_is(insn, &loads_target) &&
	       unwind_user_read(*to, (unsigned long __user *)(page + imm * sizeof(u64)), code);
}

/* Is there but a jump at @to?  Then it becomes where that leads to. */
static bool follow_jump(struct unwind_code *code, unsigned long *to)
{
	unsigned long addr = *to;
	u32 insn;

	if (!IS_ALIGNED(addr, INSN_SIZE) || !unwind_code_read(code, addr, &insn))
		return false;
	if (unwind_insn_is(insn, &UNWIND_INSN_LANDING_PAD)) {
		addr += INSN_SIZE;
		if (!unwind_code_read(code, addr, &insn))
			return false;
	}
	if (unwind_insn_is(insn, &gets_page))
		return stub_leads_to(code, addr, insn, to);
	if (!unwind_insn_may_branch(insn) || !aarch64_insn_is_b(insn))
		return false;
	*to = addr + aarch64_get_branch_offset(insn);
	return true;
}

/*
 * What was called is at @to, or where jumps lead to from there.  Where may the interrupted
 * function begin, then?  So many instructions before the next one, as a negative number;
 * -CALLED if nowhere.  The nearest, as stubs may well lie before it.
 */
static int begins_at(struct unwind_code *code, unsigned long to)
{
	int begin = -CALLED, jumps = 0;

	do {
		if (IS_ALIGNED(to, INSN_SIZE) && to <= code->ip &&
		    code->ip - to < CALLED * INSN_SIZE)
			begin = max(begin, -(int)((code->ip - to) / INSN_SIZE));
	} while (jumps++ < JUMPS && follow_jump(code, &to));
	return begin;
}

/*
 * From where the interrupted function begins, at @begin or at a landing pad, has nothing
 * been done to either register?  Then how far is the stack pointer down?
 */
static int untouched_since(struct unwind_code *code, int begin)
{
	int at, by, moved = 0;
	u32 insn = 0;

	code->sp_known = true;
	for (at = 0; at > begin && !unwind_insn_is_begin(insn); moved -= by) {
		insn = unwind_code_insn(code, --at);
		by = 0;
		if (unwind_insn_is_plain(insn)) {
			if (unwind_insn_writes_fp_or_lr(insn) ||
			    unwind_insn_copies_fp_or_lr(insn))
				return -ENOENT;
			code->sp_known &= unwind_insn_moves_sp(insn, &by);
			continue;
		}
		if (!insn || unwind_insn_is_call(insn))
			return -ENOENT;
		/* A loop, or what is before is not on the way */
		code->sp_known &= !unwind_insn_ends_code(insn);
	}
	if (at == -CALLED)
		return -ENOENT;
	if (!code->sp_known)
		return 0;
	return moved < 0 ? -ENOENT : moved;
}

static int called(struct unwind_code *code, unsigned long ra)
{
	const unsigned long from = ra - INSN_SIZE;
	int begin = -CALLED;
	u32 insn;

	if (!IS_ALIGNED(ra, INSN_SIZE) || ra < INSN_SIZE ||
	    !unwind_code_read(code, from, &insn) || !unwind_insn_is_call(insn))
		return -ENOENT;
	if (aarch64_insn_is_bl(insn))
		begin = begins_at(code, from + aarch64_get_branch_offset(insn));
	return untouched_since(code, begin);
}

/**
 * unwind_user_link_called - was the interrupted function called where a register says?
 * @ip: the next instruction of what was interrupted, of which no table tells
 * @ra: what the link register has, without bits of authentication
 * @link: filled in; its stack pointer only if the return address is there
 *
 * Context: as unwind_user_start().
 * Return: 0 if it was called there, and the frame pointer is its caller's; -ENOENT if that
 * cannot be seen.  Where @link has an address that could not be read, it may another time.
 */
int unwind_user_link_called(unsigned long ip, unsigned long ra,
			    struct unwind_user_link *link)
{
	struct unwind_code code;
	int ret;

	*link = (struct unwind_user_link){ .reg = UNWIND_USER_LINK_REG };
	if (!IS_ALIGNED(ip, INSN_SIZE))
		return -ENOENT;
	unwind_code_start(&code, ip);
	ret = called(&code, ra);
	link->unread = code.unread;
	link->looked = code.looked;
	if (ret < 0)
		return ret;
	link->pushed = ret;
	link->sp_known = code.sp_known;
	return 0;
}
