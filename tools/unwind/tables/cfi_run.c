// SPDX-License-Identifier: GPL-2.0
/*
 * Run the program of a function's CFI, once, and report the rules of each address. Only
 * the registers of a table are followed: CFA, return address, frame and stack pointer.
 *
 * A row is reported when one of their rules is about to change, so most instructions cost
 * next to nothing.
 */
#include <dwarf.h>
#include <string.h>

#include "cfi.h"
#include "elf_file.h"

/* Newer than the headers */
#define CFA_AARCH64_NEGATE_RA_STATE_WITH_PC	0x2c
#define CFA_MIPS_ADVANCE_LOC8			0x1d

#define STATES_MAX	64	/* remembered states; compilers use one or two */

/**
 * struct run - a program that is being run
 * @cie: the function's
 * @machine: the architecture
 * @r: the instructions
 * @state: rules at @loc
 * @initial: rules that DW_CFA_restore goes back to
 * @loc: address that the program is at
 * @row_start: from where @state holds, if that is not @loc
 * @end: of the function
 * @beyond: the program goes on after @end
 * @bad: an instruction made no sense
 * @row: called for each row
 * @data: for @row
 * @ret: what it returned
 * @nr_saved: how many states are remembered
 * @saved: they
 */
struct run {
	const struct cfi_cie	*cie;
	const struct machine	*machine;
	struct reader		r;
	struct cfi_state	state;
	const struct cfi_state	*initial;
	__u64			loc;
	__u64			row_start;
	__u64			end;
	bool			beyond;
	bool			bad;
	cfi_row_fn		row;
	void			*data;
	int			ret;
	unsigned int		nr_saved;
	struct cfi_state	saved[STATES_MAX];
};

static const struct cfi_state no_state = {
	.rules[CFI_CFA] = { .kind = CFI_UNDEFINED },
	.rules[CFI_SP] = { .kind = CFI_VAL_OFFSET },
};

/* The rules that hold up to here are about to change */
static void flush(struct run *run)
{
	if (run->loc == run->row_start)
		return;
	run->ret = run->row(run->data, run->row_start, run->loc, &run->state);
	run->row_start = run->loc;
}

static void go_beyond(struct run *run)
{
	run->beyond = true;
	run->loc = run->end;
}

static void advance(struct run *run, __u64 delta)
{
	__u64 left = run->end - run->loc;

	if (__builtin_mul_overflow(delta, run->cie->code_factor, &delta))
		run->bad = true;
	else if (delta <= left)
		run->loc += delta;
	else
		go_beyond(run);
}

static void set_loc(struct run *run)
{
	__u64 loc = cfi_read_pointer(&run->r, run->cie->pointer,
				     run->cie->section);

	if (loc < run->loc)
		run->bad = true;
	else if (loc <= run->end)
		run->loc = loc;
	else
		go_beyond(run);
}

static __s64 scaled(struct run *run, __s64 offset)
{
	if (__builtin_mul_overflow(offset, run->cie->data_factor, &offset))
		run->bad = true;
	return offset;
}

/* The rule of register @reg, to be changed; NULL if the register is not followed */
static struct cfi_rule *rule_of(struct run *run, __u64 reg)
{
	unsigned int i;

	if (reg == run->cie->ra_reg)
		i = CFI_RA;
	else if (reg == run->machine->fp)
		i = CFI_FP;
	else if (reg == run->machine->sp)
		i = CFI_SP;
	else
		return NULL;
	flush(run);
	return &run->state.rules[i];
}

static void set_rule(struct run *run, __u64 reg, __u32 kind, __s64 offset)
{
	struct cfi_rule *rule = rule_of(run, reg);

	if (rule)
		*rule = (struct cfi_rule){ .kind = kind, .offset = offset };
}

static void set_register(struct run *run)
{
	struct cfi_rule *rule = rule_of(run, read_uleb(&run->r));
	__u64 reg = read_uleb(&run->r);

	if (reg > 0xffffffff)
		run->bad = true;
	else if (rule)
		*rule = (struct cfi_rule){ .kind = CFI_REGISTER, .reg = reg };
}

static struct cfi_rule read_expr(struct run *run, __u32 kind)
{
	__u64 len = read_uleb(&run->r);

	return (struct cfi_rule){
		.kind = kind,
		.expr = read_bytes(&run->r, len),
		.expr_len = len,
	};
}

static void set_expr(struct run *run, __u32 kind)
{
	struct cfi_rule *rule = rule_of(run, read_uleb(&run->r));
	struct cfi_rule expr = read_expr(run, kind);

	if (rule)
		*rule = expr;
}

static void restore(struct run *run, __u64 reg)
{
	struct cfi_rule *rule = rule_of(run, reg);

	if (rule)
		*rule = run->initial->rules[rule - run->state.rules];
}

static void set_cfa(struct run *run, __u64 reg, __s64 offset)
{
	flush(run);
	if (reg > 0xffffffff)
		run->bad = true;
	run->state.rules[CFI_CFA] = (struct cfi_rule){
		.kind = CFI_REGISTER, .reg = reg, .offset = offset,
	};
}

/*
 * Change register or offset of the CFA's rule, which must have both. gcc violates this
 * after an expression, with SVE; the function's other rows are right.
 */
static struct cfi_rule *cfa_rule(struct run *run)
{
	struct cfi_rule *cfa = &run->state.rules[CFI_CFA];

	flush(run);
	if (cfa->kind != CFI_REGISTER)
		*cfa = (struct cfi_rule){ .kind = CFI_BROKEN };
	return cfa;
}

static void set_cfa_reg(struct run *run, __u64 reg)
{
	if (reg > 0xffffffff)
		run->bad = true;
	cfa_rule(run)->reg = reg;
}

static void remember(struct run *run)
{
	if (run->nr_saved == STATES_MAX)
		run->bad = true;
	else
		run->saved[run->nr_saved++] = run->state;
}

static void recall(struct run *run)
{
	flush(run);
	if (!run->nr_saved)
		run->bad = true;
	else
		run->state = run->saved[--run->nr_saved];
}

static void negate_ra_state(struct run *run)
{
	if (run->machine->elf != EM_AARCH64)
		return;		/* DW_CFA_GNU_window_save, of SPARC */
	flush(run);
	run->state.mangled = !run->state.mangled;
}

/* Operations that advance; false if @op is none */
static bool run_advance(struct run *run, __u8 op)
{
	struct reader *r = &run->r;

	switch (op) {
	case DW_CFA_set_loc:
		set_loc(run);
		return true;
	case DW_CFA_advance_loc1:
		advance(run, read_u8(r));
		return true;
	case DW_CFA_advance_loc2:
		advance(run, read_uint(r, 2));
		return true;
	case DW_CFA_advance_loc4:
		advance(run, read_uint(r, 4));
		return true;
	case CFA_MIPS_ADVANCE_LOC8:
		advance(run, read_uint(r, 8));
		return true;
	default:
		return false;
	}
}

/* Operations on the CFA; false if @op is none */
static bool run_cfa(struct run *run, __u8 op)
{
	struct reader *r = &run->r;
	__u64 reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = read_uleb(r);
		set_cfa(run, reg, read_uleb(r));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = read_uleb(r);
		set_cfa(run, reg, scaled(run, read_sleb(r)));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa_reg(run, read_uleb(r));
		return true;
	case DW_CFA_def_cfa_offset:
		cfa_rule(run)->offset = read_uleb(r);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		cfa_rule(run)->offset = scaled(run, read_sleb(r));
		return true;
	case DW_CFA_def_cfa_expression:
		flush(run);
		run->state.rules[CFI_CFA] = read_expr(run, CFI_VAL_EXPR);
		return true;
	default:
		return false;
	}
}

/* Operations on a register with an offset; false if @op is none */
static bool run_offset(struct run *run, __u8 op)
{
	struct reader *r = &run->r;
	__u64 reg;

	switch (op) {
	case DW_CFA_offset_extended:
		reg = read_uleb(r);
		set_rule(run, reg, CFI_OFFSET, scaled(run, read_uleb(r)));
		return true;
	case DW_CFA_offset_extended_sf:
		reg = read_uleb(r);
		set_rule(run, reg, CFI_OFFSET, scaled(run, read_sleb(r)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		reg = read_uleb(r);
		set_rule(run, reg, CFI_OFFSET, scaled(run, -read_uleb(r)));
		return true;
	case DW_CFA_val_offset:
		reg = read_uleb(r);
		set_rule(run, reg, CFI_VAL_OFFSET, scaled(run, read_uleb(r)));
		return true;
	case DW_CFA_val_offset_sf:
		reg = read_uleb(r);
		set_rule(run, reg, CFI_VAL_OFFSET, scaled(run, read_sleb(r)));
		return true;
	default:
		return false;
	}
}

/* All other operations; false if @op is none */
static bool run_other(struct run *run, __u8 op)
{
	struct reader *r = &run->r;

	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_restore_extended:
		restore(run, read_uleb(r));
		return true;
	case DW_CFA_undefined:
		set_rule(run, read_uleb(r), CFI_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set_rule(run, read_uleb(r), CFI_SAME, 0);
		return true;
	case DW_CFA_register:
		set_register(run);
		return true;
	case DW_CFA_expression:
		set_expr(run, CFI_EXPR);
		return true;
	case DW_CFA_val_expression:
		set_expr(run, CFI_VAL_EXPR);
		return true;
	case DW_CFA_remember_state:
		remember(run);
		return true;
	case DW_CFA_restore_state:
		recall(run);
		return true;
	case DW_CFA_GNU_window_save:	/* DW_CFA_AARCH64_negate_ra_state */
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		negate_ra_state(run);
		return true;
	case DW_CFA_GNU_args_size:
		read_uleb(r);
		return true;
	default:
		return false;
	}
}

static void run_insn(struct run *run)
{
	__u8 op = read_u8(&run->r), low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		advance(run, low);
		return;
	case DW_CFA_offset:
		set_rule(run, low, CFI_OFFSET,
			 scaled(run, read_uleb(&run->r)));
		return;
	case DW_CFA_restore:
		restore(run, low);
		return;
	default:
		break;
	}
	if (!run_advance(run, op) && !run_cfa(run, op) && !run_offset(run, op) &&
	    !run_other(run, op))
		run->bad = true;
}

/*
 * Until the program ends, or the function: compilers continue to the end if the last
 * instruction changes a rule.  False: an instruction makes no sense.
 */
static __attribute__((noinline)) bool run_program(struct run *run)
{
	while (!run->ret && run->r.pos < run->r.end && run->loc != run->end) {
		run_insn(run);
		if (run->bad || run->r.bad)
			return false;
	}
	return true;
}

static int no_row(void *data, __u64 start, __u64 end,
		  const struct cfi_state *state)
{
	(void)data;
	(void)start;
	(void)end;
	(void)state;
	return 0;
}

/**
 * cfi_run_cie - find the rules that hold at the start of a CIE's functions
 * @cie: its initial rules are set, and whether it is bad
 * @machine: the architecture
 */
void cfi_run_cie(struct cfi_cie *cie, const struct machine *machine)
{
	struct run run = {
		.cie = cie,
		.machine = machine,
		.r = cie->program,
		.state = no_state,
		.initial = &no_state,
		.end = -1,
		.row = no_row,
	};

	if (!cie->bad)
		cie->bad = !run_program(&run);
	cie->initial = run.state;
}

/**
 * cfi_run_fde - say which rules hold where in a function
 * @cie: its CIE
 * @fde: the function
 * @machine: the architecture
 * @row: called for each row, in order; rows next to each other may be the same
 * @data: for @row
 * @how: set to how the program ended
 * @where: set to the address where it went beyond or makes no sense; there is no
 *	row from there on
 *
 * Return: 0, or what @row returned.
 */
int cfi_run_fde(const struct cfi_cie *cie, const struct cfi_fde *fde,
		const struct machine *machine, cfi_row_fn row, void *data,
		enum cfi_end *how, __u64 *where)
{
	struct run run;

	/* Clear only a part: the saved states are large, and mostly unused */
	memset(&run, 0, offsetof(struct run, saved));
	run.cie = cie;
	run.machine = machine;
	run.r.pos = fde->program;
	run.r.end = fde->program + fde->program_len;
	run.state = cie->initial;
	run.initial = &cie->initial;
	run.loc = fde->start;
	run.row_start = fde->start;
	run.end = fde->end;
	run.row = row;
	run.data = data;

	*how = run_program(&run) ? CFI_END : CFI_BAD;
	if (run.beyond)
		*how = CFI_BEYOND;
	*where = run.loc;
	if (*how != CFI_BAD)
		run.loc = run.end;
	if (!run.ret)
		flush(&run);
	return run.ret;
}
