// SPDX-License-Identifier: GPL-2.0
/*
 * Convert the CFI's rules to SFrame's, or report why SFrame has none.
 */
#include <string.h>

#include "convert.h"
#include "rules.h"

/**
 * struct maker - a row that is being made
 * @machine: the architecture
 * @cie: the function's
 * @state: the CFI's rules
 * @pc: address of the row
 * @period: see expr_run()
 */
struct maker {
	const struct machine	*machine;
	const struct cfi_cie	*cie;
	const struct cfi_state	*state;
	__u64			pc;
	unsigned int		*period;
};

static bool same_rule(const struct rule *a, const struct rule *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static bool value_of(const struct maker *m, const struct cfi_rule *rule,
		     bool push_cfa, struct expr_value *val)
{
	return expr_run(rule->expr, rule->expr_len, push_cfa, m->pc, m->machine,
			val, m->period);
}

/* An offset that is too large has a note type, like all errors of this file */
static int set_rule(struct rule *rule, __u8 base, __u8 reg, bool deref,
		    __s64 offset)
{
	*rule = (struct rule){
		.base = base, .reg = reg, .deref = deref, .offset = offset,
	};
	return rule->offset == offset ? -1 : UNWIND_NOTE_OFFSET;
}

/* The CFA is in memory at a sum with an index: other rules have no place for an index */
static int make_cfa_sum(const struct expr_value *val, struct row *row)
{
	if (!val->deref)
		return UNWIND_NOTE_CFA;
	row->cfa_scale = val->scale;
	row->cfa_index = val->index;
	row->cfa_addend = val->addend;
	if (row->cfa_addend != val->addend)
		return UNWIND_NOTE_OFFSET;
	return set_rule(&row->cfa, RULE_REG, val->reg, true, val->offset);
}

/* Rare, so this is kept out of the code for each row, as are other noinline functions here */
static __attribute__((noinline))
int make_cfa_by_expr(const struct maker *m, const struct cfi_rule *from, struct row *row)
{
	struct expr_value val;

	if (!value_of(m, from, false, &val) || val.base != RULE_REG)
		return UNWIND_NOTE_CFA;
	if (val.addend || val.scale)
		return make_cfa_sum(&val, row);
	return set_rule(&row->cfa, RULE_REG, val.reg, val.deref, val.offset);
}

static int make_cfa(const struct maker *m, struct row *row)
{
	const struct cfi_rule *from = &m->state->rules[CFI_CFA];

	switch (from->kind) {
	case CFI_REGISTER:
		return from->reg < m->machine->regs ?
		       set_rule(&row->cfa, RULE_REG, from->reg, false, from->offset) :
		       UNWIND_NOTE_CFA;
	case CFI_VAL_EXPR:
		return make_cfa_by_expr(m, from, row);
	case CFI_BROKEN:
		return UNWIND_NOTE_PROGRAM;
	default:
		return UNWIND_NOTE_CFA;
	}
}

/* A register's rule that is an expression */
static __attribute__((noinline))
int make_by_expr(const struct maker *m, const struct cfi_rule *from, struct rule *rule, int note)
{
	bool saved = from->kind == CFI_EXPR;
	struct expr_value val;

	if (!value_of(m, from, true, &val) || val.base == RULE_DEFAULT ||
	    val.addend || val.scale || (saved && val.deref))
		return note;
	/* SFrame cannot say that the value is the CFA itself, or a constant away from it */
	if (val.base == RULE_CFA && !saved && !val.deref)
		return note;
	return set_rule(rule, val.base, val.reg, saved || val.deref, val.offset);
}

/* The rule of register @reg; @note is the reason if there is none */
static int make_rule(const struct maker *m, const struct cfi_rule *from,
		     __u64 reg, struct rule *rule, int note)
{
	switch (from->kind) {
	case CFI_SAME:
		return set_rule(rule, RULE_DEFAULT, 0, false, 0);
	case CFI_OFFSET:
		return set_rule(rule, RULE_CFA, 0, true, from->offset);
	case CFI_REGISTER:
		if (from->reg == reg)
			return set_rule(rule, RULE_DEFAULT, 0, false, 0);
		return from->reg < m->machine->regs ?
		       set_rule(rule, RULE_REG, from->reg, false, 0) : note;
	case CFI_EXPR:
	case CFI_VAL_EXPR:
		return make_by_expr(m, from, rule, note);
	default:
		return note;
	}
}

static int make_ra(const struct maker *m, struct rule *rule)
{
	const struct cfi_rule *from = &m->state->rules[CFI_RA];
	__u64 column = m->cie->ra_reg;
	int note;

	/* The CIE's column may be another register than the link register */
	if (from->kind == CFI_SAME && column != m->machine->ra)
		return column < m->machine->regs ?
		       set_rule(rule, RULE_REG, column, false, 0) :
		       UNWIND_NOTE_RA;
	note = make_rule(m, from, m->machine->ra, rule, UNWIND_NOTE_RA);
	if (note >= 0 || !m->machine->fixed_ra)
		return note;
	/* Without a link register, it is on the stack: the default, if at the fixed offset */
	if (rule->base == RULE_DEFAULT)
		return UNWIND_NOTE_RA;
	if (rule->base == RULE_CFA && rule->deref &&
	    rule->offset == m->machine->fixed_ra)
		*rule = (struct rule){ .base = RULE_DEFAULT };
	return note;
}

/* Make a rule count from the CFA's register, not from the CFA */
static bool count_from_reg(const struct rule *cfa, struct rule *rule)
{
	__s64 offset = (__s64)cfa->offset + rule->offset;

	if (rule->base != RULE_CFA)
		return true;
	return !cfa->deref &&
	       set_rule(rule, RULE_REG, cfa->reg, rule->deref, offset) < 0;
}

/*
 * SFrame has no rule for the caller's stack pointer: it is the CFA. Where the CFI has
 * one, it replaces the CFA, if the other rules can do without the CFA. longjmp() and
 * setcontext() have such rules once they have loaded the registers.
 */
static int make_sp(const struct maker *m, struct row *row)
{
	const struct cfi_rule *from = &m->state->rules[CFI_SP];
	__u8 reg = m->machine->sp;
	struct rule sp;

	if (from->kind == CFI_VAL_OFFSET && !from->offset)
		return -1;
	if (make_rule(m, from, reg, &sp, UNWIND_NOTE_SP) >= 0)
		return UNWIND_NOTE_SP;
	if (sp.base == RULE_DEFAULT)
		sp = (struct rule){ .base = RULE_REG, .reg = reg };
	if (!count_from_reg(&row->cfa, &sp))
		return UNWIND_NOTE_SP;
	if (!rules_is_sum(row) && same_rule(&sp, &row->cfa))
		return -1;
	if (m->machine->fixed_ra && row->ra.base == RULE_DEFAULT)
		set_rule(&row->ra, RULE_CFA, 0, true, m->machine->fixed_ra);
	if (!count_from_reg(&row->cfa, &row->ra) ||
	    !count_from_reg(&row->cfa, &row->fp))
		return UNWIND_NOTE_SP;
	row->cfa = sp;
	row->cfa_scale = 0;
	row->cfa_index = 0;
	row->cfa_addend = 0;
	return -1;
}

/**
 * rules_row - make a row
 * @machine: the architecture
 * @cie: the function's
 * @state: the CFI's rules
 * @pc: address of the row
 * @row: set
 * @period: raised to how many addresses the row repeats after, if it depends on @pc
 *
 * Return: -1, or why there is none: one of &enum unwind_note_type.
 */
int rules_row(const struct machine *machine, const struct cfi_cie *cie,
	      const struct cfi_state *state, __u64 pc, struct row *row,
	      unsigned int *period)
{
	const struct maker m = {
		.machine = machine, .cie = cie, .state = state, .pc = pc,
		.period = period,
	};
	int note;

	memset(row, 0, sizeof(*row));
	/* There is no caller, whatever the other rules are */
	row->outermost = state->rules[CFI_RA].kind == CFI_UNDEFINED;
	if (row->outermost)
		return -1;
	row->mangled = state->mangled;
	note = make_cfa(&m, row);
	if (note >= 0)
		return note;
	note = make_ra(&m, &row->ra);
	if (note >= 0)
		return note;
	/* If the frame pointer is lost, callers that do not use it can still be found */
	if (make_rule(&m, &state->rules[CFI_FP], machine->fp, &row->fp, UNWIND_NOTE_FP) >= 0)
		row->fp = (struct rule){ .base = RULE_REG, .reg = RULE_REG_NONE };
	return make_sp(&m, row);
}
