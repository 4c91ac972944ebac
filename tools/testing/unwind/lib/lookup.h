/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lookups under observation, shared by tests, differ and fuzzer.
 *
 * Each lookup has guarantees that do not depend on the contents of the section.
 * lookup_rule() checks them each time, so every test of anything also tests them.
 */
#ifndef _UNWIND_TEST_LOOKUP_H
#define _UNWIND_TEST_LOOKUP_H

#include "rule_compare.h"
#include "sframe.h"

/*
 * The bounds that Documentation/core-api/unwind-sframe.rst states. They are repeated on
 * purpose: a change that raises one breaks a guarantee.
 */
#define MAX_SCAN		16384
#define MAX_FRES		65536
#define MAX_READS		163897

/*
 * Look up @ip. @broken is set to the broken guarantee, or to NULL. The caller knows
 * whether reads were made to fail, so it judges -EFAULT.
 */
int lookup_rule(const struct sframe_section *sec, unsigned long ip,
		struct unwind_frame_rule *rule, const char **broken);

#endif /* _UNWIND_TEST_LOOKUP_H */
