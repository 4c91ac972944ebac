/* SPDX-License-Identifier: GPL-2.0 */
/* CBMC knows these without a definition: any value, an assumption, an assertion. */
#ifndef _UNWIND_PROOF_H
#define _UNWIND_PROOF_H

#include <linux/types.h>
#include <stdbool.h>

u8 nondet_u8(void);
u16 nondet_u16(void);
u32 nondet_u32(void);
u64 nondet_u64(void);
bool nondet_bool(void);

void __CPROVER_assume(bool condition);
void __CPROVER_assert(bool condition, const char *what);

#endif /* _UNWIND_PROOF_H */
