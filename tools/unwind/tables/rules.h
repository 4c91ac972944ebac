/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SFrame's rules, and their conversion from the CFI's.
 */
#ifndef _UNWIND_TABLES_RULES_H
#define _UNWIND_TABLES_RULES_H

#include <linux/types.h>
#include <stdbool.h>
#include <string.h>

#include "cfi.h"
#include "elf_file.h"

/**
 * enum rule_base - what a rule's offset is added to
 * @RULE_DEFAULT: nothing; the register has its value still, or is saved where it
 *	always is
 * @RULE_REG: a register
 * @RULE_CFA: the CFA
 */
enum rule_base {
	RULE_DEFAULT,
	RULE_REG,
	RULE_CFA,
};

/* The number of no register: the caller's value is lost.  SFrame's control word has room for it. */
#define RULE_REG_NONE	255

/**
 * struct rule - how to get one value; rules are compared as bytes
 * @base: one of &enum rule_base
 * @reg: for RULE_REG
 * @deref: the value is in memory at base + offset
 * @zero: the bytes between are compared, too
 * @offset: added to the base
 */
struct rule {
	__u8	base;
	__u8	reg;
	bool	deref;
	__u8	zero;
	__s32	offset;
};

/**
 * struct row - how to get from a frame to its caller's
 * @cfa: the canonical frame address
 * @ra: the return address
 * @fp: the caller's frame pointer
 * @outermost: there is no caller; the rules are not valid
 * @mangled: the return address is signed
 * @cfa_scale: if not 0, this times @cfa_index is added to the address that @cfa reads
 * @cfa_index: a register
 * @cfa_addend: added to the CFA that @cfa reads from memory
 */
struct row {
	struct rule	cfa;
	struct rule	ra;
	struct rule	fp;
	bool		outermost;
	bool		mangled;
	__u8		cfa_scale;
	__u8		cfa_index;
	__s32		cfa_addend;
};

/**
 * struct expr_value - what an expression yields
 * @base: RULE_REG or RULE_CFA, or RULE_DEFAULT: nothing
 * @reg: for RULE_REG
 * @deref: the word in memory at base + index * scale + offset
 * @index: a register
 * @scale: what it is multiplied by: 1, 2, 4 or 8; 0: there is no index
 * @offset: added to the base
 * @addend: added to the whole, if @deref
 */
struct expr_value {
	__u8	base;
	__u8	reg;
	bool	deref;
	__u8	index;
	__u8	scale;
	__s64	offset;
	__s64	addend;
};

/* expr.c */
bool expr_run(const __u8 *expr, __u64 len, bool push_cfa, __u64 pc,
	      const struct machine *machine, struct expr_value *val,
	      unsigned int *period);

/* rules.c */
int rules_row(const struct machine *machine, const struct cfi_cie *cie,
	      const struct cfi_state *state, __u64 pc, struct row *row,
	      unsigned int *period);

/* Is the CFA's rule one that SFrame itself does not have? */
static inline bool rules_is_sum(const struct row *row)
{
	return row->cfa_scale || row->cfa_addend;
}

static inline bool rules_fp_is_lost(const struct row *row)
{
	return row->fp.base == RULE_REG && row->fp.reg == RULE_REG_NONE;
}

static inline bool rules_same_row(const struct row *a, const struct row *b)
{
	_Static_assert(sizeof(*a) == 3 * (4 + sizeof(__s32)) + 4 + sizeof(__s32),
		       "a row has bytes that no member has");
	return !memcmp(a, b, sizeof(*a));
}

#endif /* _UNWIND_TABLES_RULES_H */
