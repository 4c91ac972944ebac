// SPDX-License-Identifier: GPL-2.0
/*
 * Compute a caller by a row, and by libdw. No code here is the converter's.
 */
#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "frame.h"

/* Any function without patterns */
static u64 mix(u64 val)
{
	val ^= val >> 31;
	val *= 0x9e3779b97f4a7c15ULL;
	val ^= val >> 29;
	val *= 0xbf58476d1ce4e5b9ULL;
	return val ^ val >> 32;
}

static u64 memory(u64 addr)
{
	return mix(addr + 12345);
}

void frame_init(struct frame *frame, unsigned int machine, u64 seed)
{
	unsigned int i;

	for (i = 0; i < FRAME_REGS; i++)
		frame->regs[i] = mix(seed * FRAME_REGS + i + 1);
	frame->sp = machine == EM_X86_64 ? 7 : 31;
	frame->fp = machine == EM_X86_64 ? 6 : 29;
	frame->ra = machine == EM_X86_64 ? 16 : 30;
}

/* By a row of the kernel's decoder */

static u64 apply(const struct frame *frame, const struct unwind_reg_rule *rule,
		 u64 cfa, u64 same)
{
	u64 val;

	switch (rule->base) {
	case UNWIND_RULE_SAME:
		return same;
	case UNWIND_RULE_SP:
		val = frame->regs[frame->sp];
		break;
	case UNWIND_RULE_FP:
		val = frame->regs[frame->fp];
		break;
	case UNWIND_RULE_CFA:
		val = cfa;
		break;
	default:
		val = frame->regs[rule->reg % FRAME_REGS];
	}
	val += rule->offset;
	return rule->deref ? memory(val) : val;
}

static u64 apply_cfa(const struct frame *frame, const struct unwind_frame_rule *row)
{
	struct frame moved = *frame;
	unsigned int i;

	/* Whatever the base is, the index moves it */
	for (i = 0; i < FRAME_REGS; i++)
		moved.regs[i] += frame->regs[row->cfa_index % FRAME_REGS] * row->cfa_scale;
	return apply(&moved, &row->cfa, 0, 0) + row->cfa_addend;
}

void frame_by_row(const struct frame *frame, const struct unwind_frame_rule *row,
		  struct caller *caller)
{
	*caller = (struct caller){
		.outermost = row->outermost, .signal = row->signal,
	};
	if (row->outermost)
		return;
	caller->sp = apply_cfa(frame, row);
	caller->ra = apply(frame, &row->ra, caller->sp, frame->regs[frame->ra]);
	caller->fp_lost = row->fp.base == UNWIND_RULE_REG && row->fp.reg >= FRAME_REGS;
	if (!caller->fp_lost)
		caller->fp = apply(frame, &row->fp, caller->sp, frame->regs[frame->fp]);
}

/*
 * By libdw
 */

struct stack {
	u64		vals[32];
	unsigned int	depth;
	bool		bad;
	bool		is_value;	/* not its address */
	bool		uses_pc;
};

static void push(struct stack *stack, u64 val)
{
	if (stack->depth == 32)
		stack->bad = true;
	else
		stack->vals[stack->depth++] = val;
}

static u64 pop(struct stack *stack)
{
	if (!stack->depth) {
		stack->bad = true;
		return 0;
	}
	return stack->vals[--stack->depth];
}

static u64 reg(const struct frame *frame, struct stack *stack, u64 nr, u64 pc)
{
	if (frame->ra == 16 && nr == 16) {
		stack->uses_pc = true;
		return pc;
	}
	if (nr >= FRAME_REGS)
		stack->bad = true;
	return frame->regs[nr % FRAME_REGS];
}

static void run_binary(struct stack *stack, const Dwarf_Op *op)
{
	s64 b = pop(stack), a = pop(stack);

	switch (op->atom) {
	case DW_OP_plus:
		push(stack, (u64)a + (u64)b);
		break;
	case DW_OP_minus:
		push(stack, (u64)a - (u64)b);
		break;
	case DW_OP_mul:
		push(stack, (u64)a * (u64)b);
		break;
	case DW_OP_and:
		push(stack, a & b);
		break;
	case DW_OP_shl:
		push(stack, (u64)a << (b & 63));
		break;
	case DW_OP_ge:
		push(stack, a >= b);
		break;
	default:
		stack->bad = true;
	}
}

static void run_op(const struct frame *frame, struct stack *stack,
		   const Dwarf_Op *op, u64 cfa, u64 pc)
{
	unsigned int atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		push(stack, atom - DW_OP_lit0);
	} else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		push(stack, reg(frame, stack, atom - DW_OP_breg0, pc) +
			    op->number);
	} else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		push(stack, reg(frame, stack, atom - DW_OP_reg0, pc));
		stack->is_value = true;
	} else if (atom == DW_OP_regx) {
		push(stack, reg(frame, stack, op->number, pc));
		stack->is_value = true;
	} else if (atom == DW_OP_bregx) {
		push(stack, reg(frame, stack, op->number, pc) + op->number2);
	} else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
		push(stack, op->number);
	} else if (atom == DW_OP_plus_uconst) {
		push(stack, pop(stack) + op->number);
	} else if (atom == DW_OP_call_frame_cfa) {
		push(stack, cfa);
	} else if (atom == DW_OP_deref) {
		push(stack, memory(pop(stack)));
	} else if (atom == DW_OP_stack_value) {
		stack->is_value = true;
	} else if (atom != DW_OP_nop) {
		run_binary(stack, op);
	}
}

static bool run(const struct frame *frame, const Dwarf_Op *ops, size_t nr,
		u64 cfa, u64 pc, bool is_value, u64 *val, bool *uses_pc)
{
	struct stack stack = { .is_value = is_value };
	size_t i;

	for (i = 0; i < nr; i++)
		run_op(frame, &stack, &ops[i], cfa, pc);
	*uses_pc |= stack.uses_pc;
	*val = pop(&stack);
	if (!stack.is_value)
		*val = memory(*val);
	return !stack.bad;
}

static bool get_reg(const struct frame *frame, Dwarf_Frame *from,
		    unsigned int nr, u64 cfa, u64 pc, u64 *val, bool *undefined,
		    bool *uses_pc)
{
	Dwarf_Op memory_of_ops[3], *ops;
	size_t nr_ops;

	*undefined = false;
	if (dwarf_frame_register(from, nr, memory_of_ops, &ops, &nr_ops))
		return false;
	if (!nr_ops) {
		*undefined = ops == memory_of_ops;
		*val = frame->regs[nr % FRAME_REGS];
		/* The program counter is not a register of the caller */
		return nr != 16 || *undefined;
	}
	return run(frame, ops, nr_ops, cfa, pc, false, val, uses_pc);
}

void frame_by_libdw(const struct frame *frame, Dwarf_Frame *from, u64 pc,
		    struct caller *caller)
{
	bool *pc_used = &caller->uses_pc;
	Dwarf_Addr start, end;
	bool undefined, sp_undefined;
	Dwarf_Op *ops;
	size_t nr_ops;
	u64 cfa;

	*caller = (struct caller){ .unknown = true };
	dwarf_frame_info(from, &start, &end, &caller->signal);
	if (!get_reg(frame, from, frame->ra, 0, pc, &caller->ra, &undefined, pc_used))
		return;
	if (undefined) {
		caller->unknown = false;
		caller->outermost = true;
		return;
	}
	if (dwarf_frame_cfa(from, &ops, &nr_ops) ||
	    !run(frame, ops, nr_ops, 0, pc, true, &cfa, pc_used))
		return;
	caller->unknown =
		!get_reg(frame, from, frame->ra, cfa, pc, &caller->ra, &undefined, pc_used) ||
		!get_reg(frame, from, frame->sp, cfa, pc, &caller->sp, &sp_undefined, pc_used) ||
		!get_reg(frame, from, frame->fp, cfa, pc, &caller->fp, &caller->fp_lost, pc_used) ||
		sp_undefined;
}

bool frame_callers_equal(const struct caller *a, const struct caller *b)
{
	if (a->signal != b->signal || a->outermost != b->outermost)
		return false;
	return a->outermost ||
	       (a->ra == b->ra && a->sp == b->sp && a->fp_lost == b->fp_lost &&
		(a->fp_lost || a->fp == b->fp));
}
