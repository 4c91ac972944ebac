/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the SFrame tables mean, by libsframe: the judge between kernel and DWARF.
 *
 * The same stack copy is unwound a third time, with rows that libsframe found and
 * with nothing else.  Where the kernel's frames are these, the kernel did what the
 * tables say.
 */
#ifndef _UNWIND_TEST_SAME_TABLE_H
#define _UNWIND_TEST_SAME_TABLE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "stack.h"

struct table;
struct object;

/* NULL: the object has none */
struct table *table_open(Elf *elf, uint64_t bias);

void table_unwind(const struct same_sample *sample, struct stack *stack);

/* What the row for an address says, in words; a buffer that the next call reuses */
const char *table_row(uint64_t ip);

#endif /* _UNWIND_TEST_SAME_TABLE_H */
