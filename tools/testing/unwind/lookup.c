// SPDX-License-Identifier: GPL-2.0
/*
 * Lookups under observation: what must hold after each one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lookup.h"
#include "sframe_build.h"
#include "umem.h"

static bool rule_sane(const struct unwind_rule *rule)
{
	return rule->base <= UNWIND_RULE_REG &&
	       (rule->base != UNWIND_RULE_SAME ||
		(!rule->deref && !rule->offset));
}

static const char *row_broken(const struct unwind_row *row)
{
	if (row->outermost)
		return NULL;
	if (row->cfa.base == UNWIND_RULE_SAME ||
	    row->cfa.base == UNWIND_RULE_CFA)
		return "a CFA without a base";
	if (!rule_sane(&row->cfa) || !rule_sane(&row->ra) ||
	    !rule_sane(&row->fp))
		return "a rule that is none";
	return NULL;
}

/* Start and size per entry looked at, start and info per row, and the rest */
static unsigned long max_reads(const struct sframe_section *sec,
			       enum unwind_user_access access)
{
	unsigned long index = 2 * max_scan(access) +
			      (sec->flags & SFB_SORTED ? 32 : 0);
	unsigned long func = 6, words = SFB_MAX_WORDS;

	return index + func + 2 * max_fres(access) + words;
}

int lookup_row(const struct sframe_section *sec, unsigned long ip,
	       enum unwind_user_access access, struct unwind_row *row,
	       const char **broken)
{
	unsigned char before[sizeof(*sec)];
	unsigned long violations = umem_violations, rereads;
	int ret;

	/* Remains of an earlier lookup must not become part of this one */
	memset(row, 0xa5, sizeof(*row));
	memcpy(before, sec, sizeof(before));
	umem_start();
	ret = sframe_find_row(sec, ip, access, row);

	/*
	 * Stepping over empty functions compares starts that the search may have
	 * seen before; what it uses is what it read first.
	 */
	rereads = sec->flags & SFB_SORTED ? 32 : 0;

	*broken = NULL;
	if (umem_violations != violations)
		*broken = "a read outside the section";
	else if (umem_reads > max_reads(sec, access))
		*broken = "more reads than the stated bound";
	else if (umem_rereads > rereads)
		*broken = "a value was read twice";
	else if (memcmp(before, sec, sizeof(before)))
		*broken = "the section's description was written to";
	else if (ret == 0)
		*broken = row_broken(row);
	else if (ret != -ENOENT && ret != -EFAULT && ret != -EINVAL &&
		 ret != -E2BIG)
		*broken = "an error that is not documented";
	return ret;
}

static bool rule_equal(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return a->base == b->base && a->deref == b->deref &&
	       a->offset == b->offset &&
	       (a->base != UNWIND_RULE_REG || a->reg == b->reg);
}

bool row_equal(const struct unwind_row *a, const struct unwind_row *b)
{
	if (a->outermost != b->outermost || a->signal != b->signal ||
	    a->pauth_key_b != b->pauth_key_b)
		return false;
	if (a->outermost)
		return true;
	return a->mangled_ra == b->mangled_ra && rule_equal(&a->cfa, &b->cfa) &&
	       rule_equal(&a->ra, &b->ra) && rule_equal(&a->fp, &b->fp);
}

static int print_rule(char *buf, size_t size, const char *name,
		      const struct unwind_rule *rule)
{
	static const char * const bases[] = { "same", "sp", "fp", "cfa", "reg" };
	const char *base = rule->base < 5 ? bases[rule->base] : "?";

	return snprintf(buf, size, rule->deref ? "%s=*(%s%.0d%+d) " :
						 "%s=%s%.0d%+d ",
			name, base,
			rule->base == UNWIND_RULE_REG ? rule->reg : 0,
			rule->offset);
}

const char *row_string(const struct unwind_row *row)
{
	static char bufs[2][160];
	static unsigned int turn;
	char *buf = bufs[turn++ % 2];
	size_t size = sizeof(bufs[0]), n = 0;

	if (row->outermost) {
		n = snprintf(buf, size, "outermost ");
	} else {
		n = print_rule(buf, size, "cfa", &row->cfa);
		n += print_rule(buf + n, size - n, "ra", &row->ra);
		n += print_rule(buf + n, size - n, "fp", &row->fp);
	}
	snprintf(buf + n, size - n, "%s%s%s", row->signal ? "signal " : "",
		 row->mangled_ra ? "mangled " : "",
		 row->pauth_key_b ? "key-b" : "");
	return buf;
}
