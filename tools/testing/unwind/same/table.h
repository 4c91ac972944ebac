/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The meaning of the SFrame tables, by libsframe: the judge between kernel and DWARF.
 *
 * The same stack copy is unwound a third time, with nothing but libsframe's rules. If the
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

/* From then on, objects without a table have the one that the table service would make */
void table_serve(void);

/* @fd: the object's file. NULL: it has none, or none that libsframe reads */
struct table *table_open(int fd, Elf *elf, uint64_t bias);

void table_unwind(const struct same_sample *sample, struct stack *stack);

/* The rule for an address, in words; the next call reuses the buffer */
const char *table_rule(uint64_t ip);

#endif /* _UNWIND_TEST_SAME_TABLE_H */
