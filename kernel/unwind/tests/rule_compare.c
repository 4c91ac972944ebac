// SPDX-License-Identifier: GPL-2.0
/* See rule_compare.h. */

#include <linux/kernel.h>

#include "rule_compare.h"

static bool rule_equal(const struct unwind_reg_rule *a, const struct unwind_reg_rule *b)
{
	return a->base == b->base && a->deref == b->deref &&
	       a->offset == b->offset &&
	       (a->base != UNWIND_RULE_REG || a->reg == b->reg);
}

bool frame_rule_equal(const struct unwind_frame_rule *a, const struct unwind_frame_rule *b)
{
	if (a->outermost != b->outermost || a->signal != b->signal ||
	    a->pauth_key_b != b->pauth_key_b)
		return false;
	if (a->outermost)
		return true;
	return a->mangled_ra == b->mangled_ra && rule_equal(&a->cfa, &b->cfa) &&
	       a->cfa_scale == b->cfa_scale && a->cfa_index == b->cfa_index &&
	       a->cfa_addend == b->cfa_addend &&
	       rule_equal(&a->ra, &b->ra) && rule_equal(&a->fp, &b->fp);
}

static int print_rule(char *buf, size_t size, const char *name,
		      const struct unwind_reg_rule *rule)
{
	static const char * const bases[] = { "same", "sp", "fp", "cfa", "reg" };
	const char *base = rule->base < ARRAY_SIZE(bases) ? bases[rule->base] : "?";
	char reg[6] = "";

	if (rule->base == UNWIND_RULE_REG)
		snprintf(reg, sizeof(reg), "%u", rule->reg);
	return snprintf(buf, size, rule->deref ? "%s=*(%s%s%+d) " : "%s=%s%s%+d ",
			name, base, reg, rule->offset);
}

const char *frame_rule_string(const struct unwind_frame_rule *rule)
{
	static char bufs[2][160];
	static unsigned int turn;
	char *buf = bufs[turn++ % 2];
	size_t size = sizeof(bufs[0]), n;

	if (rule->outermost) {
		n = snprintf(buf, size, "outermost ");
	} else {
		n = print_rule(buf, size, "cfa", &rule->cfa);
		n += snprintf(buf + n, size - n, "(index %u*reg%u, sum %d) ", rule->cfa_scale,
			      rule->cfa_index, rule->cfa_addend);
		n += print_rule(buf + n, size - n, "ra", &rule->ra);
		n += print_rule(buf + n, size - n, "fp", &rule->fp);
	}
	snprintf(buf + n, size - n, "%s%s%s", rule->signal ? "signal " : "",
		 rule->mangled_ra ? "mangled " : "",
		 rule->pauth_key_b ? "key-b" : "");
	return buf;
}
