// SPDX-License-Identifier: GPL-2.0
/*
 * Evaluate DWARF expressions without a running program. A value is a constant, a register
 * or the CFA plus a constant, or the word in memory there plus another constant. Where
 * memory is read, a second register may be added, times 1, 2, 4 or 8: the place after an
 * array. CFI uses nothing else, and nothing else could become a rule.
 *
 * The exception is the program counter. Linkers describe all entries of a PLT by one
 * expression, where "pc & 15" is the progress in an entry. Such an expression is
 * evaluated once for each value of that; the values repeat after @period.
 */
#include <dwarf.h>

#include "reader.h"
#include "rules.h"

#define DEPTH_MAX	8	/* of the stack; a PLT's expression has 3 */
#define PERIOD_MAX	64

/**
 * struct expr - an expression that is evaluated
 * @r: its operations
 * @machine: the architecture
 * @pc: where it is evaluated
 * @period: how many values of @pc there are, 1 if it is not used
 * @bad: it makes no sense, or is no rule
 * @depth: of the stack
 * @stack: the values
 * @is_pc: a value is the program counter, still unmasked
 */
struct expr {
	struct reader		r;
	const struct machine	*machine;
	__u64			pc;
	unsigned int		period;
	bool			bad;
	unsigned int		depth;
	struct expr_value	stack[DEPTH_MAX];
	bool			is_pc[DEPTH_MAX];
};

static void push(struct expr *e, struct expr_value val, bool is_pc)
{
	if (e->depth == DEPTH_MAX) {
		e->bad = true;
		return;
	}
	e->is_pc[e->depth] = is_pc;
	e->stack[e->depth++] = val;
}

static void push_const(struct expr *e, __s64 val)
{
	push(e, (struct expr_value){ .offset = val }, false);
}

static void push_reg(struct expr *e, __u64 reg, __s64 offset)
{
	/* The column of x86-64's return address is the program counter here */
	bool is_pc = e->machine->elf == EM_X86_64 && reg == e->machine->ra;

	if (is_pc && !offset)
		push(e, (struct expr_value){ .offset = e->pc }, true);
	else if (reg < e->machine->regs)
		push(e, (struct expr_value){
			.base = RULE_REG, .reg = reg, .offset = offset,
		}, false);
	else
		e->bad = true;
}

/* The topmost value, which the caller may change; an empty stack or a whole PC is bad */
static struct expr_value *top(struct expr *e)
{
	if (!e->depth || e->is_pc[e->depth - 1]) {
		e->bad = true;
		return NULL;
	}
	return &e->stack[e->depth - 1];
}

static bool pop(struct expr *e, struct expr_value *val)
{
	struct expr_value *from = top(e);

	if (from) {
		*val = *from;
		e->depth--;
	}
	return from;
}

/* The part of a value to which a constant is added */
static void add_const(struct expr *e, __s64 val)
{
	struct expr_value *to = top(e);

	if (to && __builtin_add_overflow(val, to->deref ? to->addend : to->offset,
					 to->deref ? &to->addend : &to->offset))
		e->bad = true;
}

static bool is_const(const struct expr_value *val)
{
	return val->base == RULE_DEFAULT && !val->deref && !val->scale;
}

/* An index is a register times a factor, plus a constant; is_reg() is for no factor yet */
static bool is_index(const struct expr_value *val)
{
	return val->base == RULE_DEFAULT && !val->deref && val->scale;
}

static bool is_reg(const struct expr_value *val)
{
	return val->base == RULE_REG && !val->deref && !val->scale;
}

/* Make a register's value an index, where a constant multiplies it */
static void multiply(struct expr *e, struct expr_value *val, __s64 factor)
{
	if (!is_reg(val) || (factor != 1 && factor != 2 && factor != 4 && factor != 8)) {
		e->bad = true;
		return;
	}
	val->base = RULE_DEFAULT;
	val->index = val->reg;
	val->scale = factor;
	val->reg = 0;
	if (__builtin_mul_overflow(val->offset, factor, &val->offset))
		e->bad = true;
}

static void mul(struct expr *e)
{
	struct expr_value a, *b;

	if (!pop(e, &a))
		return;
	b = top(e);
	if (!b)
		return;
	if (is_const(b)) {
		__s64 factor = b->offset;

		*b = a;
		multiply(e, b, factor);
	} else if (is_const(&a)) {
		multiply(e, b, a.offset);
	} else {
		e->bad = true;
	}
}

/* The sum of a register and an index */
static bool add_index(struct expr *e, struct expr_value *reg, const struct expr_value *index)
{
	if (!is_reg(reg) || !is_index(index))
		return false;
	reg->index = index->index;
	reg->scale = index->scale;
	add_const(e, index->offset);
	return true;
}

static void plus(struct expr *e)
{
	struct expr_value a, *b;

	if (!pop(e, &a))
		return;
	b = top(e);
	if (!b)
		return;
	if (is_reg(&a) && is_index(b)) {
		struct expr_value index = *b;

		*b = a;
		a = index;
	}
	if (add_index(e, b, &a))
		return;
	if (is_const(&a)) {
		add_const(e, a.offset);
	} else if (is_const(b)) {
		__s64 val = b->offset;

		*b = a;
		add_const(e, val);
	} else {
		e->bad = true;
	}
}

static void deref(struct expr *e)
{
	struct expr_value *val = top(e);

	if (!val)
		return;
	if (val->deref || is_const(val))
		e->bad = true;
	val->deref = true;
}

/* "pc & mask": the offset in a block of code */
static void and(struct expr *e)
{
	struct expr_value mask;
	__u64 size;

	if (!pop(e, &mask))
		return;
	size = (__u64)mask.offset + 1;
	if (!is_const(&mask) || size < 2 || size > PERIOD_MAX || size & (size - 1) ||
	    !e->depth || !e->is_pc[e->depth - 1]) {
		e->bad = true;
		return;
	}
	e->is_pc[e->depth - 1] = false;
	e->stack[e->depth - 1].offset &= mask.offset;
	if (size > e->period)
		e->period = size;
}

static __s64 calculate(struct expr *e, __u8 op, __s64 a, __s64 b)
{
	switch (op) {
	case DW_OP_minus:
		return (__u64)a - (__u64)b;
	case DW_OP_shl:
		return b < 0 || b > 63 ? 0 : (__u64)a << b;
	case DW_OP_ge:
		return a >= b;
	case DW_OP_gt:
		return a > b;
	case DW_OP_le:
		return a <= b;
	case DW_OP_lt:
		return a < b;
	case DW_OP_eq:
		return a == b;
	case DW_OP_ne:
		return a != b;
	default:
		e->bad = true;
		return 0;
	}
}

/* An operation with two values, both of them constants */
static void binary(struct expr *e, __u8 op)
{
	struct expr_value b, *a;

	if (!pop(e, &b))
		return;
	a = top(e);
	if (!a)
		return;
	if (op == DW_OP_minus && is_const(&b) && b.offset != -b.offset)
		add_const(e, -b.offset);
	else if (op == DW_OP_shl && is_const(&b) && !is_const(a))
		multiply(e, a, calculate(e, op, 1, b.offset));
	else if (is_const(a) && is_const(&b))
		a->offset = calculate(e, op, a->offset, b.offset);
	else
		e->bad = true;
}

/* Constants; false if @op is none */
static bool run_const(struct expr *e, __u8 op)
{
	struct reader *r = &e->r;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push_const(e, op - DW_OP_lit0);
		return true;
	}
	switch (op) {
	case DW_OP_const1u:
	case DW_OP_const2u:
	case DW_OP_const4u:
	case DW_OP_const8u:
		push_const(e, read_uint(r, 1 << (op - DW_OP_const1u) / 2));
		return true;
	case DW_OP_const1s:
	case DW_OP_const2s:
	case DW_OP_const4s:
	case DW_OP_const8s:
		push_const(e, read_sint(r, 1 << (op - DW_OP_const1s) / 2));
		return true;
	case DW_OP_constu:
		push_const(e, read_uleb(r));
		return true;
	case DW_OP_consts:
		push_const(e, read_sleb(r));
		return true;
	default:
		return false;
	}
}

static void run_op(struct expr *e)
{
	__u8 op = read_u8(&e->r);
	__u64 reg;

	if (run_const(e, op))
		return;
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_reg(e, op - DW_OP_breg0, read_sleb(&e->r));
		return;
	}
	switch (op) {
	case DW_OP_nop:
		break;
	case DW_OP_bregx:
		reg = read_uleb(&e->r);
		push_reg(e, reg, read_sleb(&e->r));
		break;
	case DW_OP_plus_uconst:
		add_const(e, read_uleb(&e->r));
		break;
	case DW_OP_plus:
		plus(e);
		break;
	case DW_OP_mul:
		mul(e);
		break;
	case DW_OP_deref:
		deref(e);
		break;
	case DW_OP_and:
		and(e);
		break;
	default:
		binary(e, op);
	}
}

/**
 * expr_run - evaluate an expression
 * @expr: its operations
 * @len: bytes of them
 * @push_cfa: the stack has the CFA at first, as for rules of registers
 * @pc: address of the row
 * @machine: the architecture
 * @val: set to the value
 * @period: if the value depends on @pc, raised to the number of addresses after which
 *	it repeats, a power of two
 *
 * Return: false if it makes no sense, or is none of the values that there are.
 */
bool expr_run(const __u8 *expr, __u64 len, bool push_cfa, __u64 pc,
	      const struct machine *machine, struct expr_value *val,
	      unsigned int *period)
{
	struct expr e = {
		.r.pos = expr,
		.r.end = expr + len,
		.machine = machine,
		.pc = pc,
		.period = 1,
	};

	if (push_cfa)
		push(&e, (struct expr_value){ .base = RULE_CFA }, false);
	while (!e.bad && !e.r.bad && e.r.pos < e.r.end)
		run_op(&e);
	if (e.bad || e.r.bad || !pop(&e, val))
		return false;
	if (e.period > *period)
		*period = e.period;
	return true;
}
