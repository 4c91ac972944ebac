// SPDX-License-Identifier: GPL-2.0
/*
 * A section as the kernel reads it. It lies at an address of this process; addresses are
 * moved by the same distance.
 */
#include <elf.h>
#include <string.h>

#include "kernel_table.h"
#include "sframe_format.h"

int kernel_table_open(struct kernel_table *table, const void *section,
		      size_t size, u64 addr, unsigned int machine)
{
	table->addr = addr;
	return sframe_read_header(&table->section, (unsigned long)section, size,
				  machine == EM_X86_64 ?
				  SFRAME_ABI_AMD64_ENDIAN_LITTLE :
				  SFRAME_ABI_AARCH64_ENDIAN_LITTLE);
}

int kernel_table_row(const struct kernel_table *table, u64 addr,
		     struct unwind_frame_rule *row)
{
	return sframe_find_rule(&table->section,
				table->section.start + addr - table->addr, row);
}

static bool rules_equal(const struct unwind_reg_rule *a, const struct unwind_reg_rule *b)
{
	return a->base == b->base && a->deref == b->deref &&
	       a->offset == b->offset &&
	       (a->base != UNWIND_RULE_REG || a->reg == b->reg);
}

/* Whether an address is its function's last is irrelevant */
bool kernel_rows_equal(const struct unwind_frame_rule *a, const struct unwind_frame_rule *b)
{
	if (a->outermost || b->outermost)
		return a->outermost == b->outermost;
	return rules_equal(&a->cfa, &b->cfa) && rules_equal(&a->ra, &b->ra) &&
	       rules_equal(&a->fp, &b->fp) && a->signal == b->signal &&
	       a->cfa_scale == b->cfa_scale && a->cfa_index == b->cfa_index &&
	       a->cfa_addend == b->cfa_addend &&
	       a->mangled_ra == b->mangled_ra && a->pauth_key_b == b->pauth_key_b;
}
