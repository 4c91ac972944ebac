// SPDX-License-Identifier: GPL-2.0
/*
 * Lookups under observation: checks after each lookup.
 */
#include <errno.h>
#include <string.h>

#include "lookup.h"
#include "sframe_build.h"
#include "umem.h"

static bool rule_sane(const struct unwind_reg_rule *rule)
{
	return rule->base <= UNWIND_RULE_REG &&
	       (rule->base != UNWIND_RULE_SAME ||
		(!rule->deref && !rule->offset));
}

static const char *rule_broken(const struct unwind_frame_rule *rule)
{
	if (rule->outermost)
		return NULL;
	if (rule->cfa.base == UNWIND_RULE_SAME ||
	    rule->cfa.base == UNWIND_RULE_CFA)
		return "a CFA without a base";
	if (!rule_sane(&rule->cfa) || !rule_sane(&rule->ra) ||
	    !rule_sane(&rule->fp))
		return "a rule that is none";
	return NULL;
}

int lookup_rule(const struct sframe_section *sec, unsigned long ip,
		struct unwind_frame_rule *rule, const char **broken)
{
	unsigned char before[sizeof(*sec)];
	unsigned long violations = umem_violations, rereads;
	int ret;

	/* Data of an earlier lookup must not become part of this one */
	memset(rule, 0xa5, sizeof(*rule));
	memcpy(before, sec, sizeof(before));
	umem_start();
	ret = sframe_find_rule(sec, ip, rule);

	/*
	 * To step over empty functions, a lookup compares starts that the search may have
	 * read before; it uses the value that it read first. At the end it compares the
	 * used fields of the entry: start, size, FREs.
	 */
	rereads = (sec->flags & SFB_SORTED ? 32 : 0) + 3;

	*broken = NULL;
	if (umem_violations != violations)
		*broken = "a read outside the section";
	else if (umem_is_open())
		*broken = "user memory was left open";
	else if (umem_reads > MAX_READS)
		*broken = "more reads than the stated bound";
	else if (umem_rereads > rereads)
		*broken = "a value was read twice";
	else if (memcmp(before, sec, sizeof(before)))
		*broken = "the section's description was written to";
	else if (ret == 0)
		*broken = rule_broken(rule);
	else if (ret != -ENOENT && ret != -EFAULT && ret != -EINVAL &&
		 ret != -E2BIG && ret != -EAGAIN)
		*broken = "an error that is not documented";
	return ret;
}
