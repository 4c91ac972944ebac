/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unwinding a stack copy by .eh_frame, with libdw.
 */
#ifndef _UNWIND_TEST_SAME_DWARF_H
#define _UNWIND_TEST_SAME_DWARF_H

#include <elfutils/libdwfl.h>

#include "stack.h"

void dwarf_attach(struct Dwfl *dwfl, uint32_t pid);
void dwarf_unwind(const struct same_sample *sample, struct stack *stack);

/*
 * Does .eh_frame say at this address that the return address lies above the frame?  Then the
 * CFA is too low, and so is the caller's stack pointer: in _dl_runtime_resolve() of arm64's
 * glibc by the two words that the PLT has pushed.
 */
bool dwarf_cfa_is_low(uint64_t ip);

/* .eh_frame's rule for the CFA at an address, in words; the next call reuses the buffer */
const char *dwarf_rule(uint64_t ip);

#endif /* _UNWIND_TEST_SAME_DWARF_H */
