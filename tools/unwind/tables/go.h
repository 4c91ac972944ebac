/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of Go programs, by the table of Go's own runtime.
 */
#ifndef _UNWIND_TABLES_GO_H
#define _UNWIND_TABLES_GO_H

#include "cfi.h"
#include "elf_file.h"

int go_add(struct cfi_list *list, const struct elf_file *file);

#endif /* _UNWIND_TABLES_GO_H */
