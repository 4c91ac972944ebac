/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The meaning of the SFrame tables, by libsframe: the judge between kernel and DWARF.
 *
 * The same stack copy is unwound a third time, with nothing but libsframe's rows. If the
 * kernel's frames are these, the kernel followed the tables.
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

/* The row for an address, in words; the next call reuses the buffer */
const char *table_row(uint64_t ip);

#endif /* _UNWIND_TEST_SAME_TABLE_H */
