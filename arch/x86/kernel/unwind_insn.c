// SPDX-License-Identifier: GPL-2.0
/*
 * Find the return address of an interrupted function without a rule, by its
 * instructions.
 *
 * Such a function may not have a frame record yet, or no longer, or never.  Then the frame
 * pointer is its caller's, and following it would skip the caller.  But every path through a
 * function leads to its return, where the return address is on top of the stack.  So follow
 * the instructions to a return, and count the bytes that they take from the stack:
 *
 *	ip ->	mov  %rdx, %rax		the caller's address is at sp + 8,
 *		pop  %rbx		and its frame pointer still in the register
 *		ret
 *
 * All paths to a return give the same answer, except where a loop moves the stack pointer.  A
 * path is given up at such a loop, at a call (the next code may be another function), and at a
 * jump to a computed address.  Then the other path of one conditional jump is followed, but no
 * third.  If that does not end at a return either, the caller is not known.  The instructions
 * that set up a frame record are recognized without following a path.
 *
 * The code is the program's, and may be anything: at most MAX_INSNS instructions are read,
 * or MAX_INSNS_TASK if no sample waits, and no more than the unwind's budget allows.
 */

#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/uaccess.h>
#include <asm/insn.h>
#include <asm/unwind_arch.h>

#define MAX_INSNS	64
/* Cryptography in assembly has hundreds of instructions without a jump */
#define MAX_INSNS_TASK	512
/* Cost of one instruction, and of each of its prefixes, in ordinary frames */
#define INSN_COST	5
#define PREFIX_COST	1
/* Jumps over more bytes than this are taken to leave the function */
#define MAX_JUMP	4096

/* Numbers of registers in instructions */
#define REG_SP		4
#define REG_BP		5

enum outcome { GO_ON, RETURNS, UNKNOWN };

/**
 * struct way - a path, along which instructions are followed
 * @ip: address of the next one
 * @sp: the stack pointer there, in bytes above the one at the interrupt; or above the frame
 *	pointer, if @by_bp
 * @stored: the highest place in which a word was stored, as @sp
 * @fp: place from which the frame pointer was restored, as @sp; valid if @restored
 * @pushed: place where the frame pointer was saved on this path, as @sp; valid if @saved
 * @taken: bytes that the return takes from the stack, besides its address
 * @restored: the frame pointer has been restored
 * @saved: it was saved
 * @bp_changed: the register has another value than at the interrupt
 * @by_bp: the stack pointer was set from the frame pointer
 */
struct way {
	unsigned long	ip;
	s32		sp;
	s64		stored;
	s32		fp;
	s32		pushed;
	u16		taken;
	bool		restored;
	bool		saved;
	bool		bp_changed;
	bool		by_bp;
};

/**
 * struct walk - the search along up to two paths
 * @to: the result
 * @no_page: a page that cannot be read, or 0
 */
struct walk {
	struct unwind_arch_caller	*to;
	unsigned long			no_page;
};

static bool read_code(struct walk *walk, unsigned long ip, u64 *code)
{
	if (PAGE_ALIGN_DOWN(ip + sizeof(*code) - 1) == walk->no_page && walk->no_page)
		return false;
	if (unwind_read_code(*code, (u64 __user *)ip, walk->to->code))
		return true;
	walk->no_page = PAGE_ALIGN_DOWN(ip + sizeof(*code) - 1);
	walk->to->left -= min(walk->to->left, UNWIND_UNREAD_COST);
	return false;
}

/*
 * APX gives other meanings to opcodes, and more registers.  Such code has not been seen without a
 * rule.  Map 4 of EVEX has instructions like push2, and arithmetic on the stack pointer.
 */
static bool is_apx(struct insn *insn)
{
	return insn_is_rex2(insn) || (insn_is_evex(insn) && insn_vex_m_bits(insn) == 4);
}

/* Read an instruction; false if it cannot be read, or the bytes are no instruction */
static bool read_insn(struct walk *walk, unsigned long ip, struct insn *insn)
{
	u64 bytes[2] = {};
	int size = sizeof(bytes);

	if (!read_code(walk, ip, &bytes[0])) {
		walk->to->unread = ip;
		return false;
	}
	/* The next word may lie after the end of the mapping */
	if (!read_code(walk, ip + sizeof(u64), &bytes[1]))
		size = sizeof(u64);
	if (!insn_decode(insn, bytes, size, INSN_MODE_64))
		return !is_apx(insn);
	if (size < sizeof(bytes))
		walk->to->unread = ip + sizeof(u64);
	return false;
}

static bool has_vex(const struct insn *insn)
{
	return insn->vex_prefix.value;
}

static unsigned int modrm_reg(const struct insn *insn)
{
	return X86_MODRM_REG(insn->modrm.value) | (X86_REX_R(insn->rex_prefix.value) ? 8 : 0);
}

static unsigned int modrm_rm(const struct insn *insn)
{
	return X86_MODRM_RM(insn->modrm.value) | (X86_REX_B(insn->rex_prefix.value) ? 8 : 0);
}

static bool is_register(const struct insn *insn)
{
	return X86_MODRM_MOD(insn->modrm.value) == 3;
}

/* Does the opcode belong to a group, whose modrm.reg is not a register? */
static bool is_group(u8 opcode)
{
	switch (opcode) {
	case 0x80 ... 0x83:
	case 0x8f:
	case 0xc0 ... 0xc1:
	case 0xc6 ... 0xc7:
	case 0xd0 ... 0xd3:
	case 0xf6 ... 0xf7:
	case 0xfe ... 0xff:
		return true;
	default:
		return false;
	}
}

static bool names(const struct insn *insn, unsigned int reg)
{
	return modrm_reg(insn) == reg || (is_register(insn) && modrm_rm(insn) == reg);
}

/* may_change() for opcodes of two bytes and more, which have vector registers, too */
static bool long_may_change(const struct insn *insn, unsigned int reg)
{
	switch (insn->opcode.bytes[1]) {
	case 0x10 ... 0x1f:
	case 0x28 ... 0x2b:
	case 0x2e ... 0x2f:
	case 0x51 ... 0x7d:
	case 0x7f ... 0x8f:
	case 0xc2:
	case 0xc4:
	case 0xc6:
	case 0xd0 ... 0xd6:
	case 0xd8 ... 0xff:
		return false;
	case 0xc8 ... 0xcf:
		return ((insn->opcode.bytes[1] & 7) |
			(X86_REX_B(insn->rex_prefix.value) ? 8 : 0)) == reg;
	default:
		return insn->modrm.nbytes && names(insn, reg);
	}
}

/* May any other instruction change this register? */
static bool may_change(const struct insn *insn, unsigned int reg)
{
	const u8 opcode = insn->opcode.bytes[0];

	if (opcode == 0x0f)
		return long_may_change(insn, reg);
	if ((opcode & 0xf0) == 0xb0)
		return ((opcode & 7) | (X86_REX_B(insn->rex_prefix.value) ? 8 : 0)) == reg;
	/* x87 */
	if ((opcode & 0xf8) == 0xd8 || !insn->modrm.nbytes)
		return false;
	return is_group(opcode) ? is_register(insn) && modrm_rm(insn) == reg :
				  names(insn, reg);
}

/* Move the stack pointer by any number of bytes: the code may be hostile */
static enum outcome move_sp(struct way *way, s32 bytes)
{
	return check_add_overflow(way->sp, bytes, &way->sp) ? UNKNOWN : GO_ON;
}

static enum outcome push(struct way *way, const struct insn *insn, unsigned int reg)
{
	if (move_sp(way, -(s32)sizeof(u64)))
		return UNKNOWN;
	way->stored = max_t(s64, way->stored, way->sp);
	if (reg == REG_BP) {
		way->pushed = way->sp;
		way->saved = !way->bp_changed;
	}
	/* push %ax moves it by 2 */
	return insn->opnd_bytes == 2 ? UNKNOWN : GO_ON;
}

/* No register that matters here */
#define REG_NONE	16

static enum outcome pop(struct way *way, const struct insn *insn, unsigned int reg)
{
	if (reg == REG_SP || insn->opnd_bytes == 2)
		return UNKNOWN;
	if (reg == REG_BP && way->sp >= 0) {
		way->restored = true;
		way->fp = way->sp;
	} else if (reg == REG_BP) {
		way->bp_changed = !way->saved || way->pushed != way->sp;
	}
	return move_sp(way, sizeof(u64));
}

/* The stack pointer is set from the frame pointer, which may point to a record */
static enum outcome follow_bp(struct way *way, s32 offset)
{
	if (way->bp_changed || way->restored)
		return UNKNOWN;
	way->by_bp = true;
	way->sp = offset;
	way->stored = S32_MIN;
	return GO_ON;
}

/* A store by the stack pointer, which may replace the return address */
static void note_store(struct way *way, const struct insn *insn)
{
	if (!is_register(insn) && modrm_rm(insn) == REG_SP &&
	    X86_SIB_BASE(insn->sib.value) == REG_SP)
		way->stored = max(way->stored, (s64)way->sp + insn->displacement.value);
}

/* Arithmetic with an immediate operand */
static enum outcome follow_immediate(struct way *way, const struct insn *insn)
{
	if (!is_register(insn) || modrm_rm(insn) != REG_SP) {
		way->bp_changed |= is_register(insn) && modrm_rm(insn) == REG_BP &&
				   modrm_reg(insn) != 7;
		return GO_ON;
	}
	if (!X86_REX_W(insn->rex_prefix.value))
		return UNKNOWN;
	switch (X86_MODRM_REG(insn->modrm.value)) {
	case 0:	/* add */
		return move_sp(way, insn->immediate.value);
	case 5:	/* sub */
		if (insn->immediate.value == S32_MIN)
			return UNKNOWN;
		return move_sp(way, -insn->immediate.value);
	case 7:	/* cmp */
		return GO_ON;
	default:
		return UNKNOWN;
	}
}

static enum outcome follow_lea(struct way *way, const struct insn *insn)
{
	if (modrm_reg(insn) != REG_SP) {
		way->bp_changed |= modrm_reg(insn) == REG_BP;
		return GO_ON;
	}
	/* disp(%rip) and (%rsp) have none */
	if (!X86_REX_W(insn->rex_prefix.value) || !X86_MODRM_MOD(insn->modrm.value))
		return UNKNOWN;
	if (modrm_rm(insn) == REG_BP)
		return follow_bp(way, insn->displacement.value);
	/* disp(%rsp) */
	if (modrm_rm(insn) != REG_SP || insn->sib.value != 0x24 ||
	    X86_REX_X(insn->rex_prefix.value))
		return UNKNOWN;
	return move_sp(way, insn->displacement.value);
}

static enum outcome follow_jump(struct way *way, unsigned long ip)
{
	if (ip - way->ip + MAX_JUMP >= 2 * MAX_JUMP)
		return UNKNOWN;
	way->ip = ip;
	return GO_ON;
}

/* Instructions that push, call or jump */
static enum outcome follow_group5(struct way *way, const struct insn *insn)
{
	switch (X86_MODRM_REG(insn->modrm.value)) {
	case 4:
		/* jmp *disp(%rip) leaves for another function, as in a PLT */
		return insn->modrm.value == 0x25 ? RETURNS : UNKNOWN;
	case 6:
		return push(way, insn, REG_NONE);
	case 0:
	case 1:
		if (may_change(insn, REG_SP))
			return UNKNOWN;
		way->bp_changed |= may_change(insn, REG_BP);
		return GO_ON;
	default:
		return UNKNOWN;
	}
}

static enum outcome follow_long(struct way *way, const struct insn *insn)
{
	switch (insn->opcode.bytes[1]) {
	case 0x05:		/* syscall: does not return if it is rt_sigreturn */
	case 0x0b:		/* ud2 */
	case 0xa0 ... 0xa1:	/* push and pop %fs */
	case 0xa8 ... 0xa9:	/* push and pop %gs */
	case 0xb9:		/* ud1 */
	case 0xff:		/* ud0 */
		return UNKNOWN;
	default:
		if (may_change(insn, REG_SP))
			return UNKNOWN;
		way->bp_changed |= may_change(insn, REG_BP);
		return GO_ON;
	}
}

/* mov between registers, or to memory */
static enum outcome follow_mov(struct way *way, const struct insn *insn)
{
	const bool load = insn->opcode.bytes[0] == 0x8b;
	const unsigned int from = load ? modrm_rm(insn) : modrm_reg(insn);
	const unsigned int to = load ? modrm_reg(insn) : modrm_rm(insn);

	if (!is_register(insn)) {
		if (!load)
			note_store(way, insn);
		else if (to == REG_SP)
			return UNKNOWN;
		way->bp_changed |= load && to == REG_BP;
		return GO_ON;
	}
	if (to == REG_SP)
		return from == REG_BP && X86_REX_W(insn->rex_prefix.value) ?
		       follow_bp(way, 0) : UNKNOWN;
	way->bp_changed |= to == REG_BP;
	return GO_ON;
}

/* VEX instructions: only BMI's have general registers */
static enum outcome follow_vex(struct way *way, struct insn *insn)
{
	way->bp_changed |= insn_vex_m_bits(insn) != 1 && insn->opcode.bytes[0] >= 0xf0;
	return GO_ON;
}

static enum outcome follow(struct way *way, struct insn *insn)
{
	const unsigned int low = (insn->opcode.bytes[0] & 7) |
				 (X86_REX_B(insn->rex_prefix.value) ? 8 : 0);

	if (has_vex(insn))
		return follow_vex(way, insn);
	switch (insn->opcode.bytes[0]) {
	case 0xc2:
		way->taken = insn->immediate.value;
		return RETURNS;
	case 0xc3:
		return RETURNS;
	case 0x50 ... 0x57:
		return push(way, insn, low);
	case 0x58 ... 0x5f:
		return pop(way, insn, low);
	case 0x68:
	case 0x6a:
	case 0x9c:
		return push(way, insn, REG_NONE);
	case 0x9d:
		return pop(way, insn, REG_NONE);
	case 0x81:
	case 0x83:
		return follow_immediate(way, insn);
	case 0x89:
	case 0x8b:
		return follow_mov(way, insn);
	case 0x8d:
		return follow_lea(way, insn);
	case 0xc9:
		if (follow_bp(way, 0))
			return UNKNOWN;
		return pop(way, insn, REG_BP);
	case 0xeb:
	case 0xe9:
		return follow_jump(way, way->ip + insn->immediate.value);
	case 0xff:
		return follow_group5(way, insn);
	case 0x38 ... 0x3b:
		/* A loop that moves the stack pointer ends like this */
		return is_register(insn) && names(insn, REG_SP) ? UNKNOWN : GO_ON;
	case 0x84 ... 0x85:
		return GO_ON;
	case 0x0f:
		return follow_long(way, insn);
	case 0x87:		/* xchg */
	case 0xc7:		/* mov of an immediate operand */
		note_store(way, insn);
		break;
	case 0x8f:		/* pop to memory */
	case 0x94 ... 0x95:	/* xchg with either register */
	case 0xc8:		/* enter */
	case 0xca ... 0xcf:	/* far returns, interrupts */
	case 0xe0 ... 0xe3:	/* loop, jrcxz */
	case 0xe8:		/* call */
	case 0xf4:		/* hlt */
		return UNKNOWN;
	}
	if (may_change(insn, REG_SP))
		return UNKNOWN;
	way->bp_changed |= may_change(insn, REG_BP);
	return GO_ON;
}

static bool is_conditional(struct insn *insn)
{
	const u8 *opcode = insn->opcode.bytes;

	if (has_vex(insn))
		return false;
	return (opcode[0] & 0xf0) == 0x70 || (opcode[0] == 0x0f && (opcode[1] & 0xf0) == 0x80);
}

/* Go on after the jump; @other becomes the path of the first jump that is not too far */
static enum outcome follow_conditional(struct way *way, const struct insn *insn,
				       struct way *other)
{
	/* A loop may move the stack pointer each time */
	if (insn->immediate.value < 0 && way->sp)
		return UNKNOWN;
	if (other->ip)
		return GO_ON;
	*other = *way;
	if (follow_jump(other, way->ip + insn->immediate.value) != GO_ON)
		other->ip = 0;
	return GO_ON;
}

/* May the unwind cost this much more? */
static bool may_cost(struct walk *walk, const struct insn *insn)
{
	const unsigned int cost = INSN_COST + PREFIX_COST * insn->prefixes.nbytes;

	walk->to->left -= min(walk->to->left, cost);
	return walk->to->left;
}

/* Follow one path */
static enum outcome follow_way(struct walk *walk, struct way *way, struct way *other)
{
	/* Only deferred unwinds have @code */
	const unsigned int most = walk->to->code ? MAX_INSNS_TASK : MAX_INSNS;
	enum outcome outcome = GO_ON;
	struct insn insn;

	while (outcome == GO_ON) {
		if (++walk->to->looked > most || !read_insn(walk, way->ip, &insn) ||
		    !may_cost(walk, &insn))
			return UNKNOWN;
		way->ip += insn.length;
		outcome = is_conditional(&insn) ? follow_conditional(way, &insn, other) :
						  follow(way, &insn);
	}
	return outcome;
}

/* Does the path end as a function does, so that its result is right? */
static bool is_right(const struct way *way)
{
	/* mov %rbp, %rsp; pop %rbp; ret */
	if (way->by_bp)
		return way->restored && way->fp == 0 && way->sp == sizeof(u64);
	/* Not if it ends deeper, stored over the return address, or changed the frame pointer */
	return way->sp >= 0 && way->stored < way->sp && (!way->bp_changed || way->restored);
}

/* push %rbp, or the breakpoint of a uprobe there */
static bool is_push(u8 insn)
{
	return insn == 0x55 || insn == 0xcc;
}

/* endbr64, or the same */
static bool is_landing_pad(const u8 *insn)
{
	return (insn[0] == 0xf3 || insn[0] == 0xcc) && insn[1] == 0x0f && insn[2] == 0x1e &&
	       insn[3] == 0xfa;
}

/* mov %rsp, %rbp, in both forms */
static bool is_mov(const u8 *insn)
{
	return insn[0] == 0x48 && ((insn[1] == 0x89 && insn[2] == 0xe5) ||
				   (insn[1] == 0x8b && insn[2] == 0xec));
}

/* pushq -8(%r10), of a copy of the return address: the stack is aligned */
static bool is_copy(const u8 *insn)
{
	return insn[0] == 0x41 && insn[1] == 0xff && insn[2] == 0x72 && insn[3] == 0xf8;
}

/* Is the program at the start of push %rbp; mov %rsp, %rbp, or in between? */
static bool sets_up_record(struct walk *walk, unsigned long ip)
{
	u8 before[sizeof(u64)] = {}, at[sizeof(u64)];

	if (!read_code(walk, ip, (u64 *)at))
		return false;
	if (is_landing_pad(at) && is_push(at[4]) && is_mov(at + 5))
		return true;
	if (is_push(at[0]) && is_mov(at + 1)) {
		/* At the start of a mapping, nothing is before it */
		read_code(walk, ip - sizeof(before), (u64 *)before);
		return !is_copy(before + 4);
	}
	if (!is_mov(at))
		return false;
	if (!read_code(walk, ip - sizeof(before), (u64 *)before)) {
		walk->to->unread = ip - 1;
		return false;
	}
	/* With a prefix, it pushes another register */
	if (!is_push(before[7]) || (before[6] & 0xf0) == 0x40 || is_copy(before + 3))
		return false;
	walk->to->ra = sizeof(u64);
	return true;
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
	struct way way = { .ip = ip, .stored = S32_MIN }, other = {};
	struct walk walk = { .to = to };
	enum outcome outcome;

	*to = (struct unwind_arch_caller){
		.left = to->left,
		.code = to->code,
		.sp_known = true,
	};
	if (sets_up_record(&walk, ip))
		goto found;
	outcome = follow_way(&walk, &way, &other);
	if (outcome == UNKNOWN && other.ip) {
		way = other;
		outcome = follow_way(&walk, &way, &other);
	}
	if (outcome != RETURNS)
		return -ENOENT;
	to->unread = 0;
	if (!is_right(&way))
		return -ENOENT;
	if (way.by_bp)
		return -EEXIST;
	to->ra = way.sp;
	to->fp = way.fp;
	to->fp_saved = way.restored;
found:
	to->cfa = to->ra + sizeof(u64) + way.taken;
	return 0;
}
