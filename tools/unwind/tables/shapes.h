/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code without CFI that is known by its shape.
 */
#ifndef _UNWIND_TABLES_SHAPES_H
#define _UNWIND_TABLES_SHAPES_H

#include "cfi.h"
#include "elf_file.h"

int shapes_add(struct cfi_list *list, const struct elf_file *file);

#endif /* _UNWIND_TABLES_SHAPES_H */
